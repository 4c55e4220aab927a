/*
 * compare: what is different between two runs, and is it more than chance?
 *
 *     AUTO(comparison) struct comparison cmp = {0};
 *     compare(a, b, &(struct bootstrap_options){.seed = 0}, &cmp);
 *     cmp.rows[METRIC_JOULES].difference.low ... .high, .verdict
 *
 * Paired where the questions are the same: each question both runs have is one observation, with
 * its mean in either run, and what it costs to answer at all cancels. A value that one run does not
 * have for a question (it failed there, it was not scored) is left out of both, so that a run does
 * not look better for having failed the hard ones. When fewer than half the questions of the
 * smaller run are in the other, the runs are compared as two independent samples, with a warning.
 *
 * The intervals are bootstrap.h's, over questions, 95 % each: with eight rows the chance that at
 * least one says "better" or "worse" of two runs that are alike is more than 5 % (up to a third).
 * No correction is made for that.
 *
 * Pure.
 */
#ifndef IPW_ANALYSIS_COMPARE_H
#define IPW_ANALYSIS_COMPARE_H

#include "analysis/bootstrap.h"
#include "analysis/contender.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum metric {
    METRIC_ACCURACY,         /* correct / scored */
    METRIC_JOULES,           /* mean of a query */
    METRIC_JOULES_PER_TOKEN, /* sum of joules / sum of output tokens */
    METRIC_SECONDS,          /* mean of a query */
    METRIC_TTFT_S,           /* mean */
    METRIC_TOKENS_PER_S,     /* mean of the queries' own */
    METRIC_IPJ,              /* accuracy / mean joules */
    METRIC_IPW,              /* accuracy / mean watts */
    METRIC_COUNT
};

struct metric_info {
    const char *name;  /* in JSON */
    const char *title; /* with the unit */
    const char *unit;  /* NULL = none */
    bool more_is_better;
    bool is_energy;
};

extern const struct metric_info metric_table[METRIC_COUNT];

enum compare_verdict {
    COMPARE_BETTER,      /* b is better than a: the interval is on that side of 0 */
    COMPARE_WORSE,       /* the same for worse */
    COMPARE_NO_EVIDENCE, /* the interval contains 0, or there are too few questions for one */
    COMPARE_NOT_KNOWN    /* a run does not have the figure */
};

const char *compare_verdict_name(enum compare_verdict v);

struct compare_row {
    struct interval a, b;
    struct interval difference; /* b - a */
    double relative;            /* difference / a; NAN when a is 0 */
    int64_t n_a, n_b;           /* questions it rests on; paired: equal */
    enum compare_verdict verdict;
    const char *caveat; /* "invalid", "estimated": the energy is; NULL = none */
};

struct compare_warning {
    const char *code; /* hardware, load, dataset, verdict, ... */
    char *text;       /* may hold words from the runs' files */
};

struct comparison {
    bool paired;
    int64_t common; /* questions */
    int64_t only_a, only_b;
    struct compare_row rows[METRIC_COUNT];
    struct compare_warning *warnings;
    size_t n_warnings, cap_warnings;
};

void compare(const struct contender *a, const struct contender *b,
             const struct bootstrap_options *options, struct comparison *ret);
void comparison_release(struct comparison *c);

/* Adds what makes a and b less comparable than the figures look; part of compare(). */
void compare_add_warnings(const struct contender *a, const struct contender *b,
                          struct comparison *ret);
/* The load in words: "closed loop with 8 in flight". */
#define COMPARE_LOAD_SIZE 256
void compare_load_text(const struct contender *c, char text[COMPARE_LOAD_SIZE]);

#endif
