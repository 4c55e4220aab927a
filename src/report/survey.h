/*
 * survey: what the records of a run say together.
 *
 * Everything is counted from the records, not read from summary.json: a run that was interrupted,
 * or that another tool wrote, gets the same figures by the same rules, and the page's head agrees
 * with its table.
 *
 * accuracy = correct / scored. Means are over the queries that came to their end and have the
 * figure. joules per correct answer = the joules of all queries, failed ones too, / correct.
 *
 *     AUTO(survey) struct survey s = {0};
 *     r = survey_take(run, &s, &err);
 */
#ifndef IPW_REPORT_SURVEY_H
#define IPW_REPORT_SURVEY_H

#include "analysis/run.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum metric {
    METRIC_ENERGY_J,
    METRIC_POWER_W,
    METRIC_PER_TOKEN_J,
    METRIC_TOTAL_S,
    METRIC_TTFT_S,
    METRIC_TOKENS_PER_S,
    METRIC_ITL_MS,
    METRIC_INPUT_TOKENS,
    METRIC_OUTPUT_TOKENS,
    METRIC_GPU_W,
    METRIC_CPU_W,
    METRIC_TEMPERATURE_C,
    METRIC_GPU_MEMORY_MB,
    METRIC_CPU_MEMORY_MB,
    METRIC_COUNT
};

struct metric_info {
    const char *label;
    const char *unit;
};
extern const struct metric_info metric_table[METRIC_COUNT];

/* Of the records that have the figure; all NAN when none has. */
struct metric_stats {
    size_t count;
    double avg, median, min, max, std, p90, p95, p99;
};

/* Reasons are few and come from a table; a stranger's may be more. */
#define SURVEY_REASONS_MAX 32

struct survey_reason {
    char code[64];
    int64_t records;
};

struct survey {
    int64_t queries, failed;
    int64_t scored, correct;
    int64_t by_validity[3];
    int64_t measured, estimated, without_energy;
    int64_t samples;                        /* of telemetry, in all queries; -1 = not known */
    double accuracy;                        /* NAN = nothing was scored */
    double mean_j, mean_low_j, mean_high_j; /* bounds NAN unless every query has them */
    double mean_net_j;
    double mean_w;
    double all_j; /* of all queries */
    double ipw, ipj, per_correct_j;
    double mean_coverage, min_coverage;
    double end_s;         /* of the last query */
    char basis[64];       /* rails of the figures: "gpu+cpu"; "mixed"; "" = not known */
    char attribution[32]; /* "exclusive", ...; "mixed" */
    struct metric_stats metrics[METRIC_COUNT];
    struct survey_reason reasons[SURVEY_REASONS_MAX];
    size_t n_reasons;
};

/* Reads all records of the run, from the first. */
int survey_take(struct run *run, struct survey *ret, struct err *err);

#endif
