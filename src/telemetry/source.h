/*
 * source: one collector, the thread that reads it, and the histories of its channels.
 *
 * Private to the sampler (and its tests and benches). The thread reads without any lock into a
 * batch of its own and then hands the batch over under `lock`, once per round.
 *
 * A source has two holders, its owner and its thread; the last one frees it. So a thread that hangs
 * inside a vendor's library can be abandoned with all it may still touch: if it ever returns, it
 * closes the collector and frees the rest; if not, its memory stays, reachable from its stack.
 */
#ifndef IPW_TELEMETRY_SOURCE_H
#define IPW_TELEMETRY_SOURCE_H

#include "telemetry/collector.h"
#include "telemetry/history.h"

#include <pthread.h>
#include <stdatomic.h>

/* What one read showed of one channel. */
struct sample {
    size_t channel;
    mono_ns before, after;
    double value;
};

struct batch {
    struct sample_sink sink; /* first: put() gets a pointer to it */
    struct sample *items;
    size_t n, cap;
};

struct source {
    const struct collector_ops *ops;
    void *ctx;
    struct channel *channels;
    size_t n_channels;
    struct pace_need *needs; /* one per channel */
    struct batch batch;      /* the thread's alone */
    int64_t suspended_ns;    /* the thread's alone */
    pthread_t thread;
    bool started;
    atomic_int holders;

    pthread_mutex_t lock;
    /* guarded by lock: */
    pthread_cond_t wake;       /* for the thread: stop */
    pthread_cond_t progress;   /* for waiters: a round is done, the thread is done */
    struct history *histories; /* one per channel */
    struct pace pace;
    bool stop;
    bool busy; /* inside read() since busy_since */
    mono_ns busy_since;
    bool dropped;
    bool finished;      /* the thread touches nothing more but to let go */
    int failures;       /* rounds in a row */
    mono_ns round_from; /* begin of the latest good round; 0 = none */
    mono_ns cpu_ns;     /* of the thread, once finished */
    bool *told;         /* one per channel: its trouble has been reported */
    char **messages;
    size_t n_messages, cap_messages;
};

/* Opens the collector and takes its channels, notes and devices; `setup` must be empty but for env
 * and keeps devices and system for the caller. */
int source_open(const struct collector_ops *ops, struct collector_setup *setup, mono_ns period_ns,
                bool fixed, struct source **ret, struct err *err);
/* Lets go: the collector is closed and the memory freed, at once or, if an abandoned thread still
 * holds on, when that returns. After source_stop_end. NULL is fine. */
void source_close(struct source *s);

int source_start(struct source *s, struct err *err);
/* Asks the thread to end, without waiting. */
void source_stop_begin(struct source *s);
/* Waits for it until `deadline`, else drops the source and abandons the thread. History stays. */
void source_stop_end(struct source *s, mono_ns deadline);

/* Reads once and hands over; what the thread does each round. */
void source_round(struct source *s);

/* The following want the lock held. */
void source_message(struct source *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Drops the source when it has been inside read() for too long. */
void source_check_hang(struct source *s, mono_ns now);
/* The latest t for which windows that end at t can be built as far as this channel goes. Never
 * falls. */
mono_ns source_passed(struct source *s, size_t channel);

#endif
