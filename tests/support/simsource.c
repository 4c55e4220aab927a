#include "simsource.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

static struct simsource *next_to_open;

void simsource_next(struct simsource *s)
{
    next_to_open = s;
}

static int sim_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    struct simsource *s = next_to_open;
    size_t device;

    if (s->open_error)
        return err_set(err, s->open_error, "simulated: cannot open; try something else");
    device = collector_add_device(setup, (struct device){.kind = DEVICE_CPU, .name = "simulated"});
    for (size_t i = 0; i < s->n_counters; i++) {
        struct channel c = {.quantity = QUANTITY_ENERGY_J,
                            .rail = RAIL_CPU,
                            .device = device,
                            .summed = true,
                            .range = s->counters[i].range_j > 0 ? s->counters[i].range_j : NAN,
                            .quantum = s->counters[i].quantum_j,
                            .refresh_ns = s->documented_ns};

        snprintf(c.name, sizeof(c.name), "counter-%zu", i);
        collector_add_channel(setup, c);
    }
    if (s->gauge)
        collector_add_channel(setup, (struct channel){.quantity = QUANTITY_POWER_W,
                                                      .rail = RAIL_CPU,
                                                      .device = device,
                                                      .name = "gauge",
                                                      .range = NAN,
                                                      .quantum = NAN,
                                                      .refresh_ns = s->documented_ns});
    if (s->note)
        collector_note(setup, "%s", s->note);
    atomic_fetch_add(&s->opened, 1);
    *ret_ctx = s;
    return 0;
}

static void put(struct simsource *s, struct sample_sink *out, int64_t read, size_t channel,
                mono_ns before, double value)
{
    if (s->twist)
        value = s->twist(s, channel, read, value);
    sample_put(out, channel, before, mono_now(), value);
}

static int sim_read(void *ctx, struct sample_sink *out, struct err *err)
{
    struct simsource *s = ctx;
    int64_t read = atomic_fetch_add(&s->reads, 1);

    while (atomic_load(&s->hang))
        mono_sleep_until(mono_now() + NS_PER_MS);
    if (s->fails && s->fails(s, read))
        return err_set(err, EIO, "simulated failure");
    for (size_t i = 0; i < s->n_counters; i++) {
        mono_ns before = mono_now();

        if (s->read_ns > 0)
            mono_sleep_until(before + s->read_ns);
        put(s, out, read, i, before, simcounter_shown(&s->counters[i], mono_now()));
    }
    if (s->gauge) {
        mono_ns before = mono_now();

        put(s, out, read, s->n_counters, before,
            simcurve_watts(s->gauge, ns_to_s(before - s->epoch)));
    }
    return 0;
}

static void sim_close(void *ctx)
{
    struct simsource *s = ctx;

    atomic_fetch_add(&s->closed, 1);
}

const struct collector_ops simsource_ops = {
    .plugin = {.id = "simulated", .help = "counters over a known power curve"},
    .open = sim_open,
    .read = sim_read,
    .close = sim_close,
};
