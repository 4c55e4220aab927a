#include "report/thin.h"

#include "base/alloc.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

/* A time beyond this (31 years) is not one, and would make the arithmetic overflow. */
#define TIME_MAX_S 1e9

void thin_init(struct thin *t, size_t max_buckets)
{
    assert(max_buckets >= 4);
    *t = (struct thin){.max = max_buckets};
}

void thin_release(struct thin *t)
{
    free(t->buckets);
    *t = (struct thin){.max = t->max};
}

static double last_s(const struct thin_bucket *b)
{
    return b->min_s > b->max_s ? b->min_s : b->max_s;
}

static double first_s(const struct thin_bucket *b)
{
    return b->min_s < b->max_s ? b->min_s : b->max_s;
}

static bool same_bucket(const struct thin *t, double a_s, double b_s)
{
    return t->width_s > 0 && floor(a_s / t->width_s) == floor(b_s / t->width_s);
}

/* `next` comes after `b`. */
static void merge(struct thin_bucket *b, const struct thin_bucket *next)
{
    if (next->min < b->min) {
        b->min = next->min;
        b->min_s = next->min_s;
    }
    if (next->max > b->max) {
        b->max = next->max;
        b->max_s = next->max_s;
    }
    b->broken = b->broken || next->broken;
}

void thin_coarsen(struct thin *t)
{
    size_t before = t->n, kept = 1;

    if (t->n < 2)
        return;
    if (t->width_s == 0)
        t->width_s =
            (last_s(&t->buckets[t->n - 1]) - first_s(&t->buckets[0])) / (double)t->n + 1e-6;
    do {
        t->width_s *= 2;
        kept = 1;
        for (size_t i = 1; i < t->n; i++) {
            struct thin_bucket *into = &t->buckets[kept - 1];

            if (same_bucket(t, first_s(into), first_s(&t->buckets[i])))
                merge(into, &t->buckets[i]);
            else
                t->buckets[kept++] = t->buckets[i];
        }
        t->n = kept;
    } while (t->n > before / 2 + 1);
}

void thin_add(struct thin *t, double time_s, double value, double from_s, bool is_break)
{
    struct thin_bucket b = {from_s, time_s, value, time_s, value, is_break || t->pending_break};
    struct thin_bucket *last = t->n ? &t->buckets[t->n - 1] : NULL;

    if (!isfinite(value) || !(fabs(time_s) < TIME_MAX_S) || (last && time_s < last_s(last))) {
        t->pending_break = true;
        return;
    }
    t->pending_break = false;
    if (!(from_s <= time_s && from_s > -TIME_MAX_S))
        b.from_s = time_s;
    if (last && b.from_s < last_s(last))
        b.from_s = last_s(last);
    t->samples++;
    if (last && t->n == t->max && !same_bucket(t, first_s(last), time_s)) {
        thin_coarsen(t);
        last = &t->buckets[t->n - 1];
    }
    if (last && same_bucket(t, first_s(last), time_s)) {
        merge(last, &b);
        return;
    }
    GROW(t->buckets, t->n, t->cap);
    assert(t->buckets);
    t->buckets[t->n++] = b;
}

size_t thin_points(const struct thin *t, struct thin_point **ret)
{
    struct thin_point *points = xcalloc(3 * t->n + 1, sizeof(*points));
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++) {
        const struct thin_bucket *b = &t->buckets[i];
        bool falling = b->max_s < b->min_s;

        if (b->broken)
            points[n++] = (struct thin_point){b->from_s, NAN};
        points[n++] =
            falling ? (struct thin_point){b->max_s, b->max} : (struct thin_point){b->min_s, b->min};
        if (b->max_s != b->min_s)
            points[n++] = falling ? (struct thin_point){b->min_s, b->min}
                                  : (struct thin_point){b->max_s, b->max};
    }
    *ret = points;
    return n;
}
