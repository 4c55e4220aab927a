/*
 * makerun: a complete run directory without a run: records, telemetry/ and summary.json, written by
 * the store's own writers, whose truth is known. For the tests of what reads runs.
 *
 *     struct makerun m = makerun_default();
 *     struct makerun_truth truth;
 *     m.records = 500;
 *     m.accuracy = 0.8;
 *     makerun_set_joules(&m, 120);
 *     r = makerun(&m, dir, &truth, &err);
 *
 * The same struct gives the same bytes. Every query that succeeds follows
 *
 *     ttft_s   = ttft_base_s + ttft_per_input_token_s * input + noise
 *     total_s  = ttft_s + seconds_per_output_token * (output - 1)
 *     energy_j = energy_base_j + energy_per_token_j * (input + output) + noise
 *
 * where noise is normal with the given deviation (never so large that a value falls below a tenth
 * of what it would be without), and energy_j is that of the record's basis: gpu+cpu (four fifths
 * are the GPU's), or cpu without a GPU. Token counts are uniform between their bounds. A query that
 * fails takes as long and as much energy, and has no tokens, latencies or text.
 *
 * `concurrency` queries are in flight at a time, each lane sending the next `pause_s` after the
 * last ended. Telemetry has, for each rail, a counter and its power, and the GPU's temperature:
 * the power is that of the queries in flight, or the idle power when there is none, so that with
 * one query at a time the counter shows exactly the record's energy between its sent_s and end_s.
 */
#ifndef IPW_TESTS_MAKERUN_H
#define IPW_TESTS_MAKERUN_H

#include "base/err.h"
#include "record/verdict.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAKERUN_STARTED_WALL_NS INT64_C(1769860800000000000) /* 2026-01-31T12:00:00Z */

struct makerun {
    int64_t records;
    uint64_t seed;
    const char *model, *dataset, *dataset_name, *hardware_label;
    const char *gpu_name; /* NULL = the machine has no GPU */
    const char *const *subjects;
    size_t n_subjects; /* 0 = records have none */
    /* Taken in turn for problem, answer, response and error instead of plain ones. */
    const char *const *texts;
    size_t n_texts;

    int64_t input_tokens_min, input_tokens_max, output_tokens_min, output_tokens_max;
    double ttft_base_s, ttft_per_input_token_s, ttft_noise_s;
    double seconds_per_output_token;
    double energy_base_j, energy_per_token_j, energy_noise_j;
    double gpu_idle_w, cpu_idle_w;
    int64_t concurrency;
    double pause_s;

    double accuracy;            /* chance that an answer is correct; NAN = nothing is scored */
    double unscorable_fraction; /* of the queries that succeed */
    double failed_fraction;     /* of all */
    const char *energy_source;  /* "measured", "estimated", "none" */
    enum reason reason;         /* of some records; REASON_COUNT = none */
    double reason_fraction;     /* of which part of them */
    enum reason noted;          /* of the run as a whole; REASON_COUNT = none */

    double telemetry_s; /* 0 = none; NAN = as long as the records take */
    double telemetry_hz;
    double gap_from_s, gap_s; /* nothing is sampled in it; gap_s 0 = no gap */
    bool gap_breaks;          /* continuity is lost over it */

    bool unfinished; /* as a kill leaves it: a journal, no summary.json */
};

/* 100 records on a GPU, measured, 70 % correct, telemetry at 50 Hz. */
struct makerun makerun_default(void);
/* Scales the truth of energy so that the mean of a query is about `mean_j`. */
void makerun_set_joules(struct makerun *m, double mean_j);
/* Model, subjects and texts become what breaks pages and tables that do not quote: markup, quotes,
 * commas, line ends, terminal escapes, right-to-left marks, very long words. */
void makerun_set_hostile(struct makerun *m);

/* What the records hold, added up as they were made. Means are over the queries that succeeded. */
struct makerun_truth {
    int64_t ok, failed, scored, correct, unscorable;
    int64_t input_tokens, output_tokens;
    double joules;         /* of the basis, of all queries */
    double mean_j, mean_w; /* NAN = no energy */
    double seconds;        /* from the first sent to the last end */
    int64_t samples;       /* rows of telemetry/ */
};

/* `dir` must not exist, or be empty. ret may be NULL. */
int makerun(const struct makerun *m, const char *dir, struct makerun_truth *ret, struct err *err);

#endif
