/*
 * bench: one way to print a row. ./bench collects the rows of all programs into its table.
 */
#ifndef IPW_BENCHES_BENCH_H
#define IPW_BENCHES_BENCH_H

#include <stdio.h>

/* limit and measured in the same unit, or NAN; `figure` is what the goal speaks of. */
static inline void bench_row(const char *what, const char *limit_is, const char *limit,
                             const char *measured, double figure, const char *unit, double goal,
                             int smaller_is_better)
{
    int ok = smaller_is_better ? figure <= goal : figure >= goal;

    printf("%s\t%s\t%s\t%s\t%.3g%s\t%s %g%s\t%s\n", what, limit_is, limit, measured, figure, unit,
           smaller_is_better ? "<=" : ">=", goal, unit, ok ? "ok" : "MISS");
    fflush(stdout);
}

#endif
