#include "harness.h"

#include "record/energy.h"
#include "seriesmake.h"
#include "simcurve.h"

static const struct channel joules = {.quantity = QUANTITY_ENERGY_J, .range = NAN, .quantum = NAN};
static const struct channel watts = {.quantity = QUANTITY_POWER_W, .range = NAN, .quantum = NAN};

static void steady_power_is_exact(void **state)
{
    double w[10] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    struct series s = cells(w, 10);
    struct energy e = energy_of_window(&joules, &s, 333 * MS, 777 * MS);

    (void)state;
    assert_near(e.joules, 44.4, 1e-9);
    assert_near(e.low_j, 30, 1e-9); /* ticks at 400 and 700 ms */
    assert_near(e.high_j, 50, 1e-9);
    assert_int_equal(e.ticks, 4);
    assert_near(e.coverage, 1, 0);
    assert_int_equal(e.gaps, 0);
    assert_near(energy_at(&s, 333 * MS) - energy_at(&s, 300 * MS), 3.3, 1e-9);
    series_release(&s);
}

static void a_window_within_one_tick_is_known(void **state)
{
    double w[6] = {50, 50, 50, 50, 50, 50};
    struct series s = cells(w, 6);
    struct energy e = energy_of_window(&joules, &s, 320 * MS, 360 * MS);

    (void)state;
    assert_near(e.joules, 2, 1e-9);
    assert_near(e.low_j, 0, 0);
    assert_near(e.high_j, 5, 1e-9);
    assert_int_equal(e.ticks, 0);
    e = energy_of_window(&joules, &s, 320 * MS, 320 * MS);
    assert_near(e.joules, 0, 0);
    series_release(&s);
}

static void a_step_inside_a_tick_is_placed_where_it_was(void **state)
{
    /* 60 W until 430 ms, then 300 W until 870 ms, then 60 W */
    double up = 0.3 * 60 + 0.7 * 300, down = 0.7 * 300 + 0.3 * 60;
    double w[10] = {60, 60, 60, up, 300, 300, 300, down, 60, 60};
    struct series s = cells(w, 10);
    struct energy e = energy_of_window(&joules, &s, 430 * MS, 870 * MS);

    (void)state;
    assert_near(e.joules, 0.44 * 300, 1e-9);
    assert_near(energy_at(&s, 410 * MS) - energy_at(&s, 400 * MS), 0.6, 1e-9);
    assert_near(energy_at(&s, 460 * MS) - energy_at(&s, 450 * MS), 3, 1e-9);
    assert_true(e.low_j <= e.joules && e.joules <= e.high_j);
    series_release(&s);
}

static void a_ramp_is_followed(void **state)
{
    double w[10];
    struct series s;

    (void)state;
    for (int i = 0; i < 10; i++)
        w[i] = 100 + 20 * i; /* 200 W/s, 90 W at 100 ms */
    s = cells(w, 10);
    for (int ms = 410; ms < 800; ms += 10) {
        double t = (ms - 100) / 1e3;

        assert_near(energy_at(&s, ms * MS), 10 + 90 * t + 100 * t * t, 1e-9);
    }
    series_release(&s);
}

/* However steeply the power falls or rises, energy does not fall. */
static void energy_never_falls(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        struct series s = {.read_from = 1, .read_until = NS_PER_S};
        double sum = 0, before = 0;
        mono_ns ms = 1;

        level(&s, ms, 0);
        for (uint64_t i = 0; i < 12; i++) {
            ms += 1 + (mono_ns)(sim_hash(seed, 2 * i) % 60);
            sum += exp(-8 * sim_uniform(seed, 2 * i + 1));
            edge(&s, ms, sum);
        }
        for (mono_ns t = s.ticks[1].at; t <= s.ticks[12].at; t += MS / 10) {
            double now = energy_at(&s, t);

            assert_true(now >= before - 1e-12);
            before = now;
        }
        series_release(&s);
    }
}

static void energy_is_final_after_three_ticks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 100; seed++) {
        double w[12], early, late;
        struct series s;

        for (uint64_t i = 0; i < 12; i++)
            w[i] = 500 * sim_uniform(seed, i);
        s = cells(w, 12);
        late = energy_at(&s, 640 * MS);
        s.n_ticks = 10; /* the last at 900 ms */
        early = energy_at(&s, 640 * MS);
        assert_true(early == late);
        series_release(&s);
    }
}

static void a_spike_within_one_tick_is_a_straight_line(void **state)
{
    double w[7] = {60, 60, 60, 500, 60, 60, 60};
    struct series s = cells(w, 7);

    (void)state;
    assert_near(energy_at(&s, 430 * MS) - energy_at(&s, 400 * MS), 15, 1e-9);
    series_release(&s);
}

static void quantum_widens_the_bounds(void **state)
{
    double w[10] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    struct channel c = joules;
    struct series s = cells(w, 10);
    struct energy e;

    (void)state;
    c.quantum = 0.5;
    e = energy_of_window(&c, &s, 333 * MS, 777 * MS);
    assert_near(e.low_j, 29.5, 1e-9);
    assert_near(e.high_j, 50.5, 1e-9);
    c.quantum = 1000;
    e = energy_of_window(&c, &s, 333 * MS, 777 * MS);
    assert_near(e.low_j, 0, 0);
    series_release(&s);
}

static void uncertain_ticks_widen_the_bounds(void **state)
{
    struct series s = {.read_from = 1, .read_until = 1000 * MS};
    struct energy e;

    (void)state;
    level(&s, 10, 0);
    for (int i = 1; i < 10; i++)
        series_add(&s, (struct tick){.after = (100 * i - 20) * MS,
                                     .seen = 100 * i * MS,
                                     .at = (100 * i - 10) * MS,
                                     .value = 10 * i});
    /* 290 lies in the interval of the tick of 30 J, 590 in that of 60 J */
    e = energy_of_window(&joules, &s, 290 * MS, 590 * MS);
    assert_near(e.joules, 30, 1e-9);
    assert_near(e.low_j, 50 - 40, 1e-9);
    assert_near(e.high_j, 70 - 20, 1e-9);
    series_release(&s);
}

static void a_break_inside_makes_it_absent(void **state)
{
    struct series s = {.read_from = 1, .read_until = 1200 * MS};
    struct energy e;

    (void)state;
    level(&s, 10, 0);
    for (int i = 1; i <= 5; i++)
        edge(&s, 100 * i, 10 * i);
    level(&s, 620, 50);
    for (int i = 7; i <= 12; i++)
        edge(&s, 100 * i, 50 + 10 * (i - 6));
    e = energy_of_window(&joules, &s, 250 * MS, 850 * MS);
    assert_true(isnan(e.joules) && isnan(e.low_j) && isnan(e.high_j));
    assert_int_equal(e.gaps, 1);
    e = energy_of_window(&joules, &s, 150 * MS, 450 * MS);
    assert_near(e.joules, 30, 1e-9);
    assert_int_equal(e.gaps, 0);
    e = energy_of_window(&joules, &s, 750 * MS, 1050 * MS);
    assert_near(e.joules, 30, 1e-9);
    /* between the last tick and the reset: on for one tick, no upper bound */
    e = energy_of_window(&joules, &s, 350 * MS, 590 * MS);
    assert_near(e.joules, 24, 1e-9);
    assert_true(isnan(e.high_j));
    assert_near(e.low_j, 10, 1e-9);
    /* starts before the reset, ends before the next change */
    e = energy_of_window(&joules, &s, 350 * MS, 650 * MS);
    assert_true(isnan(e.joules));
    series_release(&s);
}

static void a_gap_costs_coverage_not_energy(void **state)
{
    double w[10] = {100, 100, 100, 100, 100, 100, 100, 100, 100, 100};
    struct series s = cells(w, 10);
    struct energy e;

    (void)state;
    series_add_gap(&s, (struct gap){400 * MS, 500 * MS});
    e = energy_of_window(&joules, &s, 300 * MS, 800 * MS);
    assert_near(e.joules, 50, 1e-9);
    assert_near(e.coverage, 0.8, 1e-12);
    assert_int_equal(e.gaps, 1);
    series_release(&s);
}

static void the_end_of_knowledge_is_respected(void **state)
{
    double w[5] = {100, 100, 100, 100, 100};
    struct series s = cells(w, 5); /* last tick at 600 ms */
    struct energy e;

    (void)state;
    s.read_until = 900 * MS;
    e = energy_of_window(&joules, &s, 350 * MS, 650 * MS);
    assert_near(e.joules, 30, 1e-9);
    assert_near(e.low_j, 20, 1e-9);
    assert_true(isnan(e.high_j));
    /* no more than one tick's time beyond the last */
    e = energy_of_window(&joules, &s, 350 * MS, 850 * MS);
    assert_near(e.joules, 35, 1e-9);
    /* nobody looked */
    e = energy_of_window(&joules, &s, 350 * MS, 950 * MS);
    assert_true(isnan(e.joules));
    assert_near(e.coverage, 550 / 600.0, 1e-12);
    /* nothing measured in it */
    e = energy_of_window(&joules, &s, 610 * MS, 690 * MS);
    assert_true(isnan(e.joules));
    series_release(&s);
}

static void the_beginning_of_knowledge_is_respected(void **state)
{
    double w[5] = {100, 100, 100, 100, 100};
    struct series s = cells(w, 5); /* level 0 J at 50 ms, 10 J at 100 ms */
    struct energy e;

    (void)state;
    e = energy_of_window(&joules, &s, 40 * MS, 350 * MS);
    assert_true(isnan(e.joules));
    e = energy_of_window(&joules, &s, 60 * MS, 350 * MS);
    assert_near(e.joules, 29, 1e-9);
    assert_near(e.low_j, 20, 1e-9);
    assert_near(e.high_j, 40, 1e-9);
    e = energy_of_window(&joules, &s, 60 * MS, 90 * MS);
    assert_true(isnan(e.joules));
    assert_true(isnan(energy_at(&s, 49 * MS)));
    /* the level holds the guess up */
    s.ticks[0].value = 9;
    assert_near(energy_at(&s, 60 * MS), 9, 1e-9);
    series_release(&s);
}

static void nothing_is_absent(void **state)
{
    static const struct channel heat = {.quantity = QUANTITY_TEMPERATURE_C};
    double w[5] = {100, 100, 100, 100, 100};
    struct series s = cells(w, 5), none = {0}, still = {.read_from = 1, .read_until = 9 * NS_PER_S};
    struct energy e;

    (void)state;
    assert_true(isnan(energy_of_window(&joules, &none, 1, 2).joules));
    assert_true(isnan(energy_of_window(&watts, &none, 1, 2).joules));
    assert_true(isnan(energy_at(&none, 5)));
    assert_true(isnan(energy_of_window(&heat, &s, 200 * MS, 300 * MS).joules));
    assert_true(isnan(energy_of_window(&joules, &s, 300 * MS, 200 * MS).joules));
    level(&still, 10, 0); /* a counter that never moves has measured nothing */
    e = energy_of_window(&joules, &still, NS_PER_S, 2 * NS_PER_S);
    assert_true(isnan(e.joules));
    assert_near(e.coverage, 1, 0);
    series_release(&s);
    series_release(&still);
}

static void power_is_integrated_by_trapezoid(void **state)
{
    struct series s = {.read_from = 100 * MS, .read_until = 1100 * MS, .period_ns = 100 * MS};
    struct energy e;

    (void)state;
    for (int i = 1; i <= 11; i++)
        shown(&s, 100 * i, 100 * i, 10.0 * i);
    e = energy_of_window(&watts, &s, 250 * MS, 850 * MS);
    assert_near(e.joules, 0.6 * 55, 1e-9);
    assert_near(e.low_j, 0.05 * 20 + 0.1 * (30 + 40 + 50 + 60 + 70) + 0.05 * 80, 1e-9);
    assert_near(e.high_j, 0.05 * 30 + 0.1 * (40 + 50 + 60 + 70 + 80) + 0.05 * 90, 1e-9);
    assert_int_equal(e.ticks, 6);
    assert_near(e.coverage, 1, 0);
    /* within one line */
    e = energy_of_window(&watts, &s, 320 * MS, 340 * MS);
    assert_near(e.joules, 0.02 * 33, 1e-9);
    series_release(&s);
}

static void power_is_constant_while_it_is_shown(void **state)
{
    struct series s = {.read_from = 100 * MS, .read_until = 1000 * MS, .period_ns = 20 * MS};
    struct energy e;

    (void)state;
    shown(&s, 100, 480, 50);
    shown(&s, 500, 1000, 150);
    e = energy_of_window(&watts, &s, 200 * MS, 800 * MS);
    assert_near(e.joules, 0.28 * 50 + 0.02 * 100 + 0.3 * 150, 1e-9);
    assert_near(e.low_j, 0.3 * 50 + 0.3 * 150, 1e-9);
    assert_near(e.high_j, 0.28 * 50 + 0.32 * 150, 1e-9);
    series_release(&s);
}

static void power_is_held_at_the_edges_but_not_far(void **state)
{
    struct series s = {.read_from = 1000 * MS, .read_until = 2000 * MS, .period_ns = 20 * MS};
    struct energy e;

    (void)state;
    shown(&s, 1000, 2000, 50);
    e = energy_of_window(&watts, &s, 970 * MS, 2000 * MS);
    assert_near(e.joules, 1.03 * 50, 1e-9);
    e = energy_of_window(&watts, &s, 1000 * MS, 2050 * MS);
    assert_near(e.joules, 1.05 * 50, 1e-9);
    /* less than 95 % read */
    e = energy_of_window(&watts, &s, 1900 * MS, 2050 * MS);
    assert_true(isnan(e.joules));
    assert_near(e.coverage, 2.0 / 3, 1e-9);
    s.read_from = 1; /* as after a reset of the source: read, but nothing shown */
    s.read_until = 3000 * MS;
    assert_true(isnan(energy_of_window(&watts, &s, 900 * MS, 2000 * MS).joules));
    assert_true(isnan(energy_of_window(&watts, &s, 1000 * MS, 2100 * MS).joules));
    assert_true(isnan(energy_of_window(&watts, &s, 2100 * MS, 2200 * MS).joules));
    assert_near(energy_of_window(&watts, &s, 2010 * MS, 2050 * MS).joules, 2, 1e-9);
    series_release(&s);
}

static void power_across_a_long_gap_or_a_break_is_absent(void **state)
{
    struct series s = {.read_from = 100 * MS, .read_until = 2000 * MS, .period_ns = 20 * MS};
    struct energy e;

    (void)state;
    shown(&s, 100, 500, 50);
    shown(&s, 540, 2000, 50);
    series_add_gap(&s, (struct gap){500 * MS, 540 * MS});
    e = energy_of_window(&watts, &s, 100 * MS, 1100 * MS); /* 96 % */
    assert_near(e.joules, 50, 1e-9);
    assert_int_equal(e.gaps, 1);
    e = energy_of_window(&watts, &s, 400 * MS, 900 * MS); /* 92 % */
    assert_true(isnan(e.joules));
    s.n_gaps = 0;
    s.ticks[1].flags = TICK_BREAK;
    e = energy_of_window(&watts, &s, 100 * MS, 1100 * MS);
    assert_true(isnan(e.joules));
    assert_int_equal(e.gaps, 1);
    series_release(&s);
}

static void sums_are_absent_if_a_part_is(void **state)
{
    struct energy x = {1, 0.5, 2, 10, 1, 0}, y = {2, 1, NAN, 3, 0.9, 2}, z;

    (void)state;
    z = energy_add(x, y);
    assert_near(z.joules, 3, 0);
    assert_near(z.low_j, 1.5, 0);
    assert_true(isnan(z.high_j));
    assert_int_equal(z.ticks, 3);
    assert_near(z.coverage, 0.9, 0);
    assert_int_equal(z.gaps, 2);
    y.joules = NAN;
    assert_true(isnan(energy_add(x, y).joules));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(steady_power_is_exact),
    cmocka_unit_test(a_window_within_one_tick_is_known),
    cmocka_unit_test(a_step_inside_a_tick_is_placed_where_it_was),
    cmocka_unit_test(a_ramp_is_followed),
    cmocka_unit_test(energy_never_falls),
    cmocka_unit_test(energy_is_final_after_three_ticks),
    cmocka_unit_test(a_spike_within_one_tick_is_a_straight_line),
    cmocka_unit_test(quantum_widens_the_bounds),
    cmocka_unit_test(uncertain_ticks_widen_the_bounds),
    cmocka_unit_test(a_break_inside_makes_it_absent),
    cmocka_unit_test(a_gap_costs_coverage_not_energy),
    cmocka_unit_test(the_end_of_knowledge_is_respected),
    cmocka_unit_test(the_beginning_of_knowledge_is_respected),
    cmocka_unit_test(nothing_is_absent),
    cmocka_unit_test(power_is_integrated_by_trapezoid),
    cmocka_unit_test(power_is_constant_while_it_is_shown),
    cmocka_unit_test(power_is_held_at_the_edges_but_not_far),
    cmocka_unit_test(power_across_a_long_gap_or_a_break_is_absent),
    cmocka_unit_test(sums_are_absent_if_a_part_is),
};
TEST_MAIN(tests)
