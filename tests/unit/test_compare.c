#include "harness.h"

#include "analysis/compare.h"
#include "base/alloc.h"
#include "base/fs.h"
#include "base/rng.h"
#include "makerun.h"

#include <fcntl.h>

static char base[64];
static struct err err;
static const struct bootstrap_options options = {.seed = 1, .resamples = 2000};

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(base);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, &err);
}

/* A question that was answered in one second for `joules`. */
static void add(struct contender *c, const char *text, int number, double joules, int correct)
{
    struct record r;
    char problem[64];

    record_init(&r);
    snprintf(problem, sizeof(problem), "%s %d", text, number);
    r.problem = problem;
    r.response = "yes";
    r.request.status = "ok";
    r.measurement.energy_source = "measured";
    r.energy.basis = "gpu";
    r.energy.gpu_j = joules;
    r.latency.total_s = 1;
    r.tokens.output = 10;
    r.correct = correct;
    contender_add(c, &r);
}

static bool warned(const struct comparison *c, const char *code)
{
    for (size_t i = 0; i < c->n_warnings; i++)
        if (strcmp(c->warnings[i].code, code) == 0)
            return true;
    return false;
}

static void every_figure_by_hand(void **state)
{
    AUTO_PTR(contender) struct contender *a = contender_new("a");
    AUTO_PTR(contender) struct contender *b = contender_new("b");
    AUTO(comparison) struct comparison c = {0};
    const struct compare_row *rows = c.rows;
    struct record r;

    (void)state;
    for (int i = 0; i < 20; i++) {
        char problem[16];

        record_init(&r);
        snprintf(problem, sizeof(problem), "%d", i);
        r.problem = problem;
        r.request.status = "ok";
        r.energy.basis = "gpu";
        r.energy.gpu_j = i < 10 ? 20 : 40;
        r.latency.total_s = i < 10 ? 1 : 4;
        r.latency.ttft_s = 0.25;
        r.latency.throughput_tps = 50;
        r.tokens.output = i < 10 ? 10 : 50;
        r.correct = i < 15;
        contender_add(a, &r);
        r.energy.gpu_j *= 2;
        r.latency.total_s *= 2;
        r.latency.ttft_s = 0.125;
        r.latency.throughput_tps = 25;
        r.tokens.output *= 4;
        r.correct = i < 12;
        contender_add(b, &r);
    }
    compare(a, b, &options, &c);
    assert_true(c.paired && c.common == 20 && c.only_a == 0 && c.only_b == 0);
    assert_near(rows[METRIC_ACCURACY].a.value, 0.75, 1e-15);
    assert_near(rows[METRIC_ACCURACY].b.value, 0.6, 1e-15);
    assert_near(rows[METRIC_ACCURACY].difference.value, -0.15, 1e-15);
    assert_near(rows[METRIC_ACCURACY].relative, -0.2, 1e-15);
    assert_near(rows[METRIC_JOULES].a.value, 30, 1e-12);
    assert_near(rows[METRIC_JOULES].b.value, 60, 1e-12);
    assert_near(rows[METRIC_JOULES_PER_TOKEN].a.value, 1, 1e-12); /* 600 J, 600 tokens */
    assert_near(rows[METRIC_JOULES_PER_TOKEN].b.value, 0.5, 1e-12);
    assert_near(rows[METRIC_SECONDS].b.value, 5, 1e-12);
    assert_near(rows[METRIC_TTFT_S].difference.value, -0.125, 1e-12);
    assert_near(rows[METRIC_TOKENS_PER_S].difference.value, -25, 1e-12);
    assert_near(rows[METRIC_IPJ].a.value, 0.75 / 30, 1e-15);
    assert_near(rows[METRIC_IPW].a.value, 0.75 / 15, 1e-15); /* 20 W and 10 W */
    assert_near(rows[METRIC_IPW].b.value, 0.6 / 15, 1e-15);
    assert_int_equal(rows[METRIC_JOULES].verdict, COMPARE_WORSE);
    assert_int_equal(rows[METRIC_JOULES_PER_TOKEN].verdict, COMPARE_BETTER);
    assert_int_equal(rows[METRIC_SECONDS].verdict, COMPARE_WORSE);
    assert_int_equal(rows[METRIC_TTFT_S].verdict, COMPARE_BETTER);
    assert_int_equal(rows[METRIC_TOKENS_PER_S].verdict, COMPARE_WORSE);
    assert_int_equal(rows[METRIC_IPJ].verdict, COMPARE_WORSE);
    /* three questions of twenty turned from right to wrong: it may be chance */
    assert_int_equal(rows[METRIC_ACCURACY].verdict, COMPARE_NO_EVIDENCE);
    assert_int_equal(rows[METRIC_IPW].n_a, 20);
}

static void a_run_is_like_itself(void **state)
{
    AUTO_PTR(contender) struct contender *a = contender_new("a");
    AUTO(comparison) struct comparison c = {0};

    (void)state;
    for (int i = 0; i < 30; i++)
        add(a, "q", i, 10 + i, i % 2);
    compare(a, a, &options, &c);
    assert_int_equal(c.n_warnings, 0);
    for (int m = 0; m < METRIC_COUNT; m++) {
        if (m == METRIC_TTFT_S || m == METRIC_TOKENS_PER_S) {
            assert_int_equal(c.rows[m].verdict, COMPARE_NOT_KNOWN);
            continue;
        }
        assert_int_equal(c.rows[m].verdict, COMPARE_NO_EVIDENCE);
        assert_true(c.rows[m].difference.value == 0 && c.rows[m].difference.low == 0 &&
                    c.rows[m].difference.high == 0);
    }
}

/* Failed in one run: not in the figures of the other either, or failing would pay. */
static void a_failed_question_leaves_both_sides(void **state)
{
    AUTO_PTR(contender) struct contender *a = contender_new("a");
    AUTO_PTR(contender) struct contender *b = contender_new("b");
    AUTO(comparison) struct comparison c = {0};
    struct record failed;

    (void)state;
    for (int i = 0; i < 20; i++) {
        add(a, "q", i, i == 0 ? 1000 : 10, i > 0);
        if (i > 0)
            add(b, "q", i, 10, 1);
    }
    record_init(&failed);
    failed.problem = "q 0";
    failed.request.status = "error";
    failed.energy.gpu_j = 1;
    contender_add(b, &failed);
    compare(a, b, &options, &c);
    assert_true(c.paired && c.common == 20);
    assert_true(c.rows[METRIC_JOULES].a.value == 10 && c.rows[METRIC_JOULES].b.value == 10);
    assert_true(c.rows[METRIC_ACCURACY].a.value == 1);
    assert_int_equal(c.rows[METRIC_JOULES].n_a, 19);
    assert_int_equal(c.rows[METRIC_JOULES].n_b, 19);
    assert_true(warned(&c, "failed"));
}

static void pairs_from_half_the_smaller_run_on(void **state)
{
    AUTO_PTR(contender) struct contender *a = contender_new("a");
    AUTO_PTR(contender) struct contender *half = contender_new("b");
    AUTO_PTR(contender) struct contender *less = contender_new("c");
    AUTO(comparison) struct comparison paired = {0}, apart = {0};

    (void)state;
    for (int i = 0; i < 100; i++)
        add(a, "q", i, 10 + i % 3, 1);
    for (int i = 0; i < 20; i++) {
        add(half, i < 10 ? "q" : "other", i, 30 + i % 2, 1);
        add(less, i < 9 ? "q" : "other", i, 30 + i % 2, 1);
    }
    compare(a, half, &options, &paired);
    assert_true(paired.paired && paired.common == 10 && paired.only_a == 90 && paired.only_b == 10);
    assert_true(warned(&paired, "questions") && !warned(&paired, "unpaired"));
    assert_int_equal(paired.rows[METRIC_JOULES].n_a, 10);
    compare(a, less, &options, &apart);
    assert_true(!apart.paired && apart.common == 9);
    assert_true(warned(&apart, "unpaired") && !warned(&apart, "questions"));
    assert_int_equal(apart.rows[METRIC_JOULES].n_a, 100);
    assert_int_equal(apart.rows[METRIC_JOULES].n_b, 20);
    assert_near(apart.rows[METRIC_JOULES].a.value, 10.99, 1e-9);
    assert_near(apart.rows[METRIC_JOULES].b.value, 30.5, 1e-9);
    assert_int_equal(apart.rows[METRIC_JOULES].verdict, COMPARE_WORSE);
}

static void too_few_questions_are_no_evidence(void **state)
{
    AUTO_PTR(contender) struct contender *a = contender_new("a");
    AUTO_PTR(contender) struct contender *b = contender_new("b");
    AUTO(comparison) struct comparison c = {0};

    (void)state;
    add(a, "q", 0, 10, 1);
    add(b, "q", 0, 99, 1);
    compare(a, b, &options, &c);
    assert_true(c.rows[METRIC_JOULES].difference.value == 89);
    assert_true(isnan(c.rows[METRIC_JOULES].difference.low));
    assert_int_equal(c.rows[METRIC_JOULES].verdict, COMPARE_NO_EVIDENCE);
    assert_true(warned(&c, "few_questions"));
}

/* A question asked ten times is no better evidence than asked once. */
static void repeats_do_not_fake_certainty(void **state)
{
    AUTO_PTR(contender) struct contender *a = contender_new("a");
    AUTO_PTR(contender) struct contender *b = contender_new("b");
    AUTO_PTR(contender) struct contender *often = contender_new("c");
    AUTO(comparison) struct comparison once = {0}, repeated = {0};

    (void)state;
    for (int i = 0; i < 40; i++) {
        add(a, "q", i, 10, i % 2);
        add(b, "q", i, 10 + i % 7, i % 3 == 0);
        for (int k = 0; k < 10; k++)
            add(often, "q", i, 10 + i % 7, i % 3 == 0);
    }
    compare(a, b, &options, &once);
    compare(a, often, &options, &repeated);
    for (int m = 0; m < METRIC_TTFT_S; m++) {
        assert_near(once.rows[m].difference.low, repeated.rows[m].difference.low, 1e-12);
        assert_near(once.rows[m].difference.high, repeated.rows[m].difference.high, 1e-12);
    }
}

/* 200 pairs of runs of which the truth is known: how often is it in the interval? Questions differ
 * in what they cost by far more than runs do. */
static void intervals_hold_the_truth(void **state)
{
    static const enum metric tested[] = {METRIC_ACCURACY, METRIC_JOULES, METRIC_IPJ};
    static const double truth[] = {0.1, 5, 0.8 / 125 - 0.7 / 120};
    struct rng rng = rng_seed(5, RNG_STREAM_PLAIN);
    int held[3] = {0}, seen = 0;

    (void)state;
    for (int round = 0; round < 200; round++) {
        AUTO_PTR(contender) struct contender *a = contender_new("a");
        AUTO_PTR(contender) struct contender *b = contender_new("b");
        AUTO(comparison) struct comparison c = {0};

        for (int i = 0; i < 60; i++) {
            double shared = 100 * rng_gamma(&rng, 4) / 4, hard = rng_uniform(&rng);

            add(a, "q", i, shared + 5 * rng_normal(&rng) + 20, hard < 0.7);
            add(b, "q", i, shared + 5 * rng_normal(&rng) + 25, hard < 0.7 || hard > 0.9);
        }
        compare(a, b, &(struct bootstrap_options){.seed = 1, .resamples = 1000}, &c);
        for (int k = 0; k < 3; k++) {
            const struct interval *found = &c.rows[tested[k]].difference;

            held[k] += found->low <= truth[k] && truth[k] <= found->high;
        }
        seen += c.rows[METRIC_JOULES].verdict == COMPARE_WORSE;
    }
    for (int k = 0; k < 3; k++)
        assert_in_range(held[k], 180, 198);
    assert_int_equal(seen, 200); /* unpaired it would drown in what questions cost */
}

static void same_runs_seldom_differ(void **state)
{
    struct rng rng = rng_seed(8, RNG_STREAM_PLAIN);
    int alarms = 0;

    (void)state;
    for (int round = 0; round < 200; round++) {
        AUTO_PTR(contender) struct contender *a = contender_new("a");
        AUTO_PTR(contender) struct contender *b = contender_new("b");
        AUTO(comparison) struct comparison c = {0};

        for (int i = 0; i < 40; i++) { /* other questions: unpaired */
            add(a, "q", i, 100 + 10 * rng_normal(&rng), 1);
            add(b, "p", i, 100 + 10 * rng_normal(&rng), 1);
        }
        compare(a, b, &(struct bootstrap_options){.seed = 1, .resamples = 1000}, &c);
        alarms += c.rows[METRIC_JOULES].verdict != COMPARE_NO_EVIDENCE;
    }
    assert_in_range(alarms, 2, 20);
}

static struct contender *made(const char *name, const struct makerun *m,
                              struct makerun_truth *truth)
{
    AUTO_FREE char *dir = xasprintf("%s/%s", base, name);
    struct contender *c = NULL;

    assert_ok(makerun(m, dir, truth, &err), &err);
    assert_ok(contender_read(dir, false, &c, &err), &err);
    return c;
}

static void stored_runs_show_their_truth(void **state)
{
    struct makerun m = makerun_default();
    struct makerun_truth truth_a, truth_b;
    AUTO_PTR(contender) struct contender *a = NULL;
    AUTO_PTR(contender) struct contender *b = NULL;
    AUTO_PTR(contender) struct contender *again = NULL;
    AUTO(comparison) struct comparison c = {0}, same = {0};

    (void)state;
    m.records = 300;
    m.telemetry_s = 0;
    makerun_set_joules(&m, 100);
    a = made("a", &m, &truth_a);
    m.seed = 2;
    again = made("again", &m, NULL);
    m.seed = 3;
    m.accuracy = 0.95;
    makerun_set_joules(&m, 80);
    b = made("b", &m, &truth_b);
    compare(a, b, &options, &c);
    assert_true(c.paired && c.common == 300);
    assert_int_equal(c.n_warnings, 0);
    assert_near(c.rows[METRIC_JOULES].a.value, truth_a.mean_j, 1e-9);
    assert_near(c.rows[METRIC_JOULES].b.value, truth_b.mean_j, 1e-9);
    assert_near(c.rows[METRIC_ACCURACY].b.value, (double)truth_b.correct / 300, 1e-12);
    assert_near(c.rows[METRIC_IPW].a.value, (double)truth_a.correct / 300 / truth_a.mean_w, 1e-9);
    assert_int_equal(c.rows[METRIC_JOULES].verdict, COMPARE_BETTER);
    assert_int_equal(c.rows[METRIC_ACCURACY].verdict, COMPARE_BETTER);
    assert_int_equal(c.rows[METRIC_IPJ].verdict, COMPARE_BETTER);
    assert_int_equal(c.rows[METRIC_TTFT_S].verdict, COMPARE_NO_EVIDENCE);
    assert_null(c.rows[METRIC_JOULES].caveat);
    compare(a, again, &options, &same);
    for (int i = 0; i < METRIC_COUNT; i++)
        assert_int_equal(same.rows[i].verdict, COMPARE_NO_EVIDENCE);
}

static void warns_of_what_differs(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(contender) struct contender *a = NULL;
    AUTO_PTR(contender) struct contender *b = NULL;
    AUTO_PTR(contender) struct contender *invalid = NULL;
    AUTO_PTR(contender) struct contender *none = NULL;
    AUTO(comparison) struct comparison c = {0}, d = {0}, e = {0};

    (void)state;
    m.telemetry_s = 0;
    m.records = 30;
    a = made("a", &m, NULL);
    m.hardware_label = "other";
    m.gpu_name = NULL;
    m.dataset = "other";
    m.concurrency = 4;
    m.energy_source = "estimated";
    b = made("b", &m, NULL);
    compare(a, b, &options, &c);
    assert_true(warned(&c, "hardware") && warned(&c, "load") && warned(&c, "dataset") &&
                warned(&c, "verdict") && warned(&c, "estimated") && warned(&c, "energy_source") &&
                warned(&c, "basis"));
    assert_string_equal(c.rows[METRIC_IPJ].caveat, "estimated");
    assert_null(c.rows[METRIC_SECONDS].caveat);
    m = makerun_default();
    m.telemetry_s = 0;
    m.records = 30;
    m.noted = REASON_CONSERVATION;
    invalid = made("invalid", &m, NULL);
    compare(invalid, a, &options, &d);
    assert_true(warned(&d, "invalid") && warned(&d, "verdict") && !warned(&d, "estimated"));
    assert_string_equal(d.rows[METRIC_JOULES].caveat, "invalid");
    assert_false(isnan(d.rows[METRIC_JOULES].a.value));
    m.noted = REASON_COUNT;
    m.energy_source = "none";
    none = made("none", &m, NULL);
    compare(a, none, &options, &e);
    assert_true(warned(&e, "no_energy"));
    assert_int_equal(e.rows[METRIC_JOULES].verdict, COMPARE_NOT_KNOWN);
    assert_int_equal(e.rows[METRIC_IPW].verdict, COMPARE_NOT_KNOWN);
    assert_int_equal(e.rows[METRIC_ACCURACY].verdict, COMPARE_NO_EVIDENCE);
}

static void loads_in_words(void **state)
{
    AUTO_PTR(contender) struct contender *c = contender_new("d");
    char text[COMPARE_LOAD_SIZE];

    (void)state;
    compare_load_text(c, text);
    assert_string_equal(text, "not known");
    c->load_mode = xstrdup("closed");
    c->concurrency = 8;
    compare_load_text(c, text);
    assert_string_equal(text, "closed loop with 8 in flight");
    c->rate = 2.5;
    compare_load_text(c, text);
    assert_string_equal(text, "closed loop with 2.5 requests a second");
}

#define with_dir(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_figure_by_hand),
    cmocka_unit_test(a_run_is_like_itself),
    cmocka_unit_test(a_failed_question_leaves_both_sides),
    cmocka_unit_test(pairs_from_half_the_smaller_run_on),
    cmocka_unit_test(too_few_questions_are_no_evidence),
    cmocka_unit_test(repeats_do_not_fake_certainty),
    cmocka_unit_test(intervals_hold_the_truth),
    cmocka_unit_test(same_runs_seldom_differ),
    with_dir(stored_runs_show_their_truth),
    with_dir(warns_of_what_differs),
    cmocka_unit_test(loads_in_words),
};
TEST_MAIN(tests)
