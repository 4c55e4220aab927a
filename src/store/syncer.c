#include "store/syncer.h"

#include "base/alloc.h"

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
    int failure; /* errno of the first one */
    bool stop;
};

static void *syncer_main(void *arg)
{
    struct syncer *s = arg;

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
    sigset_t all, before;
    int r;

    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
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
    while (s->done != s->asked)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
    return syncer_failure(s, err);
}
