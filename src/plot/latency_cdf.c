/*
 * latency_cdf: which share of the queries was answered within a time. Both times of a query are
 * shown, to the first token and to the last; the percentiles are in the legend, where they can be
 * read off without a ruler.
 */
#include "plot/figures.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/stats.h"
#include "plot/figure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

struct times {
    struct figure_values ttft_s, total_s;
};

static void times_release(struct times *t)
{
    figure_values_release(&t->ttft_s);
    figure_values_release(&t->total_s);
}

static void add_record(void *arg, const struct record *r)
{
    struct times *t = arg;

    if (!record_ok(r))
        return;
    if (isfinite(r->latency.ttft_s) && r->latency.ttft_s >= 0)
        figure_values_add(&t->ttft_s, r->latency.ttft_s);
    if (isfinite(r->latency.total_s) && r->latency.total_s >= 0)
        figure_values_add(&t->total_s, r->latency.total_s);
}

static void format_seconds(double s, char text[32])
{
    snprintf(text, 32, s < 1 ? "%.3g ms" : "%.3g s", s < 1 ? s * 1e3 : s);
}

static void draw_curve(struct chart *c, const char *name, struct figure_values *values)
{
    AUTO_FREE double *x = xcalloc(2 * values->n + 1, sizeof(*x));
    AUTO_FREE double *y = xcalloc(2 * values->n + 1, sizeof(*y));
    char label[160], p50[32], p95[32], p99[32];
    size_t n;

    if (!values->n)
        return;
    values->n = stats_sort(values->v, values->n);
    format_seconds(stats_percentile(values->v, values->n, 50), p50);
    format_seconds(stats_percentile(values->v, values->n, 95), p95);
    format_seconds(stats_percentile(values->v, values->n, 99), p99);
    snprintf(label, sizeof(label), "%s: p50 %s, p95 %s, p99 %s", name, p50, p95, p99);
    n = figure_cdf(values->v, values->n, x, y);
    chart_line(c, chart_series(c, label), x, y, n);
}

static double smallest(const struct figure_values *v)
{
    double least = INFINITY;

    for (size_t i = 0; i < v->n; i++)
        least = fmin(least, v->v[i]);
    return least;
}

static double largest(const struct figure_values *v)
{
    double most = -INFINITY;

    for (size_t i = 0; i < v->n; i++)
        most = fmax(most, v->v[i]);
    return most;
}

static int draw(struct chart *c, struct run *const *runs, size_t n_runs, struct err *err)
{
    AUTO(times) struct times t = {0};
    double lo, hi;
    int r;

    (void)n_runs;
    r = figure_each(runs[0], add_record, &t, err);
    if (r < 0)
        return r;
    if (!t.total_s.n && !t.ttft_s.n)
        return err_set(err, ENODATA, "no query has a latency");
    lo = fmin(smallest(&t.ttft_s), smallest(&t.total_s));
    hi = fmax(largest(&t.ttft_s), largest(&t.total_s));
    figure_head(c, "Latency of the queries", runs[0]);
    chart_axis(c, CHART_X,
               &(struct axis){.label = "Time since the request was sent",
                              .unit = "s",
                              .si = true,
                              .log = figure_wants_log(lo, hi),
                              .from_zero = true});
    chart_axis(c, CHART_Y,
               &(struct axis){
                   .label = "Share of the queries answered", .percent = true, .lo = 0, .hi = 1});
    draw_curve(c, "First token", &t.ttft_s);
    draw_curve(c, "Whole answer", &t.total_s);
    chart_note(c, "%zu queries that came to their end", t.total_s.n);
    return 0;
}

const struct plot_ops plot_latency_cdf = {
    .plugin = {.id = "latency_cdf", .help = "share of the queries answered within a time"},
    .draw = draw,
};
