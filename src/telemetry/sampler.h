/*
 * sampler: reads the collectors on time and keeps what they showed.
 *
 * Each collector is read by a thread of its own, so that a source that is slow or hangs cannot
 * delay the others. A thread sleeps to absolute deadlines on the monotonic clock. The period asked
 * for is where it starts; a counter that turns out to have a rhythm is read in step with it,
 * seldom while nothing can change and finely around the expected change (pace.h says how, and when
 * not); a read that takes longer than a quarter of the period stretches it. A source that fails
 * SAMPLER_FAILURES_MAX times in a row (each retry waits twice as long, up to a second), or has not
 * come back from a read for SAMPLER_HANG_NS, is dropped with a message; its channels end there with
 * a gap, the run goes on.
 *
 *     struct sampler *s = sampler_new(&(struct sampler_options){.period_ns = 20 * NS_PER_MS});
 *     sampler_add(s, &rapl_ops, &env, &err);           -ENODEV: not here
 *     sampler_start(s, &err);
 *     ...
 *     sampler_wait(s, b, deadline);                     the ticks around b are in
 *     sampler_copy(s, channel, a, b, &series);          a slice of history
 *     sampler_forget(s, oldest_open_window);            what is older may go
 *     sampler_free(s);                                  stops, closes
 *
 * Nothing is dropped before sampler_forget says so: a window is whole however long it is. The
 * sampling path allocates only when a channel's history must grow by a block, never per sample.
 *
 * Threads: all functions are for the one thread that owns the sampler, except sampler_copy,
 * sampler_take and sampler_progress, which any thread may call while the sampler exists.
 */
#ifndef IPW_TELEMETRY_SAMPLER_H
#define IPW_TELEMETRY_SAMPLER_H

#include "core/series.h"
#include "telemetry/collector.h"

#define SAMPLER_FAILURES_MAX 10
#define SAMPLER_HANG_NS      (5 * NS_PER_S)
/* So long a read in progress may hold up sampler_stop. */
#define SAMPLER_STOP_NS NS_PER_S

struct sampler;

struct sampler_options {
    mono_ns period_ns; /* at least 100 us */
    bool fixed_period; /* no adaptation: doctor measures refresh periods at full speed */
};

struct sampler *sampler_new(const struct sampler_options *options);
/* Stops the threads and closes the collectors. A thread that hangs inside a source is abandoned
 * with what it holds. NULL is fine. */
void sampler_free(struct sampler *s);

/* Opens the collector and takes over its devices, channels and notes (as messages). On failure
 * nothing has changed. Not after sampler_start. */
int sampler_add(struct sampler *s, const struct collector_ops *ops, const struct telemetry_env *env,
                struct err *err);
/* On failure no thread is running. */
int sampler_start(struct sampler *s, struct err *err);
/* No further reads; history stays. Waits for reads in progress, at most SAMPLER_STOP_NS. Called by
 * sampler_free too. */
void sampler_stop(struct sampler *s);

/* The tables, fixed once all collectors are added. */
size_t sampler_channels(const struct sampler *s, const struct channel **ret);
size_t sampler_devices(const struct sampler *s, const struct device **ret);
const struct system_info *sampler_system(const struct sampler *s);
/* The id of the collector that a channel belongs to. */
const char *sampler_collector(const struct sampler *s, size_t channel);

/* Waits until every live energy channel has shown three ticks after t (they tell what the power was
 * beyond the edge: see energy.h) and every live power channel a value, or four of its periods
 * (refresh or sampling, whichever is longer, a second at most) have passed since t: then windows
 * that end at t can be built, and after three ticks E(t) never changes again. Returns 0, or
 * -ETIMEDOUT at `deadline`. */
int sampler_wait(struct sampler *s, mono_ns t, mono_ns deadline);
/* The latest t for which sampler_wait would return at once: for a loop that must not block. Never
 * falls. MONO_ABSENT before anything was read, MONO_NEVER when nothing more can come: no such
 * channel, none alive, or stopped. */
mono_ns sampler_progress(struct sampler *s);

/* The ticks and gaps of a channel that touch [a, b], with SERIES_MARGIN more ticks on each side.
 * ret is cleared first and keeps its memory. Sampling goes on while a long window is copied. */
void sampler_copy(struct sampler *s, size_t channel, mono_ns a, mono_ns b, struct series *ret);

/* History before t is no longer needed (SERIES_MARGIN ticks before t are kept). */
void sampler_forget(struct sampler *s, mono_ns t);

/* For streaming to disk: copies up to max ticks of the channel that were not taken yet, in order;
 * returns how many. Once begun for a channel, sampler_forget drops only what has been taken too.
 * The newest tick of a gauge is held back while it may still grow: at most SERIES_HOLD_NS, or
 * until sampler_stop. */
size_t sampler_take(struct sampler *s, size_t channel, struct tick *ret, size_t max);

struct sampler_channel_stats {
    mono_ns period_ns;  /* between reads, averaged over the latest */
    mono_ns refresh_ns; /* median time between changes; 0 = fewer than three seen */
    mono_ns read_ns;    /* median duration of a read */
    int64_t reads;      /* good ones */
    int64_t failed_reads;
    int64_t ticks;
    int64_t resets; /* counter went backwards without wrapping */
    bool dropped;
    double last; /* the newest value, NAN = none; of a counter: joules since the first read */
};
void sampler_stats(struct sampler *s, size_t channel, struct sampler_channel_stats *ret);

/* The next message for the person ("nvml: dropped: ...": a source was dropped, a counter was reset,
 * the machine slept, a channel went silent, a collector's notes), or false. */
bool sampler_message(struct sampler *s, char *text, size_t size);

/* CPU time of all sampling threads so far. */
mono_ns sampler_cpu_ns(struct sampler *s);

#endif
