#include "harness.h"

#include "record/energy.h"
#include "seriesmake.h"

static const struct channel joules = {.quantity = QUANTITY_ENERGY_J, .range = NAN, .quantum = NAN};

static void gauge_figures_are_weighted_by_time(void **state)
{
    static const struct channel heat = {.quantity = QUANTITY_TEMPERATURE_C};
    struct series s = {.read_from = 100 * MS, .read_until = 1000 * MS, .period_ns = 20 * MS};
    struct stat4 r;

    (void)state;
    shown(&s, 100, 190, 40);
    shown(&s, 210, 690, 50);
    shown(&s, 710, 1000, 90);
    r = stats_of_window(&heat, &s, 150 * MS, 800 * MS);
    assert_near(r.min, 40, 0);
    assert_near(r.max, 90, 0);
    assert_near(r.median, 50, 0);
    assert_near(r.avg, (40 * 50 + 50 * 500 + 90 * 100) / 650.0, 1e-9);
    /* half the time each */
    r = stats_of_window(&heat, &s, 600 * MS, 800 * MS);
    assert_near(r.median, 70, 0);
    r = stats_of_window(&heat, &s, 300 * MS, 400 * MS);
    assert_near(r.min, 50, 0);
    assert_near(r.max, 50, 0);
    series_release(&s);
}

static void gauge_figures_of_a_short_window_are_the_nearest(void **state)
{
    static const struct channel heat = {.quantity = QUANTITY_TEMPERATURE_C};
    struct series s = {.read_from = 100 * MS, .read_until = 1000 * MS, .period_ns = 20 * MS};
    struct stat4 r;

    (void)state;
    assert_true(isnan(stats_of_window(&heat, &s, 0, 1).avg));
    shown(&s, 100, 100, 40);
    shown(&s, 120, 120, 60);
    r = stats_of_window(&heat, &s, 103 * MS, 104 * MS);
    assert_near(r.avg, 40, 0);
    r = stats_of_window(&heat, &s, 113 * MS, 114 * MS);
    assert_near(r.median, 60, 0);
    r = stats_of_window(&heat, &s, 170 * MS, 175 * MS);
    assert_near(r.max, 60, 0);
    r = stats_of_window(&heat, &s, 300 * MS, 301 * MS);
    assert_true(isnan(r.avg) && isnan(r.max) && isnan(r.median) && isnan(r.min));
    r = stats_of_window(&heat, &s, 300 * MS, 200 * MS);
    assert_true(isnan(r.avg));
    series_release(&s);
}

static void counter_figures_are_of_the_power(void **state)
{
    double w[10] = {100, 100, 100, 300, 300, 100, 100, 100, 100, 100};
    struct series s = cells(w, 10);
    struct stat4 r = stats_of_window(&joules, &s, 250 * MS, 950 * MS);

    (void)state;
    assert_near(r.avg, 110 / 0.7, 1e-9);
    assert_near(r.max, 300, 1e-9);
    assert_near(r.min, 100, 1e-9);
    assert_near(r.median, 100, 1e-9);
    r = stats_of_window(&joules, &s, 440 * MS, 460 * MS);
    assert_near(r.avg, 300, 1e-6);
    assert_near(r.max, 300, 1e-6);
    r = stats_of_window(&joules, &s, 2 * NS_PER_S, 3 * NS_PER_S);
    assert_true(isnan(r.avg) && isnan(r.max) && isnan(r.median) && isnan(r.min));
    series_release(&s);
}

static void uncertain_times_make_no_false_peaks(void **state)
{
    struct series s = {.read_from = 1, .read_until = 2000 * MS};
    struct stat4 r;

    (void)state;
    level(&s, 1, 0);
    /* 100 W; every other change is guessed 9 ms late */
    for (int i = 1; i < 100; i++)
        series_add(&s, (struct tick){.after = (20 * i - 10) * MS,
                                     .seen = (20 * i + 10) * MS,
                                     .at = (20 * i + (i % 2 ? 9 : 0)) * MS,
                                     .value = 2 * i});
    r = stats_of_window(&joules, &s, 100 * MS, 1900 * MS);
    assert_near(r.avg, 100, 1);
    assert_true(r.max < 115);
    assert_true(r.min > 85);
    series_release(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(gauge_figures_are_weighted_by_time),
    cmocka_unit_test(gauge_figures_of_a_short_window_are_the_nearest),
    cmocka_unit_test(counter_figures_are_of_the_power),
    cmocka_unit_test(uncertain_times_make_no_false_peaks),
};
TEST_MAIN(tests)
