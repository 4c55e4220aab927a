#include "harness.h"

#include "core/series.h"

static struct tick tick(mono_ns after, mono_ns seen)
{
    return (struct tick){.after = after, .seen = seen, .at = (after + seen) / 2, .value = 1};
}

static void finds_first_tick_after(void **state)
{
    struct series s = {0};

    (void)state;
    assert_int_equal(series_after(&s, 5), 0);
    for (int i = 0; i < 100; i++)
        series_add(&s, tick(10 * i, 10 * i + 4));
    assert_int_equal(series_after(&s, 3), 0);
    assert_int_equal(series_after(&s, 4), 1);
    assert_int_equal(series_after(&s, 993), 99);
    assert_int_equal(series_after(&s, 994), 100);
    assert_int_equal(series_at_after(&s, 1), 0);
    assert_int_equal(series_at_after(&s, 2), 1);
    assert_int_equal(series_at_after(&s, 500), 50);
    assert_int_equal(series_at_after(&s, 992), 100);
    series_release(&s);
}

static void clear_keeps_memory_and_forgets_the_rest(void **state)
{
    struct series s = {0};
    struct tick *ticks;

    (void)state;
    series_reserve(&s, 10);
    ticks = s.ticks;
    for (int i = 0; i < 10; i++)
        series_add(&s, tick(i, i + 1));
    assert_ptr_equal(s.ticks, ticks);
    assert_int_equal(s.cap_ticks, 10);
    series_add_gap(&s, (struct gap){1, 2});
    s.read_from = 1;
    s.read_until = 2;
    s.period_ns = 3;
    series_clear(&s);
    assert_int_equal(s.n_ticks, 0);
    assert_int_equal(s.n_gaps, 0);
    assert_int_equal(s.read_from, 0);
    assert_int_equal(s.read_until, 0);
    assert_int_equal(s.period_ns, 0);
    assert_ptr_equal(s.ticks, ticks);
    series_release(&s);
    assert_null(s.ticks);
}

static void coverage_is_what_was_read_outside_gaps(void **state)
{
    struct series s = {.read_from = 100, .read_until = 1100};
    int64_t gaps = -1;

    (void)state;
    assert_near(series_coverage(&s, 200, 300, &gaps), 1, 0);
    assert_int_equal(gaps, 0);
    assert_near(series_coverage(&s, 0, 200, NULL), 0.5, 0);
    assert_near(series_coverage(&s, 1000, 1400, NULL), 0.25, 0);
    assert_near(series_coverage(&s, 2000, 3000, NULL), 0, 0);
    series_add_gap(&s, (struct gap){300, 400});
    series_add_gap(&s, (struct gap){1100, MONO_NEVER});
    assert_near(series_coverage(&s, 200, 600, &gaps), 0.75, 0);
    assert_int_equal(gaps, 1);
    assert_near(series_coverage(&s, 350, 360, &gaps), 0, 0);
    assert_near(series_coverage(&s, 400, 500, &gaps), 1, 0);
    assert_int_equal(gaps, 0);
    assert_near(series_coverage(&s, 900, 1300, &gaps), 0.5, 0);
    assert_int_equal(gaps, 1);
    series_release(&s);
}

static void an_empty_window_is_covered_or_not(void **state)
{
    struct series s = {.read_from = 100, .read_until = 200}, never = {0};

    (void)state;
    assert_near(series_coverage(&s, 150, 150, NULL), 1, 0);
    assert_near(series_coverage(&s, 50, 50, NULL), 0, 0);
    assert_near(series_coverage(&s, 250, 250, NULL), 0, 0);
    assert_near(series_coverage(&never, 0, 0, NULL), 0, 0);
    assert_near(series_coverage(&never, 0, 10, NULL), 0, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_first_tick_after),
    cmocka_unit_test(clear_keeps_memory_and_forgets_the_rest),
    cmocka_unit_test(coverage_is_what_was_read_outside_gaps),
    cmocka_unit_test(an_empty_window_is_covered_or_not),
};
TEST_MAIN(tests)
