/*
 * The energy at any moment is that of the pieces that are done, of the base since the start, and
 * the part of each piece in work that has passed by then: the thread adds it up when the counter is
 * to be renewed, so the server's own thread pays a lock per token and nothing else.
 */
#include "power.h"

#include "simpowercap.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/num.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define RANGE_J 262144

struct power {
    mono_ns refresh_ns, start;
    double base_w, prompt_j, token_j;
    struct simpowercap *counter;
    pthread_t thread;
    pthread_mutex_t lock; /* guards what follows */
    double done_j;        /* of pieces that are done, and of work that was stopped */
    struct work *works;
    bool stop;
};

static double progress(const struct work *w, mono_ns t)
{
    if (t >= w->until)
        return w->joules;
    return t <= w->from ? 0 : w->joules * (double)(t - w->from) / (double)(w->until - w->from);
}

/* False = it is over. */
static bool renew(struct power *p)
{
    double joules;
    mono_ns t;
    bool stop;

    pthread_mutex_lock(&p->lock);
    t = mono_now();
    joules = p->done_j + p->base_w * ns_to_s(t - p->start);
    for (const struct work *w = p->works; w; w = w->next)
        joules += progress(w, t);
    stop = p->stop;
    pthread_mutex_unlock(&p->lock);
    simpowercap_show(p->counter, 0, joules, NULL);
    return !stop;
}

static void *run(void *arg)
{
    struct power *p = arg;

    for (mono_ns due = p->start + p->refresh_ns; renew(p); due += p->refresh_ns) {
        mono_sleep_until(due);
        while (due < mono_now() - p->refresh_ns) /* the machine slept, or we did */
            due += p->refresh_ns;
    }
    return NULL;
}

static int parse(struct power *p, const char *spec, char **ret_root, struct err *err)
{
    AUTO_FREE char *copy = xstrdup(spec);
    char *parts[5], *rest = copy;
    double ms;
    size_t n = 0;
    int r;

    while (n < 5 && (parts[n] = strsep(&rest, ":")))
        n++;
    if (n < 5 || rest || !*parts[0])
        return err_set(err, EINVAL, "'%s' has not five parts", spec);
    r = parse_f64(parts[1], &ms, err);
    if (r == 0)
        r = parse_f64(parts[2], &p->base_w, err);
    if (r == 0)
        r = parse_f64(parts[3], &p->prompt_j, err);
    if (r == 0)
        r = parse_f64(parts[4], &p->token_j, err);
    if (r < 0)
        return r;
    if (!(ms >= 0.1 && ms <= 1e6) || !(p->base_w >= 0) || !(p->prompt_j >= 0) || !(p->token_j >= 0))
        return err_set(err, ERANGE, "'%s': a refresh of 0.1 to 1000000 ms, nothing negative", spec);
    p->refresh_ns = (mono_ns)(ms * (double)NS_PER_MS);
    *ret_root = xstrdup(parts[0]);
    return 0;
}

/* Signals are for the server's thread. */
static int start_thread(struct power *p, struct err *err)
{
    sigset_t all, before;
    int r;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    p->start = mono_now();
    r = pthread_create(&p->thread, NULL, run, p);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return r == 0 ? 0 : err_sys(err, r, "a thread for the powercap counter");
}

int power_open(const char *spec, struct power **ret, struct err *err)
{
    const struct simpowercap_zone zone = {.name = "package-0"};
    struct power *p = xcalloc(1, sizeof(*p));
    AUTO_FREE char *root = NULL;
    int r = parse(p, spec, &root, err);

    if (r == 0)
        r = fs_mkdirs(root, err);
    if (r == 0)
        r = simpowercap_open(root, &zone, 1, RANGE_J, &p->counter, err);
    if (r == 0) {
        pthread_mutex_init(&p->lock, NULL);
        r = start_thread(p, err);
    }
    if (r < 0) {
        simpowercap_close(p->counter);
        free(p);
        return r;
    }
    *ret = p;
    return 0;
}

void power_close(struct power *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_mutex_unlock(&p->lock);
    pthread_join(p->thread, NULL);
    pthread_mutex_destroy(&p->lock);
    simpowercap_close(p->counter);
    free(p);
}

double power_cost(const struct power *p, int64_t prompt_tokens, int64_t tokens)
{
    return p ? p->prompt_j * (double)prompt_tokens + p->token_j * (double)tokens : 0;
}

/* What was planned and is over counts, however late we are. */
static void settle(struct power *p, struct work *w, mono_ns t)
{
    double joules = progress(w, t);

    w->spent_j += joules;
    p->done_j += joules;
    w->joules = 0;
}

void power_work(struct power *p, struct work *w, mono_ns from, mono_ns until, double joules)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    settle(p, w, MONO_NEVER);
    w->from = from;
    w->until = until;
    w->joules = joules;
    if (!w->active) {
        w->active = true;
        w->previous = NULL;
        w->next = p->works;
        if (p->works)
            p->works->previous = w;
        p->works = w;
    }
    pthread_mutex_unlock(&p->lock);
}

double power_stop(struct power *p, struct work *w, mono_ns now)
{
    if (!p || !w->active)
        return w->spent_j;
    pthread_mutex_lock(&p->lock);
    settle(p, w, now);
    if (w->previous)
        w->previous->next = w->next;
    else
        p->works = w->next;
    if (w->next)
        w->next->previous = w->previous;
    w->active = false;
    pthread_mutex_unlock(&p->lock);
    return w->spent_j;
}
