#include "harness.h"

#include "core/stats.h"

static void describe_like_the_python_tool(void **state)
{
    double v[] = {5, NAN, 3, 1, 4, 2, NAN}, one[] = {42}, none[] = {NAN, NAN};
    struct stat4 s = stats_four(v, 7);

    (void)state;
    assert_true(s.avg == 3 && s.min == 1 && s.max == 5 && s.median == 3);
    s = stats_four(one, 1);
    assert_true(s.avg == 42 && s.min == 42 && s.max == 42 && s.median == 42);
    s = stats_four(none, 2);
    assert_true(isnan(s.avg) && isnan(s.min) && isnan(s.max) && isnan(s.median));
    s = stats_four(none, 0);
    assert_true(isnan(s.avg) && isnan(s.min) && isnan(s.max) && isnan(s.median));
}

static void median_of_an_even_number(void **state)
{
    double v[] = {1, 2, 10, 20};

    (void)state;
    assert_near(stats_median(v, 4), 6, 0);
    assert_true(isnan(stats_median(v, 0)));
}

static void percentiles_interpolate(void **state)
{
    double v[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    (void)state;
    assert_near(stats_percentile(v, 5, 50), 3, 0);
    assert_near(stats_percentile(v, 10, 90), 9.1, 1e-12);
    assert_near(stats_percentile(v, 2, 99), 1.99, 1e-12);
    assert_near(stats_percentile(v, 1, 99), 1, 0);
    assert_near(stats_percentile(v, 10, 0), 1, 0);
    assert_near(stats_percentile(v, 10, 100), 10, 0);
    assert_true(isnan(stats_percentile(v, 0, 50)));
}

static void deviation_is_a_samples(void **state)
{
    double v[] = {1, 2, 3, 4, 5}, far[] = {1e9 + 1, 1e9 + 2, 1e9 + 3};

    (void)state;
    assert_near(stats_std(v, 5), 1.5811388300841898, 1e-15);
    assert_near(stats_std(far, 3), 1, 0);
    assert_near(stats_std(v, 1), 0, 0);
    assert_true(isnan(stats_std(v, 0)));
    assert_true(isnan(stats_mean(v, 0)));
    assert_near(stats_mean(v, 4), 2.5, 0);
}

static void sorting_drops_the_absent(void **state)
{
    double v[] = {NAN, 3, NAN, -INFINITY, 2, INFINITY};

    (void)state;
    assert_int_equal(stats_sort(v, 6), 4);
    assert_true(v[0] == -INFINITY && v[1] == 2 && v[2] == 3 && v[3] == INFINITY);
    assert_int_equal(stats_sort(NULL, 0), 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(describe_like_the_python_tool), cmocka_unit_test(median_of_an_even_number),
    cmocka_unit_test(percentiles_interpolate),       cmocka_unit_test(deviation_is_a_samples),
    cmocka_unit_test(sorting_drops_the_absent),
};
TEST_MAIN(tests)
