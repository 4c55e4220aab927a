/*
 * breakdown: the same counts for each subject, or each difficulty.
 *
 *     struct breakdown b = {0};
 *     breakdown_add(&b, record->subject, outcome, joules);
 *     breakdown_write(&b, &w, "by_subject");
 *     breakdown_release(&b);
 *
 * At most BREAKDOWN_MAX names; what comes later counts under BREAKDOWN_OTHERS.
 */
#ifndef IPW_ANALYSIS_BREAKDOWN_H
#define IPW_ANALYSIS_BREAKDOWN_H

#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

#define BREAKDOWN_MAX    1000
#define BREAKDOWN_OTHERS "(others)"

/* What came of a query. */
enum outcome {
    OUTCOME_WRONG,
    OUTCOME_CORRECT,
    OUTCOME_UNSCORABLE,        /* a scorer looked and could not tell */
    OUTCOME_UNSCORED,          /* none looked */
    OUTCOME_FAILED_EVALUATION, /* it looked and broke */
    OUTCOME_FAILED,            /* there is no answer */
    OUTCOME_COUNT
};

struct breakdown_part {
    char *name;
    int64_t counts[OUTCOME_COUNT];
    double joules;    /* of the queries that did not fail ... */
    int64_t n_joules; /* ... and whose energy is known */
};

/* All zero: no names. */
struct breakdown {
    struct breakdown_part *parts; /* by name */
    size_t n, cap;
};

/* joules NAN = not known. */
void breakdown_add(struct breakdown *b, const char *name, enum outcome outcome, double joules);
/* An object with a member for each name, as the member `key`: counts, accuracy with Wilson's
 * interval, mean joules, intelligence per joule. */
void breakdown_write(const struct breakdown *b, struct json_writer *w, const char *key);
void breakdown_release(struct breakdown *b);

#endif
