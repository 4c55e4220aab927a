/*
 * The embedded model as a client: no server, no network, the same contract.
 *
 * A query becomes a job of the pool. Its worker only notes what happened and when, under the lock,
 * and rings the eventfd; poll() collects the notes and reports them on the caller's thread. The
 * times are the worker's, so it does not matter how late poll() comes. A query is sent when it is
 * handed over, as to a server: waiting for a free worker is waiting.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/suggest.h"
#include "client/client.h"
#include "client/pocket/pool.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define MODEL_NAME        "pocket"
#define MAX_BYTES_DEFAULT ((size_t)64 << 20)

/* Pieces of text and when they were made. */
struct arrivals {
    struct buf text;
    struct piece {
        size_t n;
        mono_ns at;
    } * pieces;
    size_t n, cap;
};

struct asking {
    struct pocket_client *client;
    struct client_query *query;
    struct pocket_job job;
    mono_ns timeout_at;
    struct asking *prev, *next; /* in flight, the oldest first */
    bool told_sent, told_headers;
    enum failure ending; /* FAILURE_NONE until it was cancelled, timed out or refused */
    char words[ERR_TEXT_MAX];
    struct arrivals read; /* what poll() is reporting */
    /* Guarded by the client's lock. */
    struct arrivals arrived;
    bool taken, ended;
    bool noted; /* in the list of those with news */
    struct asking *next_noted;
};

struct pocket_client {
    struct pocket_model *model;
    struct pocket_pool *pool;
    struct pocket_options options;
    char *name; /* of the model, as asked for; NULL = none */
    int threads;
    mono_ns timeout_ns;
    size_t max_bytes;
    struct asking *first, *last; /* in flight */
    int news_fd;
    pthread_mutex_t lock; /* guards the list of those with news, and what asking says */
    struct asking *noted, **noted_end;
};

/* With the lock held. */
static void note(struct asking *a)
{
    struct pocket_client *c = a->client;

    if (a->noted)
        return;
    a->noted = true;
    a->next_noted = NULL;
    *c->noted_end = a;
    c->noted_end = &a->next_noted;
    if (c->noted == a) /* else poll() has not yet seen the former ring */
        eventfd_write(c->news_fd, 1);
}

static void on_taken(struct pocket_job *j)
{
    struct asking *a = j->user;

    pthread_mutex_lock(&a->client->lock);
    a->taken = true;
    note(a);
    pthread_mutex_unlock(&a->client->lock);
}

static void on_text(struct pocket_job *j, const char *text, size_t n, mono_ns at)
{
    struct asking *a = j->user;
    struct arrivals *r = &a->arrived;

    pthread_mutex_lock(&a->client->lock);
    buf_add(&r->text, text, n);
    GROW(r->pieces, r->n, r->cap);
    r->pieces[r->n++] = (struct piece){n, at};
    note(a);
    pthread_mutex_unlock(&a->client->lock);
}

static void on_ended(struct pocket_job *j)
{
    struct asking *a = j->user;
    struct pocket_client *c = a->client; /* poll() may free it as soon as the lock is open */

    pthread_mutex_lock(&c->lock);
    a->ended = true;
    note(a);
    pthread_mutex_unlock(&c->lock);
}

static const struct pocket_handler handler = {on_taken, on_text, on_ended};

static int unknown_name(const char *kind, const char *key, const char *const *known,
                        struct err *err)
{
    AUTO(buf) struct buf all = BUF_INIT(BUF_MAX_OWN);
    struct suggest near = suggest_for(key);

    for (const char *const *name = known; *name; name++) {
        suggest_offer(&near, *name);
        buf_addf(&all, "%s%s", all.len ? ", " : "", *name);
    }
    if (near.best)
        return err_set(err, EINVAL, "unknown %s parameter '%.60s': did you mean '%s'?", kind, key,
                       near.best);
    return err_set(err, EINVAL, "unknown %s parameter '%.60s' (there are: %s)", kind, key,
                   buf_str(&all));
}

static int set_param(struct pocket_client *c, const struct kv *param, struct err *err)
{
    static const char *const known[] = {"threads", NULL};
    int64_t n;

    if (strcmp(param->key, "threads") != 0)
        return unknown_name("client", param->key, known, err);
    if (parse_i64(param->value, &n, err) < 0)
        return err_prefix(err, "client parameter threads");
    if (n < 1 || n > pocket_threads_max())
        return err_set(err, EINVAL, "client parameter threads: %lld is not within 1 and %d",
                       (long long)n, pocket_threads_max());
    c->threads = (int)n;
    return 0;
}

/* The value is JSON, else plain text. */
static int set_generation(struct pocket_client *c, const struct kv *param, struct err *err)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct json text = {.type = JSON_STRING, .len = strlen(param->value), .text = param->value};
    const struct json *value = &text;
    int r;

    if (json_doc_parse(&doc, param->value, text.len, NULL) == 0)
        value = doc.root;
    r = pocket_options_set(&c->options, param->key, value, err);
    if (r == -ENOENT)
        return unknown_name("generation", param->key, pocket_option_names, err);
    return r < 0 ? err_prefix(err, "generation parameter %s", param->key) : 0;
}

static int configure(struct pocket_client *c, const struct client_config *config, struct err *err)
{
    int r = 0;

    if (config->base_url)
        return err_set(err, EINVAL,
                       "the client 'pocket' runs inside ipw and has no address; for a server "
                       "choose 'openai' or 'ollama'");
    for (size_t i = 0; r == 0 && config->params && i < config->params->n; i++)
        r = set_param(c, &config->params->items[i], err);
    for (size_t i = 0; r == 0 && config->generation && i < config->generation->n; i++)
        r = set_generation(c, &config->generation->items[i], err);
    return r;
}

static int start_up(struct pocket_client *c, struct err *err)
{
    int r;

    c->news_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->news_fd < 0)
        return err_sys(err, errno, "cannot start the embedded model");
    r = pocket_model_open(pocket_weights, pocket_weights_size, &c->model, err);
    if (r < 0)
        return err_prefix(err, "the embedded model");
    return pocket_pool_open(c->model, c->threads, SIZE_MAX, &c->pool, err);
}

static void pocket_close(void *ctx);

static int pocket_open(const struct client_config *config, void **ret_ctx, struct err *err)
{
    struct pocket_client *c = xcalloc(1, sizeof(*c));
    int r;

    *c = (struct pocket_client){
        .options = POCKET_OPTIONS_DEFAULT,
        .threads = 1,
        .timeout_ns = config->timeout_ns,
        .max_bytes = config->max_response_bytes ? config->max_response_bytes : MAX_BYTES_DEFAULT,
        .news_fd = -1,
        .name = config->model ? xstrdup(config->model) : NULL,
    };
    c->noted_end = &c->noted;
    pthread_mutex_init(&c->lock, NULL);
    r = configure(c, config, err);
    if (r == 0)
        r = start_up(c, err);
    if (r < 0)
        pocket_close(c);
    else
        *ret_ctx = c;
    return r;
}

static int pocket_models(void *ctx, struct model_list *ret, struct err *err)
{
    const struct pocket_client *c = ctx;

    if (c->first)
        return err_set(err, EBUSY, "queries are in flight");
    model_list_add(ret, MODEL_NAME);
    return 0;
}

static int pocket_prepare(void *ctx, int (*progress)(void *arg, const char *words), void *arg,
                          struct err *err)
{
    AUTO(model_list) struct model_list models = {0};
    const struct pocket_client *c = ctx;

    (void)progress; /* it is there already */
    (void)arg;
    model_list_add(&models, MODEL_NAME);
    return model_list_check(&models, c->name ? c->name : MODEL_NAME, "the client 'pocket'", err);
}

static void end_locally(struct asking *a)
{
    pthread_mutex_lock(&a->client->lock);
    a->ended = true;
    note(a);
    pthread_mutex_unlock(&a->client->lock);
}

/* For this reason, unless it has one already. */
static void give_up(struct asking *a, enum failure reason, const char *words)
{
    if (a->ending != FAILURE_NONE)
        return;
    a->ending = reason;
    snprintf(a->words, sizeof(a->words), "%s", words);
    if (a->client->pool && pocket_pool_cancel(a->client->pool, &a->job))
        end_locally(a);
}

static void pocket_start(void *ctx, struct client_query *q)
{
    struct pocket_client *c = ctx;
    struct asking *a = xcalloc(1, sizeof(*a));
    struct err err = {0};
    mono_ns now = mono_now();

    a->client = c;
    a->query = q;
    a->job.options = &c->options;
    a->job.handler = &handler;
    a->job.user = a;
    a->timeout_at = c->timeout_ns ? now + c->timeout_ns : MONO_NEVER;
    buf_init(&a->arrived.text, BUF_MAX_OWN); /* the context bounds it */
    buf_init(&a->read.text, BUF_MAX_OWN);
    a->prev = c->last;
    *(c->last ? &c->last->next : &c->first) = a;
    c->last = a;
    q->private = a;
    q->response->sent = now;
    if (pocket_prompt_encode(c->model, q->prompt, q->prompt_len, &a->job.prompt, &err) < 0) {
        a->ending = FAILURE_STATUS;
        snprintf(a->words, sizeof(a->words), "%s", err.text);
        end_locally(a);
        return;
    }
    pthread_mutex_lock(&c->lock);
    note(a); /* that it is sent */
    pthread_mutex_unlock(&c->lock);
    pocket_pool_submit(c->pool, &a->job); /* cannot fail: no limit, and not while closing */
}

static void pocket_cancel(void *ctx, struct client_query *q)
{
    (void)ctx;
    if (q->private)
        give_up(q->private, FAILURE_CANCELLED, "cancelled");
}

static void release(struct asking *a)
{
    struct pocket_client *c = a->client;

    *(a->prev ? &a->prev->next : &c->first) = a->next;
    *(a->next ? &a->next->prev : &c->last) = a->prev;
    buf_release(&a->arrived.text);
    buf_release(&a->read.text);
    free(a->arrived.pieces);
    free(a->read.pieces);
    pocket_prompt_release(&a->job.prompt);
    free(a);
}

static void tell_success(const struct pocket_job *j, struct response *p)
{
    const struct pocket_outcome *o = &j->outcome;

    p->usage.prompt_tokens = o->prompt_tokens;
    p->usage.completion_tokens = o->completion_tokens;
    p->usage.cached_prompt_tokens = 0;
    p->timings.queue_ns = j->taken - j->submitted;
    p->timings.prefill_ns = o->first - j->taken;
    p->timings.decode_ns = o->end - o->first;
    p->end = p->deltas ? p->last_token : o->end;
    snprintf(p->finish_reason, sizeof(p->finish_reason), "%s", pocket_finish_name(o->finish));
}

/* Returns the number of events: one. */
static int conclude(struct asking *a)
{
    struct client_query *q = a->query;
    struct response *p = q->response;

    p->failure = a->ending;
    if (p->failure == FAILURE_NONE && a->job.result < 0)
        p->failure = FAILURE_CANCELLED;
    if (p->failure == FAILURE_NONE) {
        tell_success(&a->job, p);
    } else {
        p->end = mono_now();
        snprintf(p->error, sizeof(p->error), "%s", a->words);
    }
    q->private = NULL;
    release(a);
    q->on_event(q, CLIENT_END);
    return 1;
}

/* Appends what poll() has read to the response. True when that was anything. */
static bool append(struct asking *a)
{
    struct response *p = a->query->response;
    int64_t deltas = p->deltas;
    size_t at = 0;
    int r = 0;

    for (size_t i = 0; r == 0 && i < a->read.n; i++) {
        const struct piece *piece = &a->read.pieces[i];

        r = p->answer.len + piece->n > a->client->max_bytes
                ? -EMSGSIZE
                : response_delta(p, DELTA_ANSWER, a->read.text.data + at, piece->n, piece->at);
        at += piece->n;
    }
    if (r < 0)
        give_up(a, FAILURE_TOO_LARGE, "the answer is longer than the limit");
    return p->deltas > deltas;
}

/* Reports the news of one query; returns how many events that were. */
static int report(struct asking *a)
{
    struct client_query *q = a->query;
    struct arrivals empty;
    bool taken, ended;
    int events = 0;

    buf_clear(&a->read.text);
    a->read.n = 0;
    empty = a->read;
    pthread_mutex_lock(&a->client->lock);
    a->noted = false;
    a->read = a->arrived;
    a->arrived = empty;
    taken = a->taken;
    ended = a->ended;
    pthread_mutex_unlock(&a->client->lock);
    if (!a->told_sent) {
        a->told_sent = true;
        q->on_event(q, CLIENT_SENT);
        events++;
    }
    if (taken && !a->told_headers && a->ending == FAILURE_NONE) {
        a->told_headers = true;
        q->response->headers = a->job.taken;
        q->on_event(q, CLIENT_HEADERS);
        events++;
    }
    if (a->read.n > 0 && a->ending == FAILURE_NONE && append(a)) {
        q->on_event(q, CLIENT_DELTA);
        events++;
    }
    return events + (ended ? conclude(a) : 0);
}

/* Reports all news; returns how many events that were. */
static int report_all(struct pocket_client *c)
{
    struct asking *a, *next;
    eventfd_t rings;
    int events = 0;

    eventfd_read(c->news_fd, &rings);
    pthread_mutex_lock(&c->lock);
    a = c->noted;
    c->noted = NULL;
    c->noted_end = &c->noted;
    pthread_mutex_unlock(&c->lock);
    for (; a; a = next) {
        next = a->next_noted;
        events += report(a);
    }
    return events;
}

/* All have the same limit, so the oldest ends first. Returns when the next one will. */
static mono_ns expire(struct pocket_client *c, mono_ns now)
{
    for (struct asking *a = c->first; a; a = a->next) {
        if (a->ending != FAILURE_NONE)
            continue;
        if (a->timeout_at > now)
            return a->timeout_at;
        give_up(a, FAILURE_TIMEOUT, "no complete answer within the time limit");
    }
    return MONO_NEVER;
}

static int wait_for(int news_fd, int wake_fd, mono_ns until)
{
    struct pollfd fds[2] = {{.fd = news_fd, .events = POLLIN}, {.fd = wake_fd, .events = POLLIN}};
    mono_ns now = mono_now();
    struct timespec left = mono_timespec(until > now ? until - now : 0);
    int r = ppoll(fds, 2, until == MONO_NEVER ? NULL : &left, NULL);

    if (r < 0)
        return errno == EINTR ? 0 : -errno;
    return fds[1].revents ? 0 : 1;
}

static int pocket_poll(void *ctx, mono_ns deadline, int wake_fd, struct err *err)
{
    struct pocket_client *c = ctx;

    for (;;) {
        mono_ns now = mono_now(), next = expire(c, now);
        int events = report_all(c), r;

        if (events > 0 || now >= deadline)
            return events;
        if (!c->first && deadline == MONO_NEVER && wake_fd < 0)
            return err_set(err, EDEADLK, "nothing is in flight, and nothing else ends the wait");
        r = wait_for(c->news_fd, wake_fd, next < deadline ? next : deadline);
        if (r < 0)
            return err_sys(err, -r, "cannot wait for the embedded model");
        if (r == 0)
            return report_all(c);
    }
}

static void pocket_close(void *ctx)
{
    struct pocket_client *c = ctx;
    struct asking *next;

    if (!c)
        return;
    pocket_pool_close(STEAL(c->pool));
    for (struct asking *a = c->first; a; a = next) {
        next = a->next;
        give_up(a, FAILURE_CANCELLED, "cancelled");
        conclude(a);
    }
    pocket_model_close(c->model);
    if (c->news_fd >= 0)
        close(c->news_fd);
    pthread_mutex_destroy(&c->lock);
    free(c->name);
    free(c);
}

static void pocket_describe(void *ctx, struct json_writer *w)
{
    const struct pocket_client *c = ctx;

    jw_text(w, "server", "ipw's embedded model");
    jw_int(w, "model_parameters", pocket_parameters(c->model));
    jw_int(w, "model_bytes", (int64_t)pocket_weights_size);
    jw_int(w, "context_length", pocket_context(c->model));
    jw_int(w, "threads", c->threads);
}

extern const struct client_ops pocket_ops;
const struct client_ops pocket_ops = {
    .plugin = {.id = "pocket", .help = "a small model inside ipw: no server, nothing to install"},
    .open = pocket_open,
    .models = pocket_models,
    .prepare = pocket_prepare,
    .start = pocket_start,
    .cancel = pocket_cancel,
    .poll = pocket_poll,
    .close = pocket_close,
    .describe = pocket_describe,
};
