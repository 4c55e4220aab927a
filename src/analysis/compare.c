/*
 * A bootstrap row is a question: for each value of contender.h its mean and whether it is known,
 * first as a has it, then as b. Unpaired, the same columns come from two samples. So the figures
 * are computed by one function either way.
 */
#include "analysis/compare.h"

#include "base/alloc.h"

#include <math.h>

#define SIDE   (2 * VALUE_COUNT) /* columns of one run */
#define SUM(v) (2 * (v))
#define N(v)   (2 * (v) + 1)

const struct metric_info metric_table[METRIC_COUNT] = {
    [METRIC_ACCURACY] = {"accuracy", "accuracy", NULL, true, false},
    [METRIC_JOULES] = {"joules_per_query", "J/query", "J", false, true},
    [METRIC_JOULES_PER_TOKEN] = {"joules_per_output_token", "J/output token", "J", false, true},
    [METRIC_SECONDS] = {"seconds_per_query", "s/query", "s", false, false},
    [METRIC_TTFT_S] = {"ttft_seconds", "s to first token", "s", false, false},
    [METRIC_TOKENS_PER_S] = {"tokens_per_second", "tokens/s", "1/s", true, false},
    [METRIC_IPJ] = {"ipj", "IPJ (accuracy/J)", "1/J", true, true},
    [METRIC_IPW] = {"ipw", "IPW (accuracy/W)", "1/W", true, true},
};

/* Which values a metric rests on; the second may be the same. */
static const enum contender_value metric_values[METRIC_COUNT][2] = {
    [METRIC_ACCURACY] = {VALUE_CORRECT, VALUE_CORRECT},
    [METRIC_JOULES] = {VALUE_JOULES, VALUE_JOULES},
    [METRIC_JOULES_PER_TOKEN] = {VALUE_TOKEN_JOULES, VALUE_TOKENS},
    [METRIC_SECONDS] = {VALUE_SECONDS, VALUE_SECONDS},
    [METRIC_TTFT_S] = {VALUE_TTFT_S, VALUE_TTFT_S},
    [METRIC_TOKENS_PER_S] = {VALUE_TOKENS_PER_S, VALUE_TOKENS_PER_S},
    [METRIC_IPJ] = {VALUE_CORRECT, VALUE_JOULES},
    [METRIC_IPW] = {VALUE_CORRECT, VALUE_WATTS},
};

const char *compare_verdict_name(enum compare_verdict v)
{
    static const char *const names[] = {"better", "worse", "no evidence", "not known"};

    return names[v];
}

static double mean(const double *sums, enum contender_value v)
{
    return sums[SUM(v)] / sums[N(v)];
}

static void side_figures(const double *sums, double *ret)
{
    ret[METRIC_ACCURACY] = mean(sums, VALUE_CORRECT);
    ret[METRIC_JOULES] = mean(sums, VALUE_JOULES);
    ret[METRIC_JOULES_PER_TOKEN] = sums[SUM(VALUE_TOKEN_JOULES)] / sums[SUM(VALUE_TOKENS)];
    ret[METRIC_SECONDS] = mean(sums, VALUE_SECONDS);
    ret[METRIC_TTFT_S] = mean(sums, VALUE_TTFT_S);
    ret[METRIC_TOKENS_PER_S] = mean(sums, VALUE_TOKENS_PER_S);
    ret[METRIC_IPJ] = ret[METRIC_ACCURACY] / ret[METRIC_JOULES];
    ret[METRIC_IPW] = ret[METRIC_ACCURACY] / mean(sums, VALUE_WATTS);
}

/* a's figures, b's, and b's minus a's. */
static void figures(void *arg, const double *sums, double *ret)
{
    double *a = ret, *b = ret + METRIC_COUNT, *difference = ret + 2 * METRIC_COUNT;

    (void)arg;
    side_figures(sums, a);
    side_figures(sums + SIDE, b);
    for (int m = 0; m < METRIC_COUNT; m++)
        difference[m] = b[m] - a[m];
}

static void put_question(const struct question *q, double *cells)
{
    for (int v = 0; v < VALUE_COUNT; v++)
        bootstrap_put(cells + SUM(v), question_mean(q, (enum contender_value)v));
}

/* Only what both know. */
static void put_pair(const struct question *a, const struct question *b, double *cells)
{
    put_question(a, cells);
    put_question(b, cells + SIDE);
    for (int v = 0; v < VALUE_COUNT; v++)
        if (cells[N(v)] != cells[SIDE + N(v)])
            cells[SUM(v)] = cells[N(v)] = cells[SIDE + SUM(v)] = cells[SIDE + N(v)] = 0;
}

static const struct question *other(const struct contender *c, const struct question *q)
{
    return q->named ? contender_find(c, q->id) : NULL;
}

static void count_common(const struct contender *a, const struct contender *b,
                         struct comparison *ret)
{
    ret->common = 0;
    for (size_t i = 0; i < a->n_questions; i++)
        ret->common += other(b, &a->questions[i]) != NULL;
    ret->only_a = (int64_t)a->n_questions - ret->common;
    ret->only_b = (int64_t)b->n_questions - ret->common;
}

static void count_known(const double *row, int64_t *known)
{
    for (int k = 0; k < 2 * VALUE_COUNT; k++)
        known[k] += row[N(k)] > 0;
}

/* known: questions by side and value */
static void resample_pairs(const struct contender *a, const struct contender *b,
                           const struct bootstrap_options *options, struct interval *ret,
                           int64_t *known)
{
    AUTO(bootstrap_sample) struct bootstrap_sample pairs = bootstrap_sample(2 * (size_t)SIDE);

    for (size_t i = 0; i < a->n_questions; i++) {
        const struct question *q = &a->questions[i], *same = other(b, q);
        double row[2 * SIDE];

        if (!same)
            continue;
        put_pair(q, same, row);
        count_known(row, known);
        bootstrap_add(&pairs, row);
    }
    bootstrap(&pairs, 1, options, figures, NULL, ret, 3 * (size_t)METRIC_COUNT);
}

static void resample_apart(const struct contender *a, const struct contender *b,
                           const struct bootstrap_options *options, struct interval *ret,
                           int64_t *known)
{
    const struct contender *const runs[2] = {a, b};
    struct bootstrap_sample samples[2];

    for (int side = 0; side < 2; side++) {
        samples[side] = bootstrap_sample(SIDE);
        for (size_t i = 0; i < runs[side]->n_questions; i++) {
            double row[2 * SIDE] = {0};

            put_question(&runs[side]->questions[i], row + side * SIDE);
            count_known(row, known);
            bootstrap_add(&samples[side], row + side * SIDE);
        }
    }
    bootstrap(samples, 2, options, figures, NULL, ret, 3 * (size_t)METRIC_COUNT);
    bootstrap_sample_release(&samples[0]);
    bootstrap_sample_release(&samples[1]);
}

static enum compare_verdict judge(const struct interval *difference, bool more_is_better)
{
    if (!isfinite(difference->value))
        return COMPARE_NOT_KNOWN;
    if (difference->low > 0)
        return more_is_better ? COMPARE_BETTER : COMPARE_WORSE;
    if (difference->high < 0)
        return more_is_better ? COMPARE_WORSE : COMPARE_BETTER;
    return COMPARE_NO_EVIDENCE;
}

static int64_t fewer(const int64_t *known, enum metric m)
{
    int64_t x = known[metric_values[m][0]], y = known[metric_values[m][1]];

    return x < y ? x : y;
}

static const char *energy_caveat(const struct contender *a, const struct contender *b)
{
    if (contender_invalid(a) || contender_invalid(b))
        return "invalid";
    return a->estimated > 0 || b->estimated > 0 ? "estimated" : NULL;
}

static void set_rows(const struct contender *a, const struct contender *b,
                     const struct interval *intervals, const int64_t *known, struct comparison *ret)
{
    for (int m = 0; m < METRIC_COUNT; m++) {
        struct compare_row *row = &ret->rows[m];

        row->a = intervals[m];
        row->b = intervals[METRIC_COUNT + m];
        row->difference = intervals[2 * METRIC_COUNT + m];
        row->relative = row->a.value != 0 ? row->difference.value / row->a.value : NAN;
        row->n_a = fewer(known, (enum metric)m);
        row->n_b = fewer(known + VALUE_COUNT, (enum metric)m);
        row->verdict = judge(&row->difference, metric_table[m].more_is_better);
        if (metric_table[m].is_energy && row->verdict != COMPARE_NOT_KNOWN)
            row->caveat = energy_caveat(a, b);
    }
}

void compare(const struct contender *a, const struct contender *b,
             const struct bootstrap_options *options, struct comparison *ret)
{
    struct interval intervals[3 * METRIC_COUNT];
    int64_t known[2 * VALUE_COUNT] = {0};
    size_t smaller = a->n_questions < b->n_questions ? a->n_questions : b->n_questions;

    *ret = (struct comparison){0};
    count_common(a, b, ret);
    ret->paired = ret->common > 0 && 2 * ret->common >= (int64_t)smaller;
    if (ret->paired)
        resample_pairs(a, b, options, intervals, known);
    else
        resample_apart(a, b, options, intervals, known);
    set_rows(a, b, intervals, known, ret);
    compare_add_warnings(a, b, ret);
}

void comparison_release(struct comparison *c)
{
    for (size_t i = 0; i < c->n_warnings; i++)
        free(c->warnings[i].text);
    free(c->warnings);
    *c = (struct comparison){0};
}
