/*
 * validate: is this run sound? Reads every row and every sample, and compares what the files say of
 * each other.
 */
#ifndef IPW_STORE_VALIDATE_H
#define IPW_STORE_VALIDATE_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct finding {
    bool fatal; /* unsound: the numbers cannot be trusted */
    char text[ERR_TEXT_MAX];
};

struct validation {
    int64_t rows;
    int64_t failed;                   /* queries that ended in an error */
    int64_t valid, degraded, invalid; /* by the records' own verdicts */
    int64_t telemetry_rows;           /* -1 = the run has none */
    char verdict[16];                 /* of the run: from summary.json; "" = it has none */
    struct finding *findings;
    size_t n, cap;
    bool sound; /* no fatal finding */
};

/* Never fails: what is wrong is a finding. An interrupted run is recovered first. */
void validate_run(const char *dir, struct validation *ret);
void validation_release(struct validation *v);

#endif
