/*
 * simrun: the sampler in virtual time.
 *
 * Runs the sampler's own pace and history over simulated counters without a thread or a clock: wake
 * too late as a busy machine does, take some time per read, hand over, ask when to wake next. Hours
 * pass in milliseconds and every run is the same.
 */
#ifndef IPW_TESTS_SIMRUN_H
#define IPW_TESTS_SIMRUN_H

#include "simcounter.h"
#include "telemetry/history.h"
#include "telemetry/pace.h"

struct simrun_options {
    mono_ns period_ns;
    bool fixed;
    mono_ns late_ns;       /* a wake-up is on average this late (exponential) */
    mono_ns stall_ns;      /* one wake-up in 64 is up to this much later still */
    mono_ns read_ns;       /* duration of one counter's read */
    mono_ns documented_ns; /* refresh the channels claim; 0 = not known */
    uint64_t seed;
};

#define SIMRUN_MAX 8

struct simrun {
    struct simrun_options options;
    const struct simcounter *counters;
    size_t n;
    struct history histories[SIMRUN_MAX];
    struct pace_need needs[SIMRUN_MAX];
    struct pace pace;
    uint64_t rounds;
};

/* n counters of one source, read from `start` on. */
void simrun_init(struct simrun *r, const struct simrun_options *o,
                 const struct simcounter *counters, size_t n, mono_ns start);
/* Goes on until a read ends after t. */
void simrun_until(struct simrun *r, mono_ns t);
/* The slice for a window, as sampler_copy makes it. */
void simrun_copy(const struct simrun *r, size_t counter, mono_ns a, mono_ns b, struct series *ret);
void simrun_release(struct simrun *r);

#endif
