/*
 * The five lines of the Python tool: how time to the first token, energy, latency and power grow
 * with tokens. One pass; a point is a query that came to its end and has both values.
 */
#include "analysis/analyses.h"
#include "analysis/basis.h"
#include "analysis/fit.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LINE_TTFT, LINE_ENERGY, LINE_LATENCY, LINE_POWER, LINE_POWER_LOG, LINES };

static const char *const line_names[LINES] = {
    "input_tokens_vs_ttft",  "total_tokens_vs_energy",    "total_tokens_vs_latency",
    "total_tokens_vs_power", "total_tokens_vs_power_log",
};

enum {
    ZERO_ENERGY,
    ZERO_POWER,
    ZERO_TTFT,
    ZERO_LATENCY,
    ZERO_OUTPUT,
    ZERO_INPUT,
    ZERO_TOTAL,
    ZEROS
};

static const char *const zero_names[ZEROS] = {
    "per-query energy", "per-query power", "TTFT",       "latency",
    "completion-token", "prompt-token",    "total-token"};

struct regression {
    int64_t samples;
    struct fit lines[LINES];
    int64_t zeros[ZEROS];
};

static double tokens(int64_t n)
{
    return n < 0 ? NAN : (double)n;
}

/* Where the server gave no total it is the sum; a side that is missing adds nothing. */
static double total_tokens(const struct record *r)
{
    if (r->tokens.total >= 0)
        return (double)r->tokens.total;
    if (r->tokens.input < 0 && r->tokens.output < 0)
        return NAN;
    return (double)((r->tokens.input > 0 ? r->tokens.input : 0) +
                    (r->tokens.output > 0 ? r->tokens.output : 0));
}

static void add_point(struct fit *line, double x, double y)
{
    if (!isnan(x) && !isnan(y))
        fit_add(line, x, y);
}

static void add_record(struct regression *g, const struct record *r)
{
    double input = tokens(r->tokens.input), total = total_tokens(r), power_w;
    struct basis basis;

    basis_of(r, &basis);
    power_w = isnan(basis.sensor_w) ? basis.power_w : basis.sensor_w;
    const double values[ZEROS] = {
        [ZERO_ENERGY] = basis.reported_j,
        [ZERO_POWER] = power_w,
        [ZERO_TTFT] = r->latency.ttft_s,
        [ZERO_LATENCY] = r->latency.total_s,
        [ZERO_OUTPUT] = tokens(r->tokens.output),
        [ZERO_INPUT] = input,
        [ZERO_TOTAL] = total,
    };
    bool any = false;

    for (size_t i = 0; i < ZEROS; i++) {
        g->zeros[i] += fabs(values[i]) < BASIS_ZERO;
        any |= !isnan(values[i]);
    }
    g->samples += any;
    add_point(&g->lines[LINE_TTFT], input, r->latency.ttft_s);
    add_point(&g->lines[LINE_ENERGY], total, basis.reported_j);
    add_point(&g->lines[LINE_LATENCY], total, r->latency.total_s);
    if (fabs(power_w) < BASIS_ZERO)
        return;
    add_point(&g->lines[LINE_POWER], total, power_w);
    add_point(&g->lines[LINE_POWER_LOG], total, power_w);
}

static void write_line(const char *name, const struct fit_line *l, struct json_writer *w)
{
    jw_begin_object(w, name);
    jw_int(w, "count", l->count);
    jw_real(w, "slope", l->slope);
    jw_real(w, "intercept", l->intercept);
    jw_real(w, "r2", l->r2);
    jw_real(w, "avg_y", l->avg_y);
    jw_real(w, "slope_se", l->slope_se);
    jw_real(w, "intercept_se", l->intercept_se);
    jw_end_object(w);
}

static void write_all(const struct regression *g, bool skip_incomplete, struct json_writer *w)
{
    AUTO(warnings) struct warnings warnings = {0};

    for (size_t i = 0; i < ZEROS; i++)
        if (g->zeros[i] > 0)
            warnings_add(&warnings, "encountered %" PRId64 " %s samples equal to 0.0 in dataset",
                         g->zeros[i], zero_names[i]);
    jw_begin_object(w, "summary");
    jw_int(w, "total_samples", g->samples);
    jw_end_object(w);
    warnings_write(&warnings, w);
    jw_begin_object(w, "data");
    jw_begin_object(w, "regressions");
    for (size_t i = 0; i < LINES; i++) {
        struct fit_line l = fit_line(&g->lines[i]);

        if (!skip_incomplete ||
            (isfinite(l.slope) && isfinite(l.intercept) && isfinite(l.r2) && isfinite(l.avg_y)))
            write_line(line_names[i], &l, w);
    }
    jw_end_object(w);
    jw_end_object(w);
}

static int regression_run(struct run *run, const struct analysis_options *o, struct json_writer *w,
                          struct err *err)
{
    struct regression g = {.lines[LINE_POWER_LOG].log_x = true};
    const struct record *record;
    bool skip_incomplete;
    int r = analysis_flag(o, "skip_zeroes", &skip_incomplete, err);

    while (r >= 0 && (r = run_next(run, &record, err)) > 0)
        if (record_ok(record))
            add_record(&g, record);
    if (r < 0)
        return r;
    if (g.samples == 0)
        return err_set(err, ENODATA, "%s: No usable metrics: no query has tokens, times or energy",
                       run_dir(run));
    write_all(&g, skip_incomplete, w);
    return 0;
}

static const char *const params[] = {"skip_zeroes", NULL};

const struct analysis_ops analysis_regression_ops = {
    .plugin = {.id = "regression",
               .help = "how time, energy and power grow with tokens: five lines with their errors"},
    .params = params,
    .run = regression_run,
};
