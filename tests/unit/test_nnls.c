#include "harness.h"

#include "analysis/nnls.h"
#include "base/rng.h"

#include <errno.h>

static const char *const names[] = {"prefill tokens", "decode tokens", "time"};
static struct err err;

static void exact_shares_are_found(void **state)
{
    struct nnls s = {.n_terms = 3};
    struct nnls_fit f;
    struct rng r = rng_seed(1, 0);

    (void)state;
    for (int i = 0; i < 200; i++) {
        double x[] = {50 + 900 * rng_uniform(&r), 10 + 300 * rng_uniform(&r), rng_uniform(&r) * 9};

        nnls_add(&s, x, 0.02 * x[0] + 0.5 * x[1] + 30 * x[2]);
    }
    assert_ok(nnls_solve(&s, names, &f, &err), &err);
    assert_near(f.coefficient[0], 0.02, 1e-9);
    assert_near(f.coefficient[1], 0.5, 1e-9);
    assert_near(f.coefficient[2], 30, 1e-7);
    assert_near(f.r2, 1, 1e-9);
    assert_true(f.condition > 1 && f.condition < 10);
    assert_true(f.se[0] < 1e-5 && f.se[2] < 1e-2);
}

/* Over many draws the truth lies within two standard errors about 95 times of 100. */
static void standard_errors_are_honest(void **state)
{
    struct rng r = rng_seed(7, 0);
    int inside[3] = {0};

    (void)state;
    for (int draw = 0; draw < 1000; draw++) {
        static const double truth[] = {0.05, 0.4, 20};
        struct nnls s = {.n_terms = 3};
        struct nnls_fit f;

        for (int i = 0; i < 60; i++) {
            double x[] = {rng_uniform(&r) * 1000, rng_uniform(&r) * 200, 1 + rng_uniform(&r) * 5};

            nnls_add(&s, x,
                     truth[0] * x[0] + truth[1] * x[1] + truth[2] * x[2] + 3 * rng_normal(&r));
        }
        assert_ok(nnls_solve(&s, names, &f, &err), &err);
        assert_near(f.residual_sd, 3, 1.5);
        for (int k = 0; k < 3; k++)
            inside[k] += fabs(f.coefficient[k] - truth[k]) <= 2.0025 * f.se[k]; /* t, 57 */
    }
    for (int k = 0; k < 3; k++)
        assert_near(inside[k], 950, 25);
}

/* Ordinary least squares would give the second a negative share. */
static void nothing_adds_less_than_nothing(void **state)
{
    struct nnls s = {.n_terms = 2};
    struct nnls_fit f;

    (void)state;
    for (int i = 1; i <= 20; i++) {
        double x[] = {i, i % 4};

        nnls_add(&s, x, 3 * x[0] - 0.5 * x[1]);
    }
    assert_ok(nnls_solve(&s, names, &f, &err), &err);
    assert_near(f.coefficient[1], 0, 0);
    assert_true(isnan(f.se[1]));
    /* then the first alone: sum of x*y / sum of x*x */
    assert_near(f.coefficient[0], s.xy[0] / s.xx[0][0], 1e-12);
    assert_true(f.se[0] > 0);
}

static void what_always_goes_together_is_refused(void **state)
{
    struct nnls s = {.n_terms = 3};
    struct nnls_fit f;
    struct rng r = rng_seed(3, 0);

    (void)state;
    for (int i = 0; i < 100; i++) {
        double tokens = 10 + 100 * rng_uniform(&r);
        double x[] = {rng_uniform(&r) * 500, tokens, tokens * 0.02};

        nnls_add(&s, x, x[0] + x[1]);
    }
    assert_fails(nnls_solve(&s, names, &f, &err), EDOM, &err, "decode tokens and time");
    assert_null(strstr(err.text, "prefill"));
}

/* Nearly together is enough to be found, with a large error, as long as the data say something. */
static void nearly_together_has_large_errors(void **state)
{
    struct nnls s = {.n_terms = 2};
    struct nnls_fit f;
    struct rng r = rng_seed(4, 0);

    (void)state;
    for (int i = 0; i < 1000; i++) {
        double tokens = 100 + 100 * rng_uniform(&r);
        double x[] = {tokens, tokens * 0.02 * (1 + 0.02 * rng_normal(&r))};

        nnls_add(&s, x, 2 * x[0] + 10 * x[1] + rng_normal(&r));
    }
    assert_ok(nnls_solve(&s, names, &f, &err), &err);
    assert_true(f.condition > 50 && f.condition < 200);
    assert_near(f.coefficient[0], 2, 3 * f.se[0]);
    assert_near(f.coefficient[1], 10, 3 * f.se[1]);
    assert_true(f.se[1] > 0.3);
}

static void too_little_is_refused(void **state)
{
    struct nnls s = {.n_terms = 2};
    struct nnls_fit f;

    (void)state;
    for (int i = 0; i < 5; i++)
        nnls_add(&s, (double[]){i, 5 - i}, i);
    assert_fails(nnls_solve(&s, names, &f, &err), EDOM, &err, "5 queries are too few");
    s = (struct nnls){.n_terms = 2};
    for (int i = 0; i < 50; i++)
        nnls_add(&s, (double[]){i, 0}, i);
    assert_fails(nnls_solve(&s, names, &f, &err), EDOM, &err, "decode tokens is 0");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(exact_shares_are_found),
    cmocka_unit_test(standard_errors_are_honest),
    cmocka_unit_test(nothing_adds_less_than_nothing),
    cmocka_unit_test(what_always_goes_together_is_refused),
    cmocka_unit_test(nearly_together_has_large_errors),
    cmocka_unit_test(too_little_is_refused),
};
TEST_MAIN(tests)
