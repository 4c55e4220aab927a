/*
 * Everything is reduced to pieces (a value and the time it held inside the window); the average,
 * the extremes and the median, each weighted by that time, are then the same for gauges and
 * counters. Weighting by time makes the figures independent of how unevenly the source was read.
 */
#include "record/energy.h"

#include "base/alloc.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

struct piece {
    double value;
    double weight;
};

struct pieces {
    struct piece *items;
    size_t n, cap;
};

static void add_piece(struct pieces *p, double value, double weight)
{
    GROW(p->items, p->n, p->cap);
    p->items[p->n++] = (struct piece){value, weight};
}

static int compare_pieces(const void *x, const void *y)
{
    double a = ((const struct piece *)x)->value, b = ((const struct piece *)y)->value;

    return (a > b) - (a < b);
}

/* Sorts the pieces. The median is the value at half the weight, the mean of two where it falls
 * between them. */
static struct stat4 stats_of_pieces(struct pieces *p)
{
    struct stat4 r = {NAN, NAN, NAN, NAN};
    double total = 0, sum = 0, below = 0;

    if (p->n == 0)
        return r;
    qsort(p->items, p->n, sizeof(*p->items), compare_pieces);
    for (size_t i = 0; i < p->n; i++)
        total += p->items[i].weight;
    if (total <= 0) { /* an empty window: all the same */
        for (size_t i = 0; i < p->n; i++)
            p->items[i].weight = 1;
        total = (double)p->n;
    }
    for (size_t i = 0; i < p->n; i++) {
        sum += p->items[i].value * p->items[i].weight;
        below += p->items[i].weight;
        if (isnan(r.median) && below >= total / 2) {
            bool between = below == total / 2 && i + 1 < p->n;

            r.median =
                between ? (p->items[i].value + p->items[i + 1].value) / 2 : p->items[i].value;
        }
    }
    r.avg = sum / total;
    r.min = p->items[0].value;
    r.max = p->items[p->n - 1].value;
    return r;
}

static double overlap(mono_ns from, mono_ns to, mono_ns a, mono_ns b)
{
    mono_ns x = from > a ? from : a, y = to < b ? to : b;

    return y > x ? (double)(y - x) : 0;
}

static mono_ns half_way(mono_ns from, mono_ns to, mono_ns reach)
{
    mono_ns half = (to - from) / 2;

    return half < reach ? half : reach;
}

/* A gauge's value stands for the time from half-way to the tick before to half-way to the next, but
 * not farther than `reach`. */
static double gauge_weight(const struct series *s, size_t i, mono_ns a, mono_ns b, mono_ns reach)
{
    const struct tick *t = &s->ticks[i];
    mono_ns from = t->after, to = t->seen;

    if (i > 0)
        from -= half_way(s->ticks[i - 1].seen, t->after, reach);
    if (i + 1 < s->n_ticks)
        to += half_way(t->seen, s->ticks[i + 1].after, reach);
    return overlap(from, to, a, b);
}

/* No value touches the window: the nearest one, if near enough. */
static void add_nearest(const struct series *s, size_t next, mono_ns a, mono_ns b, mono_ns reach,
                        struct pieces *p)
{
    const struct tick *before = next > 0 ? &s->ticks[next - 1] : NULL;
    const struct tick *after = next < s->n_ticks ? &s->ticks[next] : NULL;
    mono_ns to_before = before ? a - before->seen : MONO_NEVER;
    mono_ns to_after = after ? after->after - b : MONO_NEVER;

    if (before && to_before <= to_after && to_before <= reach)
        add_piece(p, before->value, 1);
    else if (after && to_after < to_before && to_after <= reach)
        add_piece(p, after->value, 1);
}

static struct stat4 gauge_stats(const struct channel *c, const struct series *s, mono_ns a,
                                mono_ns b)
{
    mono_ns reach = 3 * (s->period_ns > c->refresh_ns ? s->period_ns : c->refresh_ns);
    struct pieces p = {0};
    struct stat4 r;
    size_t first = series_after(s, a - 1), i = first;

    for (; i < s->n_ticks && s->ticks[i].after <= b; i++)
        add_piece(&p, s->ticks[i].value, gauge_weight(s, i, a, b, reach));
    if (p.n == 0)
        add_nearest(s, first, a, b, reach, &p);
    r = stats_of_pieces(&p);
    free(p.items);
    return r;
}

/* How far off the time of an edge of a piece may be: window edges are exact. */
static double doubt(const struct series *s, size_t i, mono_ns a, mono_ns b)
{
    const struct tick *t = &s->ticks[i];
    mono_ns early = t->at - t->after, late = t->seen - t->at;

    if (t->at <= a || t->at >= b)
        return 0;
    return (double)(early < late ? early : late);
}

/* The power of the window's pieces between ticks. */
static void counter_pieces(const struct series *s, mono_ns a, mono_ns b, struct pieces *p)
{
    size_t i = series_at_after(s, a);
    mono_ns from = a;
    double from_j = energy_at(s, a), from_doubt = 0;

    for (;; i++) {
        bool last = i >= s->n_ticks || s->ticks[i].at >= b;
        mono_ns to = last ? b : s->ticks[i].at;
        double to_doubt = last ? 0 : doubt(s, i, a, b);
        double to_j = last ? energy_at(s, b) : s->ticks[i].value;
        double took = (double)(to - from);

        if (!last && took < 10 * (from_doubt + to_doubt))
            continue;
        /* What is left at the end and too short joins the piece before. */
        if (last && took < 10 * from_doubt && p->n > 0) {
            struct piece *prev = &p->items[p->n - 1];
            double joined = prev->weight + took;

            prev->value = (prev->value * prev->weight + (to_j - from_j) * 1e9) / joined;
            prev->weight = joined;
        } else if (took > 0) {
            add_piece(p, (to_j - from_j) * 1e9 / took, took);
        }
        if (last)
            return;
        from = to;
        from_j = to_j;
        from_doubt = to_doubt;
    }
}

static struct stat4 counter_stats(const struct channel *c, const struct series *s, mono_ns a,
                                  mono_ns b)
{
    struct stat4 r = {NAN, NAN, NAN, NAN};
    struct energy e = energy_of_window(c, s, a, b);
    struct pieces p = {0};

    if (isnan(e.joules) || b <= a)
        return r;
    counter_pieces(s, a, b, &p);
    r = stats_of_pieces(&p);
    free(p.items);
    r.avg = e.joules / ns_to_s(b - a);
    /* Rounding apart this holds already. */
    r.max = fmax(r.max, r.avg);
    r.min = fmin(r.min, r.avg);
    return r;
}

struct stat4 stats_of_window(const struct channel *c, const struct series *s, mono_ns a, mono_ns b)
{
    if (b < a)
        return (struct stat4){NAN, NAN, NAN, NAN};
    if (c->quantity == QUANTITY_ENERGY_J)
        return counter_stats(c, s, a, b);
    return gauge_stats(c, s, a, b);
}
