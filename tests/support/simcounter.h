/*
 * simcounter: an energy counter as hardware makes them, over a known power curve.
 *
 * A pure function of time: every refresh (with jitter) the counter copies the energy so far, cut to
 * whole quanta, modulo its range; in between it shows the same value. The curve's time is the
 * monotonic clock in seconds minus epoch.
 */
#ifndef IPW_TESTS_SIMCOUNTER_H
#define IPW_TESTS_SIMCOUNTER_H

#include "base/clock.h"
#include "simcurve.h"

struct simcounter {
    const struct simcurve *power;
    mono_ns epoch;
    mono_ns refresh_ns; /* 0 = always current */
    mono_ns phase_ns;   /* of the first refresh after epoch */
    mono_ns jitter_ns;  /* each refresh comes up to this much early or late; < refresh / 2 */
    uint64_t seed;      /* of the jitter */
    double offset_j;    /* shown at energy 0 */
    double quantum_j;   /* 0 = none */
    double range_j;     /* 0 = never wraps */
};

/* The time of the latest refresh at or before t. */
mono_ns simcounter_refreshed(const struct simcounter *c, mono_ns t);
/* What is shown at t. */
double simcounter_shown(const struct simcounter *c, mono_ns t);
/* The true energy of a window. */
double simcounter_joules(const struct simcounter *c, mono_ns a, mono_ns b);

#endif
