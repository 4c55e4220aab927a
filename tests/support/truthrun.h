/*
 * truthrun: `ipw profile` against a server that knows what every answer of it cost.
 *
 * Starts the test server with a powercap counter of its own work, profiles it with sensors that
 * are nothing but that counter, and compares every record with the server's log:
 *
 *     struct truthrun_options o = {.ipw = ipw, .testserver = server, .base_w = 60, ...};
 *     r = truthrun(&o, &result, &err);
 *     ... result.error_pct[0 .. result.n) ...
 *     truthrun_release(&result);
 *
 * The truth of a query is the price of its own tokens and its part of the base: equal parts of it
 * for all in flight at an instant. One that was alone has all of the base in the time that its
 * record claims, so that its error is that of the energy and not of the clock.
 */
#ifndef IPW_TESTS_TRUTHRUN_H
#define IPW_TESTS_TRUTHRUN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct truthrun_options {
    const char *ipw, *testserver; /* programs */
    double refresh_ms;            /* of the counter */
    double base_w, prompt_j, token_j;
    size_t queries;
    int tokens_min, tokens_max; /* of an answer */
    int prompt_min, prompt_max; /* tokens */
    const char *itl;            /* of the server: "20ms" */
    bool alone;                 /* one after the other */
    const char *load[8];        /* options of profile, NULL-ended: "--concurrency", "8" */
};

struct truthrun_result {
    double *error_pct; /* of each query; sorted */
    size_t n;
    double *equal_pct; /* of the other rule, of those that were not alone; sorted */
    size_t n_equal;
    size_t unknown; /* without an energy: not among the n */
    size_t inside;  /* of the n: the truth lies in the record's bounds */
    double shortest_s, longest_s;
    double conservation;    /* as the summary has it */
    double sum_error;       /* sum of records and idle against the meter, relative */
    double total_error_pct; /* the meter against the price of all tokens and the base */
    double peak_in_flight;
};

/* -EIO when a program did not end well, or a record has no counterpart. */
int truthrun(const struct truthrun_options *o, struct truthrun_result *ret, struct err *err);
void truthrun_release(struct truthrun_result *r);

#endif
