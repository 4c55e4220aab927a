#include "store/syncer.h"

#include "base/alloc.h"
#include "base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct syncer {
    pthread_t thread;
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    int fds[2];
    uint64_t asked;
    uint64_t done;
    bool urgent; /* somebody waits */
    int failure; /* errno of the first one */
    bool stop;
};

/* Not yet due: sleeps until it may be, or something changed. The lock is held. */
static bool hold_back(struct syncer *s, mono_ns next)
{
    struct timespec deadline = mono_timespec(next);

    if (s->urgent || s->stop || mono_now() >= next)
        return false;
    pthread_cond_timedwait(&s->changed, &s->lock, &deadline);
    return true;
}

static void *syncer_main(void *arg)
{
    struct syncer *s = arg;
    mono_ns next = 0;

    pthread_mutex_lock(&s->lock);
    for (;;) {
        uint64_t target = s->asked;
        int fds[2] = {s->fds[0], s->fds[1]}, failure = 0;

        if (s->done == target) {
            if (s->stop)
                break;
            pthread_cond_wait(&s->changed, &s->lock);
            continue;
        }
        if (hold_back(s, next))
            continue;
        next = mono_now() + SYNCER_INTERVAL_NS;
        pthread_mutex_unlock(&s->lock);
        for (int i = 0; i < 2; i++)
            if (fdatasync(fds[i]) < 0 && errno != EINVAL && errno != EROFS)
                failure = errno;
        pthread_mutex_lock(&s->lock);
        s->done = target;
        if (failure && !s->failure)
            s->failure = failure;
        pthread_cond_broadcast(&s->changed);
    }
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int syncer_new(struct syncer **ret, struct err *err)
{
    struct syncer *s = xcalloc(1, sizeof(*s));
    pthread_condattr_t monotonic;
    sigset_t all, before;
    int r;

    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    r = pthread_create(&s->thread, NULL, syncer_main, s);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (r) {
        free(s);
        return err_sys(err, r, "cannot start a thread");
    }
    pthread_setname_np(s->thread, "ipw-sync");
    *ret = s;
    return 0;
}

void syncer_free(struct syncer *s)
{
    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    s->stop = true;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void syncer_ask(struct syncer *s, int fd_first, int fd_second)
{
    pthread_mutex_lock(&s->lock);
    s->fds[0] = fd_first;
    s->fds[1] = fd_second;
    s->asked++;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

int syncer_failure(struct syncer *s, struct err *err)
{
    int failure;

    pthread_mutex_lock(&s->lock);
    failure = s->failure;
    pthread_mutex_unlock(&s->lock);
    return failure ? err_sys(err, failure, "cannot sync the run to the disk") : 0;
}

int syncer_wait(struct syncer *s, struct err *err)
{
    pthread_mutex_lock(&s->lock);
    s->urgent = true;
    pthread_cond_broadcast(&s->changed);
    while (s->done != s->asked)
        pthread_cond_wait(&s->changed, &s->lock);
    s->urgent = false;
    pthread_mutex_unlock(&s->lock);
    return syncer_failure(s, err);
}
