/*
 * pool: several answers at once, on a fixed number of threads.
 *
 *     r = pocket_pool_open(model, threads, SIZE_MAX, &pool, &err);
 *     job = (struct pocket_job){.prompt = p, .options = &o, .handler = &h, .user = me};
 *     r = pocket_pool_submit(pool, &job);     handler is called on a worker's thread
 *     ... h.ended(&job): the job is the caller's again ...
 *     pocket_pool_close(pool);
 *
 * A job that no worker is free for waits its turn, the oldest first. The functions may be called
 * from any thread, handlers included, except stop and close, which wait for the workers.
 */
#ifndef IPW_CLIENT_POCKET_POOL_H
#define IPW_CLIENT_POCKET_POOL_H

#include "base/err.h"
#include "client/pocket/generate.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct pocket_pool;
struct pocket_job;

/* Called by a worker, in this order. No lock is held. */
struct pocket_handler {
    void (*taken)(struct pocket_job *j); /* a worker begins with it */
    void (*text)(struct pocket_job *j, const char *text, size_t n, mono_ns at);
    /* result and outcome are final; the pool does not touch the job any more */
    void (*ended)(struct pocket_job *j);
};

struct pocket_job {
    /* The caller's; not changed by the pool, and lent until the end. */
    struct pocket_prompt prompt;
    const struct pocket_options *options;
    const struct pocket_handler *handler;
    void *user;
    /* Filled by the pool. */
    mono_ns submitted;
    mono_ns taken; /* MONO_ABSENT = never */
    int result;    /* 0, or -ECANCELED */
    struct pocket_outcome outcome;
    /* The pool's. */
    atomic_bool cancelled;
    bool waiting;
    struct pocket_job *prev, *next;
};

/* Starts `threads` workers; at most waiting_max jobs wait for one. The model is lent. */
int pocket_pool_open(const struct pocket_model *m, int threads, size_t waiting_max,
                     struct pocket_pool **ret, struct err *err);
/* Cancels what there is and ends the workers; ended() has been called for every job when this
 * returns, for those that still waited by the caller's thread. What is submitted later is refused.
 * NULL is fine. */
void pocket_pool_stop(struct pocket_pool *p);
/* Stops it and gives its memory back: nobody may call for it any more. */
void pocket_pool_close(struct pocket_pool *p);

/* 0: ended() will come. -EBUSY: too many wait. -ESHUTDOWN: the pool was stopped. */
int pocket_pool_submit(struct pocket_pool *p, struct pocket_job *j);
/* Asks a submitted job that has not ended to end. True: it was still waiting and is the caller's
 * again at once; ended() will not come. False: a worker has it; ended() comes within a step of the
 * model, if it has not come already. */
bool pocket_pool_cancel(struct pocket_pool *p, struct pocket_job *j);

/* The most threads that make sense here: so many for each CPU. */
#define POCKET_THREADS_PER_CPU 4
int pocket_threads_max(void);

#endif
