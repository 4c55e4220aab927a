/*
 * fit: a straight line through points that are seen once.
 *
 *     struct fit f = {.log_x = true};
 *     while (next point)
 *         fit_add(&f, x, y);
 *     struct fit_line line = fit_line(&f);          y = intercept + slope * ln(x)
 *
 * Ordinary least squares. Only means and sums of products about them are kept, so that a million
 * points take the memory of one and nothing is lost to cancellation when values are large.
 *
 * The rules are those of the Python tool: a pair with a value that is not finite is left out, with
 * log_x also one whose x is not positive; `avg_y` is over all y all the same.
 *
 * Pure: any thread.
 */
#ifndef IPW_ANALYSIS_FIT_H
#define IPW_ANALYSIS_FIT_H

#include <stdbool.h>
#include <stdint.h>

/* All zero: no points yet. */
struct fit {
    bool log_x;        /* set before the first point: fit against ln(x) */
    int64_t n_all;     /* points offered */
    double mean_all_y; /* of those */
    int64_t n;         /* points taken; the rest is about them */
    double mean_x, mean_y;
    double sxx, sxy, syy; /* sums of products of the distances from the means */
};

struct fit_line {
    int64_t count; /* points taken; of a single point offered: 1 */
    /* NAN when fewer than 2 points were taken or all have the same x. */
    double slope, intercept;
    double r2; /* 1 - residual / total sum of squares; 1 when all y are the same */
    /* Standard errors, for residuals that are independent and alike; NAN below 3 points. */
    double slope_se, intercept_se;
    double avg_y; /* over all points offered; NAN when there are none */
};

void fit_add(struct fit *f, double x, double y);
struct fit_line fit_line(const struct fit *f);

#endif
