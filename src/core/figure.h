/*
 * figure: one quantity over all queries of a run, in a bounded amount of memory.
 *
 *     struct figure f = {0};
 *     figure_add(&f, 12.5);                 again and again; NAN does not count
 *     p95 = figure_percentile(&f, 95);
 *     figure_release(&f);
 *
 * Count, mean, deviation, minimum and maximum are exact. Percentiles are exact up to FIGURE_EXACT
 * values; beyond that the values are counted in classes whose bounds are 0.2 % apart, and a
 * percentile is off by at most 0.1 % of itself. No values give NAN.
 */
#ifndef IPW_CORE_FIGURE_H
#define IPW_CORE_FIGURE_H

#include <stddef.h>
#include <stdint.h>

#define FIGURE_EXACT 10000

struct figure {
    int64_t n;
    double mean, m2; /* of Welford's recurrence */
    double min, max;
    double *values; /* while there are few */
    size_t cap;
    int64_t *classes; /* once there are many */
};

void figure_add(struct figure *f, double value);
void figure_release(struct figure *f);

double figure_mean(const struct figure *f);
/* Of a sample (divided by n - 1); 0 for a single value. */
double figure_std(const struct figure *f);
double figure_min(const struct figure *f);
double figure_max(const struct figure *f);
/* As stats_percentile. Sorts the values. */
double figure_percentile(struct figure *f, double percent);

#endif
