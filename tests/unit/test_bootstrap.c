#include "harness.h"

#include "analysis/bootstrap.h"
#include "base/cleanup.h"
#include "base/rng.h"

static void mean(void *arg, const double *sums, double *ret)
{
    (void)arg;
    ret[0] = sums[0] / sums[1];
}

/* A bootstrap's spread of a mean is known: the standard deviation (divided by n) over root n. */
static void a_mean_has_the_textbook_interval(void **state)
{
    AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(2);
    struct rng rng = rng_seed(1, RNG_STREAM_PLAIN);
    double sum = 0, squares = 0, half;
    struct interval ret;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        double x = 10 + 3 * rng_normal(&rng);

        sum += x;
        squares += x * x;
        bootstrap_add(&s, (double[]){x, 1});
    }
    bootstrap(&s, 1, &(struct bootstrap_options){.seed = 7}, mean, NULL, &ret, 1);
    half = 1.9615 * sqrt((squares / 2000 - sum * sum / 4e6) / 2000);
    assert_near(ret.value, sum / 2000, 1e-12);
    assert_near(ret.low, sum / 2000 - half, 0.04 * half);
    assert_near(ret.high, sum / 2000 + half, 0.04 * half);
}

/* The values of a resample are known when there are two rows: none, one or both times the first. */
static void two_rows_give_every_mixture(void **state)
{
    AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(2);
    struct interval ret;

    (void)state;
    bootstrap_add(&s, (double[]){1, 1});
    bootstrap_add(&s, (double[]){3, 1});
    bootstrap(&s, 1, &(struct bootstrap_options){.seed = 0}, mean, NULL, &ret, 1);
    assert_true(ret.value == 2 && ret.low == 1 && ret.high == 3);
}

struct tally {
    int seen[5];
    int other;
};

static void count_mixtures(void *arg, const double *sums, double *ret)
{
    struct tally *t = arg;
    int ones = (int)sums[0];

    if (sums[1] == 4 && ones == sums[0] && ones >= 0 && ones <= 4)
        t->seen[ones]++;
    else
        t->other++;
    ret[0] = sums[0];
}

/* Four rows, one of them marked: how often it is drawn is binomial(4, 1/4). */
static void draws_are_multinomial(void **state)
{
    static const double share[] = {81.0 / 256, 108.0 / 256, 54.0 / 256, 12.0 / 256, 1.0 / 256};
    AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(2);
    struct tally t = {0};
    struct interval ret;
    double chi2 = 0;

    (void)state;
    for (int i = 0; i < 4; i++)
        bootstrap_add(&s, (double[]){i == 2, 1});
    bootstrap(&s, 1, &(struct bootstrap_options){.seed = 3, .resamples = 100000}, count_mixtures,
              &t, &ret, 1);
    assert_int_equal(t.other, 0);
    t.seen[1]--; /* the call for the records as they are */
    for (int i = 0; i < 5; i++) {
        double expected = share[i] * 100000;

        chi2 += (t.seen[i] - expected) * (t.seen[i] - expected) / expected;
    }
    assert_true(chi2 < 18.5); /* 0.1 % of fair draws with 4 degrees of freedom */
}

static void difference(void *arg, const double *sums, double *ret)
{
    (void)arg;
    ret[0] = sums[2] / sums[3] - sums[0] / sums[1];
}

/* What both runs share cancels when rows are pairs, and does not when they are drawn apart. */
static void pairing_removes_what_questions_share(void **state)
{
    AUTO(bootstrap_sample) struct bootstrap_sample paired = bootstrap_sample(4);
    struct bootstrap_sample apart[2] = {bootstrap_sample(2), bootstrap_sample(2)};
    struct bootstrap_options o = {.seed = 5};
    struct rng rng = rng_seed(2, RNG_STREAM_PLAIN);
    struct interval with, without;

    (void)state;
    for (int i = 0; i < 400; i++) {
        double question = 100 * rng_uniform(&rng), a = question + rng_normal(&rng),
               b = question + 1 + rng_normal(&rng);

        bootstrap_add(&paired, (double[]){a, 1, b, 1});
        bootstrap_add(&apart[0], (double[]){a, 1});
        bootstrap_add(&apart[1], (double[]){b, 1});
    }
    bootstrap(&paired, 1, &o, difference, NULL, &with, 1);
    bootstrap(apart, 2, &o, difference, NULL, &without, 1);
    assert_near(with.value, without.value, 1e-9);
    assert_true(with.low > 0.7 && with.low < 1 && with.high > 1 && with.high < 1.3);
    assert_near(with.high - with.low, 2 * 1.96 * sqrt(2) / 20, 0.04);
    /* two independent means of 400 uniform values with standard deviation 28.9 */
    assert_near(without.high - without.low, 2 * 1.96 * sqrt(2) * 28.87 / 20, 0.6);
    bootstrap_sample_release(&apart[0]);
    bootstrap_sample_release(&apart[1]);
}

/* Ten copies of each record as rows of their own would shrink the interval by root ten. */
static void repeats_are_one_row(void **state)
{
    AUTO(bootstrap_sample) struct bootstrap_sample once = bootstrap_sample(2);
    AUTO(bootstrap_sample) struct bootstrap_sample repeated = bootstrap_sample(2);
    struct bootstrap_options o = {.seed = 5};
    struct rng rng = rng_seed(9, RNG_STREAM_PLAIN);
    struct interval a, b;

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        double row[] = {rng_normal(&rng), 1};

        bootstrap_add(&once, row);
        for (int repeat = 0; repeat < 10; repeat++)
            bootstrap_add_to(&repeated, i, row);
    }
    assert_int_equal(repeated.n_rows, 100);
    bootstrap(&once, 1, &o, mean, NULL, &a, 1);
    bootstrap(&repeated, 1, &o, mean, NULL, &b, 1);
    assert_near(a.value, b.value, 1e-12);
    assert_near(a.low, b.low, 1e-12);
    assert_near(a.high, b.high, 1e-12);
}

static void the_seed_decides(void **state)
{
    AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(2);
    struct rng rng = rng_seed(4, RNG_STREAM_PLAIN);
    struct interval a, b, c;

    (void)state;
    for (int i = 0; i < 301; i++) /* odd, and more than one piece of weights */
        bootstrap_add(&s, (double[]){rng_uniform(&rng), 1});
    bootstrap(&s, 1, &(struct bootstrap_options){.seed = 1}, mean, NULL, &a, 1);
    bootstrap(&s, 1, &(struct bootstrap_options){.seed = 1}, mean, NULL, &b, 1);
    bootstrap(&s, 1, &(struct bootstrap_options){.seed = 2}, mean, NULL, &c, 1);
    assert_true(a.low == b.low && a.high == b.high);
    assert_true(a.low != c.low && a.high != c.high);
    assert_near(a.low, c.low, 0.002);
}

static void per_marked(void *arg, const double *sums, double *ret)
{
    (void)arg;
    ret[0] = sums[1] / sums[0];               /* infinite when no marked row is drawn */
    ret[1] = sums[0] > 0 ? 1 : NAN;           /* known in the same resamples */
    ret[2] = sums[0] / sums[1] - 1 / sums[1]; /* always known */
    ret[3] = sums[2];                         /* a column with a NAN in it */
}

static void absent_and_infinite(void **state)
{
    AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(3);
    struct interval ret[4];

    (void)state;
    for (int i = 0; i < 50; i++) /* two marked of 50: in 13 % of the resamples there is none */
        bootstrap_add(&s, (double[]){i < 2, 1, i == 20 ? NAN : 1});
    bootstrap(&s, 1, &(struct bootstrap_options){.seed = 1}, per_marked, NULL, ret, 4);
    assert_true(ret[0].value == 25 && ret[0].low > 6 && ret[0].low < 15);
    assert_true(isinf(ret[0].high) && ret[0].high > 0);
    assert_true(ret[1].value == 1 && isnan(ret[1].low) && isnan(ret[1].high));
    assert_near(ret[2].low, -0.02, 1e-12);
    assert_true(isnan(ret[3].value) && isnan(ret[3].low) && isnan(ret[3].high));
}

static void too_few_rows_have_no_interval(void **state)
{
    struct bootstrap_sample s[2] = {bootstrap_sample(2), bootstrap_sample(2)};
    struct interval ret;

    (void)state;
    bootstrap(s, 1, &(struct bootstrap_options){0}, mean, NULL, &ret, 1);
    assert_true(isnan(ret.value) && isnan(ret.low) && isnan(ret.high));
    bootstrap_add(&s[0], (double[]){4, 1});
    bootstrap(s, 1, &(struct bootstrap_options){0}, mean, NULL, &ret, 1);
    assert_true(ret.value == 4 && isnan(ret.low) && isnan(ret.high));
    bootstrap_add(&s[0], (double[]){4, 1});
    bootstrap_add(&s[1], (double[]){7, 1});
    bootstrap(s, 2, &(struct bootstrap_options){0}, difference, NULL, &ret, 1);
    assert_true(ret.value == 3 && isnan(ret.low) && isnan(ret.high));
    bootstrap_sample_release(&s[0]);
    bootstrap_sample_release(&s[1]);
}

/* How often the interval holds the truth, over `rounds` samples of n values whose mean is 1. */
static double coverage(size_t n, int rounds, double (*value)(struct rng *))
{
    struct rng rng = rng_seed(11, RNG_STREAM_PLAIN);
    int held = 0;

    for (int round = 0; round < rounds; round++) {
        AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(2);
        struct interval ret;

        for (size_t i = 0; i < n; i++)
            bootstrap_add(&s, (double[]){value(&rng), 1});
        bootstrap(&s, 1, &(struct bootstrap_options){.seed = 1, .resamples = 1000}, mean, NULL,
                  &ret, 1);
        held += ret.low <= 1 && 1 <= ret.high;
    }
    return (double)held / rounds;
}

static double normal(struct rng *r)
{
    return 1 + rng_normal(r);
}

static void the_truth_is_in_95_of_100(void **state)
{
    (void)state;
    /* the standard error of a share of 0.95 is 0.007 in 1000 rounds, 0.01 in 500 */
    assert_near(coverage(10, 1000, normal), 0.95, 0.02);
    assert_near(coverage(100, 500, normal), 0.95, 0.025);
    assert_near(coverage(200, 500, rng_exponential), 0.945, 0.025);
}

/* More records than rows: memory stays, and so does the interval. */
static void many_records_take_bounded_memory(void **state)
{
    AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(2);
    struct rng rng = rng_seed(6, RNG_STREAM_PLAIN);
    struct interval ret;
    double half = 1.96 / sqrt(150000);

    (void)state;
    for (int i = 0; i < 150000; i++) /* not a multiple of the rows */
        bootstrap_add(&s, (double[]){5 + rng_normal(&rng), 1});
    assert_int_equal(s.n_rows, BOOTSTRAP_ROWS_MAX);
    assert_true(s.cap_rows <= BOOTSTRAP_ROWS_MAX);
    bootstrap(&s, 1, &(struct bootstrap_options){.seed = 1, .resamples = 1000}, mean, NULL, &ret,
              1);
    assert_near(ret.value, 5, 0.02);
    assert_near(ret.high - ret.low, 2 * half, 0.15 * half);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_mean_has_the_textbook_interval),
    cmocka_unit_test(two_rows_give_every_mixture),
    cmocka_unit_test(draws_are_multinomial),
    cmocka_unit_test(pairing_removes_what_questions_share),
    cmocka_unit_test(repeats_are_one_row),
    cmocka_unit_test(the_seed_decides),
    cmocka_unit_test(absent_and_infinite),
    cmocka_unit_test(too_few_rows_have_no_interval),
    cmocka_unit_test(the_truth_is_in_95_of_100),
    cmocka_unit_test(many_records_take_bounded_memory),
};
TEST_MAIN(tests)
