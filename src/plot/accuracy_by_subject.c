/*
 * accuracy_by_subject: which share of each subject's answers is correct, with Wilson's interval,
 * best first. The interval says how much the few questions of a subject can tell.
 */
#include "plot/figures.h"

#include "analysis/interval.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "plot/figure.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More than this cannot be read; those with the fewest answers are left out. */
#define ROWS_MAX 40
/* More than this is not a list of subjects but something else. */
#define SUBJECTS_MAX 4096

struct subject {
    char *name;
    int64_t scored, correct;
};

struct subjects {
    struct subject *items; /* by name */
    size_t n, cap;
    struct subject all;
    int64_t beyond; /* answers whose subject was one too many */
};

static void subjects_release(struct subjects *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->items[i].name);
    free(s->items);
}

/* Where the name is, or belongs. */
static size_t find(const struct subjects *s, const char *name, bool *ret_found)
{
    size_t lo = 0, hi = s->n;

    *ret_found = false;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        int order = strcmp(s->items[middle].name, name);

        if (order == 0)
            *ret_found = true;
        if (order < 0)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static void add_record(void *arg, const struct record *r)
{
    struct subjects *s = arg;
    const char *name = r->subject && *r->subject ? r->subject : "(no subject)";
    bool found;
    size_t at;

    if (r->correct < 0)
        return;
    s->all.scored++;
    s->all.correct += r->correct;
    at = find(s, name, &found);
    if (!found && s->n == SUBJECTS_MAX) {
        s->beyond++;
        return;
    }
    if (!found) {
        GROW(s->items, s->n, s->cap);
        memmove(&s->items[at + 1], &s->items[at], (s->n - at) * sizeof(*s->items));
        s->items[at] = (struct subject){.name = xstrdup(name)};
        s->n++;
    }
    s->items[at].scored++;
    s->items[at].correct += r->correct;
}

static double accuracy(const struct subject *s)
{
    return (double)s->correct / (double)s->scored;
}

static int by_count(const void *a, const void *b)
{
    const struct subject *x = a, *y = b;

    return x->scored != y->scored ? (x->scored < y->scored) - (x->scored > y->scored)
                                  : strcmp(x->name, y->name);
}

static int by_accuracy(const void *a, const void *b)
{
    const struct subject *x = a, *y = b;
    double p = accuracy(x), q = accuracy(y);

    return p != q ? (p < q) - (p > q) : strcmp(x->name, y->name);
}

static void draw_rows(struct chart *c, const struct subject *items, size_t n)
{
    const char *names[ROWS_MAX], *remarks[ROWS_MAX];
    char counts[ROWS_MAX][48];
    double at[ROWS_MAX], share[ROWS_MAX];
    int series = chart_series(c, "Correct, with 95 % interval (Wilson)");

    for (size_t i = 0; i < n; i++) {
        struct interval w = interval_wilson(items[i].correct, items[i].scored);

        names[i] = items[i].name;
        snprintf(counts[i], sizeof(counts[i]), "%" PRId64 " of %" PRId64, items[i].correct,
                 items[i].scored);
        remarks[i] = counts[i];
        at[i] = (double)i;
        share[i] = w.value;
        chart_whisker(c, series, CHART_X, at[i], w.low, w.high);
    }
    chart_axis(c, CHART_Y, &(struct axis){.rows = names, .remarks = remarks, .n_rows = n});
    chart_points(c, series, share, at, n);
}

static int draw(struct chart *c, struct run *const *runs, size_t n_runs, struct err *err)
{
    AUTO(subjects) struct subjects s = {0};
    AUTO_FREE char *all = NULL;
    size_t shown;
    int r = figure_each(runs[0], add_record, &s, err);

    (void)n_runs;
    if (r < 0)
        return r;
    if (!s.all.scored)
        return err_set(err, ENODATA, "no answer was scored; ipw analyze scores them");
    shown = s.n < ROWS_MAX ? s.n : ROWS_MAX;
    qsort(s.items, s.n, sizeof(*s.items), by_count);
    qsort(s.items, shown, sizeof(*s.items), by_accuracy);
    figure_head(c, "Accuracy by Subject", runs[0]);
    chart_want_height(c, 190 + 24 * (double)shown);
    chart_axis(c, CHART_X,
               &(struct axis){.label = "Share of the scored answers that are correct",
                              .percent = true,
                              .lo = 0,
                              .hi = 1});
    draw_rows(c, s.items, shown);
    all = xasprintf("All subjects: %.1f %%", 100 * accuracy(&s.all));
    chart_rule(c, chart_series_grey(c, all, CHART_DASHED), CHART_X, accuracy(&s.all));
    chart_note(c, "%" PRId64 " scored answers", s.all.scored);
    if (s.n > shown || s.beyond)
        chart_note(c, "%s%zu subjects with fewer answers are not shown",
                   s.beyond ? "more than " : "", s.n - shown);
    return 0;
}

const struct plot_ops plot_accuracy_by_subject = {
    .plugin = {.id = "accuracy_by_subject", .help = "share of correct answers, with intervals"},
    .draw = draw,
};
