#include "harness.h"

#include "plot/ticks.h"

#include <float.h>

static void assert_ticks(const struct ticks *t, size_t n, const double *expected)
{
    assert_int_equal(t->n, n);
    for (size_t i = 0; i < n; i++)
        if (t->at[i] != expected[i])
            fail_msg("tick %zu is %.17g, not %.17g", i, t->at[i], expected[i]);
}

#define ASSERT_TICKS(t, ...) \
    assert_ticks((t), sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__})

static void round_numbers(void **state)
{
    struct ticks t;

    (void)state;
    ticks_linear(0, 1234, 6, &t);
    ASSERT_TICKS(&t, 0, 500, 1000);
    ticks_linear(0, 1234, 7, &t);
    ASSERT_TICKS(&t, 0, 200, 400, 600, 800, 1000, 1200);
    ticks_linear(0, 1, 5, &t);
    ASSERT_TICKS(&t, 0, 0.2, 0.4, 0.6, 0.8, 1);
    /* exactly what one would type, not 0.30000000000000004 */
    ticks_linear(0.05, 0.5, 5, &t);
    ASSERT_TICKS(&t, 0.1, 0.2, 0.3, 0.4, 0.5);
    ticks_linear(-7, 12, 5, &t);
    ASSERT_TICKS(&t, -5, 0, 5, 10);
    ticks_linear(-3.5e-9, -1e-9, 5, &t);
    ASSERT_TICKS(&t, -3.5e-9, -3e-9, -2.5e-9, -2e-9, -1.5e-9, -1e-9);
    ticks_linear(2e250, 9e250, 4, &t);
    ASSERT_TICKS(&t, 2e250, 4e250, 6e250, 8e250);
    /* upside down is the same */
    ticks_linear(12, -7, 5, &t);
    ASSERT_TICKS(&t, -5, 0, 5, 10);
}

static void one_point_gets_room(void **state)
{
    struct ticks t;

    (void)state;
    ticks_linear(0, 0, 4, &t);
    assert_true(t.lo == -1 && t.hi == 1);
    ASSERT_TICKS(&t, -1, -0.5, 0, 0.5, 1);
    ticks_linear(250, 250, 4, &t);
    assert_near(t.lo, 225, 1e-9);
    assert_near(t.hi, 275, 1e-9);
    ASSERT_TICKS(&t, 240, 260);
    ticks_linear(-8, -8, 4, &t);
    assert_true(t.lo < -8 && t.hi > -8 && t.n >= 2);
    ticks_log(5, 5, 6, &t);
    assert_near(t.lo, 2.5, 1e-12);
    assert_near(t.hi, 10, 1e-12);
    assert_true(t.n >= 2);
}

/* Whatever the range: at least two ticks, inside, rising, evenly apart, and never too many. */
static void any_range(void **state)
{
    static const double ends[] = {0,        -1,     1,        DBL_MIN, -DBL_MIN,  DBL_MAX, -DBL_MAX,
                                  4.9e-324, 1e-300, 1e300,    1e15,    1e15 + 1,  0.1,     1.0 / 3,
                                  -1e-7,    123456, 99999.99, 1e9,     1e9 + 1e-3};

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        for (size_t k = 0; k < sizeof(ends) / sizeof(*ends); k++)
            for (int about = -1; about < 40; about += 3) {
                struct ticks t;

                ticks_linear(ends[i], ends[k], about, &t);
                assert_true(isfinite(t.lo) && isfinite(t.hi) && t.lo < t.hi);
                assert_in_range(t.n, 2, TICKS_MAX);
                for (size_t n = 0; n < t.n; n++) {
                    assert_true(t.at[n] >= t.lo - t.step * 1e-6);
                    assert_true(t.at[n] <= t.hi + t.step * 1e-6);
                    if (n)
                        assert_true(fabs(t.at[n] - t.at[n - 1] - t.step) < t.step * 1e-3);
                }
                if (ends[i] <= 0 || ends[k] <= 0)
                    continue;
                ticks_log(ends[i], ends[k], about, &t);
                assert_true(isfinite(t.lo) && isfinite(t.hi) && t.lo < t.hi);
                assert_in_range(t.n, 2, TICKS_MAX);
                for (size_t n = 1; n < t.n; n++)
                    assert_true(t.at[n] > t.at[n - 1]);
            }
}

static void decades(void **state)
{
    struct ticks t;

    (void)state;
    ticks_log(0.5, 2000, 6, &t);
    ASSERT_TICKS(&t, 1, 10, 100, 1000);
    ticks_log(1e-3, 1, 6, &t);
    ASSERT_TICKS(&t, 1e-3, 1e-2, 0.1, 1);
    /* too many decades: every other one, on multiples of two */
    ticks_log(1e-5, 1e5, 6, &t);
    ASSERT_TICKS(&t, 1e-4, 1e-2, 1, 100, 1e4);
    /* too few: their parts */
    ticks_log(3, 60, 6, &t);
    ASSERT_TICKS(&t, 5, 10, 20, 50);
    /* not even these */
    ticks_log(11, 19, 5, &t);
    ASSERT_TICKS(&t, 12, 14, 16, 18);
    assert_true(t.step == 2);
}

static void assert_text(double value, double step, int exponent, const char *expected)
{
    char text[TICK_TEXT_MAX];

    tick_text(value, step, exponent, text);
    assert_string_equal(text, expected);
}

static void written(void **state)
{
    (void)state;
    assert_text(0, 0.5, 0, "0");
    assert_text(0.5, 0.5, 0, "0.5");
    assert_text(1, 0.5, 0, "1.0");
    assert_text(12000, 2000, 0, "12,000");
    assert_text(-1234567, 1, 0, "-1,234,567");
    assert_text(999, 1, 0, "999");
    assert_text(1500, 500, 3, "1.5");
    assert_text(0.025, 0.005, -3, "25");
    assert_text(1.25, 0.25, 0, "1.2"); /* a step is never 0.25; digits follow its decade */
    assert_text(0.000001, 0.000001, 0, "0.000001");
    assert_text(3e-9, 1e-9, 0, "3e-09");
    assert_text(1.2e20, 2e19, 0, "1.2e+20");
    assert_text(100, 0, 0, "100");
    assert_text(0.2, 0, 0, "0.2");
    assert_text(DBL_MAX, 0, 0, "1.798e+308");
    assert_text(-DBL_MAX, DBL_MAX, 0, "-2e+308");
    assert_text(NAN, 0, 0, "nan");
}

static void prefixes(void **state)
{
    (void)state;
    assert_int_equal(tick_exponent(0.02), -3);
    assert_int_equal(tick_exponent(4200), 3);
    assert_int_equal(tick_exponent(1), 0);
    assert_int_equal(tick_exponent(999), 0);
    assert_int_equal(tick_exponent(1000), 3);
    assert_int_equal(tick_exponent(-2.5e7), 6);
    assert_int_equal(tick_exponent(5e-7), -9);
    assert_int_equal(tick_exponent(0), 0);
    assert_int_equal(tick_exponent(1e20), 0);
    assert_int_equal(tick_exponent(1e-20), 0);
    assert_int_equal(tick_exponent(NAN), 0);
    assert_string_equal(tick_prefix(-6), "µ");
    assert_string_equal(tick_prefix(9), "G");
    assert_string_equal(tick_prefix(0), "");
    assert_string_equal(tick_prefix(1), "");
    assert_string_equal(tick_prefix(-300), "");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(round_numbers), cmocka_unit_test(one_point_gets_room),
    cmocka_unit_test(any_range),     cmocka_unit_test(decades),
    cmocka_unit_test(written),       cmocka_unit_test(prefixes),
};
TEST_MAIN(tests)
