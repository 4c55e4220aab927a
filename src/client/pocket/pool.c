/*
 * One queue under one lock. A worker keeps its state of the model from job to job: it is the
 * largest piece of memory here, and made only when the worker gets its first job.
 */
#include "client/pocket/pool.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct pocket_pool {
    const struct pocket_model *model;
    size_t waiting_max;
    pthread_t *threads;
    int n_threads;
    /* Guards the queue, the running list, and the jobs' waiting, prev and next. */
    pthread_mutex_t lock;
    pthread_cond_t work; /* a job came, or the end */
    struct pocket_job *first, *last;
    size_t n_waiting;
    struct pocket_job *running;
    bool closing;
};

int pocket_threads_max(void)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);

    return cpus > 0 ? (int)cpus * POCKET_THREADS_PER_CPU : POCKET_THREADS_PER_CPU;
}

static void unlink_waiting(struct pocket_pool *p, struct pocket_job *j)
{
    *(j->prev ? &j->prev->next : &p->first) = j->next;
    *(j->next ? &j->next->prev : &p->last) = j->prev;
    j->waiting = false;
    p->n_waiting--;
}

static void link_running(struct pocket_pool *p, struct pocket_job *j)
{
    j->prev = NULL;
    j->next = p->running;
    if (p->running)
        p->running->prev = j;
    p->running = j;
}

static void unlink_running(struct pocket_pool *p, struct pocket_job *j)
{
    *(j->prev ? &j->prev->next : &p->running) = j->next;
    if (j->next)
        j->next->prev = j->prev;
}

/* The next job, now running; NULL when the pool is being closed. */
static struct pocket_job *take(struct pocket_pool *p)
{
    struct pocket_job *j;

    pthread_mutex_lock(&p->lock);
    while (!p->first && !p->closing)
        pthread_cond_wait(&p->work, &p->lock);
    j = p->closing ? NULL : p->first;
    if (j) {
        unlink_waiting(p, j);
        link_running(p, j);
    }
    pthread_mutex_unlock(&p->lock);
    return j;
}

static void on_text(void *arg, const char *text, size_t n, mono_ns at)
{
    struct pocket_job *j = arg;

    j->handler->text(j, text, n, at);
}

static void *work(void *arg)
{
    struct pocket_pool *p = arg;
    AUTO_PTR(pocket_state) struct pocket_state *state = NULL;
    struct pocket_job *j;

    while ((j = take(p))) {
        j->taken = mono_now();
        j->handler->taken(j);
        if (!state)
            state = pocket_state_new(p->model);
        j->result = pocket_generate(p->model, state, &j->prompt, j->options, &j->cancelled, on_text,
                                    j, &j->outcome);
        pthread_mutex_lock(&p->lock);
        unlink_running(p, j);
        pthread_mutex_unlock(&p->lock);
        j->handler->ended(j);
    }
    return NULL;
}

static int start_workers(struct pocket_pool *p, int threads, struct err *err)
{
    sigset_t all, before;
    int r = 0;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    while (r == 0 && p->n_threads < threads) {
        char name[16];

        r = pthread_create(&p->threads[p->n_threads], NULL, work, p);
        if (r != 0)
            break;
        snprintf(name, sizeof(name), "ipw-pocket-%d", p->n_threads % 1000);
        pthread_setname_np(p->threads[p->n_threads], name);
        p->n_threads++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r ? err_sys(err, r, "cannot start thread %d of the embedded model", p->n_threads + 1)
             : 0;
}

int pocket_pool_open(const struct pocket_model *m, int threads, size_t waiting_max,
                     struct pocket_pool **ret, struct err *err)
{
    struct pocket_pool *p = xcalloc(1, sizeof(*p));
    int r;

    p->model = m;
    p->waiting_max = waiting_max;
    p->threads = xcalloc((size_t)threads, sizeof(*p->threads));
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    r = start_workers(p, threads, err);
    if (r < 0)
        pocket_pool_close(p);
    else
        *ret = p;
    return r;
}

/* Marks the end and takes out what waits; what runs is told to stop. */
static struct pocket_job *tell_to_end(struct pocket_pool *p)
{
    struct pocket_job *waiting;

    pthread_mutex_lock(&p->lock);
    p->closing = true;
    for (struct pocket_job *j = p->running; j; j = j->next)
        atomic_store(&j->cancelled, true);
    waiting = p->first;
    for (struct pocket_job *j = waiting; j; j = j->next)
        j->waiting = false;
    p->first = p->last = NULL;
    p->n_waiting = 0;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    return waiting;
}

void pocket_pool_stop(struct pocket_pool *p)
{
    struct pocket_job *next;

    if (!p)
        return;
    for (struct pocket_job *j = tell_to_end(p); j; j = next) {
        next = j->next;
        j->result = -ECANCELED;
        j->handler->ended(j);
    }
    for (; p->n_threads > 0; p->n_threads--)
        pthread_join(p->threads[p->n_threads - 1], NULL);
}

void pocket_pool_close(struct pocket_pool *p)
{
    if (!p)
        return;
    pocket_pool_stop(p);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    free(p->threads);
    free(p);
}

int pocket_pool_submit(struct pocket_pool *p, struct pocket_job *j)
{
    int r = 0;

    atomic_store(&j->cancelled, false);
    j->submitted = mono_now();
    j->taken = MONO_ABSENT;
    pthread_mutex_lock(&p->lock);
    if (p->closing) {
        r = -ESHUTDOWN;
    } else if (p->n_waiting >= p->waiting_max) {
        r = -EBUSY;
    } else {
        j->waiting = true;
        j->next = NULL;
        j->prev = p->last;
        *(p->last ? &p->last->next : &p->first) = j;
        p->last = j;
        p->n_waiting++;
        pthread_cond_signal(&p->work);
    }
    pthread_mutex_unlock(&p->lock);
    return r;
}

bool pocket_pool_cancel(struct pocket_pool *p, struct pocket_job *j)
{
    bool waited;

    pthread_mutex_lock(&p->lock);
    waited = j->waiting;
    if (waited)
        unlink_waiting(p, j);
    atomic_store(&j->cancelled, true);
    pthread_mutex_unlock(&p->lock);
    return waited;
}
