#include "harness.h"

#include "simrun.h"

#define MS NS_PER_MS

/* What the sampler made of a counter between two times. */
struct outcome {
    double reads_per_s;
    double width_ms;  /* mean, of the interval that a change is known to lie in */
    double off_ms;    /* mean, of the guess within it */
    uint64_t changes; /* seen */
};

static struct outcome run_between(struct simrun *r, mono_ns from, mono_ns to)
{
    const struct history *h = &r->histories[0];
    struct outcome o = {0};
    uint64_t rounds, first;

    simrun_until(r, from);
    rounds = r->rounds;
    first = h->end;
    simrun_until(r, to);
    for (uint64_t n = first; n < h->end; n++) {
        const struct tick *t = history_tick(h, n);
        /* it may have been renewed once more while it was being read */
        mono_ns late = simcounter_refreshed(&r->counters[0], t->seen);
        mono_ns early = simcounter_refreshed(&r->counters[0], t->seen - r->options.read_ns);
        double off = fmin(fabs((double)(t->at - late)), fabs((double)(t->at - early)));

        assert_true(t->after < t->at && t->at <= t->seen);
        o.width_ms += (double)(t->seen - t->after) / 1e6;
        o.off_ms += off / 1e6;
    }
    o.changes = h->end - first;
    o.width_ms /= (double)o.changes;
    o.off_ms /= (double)o.changes;
    o.reads_per_s = (double)(r->rounds - rounds) / ns_to_s(to - from);
    return o;
}

static struct outcome observe(struct simrun_options o, struct simcounter c)
{
    struct simcurve p;
    struct simrun r;
    struct outcome result;

    simcurve_parse(&p, "sine:200,80,3");
    c.power = &p;
    c.epoch = NS_PER_S;
    o.late_ns = o.late_ns ? o.late_ns : 100 * NS_PER_US;
    simrun_init(&r, &o, &c, 1, 2 * NS_PER_S);
    result = run_between(&r, 7 * NS_PER_S, 107 * NS_PER_S);
    simrun_release(&r);
    simcurve_release(&p);
    return result;
}

static void a_rhythm_is_followed_with_fewer_and_sharper_reads(void **state)
{
    struct outcome o = observe((struct simrun_options){.period_ns = 20 * MS, .read_ns = 50000},
                               (struct simcounter){.refresh_ns = 100 * MS, .phase_ns = 37 * MS});

    (void)state;
    assert_in_range(o.changes, 999, 1001);
    assert_true(o.reads_per_s < 40);
    assert_true(o.width_ms < 3);
    assert_true(o.off_ms < 0.6);
}

static void late_wake_ups_do_not_spoil_the_guess(void **state)
{
    struct outcome o = observe(
        (struct simrun_options){.period_ns = 20 * MS, .read_ns = 50000, .stall_ns = 20 * MS},
        (struct simcounter){.refresh_ns = 100 * MS, .phase_ns = 37 * MS});

    (void)state;
    assert_in_range(o.changes, 998, 1001);
    assert_true(o.off_ms < 1);
}

static void an_unsteady_source_is_polled(void **state)
{
    struct outcome o =
        observe((struct simrun_options){.period_ns = 20 * MS, .read_ns = 50000},
                (struct simcounter){.refresh_ns = 100 * MS, .jitter_ns = 30 * MS, .seed = 9});

    (void)state;
    assert_in_range(o.changes, 998, 1002);
    assert_true(o.reads_per_s < 55);
    assert_true(o.width_ms < 23);
    assert_true(o.off_ms < 8);
}

static void a_rhythm_as_fast_as_the_period_is_found(void **state)
{
    struct outcome o = observe((struct simrun_options){.period_ns = 20 * MS, .read_ns = 50000},
                               (struct simcounter){.refresh_ns = 20 * MS, .phase_ns = 7 * MS});

    (void)state;
    assert_in_range(o.changes, 4999, 5001);
    assert_true(o.reads_per_s < 200);
    assert_true(o.width_ms < 3);
    assert_true(o.off_ms < 0.6);
}

static void a_source_known_to_be_fast_gets_the_period_asked_for(void **state)
{
    struct outcome o = observe(
        (struct simrun_options){.period_ns = 20 * MS, .read_ns = 50000, .documented_ns = MS},
        (struct simcounter){.refresh_ns = MS});

    (void)state;
    assert_near(o.reads_per_s, 50, 0.1);
    assert_true(o.off_ms < 0.6); /* a value is at most a refresh old */
}

static void short_periods_are_never_shortened(void **state)
{
    for (mono_ns refresh = MS; refresh <= 8 * MS; refresh *= 2) {
        struct outcome o = observe((struct simrun_options){.period_ns = MS, .read_ns = 5000},
                                   (struct simcounter){.refresh_ns = refresh});

        assert_true(o.reads_per_s < 1001);
    }
    (void)state;
}

static void a_change_of_rhythm_is_followed(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .epoch = NS_PER_S, .refresh_ns = 100 * MS};
    struct simrun_options options = {.period_ns = 20 * MS, .read_ns = 50000, .late_ns = 100000};
    struct simrun r;
    static const mono_ns refresh[] = {50 * MS, 130 * MS, 20 * MS, 100 * MS, 300 * MS};

    (void)state;
    simcurve_parse(&p, "const:200");
    simrun_init(&r, &options, &c, 1, 2 * NS_PER_S);
    simrun_until(&r, 10 * NS_PER_S);
    for (int i = 0; i < 5; i++) {
        struct outcome o;

        c.refresh_ns = refresh[i];
        o = run_between(&r, (i + 1) * 100 * NS_PER_S, (i + 2) * 100 * NS_PER_S - NS_PER_S);
        assert_true(o.width_ms < 4);
        assert_true((double)o.changes > 0.99 * 99e9 / (double)refresh[i]);
    }
    simrun_release(&r);
    simcurve_release(&p);
}

static void many_phases_stay_within_the_budget(void **state)
{
    struct simcurve p;
    struct simcounter c[SIMRUN_MAX];
    struct simrun_options options = {.period_ns = 20 * MS, .read_ns = 5000, .late_ns = 100000};
    struct simrun r;
    struct outcome o;

    (void)state;
    simcurve_parse(&p, "const:200");
    for (size_t i = 0; i < SIMRUN_MAX; i++)
        c[i] = (struct simcounter){.power = &p,
                                   .epoch = NS_PER_S,
                                   .refresh_ns = 100 * MS,
                                   .phase_ns = (mono_ns)(i * 37 * MS) % (100 * MS)};
    simrun_init(&r, &options, c, SIMRUN_MAX, 2 * NS_PER_S);
    o = run_between(&r, 10 * NS_PER_S, 60 * NS_PER_S);
    assert_true(o.reads_per_s <= 201);
    assert_true(o.width_ms < 20);
    simrun_release(&r);
    simcurve_release(&p);
}

static void slow_reads_stretch_the_period(void **state)
{
    struct pace p;
    mono_ns now = 0;

    (void)state;
    pace_init(&p, 20 * MS, false, 0);
    for (int i = 0; i < 100; i++)
        now = pace_next(&p, NULL, 0, now, now + 30 * MS);
    assert_int_equal(pace_period(&p), 120 * MS);
    assert_in_range(p.spacing_ns, 119 * MS, 121 * MS);
    /* a single slow one does not */
    pace_init(&p, 20 * MS, false, 0);
    for (int i = 0; i < 5; i++)
        now = pace_next(&p, NULL, 0, now, now + MS);
    pace_next(&p, NULL, 0, now, now + 500 * MS);
    assert_int_equal(pace_period(&p), 20 * MS);
}

static void extra_reads_are_not_made_when_reads_are_dear(void **state)
{
    /* 2 ms a read: 5 % of the time is 25 reads a second, the period asked for is 50 */
    struct outcome o = observe((struct simrun_options){.period_ns = 20 * MS, .read_ns = 2 * MS},
                               (struct simcounter){.refresh_ns = 20 * MS});

    (void)state;
    assert_true(o.reads_per_s < 52);
}

static void a_fixed_period_keeps_to_its_grid(void **state)
{
    struct phase known = {0};
    struct pace_need need = {&known, 0};
    struct pace p;
    mono_ns deadline = 1000;

    (void)state;
    pace_init(&p, 20 * MS, true, 1000);
    for (int i = 1; i <= 100; i++) {
        deadline = pace_next(&p, &need, 1, deadline + MS, deadline + 2 * MS);
        assert_int_equal(deadline, 1000 + i * 20 * MS);
    }
    /* a slow read leaves some out but stays on the grid */
    deadline = pace_next(&p, &need, 1, deadline + MS, deadline + 50 * MS);
    assert_int_equal(deadline, 1000 + 103 * 20 * MS);
    /* a very late wake-up starts a new one */
    deadline = pace_next(&p, &need, 1, deadline + 15 * MS, deadline + 16 * MS);
    assert_int_equal(deadline, 1000 + 104 * 20 * MS + 15 * MS);
}

static void gauges_keep_the_source_at_the_period_or_half_the_refresh(void **state)
{
    struct pace_need quick = {NULL, 0}, slow = {NULL, 100 * MS};
    struct pace p;

    (void)state;
    pace_init(&p, 20 * MS, false, 0);
    assert_int_equal(pace_next(&p, &quick, 1, 0, 1000), 20 * MS);
    pace_init(&p, 20 * MS, false, 0);
    assert_int_equal(pace_next(&p, &slow, 1, 0, 1000), 50 * MS);
}

static void retries_wait_longer_and_longer(void **state)
{
    struct pace p;
    mono_ns total = 0;

    (void)state;
    pace_init(&p, 20 * MS, false, 0);
    assert_int_equal(pace_retry(&p, 1, 7), 7 + 20 * MS);
    assert_int_equal(pace_retry(&p, 2, 7), 7 + 40 * MS);
    assert_int_equal(pace_retry(&p, 10, 7), 7 + NS_PER_S);
    for (int i = 1; i < 10; i++)
        total += pace_retry(&p, i, 0);
    assert_in_range(total, 3 * NS_PER_S, 5 * NS_PER_S);
    pace_init(&p, 5 * NS_PER_S, false, 0);
    assert_int_equal(pace_retry(&p, 10, 0), 5 * NS_PER_S);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_rhythm_is_followed_with_fewer_and_sharper_reads),
    cmocka_unit_test(late_wake_ups_do_not_spoil_the_guess),
    cmocka_unit_test(an_unsteady_source_is_polled),
    cmocka_unit_test(a_rhythm_as_fast_as_the_period_is_found),
    cmocka_unit_test(a_source_known_to_be_fast_gets_the_period_asked_for),
    cmocka_unit_test(short_periods_are_never_shortened),
    cmocka_unit_test(a_change_of_rhythm_is_followed),
    cmocka_unit_test(many_phases_stay_within_the_budget),
    cmocka_unit_test(slow_reads_stretch_the_period),
    cmocka_unit_test(extra_reads_are_not_made_when_reads_are_dear),
    cmocka_unit_test(a_fixed_period_keeps_to_its_grid),
    cmocka_unit_test(gauges_keep_the_source_at_the_period_or_half_the_refresh),
    cmocka_unit_test(retries_wait_longer_and_longer),
};
TEST_MAIN(tests)
