#include "harness.h"

#include "simcurve.h"
#include "telemetry/history.h"

#include <stdbool.h>

#define MS NS_PER_MS

static struct history counter(double range, mono_ns refresh_ns)
{
    struct channel c = {.quantity = QUANTITY_ENERGY_J, .range = range, .refresh_ns = refresh_ns};
    struct history h;

    history_init(&h, &c);
    return h;
}

static struct history gauge(enum quantity q)
{
    struct channel c = {.quantity = q, .range = NAN};
    struct history h;

    history_init(&h, &c);
    return h;
}

/* A read at `ms` that takes 1 ms; gaps beyond 100 ms. */
static enum history_verdict put(struct history *h, int64_t ms, double value)
{
    return history_put(h, ms * MS, (ms + 1) * MS, value, 100 * MS);
}

static const struct tick *newest(const struct history *h)
{
    return history_tick(h, h->end - 1);
}

static void only_changes_are_ticks(void **state)
{
    struct history h = counter(NAN, 0);
    const struct tick *t;

    (void)state;
    assert_int_equal(put(&h, 10, 1000), HISTORY_OK);
    assert_int_equal(h.end, 1);
    t = newest(&h);
    assert_int_equal(t->flags, TICK_BREAK);
    assert_near(t->value, 0, 0);
    assert_int_equal(t->at, 11 * MS);
    assert_int_equal(t->after, 10 * MS);
    put(&h, 20, 1000);
    put(&h, 30, 1000);
    assert_int_equal(h.end, 1);
    put(&h, 40, 1002.5);
    assert_int_equal(h.end, 2);
    t = newest(&h);
    assert_int_equal(t->flags, 0);
    assert_near(t->value, 2.5, 0);
    assert_int_equal(t->after, 30 * MS);
    assert_int_equal(t->seen, 41 * MS);
    assert_in_range(t->at, 30 * MS + 1, 41 * MS);
    assert_int_equal(h.read_from, 10 * MS);
    assert_int_equal(h.read_until, 41 * MS);
    assert_int_equal(h.reads, 4);
    assert_near(h.last, 2.5, 0);
    history_release(&h);
}

/* Reads of very different lengths, of a source with a rhythm: guesses stay in order. */
static void times_never_fall(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct history h = counter(NAN, 0);
        mono_ns now = NS_PER_S;

        for (uint64_t i = 0; i < 400; i++) {
            bool slow = sim_hash(seed, 3 * i) % 8 == 0;
            mono_ns wait = (mono_ns)(sim_uniform(seed, 3 * i + 1) * 3e7);
            mono_ns took = (mono_ns)(sim_uniform(seed, 3 * i + 2) * (slow ? 1.5e8 : 1e6));
            mono_ns before = now + wait;

            now = before + took + 1;
            /* shown: as of the end of the read */
            history_put(&h, before, now, (double)(now / (100 * MS)), NS_PER_S);
        }
        for (uint64_t n = 1; n < h.end; n++) {
            const struct tick *x = history_tick(&h, n - 1), *y = history_tick(&h, n);

            assert_true(y->after < y->at && y->at <= y->seen);
            assert_true(x->after <= y->after && x->at <= y->at && x->seen <= y->seen);
        }
        history_release(&h);
    }
}

static void a_fast_source_changed_shortly_before_the_read(void **state)
{
    struct history h = counter(NAN, 1 * MS);

    (void)state;
    put(&h, 10, 0);
    put(&h, 30, 1);
    /* certain: since the read before; likely: within the documented millisecond */
    assert_int_equal(newest(&h)->after, 10 * MS);
    assert_int_equal(newest(&h)->at, 30 * MS);
    history_release(&h);
}

static void wraps_are_undone(void **state)
{
    struct history h = counter(1000, 0);

    (void)state;
    put(&h, 10, 990);
    put(&h, 20, 998);
    assert_int_equal(put(&h, 30, 4), HISTORY_OK);
    assert_near(newest(&h)->value, 14, 1e-9);
    assert_int_equal(newest(&h)->flags, 0);
    assert_int_equal(h.resets, 0);
    history_release(&h);
}

static void a_reset_is_a_break_and_not_energy(void **state)
{
    struct history h = counter(NAN, 0), ranged = counter(1000, 0), quick = counter(65536, 10 * MS);

    (void)state;
    put(&h, 10, 500);
    put(&h, 20, 510);
    assert_int_equal(put(&h, 30, 3), HISTORY_RESET);
    assert_near(newest(&h)->value, 10, 0);
    assert_int_equal(newest(&h)->flags, TICK_BREAK);
    assert_int_equal(newest(&h)->after, 20 * MS);
    assert_int_equal(h.resets, 1);
    put(&h, 40, 5);
    assert_near(newest(&h)->value, 12, 0);
    history_release(&h);
    /* more than half the range */
    put(&ranged, 10, 700);
    assert_int_equal(put(&ranged, 20, 300), HISTORY_RESET);
    history_release(&ranged);
    /* as a wrap it would take 700 kW */
    put(&quick, 10, 60000);
    put(&quick, 20, 60001);
    put(&quick, 30, 60002);
    assert_int_equal(put(&quick, 40, 10000), HISTORY_RESET);
    history_release(&quick);
}

static void an_absurd_leap_is_a_break(void **state)
{
    struct history h = counter(NAN, 10 * MS);

    (void)state;
    put(&h, 10, 1);
    put(&h, 20, 2);
    assert_int_equal(put(&h, 30, 5000), HISTORY_JUMPED);
    assert_near(newest(&h)->value, 1, 0);
    assert_int_equal(newest(&h)->flags, TICK_BREAK);
    assert_int_equal(h.resets, 0);
    history_release(&h);
}

static void a_step_holds_a_whole_refresh(void **state)
{
    struct history h = counter(NAN, 0);

    (void)state;
    /* 1 s of 700 W shown at once, a millisecond after the first read */
    put(&h, 10, 1);
    assert_int_equal(put(&h, 12, 701), HISTORY_OK);
    history_release(&h);
}

static void silence_long_enough_to_wrap_is_a_break(void **state)
{
    struct history h = counter(1000, 0), endless = counter(NAN, 0);

    (void)state;
    put(&h, 10, 100);
    put(&h, 20, 101);
    assert_int_equal(put(&h, 1000, 130), HISTORY_OK); /* less than 2 s at 500 W */
    assert_int_equal(put(&h, 4000, 230), HISTORY_JUMPED);
    assert_int_equal(newest(&h)->flags, TICK_BREAK);
    history_release(&h);
    put(&endless, 10, 100);
    put(&endless, 20, 101);
    assert_int_equal(put(&endless, 1000000, 230), HISTORY_OK);
    assert_near(newest(&endless)->value, 130, 0);
    history_release(&endless);
}

static void impossible_values_are_refused(void **state)
{
    static const double bad[] = {-1, INFINITY, -INFINITY, 1e18, 1000.5};
    struct history h = counter(1000, 0), power = gauge(QUANTITY_POWER_W);

    (void)state;
    put(&h, 10, 1);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(put(&h, 20 + (int64_t)i, bad[i]), HISTORY_REFUSED);
    assert_int_equal(put(&h, 30, NAN), HISTORY_OK); /* absent this time */
    assert_int_equal(history_put(&h, 50 * MS, 40 * MS, 2, MS), HISTORY_REFUSED);
    assert_int_equal(history_put(&h, -5, 40 * MS, 2, MS), HISTORY_REFUSED);
    assert_int_equal(h.end, 1);
    assert_int_equal(h.reads, 1);
    assert_int_equal(put(&power, 10, -0.5), HISTORY_REFUSED);
    assert_int_equal(put(&power, 10, 500000), HISTORY_REFUSED);
    assert_int_equal(power.end, 0);
    history_release(&h);
    history_release(&power);
}

static void every_quantity_has_its_limits(void **state)
{
    (void)state;
    for (int q = 0; q < QUANTITY_COUNT; q++) {
        struct history h = gauge((enum quantity)q);

        assert_int_equal(put(&h, 10, 1), HISTORY_OK);
        assert_int_equal(put(&h, 20, 1e30), HISTORY_REFUSED);
        assert_int_equal(put(&h, 20, -1e30), HISTORY_REFUSED);
        history_release(&h);
    }
}

static void what_is_told_twice_is_ignored(void **state)
{
    struct history h = counter(NAN, 0);

    (void)state;
    put(&h, 10, 1);
    put(&h, 30, 2);
    assert_int_equal(put(&h, 30, 2), HISTORY_OK);
    assert_int_equal(put(&h, 20, 7), HISTORY_OK);
    assert_int_equal(h.reads, 2);
    assert_near(h.last, 1, 0);
    history_release(&h);
}

static void gauge_ticks_grow_while_the_value_stands(void **state)
{
    struct history h = gauge(QUANTITY_TEMPERATURE_C);

    (void)state;
    put(&h, 10, 45);
    assert_int_equal(newest(&h)->flags, TICK_BREAK);
    put(&h, 30, 45);
    put(&h, 50, 45);
    assert_int_equal(h.end, 1);
    assert_int_equal(newest(&h)->after, 10 * MS);
    assert_int_equal(newest(&h)->seen, 51 * MS);
    put(&h, 70, 46);
    assert_int_equal(h.end, 2);
    assert_int_equal(newest(&h)->flags, 0);
    assert_int_equal(newest(&h)->after, 70 * MS);
    for (int ms = 90; ms < 3090; ms += 20)
        put(&h, ms, 46);
    assert_int_equal(h.end, 5); /* written again each second */
    put(&h, 5000, 46);          /* not across a gap */
    assert_int_equal(h.end, 6);
    assert_int_equal(h.n_gaps, 1);
    history_release(&h);
}

static void silence_is_a_gap(void **state)
{
    struct history h = counter(NAN, 0);

    (void)state;
    put(&h, 10, 1);
    put(&h, 110, 2);
    assert_int_equal(h.n_gaps, 0);
    put(&h, 300, 3);
    assert_int_equal(h.n_gaps, 1);
    assert_int_equal(h.gaps[0].from, 111 * MS);
    assert_int_equal(h.gaps[0].to, 300 * MS);
    assert_int_equal(newest(&h)->flags, 0); /* the counter went on */
    history_close(&h);
    assert_int_equal(h.gaps[1].from, 301 * MS);
    assert_int_equal(h.gaps[1].to, MONO_NEVER);
    history_release(&h);
}

static void sleep_is_a_break(void **state)
{
    struct history h = counter(NAN, 0), g = gauge(QUANTITY_POWER_W);

    (void)state;
    put(&h, 10, 1);
    put(&h, 20, 2);
    history_break(&h);
    put(&h, 30, 9);
    assert_int_equal(newest(&h)->flags, TICK_BREAK);
    assert_near(newest(&h)->value, 1, 0);
    put(&h, 40, 10);
    assert_near(newest(&h)->value, 2, 0);
    put(&g, 10, 5);
    history_break(&g);
    put(&g, 20, 5);
    assert_int_equal(g.end, 2);
    assert_int_equal(newest(&g)->flags, TICK_BREAK);
    history_release(&h);
    history_release(&g);
}

static void ranges_have_margins(void **state)
{
    struct history h = counter(NAN, 0);
    uint64_t from, to;

    (void)state;
    history_range(&h, 0, 100 * MS, &from, &to);
    assert_int_equal(from, 0);
    assert_int_equal(to, 0);
    for (int i = 0; i < 1000; i++)
        put(&h, 10 + 10 * i, i);
    /* tick i lies in (10 i, 10 i + 11] */
    history_range(&h, 5005 * MS, 5007 * MS, &from, &to);
    assert_int_equal(from, 500 - SERIES_MARGIN);
    assert_int_equal(to, 501 + SERIES_MARGIN);
    history_range(&h, 0, 15 * MS, &from, &to);
    assert_int_equal(from, 0);
    assert_int_equal(to, 2 + SERIES_MARGIN);
    history_range(&h, 20000 * MS, 30000 * MS, &from, &to);
    assert_int_equal(from, 1000 - SERIES_MARGIN);
    assert_int_equal(to, 1000);
    history_release(&h);
}

static void forgetting_keeps_memory_flat(void **state)
{
    struct history h = counter(NAN, 0);
    size_t blocks = 0;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        put(&h, 10 + 10 * i, i);
        if (i % 1000 == 999)
            history_forget(&h, (10 * i - 100) * MS);
        if (i == 5000)
            blocks = h.n_blocks;
    }
    assert_true(h.n_blocks <= blocks + 1);
    assert_true(h.cap_blocks <= 16);
    assert_int_equal(h.end, 100000);
    assert_true(h.end - h.first < 20 && h.end - h.first >= SERIES_MARGIN);
    for (uint64_t n = h.first; n < h.end; n++)
        assert_near(history_tick(&h, n)->value, (double)n, 0);
    history_forget(&h, MONO_NEVER);
    assert_int_equal(h.end - h.first, SERIES_MARGIN);
    put(&h, 2000000, 100001);
    assert_near(newest(&h)->value, 100001, 0);
    history_release(&h);
}

static void gaps_are_forgotten_too(void **state)
{
    struct history h = counter(NAN, 0);

    (void)state;
    for (int i = 0; i < 1000; i++)
        put(&h, 10 + 1000 * i, i);
    assert_int_equal(h.n_gaps, 999);
    history_forget(&h, 990000 * MS);
    assert_in_range(h.n_gaps, 10, 15);
    assert_int_equal(h.gaps[h.n_gaps - 1].to, 999010 * MS);
    history_release(&h);
}

static void nothing_untaken_is_forgotten(void **state)
{
    struct history h = counter(NAN, 0);

    (void)state;
    for (int i = 0; i < 1000; i++)
        put(&h, 10 + 10 * i, i);
    h.taking = true;
    h.taken = 100;
    history_forget(&h, 9000 * MS);
    assert_int_equal(h.first, 100);
    h.taken = 1000;
    history_forget(&h, 9000 * MS);
    assert_int_equal(h.first, 899 - SERIES_MARGIN);
    history_release(&h);
}

static void a_growing_tick_is_not_takable(void **state)
{
    struct history g = gauge(QUANTITY_POWER_W), c = counter(NAN, 0);

    (void)state;
    assert_int_equal(history_takable(&g), 0);
    put(&g, 10, 1);
    assert_int_equal(history_takable(&g), 0);
    put(&g, 20, 2);
    assert_int_equal(history_takable(&g), 1);
    put(&c, 10, 1);
    assert_int_equal(history_takable(&c), 1);
    history_release(&g);
    history_release(&c);
}

static void medians_are_of_the_recent(void **state)
{
    struct history h = counter(NAN, 0);

    (void)state;
    assert_int_equal(history_refresh(&h), 0);
    assert_int_equal(history_read_ns(&h), 0);
    for (int i = 0; i < 400; i++)
        put(&h, 10 + 10 * i, i / 10); /* renewed each 100 ms */
    assert_in_range(history_refresh(&h), 99 * MS, 101 * MS);
    assert_int_equal(history_read_ns(&h), MS);
    history_release(&h);
}

static void three_ticks_or_one_value_must_follow(void **state)
{
    struct history h = counter(NAN, 0), g = gauge(QUANTITY_POWER_W);

    (void)state;
    assert_int_equal(history_followed(&h), MONO_ABSENT);
    put(&h, 10, 1);
    put(&h, 20, 2);
    assert_int_equal(history_followed(&h), MONO_ABSENT);
    put(&h, 30, 3);
    assert_int_equal(history_followed(&h), MONO_ABSENT);
    put(&h, 40, 3);
    put(&h, 50, 4);
    assert_int_equal(history_followed(&h), 10 * MS);
    put(&h, 60, 5);
    assert_int_equal(history_followed(&h), 20 * MS);
    assert_int_equal(history_followed(&g), MONO_ABSENT);
    put(&g, 10, 1);
    assert_int_equal(history_followed(&g), 10 * MS);
    put(&g, 20, 1);
    assert_int_equal(history_followed(&g), 20 * MS);
    history_release(&h);
    history_release(&g);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(only_changes_are_ticks),
    cmocka_unit_test(times_never_fall),
    cmocka_unit_test(a_fast_source_changed_shortly_before_the_read),
    cmocka_unit_test(wraps_are_undone),
    cmocka_unit_test(a_reset_is_a_break_and_not_energy),
    cmocka_unit_test(an_absurd_leap_is_a_break),
    cmocka_unit_test(a_step_holds_a_whole_refresh),
    cmocka_unit_test(silence_long_enough_to_wrap_is_a_break),
    cmocka_unit_test(impossible_values_are_refused),
    cmocka_unit_test(every_quantity_has_its_limits),
    cmocka_unit_test(what_is_told_twice_is_ignored),
    cmocka_unit_test(gauge_ticks_grow_while_the_value_stands),
    cmocka_unit_test(silence_is_a_gap),
    cmocka_unit_test(sleep_is_a_break),
    cmocka_unit_test(ranges_have_margins),
    cmocka_unit_test(forgetting_keeps_memory_flat),
    cmocka_unit_test(gaps_are_forgotten_too),
    cmocka_unit_test(nothing_untaken_is_forgotten),
    cmocka_unit_test(a_growing_tick_is_not_takable),
    cmocka_unit_test(medians_are_of_the_recent),
    cmocka_unit_test(three_ticks_or_one_value_must_follow),
};
TEST_MAIN(tests)
