#include "harness.h"

#include "record/energy.h"
#include "simrun.h"

#include <stdbool.h>

#define MS NS_PER_MS

static const struct channel joules = {.quantity = QUANTITY_ENERGY_J, .range = NAN, .quantum = NAN};
static const struct channel watts = {.quantity = QUANTITY_POWER_W, .range = NAN, .quantum = NAN};

/* A change known to the nanosecond. */
static void edge(struct series *s, mono_ns ms, double value)
{
    series_add(s, (struct tick){.after = ms * MS - 1, .seen = ms * MS, .at = ms * MS, value, 0});
}

static void level(struct series *s, mono_ns ms, double value)
{
    series_add(s, (struct tick){ms * MS - 1, ms * MS, ms * MS, value, TICK_BREAK});
}

static void shown(struct series *s, mono_ns from_ms, mono_ns to_ms, double value)
{
    series_add(s, (struct tick){.after = from_ms * MS,
                                .seen = to_ms * MS,
                                .at = (from_ms + to_ms) * MS / 2,
                                .value = value});
}

/* Ticks every 100 ms whose cells have these powers, after a level 50 ms before the first. */
static struct series cells(const double *power_w, size_t n)
{
    struct series s = {.read_from = 40 * MS, .period_ns = 20 * MS};
    double sum = 10;

    level(&s, 50, 0);
    edge(&s, 100, sum);
    for (size_t i = 0; i < n; i++)
        edge(&s, 200 + 100 * (mono_ns)i, sum += power_w[i] * 0.1);
    s.read_until = (100 + 100 * (mono_ns)n) * MS;
    return s;
}

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

/* Random numbers in a row. */
struct dice {
    uint64_t seed, thrown;
};

static double throw(struct dice * d, double low, double high)
{
    return low + (high - low) * sim_uniform(d->seed, d->thrown++);
}

static void random_power(struct dice *d, struct simcurve *p)
{
    double low_w = throw(d, 0, 80), high_w = throw(d, 100, 700), dwell_s = throw(d, 0.002, 2);
    double lag_s = throw(d, -0.05, 0.05);
    char spec[96];

    snprintf(spec, sizeof(spec), "steps:%.3f,%.3f,%.4f,%d,%.4f", low_w, high_w, dwell_s,
             (int) throw(d, 0, 1e6), lag_s);
    assert_int_equal(simcurve_parse(p, spec), 0);
    if (throw(d, 0, 1) < 0.3) {
        /* no more than keeps the sum positive */
        p->sine_w = p->watts[0];
        for (size_t i = 0; i < p->n; i++)
            p->sine_w = fmin(p->sine_w, fmin(p->watts[i], p->start_w[i]));
        p->sine_s = throw(d, 0.05, 3);
    }
}

static void random_counter(struct dice *d, struct simcounter *c)
{
    static const double quanta[] = {0, 0, 1.0 / 65536, 1e-3, 0.25};

    c->epoch = NS_PER_S;
    c->seed = d->seed;
    c->refresh_ns = (mono_ns)(1e6 * exp(throw(d, 0, 6)));
    if (throw(d, 0, 1) < 0.5)
        c->jitter_ns = (mono_ns)(throw(d, 0, 0.49) * (double)c->refresh_ns);
    c->phase_ns = (mono_ns) throw(d, 0, (double)c->refresh_ns);
    c->quantum_j = quanta[(int) throw(d, 0, 5)];
    if (throw(d, 0, 1) < 0.5)
        c->range_j = 1024 * floor(throw(d, 2, 60));
    c->offset_j = throw(d, 0, c->range_j > 0 ? c->range_j : 1e6);
}

static struct simrun_options random_reader(struct dice *d, const struct simcounter *c)
{
    return (struct simrun_options){
        .seed = d->seed,
        .period_ns = (mono_ns)(1e6 * exp(throw(d, 0, 4))),
        .late_ns = (mono_ns) throw(d, 0, 3e5),
        .stall_ns = (mono_ns) throw(d, 0, 6e7),
        .read_ns = (mono_ns) throw(d, 0, 2e6),
        .documented_ns = d->seed % 2 ? 0 : c->refresh_ns,
        .fixed = d->seed % 5 == 0,
    };
}

static bool within(const struct energy *e, double value, double slack)
{
    return e->low_j <= value + slack && !(e->high_j < value - slack);
}

/* True when the window's energy was known. */
static bool check_window(const struct channel *ch, const struct series *s,
                         const struct simcounter *c, mono_ns a, mono_ns m, mono_ns b)
{
    struct energy e = energy_of_window(ch, s, a, b), x, y;
    double truth = simcounter_joules(c, a, b), slack = 1e-9 * (1 + c->offset_j);
    struct stat4 f = stats_of_window(ch, s, a, b);

    if (isnan(e.joules)) {
        assert_true(isnan(e.low_j) && isnan(e.high_j));
        return false;
    }
    if (!within(&e, truth, slack) || !within(&e, e.joules, slack))
        fail_msg("seed %ju: truth %.9g or estimate %.9g not in [%.9g, %.9g]", (uintmax_t)c->seed,
                 truth, e.joules, e.low_j, e.high_j);
    x = energy_of_window(ch, s, a, m);
    y = energy_of_window(ch, s, m, b);
    assert_true(!(x.joules < -slack) && !(y.joules < -slack));
    if (!isnan(x.joules) && !isnan(y.joules))
        assert_near(x.joules + y.joules, e.joules, slack);
    assert_true(f.min <= f.avg && f.avg <= f.max && f.min <= f.median && f.median <= f.max);
    return true;
}

/* Random machines, counters and ways of reading them; in virtual time. */
static void the_truth_is_always_inside_the_bounds(void **state)
{
    int known = 0, windows = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct dice d = {seed, 0};
        struct channel ch = joules;
        struct simcurve p;
        struct simcounter c = {.power = &p};
        struct simrun_options o;
        struct series s = {0};
        struct simrun r;

        random_power(&d, &p);
        random_counter(&d, &c);
        o = random_reader(&d, &c);
        ch.quantum = c.quantum_j;
        simrun_init(&r, &o, &c, 1, 2 * NS_PER_S);
        simrun_until(&r, 9 * NS_PER_S);
        for (int i = 0; i < 20; i++) {
            mono_ns a = s_to_ns(throw(&d, 2, 8)), b = a + s_to_ns(exp(throw(&d, -7, 0)));
            mono_ns m = a + (mono_ns)(throw(&d, 0, 1) * (double)(b - a));

            simrun_copy(&r, 0, a, b, &s);
            known += check_window(&ch, &s, &c, a, m, b);
            windows++;
        }
        series_release(&s);
        simrun_release(&r);
        simcurve_release(&p);
    }
    assert_true(known > windows * 9 / 10);
}

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* The goal of the design: see bench_energy for more of it. */
static void the_error_goal_is_met(void **state)
{
    static const char *const specs[] = {"steps:60,350,0.7,5,0.02", "square:60,300,1.7,0.6,0.02",
                                        "sine:200,120,1"};
    enum { QUERIES = 400 };

    (void)state;
    for (size_t k = 0; k < sizeof(specs) / sizeof(*specs); k++) {
        struct simcurve p;
        struct simcounter c = {
            .power = &p, .epoch = NS_PER_S, .refresh_ns = 100 * MS, .phase_ns = 31 * MS};
        struct simrun_options o = {.period_ns = 20 * MS,
                                   .late_ns = 100 * NS_PER_US,
                                   .stall_ns = 5 * MS,
                                   .read_ns = 50 * NS_PER_US};
        struct series s = {0};
        struct simrun r;
        double error[QUERIES];

        simcurve_parse(&p, specs[k]);
        simrun_init(&r, &o, &c, 1, 2 * NS_PER_S);
        simrun_until(&r, 600 * NS_PER_S);
        for (int i = 0; i < QUERIES; i++) {
            mono_ns a = s_to_ns(5 + 590 * sim_uniform(77, 2 * (uint64_t)i));
            mono_ns b = a + s_to_ns(0.5 + sim_uniform(77, 2 * (uint64_t)i + 1));
            double truth = simcounter_joules(&c, a, b);

            simrun_copy(&r, 0, a, b, &s);
            error[i] = fabs(energy_of_window(&joules, &s, a, b).joules - truth) / truth;
        }
        qsort(error, QUERIES, sizeof(*error), compare_doubles);
        assert_true(error[QUERIES / 2] <= 0.005);
        assert_true(error[QUERIES * 95 / 100] <= 0.015);
        series_release(&s);
        simrun_release(&r);
        simcurve_release(&p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(steady_power_is_exact),
    cmocka_unit_test(a_window_within_one_tick_is_known),
    cmocka_unit_test(a_step_inside_a_tick_is_placed_where_it_was),
    cmocka_unit_test(a_ramp_is_followed),
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
    cmocka_unit_test(gauge_figures_are_weighted_by_time),
    cmocka_unit_test(gauge_figures_of_a_short_window_are_the_nearest),
    cmocka_unit_test(counter_figures_are_of_the_power),
    cmocka_unit_test(uncertain_times_make_no_false_peaks),
    cmocka_unit_test(the_truth_is_always_inside_the_bounds),
    cmocka_unit_test(the_error_goal_is_met),
};
TEST_MAIN(tests)
