/*
 * Sharing a piece of time among all in flight would cost their number at every event. Instead each
 * rail keeps running integrals of what one query of a kind would have got since the beginning:
 * `by_weight` per unit of weight, `by_head` per query whose rate is known, `equal` per query. A
 * query looks at them when its own stretch begins and ends, and takes the difference: each event
 * costs O(log n) for the heap and O(rails) for the sums.
 *
 * Two things keep that exact. Weights are integers, so the sum of those in flight does not drift as
 * they come and go. Integrals are kept as a sum and its rounding error, so that the small
 * difference of two large values has all its digits after days.
 */
#include "record/attribution.h"

#include "base/alloc.h"
#include "record/stretch.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A sum in twice the precision. */
struct sum {
    double high, low;
};

static void sum_add(struct sum *s, double x)
{
    double total = s->high + x, of_x = total - s->high;

    s->low += (s->high - (total - of_x)) + (x - of_x);
    s->high = total;
}

static double sum_since(struct sum now, struct sum then)
{
    return (now.high - then.high) + (now.low - then.low);
}

static double sum_value(struct sum s)
{
    return s.high + s.low;
}

struct integrals {
    struct sum by_weight, by_head, equal;
};

struct rail_account {
    enum rail rail;
    double base_w;
    struct integrals integrals;
    double last_j; /* the meter when it was last known; NAN = never */
    int64_t last_epoch;
    bool blind;      /* it was not known since */
    int64_t unknown; /* how many pieces of time had no known energy */
    struct sum meter, idle;
    struct sum lost; /* known in sum, but not when in a blind stretch of time */
    struct sum queries, queries_equal;
    struct sum partial, partial_equal; /* what is known of queries whose energy is not */
};

struct flight_rail {
    struct integrals mark; /* when the present stretch began */
    int64_t unknown_mark;  /* when the query began */
    double prefill_j, decode_j, equal_j;
};

enum { NOT_STARTED = -1 };

struct flight {
    struct flight *next, **link; /* in the list of open ones, or of those that are ready */
    void *query;
    mono_ns start;
    mono_ns next_event;
    struct stretch *stretches;
    size_t n_stretches;
    ptrdiff_t at; /* the present stretch */
    mono_ns shared_ns_mark;
    struct sum held_mark;
    bool exclusive;
    double held_s;
    struct flight_rail rails[RAIL_COUNT];
};

struct attribution {
    struct rail_account rails[RAIL_COUNT];
    size_t n_rails;
    mono_ns now;
    bool begun; /* the meter was asked once */
    size_t in_flight, informed;
    int64_t weights;   /* of the informed */
    mono_ns shared_ns; /* time with more than one in flight */
    struct sum held_s; /* of a query: each piece of time over the number in flight */
    struct flight *open;
    struct flight *ready, **ready_end;
    struct flight **heap; /* closed, by next_event */
    size_t n_heap, cap_heap;
    size_t pending;
};

struct attribution *attribution_new(const enum rail *rails, size_t n_rails, const double *base_w,
                                    mono_ns start)
{
    struct attribution *a = xcalloc(1, sizeof(*a));

    assert(n_rails <= RAIL_COUNT);
    a->now = start;
    a->n_rails = n_rails;
    a->ready_end = &a->ready;
    for (size_t i = 0; i < n_rails; i++) {
        double base = base_w ? base_w[rails[i]] : NAN;

        a->rails[i] = (struct rail_account){.rail = rails[i], .last_j = NAN};
        a->rails[i].base_w = base > 0 ? base : 0;
    }
    return a;
}

static void flight_free(struct flight *f)
{
    if (f)
        free(f->stretches);
    free(f);
}

static void list_free(struct flight *f)
{
    while (f) {
        struct flight *next = f->next;

        flight_free(f);
        f = next;
    }
}

void attribution_free(struct attribution *a)
{
    if (!a)
        return;
    list_free(a->open);
    list_free(a->ready);
    for (size_t i = 0; i < a->n_heap; i++)
        flight_free(a->heap[i]);
    free(a->heap);
    free(a);
}

/* The heap: the earliest event first. */

static void heap_put(struct attribution *a, struct flight *f)
{
    size_t i;

    GROW(a->heap, a->n_heap, a->cap_heap);
    for (i = a->n_heap++; i > 0; i = (i - 1) / 2) {
        struct flight *parent = a->heap[(i - 1) / 2];

        if (parent->next_event <= f->next_event)
            break;
        a->heap[i] = parent;
    }
    a->heap[i] = f;
}

static struct flight *heap_take(struct attribution *a)
{
    struct flight *first = a->heap[0], *last = a->heap[--a->n_heap];
    size_t i = 0;

    for (;;) {
        size_t child = 2 * i + 1;

        if (child >= a->n_heap)
            break;
        if (child + 1 < a->n_heap && a->heap[child + 1]->next_event < a->heap[child]->next_event)
            child++;
        if (last->next_event <= a->heap[child]->next_event)
            break;
        a->heap[i] = a->heap[child];
        i = child;
    }
    a->heap[i] = last;
    return first;
}

struct flight *attribution_open(struct attribution *a, mono_ns start, void *query)
{
    struct flight *f = xcalloc(1, sizeof(*f));

    assert(start >= a->now);
    f->query = query;
    f->start = f->next_event = start;
    f->at = NOT_STARTED;
    f->next = a->open;
    f->link = &a->open;
    if (f->next)
        f->next->link = &f->next;
    a->open = f;
    a->pending++;
    return f;
}

void attribution_close(struct attribution *a, struct flight *f, const struct response *r)
{
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    f->next = NULL;
    f->stretches = stretches_of(r, f->start, &f->n_stretches);
    heap_put(a, f);
}

/* Shares the joules of a piece of time. */
static void share_out(struct attribution *a, struct rail_account *r, double joules, double seconds)
{
    double n = (double)a->in_flight, informed = (double)a->informed;
    double base_j = fmin(r->base_w * seconds, joules);

    if (a->in_flight == 0) {
        sum_add(&r->idle, joules);
        return;
    }
    if (a->weights == 0)
        base_j = joules;
    else
        sum_add(&r->integrals.by_weight, (joules - base_j) * (informed / n) / (double)a->weights);
    sum_add(&r->integrals.by_head, base_j / n);
    sum_add(&r->integrals.equal, joules / n);
}

/* The meter's next value, at the end of a piece of time. */
static void account(struct attribution *a, struct rail_account *r, double joules, int64_t epoch,
                    double seconds)
{
    double delta = joules - r->last_j;
    bool continues = !isnan(delta) && epoch == r->last_epoch;

    if (isnan(joules)) {
        r->blind = true;
        r->unknown++;
        return;
    }
    if (continues)
        sum_add(&r->meter, delta);
    if (continues && !r->blind) {
        share_out(a, r, delta, seconds);
    } else {
        r->unknown++;
        if (continues)
            sum_add(&r->lost, delta);
    }
    r->last_j = joules;
    r->last_epoch = epoch;
    r->blind = false;
}

static void move_to(struct attribution *a, mono_ns t, attribution_energy_fn *energy_at, void *ctx)
{
    if (t <= a->now)
        return;
    for (size_t i = 0; i < a->n_rails; i++) {
        int64_t epoch = 0;
        double joules = energy_at(ctx, a->rails[i].rail, t, &epoch);

        account(a, &a->rails[i], joules, epoch, ns_to_s(t - a->now));
    }
    if (a->in_flight > 1)
        a->shared_ns += t - a->now;
    if (a->in_flight > 0)
        sum_add(&a->held_s, ns_to_s(t - a->now) / (double)a->in_flight);
    a->now = t;
}

static void begin(struct attribution *a, attribution_energy_fn *energy_at, void *ctx)
{
    for (size_t i = 0; i < a->n_rails; i++) {
        struct rail_account *r = &a->rails[i];

        r->last_j = energy_at(ctx, r->rail, a->now, &r->last_epoch);
    }
    a->begun = true;
}

/* Counts the present stretch's weight in (1) or out (-1). */
static void count(struct attribution *a, const struct flight *f, int sign)
{
    int64_t weight = f->stretches[f->at].weight;

    if (weight == STRETCH_UNKNOWN)
        return;
    a->informed += (size_t)sign;
    a->weights += sign * weight;
}

static void enter_stretch(struct attribution *a, struct flight *f)
{
    f->next_event = f->stretches[f->at].until;
    for (size_t i = 0; i < a->n_rails; i++)
        f->rails[i].mark = a->rails[i].integrals;
    count(a, f, 1);
}

static void leave_stretch(struct attribution *a, struct flight *f)
{
    const struct stretch *s = &f->stretches[f->at];

    for (size_t i = 0; i < a->n_rails; i++) {
        struct flight_rail *fr = &f->rails[i];
        const struct integrals *now = &a->rails[i].integrals;
        double equal_j = sum_since(now->equal, fr->mark.equal), joules = equal_j;

        if (s->weight != STRETCH_UNKNOWN)
            joules = sum_since(now->by_head, fr->mark.by_head) +
                     (double)s->weight * sum_since(now->by_weight, fr->mark.by_weight);
        if (s->prefill)
            fr->prefill_j += joules;
        else
            fr->decode_j += joules;
        fr->equal_j += equal_j;
    }
    count(a, f, -1);
}

/* A query has landed: what is known of it is booked. */
static void finish(struct attribution *a, struct flight *f)
{
    f->exclusive = a->shared_ns == f->shared_ns_mark;
    f->held_s = sum_since(a->held_s, f->held_mark);
    for (size_t i = 0; i < a->n_rails; i++) {
        struct rail_account *r = &a->rails[i];
        struct flight_rail *fr = &f->rails[i];
        bool known = r->unknown == fr->unknown_mark && !isnan(r->last_j);
        double joules = fr->prefill_j + fr->decode_j;

        sum_add(known ? &r->queries : &r->partial, joules);
        sum_add(known ? &r->queries_equal : &r->partial_equal, fr->equal_j);
        if (!known)
            fr->prefill_j = fr->decode_j = fr->equal_j = NAN;
    }
    *a->ready_end = f;
    a->ready_end = &f->next;
}

/* The flight's next event; true = there are more. */
static bool step(struct attribution *a, struct flight *f)
{
    if (f->at == NOT_STARTED) {
        f->shared_ns_mark = a->shared_ns;
        f->held_mark = a->held_s;
        for (size_t i = 0; i < a->n_rails; i++)
            f->rails[i].unknown_mark = a->rails[i].unknown;
    } else {
        leave_stretch(a, f);
        a->in_flight--;
    }
    if ((size_t)++f->at >= f->n_stretches) {
        finish(a, f);
        return false;
    }
    a->in_flight++;
    enter_stretch(a, f);
    return true;
}

void attribution_advance(struct attribution *a, mono_ns until, attribution_energy_fn *energy_at,
                         void *ctx)
{
    for (const struct flight *f = a->open; f; f = f->next)
        if (f->start < until)
            until = f->start;
    if (!a->begun)
        begin(a, energy_at, ctx);
    while (a->n_heap > 0 && a->heap[0]->next_event <= until) {
        struct flight *f = heap_take(a);

        move_to(a, f->next_event, energy_at, ctx);
        if (step(a, f))
            heap_put(a, f);
    }
    move_to(a, until, energy_at, ctx);
}

bool attribution_take(struct attribution *a, struct attributed *ret)
{
    struct flight *f = a->ready;

    if (!f)
        return false;
    a->ready = f->next;
    if (!a->ready)
        a->ready_end = &a->ready;
    *ret = (struct attributed){.query = f->query, .exclusive = f->exclusive, .held_s = f->held_s};
    for (size_t i = 0; i < RAIL_COUNT; i++)
        ret->rails[i] = (struct share){NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < a->n_rails; i++) {
        const struct flight_rail *fr = &f->rails[i];

        ret->rails[a->rails[i].rail] = (struct share){
            .tokens_j = fr->prefill_j + fr->decode_j,
            .equal_j = fr->equal_j,
            .prefill_j = fr->prefill_j,
            .decode_j = fr->decode_j,
        };
    }
    flight_free(f);
    a->pending--;
    return true;
}

size_t attribution_pending(const struct attribution *a)
{
    return a->pending;
}

struct attribution_totals attribution_totals(const struct attribution *a, enum rail rail)
{
    for (size_t i = 0; i < a->n_rails; i++) {
        const struct rail_account *r = &a->rails[i];

        if (r->rail == rail)
            return (struct attribution_totals){
                .meter_j = sum_value(r->meter),
                .queries_j = sum_value(r->queries),
                .idle_j = sum_value(r->idle),
                .unattributed_j = sum_value(r->lost) + sum_value(r->partial),
            };
    }
    return (struct attribution_totals){0};
}

double attribution_imbalance(const struct attribution *a)
{
    double worst = 0;

    for (size_t i = 0; i < a->n_rails; i++) {
        const struct rail_account *r = &a->rails[i];
        double shared = sum_value(r->meter) - sum_value(r->idle) - sum_value(r->lost);
        double by_tokens = sum_value(r->queries) + sum_value(r->partial);
        double by_heads = sum_value(r->queries_equal) + sum_value(r->partial_equal);
        double off = fmax(fabs(shared - by_tokens), fabs(shared - by_heads));

        if (off > 0)
            worst = fmax(worst, off / fabs(sum_value(r->meter)));
    }
    return worst;
}
