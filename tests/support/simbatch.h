/*
 * simbatch: an inference server with eight slots and a known truth, in virtual time.
 *
 * A step of it costs base_w times its time and something per token; the first is shared equally by
 * those in flight, the second is the token's own, the same for prompt and output. The client sees
 * the tokens up to 3 ms late, the meter shows the energy every 100 ms. The same numbers every time.
 */
#ifndef IPW_TESTS_SIMBATCH_H
#define IPW_TESTS_SIMBATCH_H

#include <stdbool.h>
#include <stdint.h>

#define SIMBATCH_QUERIES 300

struct simbatch_errors {
    double median_pct, p95_pct; /* of a query's share by tokens */
    double equal_pct;           /* median, by heads */
    double imbalance;           /* see attribution_imbalance */
};

/* Serves the queries and attributes their energy. base_known: the idle power was measured. */
void simbatch_compare(double base_w, double token_j, bool base_known, uint64_t seed,
                      struct simbatch_errors *ret);

#endif
