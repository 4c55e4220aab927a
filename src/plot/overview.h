/*
 * overview: one run in a few figures, for what compares several.
 */
#ifndef IPW_PLOT_OVERVIEW_H
#define IPW_PLOT_OVERVIEW_H

#include "analysis/run.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct overview {
    char *name; /* the model, or, where several runs have the same, the directory's name too */
    const char *model; /* the run's */
    int64_t scored, correct;
    double mean_j, mean_j_error; /* of a query, and the mean's standard error; NAN = not known */
    double j_per_token;          /* all joules / all output tokens of the queries that have both */
    double p95_s;                /* of the latency */
    bool estimated;
};

/* Reads every run. The n overviews belong to the caller: overviews_free. */
int overviews_read(struct run *const *runs, size_t n, struct overview **ret, struct err *err);
void overviews_free(struct overview *o, size_t n);

#endif
