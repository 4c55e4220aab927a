/*
 * efficiency_frontier: accuracy against joules per query, one point a run. The line joins the runs
 * that no other run beats in both: up and to the left is better.
 */
#include "plot/figures.h"

#include "analysis/interval.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "plot/figure.h"
#include "plot/overview.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double accuracy(const struct overview *o)
{
    return (double)o->correct / (double)o->scored;
}

static int by_joules(const void *a, const void *b)
{
    const struct overview *x = a, *y = b;

    if (x->mean_j != y->mean_j)
        return (x->mean_j > y->mean_j) - (x->mean_j < y->mean_j);
    return (accuracy(x) < accuracy(y)) - (accuracy(x) > accuracy(y));
}

/* Those with both figures to the front, the cheapest first; returns how many they are. */
static size_t usable(struct overview *o, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (o[i].scored && o[i].mean_j > 0) {
            struct overview swap = o[kept];

            o[kept++] = o[i];
            o[i] = swap;
        }
    qsort(o, kept, sizeof(*o), by_joules);
    return kept;
}

/* A step up at every run that is more accurate than all cheaper ones. */
static void draw_frontier(struct chart *c, const struct overview *o, size_t n)
{
    AUTO_FREE double *x = xcalloc(2 * n + 1, sizeof(*x));
    AUTO_FREE double *y = xcalloc(2 * n + 1, sizeof(*y));
    double best = -1;
    size_t k = 0;

    for (size_t i = 0; i < n; i++) {
        if (accuracy(&o[i]) <= best)
            continue;
        if (k) {
            x[k] = o[i].mean_j;
            y[k++] = best;
        }
        best = accuracy(&o[i]);
        x[k] = o[i].mean_j;
        y[k++] = best;
    }
    x[k] = o[n - 1].mean_j;
    y[k++] = best;
    chart_line(c, chart_series_grey(c, "Frontier: no run here is beaten in both", CHART_DASHED), x,
               y, k);
}

static void draw_run(struct chart *c, const struct overview *o)
{
    int series = chart_series(c, o->name), bars = chart_series_like(c, series, NULL, CHART_SOLID);
    struct interval w = interval_wilson(o->correct, o->scored);
    double x = o->mean_j, y = w.value, half = 1.959963985 * o->mean_j_error;

    chart_points(c, series, &x, &y, 1);
    chart_whisker(c, bars, CHART_Y, x, w.low, w.high);
    /* on a log axis an interval that reaches 0 has no place */
    if (half > 0 && half < x)
        chart_whisker(c, bars, CHART_X, y, x - half, x + half);
}

/* The tens of percent that hold every interval. */
static void accuracy_range(const struct overview *o, size_t n, double *ret_low, double *ret_high)
{
    *ret_low = 1;
    *ret_high = 0;
    for (size_t i = 0; i < n; i++) {
        struct interval w = interval_wilson(o[i].correct, o[i].scored);

        *ret_low = fmin(*ret_low, floor(w.low * 10) / 10);
        *ret_high = fmax(*ret_high, ceil(w.high * 10) / 10);
    }
}

static void draw_all(struct chart *c, const struct overview *o, size_t n)
{
    double low, high;

    chart_title(c, "Accuracy against Energy", "Up and to the left is better");
    chart_axis(c, CHART_X,
               &(struct axis){.label = "Mean energy per query",
                              .unit = "J",
                              .si = true,
                              .log = o[n - 1].mean_j > 8 * o[0].mean_j,
                              .from_zero = true});
    accuracy_range(o, n, &low, &high);
    chart_axis(c, CHART_Y,
               &(struct axis){.label = "Accuracy", .percent = true, .lo = low, .hi = high});
    draw_frontier(c, o, n);
    for (size_t i = 0; i < n; i++) {
        draw_run(c, &o[i]);
        if (o[i].estimated)
            chart_estimated(c);
    }
    chart_note(c, "Bars: 95 %% intervals of accuracy (Wilson) and of the mean energy");
}

static int draw(struct chart *c, struct run *const *runs, size_t n_runs, struct err *err)
{
    struct overview *o = NULL;
    size_t n;
    int r;

    if (n_runs < 2)
        return err_set(err, ENODATA, "it compares runs: give at least two");
    r = overviews_read(runs, n_runs, &o, err);
    if (r < 0)
        return r;
    n = usable(o, n_runs);
    if (n >= 2)
        draw_all(c, o, n);
    else
        r = err_set(err, ENODATA, "only %zu of %zu runs have both scored answers and an energy", n,
                    n_runs);
    if (n >= 2 && n < n_runs)
        chart_note(c, "%zu of %zu runs have no scored answers or no energy and are not shown",
                   n_runs - n, n_runs);
    overviews_free(o, n_runs);
    return r;
}

const struct plot_ops plot_efficiency_frontier = {
    .plugin = {.id = "efficiency_frontier", .help = "several runs: accuracy against joules"},
    .several = true,
    .draw = draw,
};
