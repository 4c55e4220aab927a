/*
 * Plain growing arrays and binary searches. Gaps are few, so coverage walks them all.
 */
#include "core/series.h"

#include "base/alloc.h"

#include <stdlib.h>

void series_add(struct series *s, struct tick t)
{
    GROW(s->ticks, s->n_ticks, s->cap_ticks);
    s->ticks[s->n_ticks++] = t;
}

void series_reserve(struct series *s, size_t n)
{
    if (s->n_ticks + n <= s->cap_ticks)
        return;
    s->cap_ticks = s->n_ticks + n;
    s->ticks = xreallocarray(s->ticks, s->cap_ticks, sizeof(*s->ticks));
}

void series_add_gap(struct series *s, struct gap g)
{
    GROW(s->gaps, s->n_gaps, s->cap_gaps);
    s->gaps[s->n_gaps++] = g;
}

void series_clear(struct series *s)
{
    s->n_ticks = 0;
    s->n_gaps = 0;
    s->read_from = 0;
    s->read_until = 0;
    s->period_ns = 0;
}

void series_release(struct series *s)
{
    free(s->ticks);
    free(s->gaps);
    *s = (struct series){0};
}

size_t series_after(const struct series *s, mono_ns t)
{
    size_t low = 0, high = s->n_ticks;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->ticks[middle].seen > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

size_t series_at_after(const struct series *s, mono_ns t)
{
    size_t low = 0, high = s->n_ticks;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (s->ticks[middle].at > t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static mono_ns max_ns(mono_ns x, mono_ns y)
{
    return x > y ? x : y;
}

static mono_ns min_ns(mono_ns x, mono_ns y)
{
    return x < y ? x : y;
}

double series_coverage(const struct series *s, mono_ns a, mono_ns b, int64_t *ret_gaps)
{
    mono_ns from = max_ns(a, s->read_from), to = min_ns(b, s->read_until);
    mono_ns covered = max_ns(to - from, 0);
    int64_t gaps = 0;

    for (size_t i = 0; i < s->n_gaps; i++) {
        const struct gap *g = &s->gaps[i];

        if (g->to <= a || g->from >= b)
            continue;
        gaps++;
        covered -= max_ns(min_ns(g->to, to) - max_ns(g->from, from), 0);
    }
    if (ret_gaps)
        *ret_gaps = gaps;
    if (b <= a)
        return s->read_from <= a && a <= s->read_until && s->read_until > 0 ? 1 : 0;
    return (double)max_ns(covered, 0) / (double)(b - a);
}
