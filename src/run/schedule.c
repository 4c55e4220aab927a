/*
 * Open loop: the next arrival is always drawn already, as a time on the absolute schedule; being
 * late moves nothing that follows. Closed loop: a ring holds the moments at which the free places
 * became free, oldest first, so that each has its own planned time.
 *
 * A run may send millions of requests and memory must stay flat, so lateness goes into a histogram
 * whose buckets are as wide as 1/128 of their value. The verdict does not depend on the buckets:
 * what passes the limits is counted exactly.
 */
#include "run/schedule.h"

#include "base/alloc.h"
#include "base/rng.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { SUB_BITS = 7, SUB = 1 << SUB_BITS, BUCKETS = (63 - SUB_BITS + 1) * SUB };

struct schedule {
    struct schedule_options options;
    struct rng rng;
    mono_ns end;       /* no request at this time or later */
    mono_ns arrival;   /* open loop: the next one */
    mono_ns room_from; /* open loop: when the limit in flight last let go */
    mono_ns *free_at;  /* closed loop: a ring of `concurrency` times */
    int64_t free_head, n_free;
    int64_t in_flight, peak_in_flight;
    int64_t taken, finished, held;
    int64_t over_median, over_p99; /* how many were later than the limits */
    int64_t lateness_max_ns;
    mono_ns last_planned, last_taken, last_finished;
    uint64_t late[BUCKETS];
};

static bool is_open(const struct schedule *s)
{
    return s->options.rate_per_s > 0;
}

static int check_options(const struct schedule_options *o, struct err *err)
{
    bool open_loop = o->rate_per_s != 0;

    if (!(o->rate_per_s >= 0 && o->rate_per_s <= SCHEDULE_RATE_MAX_PER_S))
        return err_set(err, EINVAL, "the request rate must be between 0 and %.0f per second",
                       SCHEDULE_RATE_MAX_PER_S);
    if (open_loop && !(o->burstiness >= SCHEDULE_BURSTINESS_MIN && o->burstiness <= 1e6))
        return err_set(err, EINVAL, "the burstiness must be between %g and 1e6",
                       SCHEDULE_BURSTINESS_MIN);
    if (o->concurrency < (open_loop ? 0 : 1) || o->concurrency > SCHEDULE_CONCURRENCY_MAX)
        return err_set(err, EINVAL, "the concurrency must be between %d and %d", open_loop ? 0 : 1,
                       SCHEDULE_CONCURRENCY_MAX);
    if (o->total < -1 || o->duration_ns < 0 || o->start < 0)
        return err_set(err, EINVAL, "counts and times of a schedule cannot be negative");
    if (o->total < 0 && o->duration_ns == 0)
        return err_set(err, EINVAL, "a schedule needs a number of requests or a duration");
    return 0;
}

static mono_ns add_times(mono_ns a, int64_t b)
{
    return b < MONO_NEVER - a ? a + b : MONO_NEVER;
}

/* The arrival that follows `from`. */
static mono_ns draw_arrival(struct rng *r, const struct schedule_options *o, mono_ns from)
{
    double gap_s = o->burstiness == 1
                       ? rng_exponential(r) / o->rate_per_s
                       : rng_gamma(r, o->burstiness) / (o->rate_per_s * o->burstiness);

    return add_times(from, gap_s < 9e9 ? s_to_ns(gap_s) : MONO_NEVER);
}

int schedule_new(const struct schedule_options *options, struct schedule **ret, struct err *err)
{
    struct schedule *s;
    int r = check_options(options, err);

    if (r < 0)
        return r;
    s = xcalloc(1, sizeof(*s));
    s->options = *options;
    s->end = options->duration_ns ? add_times(options->start, options->duration_ns) : MONO_NEVER;
    s->rng = rng_seed(options->seed, RNG_STREAM_SCHEDULE);
    if (is_open(s)) {
        s->arrival = draw_arrival(&s->rng, options, options->start);
    } else {
        s->n_free = options->concurrency;
        s->free_at = xcalloc((size_t)s->n_free, sizeof(*s->free_at));
        for (int64_t i = 0; i < s->n_free; i++)
            s->free_at[i] = options->start;
    }
    *ret = s;
    return 0;
}

void schedule_free(struct schedule *s)
{
    if (!s)
        return;
    free(s->free_at);
    free(s);
}

/* The plan's next time, whether or not there is room; MONO_NEVER when it is sent out. */
static mono_ns next_planned(const struct schedule *s)
{
    mono_ns planned;

    if (s->options.total >= 0 && s->taken >= s->options.total)
        return MONO_NEVER;
    if (is_open(s))
        planned = s->arrival;
    else
        planned = s->n_free ? s->free_at[s->free_head] : MONO_NEVER;
    return planned < s->end ? planned : MONO_NEVER;
}

static bool at_limit(const struct schedule *s)
{
    return s->options.concurrency > 0 && s->in_flight >= s->options.concurrency;
}

mono_ns schedule_next_due(const struct schedule *s)
{
    return at_limit(s) ? MONO_NEVER : next_planned(s);
}

/* Values below SUB have a bucket each; above, the leading SUB_BITS + 1 bits choose it. */
static size_t bucket_of(int64_t ns)
{
    int shift = ns < SUB ? 0 : 63 - __builtin_clzll((uint64_t)ns) - SUB_BITS;

    return (size_t)shift * SUB + (size_t)(ns >> shift);
}

/* The largest value that falls into the bucket. */
static int64_t bucket_top(size_t bucket)
{
    size_t shift = bucket < SUB ? 0 : bucket / SUB - 1;
    int64_t leading = (int64_t)(bucket - shift * SUB);

    return (int64_t)(((uint64_t)(leading + 1) << shift) - 1);
}

static void count_lateness(struct schedule *s, int64_t late_ns)
{
    s->late[bucket_of(late_ns)]++;
    s->over_median += late_ns > SCHEDULE_LATE_MEDIAN_NS;
    s->over_p99 += late_ns > SCHEDULE_LATE_P99_NS;
    if (late_ns > s->lateness_max_ns)
        s->lateness_max_ns = late_ns;
}

bool schedule_take(struct schedule *s, mono_ns now, mono_ns *ret_planned)
{
    mono_ns planned = schedule_next_due(s);

    if (planned > now || now >= s->end)
        return false;
    if (is_open(s)) {
        s->held += planned < s->room_from;
        s->arrival = draw_arrival(&s->rng, &s->options, planned);
    } else {
        s->free_head = (s->free_head + 1) % s->options.concurrency;
        s->n_free--;
    }
    count_lateness(s, now - planned);
    s->last_planned = planned;
    s->last_taken = now;
    s->taken++;
    if (++s->in_flight > s->peak_in_flight)
        s->peak_in_flight = s->in_flight;
    *ret_planned = planned;
    return true;
}

void schedule_done(struct schedule *s, mono_ns now)
{
    assert(s->in_flight > 0);
    if (at_limit(s))
        s->room_from = now;
    s->in_flight--;
    s->finished++;
    s->last_finished = now;
    if (!is_open(s)) {
        s->free_at[(s->free_head + s->n_free) % s->options.concurrency] = now;
        s->n_free++;
    }
}

bool schedule_exhausted(const struct schedule *s, mono_ns now)
{
    bool all_sent = s->options.total >= 0 && s->taken >= s->options.total;

    return all_sent || now >= s->end || (is_open(s) && next_planned(s) == MONO_NEVER);
}

bool schedule_finished(const struct schedule *s, mono_ns now)
{
    return s->in_flight == 0 && schedule_exhausted(s, now);
}

int64_t schedule_in_flight(const struct schedule *s)
{
    return s->in_flight;
}

/* Nearest rank: the smallest lateness that all but one in `one_in` do not pass. */
static int64_t lateness_quantile(const struct schedule *s, int64_t one_in)
{
    uint64_t rank = (uint64_t)(s->taken - s->taken / one_in), seen = 0;

    for (size_t i = 0; i < BUCKETS; i++) {
        seen += s->late[i];
        if (seen >= rank)
            return bucket_top(i) < s->lateness_max_ns ? bucket_top(i) : s->lateness_max_ns;
    }
    return s->lateness_max_ns;
}

/* Goes through the rest of the plan on a copy of the generator. */
static int64_t count_unsent(const struct schedule *s, mono_ns now)
{
    mono_ns until = now < s->end ? now : s->end, arrival = s->arrival;
    struct rng rng = s->rng;
    int64_t n = 0, left = s->options.total < 0 ? INT64_MAX : s->options.total - s->taken;

    if (!is_open(s))
        return 0;
    while (n < left && arrival < until) {
        n++;
        arrival = draw_arrival(&rng, &s->options, arrival);
    }
    return n;
}

static double rate_until(const struct schedule *s, int64_t n, mono_ns last)
{
    return n > 0 && last > s->options.start ? (double)n / ns_to_s(last - s->options.start) : NAN;
}

struct schedule_stats schedule_stats(const struct schedule *s, mono_ns now)
{
    struct schedule_stats stats = {
        .open_loop = is_open(s),
        .taken = s->taken,
        .finished = s->finished,
        .unsent = count_unsent(s, now),
        .held = s->held,
        .peak_in_flight = s->peak_in_flight,
        .requested_rate = is_open(s) ? s->options.rate_per_s : NAN,
        .planned_rate = rate_until(s, s->taken, s->last_planned),
        .achieved_rate = rate_until(s, s->taken, s->last_taken),
        .finished_rate = rate_until(s, s->finished, s->last_finished),
        .lateness_median_ns = MONO_ABSENT,
        .lateness_p99_ns = MONO_ABSENT,
        .lateness_max_ns = MONO_ABSENT,
        .late = s->over_median * 2 > s->taken || s->over_p99 * 100 > s->taken,
    };

    if (s->taken > 0) {
        stats.lateness_median_ns = lateness_quantile(s, 2);
        stats.lateness_p99_ns = lateness_quantile(s, 100);
        stats.lateness_max_ns = s->lateness_max_ns;
    }
    return stats;
}
