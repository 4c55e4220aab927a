/*
 * The judge against the test server: many questions at once, in every dialect, with faults in some
 * of them; how many are in flight is read from the server's log. The answers that are judged carry
 * [[answer:TEXT]], by which the server knows what to reply, or [[fault:NAME]].
 */
#include "answer.h"
#include "harness.h"
#include "testserver.h"

#include "analysis/judge.h"
#include "base/cleanup.h"

#include <errno.h>

enum { QUESTIONS = 60 };

struct question {
    char answer[96];
    struct judge_result result;
    int calls;
};

struct session {
    struct testserver server;
    struct judge *judge;
    struct question questions[QUESTIONS];
    size_t n;
};

static void on_result(void *arg, void *user, const struct judge_result *result)
{
    struct question *q = user;

    (void)arg;
    q->result = *result;
    q->calls++;
}

static void begin(struct session *s, const char *const *options, int64_t concurrency,
                  int64_t retries)
{
    struct judge_config config = {.model = "fake-model",
                                  .concurrency = concurrency,
                                  .retries = retries,
                                  .timeout_ns = 60 * NS_PER_S,
                                  .backoff_ns = NS_PER_MS,
                                  .on_result = on_result};
    struct err err = {0};

    *s = (struct session){.server = TESTSERVER_NONE};
    assert_non_null(getenv("IPW_TESTSERVER"));
    assert_ok(testserver_start(getenv("IPW_TESTSERVER"), options, &s->server, &err), &err);
    config.base_url = s->server.url;
    assert_ok(judge_open(&config, &s->judge, &err), &err);
    assert_ok(judge_prepare(s->judge, NULL, NULL, &err), &err);
}

static struct question *ask(struct session *s, const char *answer)
{
    struct question *q = &s->questions[s->n];
    struct item item = {.index = (int64_t)s->n, .problem = "Which city?", .answer = "Paris"};
    struct err err = {0};

    snprintf(q->answer, sizeof(q->answer), "%s", answer);
    assert_ok(judge_add(s->judge, "judge", &item, q->answer, q, &err), &err);
    s->n++;
    return q;
}

static void run(struct session *s)
{
    struct err err = {0};

    assert_ok(judge_run(s->judge, 0, -1, &err), &err);
    for (size_t i = 0; i < s->n; i++)
        assert_int_equal(s->questions[i].calls, 1);
}

static void end(struct session *s, struct served_log *ret)
{
    struct err err = {0};

    judge_close(s->judge);
    assert_ok(testserver_stop(&s->server, &err), &err);
    if (ret)
        assert_ok(testserver_log(&s->server, ret, &err), &err);
    testserver_release(&s->server);
}

static void verdicts_in_every_dialect(void **state)
{
    static const char *const dialects[] = {"openai", "llamacpp", "vllm", "sglang", "ollama-v1"};
    static const struct {
        const char *reply;
        enum verdict verdict;
    } cases[] = {{"TRUE", VERDICT_CORRECT},
                 {"FALSE", VERDICT_WRONG},
                 {"They agree in all that matters.\n\nVERDICT: TRUE", VERDICT_CORRECT},
                 {"I would say TRUE", VERDICT_UNSCORABLE},
                 {"", VERDICT_UNSCORABLE}};
    char answer[96];

    (void)state;
    for (size_t d = 0; d < 5; d++) {
        struct session s;

        begin(&s,
              (const char *[]){"--dialect", dialects[d], "--ttft", "2ms", "--itl", "1ms",
                               "--reasoning-tokens", d % 2 ? "3" : "0", NULL},
              4, 0);
        for (size_t i = 0; i < 5; i++) {
            snprintf(answer, sizeof(answer), "[[answer:%s]]", cases[i].reply);
            ask(&s, answer);
        }
        run(&s);
        for (size_t i = 0; i < 5; i++) {
            const struct judge_result *r = &s.questions[i].result;

            if (!r->scored || r->score.verdict != cases[i].verdict)
                fail_msg("%s, \"%s\": %d %s%s", dialects[d], cases[i].reply, r->score.verdict,
                         r->score.reason, r->error);
        }
        assert_string_equal(s.questions[4].result.score.reason,
                            d % 2 ? "the judge thought, but gave no verdict"
                                  : "the judge's reply is empty");
        assert_true(judge_totals(s.judge).output_tokens >= 1 + 1 + 8 + 4);
        end(&s, NULL);
    }
}

static size_t most_at_once(const struct served_log *log)
{
    size_t most = 0;

    for (size_t i = 0; i < log->n; i++) {
        size_t n = 0;

        for (size_t k = 0; k < log->n; k++)
            n += log->items[k].received <= log->items[i].received &&
                 log->items[i].received < log->items[k].end;
        most = n > most ? n : most;
    }
    return most;
}

static void as_many_at_once_as_allowed(void **state)
{
    static const int64_t limits[] = {1, 3, 8};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        AUTO(served_log) struct served_log log = {0};
        size_t n = 3 * (size_t)limits[i];
        struct session s;

        begin(&s, (const char *[]){"--answer", "TRUE", "--ttft", "60ms", NULL}, limits[i], 0);
        for (size_t k = 0; k < n; k++)
            ask(&s, "Paris");
        run(&s);
        assert_int_equal(judge_totals(s.judge).correct, n);
        assert_int_equal(judge_totals(s.judge).requests, n);
        end(&s, &log);
        assert_int_equal(log.n, n);
        assert_int_equal(most_at_once(&log), limits[i]);
    }
}

/* Every second question fails in its own way; the others are judged as if nothing was. */
static void faults_stay_where_they_are(void **state)
{
    static const struct {
        const char *fault, *words;
        int attempts; /* of 3 */
    } faults[] = {{"status:500", "HTTP 500", 3},   {"status:503:html", "HTTP 503", 3},
                  {"rate-limit:0", "HTTP 429", 3}, {"reset", "broke off", 3},
                  {"cut", "broke off", 3},         {"drop", "broke off", 3},
                  {"error", "unexpected EOF", 3},  {"silent-end", "finish reason", 3},
                  {"status:400", "HTTP 400", 1},   {"status:413:text", "HTTP 413", 1},
                  {"content-type", "text/html", 1}};
    size_t n = sizeof(faults) / sizeof(faults[0]);
    struct session s;
    char answer[96];

    (void)state;
    begin(&s, (const char *[]){"--answer", "TRUE", "--ttft", "2ms", NULL}, 1, 2);
    for (size_t i = 0; i < n; i++) {
        snprintf(answer, sizeof(answer), "[[fault:%s]]", faults[i].fault);
        ask(&s, answer);
        ask(&s, "Paris");
    }
    run(&s);
    for (size_t i = 0; i < n; i++) {
        const struct judge_result *r = &s.questions[2 * i].result;

        assert_false(r->scored);
        if (!strstr(r->error, faults[i].words) || r->attempts != faults[i].attempts)
            fail_msg("%s: %s (%d attempts)", faults[i].fault, r->error, (int)r->attempts);
        assert_int_equal(r->refused, strcmp(faults[i].fault, "rate-limit:0") != 0);
        assert_true(s.questions[2 * i + 1].result.scored);
    }
    end(&s, NULL);
}

/* A server that fails now and then is no hindrance. */
static void a_flaky_server_is_enough(void **state)
{
    struct session s;

    (void)state;
    begin(&s,
          (const char *[]){"--answer", "FALSE", "--ttft", "1ms", "--fault", "status:500", "--fault",
                           "reset", "--fault", "rate-limit:0", "--fault-rate", "0.4", NULL},
          8, 20);
    for (size_t i = 0; i < QUESTIONS; i++)
        ask(&s, "Paris");
    run(&s);
    assert_int_equal(judge_totals(s.judge).wrong, QUESTIONS);
    assert_true(judge_totals(s.judge).requests > QUESTIONS + 10);
    end(&s, NULL);
}

static void a_server_that_dies_leaves_what_was_judged(void **state)
{
    struct session s;
    struct err err = {0};

    (void)state;
    begin(&s, (const char *[]){"--answer", "TRUE", "--ttft", "5ms", NULL}, 2, 1);
    for (size_t i = 0; i < 40; i++)
        ask(&s, "Paris");
    assert_ok(judge_run(s.judge, 30, -1, &err), &err);
    assert_ok(testserver_stop(&s.server, &err), &err);
    run(&s);
    assert_true(judge_totals(s.judge).correct >= 10);
    assert_int_equal(judge_totals(s.judge).correct + judge_totals(s.judge).unscored, 40);
    assert_true(judge_totals(s.judge).unscored > 0);
    end(&s, NULL);
}

static void the_model_must_be_there(void **state)
{
    struct testserver server;
    struct judge_config config = {
        .model = "fake-modle", .concurrency = 1, .on_result = on_result, .retries = 3};
    struct question q = {0};
    struct item item = {.problem = "?", .answer = "!"};
    struct err err = {0};
    struct judge *judge;

    (void)state;
    assert_ok(testserver_start(getenv("IPW_TESTSERVER"), (const char *[]){NULL}, &server, &err),
              &err);
    config.base_url = server.url;
    assert_ok(judge_open(&config, &judge, &err), &err);
    assert_fails(judge_prepare(judge, NULL, NULL, &err), ENOENT, &err, "fake-model");
    /* and without asking first */
    assert_ok(judge_add(judge, "judge", &item, "x", &q, &err), &err);
    assert_ok(judge_run(judge, 0, -1, &err), &err);
    assert_false(q.result.scored);
    assert_int_equal(q.result.attempts, 1);
    judge_close(judge);
    testserver_release(&server);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(verdicts_in_every_dialect),
    cmocka_unit_test(as_many_at_once_as_allowed),
    cmocka_unit_test(faults_stay_where_they_are),
    cmocka_unit_test(a_flaky_server_is_enough),
    cmocka_unit_test(a_server_that_dies_leaves_what_was_judged),
    cmocka_unit_test(the_model_must_be_there),
};
TEST_MAIN(tests)
