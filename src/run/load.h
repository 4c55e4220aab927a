/*
 * load: questions go out as the schedule says, and come back as queries that have ended.
 *
 *     r = load_open(&options, &l, &err);
 *     while (!load_finished(l)) {
 *         r = load_step(l, deadline, wake_fd, &err);
 *         account_advance(account, load_safe(l));
 *         take what has ended: from load_take, and from account_take once its energy is known
 *     }
 *     stats = load_stats(l);
 *     load_close(l);
 *
 * With an account, a query that was sent goes to it when it has ended, and comes back from there;
 * load_take gives only those that never were sent. Without one (warm-up) load_take gives all.
 *
 * A query that fails in a way that may pass (no connection, a status of 429 or 5xx, a cut or
 * stalled stream) is sent again up to `retries` times: after what the server asked for, else after
 * half a second, doubled each time. Its record is that of the last attempt.
 *
 * One thread.
 */
#ifndef IPW_RUN_LOAD_H
#define IPW_RUN_LOAD_H

#include "client/client.h"
#include "core/response.h"
#include "run/account.h"
#include "run/deck.h"
#include "run/schedule.h"

#include <stdbool.h>
#include <stdint.h>

struct query {
    struct question *question;
    struct response response; /* of the last attempt */
    mono_ns planned;
    int64_t attempts;
    int64_t slept_ns; /* how long the machine had slept when it was sent: clock_suspended_ns */
    bool slept;       /* it slept meanwhile */

    /* the load's own */
    struct load *load;
    struct client_query wire;
    struct stay *stay;
    bool is_sent, has_ended;
    mono_ns started, retry_at; /* retry_at MONO_ABSENT: it is with the client */
    struct query *prev, *next; /* among the active, or those to be taken */
    struct query *next_ended;
};

/* Also frees its question. */
void query_free(struct query *q);

struct load_options {
    const struct client_ops *client;
    void *ctx;               /* the client's */
    struct deck *deck;       /* lent */
    struct account *account; /* NULL = energy does not matter */
    struct schedule_options schedule;
    int64_t retries;
    int64_t failures_max; /* so many in a row end the load; 0 = any number */
    size_t max_response_bytes;
};

struct load;

int load_open(const struct load_options *options, struct load **ret, struct err *err);
/* Nothing is in flight, or the client was closed, which ends everything. What was not taken is
 * freed. NULL is fine. */
void load_close(struct load *l);

/* Sends what is due, then waits for something to happen until the deadline at the latest. An error
 * means that the dataset cannot be read or the client is broken: nothing more is sent then. */
int load_step(struct load *l, mono_ns deadline, int wake_fd, struct err *err);
/* The next one that has ended and has no energy, else NULL. The caller's. */
struct query *load_take(struct load *l);
/* Sends nothing more; what is in flight is cancelled. */
void load_stop(struct load *l);
/* Nothing is in flight and nothing will be sent. */
bool load_finished(const struct load *l);
/* No query will turn out to have been sent before this. */
mono_ns load_safe(const struct load *l);

struct load_state {
    int64_t in_flight;
    int64_t failures_in_a_row;
    bool gave_up;   /* at failures_max of them */
    int64_t deltas; /* pieces of text so far */
    int64_t retried;
};
struct load_state load_state(const struct load *l);
struct schedule_stats load_stats(const struct load *l);

#endif
