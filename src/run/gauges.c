#include "run/gauges.h"

#include "base/alloc.h"
#include "record/energy.h"
#include "record/verdict.h"

#include <math.h>
#include <stdlib.h>

struct gauges {
    struct sampler *sampler;
    const struct channel *channels;
    const struct device *devices;
    size_t n;
    double *normal;       /* per channel: the most seen before the run */
    struct series series; /* scratch */
};

static struct stat4 window(struct gauges *g, size_t channel, mono_ns a, mono_ns b)
{
    sampler_copy(g->sampler, channel, a, b, &g->series);
    return stats_of_window(&g->channels[channel], &g->series, a, b);
}

struct gauges *gauges_new(struct sampler *s, mono_ns a, mono_ns b)
{
    struct gauges *g = xcalloc(1, sizeof(*g));

    g->sampler = s;
    g->n = sampler_channels(s, &g->channels);
    sampler_devices(s, &g->devices);
    g->normal = xcalloc(g->n, sizeof(*g->normal));
    for (size_t i = 0; i < g->n; i++)
        g->normal[i] =
            g->channels[i].quantity == QUANTITY_FOREIGN_PROCESSES ? window(g, i, a, b).max : NAN;
    return g;
}

void gauges_free(struct gauges *g)
{
    if (!g)
        return;
    series_release(&g->series);
    free(g->normal);
    free(g);
}

static bool on_gpu(const struct gauges *g, size_t i)
{
    return g->devices[g->channels[i].device].kind == DEVICE_GPU;
}

/* An absent part does not make the whole absent: the other GPU's memory is still known. */
static double plus(double x, double y)
{
    return isnan(x) ? y : isnan(y) ? x : x + y;
}

static struct stat4 add(struct stat4 x, struct stat4 y)
{
    return (struct stat4){plus(x.avg, y.avg), plus(x.max, y.max), plus(x.median, y.median),
                          plus(x.min, y.min)};
}

/* fmax and fmin take what is there when one is NAN. */
static struct stat4 hotter(struct stat4 x, struct stat4 y)
{
    return (struct stat4){fmax(x.avg, y.avg), fmax(x.max, y.max), fmax(x.median, y.median),
                          fmax(x.min, y.min)};
}

struct mean {
    double sum;
    int n;
};

static void mean_add(struct mean *m, double value)
{
    if (isnan(value))
        return;
    m->sum += value;
    m->n++;
}

static double mean_of(const struct mean *m)
{
    return m->n ? m->sum / m->n : NAN;
}

void gauges_of_window(struct gauges *g, mono_ns a, mono_ns b, struct build_gauges *ret)
{
    struct stat4 elsewhere_c = STAT4_ABSENT; /* temperatures that are no GPU's */
    struct mean compute = {0}, bandwidth = {0};
    struct build_gauges sum = {.cpu_memory_bytes = STAT4_ABSENT,
                               .gpu_memory_bytes = STAT4_ABSENT,
                               .gpu_memory_total_bytes = NAN,
                               .temperature_c = STAT4_ABSENT};

    for (size_t i = 0; i < g->n; i++) {
        bool gpu = on_gpu(g, i);

        switch (g->channels[i].quantity) {
        case QUANTITY_MEMORY_USED_BYTES:
            if (gpu)
                sum.gpu_memory_bytes = add(sum.gpu_memory_bytes, window(g, i, a, b));
            else
                sum.cpu_memory_bytes = add(sum.cpu_memory_bytes, window(g, i, a, b));
            break;
        case QUANTITY_MEMORY_TOTAL_BYTES:
            if (gpu)
                sum.gpu_memory_total_bytes =
                    plus(sum.gpu_memory_total_bytes, window(g, i, a, b).max);
            break;
        case QUANTITY_TEMPERATURE_C:
            if (gpu)
                sum.temperature_c = hotter(sum.temperature_c, window(g, i, a, b));
            else
                elsewhere_c = hotter(elsewhere_c, window(g, i, a, b));
            break;
        case QUANTITY_UTILIZATION_PCT:
            if (gpu)
                mean_add(&compute, window(g, i, a, b).avg);
            break;
        case QUANTITY_MEMORY_UTILIZATION_PCT:
            if (gpu)
                mean_add(&bandwidth, window(g, i, a, b).avg);
            break;
        default:
            break;
        }
    }
    if (isnan(sum.temperature_c.avg))
        sum.temperature_c = elsewhere_c;
    sum.compute_pct = mean_of(&compute);
    sum.memory_bandwidth_pct = mean_of(&bandwidth);
    *ret = sum;
}

static bool was_reset(struct gauges *g, size_t channel, mono_ns a, mono_ns b)
{
    const struct series *s = &g->series;

    sampler_copy(g->sampler, channel, a, b, &g->series);
    for (size_t i = series_after(s, a); i < s->n_ticks && s->ticks[i].after < b; i++)
        if (s->ticks[i].flags & TICK_BREAK)
            return true;
    return false;
}

void gauges_judge(struct gauges *g, mono_ns a, mono_ns b, struct record *r)
{
    for (size_t i = 0; i < g->n; i++) {
        struct stat4 seen;

        switch (g->channels[i].quantity) {
        case QUANTITY_THROTTLED:
            if (window(g, i, a, b).max > 0)
                verdict_add(r, REASON_THROTTLED);
            break;
        case QUANTITY_POWER_LIMIT_W:
            seen = window(g, i, a, b);
            if (seen.max > seen.min)
                verdict_add(r, REASON_POWER_LIMIT_CHANGED);
            break;
        case QUANTITY_FOREIGN_PROCESSES:
            if (window(g, i, a, b).max > g->normal[i])
                verdict_add(r, REASON_FOREIGN_PROCESS);
            break;
        case QUANTITY_ON_BATTERY:
            if (window(g, i, a, b).max > 0)
                verdict_add(r, REASON_ON_BATTERY);
            break;
        case QUANTITY_ENERGY_J:
            if (g->channels[i].summed && was_reset(g, i, a, b))
                verdict_add(r, REASON_COUNTER_RESET);
            break;
        default:
            break;
        }
    }
}
