/* The real threads and the real clock, over simulated sources. Times are asserted only where they
 * are orders of magnitude apart: the machine may be busy. */
#include "harness.h"

#include "base/alloc.h"
#include "record/energy.h"
#include "simsource.h"
#include "telemetry/sampler.h"
#include "telemetry/source.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#define MS NS_PER_MS

static const struct telemetry_env env = {.sysfs_root = "/nonexistent"};

static struct sampler *sampler_of(struct simsource *a, struct simsource *b, mono_ns period_ns)
{
    struct sampler *s = sampler_new(&(struct sampler_options){.period_ns = period_ns});
    struct err err = {0};

    simsource_next(a);
    assert_ok(sampler_add(s, &simsource_ops, &env, &err), &err);
    if (b) {
        simsource_next(b);
        assert_ok(sampler_add(s, &simsource_ops, &env, &err), &err);
    }
    return s;
}

static void start(struct sampler *s)
{
    struct err err = {0};

    assert_ok(sampler_start(s, &err), &err);
}

static void sleep_ms(int64_t ms)
{
    mono_ns until = mono_now() + ms * MS;

    while (mono_now() < until)
        mono_sleep_until(until);
}

static struct sampler_channel_stats stats_of(struct sampler *s, size_t channel)
{
    struct sampler_channel_stats r;

    sampler_stats(s, channel, &r);
    return r;
}

/* Waits until a message contains `part`; fails after 20 s. */
static void expect_message(struct sampler *s, const char *part)
{
    mono_ns deadline = mono_now() + 20 * NS_PER_S;
    char text[512];

    while (mono_now() < deadline) {
        while (sampler_message(s, text, sizeof(text)))
            if (strstr(text, part))
                return;
        sleep_ms(2);
    }
    fail_msg("no message about \"%s\"", part);
}

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
        .power = &p, .refresh_ns = 100 * MS, .quantum_j = 1e-3, .range_j = 1000, .offset_j = 900};
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

static bool always(struct simsource *self, int64_t read)
{
    (void)self;
    (void)read;
    return true;
}

static bool from_20_to_24(struct simsource *self, int64_t read)
{
    (void)self;
    return read >= 20 && read < 24;
}

static void a_failing_source_is_dropped_with_its_words(void **state)
{
    struct simcurve p;
    struct simcounter c[2] = {{.power = &p, .refresh_ns = MS}, {.power = &p, .refresh_ns = MS}};
    struct simsource good = {.counters = c, .n_counters = 1};
    struct simsource bad = {.counters = c + 1, .n_counters = 1, .fails = always};
    struct series series = {0};
    struct sampler *s;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&good, &bad, MS);
    start(s);
    expect_message(s, "simulated: dropped: 10 reads in a row failed: simulated failure");
    assert_int_equal(atomic_load(&bad.reads), SAMPLER_FAILURES_MAX);
    assert_true(stats_of(s, 1).dropped);
    assert_false(stats_of(s, 0).dropped);
    assert_int_equal(stats_of(s, 1).failed_reads, SAMPLER_FAILURES_MAX);
    assert_true(isnan(stats_of(s, 1).last));
    assert_int_equal(sampler_wait(s, mono_now(), mono_now() + 10 * NS_PER_S), 0);
    sampler_copy(s, 1, 0, MONO_NEVER, &series);
    assert_int_equal(series.n_ticks, 0);
    assert_int_equal(series.n_gaps, 1);
    assert_int_equal(series.gaps[0].to, MONO_NEVER);
    assert_near(series_coverage(&series, mono_now() - MS, mono_now(), NULL), 0, 0);
    series_release(&series);
    sampler_free(s);
    simcurve_release(&p);
}

static void a_source_that_recovers_goes_on(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = MS};
    struct simsource sim = {.counters = &c, .n_counters = 1, .fails = from_20_to_24};
    struct series series = {0};
    struct sampler *s;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&sim, NULL, 10 * MS);
    start(s);
    while (atomic_load(&sim.reads) < 60)
        sleep_ms(5);
    sampler_stop(s);
    assert_int_equal(stats_of(s, 0).failed_reads, 4);
    assert_false(stats_of(s, 0).dropped);
    sampler_copy(s, 0, 0, MONO_NEVER, &series);
    assert_true(series.n_gaps >= 1); /* 10 + 20 + 40 + 80 ms */
    for (size_t i = 1; i < series.n_ticks; i++)
        assert_int_equal(series.ticks[i].flags, 0);
    series_release(&series);
    sampler_free(s);
    simcurve_release(&p);
}

/* Runs on the sampling thread. */
static double bad_values(struct simsource *self, size_t channel, int64_t read, double value)
{
    (void)self;
    (void)channel;
    switch (read) {
    case 10:
        return NAN;
    case 11:
        return -3;
    case 12:
        return INFINITY;
    case 13:
        return 1e300;
    default:
        return read >= 30 && read % 5 == 0 ? value / 2 : value;
    }
}

static void garbage_is_absent_and_resets_are_told_once(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .refresh_ns = MS, .offset_j = 1e5};
    struct simsource sim = {.counters = &c, .n_counters = 1, .twist = bad_values};
    struct series series = {0};
    struct sampler *s;
    char text[256];
    int told = 0;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&sim, NULL, 2 * MS);
    start(s);
    while (atomic_load(&sim.reads) < 101)
        sleep_ms(2);
    sampler_stop(s);
    assert_int_equal(stats_of(s, 0).failed_reads, 4);
    assert_true(stats_of(s, 0).resets >= 14);
    while (sampler_message(s, text, sizeof(text)))
        told += strstr(text, "counter-0 went backwards") != NULL;
    assert_int_equal(told, 1);
    sampler_copy(s, 0, 0, MONO_NEVER, &series);
    for (size_t i = 1; i < series.n_ticks; i++) {
        assert_true(series.ticks[i].value >= series.ticks[i - 1].value);
        assert_true(series.ticks[i].value < 1000);
    }
    series_release(&series);
    sampler_free(s);
    simcurve_release(&p);
}

static double second_vanishes(struct simsource *self, size_t channel, int64_t read, double value)
{
    (void)self;
    return channel == 1 && read > 5 ? NAN : value;
}

static void a_vanished_channel_holds_nothing_up(void **state)
{
    struct simcurve p;
    struct simcounter c[2] = {{.power = &p, .refresh_ns = MS}, {.power = &p, .refresh_ns = MS}};
    struct simsource sim = {.counters = c, .n_counters = 2, .twist = second_vanishes};
    struct series series = {0};
    struct sampler *s;
    mono_ns t;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&sim, NULL, 10 * MS);
    start(s);
    sleep_ms(300);
    t = mono_now();
    assert_int_equal(sampler_wait(s, t, t + 10 * NS_PER_S), 0);
    sampler_copy(s, 0, t - 100 * MS, t, &series);
    assert_false(isnan(energy_at(&series, t)));
    sampler_copy(s, 1, t - 100 * MS, t, &series);
    assert_true(isnan(energy_at(&series, t)));
    assert_false(stats_of(s, 1).dropped);
    assert_true(stats_of(s, 1).failed_reads > 5);
    expect_message(s, "counter-1:");
    series_release(&series);
    sampler_free(s);
    simcurve_release(&p);
}

/* The abandoned thread may touch these until it has closed. */
static struct simcurve hung_power;
static struct simcounter hung_counter = {.power = &hung_power, .refresh_ns = MS};
static struct simsource hung = {.counters = &hung_counter, .n_counters = 1};

static void a_hanging_source_delays_nobody(void **state)
{
    struct simcounter c = {.power = &hung_power, .refresh_ns = MS};
    struct simsource good = {.counters = &c, .n_counters = 1};
    struct sampler *s;
    int64_t reads;
    mono_ns t;

    (void)state;
    simcurve_parse(&hung_power, "const:50");
    s = sampler_of(&hung, &good, 5 * MS);
    start(s);
    sleep_ms(50);
    atomic_store(&hung.hang, true);
    sleep_ms(50);
    reads = atomic_load(&good.reads);
    sleep_ms(500);
    assert_true(atomic_load(&good.reads) > reads + 20);
    t = mono_now();
    assert_int_equal(sampler_wait(s, t, t + 200 * MS), -ETIMEDOUT);
    assert_int_equal(sampler_wait(s, t, t + 20 * NS_PER_S), 0); /* dropped: no more reason to */
    expect_message(s, "simulated: dropped: a read has not come back for 5 s");
    assert_true(stats_of(s, 0).dropped);
    assert_false(stats_of(s, 1).dropped);
    t = mono_now();
    sampler_free(s);
    assert_true(mono_now() - t < NS_PER_S);
    assert_int_equal(atomic_load(&hung.closed), 0);
    atomic_store(&hung.hang, false);
    for (t = mono_now(); atomic_load(&hung.closed) == 0;) {
        assert_true(mono_now() - t < 20 * NS_PER_S);
        sleep_ms(1);
    }
    simcurve_release(&hung_power);
}

static void a_read_in_progress_is_waited_for_but_not_for_ever(void **state)
{
    struct sampler *s;
    mono_ns t;

    (void)state;
    simcurve_parse(&hung_power, "const:50");
    atomic_store(&hung.closed, 0);
    atomic_store(&hung.hang, true);
    s = sampler_of(&hung, NULL, 5 * MS);
    start(s);
    sleep_ms(20);
    t = mono_now();
    sampler_stop(s);
    assert_true(mono_now() - t >= SAMPLER_STOP_NS - 20 * MS);
    expect_message(s, "does not come back");
    assert_int_equal(sampler_cpu_ns(s), 0);
    sampler_free(s);
    atomic_store(&hung.hang, false);
    for (t = mono_now(); atomic_load(&hung.closed) == 0;) {
        assert_true(mono_now() - t < 20 * NS_PER_S);
        sleep_ms(1);
    }
    simcurve_release(&hung_power);
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

static char thread_name[16];
static bool signal_blocked;

static double look_at_thread(struct simsource *self, size_t channel, int64_t read, double value)
{
    sigset_t set;

    (void)self;
    (void)channel;
    if (read == 0) {
        pthread_getname_np(pthread_self(), thread_name, sizeof(thread_name));
        pthread_sigmask(SIG_SETMASK, NULL, &set);
        signal_blocked = sigismember(&set, SIGINT) && sigismember(&set, SIGTERM);
    }
    return value;
}

static void threads_are_named_and_deaf_to_signals(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p};
    struct simsource sim = {.counters = &c, .n_counters = 1, .twist = look_at_thread};
    struct sampler *s;
    sigset_t set;

    (void)state;
    simcurve_parse(&p, "const:50");
    s = sampler_of(&sim, NULL, MS);
    start(s);
    while (atomic_load(&sim.reads) < 2)
        sleep_ms(1);
    sampler_free(s);
    assert_string_equal(thread_name, "ipw-simulated");
    assert_true(signal_blocked);
    pthread_sigmask(SIG_SETMASK, NULL, &set);
    assert_false(sigismember(&set, SIGINT));
    simcurve_release(&p);
}

/* A source with a history of its own, and one whose clock is wrong. */
static int ring_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    (void)ret_ctx;
    (void)err;
    for (int i = 0; i < 2; i++)
        collector_add_channel(setup, (struct channel){.quantity = QUANTITY_POWER_W, .range = NAN});
    return 0;
}

static int ring_read(void *ctx, struct sample_sink *out, struct err *err)
{
    mono_ns now = mono_now();

    (void)ctx;
    (void)err;
    for (int i = 1000; i > 0; i--)
        sample_put(out, 0, now - i, now - i, i);
    sample_put(out, 1, now + 3600 * NS_PER_S, now + 3600 * NS_PER_S, 5);
    sample_put(out, 99, now, now, 5);
    return 0;
}

static void ring_close(void *ctx)
{
    (void)ctx;
}

static const struct collector_ops ring_ops = {
    .plugin = {.id = "ring"}, .open = ring_open, .read = ring_read, .close = ring_close};

static struct source *source_of(const struct collector_ops *ops)
{
    struct collector_setup setup = {.env = &env};
    struct source *s = NULL;
    struct err err = {0};

    assert_ok(source_open(ops, &setup, 20 * MS, false, &s, &err), &err);
    collector_setup_release(&setup);
    return s;
}

static void a_source_may_tell_its_own_history(void **state)
{
    struct source *s = source_of(&ring_ops);

    (void)state;
    source_round(s);
    assert_int_equal(s->histories[0].end, 1000);
    assert_near(history_tick(&s->histories[0], 0)->value, 1000, 0);
    assert_int_equal(s->histories[1].end, 0);
    assert_int_equal(s->histories[1].failed_reads, 1);
    source_close(s);
}

static void a_sleep_of_the_machine_is_a_break(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p};
    struct simsource sim = {.counters = &c, .n_counters = 1};
    struct source *s;

    (void)state;
    simcurve_parse(&p, "const:1e4");
    simsource_next(&sim);
    s = source_of(&simsource_ops);
    for (int i = 0; i < 3; i++)
        source_round(s);
    assert_int_equal(s->histories[0].end, 3);
    assert_int_equal(s->n_messages, 0);
    s->suspended_ns -= 10 * NS_PER_S; /* as if it had been asleep since */
    source_round(s);
    assert_int_equal(history_tick(&s->histories[0], 3)->flags, TICK_BREAK);
    assert_int_equal(s->n_messages, 1);
    assert_string_equal(s->messages[0],
                        "simulated: the machine slept for 10 s; energy across that is not known");
    source_round(s);
    assert_int_equal(history_tick(&s->histories[0], 4)->flags, 0);
    source_close(s);
    simcurve_release(&p);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(tables_are_joined),
    cmocka_unit_test(windows_hold_the_truth),
    cmocka_unit_test(waiting_has_an_end),
    cmocka_unit_test(a_still_counter_is_not_waited_for_long),
    cmocka_unit_test(stopping_does_not_wait_for_the_period),
    cmocka_unit_test(a_failing_source_is_dropped_with_its_words),
    cmocka_unit_test(a_source_that_recovers_goes_on),
    cmocka_unit_test(garbage_is_absent_and_resets_are_told_once),
    cmocka_unit_test(a_vanished_channel_holds_nothing_up),
    cmocka_unit_test(a_hanging_source_delays_nobody),
    cmocka_unit_test(a_read_in_progress_is_waited_for_but_not_for_ever),
    cmocka_unit_test(ticks_are_taken_once_and_in_order),
    cmocka_unit_test(a_long_window_is_whole),
    cmocka_unit_test(others_may_read_meanwhile),
    cmocka_unit_test(threads_are_named_and_deaf_to_signals),
    cmocka_unit_test(a_source_may_tell_its_own_history),
    cmocka_unit_test(a_sleep_of_the_machine_is_a_break),
};
TEST_MAIN(tests)
