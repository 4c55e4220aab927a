/*
 * What a prompt token, an output token and a second cost, from whole queries: their energy is the
 * sum of the three, none of which can be negative. Needs no sensor that is fast enough to see the
 * phases of a query apart, only queries that differ.
 *
 * Prompt tokens that the server had cached cost no prefill and do not count.
 */
#include "analysis/analyses.h"
#include "analysis/basis.h"
#include "analysis/nnls.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TERM_PREFILL, TERM_DECODE, TERM_TIME, TERMS };

static const char *const words[TERMS] = {"prompt tokens", "output tokens", "time"};
static const char *const keys[TERMS] = {"prefill_joules_per_token", "decode_joules_per_token",
                                        "static_watts"};

struct phases {
    struct nnls sums;
    int64_t left_out, estimated;
    double totals[TERMS]; /* tokens, tokens, seconds */
    double joules;
};

static void add_record(struct phases *p, const struct record *r)
{
    int64_t cached = r->request.cached_tokens > 0 ? r->request.cached_tokens : 0;
    double x[TERMS] = {(double)(r->tokens.input - cached), (double)r->tokens.output,
                       r->latency.total_s};
    const char *source = r->measurement.energy_source;
    struct basis basis;

    basis_of(r, &basis);
    if (r->tokens.input < 0 || r->tokens.output < 0 || x[TERM_PREFILL] < 0 ||
        !(x[TERM_TIME] >= 0) || isnan(basis.energy_j) || basis.imputed) {
        p->left_out++;
        return;
    }
    p->estimated += source && strcmp(source, "estimated") == 0;
    nnls_add(&p->sums, x, basis.energy_j);
    p->joules += basis.energy_j;
    for (size_t i = 0; i < TERMS; i++)
        p->totals[i] += x[i];
}

static void add_warnings(const struct phases *p, const struct nnls_fit *f, struct warnings *w)
{
    if (p->left_out > 0)
        warnings_add(w,
                     "%" PRId64 " queries are left out: their tokens, time or energy are not "
                     "known",
                     p->left_out);
    if (p->estimated > 0)
        warnings_add(w, "Energy is estimated, not measured, for %" PRId64 " of %" PRId64 " queries",
                     p->estimated, p->sums.n);
    for (size_t i = 0; i < TERMS; i++) {
        if (isnan(f->se[i]))
            warnings_add(w, "%s: no share above 0 could be found", words[i]);
        else if (f->se[i] > f->coefficient[i] / 2)
            warnings_add(w, "%s: the standard error is more than half of the share", words[i]);
    }
}

static void write_all(const struct phases *p, const struct nnls_fit *f, struct json_writer *w)
{
    static const char *const shares[TERMS] = {"prefill_share", "decode_share", "static_share"};
    AUTO(warnings) struct warnings warnings = {0};

    add_warnings(p, f, &warnings);
    jw_begin_object(w, "summary");
    jw_int(w, "total_samples", p->sums.n);
    for (size_t i = 0; i < TERMS; i++)
        jw_real(w, keys[i], f->coefficient[i]);
    for (size_t i = 0; i < TERMS; i++)
        jw_real(w, shares[i], f->coefficient[i] * p->totals[i] / p->joules);
    jw_real(w, "r2", f->r2);
    jw_end_object(w);
    warnings_write(&warnings, w);
    jw_begin_object(w, "data");
    jw_begin_object(w, "coefficients");
    for (size_t i = 0; i < TERMS; i++) {
        jw_begin_object(w, keys[i]);
        jw_real(w, "estimate", f->coefficient[i]);
        jw_real(w, "se", f->se[i]);
        jw_bool(w, "at_bound", isnan(f->se[i]));
        jw_real(w, "joules", f->coefficient[i] * p->totals[i]);
        jw_end_object(w);
    }
    jw_end_object(w);
    jw_int(w, "count", p->sums.n);
    jw_int(w, "left_out", p->left_out);
    jw_real(w, "total_joules", p->joules);
    jw_real(w, "residual_sd_joules", f->residual_sd);
    jw_real(w, "condition_number", f->condition);
    jw_end_object(w);
}

static int phases_run(struct run *run, const struct analysis_options *o, struct json_writer *w,
                      struct err *err)
{
    struct phases p = {.sums.n_terms = TERMS};
    const struct record *record;
    struct nnls_fit f;
    int r;

    (void)o;
    while ((r = run_next(run, &record, err)) > 0)
        if (record_ok(record))
            add_record(&p, record);
    if (r < 0)
        return r;
    if (p.sums.n == 0)
        return err_set(err, ENODATA, "%s: no query has tokens, time and energy", run_dir(run));
    r = nnls_solve(&p.sums, words, &f, err);
    if (r < 0)
        return err ? err_prefix(err, "%s", run_dir(run)) : r;
    write_all(&p, &f, w);
    return 0;
}

const struct analysis_ops analysis_phases_ops = {
    .plugin = {.id = "phases",
               .help = "what a prompt token, an output token and a second cost, with their errors"},
    .run = phases_run,
};
