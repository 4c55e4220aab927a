/*
 * series: what one channel showed over time.
 *
 * A tick is a value with the interval in which it was, or became, true.
 *
 * Counter (QUANTITY_ENERGY_J): only changes are ticks. The new value became true after `after`,
 * when the last read that still showed the old value began, and at the latest at `seen`, when the
 * read that first showed the new one ended. `at` is the best single guess inside that interval:
 * the sampler knows the source's rhythm and so often knows better than the middle. Bounds use
 * `after` and `seen` only, never the guess. Values are joules since the first read, wraps undone;
 * they never fall.
 *
 * Gauge (everything else): the value was shown by every read from `after` (the beginning of the
 * first) to `seen` (the end of the last); equal values in a row are one tick of at most
 * SERIES_HOLD_NS. `at` is the middle.
 *
 * `after`, `at` and `seen` never fall from one tick to the next.
 *
 * A tick flagged TICK_BREAK has no continuity with the one before it: the first of all, a counter
 * that was reset, the first after the machine slept. Energy across a break is not known and never
 * guessed. On a counter a break is a level, not an edge: the value was shown at `seen` (= `at`),
 * but since when is not known, so it bounds the energy from below and is no point to interpolate
 * from.
 *
 * A gap is a stretch in which the source was not read. On a counter it costs certainty, not
 * energy: the counter went on counting. On a gauge what happened in it is not known.
 */
#ifndef IPW_CORE_SERIES_H
#define IPW_CORE_SERIES_H

#include "base/clock.h"

#include <stddef.h>
#include <stdint.h>

enum { TICK_BREAK = 1 };

/* So many ticks beyond each end of a window belong to its slice, where they exist. */
#define SERIES_MARGIN 4
/* A gauge that stands still is written down again after this long. */
#define SERIES_HOLD_NS NS_PER_S

struct tick {
    mono_ns after;
    mono_ns seen;
    mono_ns at;
    double value;
    uint32_t flags;
};

/* Longer than three periods, or the source failed. `to` is MONO_NEVER when it never came back. */
struct gap {
    mono_ns from;
    mono_ns to;
};

/* A slice of a channel's history: every tick that touches the window asked for, SERIES_MARGIN more
 * on each side, and the gaps among them. An empty one is all zero. */
struct series {
    struct tick *ticks;
    size_t n_ticks;
    size_t cap_ticks;
    struct gap *gaps;
    size_t n_gaps;
    size_t cap_gaps;
    mono_ns read_from;  /* the channel was being read from here ... */
    mono_ns read_until; /* ... to here (end of the latest read); both 0 = never */
    mono_ns period_ns;  /* usual time between reads, 0 = not known */
};

void series_add(struct series *s, struct tick t);
/* Room for n more ticks. */
void series_reserve(struct series *s, size_t n);
void series_add_gap(struct series *s, struct gap g);
/* Empties it and keeps the memory. */
void series_clear(struct series *s);
void series_release(struct series *s);
/* The index of the first tick with seen > t (n_ticks when none). O(log n). */
size_t series_after(const struct series *s, mono_ns t);
/* The index of the first tick with at > t (n_ticks when none). O(log n). */
size_t series_at_after(const struct series *s, mono_ns t);
/* The part of [a, b] in which the channel was being read, 0..1: what lies in [read_from,
 * read_until] and in no gap. An empty window is 1 or 0. The number of gaps that touch the window
 * goes to ret_gaps unless NULL. */
double series_coverage(const struct series *s, mono_ns a, mono_ns b, int64_t *ret_gaps);

#endif
