/*
 * Energy and power come first and together: one call fetches both fields, with the driver's time
 * stamp. A GPU or driver without those fields is asked by the older calls, one per value. The
 * driver also keeps a ring of the last seconds' power, finer than we could poll it; it is a channel
 * of its own, and the one that counts where there is no energy counter, because no sample of it is
 * missed.
 *
 * Everything else is a row of `gauges`. What changes by hand only (the power limit) or is dear to
 * ask for (the processes) is read once a second.
 */
#include "telemetry/nvml_gpu.h"

#include "base/alloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RING_MAX      4096
#define RING_DRY_NS   NS_PER_S
#define SLOW_NS       NS_PER_S
#define PROCESSES_MAX 128

static double value_of(int type, const union nvml_value *v)
{
    switch (type) {
    case NVML_VALUE_TYPE_DOUBLE:
        return isfinite(v->d) ? v->d : NAN;
    case NVML_VALUE_TYPE_UNSIGNED_INT:
        return v->u;
    case NVML_VALUE_TYPE_UNSIGNED_LONG:
        return (double)v->ul;
    case NVML_VALUE_TYPE_UNSIGNED_LONG_LONG:
        return (double)v->ull;
    case NVML_VALUE_TYPE_SIGNED_LONG_LONG:
        return (double)v->ll;
    case NVML_VALUE_TYPE_SIGNED_INT:
        return v->i;
    case NVML_VALUE_TYPE_UNSIGNED_SHORT:
        return v->us;
    default:
        return NAN;
    }
}

/* Gauges: each fills ret[0], and ret[1] where the call gives two values, and returns NVML's code.
 * A symbol that this library lacks is an error like any other. */

static int read_temperature(const struct nvml_api *api, struct nvml_device *d, double ret[2])
{
    unsigned int celsius = 0;
    int r = NVML_ERROR_FUNCTION_NOT_FOUND;

    if (api->temperature)
        r = api->temperature(d, NVML_TEMPERATURE_GPU, &celsius);
    ret[0] = celsius;
    return r;
}

static int read_memory(const struct nvml_api *api, struct nvml_device *d, double ret[2])
{
    struct nvml_memory_v2 v2 = {.version = NVML_MEMORY_V2};
    struct nvml_memory v1 = {0};
    int r = NVML_ERROR_FUNCTION_NOT_FOUND;

    if (api->memory_v2)
        r = api->memory_v2(d, &v2);
    if (r == NVML_SUCCESS) {
        ret[0] = (double)v2.used;
        ret[1] = (double)v2.total;
    } else if (api->memory && r != NVML_ERROR_GPU_IS_LOST) {
        r = api->memory(d, &v1);
        ret[0] = (double)v1.used;
        ret[1] = (double)v1.total;
    }
    return r;
}

static int read_utilization(const struct nvml_api *api, struct nvml_device *d, double ret[2])
{
    struct nvml_utilization u = {0};
    int r = NVML_ERROR_FUNCTION_NOT_FOUND;

    if (api->utilization)
        r = api->utilization(d, &u);
    ret[0] = u.gpu;
    ret[1] = u.memory;
    return r;
}

static int read_clock(const struct nvml_api *api, struct nvml_device *d, double ret[2])
{
    unsigned int mhz = 0;
    int r = NVML_ERROR_FUNCTION_NOT_FOUND;

    if (api->clock)
        r = api->clock(d, NVML_CLOCK_SM, &mhz);
    ret[0] = mhz * 1e6;
    return r;
}

static int read_throttled(const struct nvml_api *api, struct nvml_device *d, double ret[2])
{
    unsigned long long reasons = 0;
    int r = NVML_ERROR_FUNCTION_NOT_FOUND;

    if (api->event_reasons)
        r = api->event_reasons(d, &reasons);
    else if (api->throttle_reasons)
        r = api->throttle_reasons(d, &reasons);
    ret[0] = (reasons & NVML_REASONS_THROTTLED) != 0;
    return r;
}

static int read_power_limit(const struct nvml_api *api, struct nvml_device *d, double ret[2])
{
    unsigned int mw = 0;
    int r = NVML_ERROR_FUNCTION_NOT_FOUND;

    if (api->power_limit)
        r = api->power_limit(d, &mw);
    ret[0] = mw / 1e3;
    return r;
}

static unsigned int count_pids(const struct nvml_process *p, unsigned int n)
{
    unsigned int distinct = 0;

    for (unsigned int i = 0; i < n; i++) {
        unsigned int k = 0;

        while (k < i && p[k].pid != p[i].pid)
            k++;
        distinct += k == i;
    }
    return distinct;
}

/* Which of the processes on a GPU belong to the server under test cannot be known from here: a
 * server may have several, under other users or in containers. So this is the number of all
 * processes that compute on the device. Those that were there when the run began are the expected
 * ones; whoever judges the run compares with that first value. */
static int read_processes(const struct nvml_api *api, struct nvml_device *d, double ret[2])
{
    struct nvml_process list[PROCESSES_MAX];
    unsigned int n = PROCESSES_MAX;
    int r = NVML_ERROR_FUNCTION_NOT_FOUND;

    memset(list, 0, sizeof(list));
    if (api->processes)
        r = api->processes(d, &n, list);
    else if (api->processes_v2)
        r = api->processes_v2(d, &n, list);
    if (r == NVML_ERROR_INSUFFICIENT_SIZE) { /* more than fit: n says how many */
        ret[0] = n;
        return NVML_SUCCESS;
    }
    ret[0] = count_pids(list, n < PROCESSES_MAX ? n : PROCESSES_MAX);
    return r;
}

static const struct gauge {
    int (*read)(const struct nvml_api *api, struct nvml_device *d, double ret[2]);
    bool slow; /* once a second */
    int values;
    struct {
        enum quantity quantity;
        enum rail rail;
        double quantum;
    } value[2];
} gauges[NVML_GAUGES] = {
    {read_temperature, false, 1, {{QUANTITY_TEMPERATURE_C, RAIL_NONE, 1}}},
    {read_memory,
     false,
     2,
     {{QUANTITY_MEMORY_USED_BYTES, RAIL_NONE, 1}, {QUANTITY_MEMORY_TOTAL_BYTES, RAIL_NONE, 1}}},
    {read_utilization,
     false,
     2,
     {{QUANTITY_UTILIZATION_PCT, RAIL_NONE, 1}, {QUANTITY_MEMORY_UTILIZATION_PCT, RAIL_NONE, 1}}},
    {read_clock, false, 1, {{QUANTITY_CLOCK_HZ, RAIL_NONE, 1e6}}},
    {read_throttled, false, 1, {{QUANTITY_THROTTLED, RAIL_NONE, 1}}},
    {read_power_limit, true, 1, {{QUANTITY_POWER_LIMIT_W, RAIL_GPU, 1e-3}}},
    {read_processes, true, 1, {{QUANTITY_FOREIGN_PROCESSES, RAIL_NONE, 1}}},
};

/* What one look at energy and power showed; NAN = not. */
struct look {
    double energy_j;
    double power_w;
    mono_ns before, after; /* around the call that gave the energy */
    mono_ns power_before, power_after;
    long long stamp_us; /* of the energy, 0 = none */
    long long latency_us;
    int error; /* the last one */
};

static void look_at_fields(const struct nvml_gpu *gpu, const struct nvml_api *api, struct look *l)
{
    struct nvml_field_value f[2];
    int n = 0, r;

    memset(f, 0, sizeof(f));
    if (gpu->energy_way == NVML_WAY_FIELD)
        f[n++].field = NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION;
    if (gpu->power_way == NVML_WAY_FIELD)
        f[n++].field = NVML_FI_DEV_POWER_INSTANT;
    if (n == 0)
        return;
    l->before = l->power_before = mono_now();
    r = api->fields(gpu->handle, n, f);
    l->after = l->power_after = mono_now();
    if (r != NVML_SUCCESS)
        l->error = r;
    for (int i = 0; i < n && r == NVML_SUCCESS; i++) {
        double value = value_of(f[i].value_type, &f[i].value);

        if (f[i].result != NVML_SUCCESS) {
            l->error = f[i].result;
        } else if (f[i].field == NVML_FI_DEV_POWER_INSTANT) {
            l->power_w = value / 1e3;
        } else {
            l->energy_j = value / 1e3;
            l->stamp_us = f[i].timestamp_us;
            l->latency_us = f[i].latency_us;
        }
    }
}

static void look_by_calls(const struct nvml_gpu *gpu, const struct nvml_api *api, struct look *l)
{
    unsigned long long mj;
    unsigned int mw;
    int r;

    if (gpu->energy_way == NVML_WAY_CALL) {
        l->before = mono_now();
        r = api->energy(gpu->handle, &mj);
        l->after = mono_now();
        if (r == NVML_SUCCESS)
            l->energy_j = (double)mj / 1e3;
        else
            l->error = r;
    }
    if (gpu->power_way == NVML_WAY_CALL) {
        l->power_before = mono_now();
        r = api->power(gpu->handle, &mw);
        l->power_after = mono_now();
        if (r == NVML_SUCCESS)
            l->power_w = mw / 1e3;
        else
            l->error = r;
    }
}

static struct look look(const struct nvml_gpu *gpu, const struct nvml_api *api)
{
    struct look l = {.energy_j = NAN, .power_w = NAN};

    look_at_fields(gpu, api, &l);
    look_by_calls(gpu, api, &l);
    return l;
}

/* Tries the fields, then the calls, and keeps for each value the first way that gave it. */
static void find_ways(struct nvml_gpu *gpu, const struct nvml_api *api)
{
    struct look l;

    gpu->energy_way = gpu->power_way = api->fields ? NVML_WAY_FIELD : NVML_WAY_NONE;
    l = look(gpu, api);
    if (isnan(l.energy_j))
        gpu->energy_way = api->energy ? NVML_WAY_CALL : NVML_WAY_NONE;
    if (isnan(l.power_w))
        gpu->power_way = api->power ? NVML_WAY_CALL : NVML_WAY_NONE;
    l = look(gpu, api);
    if (isnan(l.energy_j))
        gpu->energy_way = NVML_WAY_NONE;
    if (isnan(l.power_w))
        gpu->power_way = NVML_WAY_NONE;
    gpu->lost = l.error == NVML_ERROR_GPU_IS_LOST;
}

static int fetch_ring(struct nvml_gpu *gpu, const struct nvml_api *api, unsigned int *ret_n,
                      int *ret_type)
{
    unsigned int n = gpu->ring.cap;
    int r = api->samples(gpu->handle, NVML_TOTAL_POWER_SAMPLES, gpu->ring.last_us, ret_type, &n,
                         gpu->ring.samples);

    *ret_n = r == NVML_SUCCESS ? (n < gpu->ring.cap ? n : gpu->ring.cap) : 0;
    return r;
}

/* The mean time between the ring's samples, 0 when there is no usable ring: too few samples, stamps
 * that run backwards, a newest sample that is not of the last seconds. */
static mono_ns open_ring(struct nvml_gpu *gpu, const struct nvml_api *api,
                         const struct stamp_anchor *anchor)
{
    struct nvml_ring *ring = &gpu->ring;
    mono_ns now = mono_now(), newest, spacing;
    unsigned int n = 0;
    int type;

    if (!api->samples || api->samples(gpu->handle, NVML_TOTAL_POWER_SAMPLES, 0, &type, &n, NULL) ||
        n < 2)
        return 0;
    ring->cap = n < RING_MAX ? n : RING_MAX;
    ring->samples = xcalloc(ring->cap, sizeof(*ring->samples));
    if (fetch_ring(gpu, api, &n, &type) || n < 2)
        return 0;
    for (unsigned int i = 1; i < n; i++)
        if (ring->samples[i].timestamp_us <= ring->samples[i - 1].timestamp_us)
            return 0;
    newest = stamp_from_wall_us(anchor, (int64_t)ring->samples[n - 1].timestamp_us);
    spacing = (mono_ns)((ring->samples[n - 1].timestamp_us - ring->samples[0].timestamp_us) *
                        (unsigned long long)NS_PER_US / (n - 1));
    if (newest == MONO_ABSENT || newest > now + STAMP_MARGIN_NS || newest < now - 5 * NS_PER_S ||
        spacing > NS_PER_S)
        return 0;
    ring->last_us = ring->samples[n - 1].timestamp_us;
    ring->last = ring->heard = now;
    return spacing;
}

static void declare_power(struct nvml_gpu *gpu, const struct nvml_api *api,
                          const struct stamp_anchor *anchor, struct collector_setup *setup,
                          struct channel base)
{
    mono_ns spacing;

    base.rail = RAIL_GPU;
    base.quantum = 1e-3; /* millijoules, milliwatts */
    base.summed = true;  /* the first of energy, ring, power that exists */
    if (gpu->energy_way != NVML_WAY_NONE) {
        base.quantity = QUANTITY_ENERGY_J;
        gpu->energy = collector_add_channel(setup, base);
        base.summed = false;
    }
    base.quantity = QUANTITY_POWER_W;
    spacing = open_ring(gpu, api, anchor);
    if (spacing > 0) {
        struct channel c = base;

        snprintf(c.name, sizeof(c.name), "GPU %u samples", gpu->index);
        c.refresh_ns = spacing;
        gpu->ring.channel = collector_add_channel(setup, c);
        base.summed = false;
    }
    if (gpu->power_way != NVML_WAY_NONE)
        gpu->power = collector_add_channel(setup, base);
}

static void declare_gauges(struct nvml_gpu *gpu, const struct nvml_api *api,
                           struct collector_setup *setup, struct channel base)
{
    for (size_t i = 0; i < NVML_GAUGES; i++) {
        double value[2] = {NAN, NAN};

        if (gauges[i].read(api, gpu->handle, value) != NVML_SUCCESS)
            continue;
        for (int k = 0; k < gauges[i].values; k++) {
            base.quantity = gauges[i].value[k].quantity;
            base.rail = gauges[i].value[k].rail;
            base.quantum = gauges[i].value[k].quantum;
            base.refresh_ns = gauges[i].slow ? SLOW_NS : 0;
            gpu->gauges[i][k] = collector_add_channel(setup, base);
        }
    }
}

void nvml_gpu_declare(struct nvml_gpu *gpu, const struct nvml_api *api,
                      const struct stamp_anchor *anchor, struct collector_setup *setup)
{
    struct device d = {.kind = DEVICE_GPU, .number = (int)gpu->index};
    struct channel base = {.range = NAN, .quantum = NAN};

    gpu->energy = gpu->power = gpu->ring.channel = NVML_NO_CHANNEL;
    for (size_t i = 0; i < NVML_GAUGES; i++)
        gpu->gauges[i][0] = gpu->gauges[i][1] = NVML_NO_CHANNEL;
    find_ways(gpu, api);
    if (gpu->lost)
        return;
    snprintf(d.name, sizeof(d.name), "%s", gpu->name);
    snprintf(d.vendor, sizeof(d.vendor), "NVIDIA");
    snprintf(d.uuid, sizeof(d.uuid), "%.63s", gpu->uuid);
    snprintf(d.backend, sizeof(d.backend), "NVML");
    base.device = collector_add_device(setup, d);
    snprintf(base.name, sizeof(base.name), "GPU %u", gpu->index);
    declare_power(gpu, api, anchor, setup, base);
    declare_gauges(gpu, api, setup, base);
}

static void put_ring(struct nvml_gpu *gpu, const struct nvml_api *api,
                     const struct stamp_anchor *anchor, const struct look *l,
                     struct sample_sink *out, int *put)
{
    struct nvml_ring *ring = &gpu->ring;
    mono_ns now;
    unsigned int n;
    int type;

    fetch_ring(gpu, api, &n, &type);
    now = mono_now();
    for (unsigned int i = 0; i < n; i++) {
        mono_ns t = stamp_from_wall_us(anchor, (int64_t)ring->samples[i].timestamp_us);

        /* What the wall clock's setting moved to the past or the future is left out. */
        if (t == MONO_ABSENT || t <= ring->last || t > now)
            continue;
        ring->last_us = ring->samples[i].timestamp_us;
        sample_put(out, ring->channel, t, t, value_of(type, &ring->samples[i].value) / 1e3);
        ring->last = ring->heard = t;
        ++*put;
    }
    /* A ring that has run dry must not silence the channel: polled power takes its place, and the
     * next fetch asks for everything, because our idea of the newest stamp may be what is wrong. */
    if (now - ring->heard > RING_DRY_NS && !isnan(l->power_w)) {
        sample_put(out, ring->channel, l->power_before, l->power_after, l->power_w);
        ring->last = l->power_after;
        ring->last_us = 0;
        ++*put;
    }
}

int nvml_gpu_read_energy(struct nvml_gpu *gpu, const struct nvml_api *api,
                         const struct stamp_anchor *anchor, struct sample_sink *out, int *put)
{
    struct look l = look(gpu, api);

    if (l.error == NVML_ERROR_GPU_IS_LOST)
        gpu->lost = true;
    if (!isnan(l.energy_j)) {
        long long us = l.latency_us > 0 && l.latency_us < 1000000 ? l.latency_us : 0;

        stamp_put(&gpu->stamps, out, gpu->energy,
                  &(struct stamp_reading){.before = l.before,
                                          .after = l.after,
                                          .stamp = stamp_from_wall_us(anchor, l.stamp_us),
                                          .latency = us * NS_PER_US,
                                          .value = l.energy_j});
        ++*put;
    }
    if (!isnan(l.power_w)) {
        sample_put(out, gpu->power, l.power_before, l.power_after, l.power_w);
        ++*put;
    }
    if (gpu->ring.channel != NVML_NO_CHANNEL && !gpu->lost)
        put_ring(gpu, api, anchor, &l, out, put);
    return l.error;
}

int nvml_gpu_read_gauges(struct nvml_gpu *gpu, const struct nvml_api *api, struct sample_sink *out,
                         int *put)
{
    mono_ns before = mono_now(), after;
    bool slow = before >= gpu->slow_due;
    int error = NVML_SUCCESS;

    if (slow)
        gpu->slow_due = before + SLOW_NS;
    for (size_t i = 0; i < NVML_GAUGES && !gpu->lost; i++) {
        double value[2];
        int r;

        if (gpu->gauges[i][0] == NVML_NO_CHANNEL || (gauges[i].slow && !slow))
            continue;
        r = gauges[i].read(api, gpu->handle, value);
        after = mono_now();
        for (int k = 0; k < gauges[i].values && r == NVML_SUCCESS; k++, ++*put)
            sample_put(out, gpu->gauges[i][k], before, after, value[k]);
        if (r != NVML_SUCCESS)
            error = r;
        gpu->lost = r == NVML_ERROR_GPU_IS_LOST;
        before = after;
    }
    return error;
}

void nvml_gpu_release(struct nvml_gpu *gpu)
{
    free(gpu->ring.samples);
    gpu->ring.samples = NULL;
}
