/* Sources that fail, lie, vanish, hang or tell more than asked, on the real clock. */
#include "harness.h"

#include "record/energy.h"
#include "sampling.h"
#include "telemetry/source.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

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
    cmocka_unit_test(a_failing_source_is_dropped_with_its_words),
    cmocka_unit_test(a_source_that_recovers_goes_on),
    cmocka_unit_test(garbage_is_absent_and_resets_are_told_once),
    cmocka_unit_test(a_vanished_channel_holds_nothing_up),
    cmocka_unit_test(a_hanging_source_delays_nobody),
    cmocka_unit_test(a_read_in_progress_is_waited_for_but_not_for_ever),
    cmocka_unit_test(threads_are_named_and_deaf_to_signals),
    cmocka_unit_test(a_source_may_tell_its_own_history),
    cmocka_unit_test(a_sleep_of_the_machine_is_a_break),
};
TEST_MAIN(tests)
