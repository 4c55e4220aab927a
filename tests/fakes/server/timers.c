/* Each timer knows its place, so that moving and removing one costs as little as adding it. */
#include "timers.h"

#include "base/alloc.h"

#include <stdlib.h>

static void put(struct timers *t, struct timer *timer, size_t place)
{
    t->heap[place] = timer;
    timer->place = place;
}

static void sift(struct timers *t, struct timer *timer)
{
    size_t i = timer->place;

    while (i > 1 && t->heap[i / 2]->at > timer->at) {
        put(t, t->heap[i / 2], i);
        i /= 2;
    }
    for (;;) {
        size_t child = 2 * i;

        if (child < t->n && t->heap[child + 1]->at < t->heap[child]->at)
            child++;
        if (child > t->n || t->heap[child]->at >= timer->at)
            break;
        put(t, t->heap[child], i);
        i = child;
    }
    put(t, timer, i);
}

void timers_release(struct timers *t)
{
    free(t->heap);
}

void timer_set(struct timers *t, struct timer *timer, mono_ns at)
{
    timer->at = at;
    if (!timer->place) {
        GROW(t->heap, t->n + 1, t->cap);
        put(t, timer, ++t->n);
    }
    sift(t, timer);
}

void timer_clear(struct timers *t, struct timer *timer)
{
    struct timer *last;
    size_t place = timer->place;

    if (!place)
        return;
    timer->place = 0;
    last = t->heap[t->n--];
    if (last == timer)
        return;
    put(t, last, place);
    sift(t, last);
}

struct timer *timers_first(const struct timers *t)
{
    return t->n ? t->heap[1] : NULL;
}
