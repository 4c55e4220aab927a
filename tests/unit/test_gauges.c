/*
 * Gauges of two GPUs as one machine, from the stand-in for NVML; and the reasons to doubt a record.
 * What changes in time comes from a collector of the test's own, read by the sampler's thread, so
 * that the moment of a change is known.
 */
#include "harness.h"

#include "record/verdict.h"
#include "run/gauges.h"
#include "support/collect.h"

#include <stdatomic.h>

#define GIB ((double)(1ull << 30))
#define MS  NS_PER_MS

static struct err err;

static struct sampler *sampler_of(const struct collector_ops *ops, const struct telemetry_env *env)
{
    struct sampler *s = sampler_new(&(struct sampler_options){.period_ns = 2 * MS});

    assert_ok(sampler_add(s, ops, env, &err), &err);
    assert_ok(sampler_start(s, &err), &err);
    return s;
}

static struct record judged(struct gauges *g, mono_ns a, mono_ns b)
{
    struct record r;

    record_init(&r);
    r.measurement.validity = VALIDITY_VALID;
    gauges_judge(g, a, b, &r);
    return r;
}

/* Waits until every channel has been read so often; the slow ones, once a second, but once. */
static void await_reads(struct sampler *s, int64_t reads)
{
    struct sampler_channel_stats stats;
    const struct channel *channels;
    size_t n = sampler_channels(s, &channels);

    for (size_t i = 0; i < n; i++)
        do {
            mono_sleep_until(mono_now() + 5 * MS);
            sampler_stats(s, i, &stats);
        } while (stats.reads < (channels[i].refresh_ns < NS_PER_S ? reads : 1));
}

/* A window that begins after the first read: where a counter begins is a break too. */
static void read_window(struct sampler *s, mono_ns *ret_a, mono_ns *ret_b)
{
    await_reads(s, 1);
    *ret_a = mono_now();
    await_reads(s, 10);
    *ret_b = mono_now();
}

static void several_gpus_are_one_machine(void **state)
{
    const struct telemetry_env env = {.nvml_lib = FAKES "/fake_nvml.so"};
    struct build_gauges b;
    struct sampler *s;
    struct gauges *g;
    struct record r;
    mono_ns from, to;

    (void)state;
    clear_environment("FAKE_");
    clear_environment("CUDA_");
    setenv("FAKE_NVML_GPUS", "3", 1);
    setenv("FAKE_NVML_PROCESSES", "2", 1);
    s = sampler_of(collector_find("nvml", &err), &env);
    read_window(s, &from, &to);
    g = gauges_new(s, from, to);
    gauges_of_window(g, from, to, &b);
    assert_near(b.gpu_memory_bytes.avg, 3 * GIB, 1);
    assert_near(b.gpu_memory_bytes.max, 3 * GIB, 1);
    assert_near(b.gpu_memory_bytes.median, 3 * GIB, 1);
    assert_near(b.gpu_memory_bytes.min, 3 * GIB, 1);
    assert_near(b.gpu_memory_total_bytes, 240 * GIB, 1);
    assert_near(b.temperature_c.avg, 42, 1e-9); /* 40, 41, 42 */
    assert_near(b.temperature_c.min, 42, 1e-9);
    assert_near(b.compute_pct, 31, 1e-9); /* 30, 31, 32 */
    assert_near(b.memory_bandwidth_pct, 11, 1e-9);
    assert_true(isnan(b.cpu_memory_bytes.avg)); /* nobody looked at the host */
    r = judged(g, from, to);
    assert_int_equal(r.measurement.n_reasons, 0); /* the processes were there before */
    /* a window nobody has read yet has nothing to say */
    gauges_of_window(g, to + 3600 * NS_PER_S, to + 3601 * NS_PER_S, &b);
    assert_true(isnan(b.gpu_memory_bytes.avg) && isnan(b.compute_pct));
    assert_true(isnan(b.temperature_c.max) && isnan(b.gpu_memory_total_bytes));
    gauges_free(g);
    sampler_free(s);
}

static void slowed_by_heat(void **state)
{
    const struct telemetry_env env = {.nvml_lib = FAKES "/fake_nvml.so"};
    struct sampler *s;
    struct gauges *g;
    struct record r;
    mono_ns from, to;

    (void)state;
    clear_environment("FAKE_");
    setenv("FAKE_NVML_REASONS", "32", 1); /* SW thermal slowdown */
    s = sampler_of(collector_find("nvml", &err), &env);
    read_window(s, &from, &to);
    g = gauges_new(s, from, to);
    r = judged(g, from, to);
    assert_true(verdict_has(&r, REASON_THROTTLED));
    assert_int_equal(r.measurement.n_reasons, 1);
    assert_int_equal(r.measurement.validity, VALIDITY_DEGRADED);
    gauges_free(g);
    sampler_free(s);
    clear_environment("FAKE_");
}

/* A collector that shows what the test says. */

enum { SHOWN = 7 };
static const enum quantity quantities[SHOWN] = {
    QUANTITY_THROTTLED, QUANTITY_POWER_LIMIT_W, QUANTITY_FOREIGN_PROCESSES, QUANTITY_ON_BATTERY,
    QUANTITY_ENERGY_J,  QUANTITY_TEMPERATURE_C, QUANTITY_MEMORY_USED_BYTES,
};
static atomic_int shown[SHOWN];
static atomic_int_least64_t rounds;
static enum device_kind shown_on;

static int show_open(struct collector_setup *setup, void **ret_ctx, struct err *e)
{
    size_t d = collector_add_device(setup, (struct device){.kind = shown_on, .name = "shown"});

    (void)e;
    for (size_t i = 0; i < SHOWN; i++)
        collector_add_channel(setup, (struct channel){.quantity = quantities[i],
                                                      .rail = RAIL_GPU,
                                                      .device = d,
                                                      .summed = true,
                                                      .name = "shown",
                                                      .range = NAN,
                                                      .quantum = NAN});
    *ret_ctx = setup;
    return 0;
}

static int show_read(void *ctx, struct sample_sink *out, struct err *e)
{
    (void)ctx;
    (void)e;
    for (size_t i = 0; i < SHOWN; i++) {
        mono_ns before = mono_now();
        int value = atomic_load(&shown[i]);

        sample_put(out, i, before, mono_now(), value);
    }
    atomic_fetch_add(&rounds, 1);
    return 0;
}

static void show_close(void *ctx)
{
    (void)ctx;
}

static const struct collector_ops show_ops = {
    .plugin = {.id = "shown", .help = "what the test says"},
    .open = show_open,
    .read = show_read,
    .close = show_close,
};

static void show(enum quantity q, int value)
{
    for (size_t i = 0; i < SHOWN; i++)
        if (quantities[i] == q)
            atomic_store(&shown[i], value);
}

/* Three whole rounds lie between the two times. */
static void pass(mono_ns *ret_a, mono_ns *ret_b)
{
    int64_t seen = atomic_load(&rounds);

    while (atomic_load(&rounds) < seen + 2)
        mono_sleep_until(mono_now() + MS);
    *ret_a = mono_now();
    seen = atomic_load(&rounds);
    while (atomic_load(&rounds) < seen + 3)
        mono_sleep_until(mono_now() + MS);
    *ret_b = mono_now();
}

struct scene {
    struct sampler *sampler;
    struct gauges *gauges;
    mono_ns a, b;
};

/* Two processes are on the GPU before the run. */
static void scene_open(struct scene *sc, enum device_kind on)
{
    for (size_t i = 0; i < SHOWN; i++)
        atomic_store(&shown[i], 0);
    show(QUANTITY_POWER_LIMIT_W, 300);
    show(QUANTITY_FOREIGN_PROCESSES, 2);
    show(QUANTITY_ENERGY_J, 5000);
    show(QUANTITY_TEMPERATURE_C, 50);
    shown_on = on;
    sc->sampler = sampler_of(&show_ops, &(struct telemetry_env){0});
    pass(&sc->a, &sc->b);
    sc->gauges = gauges_new(sc->sampler, sc->a, sc->b);
}

static void scene_close(struct scene *sc)
{
    gauges_free(sc->gauges);
    sampler_free(sc->sampler);
}

static void each_reason_has_its_moment(void **state)
{
    static const struct {
        enum quantity quantity;
        int value;
        enum reason reason;
    } changes[] = {
        {QUANTITY_THROTTLED, 1, REASON_THROTTLED},
        {QUANTITY_FOREIGN_PROCESSES, 3, REASON_FOREIGN_PROCESS},
        {QUANTITY_ON_BATTERY, 1, REASON_ON_BATTERY},
    };
    struct scene sc;
    struct record r;

    (void)state;
    scene_open(&sc, DEVICE_GPU);
    r = judged(sc.gauges, sc.a, sc.b);
    assert_int_equal(r.measurement.n_reasons, 0);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        int before = changes[i].quantity == QUANTITY_FOREIGN_PROCESSES ? 2 : 0;

        show(changes[i].quantity, changes[i].value);
        pass(&sc.a, &sc.b);
        r = judged(sc.gauges, sc.a, sc.b);
        assert_int_equal(r.measurement.n_reasons, 1);
        assert_true(verdict_has(&r, changes[i].reason));
        show(changes[i].quantity, before);
        pass(&sc.a, &sc.b);
        r = judged(sc.gauges, sc.a, sc.b);
        assert_int_equal(r.measurement.n_reasons, 0); /* the next query is clean again */
    }
    scene_close(&sc);
}

/* One that left is no reason; as many as before neither. */
static void fewer_processes_are_fine(void **state)
{
    struct scene sc;

    (void)state;
    scene_open(&sc, DEVICE_GPU);
    show(QUANTITY_FOREIGN_PROCESSES, 0);
    pass(&sc.a, &sc.b);
    assert_int_equal(judged(sc.gauges, sc.a, sc.b).measurement.n_reasons, 0);
    scene_close(&sc);
}

static void the_power_limit_moves(void **state)
{
    struct scene sc;
    struct record r;
    mono_ns a, between, b;

    (void)state;
    scene_open(&sc, DEVICE_GPU);
    pass(&a, &between);
    show(QUANTITY_POWER_LIMIT_W, 250);
    pass(&sc.a, &b);
    r = judged(sc.gauges, a, b);
    assert_true(verdict_has(&r, REASON_POWER_LIMIT_CHANGED));
    assert_int_equal(r.measurement.n_reasons, 1);
    /* another limit, but the same throughout */
    assert_int_equal(judged(sc.gauges, sc.a, b).measurement.n_reasons, 0);
    scene_close(&sc);
}

static void the_counter_starts_again(void **state)
{
    struct scene sc;
    struct record r;
    mono_ns a, between, b;

    (void)state;
    scene_open(&sc, DEVICE_GPU);
    show(QUANTITY_ENERGY_J, 5001);
    pass(&a, &between);
    assert_int_equal(judged(sc.gauges, a, between).measurement.n_reasons, 0); /* it only counts */
    show(QUANTITY_ENERGY_J, 3);
    pass(&sc.a, &b);
    r = judged(sc.gauges, a, b);
    assert_true(verdict_has(&r, REASON_COUNTER_RESET));
    assert_int_equal(r.measurement.n_reasons, 1);
    assert_int_equal(judged(sc.gauges, sc.a, b).measurement.n_reasons, 0);
    scene_close(&sc);
}

/* Without a GPU the temperature is that of what there is, and memory is the host's. */
static void a_machine_without_a_gpu(void **state)
{
    struct build_gauges g;
    struct scene sc;

    (void)state;
    scene_open(&sc, DEVICE_CPU);
    show(QUANTITY_MEMORY_USED_BYTES, 4096);
    pass(&sc.a, &sc.b);
    gauges_of_window(sc.gauges, sc.a, sc.b, &g);
    assert_near(g.temperature_c.avg, 50, 1e-9);
    assert_near(g.cpu_memory_bytes.max, 4096, 1e-9);
    assert_true(isnan(g.gpu_memory_bytes.avg) && isnan(g.compute_pct));
    scene_close(&sc);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(several_gpus_are_one_machine), cmocka_unit_test(slowed_by_heat),
    cmocka_unit_test(each_reason_has_its_moment),   cmocka_unit_test(fewer_processes_are_fine),
    cmocka_unit_test(the_power_limit_moves),        cmocka_unit_test(the_counter_starts_again),
    cmocka_unit_test(a_machine_without_a_gpu),
};
TEST_MAIN(tests)
