/*
 * The clients against the test server, 64 streams at once: every answer to the byte with every
 * protocol and dialect, and with faults in one query of five, each told for what it is while the
 * others stay exact. The server's log says which query was struck.
 */
#include "answer.h"
#include "clientload.h"
#include "harness.h"
#include "testserver.h"

#include "base/cleanup.h"

#define STREAMS 64
#define TOKENS  20

struct setup {
    const char *client, *endpoint, *dialect;
    bool counts;  /* this server tells how many tokens it made, */
    bool timings; /* and how long it took */
};

static struct testserver start(const char *const *options)
{
    struct testserver s;
    struct err err = {0};

    assert_non_null(getenv("IPW_TESTSERVER"));
    assert_ok(testserver_start(getenv("IPW_TESTSERVER"), options, &s, &err), &err);
    return s;
}

static void run(struct clientload *l, const struct testserver *s, const struct setup *u, size_t n)
{
    struct err err = {0};

    *l = (struct clientload){.client = u->client,
                             .url = s->url,
                             .model = "fake-model",
                             .timeout_ns = 60 * NS_PER_S,
                             .idle_timeout_ns = 4 * NS_PER_S};
    kv_add(&l->params, "endpoint", u->endpoint);
    kv_add(&l->generation, "temperature", "0");
    clientload_init(l, n);
    for (size_t i = 0; i < n; i++)
        snprintf(l->queries[i].prompt, sizeof(l->queries[i].prompt), "naïve \"question\" %zu\n", i);
    assert_ok(clientload_run(l, (struct schedule_options){.concurrency = STREAMS}, &err), &err);
    assert_int_equal(l->stats.taken, n);
    assert_int_equal(l->stats.finished, n);
    assert_int_equal(l->stats.peak_in_flight, STREAMS);
}

static void finish(struct testserver *s, struct served_log *ret)
{
    struct err err = {0};

    assert_ok(testserver_stop(s, &err), &err);
    assert_ok(testserver_log(s, ret, &err), &err);
}

/* A query that was sent again is decided by the last answer. */
static const struct served *find_last(const struct served_log *log, const char *prompt)
{
    uint64_t hash = answer_hash(prompt, strlen(prompt));

    for (size_t i = log->n; i > 0; i--)
        if (log->items[i - 1].prompt_hash == hash)
            return &log->items[i - 1];
    fail_msg("the server never saw \"%s\"", prompt);
    return NULL;
}

static void add_expected(struct buf *out, const char *prompt)
{
    answer_add(out, answer_key(prompt, strlen(prompt), 0), 0, TOKENS);
}

static void assert_exact(const struct clientload_query *q)
{
    AUTO(buf) struct buf expected = BUF_INIT(1 << 20);
    const struct response *p = &q->response;

    add_expected(&expected, q->prompt);
    if (p->failure != FAILURE_NONE)
        fail_msg("\"%s\": %s (%s)", q->prompt, failure_name(p->failure), p->error);
    assert_string_equal(buf_str(&p->answer), buf_str(&expected));
    assert_int_equal(p->answer.len, expected.len);
    assert_int_equal(p->reasoning.len, 0);
    assert_string_equal(p->finish_reason, "stop");
    assert_string_equal(p->error, "");
    assert_int_equal(p->http_status, 200);
    assert_int_equal(p->end, p->last_token);
}

static void assert_usage(const struct clientload_query *q)
{
    assert_int_equal(q->response.usage.completion_tokens, TOKENS);
    assert_int_equal(q->response.usage.prompt_tokens, answer_prompt_tokens(strlen(q->prompt)));
}

/* Both clocks are one, so no delta can be here before the server sent it; those that are read
 * together have the time of the first. */
static void assert_times(const struct clientload_query *q, const struct served *v)
{
    size_t n;
    AUTO_FREE mono_ns *times = response_times(&q->response, &n);

    assert_int_equal(n, v->n_sent);
    assert_true(q->planned <= q->response.sent && q->response.sent <= v->received);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || times[i] != times[i - 1])
            assert_true(times[i] >= v->sent[i]);
}

static void exact_with(const struct setup *u)
{
    AUTO(testserver)
    struct testserver s = start((const char *[]){"--dialect", u->dialect, "--ttft", "20ms", "--itl",
                                                 "2ms", "--tokens", "20", NULL});
    AUTO(served_log) struct served_log log = {0};
    AUTO(clientload) struct clientload load;

    run(&load, &s, u, 2 * STREAMS); /* the second half on connections that were kept */
    finish(&s, &log);
    assert_int_equal(log.n, load.n);
    for (size_t i = 0; i < load.n; i++) {
        const struct clientload_query *q = &load.queries[i];

        assert_int_equal(q->ends, 1);
        assert_int_equal(q->strays, 0);
        assert_exact(q);
        if (u->counts)
            assert_usage(q);
        else
            assert_int_equal(q->response.usage.completion_tokens, -1);
        assert_int_equal(q->response.deltas, TOKENS);
        assert_int_equal(q->response.timings.decode_ns >= 0, u->timings);
        assert_times(q, find_last(&log, q->prompt));
    }
}

static void every_answer_is_exact(void **state)
{
    static const struct setup setups[] = {
        {"openai", "chat", "openai", true, false},
        {"openai", "completions", "openai", true, false},
        {"openai", "chat", "llamacpp", true, true},
        {"openai", "completions", "llamacpp", true, true},
        {"openai", "chat", "vllm", true, true},
        {"openai", "completions", "vllm", true, true},
        {"openai", "chat", "sglang", true, false},
        {"openai", "completions", "sglang", true, false},
        {"openai", "chat", "ollama-v1", true, false},
        {"openai", "completions", "ollama-v1", true, false},
        {"ollama", "generate", "ollama-v1", true, true},
        {"ollama", "chat", "ollama-v1", true, true},
        {"ollama", "generate", "openai", true, true},
        {"ollama", "chat", "sglang", false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
        print_message("%s %s, dialect %s\n", setups[i].client, setups[i].endpoint,
                      setups[i].dialect);
        exact_with(&setups[i]);
    }
}

/* What must come of a query that was struck, and what its words must contain. */
static const struct strike {
    const char *option, *name;
    enum failure failure;
    int status;
    const char *words;
} strikes[] = {
    {"status:500", "status", FAILURE_STATUS, 500, "an injected error"},
    {"rate-limit:7", "rate-limit", FAILURE_STATUS, 429, "429"},
    {"drop", "drop", FAILURE_CUT, 0, "the connection broke off"},
    {"reset", "reset", FAILURE_CUT, 200, "the connection broke off"},
    {"cut", "cut", FAILURE_CUT, 200, "the connection broke off"},
    {"stall:60s", "stall", FAILURE_STALL, 200, "no byte for 4 s"},
    {"garbage", "garbage", FAILURE_GARBAGE, 200, "is not"},
    {"content-type", "content-type", FAILURE_GARBAGE, 200, "text/html instead of"},
    {"bad-utf8", "bad-utf8", FAILURE_GARBAGE, 200, "is not UTF-8"},
    {"error", "error", FAILURE_STREAM, 200, "unexpected EOF"},
    {"silent-end", "silent-end", FAILURE_NO_END, 200, "ended without a finish reason"},
    {"no-usage", "no-usage", FAILURE_NONE, 200, ""},
    {"no-stream-options", "no-stream-options", FAILURE_NONE, 200, ""},
    {"split-utf8:0.2ms", "split-utf8", FAILURE_NONE, 200, ""},
    {"bytes", "bytes", FAILURE_NONE, 200, ""},
    {"close", "close", FAILURE_NONE, 200, ""},
};

enum { N_STRIKES = sizeof(strikes) / sizeof(strikes[0]) };

static const struct strike *find_strike(const char *name)
{
    for (size_t i = 0; i < N_STRIKES; i++)
        if (strcmp(strikes[i].name, name) == 0)
            return &strikes[i];
    fail_msg("no fault is called %s", name);
    return NULL;
}

/* What came before the failure is the beginning of the right answer. */
static void assert_failed(const struct clientload_query *q, const struct strike *k, const char *url)
{
    AUTO(buf) struct buf expected = BUF_INIT(1 << 20);
    const struct response *p = &q->response;

    add_expected(&expected, q->prompt);
    if (p->failure != k->failure || !strstr(p->error, k->words) || !strstr(p->error, url))
        fail_msg("%s: %s (%s)", k->name, failure_name(p->failure), p->error);
    /* a reset may take the headers with it */
    if (strcmp(k->name, "reset") != 0 || p->http_status != 0)
        assert_int_equal(p->http_status, k->status);
    assert_int_equal(p->retry_after_ns, k->status == 429 ? 7 * NS_PER_S : -1);
    assert_true(p->answer.len < expected.len);
    assert_memory_equal(buf_str(&p->answer), expected.data, p->answer.len);
    assert_true(p->end >= p->sent);
}

static void check_struck(const struct clientload *load, const struct served_log *log,
                         const char *url)
{
    int seen[N_STRIKES] = {0};
    size_t struck = 0;

    for (size_t i = 0; i < load->n; i++) {
        const struct clientload_query *q = &load->queries[i];
        const struct served *v = find_last(log, q->prompt);
        const struct strike *k = *v->fault ? find_strike(v->fault) : NULL;

        assert_int_equal(q->ends, 1);
        assert_int_equal(q->strays, 0);
        if (k && k->failure != FAILURE_NONE)
            assert_failed(q, k, url);
        else
            assert_exact(q);
        if (!k)
            assert_usage(q);
        struck += k != NULL;
    }
    /* in the whole log: libcurl sends again what was dropped on a kept connection */
    for (size_t i = 0; i < log->n; i++)
        if (*log->items[i].fault)
            seen[find_strike(log->items[i].fault) - strikes]++;
    for (size_t i = 0; i < N_STRIKES; i++)
        if (seen[i] == 0)
            fail_msg("%s never struck", strikes[i].name);
    assert_true(struck > load->n / 10 && struck < load->n * 3 / 10);
}

static void faulty_with(const struct setup *u)
{
    const char *options[12 + 2 * N_STRIKES + 1] = {"--dialect", u->dialect, "--ttft",       "20ms",
                                                   "--itl",     "2ms",      "--tokens",     "20",
                                                   "--seed",    "0",        "--fault-rate", "0.2"};
    AUTO(served_log) struct served_log log = {0};
    AUTO(clientload) struct clientload load;
    struct testserver s;

    for (size_t i = 0, n = 12; i < N_STRIKES; i++) {
        options[n++] = "--fault";
        options[n++] = strikes[i].option;
    }
    s = start(options);
    run(&load, &s, u, 600);
    finish(&s, &log);
    check_struck(&load, &log, s.url);
    testserver_release(&s);
}

static void openai_tells_faults(void **state)
{
    (void)state;
    faulty_with(&(struct setup){"openai", "chat", "llamacpp", true, true});
}

static void ollama_tells_faults(void **state)
{
    (void)state;
    faulty_with(&(struct setup){"ollama", "generate", "ollama-v1", true, true});
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_answer_is_exact),
    cmocka_unit_test(openai_tells_faults),
    cmocka_unit_test(ollama_tells_faults),
};
TEST_MAIN(tests)
