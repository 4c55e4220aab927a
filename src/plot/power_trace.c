/*
 * power_trace: the watts of every rail over the run, with the queries behind them and the idle
 * level beside them. Of a device that has both, the energy counter is shown and not the power
 * sensor, which sees only moments; a rail is the sum of its devices. Parts of a rail that is shown
 * itself (CORE, UNCORE) are left out.
 */
#include "plot/figures.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "plot/figure.h"
#include "plot/trace.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pieces of a trace that the paper can show side by side. */
#define COLUMNS 2000

struct span {
    double from_s, to_s;
};

struct collected {
    struct run *run;
    struct trace *traces; /* by channel; those of other quantities stay empty */
    size_t n_traces, cap_traces;
    struct span *spans;
    size_t n_spans, cap_spans;
    size_t n_gaps; /* of the rail that has the most */
    double lowest_w, highest_w;
    double column_s; /* of a trace that was thinned; 0 = none was */
};

static void collected_release(struct collected *c)
{
    for (size_t i = 0; i < c->n_traces; i++)
        trace_release(&c->traces[i]);
    free(c->traces);
    free(c->spans);
}

static bool is_power(const struct sampled_channel *c)
{
    return c->rail != RAIL_NONE &&
           (c->quantity == QUANTITY_ENERGY_J || c->quantity == QUANTITY_POWER_W);
}

static int add_sample(void *arg, const struct sample *s)
{
    struct collected *c = arg;
    const struct sampled_channel *channels;
    size_t n = run_channels(c->run, &channels);

    while (c->n_traces < n) {
        GROW(c->traces, c->n_traces, c->cap_traces);
        c->traces[c->n_traces] =
            (struct trace){.is_counter = channels[c->n_traces].quantity == QUANTITY_ENERGY_J};
        c->n_traces++;
    }
    if (s->channel < n && is_power(&channels[s->channel]))
        trace_add(&c->traces[s->channel], s->time_s, s->value, s->is_break);
    return 0;
}

static void add_record(void *arg, const struct record *r)
{
    struct collected *c = arg;

    if (!isfinite(r->request.sent_s) || !isfinite(r->request.end_s) ||
        r->request.end_s < r->request.sent_s)
        return;
    GROW(c->spans, c->n_spans, c->cap_spans);
    c->spans[c->n_spans++] = (struct span){r->request.sent_s, r->request.end_s};
}

/* A query begins (+1) or ends (-1). */
struct edge {
    double at_s;
    int step;
};

static int by_time(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return x->at_s != y->at_s ? (x->at_s > y->at_s) - (x->at_s < y->at_s) : x->step - y->step;
}

static bool same_device(const struct sampled_channel *a, const struct sampled_channel *b)
{
    return a->rail == b->rail && a->device_number == b->device_number &&
           strcmp(a->device, b->device) == 0;
}

/* Of the channels of one device and rail: the first counter that shows something, else the first
 * power sensor that does. */
static bool speaks_for_device(const struct collected *c, const struct sampled_channel *channels,
                              size_t at)
{
    if (!c->traces[at].n)
        return false;
    for (size_t i = 0; i < c->n_traces; i++) {
        bool better = c->traces[i].is_counter && !c->traces[at].is_counter;
        bool equal = c->traces[i].is_counter == c->traces[at].is_counter;

        if (i != at && c->traces[i].n && same_device(&channels[i], &channels[at]) &&
            (better || (equal && i < at)))
            return false;
    }
    return true;
}

/* The sum of the rail's devices. False when it has none. */
static bool rail_trace(const struct collected *c, enum rail rail, struct trace *ret,
                       bool *ret_estimated)
{
    const struct sampled_channel *channels;
    bool any = false;

    run_channels(c->run, &channels);
    for (size_t i = 0; i < c->n_traces; i++) {
        struct trace sum;

        if (channels[i].rail != rail || !speaks_for_device(c, channels, i))
            continue;
        *ret_estimated |= channels[i].estimated;
        if (!any) {
            *ret = c->traces[i];
            ret->pieces = xmemdup(ret->pieces, ret->n * sizeof(*ret->pieces));
        } else {
            sum = trace_sum(ret, &c->traces[i]);
            trace_release(ret);
            *ret = sum;
        }
        any = true;
    }
    return any && ret->n;
}

static void add_vertex(struct figure_values *x, struct figure_values *y, double s, double w)
{
    if (x->n && x->v[x->n - 1] == s && y->v[y->n - 1] == w)
        return;
    figure_values_add(x, s);
    figure_values_add(y, w);
}

static bool gap_before(const struct trace *t, size_t i)
{
    return i && t->pieces[i].from_s > t->pieces[i - 1].to_s;
}

/* Every sample's power. */
static void draw_exact(struct chart *c, int series, const struct trace *t)
{
    __attribute__((cleanup(figure_values_release))) struct figure_values x = {0}, y = {0};

    for (size_t i = 0; i < t->n; i++) {
        const struct trace_piece *p = &t->pieces[i];

        if (gap_before(t, i))
            add_vertex(&x, &y, p->from_s, NAN);
        add_vertex(&x, &y, p->from_s, p->from_w);
        add_vertex(&x, &y, p->to_s, p->to_w);
    }
    chart_line(c, series, x.v, y.v, x.n);
}

/* More than the paper has columns: what the power was in each on average, at least and at most. */
static void draw_thinned(struct chart *c, int series, const struct trace *t)
{
    AUTO_FREE double *x = xcalloc(3 * t->n, sizeof(*x)), *y = xcalloc(3 * t->n, sizeof(*y));
    AUTO_FREE double *lo = xcalloc(3 * t->n, sizeof(*lo)), *hi = xcalloc(3 * t->n, sizeof(*hi));
    size_t k = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct trace_piece *p = &t->pieces[i];

        if (gap_before(t, i)) {
            x[k] = p->from_s;
            y[k] = lo[k] = hi[k] = NAN;
            k++;
        }
        for (int end = 0; end < 2; end++, k++) {
            x[k] = end ? p->to_s : p->from_s;
            y[k] = p->mean_w;
            lo[k] = p->low_w;
            hi[k] = p->high_w;
        }
    }
    chart_band(c, series, x, lo, hi, k);
    chart_line(c, series, x, y, k);
}

static void draw_trace(struct chart *c, int series, struct trace *t, struct collected *data)
{
    size_t gaps = 0;

    if (t->n > COLUMNS) {
        trace_thin(t, COLUMNS);
        data->column_s = t->shortest_s;
        draw_thinned(c, series, t);
    } else {
        draw_exact(c, series, t);
    }
    for (size_t i = 0; i < t->n; i++) {
        gaps += gap_before(t, i);
        data->lowest_w = fmin(data->lowest_w, t->pieces[i].low_w);
        data->highest_w = fmax(data->highest_w, t->pieces[i].high_w);
    }
    data->n_gaps = gaps > data->n_gaps ? gaps : data->n_gaps;
}

static bool draw_rail(struct chart *c, struct collected *data, enum rail rail)
{
    const struct json *totals = json_get(run_summary(data->run), "totals");
    double idle_w = json_real(json_get(json_get(totals, "idle_watts"), rail_name(rail)), NAN);
    __attribute__((cleanup(trace_release))) struct trace t = {0};
    AUTO_FREE char *name = NULL;
    char idle[FIGURE_TEXT_MAX];
    bool estimated = false;
    int series;

    if (!rail_trace(data, rail, &t, &estimated))
        return false;
    figure_quantity(idle_w, "W", idle);
    name = xasprintf("%s%s%s%s%s", rail_name(rail), estimated ? " (estimated)" : "",
                     isfinite(idle_w) ? ", idle " : "", isfinite(idle_w) ? idle : "",
                     isfinite(idle_w) ? " (dashed)" : "");
    series = chart_series(c, name);
    draw_trace(c, series, &t, data);
    if (isfinite(idle_w)) {
        data->highest_w = fmax(data->highest_w, idle_w);
        chart_rule(c, chart_series_like(c, series, NULL, CHART_DASHED), CHART_Y, idle_w);
    }
    if (estimated)
        chart_estimated(c);
    return true;
}

/* Darker where more queries are in flight. */
static void draw_spans(struct chart *c, const struct collected *data)
{
    AUTO_FREE struct edge *edges = xcalloc(2 * data->n_spans + 1, sizeof(*edges));
    size_t n = 2 * data->n_spans;
    int series = chart_series_grey(c, "Queries in flight", CHART_SOLID), depth = 0, most = 0;

    for (size_t i = 0; i < data->n_spans; i++) {
        edges[2 * i] = (struct edge){data->spans[i].from_s, 1};
        edges[2 * i + 1] = (struct edge){data->spans[i].to_s, -1};
    }
    qsort(edges, n, sizeof(*edges), by_time);
    for (size_t i = 0; i < n; i++) {
        depth += edges[i].step;
        most = depth > most ? depth : most;
    }
    for (size_t i = 0; i + 1 < n; i++) {
        depth += edges[i].step;
        if (depth > 0 && edges[i + 1].at_s > edges[i].at_s)
            chart_span(c, series, edges[i].at_s, edges[i + 1].at_s, (double)depth / most);
    }
}

static int draw(struct chart *c, struct run *const *runs, size_t n_runs, struct err *err)
{
    static const enum rail whole[] = {RAIL_GPU, RAIL_CPU, RAIL_DRAM, RAIL_ANE, RAIL_SOC},
                           parts[] = {RAIL_CORE, RAIL_UNCORE, RAIL_OTHER};
    AUTO(collected) struct collected data = {.run = runs[0]};
    bool any = false;
    int r;

    (void)n_runs;
    r = run_samples(runs[0], add_sample, &data, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < data.n_traces; i++)
        trace_finish(&data.traces[i]);
    for (size_t i = 0; i < sizeof(whole) / sizeof(*whole); i++)
        any |= draw_rail(c, &data, whole[i]);
    for (size_t i = 0; !any && i < sizeof(parts) / sizeof(*parts); i++)
        any = draw_rail(c, &data, parts[i]);
    if (!any)
        return err_set(err, ENODATA, "the run has no telemetry of power or energy");
    r = figure_each(runs[0], add_record, &data, err);
    if (r < 0)
        return r;
    figure_head(c, "Power over Time", runs[0]);
    chart_axis(c, CHART_X, &(struct axis){.label = "Time since the run began", .unit = "s"});
    chart_axis(c, CHART_Y,
               &(struct axis){.label = "Power",
                              .unit = "W",
                              .si = true,
                              .lo = data.lowest_w,
                              .hi = data.highest_w * 1.04});
    draw_spans(c, &data);
    if (data.column_s > 0)
        chart_note(c, "Line: mean over %.3g s; band: lowest and highest power in it",
                   data.column_s);
    if (data.n_gaps)
        chart_note(c, "%zu gap%s in the line: nothing was sampled there", data.n_gaps,
                   data.n_gaps == 1 ? "" : "s");
    return 0;
}

const struct plot_ops plot_power_trace = {
    .plugin = {.id = "power_trace", .help = "watts of every rail over time, with the queries"},
    .draw = draw,
};
