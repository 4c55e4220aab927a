/*
 * bench_row: how a bench says what it found, for ./bench to collect.
 *
 * One line per figure on stdout, tab-separated:
 *     name  limit description  limit value  measured value  ratio or value  goal  ok|MISS
 */
#ifndef IPW_BENCHES_BENCH_ROW_H
#define IPW_BENCHES_BENCH_ROW_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

struct bench_row {
    const char *name;
    const char *limit;  /* what it is measured against */
    double limit_value; /* both in `unit` */
    double measured;
    const char *unit;
    double value; /* what the goal is about: a ratio, or the measured value itself */
    const char *value_unit;
    const char *goal;
    bool ok;
};

static inline void bench_print(const struct bench_row *r)
{
    printf("%s\t%s\t%.3f %s\t%.3f %s\t%.3f%s\t%s\t%s\n", r->name, r->limit, r->limit_value, r->unit,
           r->measured, r->unit, r->value, r->value_unit, r->goal, r->ok ? "ok" : "MISS");
    fflush(stdout);
}

static inline int bench_compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* Sorts values; q in 0..1. */
static inline double bench_quantile(double *values, size_t n, double q)
{
    qsort(values, n, sizeof(*values), bench_compare);
    return values[(size_t)((double)(n - 1) * q + 0.5)];
}

#endif
