/*
 * Power from counters and from power sensors, gaps, and long runs in little memory.
 */
#include "harness.h"

#include "base/cleanup.h"
#include "plot/trace.h"

static void assert_piece(const struct trace_piece *p, double from_s, double to_s, double from_w,
                         double to_w)
{
    assert_near(p->from_s, from_s, 1e-9);
    assert_near(p->to_s, to_s, 1e-9);
    assert_near(p->from_w, from_w, 1e-6);
    assert_near(p->to_w, to_w, 1e-6);
}

static void counter_is_a_difference_quotient(void **state)
{
    AUTO(trace) struct trace t = {.is_counter = true};

    (void)state;
    trace_add(&t, 1, 100, true);
    trace_add(&t, 2, 150, false);
    trace_add(&t, 4, 160, false);
    trace_finish(&t);
    assert_int_equal(t.n, 2);
    assert_piece(&t.pieces[0], 1, 2, 50, 50);
    assert_piece(&t.pieces[1], 2, 4, 5, 5);
}

static void power_is_as_it_was_shown(void **state)
{
    AUTO(trace) struct trace t = {0};

    (void)state;
    trace_add(&t, 0, 10, false);
    trace_add(&t, 1, 30, false);
    trace_add(&t, 2, 30, false);
    trace_finish(&t);
    assert_int_equal(t.n, 2);
    assert_piece(&t.pieces[0], 0, 1, 10, 30);
    assert_near(t.pieces[0].mean_w, 20, 0);
    assert_piece(&t.pieces[1], 1, 2, 30, 30);
}

static void breaks_and_nonsense_are_gaps(void **state)
{
    AUTO(trace) struct trace t = {.is_counter = true};

    (void)state;
    trace_add(&t, 0, 0, true);
    trace_add(&t, 1, 10, false);
    trace_add(&t, 2, 20, true); /* nothing is known between 1 and 2 */
    trace_add(&t, 3, 5, false); /* a counter does not fall */
    trace_add(&t, 4, 6, false);
    trace_add(&t, 5, NAN, false);
    trace_add(&t, 6, 8, false);
    trace_add(&t, NAN, 8, false);
    trace_add(&t, 7, 9, false);
    trace_add(&t, 7, 9, false); /* time stands still */
    trace_add(&t, 8, 11, false);
    trace_add(&t, 9, INFINITY, false);
    trace_add(&t, 10, 20, false);
    trace_finish(&t);
    assert_int_equal(t.n, 3);
    assert_piece(&t.pieces[0], 0, 1, 10, 10);
    assert_piece(&t.pieces[1], 3, 4, 1, 1);
    assert_piece(&t.pieces[2], 7, 8, 2, 2);
}

/* Without a break too, when the source was silent for long; but a slow source is not silent. */
static void silence_is_a_gap(void **state)
{
    AUTO(trace) struct trace fast = {0}, slow = {0}, early = {0};

    (void)state;
    for (int i = 0; i <= 1000; i++)
        if (i < 500 || i >= 700)
            trace_add(&fast, i * 0.01, 5, false);
    for (int i = 0; i < 10; i++)
        trace_add(&slow, i * 5, 5, false);
    trace_add(&early, 0, 5, false); /* the gap comes before it is known what is usual */
    trace_add(&early, 20, 5, false);
    for (int i = 1; i < 20; i++)
        trace_add(&early, 20 + i * 0.1, 5, false);
    trace_finish(&fast);
    trace_finish(&slow);
    trace_finish(&early);
    assert_int_equal(fast.n, 1000 - 201);
    assert_near(fast.pieces[498].to_s, 4.99, 1e-9);
    assert_near(fast.pieces[499].from_s, 7, 1e-9);
    assert_int_equal(slow.n, 9);
    assert_int_equal(early.n, 19);
    assert_near(early.pieces[0].from_s, 20, 0);
}

/* A million samples: pieces of even length, and neither peak nor energy is lost. */
static void long_runs_stay_small(void **state)
{
    AUTO(trace) struct trace t = {.is_counter = true};
    double joules = 0, sum_j = 0, longest = 0, shortest = INFINITY, high = 0;

    (void)state;
    for (int i = 0; i < 1000000; i++) {
        trace_add(&t, i * 0.02, joules, i == 0);
        joules += i == 345678 ? 20 : 1 + i % 3 * 0.5; /* 50, 75 or 100 W; once 1000 W */
    }
    trace_finish(&t);
    assert_in_range(t.n, TRACE_PIECES_MAX / 4, TRACE_PIECES_MAX);
    trace_thin(&t, 1000);
    assert_in_range(t.n, 400, 1000);
    for (size_t i = 0; i < t.n; i++) {
        double length = t.pieces[i].to_s - t.pieces[i].from_s;

        sum_j += length * t.pieces[i].mean_w;
        longest = fmax(longest, length);
        shortest = i + 1 < t.n ? fmin(shortest, length) : shortest;
        high = fmax(high, t.pieces[i].high_w);
        assert_near(t.pieces[i].low_w, 50, 1e-3);
        if (i)
            assert_near(t.pieces[i].from_s, t.pieces[i - 1].to_s, 0);
    }
    assert_near(high, 1000, 1e-3);
    assert_near(sum_j, joules - (1 + 999999 % 3 * 0.5), 1);
    assert_true(longest < 2 * shortest);
}

static void sums_where_both_are_known(void **state)
{
    AUTO(trace) struct trace a = {0}, b = {.is_counter = true}, sum;

    (void)state;
    trace_add(&a, 0, 10, false);
    trace_add(&a, 2, 30, false);
    trace_add(&a, 4, 30, false);
    trace_add(&b, 1, 0, true);
    trace_add(&b, 2, 5, false);
    trace_add(&b, 3, 0, true); /* a gap from 2 to 3 */
    trace_add(&b, 5, 14, false);
    sum = trace_sum(&a, &b);
    assert_int_equal(sum.n, 2);
    assert_piece(&sum.pieces[0], 1, 2, 20 + 5, 30 + 5);
    assert_piece(&sum.pieces[1], 3, 4, 30 + 7, 30 + 7);
}

static void empty(void **state)
{
    AUTO(trace) struct trace t = {0}, one = {0}, sum;

    (void)state;
    trace_add(&one, 1, 5, false);
    trace_finish(&t);
    trace_finish(&one);
    trace_thin(&t, 10);
    sum = trace_sum(&t, &one);
    assert_int_equal(t.n + one.n + sum.n, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counter_is_a_difference_quotient),
    cmocka_unit_test(power_is_as_it_was_shown),
    cmocka_unit_test(breaks_and_nonsense_are_gaps),
    cmocka_unit_test(silence_is_a_gap),
    cmocka_unit_test(long_runs_stay_small),
    cmocka_unit_test(sums_where_both_are_known),
    cmocka_unit_test(empty),
};
TEST_MAIN(tests)
