/*
 * simsource: a collector over simulated counters and gauges, on the real clock, that can be as
 * slow, broken or wrong as asked.
 *
 *     struct simsource sim = {.counters = c, .n_counters = 1, .read_ns = 50 * NS_PER_US};
 *     simsource_next(&sim);
 *     sampler_add(s, &simsource_ops, &env, &err);       opens `sim`
 *
 * The config stays the test's and must outlive the collector.
 */
#ifndef IPW_TESTS_SIMSOURCE_H
#define IPW_TESTS_SIMSOURCE_H

#include "simcounter.h"
#include "telemetry/collector.h"

#include <stdatomic.h>
#include <stdbool.h>

struct simsource {
    const struct simcounter *counters; /* one energy channel each */
    size_t n_counters;
    const struct simcurve *gauge; /* one power channel that shows the curve itself; NULL = none */
    mono_ns epoch;                /* of the gauge */
    mono_ns documented_ns;        /* refresh that the channels claim */
    mono_ns read_ns;              /* how long a read takes */
    /* Called for each value about to be put; may change it. */
    double (*twist)(struct simsource *self, size_t channel, int64_t read, double value);
    /* Reads for which this returns true fail as a whole. */
    bool (*fails)(struct simsource *self, int64_t read);
    atomic_bool hang; /* the next read blocks until this is false */
    atomic_int_least64_t reads;
    atomic_int opened, closed;
    const char *note; /* said at open */
    int open_error;   /* errno; 0 = opens */
};

/* What the next open() of simsource_ops opens. */
void simsource_next(struct simsource *s);
extern const struct collector_ops simsource_ops;

#endif
