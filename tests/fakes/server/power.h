/*
 * power: what the server's work costs, shown as a powercap counter.
 *
 * The machine draws base_w all the time. The tokens of an answer cost something more, spread evenly
 * over the time in which they are made: prompt and first piece from the request to that piece, any
 * further piece from the sending of the one before it to the moment it is due. So the energy of an
 * answer is the number of its tokens times their price, all of it spent before its last piece is
 * sent, and what the counter shows never depends on the future.
 *
 *     r = power_open("/tmp/sys:100:60:0.1:0.5", &p, &err);
 *     power_work(p, &x->work, from, until, joules);      again and again
 *     spent_j = power_stop(p, &x->work, now);
 *     power_close(p);
 *
 * The counter, ROOT/class/powercap/intel-rapl:0 (package-0), is renewed by a thread of its own on
 * an absolute schedule. All functions are for the server's thread; NULL for p is a server without a
 * meter.
 */
#ifndef IPW_FAKES_POWER_H
#define IPW_FAKES_POWER_H

#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct power;

/* All zero: no work so far. Its owner only reads spent_j. */
struct work {
    mono_ns from, until;
    double joules;  /* of the piece in work, from..until */
    double spent_j; /* of the pieces before it */
    bool active;
    struct work *previous, *next;
};

/* "ROOT:REFRESH_MS:BASE_W:J_PER_PROMPT_TOKEN:J_PER_TOKEN"; ROOT is made. */
int power_open(const char *spec, struct power **ret, struct err *err);
void power_close(struct power *p);

/* What so many tokens cost. */
double power_cost(const struct power *p, int64_t prompt_tokens, int64_t tokens);
/* The piece before is done; the next is made from..until. */
void power_work(struct power *p, struct work *w, mono_ns from, mono_ns until, double joules);
/* No more work after `now`; returns what was spent in all. */
double power_stop(struct power *p, struct work *w, mono_ns now);

#endif
