/*
 * What a run came to, by the definitions: accuracy = correct / scored, IPJ = accuracy / mean
 * joules, IPW = accuracy / mean watts, joules per correct answer = all joules / correct. A failed
 * query enters no average.
 */
#include "harness.h"

#include "analysis/tally.h"

/* An answered query: joules in so many seconds, with so many output tokens. */
static struct record answered(double joules, double seconds, int64_t tokens, int correct)
{
    struct record r;

    record_init(&r);
    r.response = "an answer";
    r.request.status = "ok";
    r.energy.gpu_j = joules;
    r.energy.basis = "gpu";
    r.latency.total_s = seconds;
    r.latency.ttft_s = seconds / 10;
    r.tokens.input = 7;
    r.tokens.output = tokens;
    r.energy.per_output_token_j = tokens > 0 ? joules / (double)tokens : NAN;
    r.correct = correct;
    r.measurement.energy_source = "measured";
    r.measurement.coverage = 1;
    if (correct >= 0) {
        r.evaluation.scorer = "exact";
        r.evaluation.metadata = "{}";
    }
    return r;
}

static void add(struct tally *t, struct record r)
{
    tally_add(t, &r);
}

static void nothing_is_not_known(void **state)
{
    struct tally t = {0};
    struct tally_efficiency e;

    (void)state;
    tally_efficiency(&t, &e);
    assert_true(isnan(e.accuracy) && isnan(e.mean_j) && isnan(e.mean_w) && isnan(e.ipj));
    assert_true(isnan(e.ipw) && isnan(e.j_per_correct) && isnan(e.j_per_output_token));
    assert_true(isnan(e.tokens_per_j) && isnan(tally_spread(&t)));
    assert_string_equal(tally_source(&t), "none");
    tally_release(&t);
}

static void the_definitions(void **state)
{
    struct tally t = {0};
    struct tally_efficiency e;

    (void)state;
    add(&t, answered(100, 1, 10, 1)); /* 100 W */
    add(&t, answered(300, 2, 30, 0)); /* 150 W */
    add(&t, answered(200, 1, 40, 1)); /* 200 W */
    add(&t, answered(400, 2, 20, 1)); /* 200 W */
    tally_efficiency(&t, &e);
    assert_near(e.accuracy, 0.75, 1e-15);
    assert_near(e.mean_j, 250, 1e-12);
    assert_near(e.mean_w, 162.5, 1e-12);
    assert_near(e.ipj, 0.003, 1e-15);
    assert_near(e.ipw, 0.75 / 162.5, 1e-15);
    assert_near(e.j_per_correct, 1000.0 / 3, 1e-9);
    assert_near(e.j_per_output_token, 10, 1e-12);
    assert_near(e.tokens_per_j, 0.1, 1e-15);
    assert_true(t.records == 4 && t.failed == 0 && t.scored == 4 && t.correct == 3);
    assert_true(t.input_tokens == 28 && t.output_tokens == 100 && t.has_tokens);
    assert_string_equal(tally_source(&t), "measured");
    assert_string_equal(t.basis, "gpu");
    tally_release(&t);
}

/* Its joules were spent: they count where all joules are asked for, and nowhere else. */
static void a_failed_query_enters_no_average(void **state)
{
    struct record failed = answered(1000, 50, 5000, 1);
    struct tally t = {0};
    struct tally_efficiency e;

    (void)state;
    failed.request.status = "timeout";
    add(&t, answered(100, 1, 10, 1));
    add(&t, failed);
    failed.request.status = "error";
    failed.energy.gpu_j = NAN; /* never sent */
    failed.measurement.coverage = NAN;
    add(&t, failed);
    tally_efficiency(&t, &e);
    assert_true(t.records == 3 && t.failed == 2);
    assert_true(t.scored == 1 && t.correct == 1 && t.unscored == 0 && t.unscorable == 0);
    assert_int_equal(t.output_tokens, 10);
    assert_int_equal(t.input_tokens, 7);
    for (size_t i = 0; i < TALLY_FIGURES; i++)
        assert_true(t.figures[i].n <= 1);
    assert_near(figure_mean(&t.figures[TALLY_ENERGY_J]), 100, 0);
    assert_near(figure_mean(&t.figures[TALLY_TOTAL_S]), 1, 0);
    assert_near(t.joules, 1100, 0);
    assert_near(t.joules_of_failed, 1000, 0);
    assert_int_equal(t.without_energy, 1);
    assert_near(e.accuracy, 1, 0);
    assert_near(e.mean_j, 100, 0);
    assert_near(e.ipj, 0.01, 1e-15);
    assert_near(e.j_per_correct, 1100, 0);
    assert_near(e.j_per_output_token, 10, 0);
    tally_release(&t);
}

static void unscored_and_unscorable_are_counted_apart(void **state)
{
    struct record unscorable = answered(100, 1, 10, -1);
    struct tally t = {0};
    struct tally_efficiency e;

    (void)state;
    unscorable.evaluation.scorer = "numeric";
    unscorable.evaluation.metadata = "{\"unscorable\": true}";
    add(&t, unscorable);
    add(&t, unscorable);
    add(&t, answered(100, 1, 10, -1)); /* nobody tried */
    add(&t, answered(100, 1, 10, 0));
    add(&t, answered(100, 1, 10, 1));
    tally_efficiency(&t, &e);
    assert_true(t.scored == 2 && t.correct == 1 && t.unscorable == 2 && t.unscored == 1);
    assert_near(e.accuracy, 0.5, 0); /* of the scored */
    assert_near(e.j_per_correct, 500, 0);
    tally_release(&t);
}

static void nothing_right_costs_no_finite_amount(void **state)
{
    struct tally t = {0};
    struct tally_efficiency e;

    (void)state;
    add(&t, answered(100, 1, 10, 0));
    tally_efficiency(&t, &e);
    assert_near(e.accuracy, 0, 0);
    assert_near(e.ipj, 0, 0);
    assert_true(isnan(e.j_per_correct));
    tally_release(&t);
}

/* A query without energy, or without tokens, is left out of energy per token, not counted as 0. */
static void only_what_is_known_is_divided(void **state)
{
    struct record mute = answered(900, 1, -1, 1), dark = answered(NAN, 1, 500, 1);
    struct tally t = {0};
    struct tally_efficiency e;

    (void)state;
    dark.measurement.energy_source = "none";
    add(&t, mute);
    add(&t, dark);
    add(&t, answered(50, 1, 100, 0));
    tally_efficiency(&t, &e);
    assert_near(e.j_per_output_token, 0.5, 1e-15);
    assert_int_equal(t.output_tokens, 600);
    assert_near(e.mean_j, 475, 0);
    assert_int_equal(t.figures[TALLY_OUTPUT_TOKENS].n, 2);
    assert_int_equal(t.without_energy, 1);
    assert_string_equal(tally_source(&t), "measured");
    tally_release(&t);
    t = (struct tally){0};
    add(&t, dark);
    tally_efficiency(&t, &e);
    assert_true(isnan(e.mean_j) && isnan(e.ipj) && isnan(e.j_per_correct));
    assert_near(e.accuracy, 1, 0);
    assert_string_equal(tally_source(&t), "none");
    tally_release(&t);
}

static void one_estimate_makes_it_estimated(void **state)
{
    struct record r = answered(10, 1, 1, 1);
    struct tally t = {0};

    (void)state;
    add(&t, r);
    r.measurement.energy_source = "estimated";
    add(&t, r);
    add(&t, answered(10, 1, 1, 1));
    assert_string_equal(tally_source(&t), "estimated");
    assert_int_equal(t.estimated, 1);
    tally_release(&t);
}

static void the_rules_of_sharing_differ_by(void **state)
{
    struct record r = answered(100, 1, 10, 1);
    struct tally t = {0};

    (void)state;
    add(&t, r); /* alone: there is no other figure */
    r.measurement.equal_j = 80;
    add(&t, r);
    r.energy.gpu_j = 300;
    r.measurement.equal_j = 340;
    add(&t, r);
    assert_near(tally_spread(&t), 60.0 / 400, 1e-15);
    tally_release(&t);
}

/* The worst coverage of all, wherever it is not known. */
static void the_worst_coverage(void **state)
{
    static const double orders[3][3] = {{NAN, 0.9, 0.99}, {0.99, NAN, 0.9}, {0.9, 0.99, NAN}};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct tally t = {0};

        for (size_t k = 0; k < 3; k++) {
            struct record r = answered(1, 1, 1, 1);

            r.measurement.coverage = orders[i][k];
            add(&t, r);
        }
        assert_near(t.coverage_min, 0.9, 0);
        tally_release(&t);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_is_not_known),
    cmocka_unit_test(the_definitions),
    cmocka_unit_test(a_failed_query_enters_no_average),
    cmocka_unit_test(unscored_and_unscorable_are_counted_apart),
    cmocka_unit_test(nothing_right_costs_no_finite_amount),
    cmocka_unit_test(only_what_is_known_is_divided),
    cmocka_unit_test(one_estimate_makes_it_estimated),
    cmocka_unit_test(the_rules_of_sharing_differ_by),
    cmocka_unit_test(the_worst_coverage),
};
TEST_MAIN(tests)
