/*
 * What a client makes of everything that can go wrong between it and a server. The transport does
 * not depend on the protocol, so one of the two is enough.
 */
#include "support/clientrun.h"

#include <sys/wait.h>
#include <time.h>

#define SSE   "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
#define TEXT  "data: {\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n"
#define STOP  "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
#define CHUNK "30\r\n" TEXT "\r\n"

/* What the server sends, how it ends, and what that is. */
struct fault {
    const char *bytes;
    enum script_end end;
    enum failure failure;
    int status;
    const char *words;
    const char *answer;
};

static const struct fault faults[] = {
    /* no faults: a length, the end of the connection, no type or an odd spelling of it */
    {SSE "Content-Length: 105\r\n\r\n" TEXT STOP, SCRIPT_KEEP, FAILURE_NONE, 200, "", "hi"},
    {SSE "\r\n" TEXT STOP, SCRIPT_CLOSE, FAILURE_NONE, 200, "", "hi"},
    {"HTTP/1.0 200 OK\r\n\r\n" TEXT STOP, SCRIPT_CLOSE, FAILURE_NONE, 200, "", "hi"},
    {"HTTP/1.1 200 OK\r\nContent-Type: Text/Event-Stream;charset=utf-8\r\n\r\n" TEXT STOP,
     SCRIPT_CLOSE, FAILURE_NONE, 200, "", "hi"},
    {"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream ; x=y\r\n\r\n" TEXT STOP, SCRIPT_CLOSE,
     FAILURE_NONE, 200, "", "hi"},
    /* not HTTP */
    {"", SCRIPT_CLOSE, FAILURE_CUT, 0, "the connection broke off: Empty reply", ""},
    {"", SCRIPT_RESET, FAILURE_CUT, 0, "Connection reset by peer", ""},
    {"SSH-2.0-OpenSSH_9.2\r\n", SCRIPT_CLOSE, FAILURE_GARBAGE, 0, "not understood: ", ""},
    {"HTTP/1.1 abc\r\n\r\n", SCRIPT_CLOSE, FAILURE_GARBAGE, 0, "not understood: ", ""},
    /* broken off */
    {SSE "Transfer-Encoding: chunked\r\n\r\n" CHUNK, SCRIPT_CLOSE, FAILURE_CUT, 200,
     "HTTP 200: the connection broke off: ", "hi"},
    {SSE "Transfer-Encoding: chunked\r\n\r\n" CHUNK, SCRIPT_RESET, FAILURE_CUT, 200,
     "HTTP 200: the connection broke off: ", NULL},
    {SSE "Transfer-Encoding: chunked\r\n\r\n40\r\n" TEXT, SCRIPT_CLOSE, FAILURE_CUT, 200,
     "the connection broke off: ", "hi"},
    /* even after the finish: the zero chunk is missing */
    {SSE "Transfer-Encoding: chunked\r\n\r\n69\r\n" TEXT STOP "\r\n", SCRIPT_CLOSE, FAILURE_CUT,
     200, "the connection broke off: ", "hi"},
    {SSE "Content-Length: 500\r\n\r\n" TEXT STOP, SCRIPT_CLOSE, FAILURE_CUT, 200,
     "the connection broke off: ", "hi"},
    {SSE "Transfer-Encoding: chunked\r\n\r\n" CHUNK "zz\r\n", SCRIPT_CLOSE, FAILURE_GARBAGE, 200,
     "chunked-encoding", "hi"},
    /* the answer is none */
    {"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<p>login</p>\n",
     SCRIPT_KEEP, FAILURE_GARBAGE, 200, "text/html instead of text/event-stream: <p>login</p>", ""},
    {"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 16\r\n\r\n"
     "{\"error\":\"boom\"}",
     SCRIPT_KEEP, FAILURE_STREAM, 200, "HTTP 200: boom", ""},
    {SSE "Content-Length: 0\r\n\r\n", SCRIPT_KEEP, FAILURE_NO_END, 200, "without a finish reason",
     ""},
    {"HTTP/1.1 204 No Content\r\n\r\n", SCRIPT_KEEP, FAILURE_STATUS, 204, "HTTP 204", ""},
    {"HTTP/1.1 302 Found\r\nLocation: http://elsewhere/v1\r\nContent-Length: 0\r\n\r\n",
     SCRIPT_KEEP, FAILURE_STATUS, 302, "HTTP 302: redirects to http://elsewhere/v1, which is not",
     ""},
    /* refusals; a body that breaks off still says what it says */
    {"HTTP/1.1 500 Oops\r\nContent-Length: 4\r\n\r\nboom", SCRIPT_KEEP, FAILURE_STATUS, 500,
     "HTTP 500: boom", ""},
    {"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 400\r\n\r\n<html>\r\n bad  gateway", SCRIPT_CLOSE,
     FAILURE_STATUS, 502, "HTTP 502: <html> bad gateway", ""},
    {"HTTP/1.1 400 Bad Request\r\nContent-Length: 6\r\n\r\n\x1B[31m\xFF", SCRIPT_KEEP,
     FAILURE_STATUS, 400, "HTTP 400: [31m\xEF\xBF\xBD", ""},
};

static void check_fault(const struct fault *f)
{
    struct script s = SCRIPT(f->bytes, strlen(f->bytes), .end = f->end);
    struct run run = {.id = "openai"};
    char begin[160];
    struct asked a;

    run_ready(&run, &s, 1);
    run_ask(&run, &a);
    if (a.response.failure != f->failure || !strstr(a.response.error, f->words))
        fail_msg("\"%s\" gave %s: %s", f->bytes, failure_name(a.response.failure),
                 a.response.error);
    assert_int_equal(a.response.http_status, f->status);
    if (f->answer)
        assert_string_equal(buf_str(&a.response.answer), f->answer);
    snprintf(begin, sizeof(begin), "%s/v1/chat/completions: ", run.url);
    if (f->failure != FAILURE_NONE)
        assert_int_equal(strncmp(a.response.error, begin, strlen(begin)), 0);
    assert_true(a.response.sent > 0 && a.response.end >= a.response.sent);
    assert_int_equal(a.response.retry_after_ns, -1);
    asked_release(&a);
    run_close(&run);
}

static void names_every_fault(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        check_fault(&faults[i]);
}

/* Asks a server that is not there. */
static void ask_nobody(const char *url, struct asked *a)
{
    struct run run = {.id = "openai"};

    run.config = (struct client_config){.base_url = url, .model = "m", .timeout_ns = 20 * NS_PER_S};
    run_open(&run);
    run_ask(&run, a);
    run_close(&run);
}

static void nobody_there(void **state)
{
    struct asked a;

    (void)state;
    ask_nobody("http://me:secret@127.0.0.1:1", &a);
    assert_int_equal(a.response.failure, FAILURE_CONNECT);
    assert_contains(a.response.error,
                    "http://127.0.0.1:1/v1/chat/completions: cannot connect: Failed to connect");
    assert_contains(a.response.error, "Connection refused");
    assert_int_equal(a.response.sent, MONO_ABSENT);
    assert_int_equal(a.response.http_status, 0);
    assert_true(a.response.end > 0);
    asked_release(&a);
    ask_nobody("http://no-such-host.invalid", &a);
    assert_int_equal(a.response.failure, FAILURE_CONNECT);
    assert_contains(a.response.error, "Could not resolve host: no-such-host.invalid");
    asked_release(&a);
    ask_nobody("unix:/no/such/socket", &a);
    assert_int_equal(a.response.failure, FAILURE_CONNECT);
    assert_contains(a.response.error,
                    "unix:/no/such/socket:/v1/chat/completions: cannot connect: ");
    asked_release(&a);
}

static int models_of(const char *url, struct model_list *models, struct err *err)
{
    struct client_config config = {.base_url = url};
    const struct client_ops *ops = client_find("openai", NULL);
    void *ctx;
    int r;

    assert_ok(ops->open(&config, &ctx, err), err);
    r = ops->models(ctx, models, err);
    ops->close(ctx);
    return r;
}

static void models_of_nobody(void **state)
{
    struct model_list models = {0};
    struct err err = {0};

    (void)state;
    assert_fails(models_of("http://127.0.0.1:1", &models, &err), ECONNREFUSED, &err,
                 "http://127.0.0.1:1/v1/models: cannot connect: ");
    assert_contains(err.text, "Connection refused");
}

static void retry_after(void **state)
{
    static const struct {
        const char *value;
        int64_t least_s, most_s;
    } cases[] = {
        {"7", 7, 7},    {"0", 0, 0},          {"999999999999999999999", 31536000, 31536000},
        {"-5", -1, -1}, {"nonsense", -1, -1}, {"Wed, 21 Oct 2015 07:28:00 GMT", 0, 0},
        {NULL, 85, 90}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        AUTO(buf) struct buf answer = BUF_INIT(4096);
        struct run run = {.id = "openai"};
        char header[128], date[64];
        time_t soon = time(NULL) + 90;
        struct script s;
        struct asked a;
        struct tm tm;

        gmtime_r(&soon, &tm);
        strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S GMT", &tm);
        snprintf(header, sizeof(header), "Retry-After: %s\r\n",
                 cases[i].value ? cases[i].value : date);
        make_reply(&answer, "429 Too Many Requests", "application/json", header,
                   "{\"error\":{\"message\":\"slow down\"}}");
        s = (struct script)SCRIPT(answer.data, answer.len);
        run_ready(&run, &s, 1);
        run_ask(&run, &a);
        assert_int_equal(a.response.failure, FAILURE_STATUS);
        assert_int_equal(a.response.http_status, 429);
        assert_contains(a.response.error, "HTTP 429: slow down");
        if (cases[i].least_s < 0)
            assert_int_equal(a.response.retry_after_ns, -1);
        else
            assert_in_range(a.response.retry_after_ns, cases[i].least_s * NS_PER_S,
                            cases[i].most_s * NS_PER_S);
        asked_release(&a);
        run_close(&run);
    }
}

static void stalls(void **state)
{
    static const char begun[] = SSE "Transfer-Encoding: chunked\r\n\r\n" CHUNK;
    struct script scripts[] = {SCRIPT("", 0, .end = SCRIPT_HANG),
                               SCRIPT(begun, sizeof(begun) - 1, .end = SCRIPT_HANG)};

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct run run = {.id = "openai"};
        struct asked a;

        run_serve(&run, &scripts[i], 1);
        run.config.idle_timeout_ns = 80 * NS_PER_MS;
        run_open(&run);
        run_ask(&run, &a);
        assert_int_equal(a.response.failure, FAILURE_STALL);
        assert_contains(a.response.error, "no byte for 0.08 s");
        assert_string_equal(buf_str(&a.response.answer), i ? "hi" : "");
        assert_in_range(a.response.end - a.response.sent, 80 * NS_PER_MS, 5 * NS_PER_S);
        asked_release(&a);
        run_close(&run);
    }
}

/* Bytes keep coming, so it is no stall, but the end does not. */
static void takes_too_long(void **state)
{
    static const char ping[] =
        SSE "\r\n: ping\n\n: ping\n\n: ping\n\n: ping\n\n: ping\n\n: ping\n\n"
            ": ping\n\n: ping\n\n: ping\n\n: ping\n\n";
    struct script s = SCRIPT(ping, sizeof(ping) - 1, .split = 1, .repeats = 100000000);
    struct run run = {.id = "openai"};
    struct asked a;

    (void)state;
    run_serve(&run, &s, 1);
    run.config.timeout_ns = 150 * NS_PER_MS;
    run.config.idle_timeout_ns = 10 * NS_PER_S;
    run.config.max_response_bytes = (size_t)1 << 40;
    run_open(&run);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_TIMEOUT);
    assert_contains(a.response.error, "HTTP 200: no complete answer within the time limit");
    asked_release(&a);
    run_close(&run);
}

static void sends_too_much(void **state)
{
    static const char endless[] = SSE "\r\n" TEXT TEXT TEXT TEXT TEXT TEXT TEXT TEXT;
    static const char refusal[] = "HTTP/1.1 500 Oops\r\n\r\nboom boom boom boom boom boom boom";
    struct script scripts[] = {
        SCRIPT(endless, sizeof(endless) - 1, .repeats = 100000000, .repeat_at = sizeof(SSE) + 1),
        SCRIPT(refusal, sizeof(refusal) - 1, .repeats = 100000000)};
    struct run run = {.id = "openai"};
    struct asked a;

    (void)state;
    run_serve(&run, scripts, 2);
    run.config.max_response_bytes = 300000;
    run_open(&run);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_TOO_LARGE);
    assert_contains(a.response.error, "the body is larger than allowed");
    asked_release(&a);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_STATUS);
    assert_contains(a.response.error, "HTTP 500: boom boom");
    asked_release(&a);
    run_close(&run);
}

/* A line that never ends is given up at 16 MiB, whatever the body may have. */
static void sends_an_endless_line(void **state)
{
    AUTO(buf) struct buf line = BUF_INIT(1 << 20);
    struct run run = {.id = "openai"};
    struct script s;
    struct asked a;

    (void)state;
    buf_adds(&line, SSE "\r\ndata: ");
    while (line.len < 65536)
        buf_addc(&line, 'x');
    /* 1 GiB */
    s = (struct script)SCRIPT(line.data, line.len, .repeats = 16384, .repeat_at = sizeof(SSE) + 7);
    run_serve(&run, &s, 1);
    run.config.max_response_bytes = (size_t)1 << 40;
    run_open(&run);
    run_ask(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_TOO_LARGE);
    assert_contains(a.response.error, "a line of the stream is too long");
    asked_release(&a);
    run_close(&run);
}

/* The events of a stream whose queries come and go, from one loop. */
static void many_streams(void **state)
{
    enum { N = 64 };
    static const char answer[] =
        SSE "Transfer-Encoding: chunked\r\n\r\n" CHUNK CHUNK "39\r\n" STOP "\r\n0\r\n\r\n";
    static struct asked a[N];
    struct script s =
        SCRIPT(answer, sizeof(answer) - 1, .split = 5, .delay_ms = 30, .end = SCRIPT_KEEP);
    struct run run = {.id = "openai"};

    (void)state;
    run_ready(&run, &s, 1);
    for (int i = 0; i < N; i++)
        run_start(&run, &a[i]);
    for (int i = 0; i < N; i++) {
        run_finish(&run, &a[i]);
        assert_int_equal(a[i].response.failure, FAILURE_NONE);
        assert_string_equal(a[i].response.answer.data, "hihi");
        assert_int_equal(a[i].response.deltas, 2);
        assert_int_equal(a[i].response.end, a[i].response.last_token);
        asked_release(&a[i]);
    }
    run_close(&run);
}

static void cancels(void **state)
{
    static const char begun[] = SSE "Transfer-Encoding: chunked\r\n\r\n" CHUNK;
    struct script s = SCRIPT(begun, sizeof(begun) - 1, .end = SCRIPT_HANG);
    struct run run = {.id = "openai"};
    struct model_list models = {0};
    struct asked a, b;
    struct err err = {0};

    (void)state;
    run_ready(&run, &s, 1);
    run_start(&run, &a);
    run_start(&run, &b);
    while (a.events[CLIENT_DELTA] == 0 || b.events[CLIENT_DELTA] == 0)
        assert_true(run.ops->poll(run.ctx, MONO_NEVER, -1, &err) > 0);
    assert_fails(run.ops->models(run.ctx, &models, &err), EBUSY, &err, "in flight");
    run.ops->cancel(run.ctx, &a.query);
    assert_int_equal(a.events[CLIENT_END], 0);
    run_finish(&run, &a);
    assert_int_equal(a.response.failure, FAILURE_CANCELLED);
    assert_string_equal(a.response.answer.data, "hi");
    run.ops->cancel(run.ctx, &a.query); /* too late: nothing happens */
    /* the other one goes on until the client is closed */
    assert_int_equal(run.ops->poll(run.ctx, mono_now() + 10 * NS_PER_MS, -1, &err), 0);
    run_close(&run);
    assert_int_equal(b.events[CLIENT_END], 1);
    assert_int_equal(b.response.failure, FAILURE_CANCELLED);
    asked_release(&a);
    asked_release(&b);
}

static void proxies(void **state)
{
    static const char answer[] =
        SSE "Transfer-Encoding: chunked\r\n\r\n" CHUNK "39\r\n" STOP "\r\n0\r\n\r\n";
    struct script s = SCRIPT(answer, sizeof(answer) - 1, .end = SCRIPT_KEEP);
    struct scriptserver *proxy = scriptserver_start("127.0.0.1", &s, 1);
    char url[64];
    struct asked a;

    (void)state;
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", proxy->port);
    setenv("http_proxy", url, 1);
    ask_nobody("http://behind.invalid:8000", &a);
    assert_int_equal(a.response.failure, FAILURE_NONE);
    assert_contains(proxy->requests[0], "POST http://behind.invalid:8000/v1/chat/completions HTTP");
    asked_release(&a);
    setenv("NO_PROXY", "127.0.0.1", 1);
    ask_nobody("http://127.0.0.1:1", &a);
    assert_int_equal(a.response.failure, FAILURE_CONNECT);
    asked_release(&a);
    assert_int_equal(scriptserver_requests(proxy), 1);
    run_clean_environment(NULL);
    scriptserver_stop(proxy);
}

/* A server with a certificate of its own making, from the openssl command. -1 without it. */
static pid_t start_tls(const char *dir, int port)
{
    char command[1024];
    pid_t pid;

    snprintf(command, sizeof(command),
             "cd %s && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes "
             "-days 2 -keyout key -out cert -subj /CN=localhost -addext "
             "subjectAltName=IP:127.0.0.1 2>/dev/null && mkdir v1 && "
             "echo '{\"data\":[{\"id\":\"safe\"}]}' > v1/models",
             dir);
    if (system(command) != 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        char number[16];

        snprintf(number, sizeof(number), "%d", port);
        if (chdir(dir) == 0 && freopen("/dev/null", "w", stdout) &&
            freopen("/dev/null", "w", stderr))
            execlp("openssl", "openssl", "s_server", "-accept", number, "-cert", "cert", "-key",
                   "key", "-WWW", (char *)NULL);
        _exit(127);
    }
    return pid;
}

static int free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    bind(fd, (struct sockaddr *)&a, n);
    getsockname(fd, (struct sockaddr *)&a, &n);
    close(fd);
    return ntohs(a.sin_port);
}

/* Until the server listens; false when it never does. */
static bool wait_for_port(int port)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

    for (int i = 0; i < 500; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int r = connect(fd, (struct sockaddr *)&a, sizeof(a));

        close(fd);
        if (r == 0)
            return true;
        usleep(10000);
    }
    return false;
}

static void verifies_certificates(void **state)
{
    AUTO(model_list) struct model_list models = {0};
    char dir[64], url[64], cert[80];
    int port = free_port();
    struct err err = {0};
    pid_t pid;

    (void)state;
    make_temp_dir(dir);
    pid = start_tls(dir, port);
    if (pid < 0 || !wait_for_port(port))
        skip();
    snprintf(url, sizeof(url), "https://127.0.0.1:%d", port);
    snprintf(cert, sizeof(cert), "%s/cert", dir);
    assert_fails(models_of(url, &models, &err), ECONNREFUSED, &err,
                 "cannot connect: SSL certificate problem");
    /* trusted, it is asked */
    setenv("SSL_CERT_FILE", cert, 1);
    assert_ok(models_of(url, &models, &err), &err);
    assert_int_equal(models.n, 1);
    assert_string_equal(models.names[0], "safe");
    run_clean_environment(NULL);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_int_equal(fs_remove_tree(AT_FDCWD, dir, NULL), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_every_fault),
    cmocka_unit_test(nobody_there),
    cmocka_unit_test(models_of_nobody),
    cmocka_unit_test(retry_after),
    cmocka_unit_test(stalls),
    cmocka_unit_test(takes_too_long),
    cmocka_unit_test(sends_too_much),
    cmocka_unit_test(sends_an_endless_line),
    cmocka_unit_test(many_streams),
    cmocka_unit_test(cancels),
    cmocka_unit_test(proxies),
    cmocka_unit_test(verifies_certificates),
};

int main(void)
{
    return cmocka_run_group_tests(tests, run_clean_environment, NULL);
}
