/*
 * energy_per_token: the distribution of joules per output token. Every record carries bounds of its
 * energy; the band lies between the distribution if every query had its upper bound and that if it
 * had its lower one, so the true one is inside. An estimate has no bounds to show.
 */
#include "plot/figures.h"

#include "analysis/basis.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/stats.h"
#include "plot/figure.h"

#include <errno.h>
#include <math.h>

struct energies {
    struct figure_values per_token_j, low_j, high_j;
    bool estimated;
};

static void energies_release(struct energies *e)
{
    figure_values_release(&e->per_token_j);
    figure_values_release(&e->low_j);
    figure_values_release(&e->high_j);
}

static void add_record(void *arg, const struct record *r)
{
    struct energies *e = arg;
    double tokens = (double)r->tokens.output, j;
    double low = r->measurement.low_j / tokens, high = r->measurement.high_j / tokens;
    struct basis basis;

    basis_of(r, &basis);
    j = basis.energy_j / tokens;
    if (!record_ok(r) || r->tokens.output <= 0 || !isfinite(j))
        return;
    figure_values_add(&e->per_token_j, j);
    e->estimated |= figure_is_estimated(r);
    if (low <= j && j <= high && isfinite(high)) {
        figure_values_add(&e->low_j, low);
        figure_values_add(&e->high_j, high);
    }
}

/* Between two distributions of n values each: the i-th step of one stands beside the i-th of the
 * other, at the same height. */
static void draw_bounds(struct chart *c, int series, struct energies *e)
{
    size_t n = e->low_j.n, k = 0;
    AUTO_FREE double *x = xcalloc(4 * n, sizeof(*x));
    AUTO_FREE double *lo = xcalloc(4 * n, sizeof(*lo));
    AUTO_FREE double *hi = xcalloc(4 * n, sizeof(*hi));
    size_t i = 0, j = 0; /* steps passed of the lower and of the upper bounds' distribution */

    stats_sort(e->low_j.v, n);
    stats_sort(e->high_j.v, n);
    while (i < n || j < n) {
        double at = i < n ? fmin(e->low_j.v[i], e->high_j.v[j]) : e->high_j.v[j];

        x[k] = at;
        lo[k] = (double)j / (double)n;
        hi[k++] = (double)i / (double)n;
        while (i < n && e->low_j.v[i] <= at)
            i++;
        while (j < n && e->high_j.v[j] <= at)
            j++;
        x[k] = at;
        lo[k] = (double)j / (double)n;
        hi[k++] = (double)i / (double)n;
    }
    chart_band(c, series, x, lo, hi, k);
}

static void draw_curve(struct chart *c, int series, const struct figure_values *v)
{
    AUTO_FREE double *x = xcalloc(2 * v->n, sizeof(*x));
    AUTO_FREE double *y = xcalloc(2 * v->n, sizeof(*y));
    size_t n = figure_cdf(v->v, v->n, x, y);

    chart_line(c, series, x, y, n);
}

static void draw_percentile(struct chart *c, const struct figure_values *v, double percent,
                            enum chart_stroke stroke)
{
    double at = stats_percentile(v->v, v->n, percent);
    char text[FIGURE_TEXT_MAX];
    AUTO_FREE char *name = NULL;

    figure_quantity(at, "J", text);
    name = xasprintf("p%.0f: %s", percent, text);
    chart_rule(c, chart_series_grey(c, name, stroke), CHART_X, at);
}

static int draw(struct chart *c, struct run *const *runs, size_t n_runs, struct err *err)
{
    AUTO(energies) struct energies e = {0};
    struct figure_values *v = &e.per_token_j;
    int r = figure_each(runs[0], add_record, &e, err), series;
    bool bounded;

    (void)n_runs;
    if (r < 0)
        return r;
    if (!v->n)
        return err_set(err, ENODATA, "no query has both output tokens and an energy");
    v->n = stats_sort(v->v, v->n);
    /* bounds of some records only would show a distribution of others */
    bounded = !e.estimated && e.low_j.n == v->n;
    figure_head(c, "Energy per Output Token", runs[0]);
    if (e.estimated)
        chart_estimated(c);
    chart_axis(c, CHART_X,
               &(struct axis){.label = "Energy per output token",
                              .unit = "J",
                              .si = true,
                              .log = figure_wants_log(v->v[0], v->v[v->n - 1])});
    chart_axis(c, CHART_Y,
               &(struct axis){
                   .label = "Share of the queries at or below", .percent = true, .lo = 0, .hi = 1});
    series = chart_series(c, bounded ? "Queries, with the bounds of the measurement" : "Queries");
    if (bounded)
        draw_bounds(c, series, &e);
    draw_curve(c, series, v);
    draw_percentile(c, v, 50, CHART_DASHED);
    draw_percentile(c, v, 95, CHART_DOTTED);
    chart_note(c, "%zu queries%s", v->n,
               bounded ? "" : "; bounds are not shown: not every record has them");
    return 0;
}

const struct plot_ops plot_energy_per_token = {
    .plugin = {.id = "energy_per_token", .help = "joules per output token, with error bounds"},
    .draw = draw,
};
