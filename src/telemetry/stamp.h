/*
 * stamp: a driver's own time stamps, put on our clock and used no further than they can be trusted.
 *
 * A stamp can say more than the clock around the read: the read may have taken milliseconds, or the
 * driver may tell when it renewed the value. It can also lie: the wall clock was set, or the unit
 * is another than documented. So a stamp is used only when it agrees with the reads around it.
 *
 *     stamp_anchor_refresh(&anchor);                     once per round of reads
 *     t = stamp_from_wall_us(&anchor, field.timestamp_us);
 *     stamp_put(&counter, out, channel, &(struct stamp_reading){...});
 */
#ifndef IPW_TELEMETRY_STAMP_H
#define IPW_TELEMETRY_STAMP_H

#include "telemetry/collector.h"

#include <stdbool.h>

/* How exactly a converted stamp is known: what reading two clocks after one another, and the
 * driver's whole microseconds, can cost. */
#define STAMP_MARGIN_NS (50 * NS_PER_US)

/* Where the wall clock stands against ours: wall - mono is in [low, high]. All zero before the
 * first refresh. */
struct stamp_anchor {
    int64_t low;
    int64_t high;
    mono_ns now; /* when it was last refreshed; 0 = never */
};

/* Reads both clocks again. Adjusting the time changes the rate of both alike, so what they are
 * apart stays the same and every reading narrows it; one that disagrees means that the wall clock
 * was set, and starts anew. */
void stamp_anchor_refresh(struct stamp_anchor *a);
/* The same from a given reading: `wall_ns` was read between `before` and `after`. */
void stamp_anchor_add(struct stamp_anchor *a, mono_ns before, int64_t wall_ns, mono_ns after);

/* Microseconds since 1970 on our clock. MONO_ABSENT for no stamp (0, negative) and for one that is
 * more than an hour off. */
mono_ns stamp_from_wall_us(const struct stamp_anchor *a, int64_t wall_us);
/* The same for nanoseconds of CLOCK_BOOTTIME, given clock_suspended_ns(). */
mono_ns stamp_from_boot_ns(uint64_t boot_ns, int64_t suspended_ns, mono_ns now);

/* A counter whose reads carry stamps. */
struct stamp_counter {
    bool seen;        /* there was a read; the rest is from the latest */
    double value;     /* what it showed */
    mono_ns stamp;    /* its stamp, MONO_ABSENT = none */
    mono_ns put;      /* the latest time given to the sink */
    int renewals;     /* changes in a row whose stamp fits the moment of renewal */
    bool marks_reads; /* a stamp moved on while the value did not: it tells of reads only */
};

struct stamp_reading {
    mono_ns before; /* the clock around the read */
    mono_ns after;
    mono_ns stamp;   /* MONO_ABSENT: none */
    mono_ns latency; /* how long before the stamp the driver began to fetch it */
    double value;
};

/* Puts a reading of the counter as sharply as its stamp allows:
 * - a stamp within the read narrows it to the stamp;
 * - a stamp between the previous read and this one is the moment at which the driver renewed the
 *   value, once STAMP_RENEWALS changes in a row have looked so: then the old value is put just
 *   before the stamp and the new one at it, which makes the tick as short as the margin;
 * - anything else (before the previous read, after this one) is ignored. */
void stamp_put(struct stamp_counter *c, struct sample_sink *out, size_t channel,
               const struct stamp_reading *r);

#define STAMP_RENEWALS 3

/* For a driver that is known to stamp the moment at which it fetched the value: that moment, twice,
 * when it lies between the previous one and the end of this read and is not older than a tenth of a
 * second (a driver may answer from a cache); else the clock around the read. */
void stamp_put_fetched(struct stamp_counter *c, struct sample_sink *out, size_t channel,
                       const struct stamp_reading *r);

#endif
