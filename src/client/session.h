/*
 * session: one inference server over HTTP, whatever its protocol.
 *
 * What `openai` and `ollama` have in common: address, key and headers, generation parameters,
 * queries in flight and how their failures are told, questions that are waited for. A protocol
 * supplies a session_kind; the session is its client's context.
 *
 * One thread. session_fetch must not be called while queries are in flight.
 */
#ifndef IPW_CLIENT_SESSION_H
#define IPW_CLIENT_SESSION_H

#include "base/buf.h"
#include "base/json.h"
#include "client/client.h"
#include "client/http.h"
#include "client/reader.h"
#include "client/url.h"
#include "client/words.h"

#include <stdbool.h>
#include <stddef.h>

struct session;

/* What distinguishes a protocol. */
struct session_kind {
    const char *default_url;
    bool versioned;              /* its paths begin with a version: "/v1" is added when missing */
    const char *const *key_vars; /* environment variables that may hold the key; NULL-ended */
    /* What `endpoint` may be, the default first, and the paths that belong to them. */
    struct session_endpoint {
        const char *name;
        const char *path;
    } endpoints[3];
    const char *const *fixed; /* generation parameters that cannot be set; NULL-ended */
    mono_ns ready_timeout_ns;
    const struct reader_ops *reader;
    /* Writes the members of the request into the open object. `plain`: without what servers may
     * refuse. */
    void (*write_request)(struct session *s, const struct client_query *q, bool plain,
                          struct json_writer *w);
    /* Optional. Could a request that was refused like this succeed if it were plain? */
    bool (*is_curable)(struct session *s, int status, const char *body, size_t n);
};

struct session {
    const struct session_kind *kind;
    struct http *http;
    struct url url;
    char *model; /* NULL = none given */
    const struct session_endpoint *endpoint;
    char *query_url, *shown_query_url;
    struct secrets secrets;
    struct json_doc generation; /* root: an object with the generation parameters */
    mono_ns timeout_ns, idle_ns, connect_ns, ready_ns;
    size_t max_bytes;
    struct reader_memory memory;
    bool plain; /* the server was seen to need plain requests */
    int events; /* delivered since the poll began */
    /* What the server said about itself, for describe(). */
    char server[64];       /* "" = nothing */
    struct json_doc entry; /* our model's entry in its list; no root = not there */
};

/* Checks and copies the configuration; the result is the client's context. */
int session_open(const struct session_kind *kind, const struct client_config *config,
                 void **ret_ctx, struct err *err);

/* client_ops.start, cancel, poll and close. */
void session_start(void *ctx, struct client_query *q);
void session_cancel(void *ctx, struct client_query *q);
int session_poll(void *ctx, mono_ns deadline, int wake_fd, struct err *err);
void session_close(void *ctx);

/* Copies a model's entry out of a document that will go. */
void session_keep_entry(struct session *s, const struct json *entry);

/* "address: HTTP status: words", in one line, without secrets, cut to fit. `words` is emptied. The
 * status is left out when it is 0. */
void session_failure_words(struct session *s, const char *shown_url, int status, struct buf *words,
                           char text[ERR_TEXT_MAX]);
/* What is said about an answer with this status: where it redirects to, or what its body says. */
void session_refusal_words(struct session *s, const struct http_request *r, const struct buf *body,
                           struct buf *out);

/* Words for a person who waits; a result that is not 0 cancels. */
typedef int (*session_progress_fn)(void *arg, const char *words);

/* A question that is waited for. Set path and what else is wanted, zero the rest. */
struct fetch {
    const char *path;
    const char *body;  /* NULL: GET */
    mono_ns limit_ns;  /* for all of it; 0 = the connect limit and a little more */
    const char *doing; /* for the person, about once a second: "loading x"; NULL = silent */
    session_progress_fn progress;
    void *arg;
    /* The answer. */
    int status;
    struct buf answer;
};

void fetch_release(struct fetch *f);
/* 0 when status 200 came. Else -EAGAIN for 503, -ENOENT for 404, -EPROTO for any other status,
 * -ECONNREFUSED, -ETIMEDOUT, -ECANCELED, -EIO; the words name address, status and what was said. */
int session_fetch(struct session *s, struct fetch *f, struct err *err);
/* The same, and the answer is parsed: *ret lives in s->memory until the next parse. */
int session_fetch_json(struct session *s, struct fetch *f, const struct json **ret,
                       struct err *err);

/* As session_fetch_json for a GET, but waits for a server that says 503 because it is loading, up
 * to the ready limit, with words of progress. */
int session_wait_ready(struct session *s, struct fetch *f, const struct json **ret,
                       struct err *err);

#endif
