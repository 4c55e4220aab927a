#include "core/series.h"

#include "base/alloc.h"

#include <stdlib.h>

void series_add(struct series *s, struct tick t)
{
    GROW(s->ticks, s->n_ticks, s->cap_ticks);
    s->ticks[s->n_ticks++] = t;
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
