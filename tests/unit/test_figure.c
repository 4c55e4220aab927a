/* Figures over many values: exact while there are few, within their bound when there are many. */
#include "harness.h"

#include "base/rng.h"
#include "core/figure.h"
#include "core/stats.h"

static void nothing_is_nan(void **state)
{
    struct figure f = {0};

    (void)state;
    figure_add(&f, NAN);
    figure_add(&f, INFINITY);
    assert_int_equal(f.n, 0);
    assert_true(isnan(figure_mean(&f)) && isnan(figure_std(&f)) && isnan(figure_min(&f)));
    assert_true(isnan(figure_max(&f)) && isnan(figure_percentile(&f, 50)));
    figure_release(&f);
}

static void few_are_exact(void **state)
{
    struct figure f = {0};

    (void)state;
    for (int i = 5; i >= 1; i--)
        figure_add(&f, i);
    assert_near(figure_mean(&f), 3, 1e-15);
    assert_near(figure_std(&f), 1.5811388300841898, 1e-12);
    assert_near(figure_percentile(&f, 50), 3, 0);
    assert_near(figure_percentile(&f, 90), 4.6, 1e-12);
    assert_near(figure_min(&f), 1, 0);
    assert_near(figure_max(&f), 5, 0);
    figure_release(&f);
    figure_add(&f, 42);
    assert_near(figure_std(&f), 0, 0);
    assert_near(figure_percentile(&f, 99), 42, 0);
    figure_release(&f);
}

/* Against the same values sorted, for several shapes, around the switch and far beyond it. */
static void many_are_close(void **state)
{
    static const int64_t sizes[] = {FIGURE_EXACT, FIGURE_EXACT + 1, 60000};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        for (int shape = 0; shape < 3; shape++) {
            struct rng rng = rng_seed(shape, RNG_STREAM_PLAIN);
            double *all = calloc((size_t)sizes[k], sizeof(*all));
            struct figure f = {0};

            for (int64_t i = 0; i < sizes[k]; i++) {
                all[i] = shape == 0   ? rng_exponential(&rng)
                         : shape == 1 ? 100 + rng_normal(&rng)
                                      : rng_normal(&rng) * 1e6;
                figure_add(&f, all[i]);
            }
            stats_sort(all, (size_t)sizes[k]);
            for (double p = 0; p <= 100; p += 5) {
                double truth = stats_percentile(all, (size_t)sizes[k], p);

                assert_near(figure_percentile(&f, p), truth,
                            0.0012 * fabs(truth) + 1e3 * 1e-2 * (shape == 2));
            }
            assert_near(figure_mean(&f), stats_mean(all, (size_t)sizes[k]), 1e-6 * fabs(all[0]));
            assert_near(figure_std(&f) / stats_std(all, (size_t)sizes[k]), 1, 1e-9);
            assert_near(figure_max(&f), all[sizes[k] - 1], 0);
            figure_release(&f);
            free(all);
        }
    }
}

static void extremes_have_a_class(void **state)
{
    static const double values[] = {0, -0.0, 1e-300, -1e-300, 1e300, -1e300, 5e-13};
    struct figure f = {0};

    (void)state;
    for (int i = 0; i < 2 * FIGURE_EXACT; i++)
        figure_add(&f, values[i % 7]);
    assert_near(figure_percentile(&f, 0), -5e22, 1e22);
    assert_near(figure_percentile(&f, 50), 0, 0);
    assert_near(figure_min(&f), -1e300, 0);
    figure_release(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nothing_is_nan),
    cmocka_unit_test(few_are_exact),
    cmocka_unit_test(many_are_close),
    cmocka_unit_test(extremes_have_a_class),
};
TEST_MAIN(tests)
