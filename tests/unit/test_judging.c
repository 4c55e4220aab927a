/*
 * Accuracy with a judge, which is a server that plays prepared replies in order: one question at a
 * time, so that they come in the order of the rows.
 */
#include "analysis_runs.h"

#include "analysis/judgements.h"
#include "analysis/judging.h"
#include "support/scriptserver.h"

#include <errno.h>

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))
#define SAYS(text)                                                                         \
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"      \
    "data: {\"choices\":[{\"delta\":{\"content\":\"" text "\"}}]}\n\n"                     \
    "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"                  \
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":200,\"completion_tokens\":2}}\n\n" \
    "data: [DONE]\n\n"
#define REFUSES(status)                                                        \
    "HTTP/1.1 " status "\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n" \
    "Connection: close\r\n\r\n"
#define PLAY(text) SCRIPT(text, sizeof(text) - 1, .end = SCRIPT_CLOSE)
#define NO_LIST    PLAY(REFUSES("404 Not Found")) /* of models: the first thing that is asked */
#define SAYS_TRUE  PLAY(SAYS("TRUE"))
#define SAYS_FALSE PLAY(SAYS("FALSE"))

/* n records whose scorer needs a judge. */
static void write_questions(size_t n)
{
    struct record *records = xcalloc(n, sizeof(*records));
    char problems[16][8];

    assert_true(n <= 16);
    for (size_t i = 0; i < n; i++) {
        snprintf(problems[i], sizeof(problems[i]), "Q%zu?", i);
        records[i] = query(problems[i], "Paris", "It is Paris.");
        records[i].request.index = (int64_t)i;
        records[i].energy.gpu_j = 10;
        records[i].latency.total_s = 2;
    }
    write_run(records, n, "{\"profiler_config\":{\"scorer\":\"judge:simpleqa\"}}");
    free(records);
}

struct court {
    struct scriptserver *server;
    char url[64];
    struct judging_options options;
};

static void open_court(struct court *c, const struct script *scripts, size_t n)
{
    *c = (struct court){.options = {.dir = path, .wake_fd = -1}};
    c->server = scriptserver_start("127.0.0.1", scripts, n);
    snprintf(c->url, sizeof(c->url), "http://127.0.0.1:%d", c->server->port);
    c->options.judge = (struct judge_config){.base_url = c->url,
                                             .model = "j",
                                             .concurrency = 1,
                                             .timeout_ns = 20 * NS_PER_S,
                                             .backoff_ns = NS_PER_MS};
}

/* How many questions were asked, the list of models not counted. */
static size_t close_court(struct court *c)
{
    size_t n = scriptserver_requests(c->server);

    scriptserver_stop(c->server);
    return n ? n - 1 : 0;
}

static void judge_run_of(const struct court *c, bool rescore, struct json_doc *doc)
{
    AUTO_PTR(judging) struct judging *judging = NULL;
    struct analysis_options o = {.rescore = rescore};

    assert_ok(judging_open(&c->options, &judging, &err), &err);
    o.judge = judging_judge(judging);
    analyze("accuracy", &o, doc);
}

/* An analysis by a judge who plays this; returns how often it was asked. */
static size_t try_case(const struct script *scripts, size_t n, struct json_doc *doc)
{
    struct court c;

    open_court(&c, scripts, n);
    judge_run_of(&c, false, doc);
    return close_court(&c);
}

static double cost(const struct json_doc *doc, const char *key)
{
    return json_real(json_path(doc->root, "judge", key), NAN);
}

static void without_a_judge_it_is_said_how(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    write_questions(3);
    analyze("accuracy", NULL, &doc);
    assert_near(number(&doc, "unscored"), 3, 0);
    assert_true(isnan(number(&doc, "accuracy")));
    assert_true(warns(&doc, "3 answers are not scored: scorer judge needs a judge; name one with "
                            "--judge-model and --judge-base-url"));
    assert_null(json_get(doc.root, "judge"));
}

static void verdicts_become_part_of_the_run(void **state)
{
    static const struct script scripts[] = {NO_LIST, SAYS_TRUE, SAYS_FALSE, PLAY(SAYS("hm")),
                                            SAYS_TRUE};
    static const int expected[] = {1, 0, -1, 1};
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *r;

    (void)state;
    write_questions(4);
    assert_int_equal(try_case(scripts, COUNT(scripts), &doc), 4);
    assert_near(number(&doc, "correct"), 2, 0);
    assert_near(number(&doc, "incorrect"), 1, 0);
    assert_near(number(&doc, "unscorable"), 1, 0);
    assert_near(number(&doc, "accuracy"), 2 / 3.0, 1e-15);
    /* the judge's cost is told, and nowhere else */
    assert_near(cost(&doc, "requests"), 4, 0);
    assert_near(cost(&doc, "input_tokens"), 800, 0);
    assert_near(cost(&doc, "output_tokens"), 8, 0);
    assert_near(cost(&doc, "reused"), 0, 0);
    assert_string_equal(json_text(json_path(doc.root, "judge", "model"), ""), "j");
    assert_near(number(&doc, "avg_per_query_energy_joules"), 10, 0);
    assert_near(number(&doc, "total_joules"), 40, 0);
    assert_ok(run_open(path, &run, &err), &err);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(run_next(run, &r, &err), 1);
        assert_int_equal(r->correct, expected[i]);
        assert_string_equal(r->evaluation.scorer, "judge:simpleqa");
    }
    run_rewind(run, &err);
    run_next(run, &r, &err);
    assert_string_equal(r->evaluation.metadata, "{\"extracted\":\"TRUE\",\"unscorable\":false}");
}

/* Neither verdicts nor the unscorable are asked about again, with or without a judge. */
static void nothing_is_asked_twice(void **state)
{
    static const struct script scripts[] = {NO_LIST, SAYS_TRUE, PLAY(SAYS("hm")), SAYS_FALSE};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    write_questions(3);
    assert_int_equal(try_case(scripts, COUNT(scripts), &doc), 3);
    assert_int_equal(try_case(scripts, COUNT(scripts), &doc), 0);
    assert_near(number(&doc, "accuracy"), 0.5, 0);
    assert_near(number(&doc, "newly_scored"), 0, 0);
    analyze("accuracy", NULL, &doc);
    assert_near(number(&doc, "accuracy"), 0.5, 0);
    assert_near(number(&doc, "unscorable"), 1, 0);
}

static void rescore_asks_again(void **state)
{
    static const struct script first[] = {NO_LIST, SAYS_TRUE}, then[] = {NO_LIST, SAYS_FALSE};
    AUTO(json_doc) struct json_doc doc = {0};
    struct court c;

    (void)state;
    write_questions(2);
    assert_int_equal(try_case(first, COUNT(first), &doc), 2);
    open_court(&c, then, COUNT(then));
    c.options.again = true;
    judge_run_of(&c, true, &doc);
    assert_int_equal(close_court(&c), 2);
    assert_near(number(&doc, "incorrect"), 2, 0);
    assert_near(cost(&doc, "reused"), 0, 0);
}

/* What was judged before the judge went away is saved; the next one is asked the rest. */
static void a_judge_may_fail_midway(void **state)
{
    static const struct script bad[] = {NO_LIST, SAYS_TRUE, SAYS_FALSE,
                                        PLAY(REFUSES("401 Unauthorized"))};
    static const struct script good[] = {NO_LIST, SAYS_TRUE};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    write_questions(8);
    assert_int_equal(try_case(bad, COUNT(bad), &doc), 3);
    assert_near(number(&doc, "correct"), 1, 0);
    assert_near(number(&doc, "incorrect"), 1, 0);
    assert_near(number(&doc, "unscored"), 6, 0);
    assert_true(warns(&doc, "6 answers are not scored: "));
    assert_true(warns(&doc, "HTTP 401"));
    assert_non_null(strstr(json_text(json_path(doc.root, "judge", "gave_up"), ""), "401"));
    assert_int_equal(try_case(good, COUNT(good), &doc), 6);
    assert_near(number(&doc, "correct"), 7, 0);
    assert_near(number(&doc, "unscored"), 0, 0);
}

/* One attempt: needs evaluation; three: no more. */
static void an_evaluation_may_fail_three_times(void **state)
{
    static const struct script bad[] = {NO_LIST, PLAY(REFUSES("413 Too Large"))};
    static const struct script good[] = {NO_LIST, SAYS_TRUE};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    for (int failures = 1; failures <= 4; failures++) {
        write_questions(1);
        for (int i = 0; i < failures; i++) {
            assert_int_equal(try_case(bad, COUNT(bad), &doc), i < 3);
            assert_near(number(&doc, "failed_evaluations"), 1, 0);
            assert_near(number(&doc, "total_scored"), 0, 0);
        }
        assert_int_equal(try_case(good, COUNT(good), &doc), failures < 3);
        assert_near(number(&doc, "correct"), failures < 3, 0);
    }
}

/* Nobody there is no attempt: it can be tried any number of times. */
static void no_judge_there(void **state)
{
    static const struct script good[] = {NO_LIST, SAYS_TRUE};
    AUTO(json_doc) struct json_doc doc = {0};
    struct court c;

    (void)state;
    write_questions(5);
    open_court(&c, good, COUNT(good));
    close_court(&c);
    for (int i = 0; i < 5; i++) {
        judge_run_of(&c, false, &doc);
        assert_near(number(&doc, "unscored"), 5, 0);
        assert_near(number(&doc, "failed_evaluations"), 0, 0);
        assert_true(warns(&doc, "5 answers are not scored: judge: "));
        assert_true(warns(&doc, c.url));
    }
    assert_int_equal(try_case(good, COUNT(good), &doc), 5);
    assert_near(number(&doc, "correct"), 5, 0);
}

/* A kill before the verdicts were written into the rows: they are in the file beside them. */
static void verdicts_survive_a_kill(void **state)
{
    static const struct script good[] = {NO_LIST, SAYS_TRUE, SAYS_FALSE};
    static const struct script none[] = {NO_LIST, PLAY(REFUSES("500 Oops"))};
    AUTO(buf) struct buf kept = BUF_INIT(1 << 20);
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_FREE char *folder = xasprintf("%s/analysis", path);
    AUTO_FREE char *file = xasprintf("%s/" JUDGEMENTS_FILE, path);

    (void)state;
    write_questions(4);
    assert_int_equal(try_case(good, COUNT(good), &doc), 4);
    assert_ok(fs_read_all(AT_FDCWD, file, &kept, &err), &err);
    write_questions(5); /* the rows as they were, and one more */
    assert_ok(fs_mkdirs(folder, &err), &err);
    assert_ok(fs_replace(AT_FDCWD, file, kept.data, kept.len, &err), &err);
    assert_int_equal(try_case(none, COUNT(none), &doc), 1);
    assert_near(number(&doc, "correct"), 1, 0);
    assert_near(number(&doc, "incorrect"), 3, 0);
    assert_near(number(&doc, "failed_evaluations"), 1, 0);
    assert_near(cost(&doc, "reused"), 4, 0);
    assert_near(cost(&doc, "requests"), 1, 0);
}

/* Rows that need no judge do not wait for it, and come out in their order. */
static void judged_and_not_judged_rows(void **state)
{
    static const struct script scripts[] = {NO_LIST, SAYS_FALSE, SAYS_TRUE};
    static const char *const specs[] = {"exact", "judge", "numeric", "judge:math", "exact"};
    static const int expected[] = {1, 0, 1, 1, 0};
    AUTO(json_doc) struct json_doc doc = {0};
    struct json_doc docs[5] = {0};
    struct record records[5];
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *r;

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        char text[64];

        records[i] = query("What is 2 + 2?", "4", i == 4 ? "5" : "4");
        snprintf(text, sizeof(text), "{\"scorer\":\"%s\"}", specs[i]);
        set_metadata(&records[i], &docs[i], text);
    }
    write_run(records, 5, NULL);
    assert_int_equal(try_case(scripts, COUNT(scripts), &doc), 2);
    assert_ok(run_open(path, &run, &err), &err);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(run_next(run, &r, &err), 1);
        assert_int_equal(r->correct, expected[i]);
        assert_string_equal(r->evaluation.scorer, specs[i]);
        json_doc_release(&docs[i]);
    }
}

static void an_interruption_saves_what_there_is(void **state)
{
    static const struct script good[] = {NO_LIST, SAYS_TRUE};
    AUTO_FD int wake = eventfd(1, EFD_CLOEXEC);
    AUTO(json_doc) struct json_doc doc = {0};
    struct court c;

    (void)state;
    write_questions(3);
    open_court(&c, good, COUNT(good));
    c.options.wake_fd = wake;
    judge_run_of(&c, false, &doc);
    close_court(&c);
    assert_true(number(&doc, "unscored") > 0);
    assert_true(warns(&doc, "interrupted while waiting for the judge"));
    assert_near(number(&doc, "failed_evaluations"), 0, 0);
}

static void keep_words(void *arg, const char *words)
{
    snprintf(arg, 200, "%s", words);
}

/* A server that still loads is waited for, and the person is told. */
static void a_loading_judge_is_waited_for(void **state)
{
    static const struct script scripts[] = {
        PLAY(REFUSES("503 Service Unavailable")),
        PLAY("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
             "{\"data\":[{\"id\":\"j\"}]}"),
        SAYS_TRUE};
    AUTO(json_doc) struct json_doc doc = {0};
    char words[200] = "";
    struct court c;

    (void)state;
    write_questions(2);
    open_court(&c, scripts, COUNT(scripts));
    c.options.status = keep_words;
    c.options.arg = words;
    judge_run_of(&c, false, &doc);
    close_court(&c);
    assert_near(number(&doc, "correct"), 2, 0);
    assert_string_not_equal(words, "");
}

static void bad_configurations_are_refused(void **state)
{
    struct judging_options o = {.dir = path, .judge = {.concurrency = 1}};
    struct judging *g = NULL;

    (void)state;
    assert_fails(judging_open(&o, &g, &err), EINVAL, &err, "--judge-model");
    assert_null(g);
}

static const struct CMUnitTest tests[] = {
    TEST(without_a_judge_it_is_said_how),
    TEST(verdicts_become_part_of_the_run),
    TEST(nothing_is_asked_twice),
    TEST(rescore_asks_again),
    TEST(a_judge_may_fail_midway),
    TEST(an_evaluation_may_fail_three_times),
    TEST(no_judge_there),
    TEST(verdicts_survive_a_kill),
    TEST(judged_and_not_judged_rows),
    TEST(an_interruption_saves_what_there_is),
    TEST(a_loading_judge_is_waited_for),
    TEST(bad_configurations_are_refused),
};

int main(void)
{
    static const char *const names[] = {"IPW_EVAL_API_KEY", "IPW_API_KEY", "OPENAI_API_KEY",
                                        "http_proxy",       "all_proxy",   "ALL_PROXY"};

    for (size_t i = 0; i < COUNT(names); i++)
        unsetenv(names[i]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
