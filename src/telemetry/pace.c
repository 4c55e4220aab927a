/*
 * The prediction is an interval, not a number: the latest change lies in [lo, hi], the recent
 * cycles took between `shortest` and `longest`, hence the next change is expected in
 * [lo + shortest, hi + longest]. What a read then shows is intersected with that; where the two
 * contradict each other the read is right and the prediction is dropped. So an unsteady source
 * widens its own prediction, and nothing has to be tuned for it.
 */
#include "telemetry/pace.h"

/* So few changes say nothing about a rhythm. */
#define TOOK_MIN 3
/* After so many changes in a row that taught nothing the rhythm is forgotten. */
#define MISSED_MAX 4
/* The predicted interval is searched in about this many reads. */
#define STEPS        4
#define SLACK_MIN_NS (100 * NS_PER_US)
/* Reads per period asked for, on average, and how many may be saved up. */
#define CREDIT_RATE 4
#define CREDIT_MAX  8.0
/* Whoever asks for less than this gets what was asked for and no extra reads: an edge is sharp
 * enough then. */
#define EXTRA_FROM_NS (5 * NS_PER_MS)
/* Extra reads may not take more than one part in this of the thread's time. */
#define EXTRA_DUTY 20
/* A rhythm as fast as the period asked for cannot be seen at that period. So while one is unknown,
 * so many reads at the start, and again after a while, come eight times as fast. */
#define BURST       64
#define BURST_RATE  8
#define BURST_AGAIN (10 * NS_PER_S)

static mono_ns max_ns(mono_ns x, mono_ns y)
{
    return x > y ? x : y;
}

static mono_ns min_ns(mono_ns x, mono_ns y)
{
    return x < y ? x : y;
}

bool phase_known(const struct phase *p)
{
    return p->n_took >= TOOK_MIN;
}

void phase_reset(struct phase *p)
{
    *p = (struct phase){0};
}

static mono_ns spread(const struct phase *p)
{
    return p->longest - p->shortest;
}

/* Narrows [*lo, *hi], what the read has shown, by what was expected. */
static void phase_expect(const struct phase *p, mono_ns *lo, mono_ns *hi)
{
    mono_ns middle = p->lo + (p->hi - p->lo) / 2;
    mono_ns typical = (p->shortest + p->longest) / 2;
    mono_ns cycles = 1;
    mono_ns from, to;

    if (*lo > middle + typical)
        cycles = (*lo - middle + typical - 1) / typical;
    if (cycles > PHASE_MEMORY)
        return;
    from = p->lo + cycles * p->shortest;
    to = p->hi + cycles * p->longest;
    /* Came it earlier or later than ever before, then hardly by much. */
    for (mono_ns slack = spread(p) / 4 + SLACK_MIN_NS; to < *lo || from > *hi; slack *= 2) {
        from -= slack;
        to += slack;
    }
    *lo = max_ns(*lo, from);
    *hi = min_ns(*hi, to);
}

static void phase_learn(struct phase *p, mono_ns took, mono_ns width)
{
    /* A change seen too vaguely, or by every read, tells nothing. */
    if (2 * max_ns(width, p->width) > took) {
        if (++p->missed >= MISSED_MAX)
            p->n_took = 0;
        return;
    }
    if (p->n_took == 0)
        p->next_took = 0;
    p->missed = 0;
    p->took[p->next_took] = took;
    p->next_took = (p->next_took + 1) % PHASE_MEMORY;
    if (p->n_took < PHASE_MEMORY)
        p->n_took++;
    p->shortest = p->longest = p->took[0];
    for (size_t i = 1; i < p->n_took; i++) {
        p->shortest = min_ns(p->shortest, p->took[i]);
        p->longest = max_ns(p->longest, p->took[i]);
    }
}

mono_ns phase_change(struct phase *p, mono_ns after, mono_ns before, mono_ns seen,
                     mono_ns documented_ns)
{
    /* A rhythm lost is still the best that is known where nothing is documented. */
    mono_ns refresh = phase_known(p) || documented_ns == 0 ? p->longest : documented_ns;
    mono_ns lo = after, hi = seen;

    /* What a source shows is at most one refresh old. */
    if (refresh > 0)
        lo = max_ns(lo, before - refresh);
    if (phase_known(p))
        phase_expect(p, &lo, &hi);
    if (p->started)
        phase_learn(p, lo + (hi - lo) / 2 - (p->lo + (p->hi - p->lo) / 2), seen - after);
    p->lo = lo;
    p->hi = hi;
    p->width = seen - after;
    p->started = true;
    return lo + (hi - lo + 1) / 2;
}

mono_ns phase_next(const struct phase *p, mono_ns last, mono_ns period_ns, mono_ns step_ns)
{
    /* The next cycle may be a little shorter or longer than the few before it. */
    mono_ns open = p->lo + p->shortest - spread(p) / 4;
    mono_ns close = p->hi + p->longest + spread(p) / 4;
    mono_ns step = max_ns((close - open) / STEPS, step_ns);

    step = min_ns(step, period_ns);
    open -= step / 2;
    if (last + step <= open)
        return open;
    return last + (last <= close + step ? step : period_ns);
}

void pace_init(struct pace *p, mono_ns asked_ns, bool fixed, mono_ns now)
{
    *p = (struct pace){
        .asked_ns = asked_ns,
        .fixed = fixed,
        .deadline = now,
        .credit_at = now,
        .spacing_ns = asked_ns,
        .burst = BURST,
        .burst_again = now + BURST_AGAIN,
        .burst_gap = 2 * BURST_AGAIN,
    };
}

mono_ns pace_period(const struct pace *p)
{
    return p->fixed ? p->asked_ns : max_ns(p->asked_ns, 4 * p->round_ns);
}

/* The median forgives a single slow read, which an average would not. */
static void pace_round(struct pace *p, mono_ns took)
{
    mono_ns sorted[PACE_ROUNDS] = {0};
    size_t n;

    p->rounds[p->n_rounds++ % PACE_ROUNDS] = took;
    n = p->n_rounds < PACE_ROUNDS ? p->n_rounds : PACE_ROUNDS;
    for (size_t i = 0; i < n; i++) {
        size_t k = i;

        for (; k > 0 && sorted[k - 1] > p->rounds[i]; k--)
            sorted[k] = sorted[k - 1];
        sorted[k] = p->rounds[i];
    }
    p->round_ns = sorted[(n - 1) / 2];
}

/* Reads cost credit, time earns it. Returns the earliest time at which another is affordable. */
static mono_ns pace_spend(struct pace *p, mono_ns end)
{
    mono_ns period = pace_period(p), earns = period;

    if (p->asked_ns >= EXTRA_FROM_NS)
        earns = max_ns(period / CREDIT_RATE, min_ns(period, EXTRA_DUTY * p->round_ns));
    p->credit += (double)(end - p->credit_at) / (double)earns;
    p->credit_at = end;
    if (p->credit > CREDIT_MAX)
        p->credit = CREDIT_MAX;
    p->credit -= 1;
    return p->credit >= 0 ? end : end + (mono_ns)(-p->credit * (double)earns);
}

static mono_ns pace_step(const struct pace *p)
{
    return max_ns(max_ns(p->asked_ns / 16, PACE_STEP_MIN_NS), 4 * p->round_ns);
}

/* The earliest time that a channel wants. */
static mono_ns pace_wanted(const struct pace *p, const struct pace_need *needs, size_t n,
                           mono_ns base, mono_ns begin)
{
    mono_ns period = pace_period(p), step = pace_step(p), next = MONO_NEVER;

    for (size_t i = 0; i < n; i++) {
        mono_ns wanted = base + period;

        if (!needs[i].phase)
            wanted = base + max_ns(period, needs[i].refresh_ns / 2);
        else if (phase_known(needs[i].phase))
            wanted = phase_next(needs[i].phase, begin, period, step);
        next = min_ns(next, wanted);
    }
    return n ? next : base + period;
}

/* Whether a burst may find a rhythm that the period asked for cannot show. */
static bool pace_searches(struct pace *p, const struct pace_need *needs, size_t n, mono_ns now)
{
    size_t unknown = 0;

    for (size_t i = 0; i < n; i++)
        unknown += needs[i].phase && !phase_known(needs[i].phase) &&
                   (needs[i].refresh_ns == 0 || 2 * needs[i].refresh_ns >= p->asked_ns);
    if (unknown == 0 || p->asked_ns < EXTRA_FROM_NS)
        return false;
    if (p->burst == 0 && now >= p->burst_again) {
        p->burst = BURST;
        p->burst_again = now + p->burst_gap;
        p->burst_gap *= 2;
    }
    return p->burst > 0;
}

mono_ns pace_next(struct pace *p, const struct pace_need *needs, size_t n, mono_ns begin,
                  mono_ns end)
{
    mono_ns late = begin - p->deadline;
    mono_ns period, base, next;

    pace_round(p, end - begin);
    period = pace_period(p);
    /* Counted from the deadline, not from the wake-up after it, periods do not drift. */
    base = late >= 0 && late < period / 2 ? p->deadline : begin;
    if (p->fixed) {
        next = base + period;
    } else if (pace_searches(p, needs, n, end)) {
        p->burst--;
        next = base + min_ns(max_ns(p->asked_ns / BURST_RATE, pace_step(p)), period);
    } else {
        next = pace_wanted(p, needs, n, base, begin);
        next = max_ns(next, pace_spend(p, end));
    }
    if (next <= end)
        next = base + ((end - base) / period + 1) * period;
    p->spacing_ns += (next - p->deadline - p->spacing_ns) / 8;
    p->deadline = next;
    return next;
}

mono_ns pace_retry(struct pace *p, int failures, mono_ns end)
{
    mono_ns wait = pace_period(p);

    for (int i = 1; i < failures && wait < NS_PER_S; i++)
        wait *= 2;
    p->deadline = end + max_ns(min_ns(wait, NS_PER_S), p->asked_ns);
    return p->deadline;
}
