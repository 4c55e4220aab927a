/*
 * tally: what a run came to, added up from its records.
 *
 *     struct tally t = {0};
 *     while (run_next(...) > 0)
 *         tally_add(&t, record);
 *     tally_efficiency(&t, &e);
 *     tally_release(&t);
 *
 * Memory is bounded (figure.h). A failed query enters no figure; its joules do count where all
 * joules are asked for: they were spent.
 */
#ifndef IPW_ANALYSIS_TALLY_H
#define IPW_ANALYSIS_TALLY_H

#include "analysis/breakdown.h"
#include "base/json.h"
#include "core/figure.h"
#include "core/record.h"

#include <stdbool.h>
#include <stdint.h>

enum tally_figure {
    TALLY_ENERGY_J,
    TALLY_POWER_W,
    TALLY_J_PER_OUTPUT_TOKEN,
    TALLY_TTFT_S,
    TALLY_TOTAL_S,
    TALLY_TOKENS_PER_S,
    TALLY_ITL_MEDIAN_MS,
    TALLY_INPUT_TOKENS,
    TALLY_OUTPUT_TOKENS,
    TALLY_GPU_POWER_W,
    TALLY_CPU_POWER_W,
    TALLY_TEMPERATURE_C,
    TALLY_GPU_MEMORY_MB,
    TALLY_CPU_MEMORY_MB,
    TALLY_FIGURES
};

struct tally_name {
    const char *key;   /* in summary.json: "energy_joules" */
    const char *title; /* for people: "Energy" */
    const char *unit;  /* "J" */
};
extern const struct tally_name tally_names[TALLY_FIGURES];

struct tally {
    int64_t records, failed;
    int64_t scored, correct, unscorable, unscored; /* of those that did not fail */
    int64_t input_tokens, output_tokens;           /* told by the server */
    bool has_tokens;
    struct breakdown by_subject;
    struct figure figures[TALLY_FIGURES];
    double joules, joules_of_failed; /* of the basis */
    int64_t without_energy, estimated;
    double joules_with_tokens;  /* of those whose output tokens are known ... */
    int64_t tokens_with_joules; /* ... and their tokens */
    double shared_j,
        spread_j;        /* where requests overlapped: the total, and what the rules differ by */
    double coverage_min; /* NAN = not known */
    char basis[16];      /* "" = none */
};

void tally_add(struct tally *t, const struct record *r);
void tally_release(struct tally *t);

/* What scored records mean. Everything is NAN where its parts are not known. */
struct tally_efficiency {
    double accuracy;           /* correct / scored */
    double mean_j, mean_w;     /* of a query */
    double ipj, ipw;           /* accuracy / mean_j, accuracy / mean_w */
    double j_per_correct;      /* all joules / correct */
    double j_per_output_token; /* all joules / all output tokens, of the queries that have both */
    double tokens_per_j;
};
void tally_efficiency(const struct tally *t, struct tally_efficiency *ret);
/* The same as the member `efficiency` of summary.json. */
void tally_efficiency_json(const struct tally *t, struct json_writer *w);
/* Where the joules come from: "measured", "estimated", "none". */
const char *tally_source(const struct tally *t);
/* How far the two rules of sharing energy lie apart, relative; NAN where no query overlapped. */
double tally_spread(const struct tally *t);

#endif
