#include "harness.h"

#include "analysis/fit.h"

static struct fit_line line_of(bool log_x, const double (*points)[2], size_t n)
{
    struct fit f = {.log_x = log_x};

    for (size_t i = 0; i < n; i++)
        fit_add(&f, points[i][0], points[i][1]);
    return fit_line(&f);
}

#define LINE(log_x, ...) \
    line_of(log_x, (const double[][2]){__VA_ARGS__}, sizeof((const double[][2]){__VA_ARGS__}) / 16)

static void assert_no_line(const struct fit_line *l, int64_t count)
{
    assert_int_equal(l->count, count);
    assert_true(isnan(l->slope) && isnan(l->intercept) && isnan(l->r2));
    assert_true(isnan(l->slope_se) && isnan(l->intercept_se));
}

static void a_perfect_line(void **state)
{
    struct fit_line l = LINE(false, {1, 2}, {2, 4}, {3, 6});

    (void)state;
    assert_int_equal(l.count, 3);
    assert_near(l.slope, 2, 1e-10);
    assert_near(l.intercept, 0, 1e-10);
    assert_near(l.r2, 1, 1e-10);
    assert_near(l.slope_se, 0, 1e-10);
    assert_near(l.avg_y, 4, 0);
}

static void no_line_without_two_different_x(void **state)
{
    struct fit empty = {0};
    struct fit_line l = fit_line(&empty);

    (void)state;
    assert_no_line(&l, 0);
    assert_true(isnan(l.avg_y));
    l = LINE(false, {1, 2});
    assert_no_line(&l, 1);
    assert_near(l.avg_y, 2, 0);
    l = LINE(false, {5, 1}, {5, 2}, {5, 3});
    assert_no_line(&l, 3);
    l = LINE(true, {0, 1}, {-3, 2}, {7, 3});
    assert_no_line(&l, 1);
}

static void what_cannot_be_fitted_is_left_out(void **state)
{
    struct fit_line l = LINE(false, {1, 2}, {INFINITY, 4}, {3, NAN}, {4, 8});

    (void)state;
    assert_int_equal(l.count, 2);
    assert_near(l.slope, 2, 1e-12);
    assert_true(isnan(l.slope_se)); /* two points leave nothing to tell an error by */
    l = LINE(true, {0, 9}, {-1, 9}, {1, 3}, {exp(1), 5});
    assert_int_equal(l.count, 2);
    assert_near(l.slope, 2, 1e-12);
    assert_near(l.intercept, 3, 1e-12);
    assert_near(l.avg_y, 6.5, 1e-12); /* over all, also those left out */
}

static void y_that_never_changes(void **state)
{
    struct fit_line l = LINE(false, {1, 7}, {2, 7}, {3, 7});

    (void)state;
    assert_near(l.slope, 0, 0);
    assert_near(l.r2, 1, 0);
}

/* By hand: x 1..4, y 2 3 5 4: means 2.5 and 3.5, sxx 5, sxy 4, syy 5; residual 5 - 16/5 = 1.8. */
static void errors_by_hand(void **state)
{
    struct fit_line l = LINE(false, {1, 2}, {2, 3}, {3, 5}, {4, 4});

    (void)state;
    assert_near(l.slope, 0.8, 1e-15);
    assert_near(l.intercept, 1.5, 1e-15);
    assert_near(l.r2, 0.64, 1e-15);
    assert_near(l.slope_se, sqrt(0.9 / 5), 1e-15);
    assert_near(l.intercept_se, sqrt(0.9 * (0.25 + 6.25 / 5)), 1e-15);
}

/* A million points far from 0 do not wash the slope out. */
static void many_points_far_away(void **state)
{
    struct fit f = {0};
    struct fit_line l;

    (void)state;
    for (int i = 0; i < 1000000; i++)
        fit_add(&f, 1e9 + i % 1000, 3e9 + 0.25 * (i % 1000));
    l = fit_line(&f);
    assert_int_equal(l.count, 1000000);
    assert_near(l.slope, 0.25, 1e-9);
    assert_near(l.r2, 1, 1e-9);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_perfect_line),
    cmocka_unit_test(no_line_without_two_different_x),
    cmocka_unit_test(what_cannot_be_fitted_is_left_out),
    cmocka_unit_test(y_that_never_changes),
    cmocka_unit_test(errors_by_hand),
    cmocka_unit_test(many_points_far_away),
};
TEST_MAIN(tests)
