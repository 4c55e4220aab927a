/*
 * output_kde: how long the answers are. A Gaussian kernel density with Silverman's bandwidth, on
 * 512 points from the shortest to the longest, as the Python tool draws it.
 */
#include "plot/figures.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/stats.h"
#include "plot/figure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define GRID 512
/* Beyond so many bandwidths a kernel is nothing in a double that is added to another. */
#define KERNEL_REACH 9

static void add_record(void *arg, const struct record *r)
{
    if (record_ok(r) && r->tokens.output >= 0)
        figure_values_add(arg, (double)r->tokens.output);
}

/* Silverman's rule of thumb on sorted values; 0 when they are all the same. */
static double bandwidth(const double *sorted, size_t n)
{
    double std = stats_std(sorted, n);
    double iqr = stats_percentile(sorted, n, 75) - stats_percentile(sorted, n, 25);
    double sigma = iqr > 0 ? fmin(std, iqr / 1.349) : std;

    return 0.9 * sigma * pow((double)n, -0.2);
}

/* Sorted values, so that those near a grid point are found by moving a window along. */
static void density(const double *sorted, size_t n, double width, double *x, double *y)
{
    double scale = 1 / ((double)n * width * sqrt(2 * M_PI));
    size_t first = 0;

    for (size_t g = 0; g < GRID; g++) {
        double sum = 0;

        x[g] = sorted[0] + (sorted[n - 1] - sorted[0]) * (double)g / (GRID - 1);
        while (first < n && sorted[first] < x[g] - KERNEL_REACH * width)
            first++;
        for (size_t i = first; i < n && sorted[i] <= x[g] + KERNEL_REACH * width; i++) {
            double u = (x[g] - sorted[i]) / width;

            sum += exp(-u * u / 2);
        }
        y[g] = sum * scale;
    }
}

static void draw_rules(struct chart *c, const double *sorted, size_t n)
{
    double mean = stats_mean(sorted, n), median = stats_median(sorted, n);
    char name[64];

    snprintf(name, sizeof(name), "Mean %.1f", mean);
    chart_rule(c, chart_series_like(c, chart_series(c, NULL), name, CHART_DASHED), CHART_X, mean);
    snprintf(name, sizeof(name), "Median %.1f", median);
    chart_rule(c, chart_series_like(c, chart_series(c, NULL), name, CHART_DOTTED), CHART_X, median);
}

static int draw(struct chart *c, struct run *const *runs, size_t n_runs, struct err *err)
{
    __attribute__((cleanup(figure_values_release))) struct figure_values v = {0};
    double x[GRID], y[GRID], zero[GRID] = {0};
    int r = figure_each(runs[0], add_record, &v, err), series;

    (void)n_runs;
    if (r < 0)
        return r;
    if (v.n < 2)
        return err_set(err, ENODATA, "%s output tokens: a density needs two at least",
                       v.n ? "only one query has" : "no query has");
    v.n = stats_sort(v.v, v.n);
    if (!(bandwidth(v.v, v.n) > 0))
        return err_set(err, ENODATA, "all %zu answers have %.0f tokens: there is no variation", v.n,
                       v.v[0]);
    density(v.v, v.n, bandwidth(v.v, v.n), x, y);
    figure_head(c, "Distribution of Output Tokens", runs[0]);
    chart_axis(c, CHART_X, &(struct axis){.label = "Output tokens"});
    chart_axis(
        c, CHART_Y,
        &(struct axis){.label = "Density (share of the answers per token)", .from_zero = true});
    series = chart_series(c, "Density");
    chart_line(c, series, x, y, GRID);
    chart_band(c, series, x, zero, y, GRID);
    draw_rules(c, v.v, v.n);
    chart_note(c, "%zu answers; Gaussian kernel, bandwidth %.3g tokens", v.n, bandwidth(v.v, v.n));
    return 0;
}

const struct plot_ops plot_output_kde = {
    .plugin = {.id = "output_kde", .help = "how many tokens the answers have: a density"},
    .draw = draw,
};
