/*
 * One step of the server after another: each makes a token for every decoding stream and reads a
 * piece of every prompt. The meter is a series that got a tick every 100 ms.
 */
#include "simbatch.h"

#include "base/alloc.h"
#include "core/response.h"
#include "core/series.h"
#include "core/stats.h"
#include "record/attribution.h"
#include "record/energy.h"

#include <math.h>
#include <stdlib.h>

#define MS NS_PER_MS
#define T0 (INT64_C(1000000) * NS_PER_S)

enum { SLOTS = 8, SERVED = SIMBATCH_QUERIES, PIECE = 64 };

static int64_t up_to(uint64_t *seed, int64_t n)
{
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return (int64_t)((z ^ (z >> 31)) % (uint64_t)n);
}

struct served {
    mono_ns start;
    int64_t prompt, output, read, made;
    struct response r;
    double truth_j;
};

struct server {
    double base_w, token_j;
    uint64_t seed;
    mono_ns now;
    double joules;
    struct series meter;
    struct served queries[SERVED];
    size_t slot[SLOTS]; /* SERVED = free */
    size_t next;
};

static void serve_token(struct server *s, struct served *q)
{
    mono_ns late = up_to(&s->seed, 3 * MS);
    mono_ns at = s->now + late;

    if (q->r.deltas && at < q->r.last_token)
        at = q->r.last_token;
    response_delta(&q->r, DELTA_ANSWER, "x", 1, at);
    q->r.end = at;
    q->made++;
}

/* What the stream of this slot does in the coming step, in tokens. */
static int64_t work_of(const struct served *q)
{
    if (q->read < q->prompt)
        return q->prompt - q->read < PIECE ? q->prompt - q->read : PIECE;
    return 1;
}

static void tick_until(struct server *s, mono_ns to, double watts)
{
    while (s->now < to) {
        mono_ns tick = (s->now / (100 * MS) + 1) * 100 * MS, t = tick < to ? tick : to;

        s->joules += watts * ns_to_s(t - s->now);
        s->now = t;
        if (t == tick)
            series_add(&s->meter, (struct tick){.after = t - MS, t, t, s->joules, 0});
    }
    s->meter.read_until = s->now;
}

static void serve_step(struct server *s)
{
    int64_t tokens = 0, n = 0;
    mono_ns took;
    double seconds;

    for (size_t i = 0; i < SLOTS; i++)
        if (s->slot[i] < SERVED) {
            tokens += work_of(&s->queries[s->slot[i]]);
            n++;
        }
    took = 20 * MS + tokens * 40 * NS_PER_US + up_to(&s->seed, 4 * MS);
    seconds = ns_to_s(took);
    for (size_t i = 0; i < SLOTS; i++)
        if (s->slot[i] < SERVED)
            s->queries[s->slot[i]].truth_j += s->base_w * seconds / (double)n +
                                              s->token_j * (double)work_of(&s->queries[s->slot[i]]);
    tick_until(s, s->now + took, s->base_w + s->token_j * (double)tokens / seconds);
    for (size_t i = 0; i < SLOTS; i++) {
        struct served *q = s->slot[i] < SERVED ? &s->queries[s->slot[i]] : NULL;

        if (!q)
            continue;
        if (q->read < q->prompt)
            q->read += work_of(q);
        if (q->read == q->prompt)
            serve_token(s, q);
        if (q->made == q->output)
            s->slot[i] = SERVED;
    }
}

static void serve(struct server *s)
{
    s->now = T0 - NS_PER_S;
    series_add(&s->meter, (struct tick){s->now - 1, s->now, s->now, 0, TICK_BREAK});
    s->meter.read_from = s->now;
    s->meter.period_ns = 20 * MS;
    tick_until(s, T0, s->base_w);
    for (size_t i = 0; i < SLOTS; i++)
        s->slot[i] = SERVED;
    for (bool busy = true; busy;) {
        busy = false;
        for (size_t i = 0; i < SLOTS; i++) {
            if (s->slot[i] == SERVED && s->next < SERVED) {
                struct served *q = &s->queries[s->next];

                s->slot[i] = s->next++;
                q->start = s->now;
                q->prompt = 20 + up_to(&s->seed, 400);
                q->output = 20 + up_to(&s->seed, 300);
                response_init(&q->r, 1 << 20);
            }
            busy |= s->slot[i] < SERVED;
        }
        if (busy)
            serve_step(s);
    }
    tick_until(s, s->now + NS_PER_S, s->base_w);
}

static double metered(void *ctx, enum rail rail, mono_ns t, int64_t *ret_epoch)
{
    (void)rail;
    (void)ret_epoch;
    return energy_at(ctx, t);
}

/* Every query in order of its end. */
static void take_all(struct attribution *a, double *errors, double *equal)
{
    struct attributed x;

    for (size_t i = 0; i < SERVED && attribution_take(a, &x); i++) {
        double truth_j = ((struct served *)x.query)->truth_j;

        errors[i] = fabs(x.rails[RAIL_GPU].tokens_j / truth_j - 1) * 100;
        equal[i] = fabs(x.rails[RAIL_GPU].equal_j / truth_j - 1) * 100;
    }
}

void simbatch_compare(double base_w, double token_j, bool base_known, uint64_t seed,
                      struct simbatch_errors *ret)
{
    const enum rail gpu = RAIL_GPU;
    struct server *s = xcalloc(1, sizeof(*s));
    double base[RAIL_COUNT] = {[RAIL_GPU] = base_w}, errors[SERVED], equal[SERVED];
    struct attribution *a = attribution_new(&gpu, 1, base_known ? base : NULL, T0);

    *s = (struct server){.base_w = base_w, .token_j = token_j, .seed = seed};
    serve(s);
    for (size_t i = 0; i < SERVED; i++) {
        struct served *q = &s->queries[i];

        q->r.usage.prompt_tokens = q->prompt;
        q->r.usage.completion_tokens = q->output;
        attribution_close(a, attribution_open(a, q->start, q), &q->r);
        response_release(&q->r);
        errors[i] = equal[i] = INFINITY; /* unless it comes back */
    }
    attribution_advance(a, s->now - NS_PER_S / 2, metered, &s->meter);
    take_all(a, errors, equal);
    ret->imbalance = attribution_imbalance(a);
    ret->median_pct = stats_median(errors, stats_sort(errors, SERVED));
    ret->p95_pct = stats_percentile(errors, SERVED, 95);
    ret->equal_pct = stats_median(equal, stats_sort(equal, SERVED));
    attribution_free(a);
    series_release(&s->meter);
    free(s);
}
