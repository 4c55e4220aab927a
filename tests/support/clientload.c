/*
 * The loop a run has, without anything that is measured beside it: take what is due, wait for the
 * next event or the next due time, tell the schedule of every end.
 */
#include "clientload.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define RESPONSE_MAX ((size_t)16 << 20)

void clientload_init(struct clientload *l, size_t n)
{
    l->n = n;
    l->queries = xcalloc(n, sizeof(*l->queries));
    for (size_t i = 0; i < n; i++)
        response_init(&l->queries[i].response, RESPONSE_MAX);
}

void clientload_release(struct clientload *l)
{
    for (size_t i = 0; i < l->n; i++)
        response_release(&l->queries[i].response);
    free(l->queries);
    kv_list_release(&l->params);
    kv_list_release(&l->generation);
    *l = (struct clientload){0};
}

/* The query is the first member of its clientload_query. */
static void on_event(struct client_query *q, enum client_event e)
{
    struct clientload *l = q->user;
    struct clientload_query *own = (struct clientload_query *)q;

    own->strays += own->ends > 0;
    if (e != CLIENT_END)
        return;
    own->ends++;
    schedule_done(l->schedule, mono_now());
}

static void start(struct clientload *l, const struct client_ops *ops, void *ctx,
                  struct clientload_query *q, mono_ns planned)
{
    q->planned = planned;
    q->query = (struct client_query){.prompt = q->prompt,
                                     .prompt_len = strlen(q->prompt),
                                     .response = &q->response,
                                     .on_event = on_event,
                                     .user = l};
    ops->start(ctx, &q->query);
}

static int run(struct clientload *l, const struct client_ops *ops, void *ctx, struct err *err)
{
    size_t next = 0;
    mono_ns planned;
    int r = 0;

    while (r >= 0 && !schedule_finished(l->schedule, mono_now())) {
        while (schedule_take(l->schedule, mono_now(), &planned))
            start(l, ops, ctx, &l->queries[next++], planned);
        r = ops->poll(ctx, schedule_next_due(l->schedule), -1, err);
    }
    l->stats = schedule_stats(l->schedule, mono_now());
    return r < 0 ? r : 0;
}

int clientload_run(struct clientload *l, struct schedule_options schedule, struct err *err)
{
    const struct client_ops *ops = client_find(l->client, err);
    struct client_config config = {.base_url = l->url,
                                   .model = l->model,
                                   .params = &l->params,
                                   .generation = &l->generation,
                                   .timeout_ns = l->timeout_ns,
                                   .idle_timeout_ns = l->idle_timeout_ns};
    void *ctx;
    int r = ops ? ops->open(&config, &ctx, err) : -ENOENT;

    if (r < 0)
        return r;
    schedule.total = (int64_t)l->n;
    schedule.start = mono_now();
    r = schedule_new(&schedule, &l->schedule, err);
    if (r == 0)
        r = run(l, ops, ctx, err);
    ops->close(ctx); /* may still end queries, which the schedule hears of */
    schedule_free(l->schedule);
    l->schedule = NULL;
    return r;
}

int clientload_want_files(size_t wanted, struct err *err)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return err_sys(err, errno, "the limit of open files");
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < wanted)
        return err_set(err, EMFILE, "%zu open files are wanted, %zu allowed", wanted,
                       (size_t)files.rlim_cur);
    return 0;
}
