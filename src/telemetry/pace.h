/*
 * pace: when to read a source next.
 *
 * A counter that is renewed every 100 ms and read every 20 ms shows the same value four times, and
 * the fifth read tells the instant of the change only to 20 ms: at 300 W that is 6 J at each edge
 * of a window. Reading faster throughout would sharpen the edge and waste hundreds of reads. So a
 * source with a rhythm is read in step with it: from the changes seen so far `phase` predicts the
 * interval in which the next one comes, `pace` sleeps until shortly before it and then reads in
 * short steps until the change shows. The steps start coarse and shrink as the prediction gets
 * better, down to a sixteenth of the period asked for. For a steady 100 ms source that is three to
 * four reads a cycle instead of five, and edges known to about 1 ms. A rhythm as fast as the period
 * asked for does not show at that period: a short burst of faster reads at the start (and again
 * now and then, where the first found nothing) looks for it.
 *
 * It falls back to the period asked for, on its own, when there is nothing to predict: every read
 * shows a change (the source is faster than we read), changes come irregularly (a wide prediction
 * is simply polled throughout), or a few changes in a row were missed. Whatever is predicted only
 * moves reads and the guess `at` of a tick; what is certain (`after`, `seen`) is always what reads
 * have shown.
 *
 * Limits: a gauge keeps the source at the period asked for (or half its documented refresh, if
 * that is longer); on average there are never more than four reads per period asked for, one where
 * that is below 5 ms or where more would take over 5 % of the thread's time; a read that takes
 * longer than a quarter of the period stretches it.
 *
 * Pure arithmetic on times given by the caller: no clock, no thread.
 */
#ifndef IPW_TELEMETRY_PACE_H
#define IPW_TELEMETRY_PACE_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>

#define PHASE_MEMORY 12
#define PACE_ROUNDS  5
/* Never finer than this, however short the period asked for. */
#define PACE_STEP_MIN_NS (250 * NS_PER_US)

/* One counter's rhythm. All zero = nothing known. */
struct phase {
    mono_ns lo, hi;             /* the latest change happened in here, as far as we can tell */
    mono_ns width;              /* of the interval in which reads have seen it */
    mono_ns took[PHASE_MEMORY]; /* recent times between changes */
    size_t n_took, next_took;
    mono_ns shortest, longest; /* of `took`; 0 = never known */
    int missed;                /* changes in a row that told nothing about the rhythm */
    bool started;
};

/* A change was shown: by a read from `before` to `seen`, and not yet by the one that began at
 * `after`. documented_ns is how often the source is said to be renewed, 0 = not known. Returns the
 * best guess of its time, in (after, seen]. */
mono_ns phase_change(struct phase *p, mono_ns after, mono_ns before, mono_ns seen,
                     mono_ns documented_ns);
/* Continuity is lost. */
void phase_reset(struct phase *p);
/* Whether the next change can be predicted. */
bool phase_known(const struct phase *p);
/* When this counter should be read next, given the begin of the latest read. */
mono_ns phase_next(const struct phase *p, mono_ns last, mono_ns period_ns, mono_ns step_ns);

/* One source: what it is asked for and how it keeps to it. */
struct pace {
    mono_ns asked_ns;
    bool fixed;
    mono_ns deadline; /* of the next read */
    mono_ns rounds[PACE_ROUNDS];
    size_t n_rounds;
    mono_ns round_ns; /* median duration of the latest reads */
    double credit;    /* reads that may come early */
    mono_ns credit_at;
    mono_ns spacing_ns;             /* smoothed time between reads, for people */
    int burst;                      /* fast reads left ... */
    mono_ns burst_again, burst_gap; /* ... and when there are some again */
};

/* What a channel needs, for pace_next. */
struct pace_need {
    const struct phase *phase; /* NULL: a gauge */
    mono_ns refresh_ns;        /* documented; 0 = not known */
};

void pace_init(struct pace *p, mono_ns asked_ns, bool fixed, mono_ns now);
/* The period asked for, stretched where reads are slow. */
mono_ns pace_period(const struct pace *p);
/* A read of all channels took from begin to end: sets and returns the next deadline, which is
 * later than `end`. */
mono_ns pace_next(struct pace *p, const struct pace_need *needs, size_t n, mono_ns begin,
                  mono_ns end);
/* The same after the n-th failure in a row: twice as long a wait each time, at most a second. */
mono_ns pace_retry(struct pace *p, int failures, mono_ns end);

#endif
