/*
 * client: an inference server (or the embedded model) behind one ops struct.
 *
 * The contract is asynchronous, so that one loop on one thread serves one stream or two thousand:
 * start() hands a query over and returns at once; poll() waits until something happened or the
 * deadline is there, and reports events through the handler, on the caller's thread. Every started
 * query ends with exactly one CLIENT_END event, success or failure, and only then may its
 * response's and prompt's memory go.
 *
 *     r = ops->open(&config, &ctx, &err);
 *     r = ops->models(ctx, &list, &err);             also the health check
 *     r = ops->prepare(ctx, progress, arg, &err);    waits for a server that is loading
 *     ops->start(ctx, &query);
 *     while (in_flight > 0)
 *         r = ops->poll(ctx, deadline, -1, &err);    calls query->on_event
 *     ops->close(ctx);                               ends what is in flight
 *
 * All functions are for one thread. Handlers may call start and cancel, nothing else; not start
 * while close() runs.
 *
 * To add one: write src/client/<name>.c with the ops at its bottom and name it in registry.c.
 */
#ifndef IPW_CLIENT_CLIENT_H
#define IPW_CLIENT_CLIENT_H

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "core/kv.h"
#include "core/plugin.h"
#include "core/response.h"

#include <stdbool.h>
#include <stddef.h>

struct client_config {
    const char *base_url;             /* NULL = the client's default */
    const char *model;                /* NULL only for models() */
    const struct kv_list *params;     /* --client-param: api_key, endpoint, header, ... */
    const struct kv_list *generation; /* --param: values are JSON texts, else plain strings */
    mono_ns timeout_ns;               /* whole query, from start() on; 0 = none */
    mono_ns idle_timeout_ns;          /* no byte for this long; 0 = the client's default (300 s:
                                         a long prompt or a loading model is silent for minutes) */
    mono_ns connect_timeout_ns;       /* 0 = the client's default */
    size_t max_response_bytes;        /* 0 = 64 MiB */
};

enum client_event {
    /* response.sent is set: the request goes out. Comes again, with a later time, when a query had
     * to be sent again (a kept connection was dead, an option was refused). */
    CLIENT_SENT,
    /* response.headers is set, and what follows is an answer: not sent for an error status */
    CLIENT_HEADERS,
    /* text was appended, by one delta or several that were read together; response.last_token is
     * their time */
    CLIENT_DELTA,
    CLIENT_END /* all fields are final; response.failure tells success */
};

struct client_query {
    const char *prompt; /* UTF-8; lent until CLIENT_END */
    size_t prompt_len;
    struct response *response; /* initialised by the caller; filled by the client */
    void (*on_event)(struct client_query *q, enum client_event e);
    void *user;    /* the caller's */
    void *private; /* the client's, while in flight */
};

/* Names of the models on offer. */
struct model_list {
    char **names;
    size_t n, cap;
};
void model_list_add(struct model_list *l, const char *name);
void model_list_release(struct model_list *l);
/* The same model? "name" and "name:latest" are. */
bool model_name_matches(const char *a, const char *b);
/* 0 when the list has the model, else -ENOENT and words with the nearest name and the list.
 * `server` is how the server is called in them. */
int model_list_check(const struct model_list *l, const char *name, const char *server,
                     struct err *err);

struct client_ops {
    struct plugin plugin;
    const char *default_url; /* NULL = has none */
    /* Required. Checks the configuration (unknown params and malformed URLs are -EINVAL with the
     * nearest valid name); does not talk to the server. */
    int (*open)(const struct client_config *config, void **ret_ctx, struct err *err);
    /* Required. Asks the server for its models; failure words name server, URL and reason. -EAGAIN:
     * there is a server, but it is still loading; prepare() waits for it. Blocks for some seconds
     * at most. Not while queries are in flight (-EBUSY). */
    int (*models)(void *ctx, struct model_list *ret, struct err *err);
    /* Optional. Gets the model ready: checks that the server has it (else an error with the
     * server's list), waits for a server that is loading, loads it. `progress` may be called about
     * once a second with words for the person; a non-zero result from it cancels (-ECANCELED). Not
     * while queries are in flight. */
    int (*prepare)(void *ctx, int (*progress)(void *arg, const char *words), void *arg,
                   struct err *err);
    /* Required. Begins a query. Errors are reported as a failed CLIENT_END from poll, never here.
     */
    void (*start)(void *ctx, struct client_query *q);
    /* Required. Asks a query to end soon; its CLIENT_END comes from poll as FAILURE_CANCELLED. */
    void (*cancel)(void *ctx, struct client_query *q);
    /* Required. Delivers events until at least one was delivered or the deadline has passed
     * (MONO_NEVER: none). Returns how many were delivered. Also returns, with 0 if nothing else
     * happened, soon after wake_fd becomes readable (-1: none; it is not read, and must stay open
     * until a call with another one) and after a signal. Negative when the client itself is broken,
     * and -EDEADLK when nothing is in flight, the deadline is MONO_NEVER and wake_fd is -1. */
    int (*poll)(void *ctx, mono_ns deadline, int wake_fd, struct err *err);
    /* Required. Queries in flight end as FAILURE_CANCELLED. NULL ctx is fine. */
    void (*close)(void *ctx);
    /* Optional. Members about the server for summary.json ("client_info"): url without
     * credentials, server name and version, model size. */
    void (*describe)(void *ctx, struct json_writer *w);
};

extern const struct registry clients;
const struct client_ops *client_find(const char *id, struct err *err);

#endif
