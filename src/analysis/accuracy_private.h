/*
 * What accuracy.c (adding up) and accuracy_write.c (saying it) share.
 */
#ifndef IPW_ANALYSIS_ACCURACY_PRIVATE_H
#define IPW_ANALYSIS_ACCURACY_PRIVATE_H

#include "analysis/analysis.h"
#include "analysis/bootstrap.h"
#include "analysis/breakdown.h"
#include "analysis/cluster.h"
#include "analysis/scoring.h"
#include "core/figure.h"

#include <stdbool.h>
#include <stdint.h>

/* Records that are listed one by one in the document: the first of the run. */
#define ACCURACY_LISTED_MAX   1000
#define ACCURACY_LISTED_BYTES ((size_t)8 << 20)

/* What intervals are given for. */
enum {
    ACCURACY_IPJ,
    ACCURACY_IPW,
    ACCURACY_J_PER_CORRECT,
    ACCURACY_MEAN_J,
    ACCURACY_MEAN_W,
    ACCURACY_FIGURES
};

struct accuracy {
    const char *model;
    struct scoring scoring;
    const struct answer_judge *judge; /* NULL = none */
    int64_t records;
    int64_t counts[OUTCOME_COUNT];
    struct breakdown by_subject, by_difficulty;

    /* of queries that did not fail */
    struct figure energy_j, power_w;
    double joules;        /* of all, and of ... */
    double joules_failed; /* ... those that failed */
    int64_t n_joules;     /* queries whose energy is known, failed ones included */
    int64_t zero_energy, imputed, zero_power, derived_power, sensor_power;
    double imputed_j;
    int64_t estimated, unstated; /* by where their energy comes from */
    int64_t short_energy;        /* far below power times time, in a run that does not check that */
    char basis[16];              /* "" = none, "mixed" */

    struct clusters clusters;
    struct bootstrap_sample sample;
    struct interval figures[ACCURACY_FIGURES];

    struct buf listed; /* JSON: elements of an array */
    int64_t n_listed;
};

static inline int64_t accuracy_scored(const struct accuracy *a)
{
    return a->counts[OUTCOME_CORRECT] + a->counts[OUTCOME_WRONG];
}

/* The members "summary", "warnings" and "data", and "judge" when there was one: what it cost is
 * told, and mixed into nothing. */
int accuracy_write(struct accuracy *a, struct json_writer *w, struct err *err);

#endif
