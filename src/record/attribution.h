/*
 * attribution: whose energy was it, when several queries were in flight?
 *
 * Time is cut at every instant at which a query starts, ends or changes its token rate (stretch.h).
 * The energy of each piece of time is shared among the n queries in flight in it, by two rules:
 *
 * equal   Each takes 1/n.
 * tokens  The part the machine would have drawn idling (`base_w`, where it was measured) is shared
 *         equally. The rest is shared by token rate: prompt tokens while a query is prefilled,
 *         output tokens while it decodes. A query whose rate is not known takes 1/n of all, and the
 *         others share what is left; where none of them has tokens, they share equally.
 *
 * Energy while nothing is in flight is idle. Both rules conserve: what the queries got, what was
 * idle and what could not be attributed add up to the meter's E(last) - E(first), to rounding.
 * A query that was alone all the time got E(end) - E(start), by either rule: it is `exclusive`.
 *
 * Why this is close to the truth: a batch's power is what the machine draws anyway plus something
 * for each token. The first is nobody's in particular, the second is known to be whose it is.
 * Simulated (test_attribution: 8 streams, a meter refreshed every 100 ms, deltas up to 3 ms late,
 * tokens for a quarter to four fifths of the power) the median error of a query is 1.6 to 4.8 %, by
 * heads 6.5 to 24 %; without base_w 4.3 to 5.4 %. What remains is the meter, which cannot see a
 * prefill shorter than its refresh: refreshed every 5 ms it leaves 0.1 %. All prompt and output
 * tokens cost the same in that truth; on a real server they do not, and the distance between the
 * two rules is the honest measure of that.
 *
 * Energy that is not known (the meter's counter was reset, or nobody read it) is never guessed: the
 * queries it touches have NAN on that rail, and what is known of theirs becomes `unattributed`.
 *
 * Streaming. A query's rates are known when it has ended, so its neighbours must wait for it. Time
 * is swept up to the earliest start of a query still open; what ended before that is ready and then
 * forgotten. Memory: the queries in flight and those that began while the oldest of them was.
 *
 *     a = attribution_new(rails, n_rails, base_w, t0);
 *     f = attribution_open(a, sent, query);              when a query is sent
 *     attribution_close(a, f, &response);                when it has ended
 *     attribution_advance(a, known_until, energy_at, meter);
 *     while (attribution_take(a, &share))
 *         ... share.query ...
 *     attribution_free(a);
 *
 * One thread. No clock, no I/O.
 */
#ifndef IPW_RECORD_ATTRIBUTION_H
#define IPW_RECORD_ATTRIBUTION_H

#include "core/channel.h"
#include "core/response.h"

#include <stdbool.h>
#include <stddef.h>

struct attribution;
struct flight;

struct share {
    double tokens_j;  /* by tokens; = prefill_j + decode_j */
    double equal_j;   /* by heads */
    double prefill_j; /* of tokens_j: up to the first delta ... */
    double decode_j;  /* ... and from it on; 0 where there was no time in it */
};

struct attributed {
    void *query;
    bool exclusive;
    double held_s; /* its part of the time: 1/n of each piece; times idle power = its idle energy */
    struct share rails[RAIL_COUNT]; /* NAN: not known, or not a rail asked for */
};

struct attribution_totals {
    double meter_j;                           /* E(last) - E(first), over breaks as far as known */
    double queries_j, idle_j, unattributed_j; /* by tokens */
};

/* Joules of the rail at t since whenever: only differences count. NAN = not known. Energies of
 * different epochs have no difference (the counter was reset in between). Asked in order of time,
 * never twice for one rail and instant. */
typedef double attribution_energy_fn(void *ctx, enum rail rail, mono_ns t, int64_t *ret_epoch);

/* Accounts begin at `start`. base_w: the idle power by rail, RAIL_COUNT of them, NAN = not known;
 * may be NULL. Copies. */
struct attribution *attribution_new(const enum rail *rails, size_t n_rails, const double *base_w,
                                    mono_ns start);
void attribution_free(struct attribution *a);

/* A query begins. `start` is not before what has been swept: accounts begin, or the last `until`.
 * The flight belongs to the attribution. */
struct flight *attribution_open(struct attribution *a, mono_ns start, void *query);
/* It has ended, well or not. Borrows r for the call; f is no longer the caller's. */
void attribution_close(struct attribution *a, struct flight *f, const struct response *r);

/* Sweeps up to `until`, or the earliest start of an open query if that is before. The caller knows
 * the energy that far, and will open no query before it. */
void attribution_advance(struct attribution *a, mono_ns until, attribution_energy_fn *energy_at,
                         void *ctx);
/* The next query that is ready, in order of their ends; false = none. */
bool attribution_take(struct attribution *a, struct attributed *ret);
/* How many were opened and not taken. */
size_t attribution_pending(const struct attribution *a);

/* What was shared so far; queries count when they are ready. All 0 at first. */
struct attribution_totals attribution_totals(const struct attribution *a, enum rail rail);
/* How far the parts are from the meter, relative to it: the worst rail and rule. Meaningful when
 * nothing is in flight. Below 1e-9, or something is wrong. */
double attribution_imbalance(const struct attribution *a);

#endif
