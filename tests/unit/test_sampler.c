/* The real threads and the real clock, over simulated sources. Times are asserted only where they
 * are orders of magnitude apart: the machine may be busy. */
#include "harness.h"

#include "record/energy.h"
#include "sampling.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>

static void tables_are_joined(void **state)
{
    struct simcurve p;
    struct simcounter c[3] = {{.power = &p}, {.power = &p}, {.power = &p, .range_j = 500}};
    struct simsource a = {.counters = c, .n_counters = 2, .note = "package-1 cannot be read"};
    struct simsource b = {.counters = c + 2, .n_counters = 1, .gauge = &p};
    struct simsource broken = {.open_error = ENODEV};
    const struct channel *channels;
    const struct device *devices;
    struct err err = {0};
    struct sampler *s;

    (void)state;
    simcurve_parse(&p, "const:10");
    s = sampler_of(&a, &b, 20 * MS);
    simsource_next(&broken);
    assert_fails(sampler_add(s, &simsource_ops, &env, &err), ENODEV, &err, "cannot open");
    assert_int_equal(sampler_devices(s, &devices), 2);
    assert_int_equal(sampler_channels(s, &channels), 4);
    assert_int_equal(channels[1].device, 0);
    assert_int_equal(channels[2].device, 1);
    assert_int_equal(channels[3].device, 1);
    assert_near(channels[2].range, 500, 0);
    assert_int_equal(channels[3].quantity, QUANTITY_POWER_W);
    assert_string_equal(sampler_collector(s, 3), "simulated");
    assert_string_equal(sampler_system(s)->os_name, "");
    expect_message(s, "simulated: package-1 cannot be read");
    assert_int_equal(sampler_progress(s), MONO_ABSENT);
    sampler_free(s); /* never started */
    assert_int_equal(atomic_load(&a.closed), 1);
    assert_int_equal(atomic_load(&b.closed), 1);
    sampler_free(NULL);
    simcurve_release(&p);
}

static void windows_hold_the_truth(void **state)
{
    struct simcurve p;
    struct simcounter c = {
        .power = &p, .refresh_ns = 100 * MS, .quantum_j = 1e-3, .range_j = 10000, .offset_j = 9900};
    struct simsource sim = {.counters = &c, .n_counters = 1, .gauge = &p, .epoch = 0};
    const struct channel *channels;
    struct series series = {0};
    struct sampler *s;
    mono_ns begin;
    double worst = 0;

    (void)state;
    simcurve_parse(&p, "square:60,300,0.9,0.6,0.02");
    s = sampler_of(&sim, NULL, 20 * MS);
    sampler_channels(s, &channels);
    start(s);
    sleep_ms(400);
    begin = mono_now();
    sleep_ms(4000);
    assert_int_equal(sampler_wait(s, mono_now(), mono_now() + 10 * NS_PER_S), 0);
    for (int i = 0; i < 60; i++) {
        mono_ns a = begin + i * 50 * MS, b = a + 500 * MS + i * 8 * MS;
        double truth = simcounter_joules(&c, a, b);
        struct energy e;

        sampler_copy(s, 0, a, b, &series);
        e = energy_of_window(&channels[0], &series, a, b);
        assert_true(e.low_j <= truth + 1e-6);
        assert_true(e.high_j >= truth - 1e-6);
        worst = fmax(worst, fabs(e.joules / truth - 1));
        assert_near(e.coverage, 1, 0.9);
    }
    assert_true(worst < 0.2); /* bench_energy tells how good; this only that nothing is off */
    assert_true(stats_of(s, 0).ticks >= 40);
    assert_true(stats_of(s, 0).reads > 50);
    assert_int_equal(stats_of(s, 0).resets, 0);
    assert_int_equal(stats_of(s, 0).failed_reads, 0);
    assert_in_range(stats_of(s, 0).refresh_ns, 80 * MS, 120 * MS);
    assert_true(stats_of(s, 1).ticks > 100);
    assert_true(sampler_cpu_ns(s) > 0);
    assert_false(sampler_message(s, (char[8]){0}, 8));
    series_release(&series);
    sampler_free(s);
    simcurve_release(&p);
}

static void waiting_has_an_end(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = 20 * MS};
    struct simsource sim = {.counters = &c, .n_counters = 1};
    struct sampler *s;
    mono_ns t;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&sim, NULL, 5 * MS);
    start(s);
    t = mono_now();
    assert_int_equal(sampler_wait(s, t + 3600 * NS_PER_S, t + 20 * MS), -ETIMEDOUT);
    assert_true(mono_now() >= t + 20 * MS);
    assert_int_equal(sampler_wait(s, t, t + 10 * NS_PER_S), 0);
    assert_true(sampler_progress(s) >= t);
    assert_true(sampler_progress(s) <= mono_now());
    sampler_stop(s);
    assert_int_equal(sampler_progress(s), MONO_NEVER);
    assert_int_equal(sampler_wait(s, t + 3600 * NS_PER_S, t), 0);
    sampler_stop(s);
    sampler_free(s);
    simcurve_release(&p);
}

/* A counter that stands still must not hold anything up. */
static void a_still_counter_is_not_waited_for_long(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = 20 * MS};
    struct simsource sim = {.counters = &c, .n_counters = 1};
    struct sampler *s;
    mono_ns t;

    (void)state;
    simcurve_parse(&p, "const:0");
    s = sampler_of(&sim, NULL, 5 * MS);
    start(s);
    t = mono_now();
    assert_int_equal(sampler_wait(s, t, t + 10 * NS_PER_S), 0);
    assert_true(mono_now() - t < 5 * NS_PER_S);
    sampler_free(s);
    simcurve_release(&p);
}

static void stopping_does_not_wait_for_the_period(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = MS};
    struct simsource sim = {.counters = &c, .n_counters = 1};
    struct sampler *s;
    mono_ns t;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&sim, NULL, 3600 * NS_PER_S);
    start(s);
    while (atomic_load(&sim.reads) == 0)
        sleep_ms(1);
    t = mono_now();
    sampler_free(s);
    assert_true(mono_now() - t < NS_PER_S);
    assert_int_equal(atomic_load(&sim.closed), 1);
    simcurve_release(&p);
}

static void ticks_are_taken_once_and_in_order(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = MS};
    struct simsource sim = {.counters = &c, .n_counters = 1, .gauge = &p};
    struct series series = {0};
    struct tick taken[4096], few[7];
    struct sampler *s;
    size_t n = 0, got;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&sim, NULL, MS);
    start(s);
    assert_int_equal(sampler_take(s, 0, few, 0), 0); /* begins the taking */
    while (atomic_load(&sim.reads) < 500) {
        got = sampler_take(s, 0, few, 7);
        memcpy(taken + n, few, got * sizeof(*few));
        n += got;
        sampler_forget(s, mono_now());
    }
    sampler_stop(s);
    sampler_forget(s, mono_now()); /* what was not taken is still there */
    while ((got = sampler_take(s, 0, taken + n, 4096 - n)) > 0)
        n += got;
    assert_int_equal((int64_t)n, stats_of(s, 0).ticks);
    for (size_t i = 1; i < n; i++)
        assert_true(taken[i].at > taken[i - 1].at && taken[i].value > taken[i - 1].value);
    sampler_forget(s, mono_now());
    sampler_copy(s, 0, 0, MONO_NEVER, &series);
    assert_int_equal(series.n_ticks, SERIES_MARGIN);
    assert_near(series.ticks[SERIES_MARGIN - 1].value, taken[n - 1].value, 0);
    /* the gauge stood still: one tick a second, the last only now */
    assert_true(sampler_take(s, 1, taken, 4096) >= 1);
    assert_int_equal(sampler_take(s, 1, taken, 4096), 0);
    series_release(&series);
    sampler_free(s);
    simcurve_release(&p);
}

/* What was taken is what it is in the end, though a gauge's newest tick grows. */
static void a_taken_tick_is_final(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = MS};
    struct simsource sim = {.counters = &c, .n_counters = 1, .gauge = &p};
    struct series series = {0};
    struct tick taken[4096];
    struct sampler *s;
    size_t n = 0;

    (void)state;
    simcurve_parse(&p, "square:50,60,0.05,0.5"); /* stands still for 25 ms at a time */
    s = sampler_of(&sim, NULL, MS);
    start(s);
    while (atomic_load(&sim.reads) < 300)
        n += sampler_take(s, 1, taken + n, 4096 - n);
    sampler_stop(s);
    n += sampler_take(s, 1, taken + n, 4096 - n);
    sampler_copy(s, 1, 0, MONO_NEVER, &series);
    assert_int_equal(series.n_ticks, n);
    assert_true(n > 5);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(series.ticks[i].seen, taken[i].seen);
        assert_near(series.ticks[i].value, taken[i].value, 0);
    }
    series_release(&series);
    sampler_free(s);
    simcurve_release(&p);
}

static void a_long_window_is_whole(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = 0};
    struct simsource sim = {.counters = &c, .n_counters = 1};
    struct series series = {0};
    struct sampler *s;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&sim, NULL, 200 * NS_PER_US);
    start(s);
    while (atomic_load(&sim.reads) < 3000) {
        sleep_ms(10);
        sampler_copy(s, 0, 0, MONO_NEVER, &series);
    }
    sampler_stop(s);
    sampler_copy(s, 0, 0, MONO_NEVER, &series);
    assert_int_equal((int64_t)series.n_ticks, stats_of(s, 0).ticks);
    assert_true(series.n_ticks >= 3000);
    series_release(&series);
    sampler_free(s);
    simcurve_release(&p);
}

struct reader {
    struct sampler *sampler;
    atomic_bool stop;
    int64_t copies;
};

static void *read_on(void *arg)
{
    struct reader *r = arg;
    struct series series = {0};
    struct tick ticks[64];
    mono_ns progress = MONO_ABSENT;

    while (!atomic_load(&r->stop)) {
        mono_ns now = mono_now(), p;

        sampler_copy(r->sampler, 0, now - 50 * MS, now, &series);
        for (size_t i = 1; i < series.n_ticks; i++)
            if (series.ticks[i].at < series.ticks[i - 1].at)
                abort();
        sampler_take(r->sampler, 0, ticks, 64);
        p = sampler_progress(r->sampler);
        if (p < progress)
            abort();
        progress = p;
        r->copies++;
    }
    series_release(&series);
    return NULL;
}

static void others_may_read_meanwhile(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = MS};
    struct simsource sim = {.counters = &c, .n_counters = 1};
    struct reader r = {0};
    pthread_t thread;

    (void)state;
    simcurve_parse(&p, "const:50");
    r.sampler = sampler_of(&sim, NULL, MS);
    start(r.sampler);
    assert_int_equal(pthread_create(&thread, NULL, read_on, &r), 0);
    while (atomic_load(&sim.reads) < 500) {
        sampler_forget(r.sampler, mono_now() - 100 * MS);
        sampler_cpu_ns(r.sampler);
        stats_of(r.sampler, 0);
        sleep_ms(1);
    }
    sampler_stop(r.sampler);
    atomic_store(&r.stop, true);
    pthread_join(thread, NULL);
    assert_true(r.copies > 10);
    sampler_free(r.sampler);
    simcurve_release(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tables_are_joined),
    cmocka_unit_test(windows_hold_the_truth),
    cmocka_unit_test(waiting_has_an_end),
    cmocka_unit_test(a_still_counter_is_not_waited_for_long),
    cmocka_unit_test(stopping_does_not_wait_for_the_period),
    cmocka_unit_test(ticks_are_taken_once_and_in_order),
    cmocka_unit_test(a_taken_tick_is_final),
    cmocka_unit_test(a_long_window_is_whole),
    cmocka_unit_test(others_may_read_meanwhile),
};
TEST_MAIN(tests)
