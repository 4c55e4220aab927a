/*
 * basis: the energy and power by which a stored query is judged, for every kind of run.
 *
 * A record of ours names its rails and has what was measured (run.h's record_joules). Runs of the
 * Python tool need its rules: the whole SoC counts on Apple's machines, but only where both its
 * energy and its power are there, else both are the GPU's; an energy of 0 comes from a query in
 * which the sensor was seen only once, and is made up from power and time where these are known.
 *
 * Pure: any thread.
 */
#ifndef IPW_ANALYSIS_BASIS_H
#define IPW_ANALYSIS_BASIS_H

#include "core/record.h"

#include <stdbool.h>

/* An energy or power this small is 0. */
#define BASIS_ZERO 1e-12

struct basis {
    const char *name;   /* "gpu", "gpu+cpu", "soc", "cpu"; NULL = neither energy nor power */
    double reported_j;  /* as stored; NAN = absent */
    double sensor_w;    /* the first of avg, median, max, min that is there; NAN = none */
    double energy_j;    /* what counts: positive, perhaps made up; NAN = not known */
    double power_w;     /* what counts: energy over time, else the sensor's; NAN = not known */
    bool zero_energy;   /* 0 was reported ... */
    bool imputed;       /* ... and energy_j is power times time */
    bool zero_power;    /* the sensor showed 0 */
    bool sensor_counts; /* power_w is the sensor's */
};

void basis_of(const struct record *r, struct basis *ret);

#endif
