/*
 * energy: joules, watts and other figures of a window [a, b], with bounds, from a series.
 *
 * Pure arithmetic: no clock, no I/O, no state. Method (docs/measurement.md):
 *
 * A counter's energy E(t) never falls. At a tick it equals the shown value, and the tick's time
 * lies in (after, seen]. The estimate takes the middle of that interval as the tick's time and
 * interpolates linearly between ticks; E(b) - E(a) is the window's energy. The bounds use only what
 * is certain: E(t) is at least the value of the last tick whose `seen` is not later than t, and at
 * most that of the first tick whose `after` is not earlier than t (plus one quantum, since a
 * counter shows whole steps). A break, or a gap of the source, inside the window makes the energy
 * absent (NAN): nothing is guessed across it. Where no tick follows b yet the upper bound is
 * absent.
 *
 * A power sensor is integrated by trapezoid over its samples at the middle of (after, seen], held
 * constant to the edges from the nearest sample not farther than three of its periods; its bounds
 * take, between two samples, the smaller and the larger of both.
 */
#ifndef IPW_RECORD_ENERGY_H
#define IPW_RECORD_ENERGY_H

#include "core/channel.h"
#include "core/series.h"

#include <stdbool.h>
#include <stdint.h>

struct energy {
    double joules; /* NAN: not known */
    double low_j;
    double high_j;
    int64_t ticks;   /* inside the window */
    double coverage; /* part of the window in which the source was being read, 0..1 */
    int64_t gaps;    /* breaks and gaps that touch the window */
};

/* The channel's quantity says whether it is a counter or a power sensor. */
struct energy energy_of_window(const struct channel *c, const struct series *s, mono_ns a,
                               mono_ns b);
/* Sum over devices or rails: NAN if any is NAN; coverage is the smallest. */
struct energy energy_add(struct energy x, struct energy y);

/* E(t) of a counter by the same interpolation, NAN where not known: for attribution, which needs
 * the energy between many instants. */
double energy_at(const struct series *s, mono_ns t);

/* avg, max, median, min of a gauge over a window (values whose interval touches it; where none
 * does, the nearest within three periods). For a counter: of the power between successive ticks,
 * avg being energy over time. All NAN when there is nothing. */
struct stat4 {
    double avg, max, median, min;
};
struct stat4 stats_of_window(const struct channel *c, const struct series *s, mono_ns a, mono_ns b);

#endif
