/*
 * account: which joules are whose, from the meter and the times of the queries.
 *
 * Joins the meter with attribution.h: it follows every rail's energy over time, shares it among the
 * queries in flight and hands each query back, once the meter has passed its end, with everything
 * that was measured in its time.
 *
 *     a = account_open(meter, idle_w, mono_now());
 *     s = account_begin(a, sent);
 *     account_end(a, s, &response, query);
 *     account_advance(a, safe);
 *     while (account_take(a, &attributed))
 *         account_fill(a, &response, &attributed, &build_input);
 *     account_close(a);
 *
 * History that no query needs any more is forgotten as the account goes on. One thread.
 */
#ifndef IPW_RUN_ACCOUNT_H
#define IPW_RUN_ACCOUNT_H

#include "record/attribution.h"
#include "record/build.h"
#include "run/meter.h"

#include <stdbool.h>

struct account;
struct stay; /* of a query in flight; the account's */

/* idle_w: by rail, NAN = not measured. The meter is lent. */
struct account *account_open(struct meter *m, const double idle_w[RAIL_COUNT], mono_ns start);
void account_close(struct account *a);

/* A query was sent. A time before what has been settled counts as that. */
struct stay *account_begin(struct account *a, mono_ns sent);
/* It has ended, well or not; the response is read at once. `query` comes back from account_take;
 * NULL = nobody waits for it (an attempt that will be repeated), its share is counted apart. */
void account_end(struct account *a, struct stay *s, const struct response *r, void *query);
/* Settles as far as the meter has come, but not beyond `safe`: the caller begins no query before
 * that any more. */
void account_advance(struct account *a, mono_ns safe);
/* The next query that is settled. Its window can be filled in until the next advance. */
bool account_take(struct account *a, struct attributed *ret);
/* Began and not taken yet. */
size_t account_pending(const struct account *a);
/* How far it is settled. */
mono_ns account_settled(const struct account *a);
/* The meter will say no more: whatever is known now is all there is. */
void account_last_call(struct account *a);

/* Rails, basis and gauges of a query's time. Nothing is filled in for one that was never sent. */
void account_fill(struct account *a, const struct response *r, struct build_input *ret);
enum basis account_basis(const struct account *a);

/* What queries ended with NULL got of the basis, joules. */
double account_nobodys(const struct account *a);
struct attribution_totals account_totals(const struct account *a, enum rail rail);
bool account_has(const struct account *a, enum rail rail);
/* See attribution_imbalance. */
double account_imbalance(const struct account *a);

#endif
