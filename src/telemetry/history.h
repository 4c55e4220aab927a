/*
 * history: everything one channel has shown, as ticks, and the judgement of what it shows.
 *
 * The sampler's thread calls history_put for each value; the rest is for readers. Ticks are kept in
 * blocks that never move, so that adding one costs the same after an hour as at the start; a tick
 * is known by its number, counted from the channel's first. Not thread-safe: its source's lock
 * guards it.
 *
 * A counter's value is judged against the one before:
 *   equal         no tick, but the next change is known to be later than this read's begin
 *   larger        a tick, unless it would take more than HISTORY_ABSURD_W to get there: a break
 *   smaller       wrapped, if the counter has a range, the step is less than half of it and takes
 *                 less than HISTORY_WRAP_W; else reset: a break
 * The power that a step takes is reckoned over the time since the last change, or the longest time
 * between changes so far (HISTORY_REFRESH_NS at first), since a step holds a whole refresh however
 * short the reads are apart. A counter with a range that was not read for so long that it may have
 * gone round unseen (at four times its largest power so far): a break.
 * Values that no such quantity can have (not finite, negative joules, 500 000 W) are failed reads.
 */
#ifndef IPW_TELEMETRY_HISTORY_H
#define IPW_TELEMETRY_HISTORY_H

#include "core/channel.h"
#include "core/series.h"
#include "telemetry/pace.h"

#include <stdbool.h>
#include <stdint.h>

#define HISTORY_BLOCK  256
#define HISTORY_RECENT 15

#define HISTORY_WRAP_W   20e3
#define HISTORY_ABSURD_W 100e3
/* Assumed until something is known. */
#define HISTORY_PEAK_W     500.0
#define HISTORY_REFRESH_NS NS_PER_S

/* What a value turned out to be. */
enum history_verdict {
    HISTORY_OK,
    HISTORY_REFUSED, /* no such value exists: a failed read */
    HISTORY_RESET,   /* the counter went backwards: a break */
    HISTORY_JUMPED,  /* the counter leapt, or may have gone round unseen: a break */
};

struct history {
    enum quantity quantity;
    double range;       /* NAN = never wraps */
    mono_ns refresh_ns; /* documented */

    /* ticks [first, end) by number; blocks[0] starts at number `base` */
    struct tick **blocks;
    size_t n_blocks, cap_blocks;
    struct tick *spare;
    uint64_t base, first, end;
    uint64_t taken; /* ticks before this one have been taken */
    bool taking;
    struct gap *gaps;
    size_t n_gaps, cap_gaps;

    mono_ns read_from, read_until; /* 0 = never */
    mono_ns last_before;           /* begin of the latest good read */
    double raw;                    /* counter: as last shown */
    double joules;                 /* counter: since the first read */
    double last;                   /* newest value, NAN = none */
    double peak_w;                 /* counter: the largest power between two ticks */
    mono_ns longest_ns;            /* counter: the longest time between two ticks */
    mono_ns edge_after[3];         /* counter: `after` of the latest ticks, newest first */
    bool broken;                   /* the next tick starts anew */
    struct phase phase;

    mono_ns read_ns[HISTORY_RECENT]; /* recent durations of a read ... */
    mono_ns step_ns[HISTORY_RECENT]; /* ... and times between changes */
    mono_ns stepped_at;              /* `at` of the latest change; 0 = none */
    int64_t reads, failed_reads, resets, steps;
    int silent;     /* rounds in a row without a value */
    mono_ns passed; /* kept for source_passed */
};

void history_init(struct history *h, const struct channel *c);
void history_release(struct history *h);

/* One value as read between before and after. limit_ns: a longer silence is a gap. A value older
 * than what is already known (a driver's ring told twice) is ignored. */
enum history_verdict history_put(struct history *h, mono_ns before, mono_ns after, double value,
                                 mono_ns limit_ns);
/* The next value has no continuity with the last: the machine slept. */
void history_break(struct history *h);
/* The source is gone for good. */
void history_close(struct history *h);

/* The tick with this number, first <= number < end. Valid until the next history_put. */
const struct tick *history_tick(const struct history *h, uint64_t number);
/* The numbers of the ticks that touch [a, b], and SERIES_MARGIN more on each side. */
void history_range(const struct history *h, mono_ns a, mono_ns b, uint64_t *ret_from,
                   uint64_t *ret_to);
/* The first number that must not be taken yet: a gauge's newest tick may still grow. */
uint64_t history_takable(const struct history *h);
/* See sampler_forget. */
void history_forget(struct history *h, mono_ns t);

/* The median time between changes, 0 = fewer than three seen. */
mono_ns history_refresh(const struct history *h);
/* The median duration of a read, 0 = none. */
mono_ns history_read_ns(const struct history *h);
/* The latest t that three ticks (gauge: one read) have followed, MONO_ABSENT = none. */
mono_ns history_followed(const struct history *h);

#endif
