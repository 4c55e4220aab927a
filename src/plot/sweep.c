/*
 * sweep: joules per token and 95th percentile of the latency against the load, over the runs of a
 * sweep; one line a model. The load is what was asked for: queries in flight in a closed loop,
 * queries a second in an open one; where runs of both kinds are given, the rate at which they
 * finished, the only figure they share.
 */
#include "plot/figures.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "plot/figure.h"
#include "plot/overview.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum load_kind { LOAD_CONCURRENCY, LOAD_RATE, LOAD_FINISHED };

static const struct axis load_axes[] = {
    [LOAD_CONCURRENCY] = {.label = "Queries in flight", .whole = true},
    [LOAD_RATE] = {.label = "Queries sent per second"},
    [LOAD_FINISHED] = {.label = "Queries finished per second"},
};

/* One run at its place; sorted by model, then load. */
struct step {
    struct overview *o;
    double load;
};

static const struct json *load_of(const struct run *run)
{
    return json_get(run_summary(run), "load");
}

static enum load_kind kind_of(struct run *const *runs, size_t n)
{
    size_t closed = 0, open = 0;

    for (size_t i = 0; i < n; i++) {
        const char *mode = json_text(json_get(load_of(runs[i]), "mode"), "");

        closed += strcmp(mode, "closed") == 0;
        open += strcmp(mode, "open") == 0;
    }
    return open == 0 ? LOAD_CONCURRENCY : closed == 0 ? LOAD_RATE : LOAD_FINISHED;
}

static double load_value(const struct run *run, enum load_kind kind)
{
    static const char *const keys[] = {[LOAD_CONCURRENCY] = "concurrency",
                                       [LOAD_RATE] = "requested_rate",
                                       [LOAD_FINISHED] = "finished_rate"};

    return json_real(json_get(load_of(run), keys[kind]), NAN);
}

static int by_model_and_load(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    int order = strcmp(x->o->model, y->o->model);

    return order ? order : (x->load > y->load) - (x->load < y->load);
}

static double figure_of(const struct step *s, bool energy)
{
    return energy ? s->o->j_per_token : s->o->p95_s;
}

static bool range_of(const struct step *steps, size_t n, bool energy, double *ret_lo,
                     double *ret_hi)
{
    *ret_lo = INFINITY;
    *ret_hi = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        *ret_lo = fmin(*ret_lo, figure_of(&steps[i], energy)); /* passes over a NAN */
        *ret_hi = fmax(*ret_hi, figure_of(&steps[i], energy));
    }
    return *ret_lo <= *ret_hi;
}

static void draw_lines(struct chart *c, const struct step *steps, size_t n, const int *series,
                       bool energy)
{
    AUTO_FREE double *x = xcalloc(n, sizeof(*x));
    AUTO_FREE double *y = xcalloc(n, sizeof(*y));

    for (size_t i = 0; i < n;) {
        size_t k = 0, first = i;

        for (; i < n && strcmp(steps[i].o->model, steps[first].o->model) == 0; i++) {
            x[k] = steps[i].load;
            y[k] = figure_of(&steps[i], energy);
            k += isfinite(y[k]);
        }
        chart_line(c, series[first], x, y, k);
        chart_points(c, series[first], x, y, k);
    }
}

/* False when no run has the figure. */
static bool draw_panel(struct chart *c, const struct axis *load, const struct step *steps, size_t n,
                       const int *series, bool energy)
{
    double lo, hi;

    if (!range_of(steps, n, energy, &lo, &hi))
        return false;
    chart_axis(c, CHART_X, load);
    chart_axis(
        c, CHART_Y,
        &(struct axis){.label = energy ? "Energy per output token" : "Latency, 95th percentile",
                       .unit = energy ? "J" : "s",
                       .si = true,
                       .from_zero = true,
                       .log = figure_wants_log(lo, hi)});
    draw_lines(c, steps, n, series, energy);
    return true;
}

static void draw_steps(struct chart *c, const struct step *steps, size_t n, const struct axis *load)
{
    AUTO_FREE int *series = xcalloc(n, sizeof(*series));
    double lo, hi;

    for (size_t i = 0; i < n; i++) {
        series[i] = i && strcmp(steps[i].o->model, steps[i - 1].o->model) == 0
                        ? series[i - 1]
                        : chart_series(c, steps[i].o->model);
        if (steps[i].o->estimated)
            chart_estimated(c);
    }
    chart_title(c, "Energy and Latency against Load", NULL);
    if (draw_panel(c, load, steps, n, series, true) && range_of(steps, n, false, &lo, &hi)) {
        chart_want_height(c, 640);
        chart_panel(c);
    }
    draw_panel(c, load, steps, n, series, false);
}

static int draw_overviews(struct chart *c, struct run *const *runs, size_t n_runs,
                          struct overview *o, struct err *err)
{
    AUTO_FREE struct step *steps = xcalloc(n_runs, sizeof(*steps));
    enum load_kind kind = kind_of(runs, n_runs);
    double lo = INFINITY, hi = -INFINITY;
    struct axis load;
    size_t n = 0;

    for (size_t i = 0; i < n_runs; i++) {
        double at = load_value(runs[i], kind);

        if (!(at >= 0) || (isnan(o[i].j_per_token) && isnan(o[i].p95_s)))
            continue;
        steps[n++] = (struct step){&o[i], at};
        lo = fmin(lo, at);
        hi = fmax(hi, at);
    }
    if (n < 2)
        return err_set(err, ENODATA, "only %zu of %zu runs have a load and figures to show", n,
                       n_runs);
    if (lo == hi)
        return err_set(err, ENODATA, "all runs have the same load: there is nothing to sweep");
    qsort(steps, n, sizeof(*steps), by_model_and_load);
    load = load_axes[kind];
    load.log = lo > 0 && hi >= 8 * lo;
    draw_steps(c, steps, n, &load);
    if (n < n_runs)
        chart_note(c, "%zu of %zu runs have no load or no figures and are not shown", n_runs - n,
                   n_runs);
    return 0;
}

static int draw(struct chart *c, struct run *const *runs, size_t n_runs, struct err *err)
{
    struct overview *o = NULL;
    int r;

    if (n_runs < 2)
        return err_set(err, ENODATA, "it compares runs: give at least two");
    r = overviews_read(runs, n_runs, &o, err);
    if (r < 0)
        return r;
    r = draw_overviews(c, runs, n_runs, o, err);
    overviews_free(o, n_runs);
    return r;
}

const struct plot_ops plot_sweep = {
    .plugin = {.id = "sweep", .help = "several runs: J/token and p95 latency against load"},
    .several = true,
    .draw = draw,
};
