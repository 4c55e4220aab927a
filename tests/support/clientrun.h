/*
 * clientrun: a client under test, with a scripted server behind it. Include it once per program.
 *
 *     struct run run = {.id = "openai"};
 *     run_serve(&run, scripts, n);         starts the server; run.config can then be changed
 *     run_open(&run);
 *     struct asked a;
 *     run_ask(&run, &a);                   one query, to its end
 *     a.response.failure ...
 *     asked_release(&a);
 *     run_close(&run);
 *
 * run_ready is the first two.
 */
#ifndef IPW_TESTS_CLIENTRUN_H
#define IPW_TESTS_CLIENTRUN_H

#include "harness.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "client/client.h"
#include "support/scriptserver.h"

#include <errno.h>
#include <fcntl.h>

#define RESPONSE_MAX ((size_t)16 << 20)

struct run {
    const char *id;
    struct scriptserver *server;
    const struct client_ops *ops;
    void *ctx;
    char url[128];
    struct kv_list params, generation;
    struct client_config config;
};

struct asked {
    struct client_query query;
    struct response response;
    int events[CLIENT_END + 1];
    enum client_event last;
};

/* Nothing of the person's environment may reach the tests. */
static int run_clean_environment(void **state)
{
    static const char *const names[] = {"http_proxy",     "HTTPS_PROXY",   "https_proxy",
                                        "ALL_PROXY",      "all_proxy",     "NO_PROXY",
                                        "no_proxy",       "IPW_API_KEY",   "OPENAI_API_KEY",
                                        "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unsetenv(names[i]);
    return 0;
}

static inline void run_serve(struct run *r, const struct script *scripts, size_t n)
{
    r->server = scriptserver_start("127.0.0.1", scripts, n);
    snprintf(r->url, sizeof(r->url), "http://127.0.0.1:%d", r->server->port);
    r->config.base_url = r->url;
    r->config.model = "m";
    r->config.params = &r->params;
    r->config.generation = &r->generation;
    r->config.timeout_ns = 20 * NS_PER_S; /* no test hangs */
}

static inline void run_open(struct run *r)
{
    struct err err = {0};

    r->ops = client_find(r->id, &err);
    assert_non_null(r->ops);
    assert_ok(r->ops->open(&r->config, &r->ctx, &err), &err);
}

static inline void run_ready(struct run *r, const struct script *scripts, size_t n)
{
    run_serve(r, scripts, n);
    run_open(r);
}

static inline void run_close(struct run *r)
{
    if (r->ops)
        r->ops->close(r->ctx);
    if (r->server)
        scriptserver_stop(r->server);
    kv_list_release(&r->params);
    kv_list_release(&r->generation);
}

static inline void asked_event(struct client_query *q, enum client_event e)
{
    struct asked *a = q->user;

    assert_int_equal(a->events[CLIENT_END], 0); /* nothing comes after the end */
    /* a query that is sent again begins anew */
    assert_true(e >= a->last || (e == CLIENT_SENT && a->last == CLIENT_SENT));
    if (e == CLIENT_DELTA)
        assert_true(q->response->deltas > 0);
    a->events[e]++;
    a->last = e;
}

static inline void run_start(struct run *r, struct asked *a)
{
    *a = (struct asked){0};
    response_init(&a->response, RESPONSE_MAX);
    a->query = (struct client_query){.prompt = "Say \"hi\"\n",
                                     .prompt_len = 9,
                                     .response = &a->response,
                                     .on_event = asked_event,
                                     .user = a};
    r->ops->start(r->ctx, &a->query);
}

static inline void run_finish(struct run *r, struct asked *a)
{
    struct err err = {0};

    while (a->events[CLIENT_END] == 0)
        assert_ok(r->ops->poll(r->ctx, MONO_NEVER, -1, &err), &err);
}

static inline void run_ask(struct run *r, struct asked *a)
{
    run_start(r, a);
    run_finish(r, a);
}

static inline void asked_release(struct asked *a)
{
    response_release(&a->response);
}

/* A whole answer with a Content-Length. `type` NULL: no Content-Type. Further header lines end in
 * CRLF each. */
static inline void make_reply(struct buf *out, const char *status, const char *type,
                              const char *headers, const char *body)
{
    buf_addf(out, "HTTP/1.1 %s\r\n%s", status, headers);
    if (type)
        buf_addf(out, "Content-Type: %s\r\n", type);
    buf_addf(out, "Content-Length: %zu\r\n\r\n", strlen(body));
    buf_adds(out, body);
}

/* A streamed answer in one chunk, with its end. */
static inline void make_stream(struct buf *out, const char *type, const char *body)
{
    buf_addf(out, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n",
             type);
    buf_addf(out, "%zx\r\n%s\r\n0\r\n\r\n", strlen(body), body);
}

/* A recorded file below tests/fixtures/http. */
static inline void read_fixture(const char *name, const char *suffix, struct buf *ret)
{
    char path[512];
    struct err err = {0};

    snprintf(path, sizeof(path), FIXTURES "/http/%s%s", name, suffix);
    assert_ok(fs_read_all(AT_FDCWD, path, ret, &err), &err);
}

/* What came back must be this text; NULL = none. The text is in a file of the fixture's name. */
static inline void assert_recorded(const struct buf *got, const char *fixture, const char *suffix)
{
    AUTO(buf) struct buf expected = BUF_INIT(1 << 20);

    if (fixture)
        read_fixture(fixture, suffix, &expected);
    assert_int_equal(got->len, expected.len);
    assert_string_equal(buf_str(got), buf_str(&expected));
}

static inline void assert_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" does not contain \"%s\"", text, part);
}

/* A recorded exchange and what must be read from it. */
struct golden {
    const char *file;
    const char *endpoint; /* NULL = the default */
    enum failure failure;
    int status;
    const char *words; /* part of the error */
    bool has_answer, has_reasoning;
    int64_t deltas;
    const char *finish;
    struct usage usage;
    struct server_timings timings;
};

static inline void check_times(const struct response *p)
{
    assert_true(p->sent > 0 && p->headers >= p->sent && p->end >= p->headers);
    if (p->deltas > 0) {
        size_t n;
        mono_ns *times = response_times(p, &n);

        assert_true(p->first_token >= p->headers && p->last_token >= p->first_token);
        assert_int_equal(n, p->deltas);
        assert_int_equal(times[0], p->first_token);
        assert_int_equal(times[n - 1], p->last_token);
        free(times);
    }
    if (p->failure == FAILURE_NONE && p->deltas > 0)
        assert_int_equal(p->end, p->last_token);
}

static inline void check_golden(const struct golden *g, const struct asked *a)
{
    const struct response *p = &a->response;

    if (p->failure != g->failure)
        fail_msg("%s: %s (%s)", g->file, failure_name(p->failure), p->error);
    assert_int_equal(p->http_status, g->status);
    assert_contains(p->error, g->words ? g->words : "");
    if (!g->words)
        assert_string_equal(p->error, "");
    assert_recorded(&p->answer, g->has_answer ? g->file : NULL, ".answer");
    assert_recorded(&p->reasoning, g->has_reasoning ? g->file : NULL, ".reasoning");
    assert_int_equal(p->deltas, g->deltas);
    assert_string_equal(p->finish_reason, g->finish ? g->finish : "");
    assert_memory_equal(&p->usage, &g->usage, sizeof(p->usage));
    assert_memory_equal(&p->timings, &g->timings, sizeof(p->timings));
    assert_int_equal(p->first_answer != MONO_ABSENT, g->has_answer);
    check_times(p);
    assert_int_equal(a->events[CLIENT_SENT], 1);
    assert_int_equal(a->events[CLIENT_HEADERS],
                     g->failure == FAILURE_STATUS || g->failure == FAILURE_GARBAGE ? 0 : 1);
    assert_int_equal(a->events[CLIENT_DELTA] > 0, g->deltas > 0);
    assert_int_equal(a->events[CLIENT_END], 1);
}

/* Plays a recorded exchange, in one piece and cut at random places. */
static inline void replay(const char *id, const struct golden *g)
{
    AUTO(buf) struct buf bytes = BUF_INIT(1 << 20);

    read_fixture(g->file, ".raw", &bytes);
    for (unsigned split = 0; split < 4; split++) {
        struct script s = SCRIPT(bytes.data, bytes.len, .split = split);
        struct run run = {.id = id};
        struct asked a;

        if (g->endpoint)
            kv_add(&run.params, "endpoint", g->endpoint);
        run_ready(&run, &s, 1);
        run_ask(&run, &a);
        check_golden(g, &a);
        asked_release(&a);
        run_close(&run);
    }
}

#endif
