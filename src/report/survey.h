/*
 * survey: what the records of a run say together: the tally of analysis/, and how well it was
 * measured.
 *
 * Everything is counted from the records, not read from summary.json: a run that was interrupted,
 * or that another tool wrote, gets the same figures by the same rules, and the page's head agrees
 * with its table.
 *
 *     AUTO(survey) struct survey s = {0};
 *     r = survey_take(run, &s, &err);
 */
#ifndef IPW_REPORT_SURVEY_H
#define IPW_REPORT_SURVEY_H

#include "analysis/run.h"
#include "analysis/tally.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* Of the records that have the figure; all NAN when none has. */
struct metric_stats {
    int64_t count;
    double avg, median, min, max, std, p90, p95, p99;
};

/* Reasons are few and come from a table; a stranger's may be more. */
#define SURVEY_REASONS_MAX 32

struct survey_reason {
    char code[64];
    int64_t records;
};

struct survey {
    struct tally tally;
    struct tally_efficiency efficiency;
    struct metric_stats metrics[TALLY_FIGURES];
    double mean_low_j, mean_high_j; /* bounds of the mean; NAN unless every query has them */
    double mean_net_j;              /* idle subtracted; NAN unless every query has it */
    double mean_coverage, min_coverage;
    int64_t by_validity[3];
    char basis[64];       /* rails of the figures: "gpu+cpu"; "mixed"; "" = not known */
    char attribution[32]; /* "exclusive", ...; "mixed" */
    struct survey_reason reasons[SURVEY_REASONS_MAX];
    size_t n_reasons;
};

/* Reads all records of the run, from the first. *ret is to be released. */
int survey_take(struct run *run, struct survey *ret, struct err *err);
void survey_release(struct survey *s);

#endif
