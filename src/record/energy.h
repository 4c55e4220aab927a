/*
 * energy: joules, watts and other figures of a window [a, b], with bounds, from a series.
 *
 * Pure arithmetic: no clock, no I/O, no state.
 *
 * Counter. Its energy E(t) never falls and at a tick equals the shown value. The window's energy is
 * E(b) - E(a). Between two ticks E is reconstructed from them and their neighbours: the powers
 * before and after are carried on from both sides (with their trend, where it is the same on both
 * sides of a tick) and meet at the instant where they account for the energy in between. So a
 * power that steps at the window's edge, as it does when a query starts on an idle machine, is
 * placed at the right instant inside a 100 ms tick; where the neighbours cannot account for it
 * (a spike within one tick) E is a straight line. On load that starts and ends with the query
 * this makes the error a tenth of the straight line's, on other load it changes little
 * (bench_energy). E(t) depends on three ticks on each side of t and is final once they are there.
 *
 * The bounds use only what is certain: E(t) is at least the value of the last tick whose `seen` is
 * not later than t, and at most that of the first tick whose `after` is not earlier than t, plus
 * one quantum, since a counter shows whole steps. They contain the truth of any counter that shows
 * what it has counted.
 *
 * A break inside the window makes the energy absent (NAN): nothing is guessed across it. A gap does
 * not: the counter went on counting; it shows in `coverage` and `gaps`. Where no tick follows b
 * yet, E goes on for at most one more tick's time and then stands still, and the upper bound is
 * absent; where b was not reached by any read, or the window lies wholly after the last tick or
 * before the first change, the energy is absent.
 *
 * Power sensor. Integrated by trapezoid: constant while reads show the same value, a straight line
 * between values, held at the edges from the nearest value not farther away than three periods.
 * Its bounds take, between two values, the smaller and the larger of both. Where less than
 * ENERGY_COVERAGE_MIN of the window was read, or across a break, the energy is absent.
 */
#ifndef IPW_RECORD_ENERGY_H
#define IPW_RECORD_ENERGY_H

#include "core/channel.h"
#include "core/series.h"
#include "core/stats.h"

#include <stdint.h>

#define ENERGY_COVERAGE_MIN 0.95

struct energy {
    double joules; /* NAN: not known */
    double low_j;  /* NAN: not known; else low_j <= joules <= high_j */
    double high_j;
    int64_t ticks;   /* changes (power: values) inside the window */
    double coverage; /* part of the window in which the source was being read, 0..1 */
    int64_t gaps;    /* breaks and gaps that touch the window */
};

/* The channel's quantity says whether it is a counter or a power sensor; anything else is absent.
 * O(log n) to find the edges, O(ticks in the window) to sum. */
struct energy energy_of_window(const struct channel *c, const struct series *s, mono_ns a,
                               mono_ns b);
/* Sum over devices or rails: NAN if any is NAN; ticks and coverage are the smaller ones, gaps
 * add up. */
struct energy energy_add(struct energy x, struct energy y);

/* E(t) of a counter by the same reconstruction, NAN where not known: for attribution, which needs
 * the energy between many instants. Differences mean something only where no break lies between
 * (energy_of_window of the whole says so). O(log n). */
double energy_at(const struct series *s, mono_ns t);

/* avg, max, median, min over a window, weighted by time. Gauge: of the values whose interval
 * touches the window; where none does, of the nearest within three periods. Counter: avg is energy
 * over time, the others are those of the power between successive ticks, taken together until they
 * are long enough that the uncertainty of their times is below a tenth. All NAN when there is
 * nothing. */
struct stat4 stats_of_window(const struct channel *c, const struct series *s, mono_ns a, mono_ns b);

#endif
