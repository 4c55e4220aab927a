/*
 * Why a lock per source and per round: the readers (one window per finished query) are rare, the
 * rounds up to a thousand a second; an uncontended mutex costs nothing beside a wake-up, and a
 * source that hangs does so without holding it. The thread sleeps on a condition variable with the
 * monotonic clock, which costs what clock_nanosleep costs and can be ended at once.
 */
#include "telemetry/source.h"

#include "base/alloc.h"
#include "telemetry/sampler.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A driver's ring has some hundred values; more than this in one round is nonsense. */
#define BATCH_MAX 65536
/* A channel that is silent for this long, and SAMPLER_FAILURES_MAX rounds, is worth a message. */
#define SILENCE_NS (2 * NS_PER_S)
/* CLOCK_BOOTTIME ran away from CLOCK_MONOTONIC by this much: the machine slept. Less is noise
 * between the two reads. */
#define SUSPEND_MIN_NS (500 * NS_PER_MS)
/* Scheduling noise is not a gap, however short the period. */
#define GAP_MIN_NS   (20 * NS_PER_MS)
#define MESSAGES_MAX 64

static void batch_put(struct sample_sink *self, size_t channel, mono_ns before, mono_ns after,
                      double value)
{
    struct batch *b = (struct batch *)self;

    if (b->n >= BATCH_MAX)
        return;
    GROW(b->items, b->n, b->cap);
    b->items[b->n++] = (struct sample){channel, before, after, value};
}

void source_message(struct source *s, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (s->n_messages >= MESSAGES_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    GROW(s->messages, s->n_messages, s->cap_messages);
    s->messages[s->n_messages++] = xasprintf("%s: %s", s->ops->plugin.id, text);
}

static void init_locks(struct source *s)
{
    pthread_condattr_t attr;

    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &attr);
    pthread_cond_init(&s->progress, &attr);
    pthread_condattr_destroy(&attr);
}

int source_open(const struct collector_ops *ops, struct collector_setup *setup, mono_ns period_ns,
                bool fixed, struct source **ret, struct err *err)
{
    struct source *s;
    void *ctx = NULL;
    int r = ops->open(setup, &ctx, err);

    if (r < 0)
        return r;
    s = xcalloc(1, sizeof(*s));
    s->ops = ops;
    s->ctx = ctx;
    s->n_channels = setup->n_channels;
    s->channels = xmemdup(setup->channels, setup->n_channels * sizeof(*s->channels));
    s->histories = xcalloc(s->n_channels, sizeof(*s->histories));
    s->needs = xcalloc(s->n_channels, sizeof(*s->needs));
    s->told = xcalloc(s->n_channels, sizeof(*s->told));
    for (size_t i = 0; i < s->n_channels; i++) {
        history_init(&s->histories[i], &s->channels[i]);
        s->needs[i].refresh_ns = s->channels[i].refresh_ns;
        if (s->channels[i].quantity == QUANTITY_ENERGY_J)
            s->needs[i].phase = &s->histories[i].phase;
    }
    s->batch.sink.put = batch_put;
    s->batch.cap = s->n_channels + 1;
    s->batch.items = xcalloc(s->batch.cap, sizeof(*s->batch.items));
    s->suspended_ns = clock_suspended_ns();
    pace_init(&s->pace, period_ns, fixed, mono_now());
    init_locks(s);
    atomic_init(&s->holders, 1);
    for (size_t i = 0; i < setup->n_notes; i++)
        source_message(s, "%s", setup->notes[i]);
    *ret = s;
    return 0;
}

static void let_go(struct source *s)
{
    if (atomic_fetch_sub(&s->holders, 1) > 1)
        return;
    s->ops->close(s->ctx);
    for (size_t i = 0; i < s->n_channels; i++)
        history_release(&s->histories[i]);
    for (size_t i = 0; i < s->n_messages; i++)
        free(s->messages[i]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->progress);
    free(s->messages);
    free(s->histories);
    free(s->channels);
    free(s->needs);
    free(s->told);
    free(s->batch.items);
    free(s);
}

void source_close(struct source *s)
{
    if (s)
        let_go(s);
}

static void drop(struct source *s, const char *why)
{
    s->dropped = true;
    for (size_t i = 0; i < s->n_channels; i++)
        history_close(&s->histories[i]);
    source_message(s, "dropped: %s", why);
}

void source_check_hang(struct source *s, mono_ns now)
{
    char why[96];

    if (!s->busy || s->dropped || now - s->busy_since < SAMPLER_HANG_NS)
        return;
    snprintf(why, sizeof(why), "a read has not come back for %d s",
             (int)(SAMPLER_HANG_NS / NS_PER_S));
    drop(s, why);
}

static void round_failed(struct source *s, mono_ns end, const struct err *err)
{
    char why[ERR_TEXT_MAX + 64];

    s->failures++;
    for (size_t i = 0; i < s->n_channels; i++) {
        s->histories[i].failed_reads++;
        s->histories[i].silent++;
    }
    pace_retry(&s->pace, s->failures, end);
    if (s->failures < SAMPLER_FAILURES_MAX)
        return;
    snprintf(why, sizeof(why), "%d reads in a row failed%s%s", s->failures,
             err->text[0] ? ": " : "", err->text);
    drop(s, why);
}

static mono_ns gap_limit(const struct source *s, size_t channel)
{
    const struct history *h = &s->histories[channel];
    mono_ns usual = pace_period(&s->pace), limit;

    if (h->quantity != QUANTITY_ENERGY_J && h->refresh_ns / 2 > usual)
        usual = h->refresh_ns / 2;
    if (phase_known(&h->phase) && h->phase.longest > usual)
        usual = h->phase.longest;
    limit = 3 * usual;
    return limit > GAP_MIN_NS ? limit : GAP_MIN_NS;
}

static void report_verdict(struct source *s, size_t channel, enum history_verdict verdict)
{
    const char *name = s->channels[channel].name;

    if (s->told[channel])
        return;
    s->told[channel] = true;
    if (verdict == HISTORY_RESET)
        source_message(s, "%s went backwards: it was reset; energy across that is not known", name);
    else
        source_message(s, "%s leapt: energy across that is not known", name);
}

static void hand_over(struct source *s, mono_ns end)
{
    for (size_t i = 0; i < s->n_channels; i++)
        s->histories[i].silent++;
    for (size_t i = 0; i < s->batch.n; i++) {
        const struct sample *x = &s->batch.items[i];
        enum history_verdict verdict;

        /* A stamp of the source's own may be off; one from the future would stop the clock. */
        if (x->channel >= s->n_channels || x->after > end)
            continue;
        verdict = history_put(&s->histories[x->channel], x->before, x->after, x->value,
                              gap_limit(s, x->channel));
        if (verdict == HISTORY_RESET || verdict == HISTORY_JUMPED)
            report_verdict(s, x->channel, verdict);
    }
}

static void note_silence(struct source *s, mono_ns end)
{
    for (size_t i = 0; i < s->n_channels; i++) {
        struct history *h = &s->histories[i];

        if (h->silent == 0)
            continue;
        h->failed_reads++;
        if (h->silent < SAMPLER_FAILURES_MAX || s->told[i] ||
            (h->read_until && end - h->read_until < SILENCE_NS))
            continue;
        s->told[i] = true;
        source_message(s, "%s: %d reads in a row gave no usable value", s->channels[i].name,
                       h->silent);
    }
}

static bool has_slept(struct source *s, int64_t *ret_ns)
{
    int64_t suspended_ns = clock_suspended_ns();

    *ret_ns = suspended_ns - s->suspended_ns;
    if (*ret_ns > 0)
        s->suspended_ns = suspended_ns;
    return *ret_ns > SUSPEND_MIN_NS;
}

void source_round(struct source *s)
{
    struct err err = {0};
    mono_ns begin, end;
    int64_t slept_ns;
    bool slept;
    int r;

    pthread_mutex_lock(&s->lock);
    begin = mono_now();
    s->busy = true;
    s->busy_since = begin;
    pthread_mutex_unlock(&s->lock);

    s->batch.n = 0;
    r = s->ops->read(s->ctx, &s->batch.sink, &err);
    end = mono_now();
    slept = has_slept(s, &slept_ns);

    pthread_mutex_lock(&s->lock);
    s->busy = false;
    if (s->dropped) {
        pthread_mutex_unlock(&s->lock);
        return;
    }
    for (size_t i = 0; slept && i < s->n_channels; i++)
        history_break(&s->histories[i]);
    if (slept)
        source_message(s, "the machine slept for %.0f s; energy across that is not known",
                       ns_to_s(slept_ns));
    if (r < 0) {
        round_failed(s, end, &err);
    } else {
        s->failures = 0;
        hand_over(s, end);
        note_silence(s, end);
        s->round_from = begin;
        pace_next(&s->pace, s->needs, s->n_channels, begin, end);
    }
    pthread_cond_broadcast(&s->progress);
    pthread_mutex_unlock(&s->lock);
}

static void *run(void *arg)
{
    struct source *s = arg;
    struct timespec cpu;
    char name[16];

    snprintf(name, sizeof(name), "ipw-%s", s->ops->plugin.id);
    pthread_setname_np(pthread_self(), name);
    pthread_mutex_lock(&s->lock);
    while (!s->stop && !s->dropped) {
        struct timespec deadline = mono_timespec(s->pace.deadline);

        if (pthread_cond_timedwait(&s->wake, &s->lock, &deadline) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&s->lock);
        source_round(s);
        pthread_mutex_lock(&s->lock);
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu);
    s->cpu_ns = cpu.tv_sec * NS_PER_S + cpu.tv_nsec;
    s->finished = true;
    pthread_cond_broadcast(&s->progress);
    pthread_mutex_unlock(&s->lock);
    let_go(s);
    return NULL;
}

int source_start(struct source *s, struct err *err)
{
    sigset_t all, old;
    int r;

    pace_init(&s->pace, s->pace.asked_ns, s->pace.fixed, mono_now());
    atomic_fetch_add(&s->holders, 1);
    /* Signals belong to the threads that know what to do with them. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    r = pthread_create(&s->thread, NULL, run, s);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r != 0) {
        atomic_fetch_sub(&s->holders, 1);
        return err_sys(err, r, "%s: no thread to read it", s->ops->plugin.id);
    }
    s->started = true;
    return 0;
}

void source_stop_begin(struct source *s)
{
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_signal(&s->wake);
    pthread_mutex_unlock(&s->lock);
}

void source_stop_end(struct source *s, mono_ns deadline)
{
    struct timespec until = mono_timespec(deadline);
    bool finished;

    if (!s->started)
        return;
    s->started = false;
    pthread_mutex_lock(&s->lock);
    /* One that has been given up already gets no further time. */
    while (!s->finished && !(s->dropped && s->busy))
        if (pthread_cond_timedwait(&s->progress, &s->lock, &until) == ETIMEDOUT)
            break;
    finished = s->finished;
    if (!finished && !s->dropped)
        drop(s, "it does not come back from a read");
    pthread_mutex_unlock(&s->lock);
    if (finished)
        pthread_join(s->thread, NULL);
    else
        pthread_detach(s->thread);
}

mono_ns source_passed(struct source *s, size_t channel)
{
    struct history *h = &s->histories[channel];
    mono_ns followed = history_followed(h), usual = history_refresh(h), overdue;

    if (s->dropped || s->finished)
        return MONO_NEVER;
    if (pace_period(&s->pace) > usual)
        usual = pace_period(&s->pace);
    if (usual > NS_PER_S)
        usual = NS_PER_S;
    overdue = s->round_from ? s->round_from - 4 * usual : MONO_ABSENT;
    if (followed < overdue)
        followed = overdue;
    /* What has passed stays so, even if the periods have become longer since. */
    if (h->passed < followed)
        h->passed = followed;
    return h->passed;
}
