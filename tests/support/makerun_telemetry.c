/*
 * The counters are integrals of the queries' power, made step by step: each lane has at most one
 * query in flight, so that a step looks at the lanes only.
 */
#include "makerun_private.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "store/hfwriter.h"
#include "store/schema.h"

#include <math.h>
#include <stdlib.h>

#define MADE_CHANNELS 5

struct meter {
    int64_t *next; /* per lane: the query that is, or will be, in flight */
    double gpu_j, cpu_j;
};

/* Adds the energy between two times. */
static void meter_step(struct makerun_state *s, struct meter *meter, double from, double to)
{
    const struct makerun *m = s->m;
    double busiest_s = 0;

    for (int64_t lane = 0; lane < m->concurrency; lane++) {
        double busy_s = 0;

        for (int64_t *q = &meter->next[lane]; *q < m->records; *q += m->concurrency) {
            const struct made_query *query = &s->queries[*q];
            double overlap_s = fmin(to, query->end_s) - fmax(from, query->sent_s);

            if (overlap_s > 0) {
                busy_s += overlap_s;
                meter->gpu_j += overlap_s * query->gpu_w;
                meter->cpu_j += overlap_s * query->cpu_w;
            }
            if (query->end_s > to)
                break;
        }
        busiest_s = fmax(busiest_s, busy_s);
    }
    meter->gpu_j += (to - from - busiest_s) * m->gpu_idle_w;
    meter->cpu_j += (to - from - busiest_s) * m->cpu_idle_w;
}

static int put(struct hfwriter *w, const struct makerun_state *s, const struct channel *c,
               double time_s, double value, bool is_break, struct err *err)
{
    struct telemetry_row row = {.channel = c,
                                .device = c->rail == RAIL_GPU ? &s->gpu : &s->cpu,
                                .collector = c->rail == RAIL_GPU ? "nvml" : "rapl"};

    row.tick.at = row.tick.seen = llrint(time_s * 1e9);
    row.tick.after = row.tick.at - NS_PER_MS;
    row.tick.value = value;
    row.tick.flags = is_break ? TICK_BREAK : 0;
    return hfwriter_append(w, telemetry_put, &row, 0, err);
}

static const struct channel channels[MADE_CHANNELS] = {
    {.quantity = QUANTITY_ENERGY_J, .rail = RAIL_CPU, .name = "package-0"},
    {.quantity = QUANTITY_POWER_W, .rail = RAIL_CPU, .name = "package-0"},
    {.quantity = QUANTITY_ENERGY_J, .rail = RAIL_GPU, .name = "GPU 0"},
    {.quantity = QUANTITY_POWER_W, .rail = RAIL_GPU, .name = "GPU 0"},
    {.quantity = QUANTITY_TEMPERATURE_C, .rail = RAIL_GPU, .name = "GPU 0"},
};

/* One sample of every channel; `before` is the meter one step ago. */
static int put_all(struct hfwriter *w, struct makerun_state *s, const struct meter *meter,
                   const struct meter *before, double time_s, bool is_break, struct err *err)
{
    double step_s = 1 / s->m->telemetry_hz, gpu_w = (meter->gpu_j - before->gpu_j) / step_s;
    double values[MADE_CHANNELS] = {meter->cpu_j, (meter->cpu_j - before->cpu_j) / step_s,
                                    meter->gpu_j, gpu_w, 40 + gpu_w / 20};
    size_t n = s->has_gpu ? MADE_CHANNELS : 2;
    int r = 0;

    for (size_t k = 0; r == 0 && k < n; k++) {
        struct channel c = channels[k];

        c.estimated = s->m->energy_source[0] == 'e' && c.quantity != QUANTITY_TEMPERATURE_C;
        r = put(w, s, &c, time_s, values[k], is_break, err);
        s->truth.samples++;
    }
    return r;
}

static int put_ticks(struct hfwriter *w, struct makerun_state *s, double seconds, struct err *err)
{
    const struct makerun *m = s->m;
    AUTO_FREE int64_t *next = xcalloc((size_t)m->concurrency, sizeof(*next));
    struct meter meter = {.next = next};
    bool is_break = true;
    int r = 0;

    for (int64_t lane = 0; lane < m->concurrency; lane++)
        next[lane] = lane;
    for (int64_t i = 0; r == 0 && (double)i <= seconds * m->telemetry_hz; i++) {
        double time_s = (double)i / m->telemetry_hz;
        struct meter before = meter;

        if (i > 0)
            meter_step(s, &meter, (double)(i - 1) / m->telemetry_hz, time_s);
        if (m->gap_s > 0 && time_s >= m->gap_from_s && time_s < m->gap_from_s + m->gap_s) {
            is_break = m->gap_breaks;
            continue;
        }
        r = put_all(w, s, &meter, &before, time_s, is_break, err);
        is_break = false;
    }
    return r;
}

int makerun_telemetry(struct makerun_state *s, struct err *err)
{
    double seconds = isnan(s->m->telemetry_s) ? s->truth.seconds : s->m->telemetry_s;
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    struct hfwriter *w = NULL;
    int r;

    if (seconds <= 0 || !s->has_energy)
        return 0;
    telemetry_schema(&schema);
    r = rundir_telemetry_fd(s->dir, err);
    if (r >= 0)
        r = hfwriter_create(r, &schema, &w, err);
    if (r == 0)
        r = put_ticks(w, s, seconds, err);
    if (r == 0)
        r = s->m->unfinished ? hfwriter_sync(w, err) : hfwriter_finish(w, err);
    hfwriter_free(w);
    return r;
}
