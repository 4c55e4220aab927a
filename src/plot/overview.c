#include "plot/overview.h"

#include "analysis/basis.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/stats.h"
#include "plot/figure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sums {
    struct overview *o;
    struct figure_values joules, total_s;
    double token_j, tokens;
};

static void sums_release(struct sums *s)
{
    figure_values_release(&s->joules);
    figure_values_release(&s->total_s);
}

static void add_record(void *arg, const struct record *r)
{
    struct sums *s = arg;
    struct basis basis;

    if (r->correct >= 0) {
        s->o->scored++;
        s->o->correct += r->correct;
    }
    if (!record_ok(r))
        return;
    if (isfinite(r->latency.total_s))
        figure_values_add(&s->total_s, r->latency.total_s);
    basis_of(r, &basis);
    if (isnan(basis.energy_j))
        return;
    figure_values_add(&s->joules, basis.energy_j);
    s->o->estimated |= figure_is_estimated(r);
    if (r->tokens.output > 0) {
        s->token_j += basis.energy_j;
        s->tokens += (double)r->tokens.output;
    }
}

static int read_one(struct run *run, struct overview *o, struct err *err)
{
    AUTO(sums) struct sums s = {.o = o};
    int r = figure_each(run, add_record, &s, err);

    if (r < 0)
        return r;
    o->mean_j = stats_mean(s.joules.v, s.joules.n);
    o->mean_j_error = stats_std(s.joules.v, s.joules.n) / sqrt((double)s.joules.n);
    o->j_per_token = s.tokens > 0 ? s.token_j / s.tokens : NAN;
    s.total_s.n = stats_sort(s.total_s.v, s.total_s.n);
    o->p95_s = stats_percentile(s.total_s.v, s.total_s.n, 95);
    return 0;
}

static const char *model_of(const struct run *run)
{
    const char *model = run_model(run);

    return model && *model ? model : "unknown";
}

/* Does another run have this model, or this model and this folder's name? */
static void look_for_others(struct run *const *runs, size_t n, size_t i, bool *ret_model,
                            bool *ret_folder)
{
    AUTO_FREE char *folder = figure_run_name(runs[i]);

    *ret_model = *ret_folder = false;
    for (size_t k = 0; k < n; k++) {
        AUTO_FREE char *other = figure_run_name(runs[k]);

        if (k == i || strcmp(model_of(runs[i]), model_of(runs[k])) != 0)
            continue;
        *ret_model = true;
        *ret_folder |= strcmp(folder, other) == 0;
    }
}

/* As short as tells them apart: the model, with the folder, with the whole path. */
static void name_all(struct run *const *runs, size_t n, struct overview *o)
{
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *folder = figure_run_name(runs[i]);
        bool same_model, same_folder;

        look_for_others(runs, n, i, &same_model, &same_folder);
        o[i].name = same_model
                        ? xasprintf("%s (%s)", o[i].model, same_folder ? run_dir(runs[i]) : folder)
                        : xstrdup(o[i].model);
    }
}

int overviews_read(struct run *const *runs, size_t n, struct overview **ret, struct err *err)
{
    struct overview *o = xcalloc(n, sizeof(*o));
    int r = 0;

    for (size_t i = 0; i < n && r == 0; i++) {
        o[i].model = model_of(runs[i]);
        r = read_one(runs[i], &o[i], err);
    }
    if (r < 0) {
        overviews_free(o, n);
        return r;
    }
    name_all(runs, n, o);
    *ret = o;
    return 0;
}

void overviews_free(struct overview *o, size_t n)
{
    for (size_t i = 0; o && i < n; i++)
        free(o[i].name);
    free(o);
}
