/*
 * schedule: when the next request is to be sent.
 *
 * Pure policy: no clock and no I/O, the caller passes the time. Closed loop keeps `concurrency`
 * requests in flight; open loop sends at times that were drawn from the seed before, whatever the
 * server does, so a slow server cannot slow the load down and hide its queue.
 *
 *     struct schedule *s = NULL;
 *     r = schedule_new(&options, &s, &err);
 *     while (!schedule_finished(s, mono_now())) {
 *         while (schedule_take(s, mono_now(), &planned))
 *             start a request; its record keeps `planned`
 *         poll until schedule_next_due(s); for every request that ended: schedule_done(s, now)
 *     }
 *     struct schedule_stats stats = schedule_stats(s, mono_now());
 *
 * The planned time of a request is, in open loop, its arrival on the absolute schedule, and in
 * closed loop the moment its place became free. Lateness is taken minus planned, so time lost by
 * the sender, or to a limit in flight, always shows. Warm-up requests are sent with a schedule of
 * their own and leave no trace in this one. One thread.
 */
#ifndef IPW_RUN_SCHEDULE_H
#define IPW_RUN_SCHEDULE_H

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define SCHEDULE_CONCURRENCY_MAX 1000000
#define SCHEDULE_RATE_MAX_PER_S  1e6
#define SCHEDULE_BURSTINESS_MIN  1e-3 /* below, nearly all requests would arrive at one moment */

/* A sender is late, and the run degraded, when the median or the 99th percentile of its lateness
 * passes these (inference-perf's and AIPerf's limits). */
#define SCHEDULE_LATE_MEDIAN_NS (10 * NS_PER_MS)
#define SCHEDULE_LATE_P99_NS    (500 * NS_PER_MS)

struct schedule_options {
    int64_t concurrency; /* closed loop: in flight, >= 1; open loop: most in flight, 0 = any */
    double rate_per_s;   /* > 0: open loop; 0: closed loop */
    double burstiness;   /* open loop: shape B of the gamma-distributed gaps, whose scale is
                            1 / (rate B). 1 = Poisson, less = bursts, more = regular */
    int64_t total;       /* requests to send; -1 = no limit, then duration_ns must be set */
    int64_t duration_ns; /* none is sent at start + duration_ns or later; 0 = no limit */
    uint64_t seed;
    mono_ns start; /* time zero of the plan */
};

struct schedule_stats {
    bool open_loop;
    int64_t taken;    /* sent */
    int64_t finished; /* of these */
    int64_t unsent;   /* open loop: arrivals due by now (and within the duration) but not sent */
    int64_t held;     /* open loop: sent late because the limit in flight was reached */
    int64_t peak_in_flight;
    /* Per second; NAN where there is nothing to divide. Rates of n requests are n / (time of the
     * last - start). */
    double requested_rate; /* as configured; closed loop: NAN */
    double planned_rate;   /* as the seed drew it, of those taken */
    double achieved_rate;  /* as sent */
    double finished_rate;  /* as finished */
    /* Taken minus planned; MONO_ABSENT when nothing was taken. Percentiles are rounded up by less
     * than 1 %; the maximum is exact. */
    int64_t lateness_median_ns, lateness_p99_ns, lateness_max_ns;
    bool late; /* by the two limits above, decided exactly */
};

struct schedule;

/* -EINVAL, with words for the person, when the options make no plan. The caller owns *ret. */
int schedule_new(const struct schedule_options *options, struct schedule **ret, struct err *err);
void schedule_free(struct schedule *s);
DEFINE_AUTO_PTR(schedule, schedule_free);

/* When schedule_take will next succeed (maybe in the past). MONO_NEVER when that depends on a
 * completion, or when all is sent. */
mono_ns schedule_next_due(const struct schedule *s);
/* Takes the request that is due by `now`, if any, and counts it as in flight. `now` never runs
 * backwards. *ret_planned is written only on success. */
bool schedule_take(struct schedule *s, mono_ns now, mono_ns *ret_planned);
/* One request that was taken has ended, well or badly. */
void schedule_done(struct schedule *s, mono_ns now);
/* No request will be taken at `now` or later; some may still be in flight. */
bool schedule_exhausted(const struct schedule *s, mono_ns now);
/* The same, and none is in flight. */
bool schedule_finished(const struct schedule *s, mono_ns now);
int64_t schedule_in_flight(const struct schedule *s);

struct schedule_stats schedule_stats(const struct schedule *s, mono_ns now);

#endif
