/*
 * The HTTP loop, without a protocol on top of it.
 */
#include "harness.h"

#include "base/cleanup.h"
#include "client/http.h"
#include "support/scriptserver.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

/* A request and what became of it. */
struct seen {
    struct http_request request;
    char url[256];
    struct buf body;
    int sents, headers, datas, dones;
    mono_ns sent, headers_at, first_data, last_data;
    enum failure failure;
    char words[HTTP_WORDS_MAX];
    int status;
    char type[64], location[64];
    int abort_after; /* pieces; 0 = never */
    int restarts;    /* so often started again by its own end */
};

static void on_sent(struct http_request *r, mono_ns at)
{
    struct seen *s = r->user;

    s->sents++;
    s->sent = at;
}

static void on_headers(struct http_request *r, mono_ns at)
{
    struct seen *s = r->user;
    const char *type = http_header(r, "content-type"), *location = http_header(r, "LOCATION");

    s->headers++;
    s->headers_at = at;
    s->status = r->status;
    snprintf(s->type, sizeof(s->type), "%s", type ? type : "(none)");
    snprintf(s->location, sizeof(s->location), "%s", location ? location : "(none)");
}

static int on_data(struct http_request *r, const char *piece, size_t n, mono_ns at)
{
    struct seen *s = r->user;

    if (s->datas++ == 0)
        s->first_data = at;
    s->last_data = at;
    buf_add(&s->body, piece, n);
    return s->abort_after > 0 && s->datas >= s->abort_after;
}

static void on_done(struct http_request *r, enum failure failure, const char *words)
{
    struct seen *s = r->user;

    s->dones++;
    s->failure = failure;
    snprintf(s->words, sizeof(s->words), "%s", words);
    if (s->restarts-- > 0)
        http_start(r->http, r);
}

static const struct http_handler handler = {on_sent, on_headers, on_data, on_done};

static void prepare(struct seen *s, const struct scriptserver *server)
{
    *s = (struct seen){.body = BUF_INIT(64 << 20)};
    snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d/x", server ? server->port : 1);
    s->request = (struct http_request){
        .url = s->url, .deadline = mono_now() + 20 * NS_PER_S, .handler = &handler, .user = s};
}

static void begin(struct http *h, struct seen *s, const struct scriptserver *server)
{
    prepare(s, server);
    http_start(h, &s->request);
}

static void finish(struct http *h, struct seen *s)
{
    struct err err = {0};

    while (http_in_flight(h) > 0)
        assert_ok(http_poll(h, MONO_NEVER, -1, &err), &err);
    assert_int_equal(s->dones, 1);
}

static struct http *open_loop(void)
{
    struct http *h;
    struct err err = {0};

    assert_ok(http_open(&(struct http_options){.headers = NULL}, &h, &err), &err);
    return h;
}

static const char hello[] = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n"
                            "\r\nhello";
static const struct script keep = SCRIPT(hello, sizeof(hello) - 1, .end = SCRIPT_KEEP);

static void gets_a_body(void **state)
{
    struct scriptserver *server = scriptserver_start("127.0.0.1", &keep, 1);
    struct http *h = open_loop();
    struct seen s;

    (void)state;
    begin(h, &s, server);
    assert_int_equal(http_in_flight(h), 1);
    assert_int_equal(s.sents, 0); /* nothing happens before the poll */
    finish(h, &s);
    assert_int_equal(s.failure, FAILURE_NONE);
    assert_int_equal(s.status, 200);
    assert_string_equal(s.type, "text/plain");
    assert_string_equal(s.location, "(none)");
    assert_string_equal(s.body.data, "hello");
    assert_int_equal(s.sents, 1);
    assert_int_equal(s.headers, 1);
    assert_true(s.sent > 0 && s.headers_at >= s.sent && s.first_data >= s.headers_at);
    assert_non_null(strstr(server->requests[0], "GET /x HTTP/1.1\r\n"));
    assert_non_null(strstr(server->requests[0], "\r\nUser-Agent: ipw/"));
    assert_null(strstr(server->requests[0], "Content-Type"));
    buf_release(&s.body);
    http_close(h);
    scriptserver_stop(server);
}

/* The pieces of a stream carry the times at which they came. */
static void stamps_pieces(void **state)
{
    static const char stream[] = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabcdef";
    struct script s = SCRIPT(stream, sizeof(stream) - 1, .hold_at = sizeof(stream) - 4);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &s, 1);
    struct http *h = open_loop();
    mono_ns begun = mono_now(), between;
    struct err err = {0};
    struct seen seen;

    (void)state;
    begin(h, &seen, server);
    while (seen.datas == 0)
        assert_ok(http_poll(h, MONO_NEVER, -1, &err), &err);
    between = mono_now();
    scriptserver_go(server);
    finish(h, &seen);
    assert_string_equal(seen.body.data, "abcdef");
    assert_true(begun <= seen.sent && seen.sent <= seen.headers_at);
    assert_true(seen.headers_at <= seen.first_data);
    assert_true(seen.first_data <= between && between <= seen.last_data);
    buf_release(&seen.body);
    http_close(h);
    scriptserver_stop(server);
}

static void keeps_connections(void **state)
{
    struct scriptserver *server = scriptserver_start("127.0.0.1", &keep, 1);
    struct http *h = open_loop();

    (void)state;
    for (int i = 0; i < 5; i++) {
        struct seen s;

        begin(h, &s, server);
        finish(h, &s);
        assert_string_equal(s.body.data, "hello");
        buf_release(&s.body);
    }
    http_close(h);
    assert_int_equal(scriptserver_requests(server), 5);
    assert_int_equal(scriptserver_connections(server), 1);
    scriptserver_stop(server);
}

/* A kept connection that the server has closed is not the next request's problem. */
static void replaces_dead_connections(void **state)
{
    struct script once = SCRIPT(hello, sizeof(hello) - 1, .end = SCRIPT_CLOSE);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &once, 1);
    struct http *h = open_loop();

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct seen s;

        begin(h, &s, server);
        finish(h, &s);
        assert_int_equal(s.failure, FAILURE_NONE);
        assert_string_equal(s.body.data, "hello");
        buf_release(&s.body);
    }
    http_close(h);
    scriptserver_stop(server);
}

static void serves_many_at_once(void **state)
{
    enum { N = 100 };
    static struct seen s[N];
    struct script slow = SCRIPT(hello, sizeof(hello) - 1, .delay_ms = 100, .end = SCRIPT_KEEP);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &slow, 1);
    struct http *h = open_loop();
    struct err err = {0};
    mono_ns start = mono_now();

    (void)state;
    for (int i = 0; i < N; i++)
        begin(h, &s[i], server);
    while (http_in_flight(h) > 0)
        assert_ok(http_poll(h, MONO_NEVER, -1, &err), &err);
    /* together, not one after the other */
    assert_true(mono_now() - start < N * 100 * NS_PER_MS / 2);
    for (int i = 0; i < N; i++) {
        assert_int_equal(s[i].failure, FAILURE_NONE);
        assert_string_equal(s[i].body.data, "hello");
        assert_int_equal(s[i].dones, 1);
        buf_release(&s[i].body);
    }
    http_close(h);
    scriptserver_stop(server);
}

/* A handler may start its request again from its end. */
static void starts_again_from_its_end(void **state)
{
    struct scriptserver *server = scriptserver_start("127.0.0.1", &keep, 1);
    struct http *h = open_loop();
    struct err err = {0};
    struct seen s;

    (void)state;
    begin(h, &s, server);
    s.restarts = 3;
    while (http_in_flight(h) > 0)
        assert_ok(http_poll(h, MONO_NEVER, -1, &err), &err);
    assert_int_equal(s.dones, 4);
    assert_string_equal(s.body.data, "hellohellohellohello");
    buf_release(&s.body);
    http_close(h);
    scriptserver_stop(server);
}

static void handler_aborts(void **state)
{
    static const char endless[] =
        "HTTP/1.1 200 OK\r\n\r\nxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";
    struct script s = SCRIPT(endless, sizeof(endless) - 1, .repeats = 1000000);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &s, 1);
    struct http *h = open_loop();
    struct seen seen;

    (void)state;
    begin(h, &seen, server);
    seen.abort_after = 2;
    finish(h, &seen);
    assert_int_equal(seen.datas, 2);
    assert_int_equal(seen.failure, FAILURE_NONE);
    assert_true(seen.request.aborted);
    buf_release(&seen.body);
    http_close(h);
    scriptserver_stop(server);
}

static void other_sockets(void **state)
{
    char dir[64], path[80];
    struct scriptserver *server;
    struct http *h;
    struct seen s;
    int fd;

    (void)state;
    make_temp_dir(dir);
    snprintf(path, sizeof(path), "%s/s", dir);
    server = scriptserver_start(path, &keep, 1);
    assert_int_equal(http_open(&(struct http_options){.socket = path}, &h, NULL), 0);
    begin(h, &s, NULL);
    finish(h, &s);
    assert_int_equal(s.failure, FAILURE_NONE);
    assert_string_equal(s.body.data, "hello");
    buf_release(&s.body);
    http_close(h);
    scriptserver_stop(server);
    unlink(path);
    rmdir(dir);
    /* IPv6, where the machine has it */
    fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd,
                       (struct sockaddr *)&(struct sockaddr_in6){
                           .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT},
                       sizeof(struct sockaddr_in6)) < 0) {
        close(fd);
        return;
    }
    close(fd);
    server = scriptserver_start("::1", &keep, 1);
    h = open_loop();
    begin(h, &s, NULL);
    snprintf(s.url, sizeof(s.url), "http://[::1]:%d/x", server->port);
    finish(h, &s);
    assert_int_equal(s.failure, FAILURE_NONE);
    assert_string_equal(s.body.data, "hello");
    buf_release(&s.body);
    http_close(h);
    scriptserver_stop(server);
}

static void unpacks(void **state)
{
    static const char packed[] =
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 40\r\n\r\n"
        "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xcb\x48\xcd\xc9\xc9\xd7\x51\x28\x48\x4c\xce\x4e"
        "\x4d"
        "\x51\x28\xcf\x2f\xca\x49\xe1\x02\x00\xde\xe1\x1c\x4a\x14\x00\x00\x00";
    static const char broken[] =
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 10\r\n\r\nnot gzip!!";
    struct script scripts[] = {SCRIPT(packed, sizeof(packed) - 1, .split = 3),
                               SCRIPT(broken, sizeof(broken) - 1)};
    struct scriptserver *server = scriptserver_start("127.0.0.1", scripts, 2);
    struct http *h = open_loop();
    struct seen s;

    (void)state;
    begin(h, &s, server);
    finish(h, &s);
    assert_int_equal(s.failure, FAILURE_NONE);
    assert_string_equal(s.body.data, "hello, packed world\n");
    buf_release(&s.body);
    begin(h, &s, server);
    finish(h, &s);
    assert_int_equal(s.failure, FAILURE_GARBAGE);
    buf_release(&s.body);
    http_close(h);
    scriptserver_stop(server);
}

static void does_not_follow_redirects(void **state)
{
    static const char moved[] =
        "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/y\r\nContent-Length: 0\r\n\r\n";
    struct script s = SCRIPT(moved, sizeof(moved) - 1, .end = SCRIPT_KEEP);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &s, 1);
    struct http *h = open_loop();
    struct seen seen;

    (void)state;
    begin(h, &seen, server);
    finish(h, &seen);
    assert_int_equal(seen.failure, FAILURE_NONE);
    assert_int_equal(seen.status, 302);
    assert_string_equal(seen.location, "http://127.0.0.1:9/y");
    assert_int_equal(scriptserver_requests(server), 1);
    buf_release(&seen.body);
    http_close(h);
    scriptserver_stop(server);
}

/* 100 and 103 come before the answer. */
static void skips_informational_answers(void **state)
{
    static const char early[] =
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n"
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    struct script s = SCRIPT(early, sizeof(early) - 1, .split = 9);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &s, 1);
    struct http *h = open_loop();
    struct seen seen;

    (void)state;
    begin(h, &seen, server);
    finish(h, &seen);
    assert_int_equal(seen.headers, 1);
    assert_int_equal(seen.status, 200);
    assert_string_equal(seen.body.data, "ok");
    buf_release(&seen.body);
    http_close(h);
    scriptserver_stop(server);
}

static void poll_waits_and_wakes(void **state)
{
    struct script hang = SCRIPT("", 0, .end = SCRIPT_HANG);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &hang, 1);
    struct http *h = open_loop();
    int wake = eventfd(0, EFD_CLOEXEC), other = eventfd(0, EFD_CLOEXEC);
    uint64_t one = 1;
    struct err err = {0};
    struct seen s;
    mono_ns t;

    (void)state;
    /* with nothing in flight it waits for the deadline, exactly */
    t = mono_now() + 3 * NS_PER_MS + 300 * NS_PER_US;
    assert_int_equal(http_poll(h, t, -1, &err), 0);
    assert_true(mono_now() >= t);
    /* a deadline that has passed */
    assert_int_equal(http_poll(h, 0, -1, &err), 0);
    /* nothing could ever end this */
    assert_fails(http_poll(h, MONO_NEVER, -1, &err), EDEADLK, &err, "nothing is in flight");
    /* the descriptor wakes it, again and again until it is read; only the one that is given */
    assert_int_equal(write(wake, &one, sizeof(one)), sizeof(one));
    assert_int_equal(http_poll(h, MONO_NEVER, wake, &err), 0);
    assert_int_equal(http_poll(h, MONO_NEVER, wake, &err), 0);
    t = mono_now() + 2 * NS_PER_MS;
    assert_int_equal(http_poll(h, t, other, &err), 0);
    assert_true(mono_now() >= t);
    assert_int_equal(http_poll(h, MONO_NEVER, wake, &err), 0);
    /* also while something is in flight */
    begin(h, &s, server);
    while (s.sents == 0)
        assert_int_equal(http_poll(h, MONO_NEVER, -1, &err), 1);
    assert_int_equal(http_poll(h, MONO_NEVER, wake, &err), 0);
    assert_int_equal(s.dones, 0);
    assert_fails(http_poll(h, MONO_NEVER, 9999, &err), EBADF, &err, "wake-up descriptor");
    close(wake);
    close(other);
    http_close(h);
    assert_int_equal(s.failure, FAILURE_CANCELLED);
    scriptserver_stop(server);
}

static void ignore_signal(int number)
{
    (void)number;
}

static void signals_wake(void **state)
{
    struct sigaction act = {.sa_handler = ignore_signal}, old;
    struct itimerval soon = {.it_value.tv_usec = 20000}, off = {0};
    struct http *h = open_loop();
    struct err err = {0};

    (void)state;
    sigaction(SIGALRM, &act, &old);
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_int_equal(http_poll(h, mono_now() + 20 * NS_PER_S, -1, &err), 0);
    setitimer(ITIMER_REAL, &off, NULL);
    sigaction(SIGALRM, &old, NULL);
    http_close(h);
}

static void cancels(void **state)
{
    struct script hang = SCRIPT(hello, sizeof(hello) - 3, .end = SCRIPT_HANG);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &hang, 1);
    struct http *h = open_loop();
    struct err err = {0};
    struct seen s, unsent;

    (void)state;
    begin(h, &s, server);
    while (s.datas == 0)
        assert_ok(http_poll(h, MONO_NEVER, -1, &err), &err);
    http_cancel(&s.request);
    http_cancel(&s.request); /* twice is once */
    assert_int_equal(s.dones, 0);
    finish(h, &s);
    assert_int_equal(s.failure, FAILURE_CANCELLED);
    assert_string_equal(s.words, "cancelled");
    assert_string_equal(s.body.data, "hel");
    buf_release(&s.body);
    /* before it was ever sent */
    begin(h, &unsent, server);
    http_cancel(&unsent.request);
    finish(h, &unsent);
    assert_int_equal(unsent.failure, FAILURE_CANCELLED);
    assert_int_equal(unsent.sents, 0);
    /* by closing: started ones and sent ones */
    begin(h, &s, server);
    while (s.sents == 0)
        assert_ok(http_poll(h, MONO_NEVER, -1, &err), &err);
    begin(h, &unsent, server);
    http_close(h);
    assert_int_equal(s.failure, FAILURE_CANCELLED);
    assert_int_equal(s.dones, 1);
    assert_int_equal(unsent.failure, FAILURE_CANCELLED);
    assert_int_equal(unsent.dones, 1);
    buf_release(&s.body);
    scriptserver_stop(server);
}

/* Requests with different limits end in the order of their limits. */
static void time_limits(void **state)
{
    static const int total_ms[] = {120, 40, 0, 80}, idle_ms[] = {0, 0, 60, 500};
    static const enum failure ends[] = {FAILURE_TIMEOUT, FAILURE_TIMEOUT, FAILURE_STALL,
                                        FAILURE_TIMEOUT};
    struct script hang = SCRIPT("", 0, .end = SCRIPT_HANG);
    struct scriptserver *server = scriptserver_start("127.0.0.1", &hang, 1);
    struct http *h = open_loop();
    struct err err = {0};
    mono_ns start = mono_now();
    struct seen s[4];

    (void)state;
    for (int i = 0; i < 4; i++) {
        prepare(&s[i], server);
        s[i].request.deadline = total_ms[i] ? start + total_ms[i] * NS_PER_MS : MONO_NEVER;
        s[i].request.idle_ns = idle_ms[i] * NS_PER_MS;
        http_start(h, &s[i].request);
    }
    while (http_in_flight(h) > 0)
        assert_ok(http_poll(h, MONO_NEVER, -1, &err), &err);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(s[i].failure, ends[i]);
        assert_int_equal(s[i].dones, 1);
    }
    assert_string_equal(s[2].words, "no byte for 0.06 s");
    assert_true(mono_now() - start >= 120 * NS_PER_MS);
    http_close(h);
    scriptserver_stop(server);
}

/* A listener that takes nobody in: its queue is full. */
static void connecting_has_a_limit(void **state)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), fill[8];
    struct http *h;
    struct seen s;

    (void)state;
    assert_int_equal(bind(fd, (struct sockaddr *)&a, n), 0);
    assert_int_equal(listen(fd, 0), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    for (int i = 0; i < 8; i++) {
        fill[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        connect(fill[i], (struct sockaddr *)&a, n);
    }
    assert_int_equal(
        http_open(&(struct http_options){.connect_timeout_ns = 100 * NS_PER_MS}, &h, NULL), 0);
    begin(h, &s, NULL);
    snprintf(s.url, sizeof(s.url), "http://127.0.0.1:%d/", ntohs(a.sin_port));
    finish(h, &s);
    assert_int_equal(s.failure, FAILURE_CONNECT);
    assert_non_null(strstr(s.words, "cannot connect: "));
    assert_int_equal(s.sents, 0);
    for (int i = 0; i < 8; i++)
        close(fill[i]);
    close(fd);
    http_close(h);
}

static void raises_the_file_limit(void **state)
{
    struct rlimit old, limit;
    struct http *h;

    (void)state;
    getrlimit(RLIMIT_NOFILE, &old);
    limit = old;
    limit.rlim_cur = limit.rlim_max < 256 ? limit.rlim_max : 256;
    setrlimit(RLIMIT_NOFILE, &limit);
    h = open_loop();
    getrlimit(RLIMIT_NOFILE, &limit);
    assert_int_equal(limit.rlim_cur, old.rlim_max);
    http_close(h);
    http_close(NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gets_a_body),
    cmocka_unit_test(stamps_pieces),
    cmocka_unit_test(keeps_connections),
    cmocka_unit_test(replaces_dead_connections),
    cmocka_unit_test(serves_many_at_once),
    cmocka_unit_test(starts_again_from_its_end),
    cmocka_unit_test(handler_aborts),
    cmocka_unit_test(other_sockets),
    cmocka_unit_test(unpacks),
    cmocka_unit_test(does_not_follow_redirects),
    cmocka_unit_test(skips_informational_answers),
    cmocka_unit_test(poll_waits_and_wakes),
    cmocka_unit_test(signals_wake),
    cmocka_unit_test(cancels),
    cmocka_unit_test(time_limits),
    cmocka_unit_test(connecting_has_a_limit),
    cmocka_unit_test(raises_the_file_limit),
};

int main(void)
{
    unsetenv("http_proxy");
    unsetenv("ALL_PROXY");
    unsetenv("all_proxy");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
