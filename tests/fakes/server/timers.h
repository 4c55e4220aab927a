/*
 * timers: the earliest of many deadlines, as a binary heap.
 *
 * A thing that waits embeds a struct timer. All zero is a timer that is not set.
 */
#ifndef IPW_FAKES_TIMERS_H
#define IPW_FAKES_TIMERS_H

#include "base/clock.h"

#include <stddef.h>

struct timer {
    mono_ns at;
    size_t place; /* in the heap, from 1; 0 = not set */
};

struct timers {
    struct timer **heap; /* heap[1] is the earliest */
    size_t n, cap;
};

void timers_release(struct timers *t);
/* Sets or moves it. */
void timer_set(struct timers *t, struct timer *timer, mono_ns at);
void timer_clear(struct timers *t, struct timer *timer);
/* NULL = none is set. */
struct timer *timers_first(const struct timers *t);

#endif
