/*
 * nnls: how much each of a few causes adds to a sum, when none can add less than nothing.
 *
 *     struct nnls s = {.n_terms = 3};
 *     while (next query)
 *         nnls_add(&s, (double[]){prompt_tokens, output_tokens, seconds}, joules);
 *     if (nnls_solve(&s, names, &fit, &err) < 0) ...              the causes cannot be told apart
 *
 * Least squares of y = sum of coefficient * x without an intercept, every coefficient >= 0. Only
 * sums of products are kept: the memory is that of one row.
 *
 * Standard errors are those of ordinary least squares on the terms that are not 0, for residuals
 * that are independent and alike. A term that the bound holds at 0 has none.
 *
 * Pure: any thread.
 */
#ifndef IPW_ANALYSIS_NNLS_H
#define IPW_ANALYSIS_NNLS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NNLS_TERMS_MAX 4

/* Largest over smallest stretch of the columns when each is scaled to length 1. At 1000 two columns
 * are the same to a tenth of a percent: what is found then is the error of the model, not the
 * cause. */
#define NNLS_CONDITION_MAX 1000.0

/* All zero but n_terms: no rows yet. */
struct nnls {
    size_t n_terms;
    int64_t n;
    double xx[NNLS_TERMS_MAX][NNLS_TERMS_MAX]; /* sums of products */
    double xy[NNLS_TERMS_MAX];
    double yy;
    double mean_y, spread_y; /* spread: sum of squares about the mean */
};

struct nnls_fit {
    double coefficient[NNLS_TERMS_MAX];
    double se[NNLS_TERMS_MAX]; /* NAN = held at 0 */
    double r2;                 /* 1 - residual sum of squares / that about the mean */
    double residual_sd;
    double condition; /* see NNLS_CONDITION_MAX */
};

/* Every number must be finite. */
void nnls_add(struct nnls *s, const double *x, double y);

/* -EDOM when the rows do not determine the coefficients: too few of them (fewer than twice the
 * terms and two more), a term that is 0 throughout, or terms that rise and fall together. `names`
 * has a word for each term, for those words. */
int nnls_solve(const struct nnls *s, const char *const *names, struct nnls_fit *ret,
               struct err *err);

#endif
