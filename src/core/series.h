/*
 * series: what one channel showed over time.
 *
 * A tick is a value with the interval in which it became true: after `after`, at the latest at
 * `seen`. For a gauge (power, temperature, ...) the two are the clock before and after the read.
 * For a counter only changes are ticks: `after` is when the read that still showed the old value
 * began, `seen` when the read that first showed the new one ended. Counter values are joules since
 * the first read, wraps undone.
 *
 * A tick flagged TICK_BREAK has no continuity with the one before it: the first of all, a counter
 * that was reset, a source that came back. Energy across a break is not known and never guessed.
 * On a counter a break is a level, not an edge: the value was shown at `seen`, but since when is
 * not known, so it bounds the energy from below and is no point to interpolate from.
 */
#ifndef IPW_CORE_SERIES_H
#define IPW_CORE_SERIES_H

#include "base/clock.h"

#include <stddef.h>
#include <stdint.h>

enum { TICK_BREAK = 1 };

struct tick {
    mono_ns after;
    mono_ns seen;
    double value;
    uint32_t flags;
};

/* A stretch in which the source was not read: longer than three periods, or the source failed. */
struct gap {
    mono_ns from;
    mono_ns to;
};

/* A slice of a channel's history: every tick that touches the window asked for, and where they
 * exist the two before and the two after it; gaps likewise. */
struct series {
    struct tick *ticks;
    size_t n_ticks;
    size_t cap_ticks;
    struct gap *gaps;
    size_t n_gaps;
    size_t cap_gaps;
    mono_ns read_from;  /* the channel was being read from here ... */
    mono_ns read_until; /* ... to here (end of the latest read) */
};

void series_add(struct series *s, struct tick t);
void series_add_gap(struct series *s, struct gap g);
void series_clear(struct series *s);
void series_release(struct series *s);
/* The index of the first tick with seen > t (n_ticks when none). O(log n). */
size_t series_after(const struct series *s, mono_ns t);

#endif
