/*
 * The faults of the test server, one by one, and what happens to a server that is itself attacked.
 */
#include "answer.h"
#include "harness.h"
#include "probe.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/num.h"

#include <fcntl.h>
#include <sys/socket.h>

#define FAST "--ttft", "1ms", "--itl", "0.1ms", "--tokens", "20"

static struct probe_server server;

static int start(void **state)
{
    (void)state;
    server = probe_start((const char *[]){FAST, NULL});
    return 0;
}

static int stop(void **state)
{
    (void)state;
    probe_stop(&server);
    return 0;
}

static struct probe_reply ask_at(const char *path, const char *fault)
{
    char body[512];

    snprintf(body, sizeof(body),
             "{\"model\":\"fake-model\",\"prompt\":\"q[[fault:%s]]\",\"stream\":true%s}", fault,
             strncmp(path, "/v1", 3) == 0 ? ",\"stream_options\":{\"include_usage\":true}" : "");
    return probe_post(&server, path, body);
}

static struct probe_reply ask(const char *fault)
{
    return ask_at("/v1/completions", fault);
}

/* The text of the first n tokens for a prompt with this fault in it. */
static void assert_tokens(const struct probe_answer *a, const char *fault, int n)
{
    AUTO(buf) struct buf expected = BUF_INIT(BUF_MAX_OWN);
    char prompt[256];

    snprintf(prompt, sizeof(prompt), "q[[fault:%s]]", fault);
    answer_add(&expected, answer_key(prompt, strlen(prompt), 0), 0, n);
    assert_string_equal(buf_str(&a->text), buf_str(&expected));
}

static void assert_status(const char *fault, int status, const char *head, const char *body)
{
    struct probe_reply r = ask(fault);

    assert_int_equal(r.status, status);
    assert_true(r.complete);
    assert_non_null(strstr(buf_str(&r.head), head));
    assert_non_null(strstr(buf_str(&r.body), body));
    probe_reply_release(&r);
}

static void statuses(void **state)
{
    (void)state;
    assert_status("status:500", 500, "application/json", "{\"error\":{");
    assert_status("status:502:html", 502, "text/html", "<h1>");
    assert_status("status:200:html", 200, "text/html", "<h1>");
    assert_status("status:503:text", 503, "text/plain", "an injected error\n");
    assert_status("status:404:empty", 404, "Content-Length: 0\r\n", "");
    assert_status("rate-limit:7", 429, "Retry-After: 7\r\n", "{\"error\":{");
    assert_status("redirect:http://127.0.0.2:1/v1", 307, "Location: http://127.0.0.2:1/v1\r\n", "");
    assert_status("no-stream-options", 400, "", "stream_options");
    assert_status("nonsense", 400, "", "no fault is called");
    assert_status("stall:soon", 400, "", "fault stall");
}

static void without_stream_options_it_answers(void **state)
{
    struct probe_reply r = ask_at("/api/generate", "no-stream-options");
    struct probe_answer a = probe_answer(&r);

    (void)state;
    assert_int_equal(r.status, 200);
    assert_tokens(&a, "no-stream-options", 20);
    probe_answer_release(&a);
    probe_reply_release(&r);
}

/* Streams that break: how many tokens came, and how it ended. */
static void broken_streams(void **state)
{
    static const struct {
        const char *fault;
        int tokens;
        bool complete, reset, done;
        const char *finish, *error;
    } rows[] = {
        {"cut:5", 5, false, false, false, "", ""},
        {"cut", 10, false, false, false, "", ""},
        {"cut:99", 20, false, false, false, "", ""},
        {"reset:5", 5, false, true, false, "", ""},
        {"error:5", 5, true, false, false, "",
         "an error was encountered while running the model: unexpected EOF"},
        {"silent-end:5", 5, true, false, false, "", ""},
        {"empty", 0, true, false, true, "stop", ""},
        {"no-usage", 20, true, false, true, "stop", ""},
        {"close", 20, true, false, true, "stop", ""},
        {"bytes", 20, true, false, true, "stop", ""},
        {"split-utf8:0.2ms", 20, true, false, true, "stop", ""},
        {"stall:30ms:4", 20, true, false, true, "stop", ""},
        {"slow-headers:30ms", 20, true, false, true, "stop", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct probe_reply r = ask(rows[i].fault);
        struct probe_answer a = probe_answer(&r);

        assert_int_equal(r.status, 200);
        if (r.complete != rows[i].complete || r.reset != rows[i].reset)
            fail_msg("%s: complete %d, reset %d", rows[i].fault, r.complete, r.reset);
        /* a reset may take bytes with it that were on their way */
        if (!rows[i].reset)
            assert_tokens(&a, rows[i].fault, rows[i].tokens);
        assert_true(a.done == rows[i].done);
        assert_false(a.bad_json);
        assert_string_equal(a.finish, rows[i].finish);
        assert_string_equal(a.error, rows[i].error);
        if (strcmp(rows[i].fault, "no-usage") == 0)
            assert_int_equal(a.completion_tokens, -1);
        probe_answer_release(&a);
        probe_reply_release(&r);
    }
}

/* How each server words an error in the middle of a stream. */
static void errors_in_a_stream(void **state)
{
    static const struct {
        const char *dialect, *path, *error;
        bool done;
        int usage; /* Ollama has told zeros by then */
    } rows[] = {{"openai", "/v1/completions", "an error", false, -1},
                {"llamacpp", "/v1/completions", "an error", false, -1},
                {"vllm", "/v1/completions", "an error", true, -1},
                {"sglang", "/v1/completions", "an error", true, -1},
                {"ollama-v1", "/v1/completions", "", false, 0},
                {"ollama-v1", "/api/generate", "an error", false, -1}};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct probe_server other = server;
        struct probe_reply r;
        struct probe_answer a;

        server = probe_start((const char *[]){"--dialect", rows[i].dialect, FAST, NULL});
        r = ask_at(rows[i].path, "error:3");
        a = probe_answer(&r);
        assert_true(r.complete);
        assert_tokens(&a, "error:3", 3);
        assert_true(a.done == rows[i].done);
        assert_memory_equal(a.error, rows[i].error, strlen(rows[i].error));
        assert_string_equal(a.finish, "");
        assert_int_equal(a.completion_tokens, rows[i].usage);
        probe_answer_release(&a);
        probe_reply_release(&r);
        probe_stop(&server);
        server = other;
    }
}

static void nothing_at_all(void **state)
{
    struct probe_reply r = ask("drop");

    (void)state;
    assert_int_equal(r.raw.len, 0);
    probe_reply_release(&r);
}

static void wrong_bytes(void **state)
{
    struct probe_reply r = ask("bad-utf8:3");
    struct probe_answer a = probe_answer(&r);

    (void)state;
    assert_non_null(memmem(r.body.data, r.body.len, "\xFF\xC0\x80", 3));
    assert_true(a.bad_json && r.complete);
    probe_answer_release(&a);
    probe_reply_release(&r);
    r = ask("garbage:1000");
    assert_int_equal(r.body.len, 1000);
    assert_true(r.complete);
    assert_non_null(strstr(buf_str(&r.head), "text/event-stream"));
    probe_reply_release(&r);
    assert_status("content-type:application/octet-stream", 200,
                  "Content-Type: application/octet-stream\r\n", "data: ");
    assert_status("content-type", 200, "Content-Type: text/html\r\n", "data: ");
}

static void big_things(void **state)
{
    struct probe_reply r = ask("huge-token:300k:2");
    struct probe_answer a = probe_answer(&r);

    (void)state;
    assert_true(r.complete && !a.bad_json);
    assert_true(a.text.len > 300000 && a.text.len < 300400);
    assert_int_equal(a.completion_tokens, 20);
    probe_answer_release(&a);
    probe_reply_release(&r);
    r = ask_at("/api/generate", "long-line:5MB:0");
    assert_false(r.complete);
    assert_true(r.body.len > 5000000 && r.body.len < 5000300);
    assert_null(memchr(r.body.data, '\n', r.body.len));
    probe_reply_release(&r);
}

/* A character's bytes are in different chunks, and in different writes. */
static void splits_characters(void **state)
{
    struct probe_reply r = ask("split-utf8:5ms");
    int inside = 0;

    (void)state;
    assert_true(r.inside > 0);
    for (size_t i = 1; i < r.raw.len; i++)
        inside += ((unsigned char)r.raw.data[i] & 0xC0) == 0x80 && r.raw.data[i - 1] == '\n';
    assert_true(inside > 0);
    for (size_t i = 1; i < r.raw.len; i++)
        assert_false(((unsigned char)r.raw.data[i] & 0xC0) == 0x80 &&
                     ((unsigned char)r.raw.data[i - 1] & 0xC0) == 0xC0);
    probe_reply_release(&r);
}

static void sends_single_bytes(void **state)
{
    struct probe_reply r = ask("bytes:0.1ms");

    (void)state;
    assert_true(r.pieces > 100); /* some arrive together all the same */
    assert_true(r.complete);
    probe_reply_release(&r);
}

static void refuses_for_a_while(void **state)
{
    struct probe_reply r = ask("refuse:1s");
    int fd;

    (void)state;
    assert_int_equal(r.raw.len, 0);
    probe_reply_release(&r);
    assert_int_equal(probe_connect(&server), -1);
    for (int i = 0; (fd = probe_connect(&server)) < 0; i++) {
        assert_true(i < 20000);
        usleep(1000);
    }
    close(fd);
    assert_status("close", 200, "Connection: close", "[DONE]");
}

static void is_loading_at_first(void **state)
{
    struct probe_server other = server;
    struct probe_reply r;
    int tries = 0;

    (void)state;
    server = probe_start((const char *[]){"--fault", "loading:1s", "--dialect", "llamacpp",
                                          "--fault-rate", "0", FAST, NULL});
    r = probe_get(&server, "/health");
    assert_int_equal(r.status, 503);
    assert_string_equal(buf_str(&r.body), "{\"error\":{\"code\":503,\"message\":\"Loading model\","
                                          "\"type\":\"unavailable_error\"}}");
    for (; r.status == 503 && tries < 20000; tries++) {
        probe_reply_release(&r);
        usleep(1000);
        r = probe_get(&server, "/health");
    }
    assert_int_equal(r.status, 200);
    probe_reply_release(&r);
    probe_stop(&server);
    server = other;
}

/* An answer that is not streamed breaks too. */
static void whole_answers_break(void **state)
{
    static const char body[] = "{\"prompt\":\"q[[fault:%s]]\"}";
    char text[128];
    struct probe_reply r;

    (void)state;
    snprintf(text, sizeof(text), body, "cut");
    r = probe_post(&server, "/v1/completions", text);
    assert_int_equal(r.status, 200);
    assert_true(!r.complete && r.body.len > 20);
    probe_reply_release(&r);
    snprintf(text, sizeof(text), body, "error");
    r = probe_post(&server, "/v1/completions", text);
    assert_int_equal(r.status, 500);
    probe_reply_release(&r);
}

/* Which requests are struck follows from the seed and their number alone. */
static void strike_pattern(const char *seed, char pattern[65], const char *rate)
{
    struct probe_server s =
        probe_start((const char *[]){"--seed", seed, "--fault", "status:500", "--fault",
                                     "status:503", "--fault-rate", rate, FAST, NULL});

    for (int i = 0; i < 64; i++) {
        struct probe_reply r;

        if (i % 10 == 0) { /* not a candidate: must not shift the draws */
            r = probe_get(&s, "/v1/models");
            assert_int_equal(r.status, 200);
            probe_reply_release(&r);
        }
        r = probe_post(&s, "/v1/completions", "{\"prompt\":\"a\",\"max_tokens\":1}");
        pattern[i] = r.status == 500 ? 'a' : r.status == 503 ? 'b' : '.';
        probe_reply_release(&r);
    }
    pattern[64] = '\0';
    probe_stop(&s);
}

static void strikes_by_rate(void **state)
{
    char one[65], two[65], other[65], never[65];
    int struck = 0;

    (void)state;
    strike_pattern("1", one, "0.3");
    strike_pattern("1", two, "0.3");
    strike_pattern("2", other, "0.3");
    strike_pattern("1", never, "0");
    assert_string_equal(one, two);
    assert_string_not_equal(one, other);
    for (int i = 0; i < 64; i++) {
        struck += one[i] != '.';
        assert_int_equal(never[i], '.');
    }
    assert_true(struck >= 8 && struck <= 32);
    assert_non_null(strchr(one, 'a'));
    assert_non_null(strchr(one, 'b'));
}

static void strikes_everything_in_scope_all(void **state)
{
    struct probe_server s =
        probe_start((const char *[]){"--fault", "status:401", "--fault-scope", "all", FAST, NULL});
    struct probe_reply r = probe_get(&s, "/v1/models");

    (void)state;
    assert_int_equal(r.status, 401);
    probe_reply_release(&r);
    probe_stop(&s);
}

static int64_t memory_kb(const struct probe_server *s)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    char path[64];
    const char *line;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)s->pid);
    assert_int_equal(fs_read_all(AT_FDCWD, path, &text, NULL), 0);
    line = strstr(buf_str(&text), "VmRSS:");
    assert_non_null(line);
    return strtoll(line + 6, NULL, 10);
}

/* A reader that stops must not fill the server's memory; one that hangs up is logged. */
static void slow_readers_are_safe(void **state)
{
    struct probe_server s = probe_start((const char *[]){FAST, "--itl", "0", NULL});
    AUTO(json_doc) struct json_doc doc = {0};
    int64_t before = memory_kb(&s);
    int fds[3];
    static const char *const faults[] = {"long-line", "endless", "huge-token:8MiB:0"};
    char byte[64];

    (void)state;
    for (int i = 0; i < 3; i++) {
        char body[160];

        fds[i] = probe_connect(&s);
        snprintf(body, sizeof(body), "{\"prompt\":\"[[fault:%s]]\",\"stream\":true}", faults[i]);
        probe_request(fds[i], "POST", "/v1/completions", "", body);
    }
    for (int i = 0; i < 3; i++)
        assert_true(recv(fds[i], byte, sizeof(byte), 0) > 0);
    /* time enough to make a gigabyte, if it would */
    usleep(500 * 1000);
    assert_true(memory_kb(&s) - before < 128 * 1024);
    for (int i = 0; i < 3; i++)
        close(fds[i]);
    for (int i = 0; i < 3; i++) {
        probe_log_line(&s, i, &doc);
        assert_string_equal(json_text(json_get(doc.root, "outcome"), ""), "client_closed");
    }
    probe_stop(&s);
}

static void assert_refused(const char *request, size_t n, int status)
{
    int fd = probe_connect(&server);
    struct probe_reply r;

    assert_true(fd >= 0);
    probe_send(fd, request, n);
    shutdown(fd, SHUT_WR);
    r = probe_read(fd, SIZE_MAX);
    /* what was sent in vain may turn the close into a reset that eats the words */
    if (!r.reset || r.status)
        assert_int_equal(r.status, status);
    probe_reply_release(&r);
}

#define REFUSED(text, status) assert_refused(text, sizeof(text) - 1, status)

static void survives_hostile_requests(void **state)
{
    AUTO(buf) struct buf big = BUF_INIT(1 << 20);

    (void)state;
    REFUSED("\r\n\r\n", 400);
    REFUSED("GET\r\n\r\n", 400);
    REFUSED("GET / HTTP/2.0\r\n\r\n", 400);
    REFUSED("GET / HTTP/1.1\r\nno colon\r\n\r\n", 400);
    REFUSED("GET / HTTP/1.1\r\nA: \0b\r\n\r\n", 400);
    REFUSED("BREW / HTTP/1.1\r\n\r\n", 501);
    REFUSED("ABCDEFGHIJKLMNOP / HTTP/1.1\r\n\r\n", 400);
    REFUSED("POST / HTTP/1.1\r\n\r\n", 411);
    REFUSED("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411);
    REFUSED("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400);
    REFUSED("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400);
    REFUSED("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", 400);
    REFUSED("POST / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n", 413);
    REFUSED("POST /v1/completions HTTP/1.1\r\nContent-Length: 100\r\n\r\n{", 0);
    REFUSED("\x16\x03\x01 no HTTP", 0);
    buf_adds(&big, "GET / HTTP/1.1\r\nA: ");
    for (int i = 0; i < 60000; i++)
        buf_addc(&big, 'a');
    assert_refused(big.data, big.len, 431);
    buf_clear(&big);
    buf_adds(&big, "POST /v1/completions HTTP/1.1\r\nContent-Length: 20000\r\n"
                   "Connection: close\r\n\r\n");
    for (int i = 0; i < 20000; i++)
        buf_addc(&big, '[');
    assert_refused(big.data, big.len, 400); /* nested too deeply */
    assert_status("close", 200, "Connection: close", "[DONE]");
}

static void waits_for_leave_to_send(void **state)
{
    static const char head[] = "POST /v1/completions HTTP/1.1\r\nExpect: 100-continue\r\n"
                               "Connection: close\r\nContent-Length: 14\r\n\r\n";
    static const char leave[] = "HTTP/1.1 100 Continue\r\n\r\n";
    int fd = probe_connect(&server);
    char text[64] = "";
    struct probe_reply r;

    (void)state;
    probe_send(fd, head, strlen(head));
    assert_int_equal(recv(fd, text, sizeof(text), 0), strlen(leave));
    assert_string_equal(text, leave);
    probe_send(fd, "{\"prompt\":\"p\"}", 14);
    r = probe_read(fd, SIZE_MAX);
    assert_int_equal(r.status, 200);
    assert_true(r.complete);
    probe_reply_release(&r);
}

/* HTTP/1.0 has no chunks: the close ends the body. */
static void speaks_to_old_clients(void **state)
{
    static const char request[] = "POST /v1/completions HTTP/1.0\r\nContent-Length: 28\r\n\r\n"
                                  "{\"prompt\":\"p\",\"stream\":true}";
    int fd = probe_connect(&server);
    struct probe_reply r;

    (void)state;
    probe_send(fd, request, strlen(request));
    r = probe_read(fd, SIZE_MAX);
    assert_null(strstr(buf_str(&r.head), "chunked"));
    assert_memory_equal(buf_str(&r.body), "data: {", 7);
    assert_string_equal(r.body.data + r.body.len - 14, "data: [DONE]\n\n");
    probe_reply_release(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(statuses),
    cmocka_unit_test(without_stream_options_it_answers),
    cmocka_unit_test(broken_streams),
    cmocka_unit_test(errors_in_a_stream),
    cmocka_unit_test(nothing_at_all),
    cmocka_unit_test(wrong_bytes),
    cmocka_unit_test(big_things),
    cmocka_unit_test(splits_characters),
    cmocka_unit_test(sends_single_bytes),
    cmocka_unit_test(refuses_for_a_while),
    cmocka_unit_test(is_loading_at_first),
    cmocka_unit_test(whole_answers_break),
    cmocka_unit_test(strikes_by_rate),
    cmocka_unit_test(strikes_everything_in_scope_all),
    cmocka_unit_test(slow_readers_are_safe),
    cmocka_unit_test(survives_hostile_requests),
    cmocka_unit_test(waits_for_leave_to_send),
    cmocka_unit_test(speaks_to_old_clients),
};

int main(void)
{
    return cmocka_run_group_tests(tests, start, stop);
}
