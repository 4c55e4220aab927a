/*
 * Answers that wait for a judge who replies in any order, late, wrongly or not at all: the rows get
 * their own verdicts, in a window that does not grow.
 */
#include "analysis_runs.h"

#include "analysis/scoring.h"

#include <errno.h>

#define ROWS (3 * SCORING_WINDOW)

struct question {
    void *user;
    long number; /* the problem's */
};

/* Answers the newest question first; even numbers are right. */
struct fake {
    struct question waiting[SCORING_WINDOW];
    size_t n, most;
    int64_t asked, answered;
    int64_t breaks_after; /* answers; -1 = never */
    bool mute;            /* gives no results */
    bool confused;        /* replies nothing usable */
    bool refuses;         /* takes no questions */
};

static int fake_add(void *ctx, const char *spec, const struct item *item, const char *answer,
                    void *user, struct err *e)
{
    struct fake *f = ctx;

    assert_string_equal(spec, "judge");
    assert_string_equal(answer, "an answer");
    if (f->refuses)
        return err_set(e, EINVAL, "not today");
    assert_true(f->n < SCORING_WINDOW);
    f->waiting[f->n++] = (struct question){user, strtol(item->problem, NULL, 10)};
    f->most = f->n > f->most ? f->n : f->most;
    f->asked++;
    return 0;
}

static int fake_run(void *ctx, size_t left, struct err *e)
{
    struct fake *f = ctx;

    while (f->n > left && !f->mute) {
        const struct question *q = &f->waiting[--f->n];
        struct score score = {.verdict = q->number % 2 ? VERDICT_WRONG : VERDICT_CORRECT};

        if (f->answered++ == f->breaks_after) {
            f->n++;
            return err_set(e, EINTR, "interrupted");
        }
        snprintf(score.extracted, sizeof(score.extracted), "%ld", q->number);
        if (f->confused)
            scoring_judged(q->user, NULL, true, "what?");
        else
            scoring_judged(q->user, &score, false, "");
    }
    return 0;
}

static struct answer_judge judge_of(struct fake *f)
{
    return (struct answer_judge){.ctx = f, .add = fake_add, .run = fake_run};
}

/* Every fourth row is scored by a rule, every seventh failed. */
static void make_rows(int n)
{
    struct record *records = xcalloc((size_t)n, sizeof(*records));
    char(*problems)[16] = xcalloc((size_t)n, sizeof(*problems));

    for (int i = 0; i < n; i++) {
        snprintf(problems[i], sizeof(problems[i]), "%d", i);
        records[i] = query(problems[i], "an answer", "an answer");
        records[i].evaluation.scorer = i % 4 == 0 ? "exact" : "judge";
        if (i % 7 == 0)
            records[i].request.status = "error";
    }
    write_run(records, (size_t)n, NULL);
    free(problems);
    free(records);
}

/* What row i must have become when the judge has answered. */
static int wanted(int i)
{
    return i % 7 == 0 ? -1 : i % 4 == 0 ? 1 : i % 2 == 0;
}

static int judged_rows(int n, bool all)
{
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *r;
    int judged = 0;

    assert_ok(run_open(path, &run, &err), &err);
    for (int i = 0; i < n; i++) {
        assert_int_equal(run_next(run, &r, &err), 1);
        if (all || r->correct >= 0)
            assert_int_equal(r->correct, wanted(i));
        if (r->correct >= 0 && i % 4) {
            AUTO_FREE char *text = xasprintf("\"extracted\":\"%d\"", i);

            assert_non_null(strstr(r->evaluation.metadata, text));
            judged++;
        }
    }
    return judged;
}

static void verdicts_find_their_rows(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct fake f = {.breaks_after = -1};
    const struct answer_judge judge = judge_of(&f);
    const struct analysis_options o = {.judge = &judge};

    (void)state;
    make_rows(ROWS);
    analyze("accuracy", &o, &doc);
    assert_int_equal(f.n, 0);
    assert_true(f.most > SCORING_WINDOW / 2); /* many at once, so that some can be in flight */
    assert_int_equal(judged_rows(ROWS, true), (int)f.asked);
    assert_near(number(&doc, "unscored"), 0, 0);
    /* nothing is asked twice */
    f.asked = 0;
    analyze("accuracy", &o, &doc);
    assert_int_equal(f.asked, 0);
    assert_near(number(&doc, "newly_scored"), 0, 0);
}

static void what_was_judged_before_it_broke_is_kept(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct fake f = {.breaks_after = 700};
    const struct answer_judge judge = judge_of(&f);
    const struct analysis_options o = {.judge = &judge};
    int judged;

    (void)state;
    make_rows(ROWS);
    analyze("accuracy", &o, &doc);
    judged = judged_rows(ROWS, false);
    assert_int_equal(judged, 700);
    assert_true(warns(&doc, "answers are not scored: interrupted"));
    f = (struct fake){.breaks_after = -1};
    analyze("accuracy", &o, &doc); /* the rest */
    assert_int_equal(judged_rows(ROWS, true), judged + (int)f.asked);
}

static void a_judge_that_says_nothing(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct fake f = {.breaks_after = -1, .mute = true};
    struct answer_judge judge = judge_of(&f);
    const struct analysis_options o = {.judge = &judge};

    (void)state;
    make_rows(20);
    analyze("accuracy", &o, &doc);
    assert_true(warns(&doc, "13 answers are not scored: the judge gave no result"));
    f = (struct fake){.breaks_after = -1, .refuses = true};
    analyze("accuracy", &o, &doc);
    assert_true(warns(&doc, "13 answers are not scored: not today"));
    assert_near(number(&doc, "unscored"), 13, 0);
    analyze("accuracy", NULL, &doc); /* without one */
    assert_true(warns(&doc, "13 answers are not scored: "));
    assert_int_equal(judged_rows(20, false), 0);
}

/* Neither right nor wrong nor unscorable, and tried in three analyses. */
static void evaluations_that_fail(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct fake f = {.breaks_after = -1, .confused = true};
    struct answer_judge judge = judge_of(&f);
    struct analysis_options o = {.judge = &judge, .scorer = "judge"};

    (void)state;
    make_rows(20);
    for (int i = 1; i <= 4; i++) {
        f.asked = 0;
        analyze("accuracy", &o, &doc);
        assert_int_equal(f.asked, i <= SCORING_ATTEMPTS_MAX ? 17 : 0);
        assert_near(number(&doc, "failed_evaluations"), 17, 0);
        assert_near(number(&doc, "failed"), 20, 0);
        assert_near(number(&doc, "unscorable"), 0, 0);
    }
    {
        AUTO_PTR(run) struct run *run = NULL;
        const struct record *r;

        assert_ok(run_open(path, &run, &err), &err);
        for (int i = 0; i < 2; i++)
            assert_int_equal(run_next(run, &r, &err), 1);
        assert_int_equal(r->correct, -1);
        assert_null(r->evaluation.scorer); /* with one, it would count as unscorable elsewhere */
        assert_non_null(strstr(r->evaluation.metadata, "\"evaluation_attempts\":3"));
    }
    f.confused = false;
    o.rescore = true;
    analyze("accuracy", &o, &doc);
    assert_near(number(&doc, "total_scored"), 17, 0);
    assert_near(number(&doc, "failed_evaluations"), 0, 0);
}

static void how_a_failure_is_stored(void **state)
{
    int64_t attempts;

    (void)state;
    assert_true(evaluation_failed("{\"evaluation_failed\": true}", &attempts));
    assert_int_equal(attempts, 1);
    assert_true(
        evaluation_failed("{\"evaluation_failed\":true,\"evaluation_attempts\":3}", &attempts));
    assert_int_equal(attempts, 3);
    assert_false(evaluation_failed("{\"evaluation_failed\":false}", &attempts));
    assert_false(evaluation_failed("evaluation_failed", &attempts));
    assert_false(evaluation_failed(NULL, &attempts));
    assert_int_equal(attempts, 0);
}

static const struct CMUnitTest tests[] = {
    TEST(verdicts_find_their_rows),  TEST(what_was_judged_before_it_broke_is_kept),
    TEST(a_judge_that_says_nothing), TEST(evaluations_that_fail),
    TEST(how_a_failure_is_stored),
};
TEST_MAIN(tests)
