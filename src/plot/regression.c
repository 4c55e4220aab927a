/*
 * ttft, latency, energy, power: the Python tool's figures. Every query is a point against its
 * tokens; through them the least squares line (analysis/fit.h) with the band in which the line
 * itself lies with 95 % confidence. Power also has the fit against the tokens' logarithm.
 */
#include "plot/figures.h"

#include "analysis/basis.h"
#include "analysis/fit.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "plot/figure.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#define FIT_POINTS 200

struct regression {
    const char *title, *x_label, *y_label, *unit, *missing;
    /* One query; false = it has no point. */
    bool (*point)(const struct record *r, double *ret_x, double *ret_y);
    bool energy;  /* y comes from the meter */
    bool log_fit; /* against ln(x) too */
};

struct points {
    const struct regression *what;
    struct figure_values x, y;
    bool estimated;
};

static void points_release(struct points *p)
{
    figure_values_release(&p->x);
    figure_values_release(&p->y);
}

/* One side that is missing counts as none; both, and the total is missing too. */
static double total_tokens(const struct record *r)
{
    if (r->tokens.total >= 0)
        return (double)r->tokens.total;
    if (r->tokens.input < 0 && r->tokens.output < 0)
        return NAN;
    return fmax(0, (double)r->tokens.input) + fmax(0, (double)r->tokens.output);
}

static bool ttft_point(const struct record *r, double *ret_x, double *ret_y)
{
    *ret_x = r->tokens.input >= 0 ? (double)r->tokens.input : NAN;
    *ret_y = r->latency.ttft_s;
    return true;
}

static bool latency_point(const struct record *r, double *ret_x, double *ret_y)
{
    *ret_x = total_tokens(r);
    *ret_y = r->latency.total_s;
    return true;
}

/* The same points as `ipw analyze --analysis regression` takes. */
static bool energy_point(const struct record *r, double *ret_x, double *ret_y)
{
    struct basis basis;

    basis_of(r, &basis);
    *ret_x = total_tokens(r);
    *ret_y = basis.reported_j;
    return true;
}

/* What the power sensor showed, else the energy over the time. A power of nothing is a sensor that
 * did not answer. */
static bool power_point(const struct record *r, double *ret_x, double *ret_y)
{
    struct basis basis;

    basis_of(r, &basis);
    *ret_x = total_tokens(r);
    *ret_y = isnan(basis.sensor_w) ? basis.power_w : basis.sensor_w;
    return fabs(*ret_y) >= BASIS_ZERO;
}

static void add_record(void *arg, const struct record *r)
{
    struct points *p = arg;
    double x, y;

    if (!record_ok(r) || !p->what->point(r, &x, &y) || !isfinite(x) || !isfinite(y))
        return;
    figure_values_add(&p->x, x);
    figure_values_add(&p->y, y);
    p->estimated |= p->what->energy && figure_is_estimated(r);
}

static struct fit fit_points(const struct points *p, bool log_x)
{
    struct fit f = {.log_x = log_x};

    for (size_t i = 0; i < p->x.n; i++)
        fit_add(&f, p->x.v[i], p->y.v[i]);
    return f;
}

/* Where the line lies at x with 95 % confidence: this far around it. */
static double half_band(const struct fit *f, double x)
{
    double residual = fmax(0, f->syy - f->sxy * f->sxy / f->sxx);
    double from_mean = (f->log_x ? log(x) : x) - f->mean_x;

    return figure_t95(f->n - 2) * sqrt(residual / (double)(f->n - 2)) *
           sqrt(1 / (double)f->n + from_mean * from_mean / f->sxx);
}

static void range_of(const struct figure_values *v, bool positive, double *ret_lo, double *ret_hi)
{
    *ret_lo = INFINITY;
    *ret_hi = -INFINITY;
    for (size_t i = 0; i < v->n; i++)
        if (!positive || v->v[i] > 0) {
            *ret_lo = fmin(*ret_lo, v->v[i]);
            *ret_hi = fmax(*ret_hi, v->v[i]);
        }
}

static char *fit_name(const struct regression *what, const struct fit_line *line, bool log_x)
{
    char intercept[FIGURE_TEXT_MAX], slope[FIGURE_TEXT_MAX];

    figure_quantity(line->intercept, what->unit, intercept);
    figure_quantity(fabs(line->slope), what->unit, slope);
    return xasprintf("%s: %s %s %s %s, R² %.3f", log_x ? "Log fit" : "Fit", intercept,
                     line->slope < 0 ? "-" : "+", slope, log_x ? "× ln(tokens)" : "per token",
                     line->r2);
}

static void draw_fit(struct chart *c, const struct points *p, bool log_x)
{
    struct fit f = fit_points(p, log_x);
    struct fit_line line = fit_line(&f);
    AUTO_FREE char *name = fit_name(p->what, &line, log_x);
    double x[FIT_POINTS], y[FIT_POINTS], lo[FIT_POINTS], hi[FIT_POINTS], from, to;
    int series;

    if (!isfinite(line.slope))
        return;
    series = chart_series(c, name);
    if (log_x)
        series = chart_series_like(c, series, name, CHART_DOTTED);
    range_of(&p->x, log_x, &from, &to);
    for (int i = 0; i < FIT_POINTS; i++) {
        double half;

        x[i] = from + (to - from) * i / (FIT_POINTS - 1);
        y[i] = line.intercept + line.slope * (log_x ? log(x[i]) : x[i]);
        half = f.n > 2 ? half_band(&f, x[i]) : NAN;
        lo[i] = y[i] - half;
        hi[i] = y[i] + half;
    }
    chart_line(c, series, x, y, FIT_POINTS);
    if (!log_x)
        chart_band(c, series, x, lo, hi, FIT_POINTS);
}

static int draw(const struct regression *what, struct chart *c, struct run *run, struct err *err)
{
    AUTO(points) struct points p = {.what = what};
    int r = figure_each(run, add_record, &p, err);

    if (r < 0)
        return r;
    if (!p.x.n)
        return err_set(err, ENODATA, "no query has both %s", what->missing);
    figure_head(c, what->title, run);
    if (p.estimated)
        chart_estimated(c);
    chart_axis(c, CHART_X, &(struct axis){.label = what->x_label});
    chart_axis(
        c, CHART_Y,
        &(struct axis){.label = what->y_label, .unit = what->unit, .si = true, .from_zero = true});
    chart_points(c, chart_series(c, "Queries"), p.x.v, p.y.v, p.x.n);
    draw_fit(c, &p, false);
    if (what->log_fit)
        draw_fit(c, &p, true);
    chart_note(c, "%zu queries; the band is the line's 95 %% confidence", p.x.n);
    return 0;
}

#define REGRESSION(name, help_text, ...)                                               \
    static const struct regression name##_what = {__VA_ARGS__};                        \
    static int name##_draw(struct chart *c, struct run *const *runs, size_t n_runs,    \
                           struct err *err)                                            \
    {                                                                                  \
        (void)n_runs;                                                                  \
        return draw(&name##_what, c, runs[0], err);                                    \
    }                                                                                  \
    const struct plot_ops plot_##name = {.plugin = {.id = #name, .help = (help_text)}, \
                                         .draw = name##_draw}

REGRESSION(ttft, "time to first token against prompt tokens, with fit",
           .title = "Prompt Tokens vs Time to First Token", .x_label = "Prompt tokens",
           .y_label = "Time to first token", .unit = "s",
           .missing = "prompt tokens and a time to first token", .point = ttft_point);
REGRESSION(latency, "time of the whole answer against all tokens, with fit",
           .title = "Total Tokens vs Latency", .x_label = "Total tokens", .y_label = "Latency",
           .unit = "s", .missing = "tokens and a latency", .point = latency_point);
REGRESSION(energy, "joules of a query against all tokens, with fit",
           .title = "Total Tokens vs Energy", .x_label = "Total tokens",
           .y_label = "Energy per query", .unit = "J", .missing = "tokens and an energy",
           .point = energy_point, .energy = true);
REGRESSION(power, "mean watts of a query against all tokens, with linear and log fit",
           .title = "Total Tokens vs Power", .x_label = "Total tokens", .y_label = "Mean power",
           .unit = "W", .missing = "tokens and a power", .point = power_point, .energy = true,
           .log_fit = true);
