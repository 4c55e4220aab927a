/*
 * http: any number of HTTP transfers in one loop, on libcurl's multi interface.
 *
 *     struct http *h;
 *     r = http_open(&(struct http_options){.headers = lines}, &h, &err);
 *     request->url = "http://127.0.0.1:8000/v1/models";
 *     http_start(h, request);                             returns at once
 *     while (http_in_flight(h) > 0)
 *         r = http_poll(h, deadline, -1, &err);           calls request->handler
 *     http_close(h);
 *
 * The request is the caller's storage. It may be touched again from its `done` on, and started
 * again in there. All functions are for one thread; handlers run on it, inside http_poll and
 * http_close, and may call http_start and http_cancel.
 *
 * As curl users expect: connections are kept and used again, certificates are verified
 * (CURL_CA_BUNDLE, SSL_CERT_FILE and SSL_CERT_DIR name other authorities), http_proxy, HTTPS_PROXY,
 * ALL_PROXY and NO_PROXY count, IPv6 is tried together with IPv4. Redirects are not followed, so
 * credentials never reach another host. A compressed body is unpacked, but not asked for: what
 * packs a stream also holds it back.
 */
#ifndef IPW_CLIENT_HTTP_H
#define IPW_CLIENT_HTTP_H

#include "base/clock.h"
#include "base/err.h"
#include "core/response.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_WORDS_MAX 256

struct http;
struct http_request;

/* What happens to a request, in this order. Each may be NULL except `done`. */
struct http_handler {
    /* A connection is there and the request goes out now. Comes again when libcurl must send it
     * again because a kept connection turned out to be dead. */
    void (*sent)(struct http_request *r, mono_ns at);
    /* Status and headers of the answer are there; informational ones (100) are not reported. */
    void (*headers)(struct http_request *r, mono_ns at);
    /* A piece of the body; `at` is when it was read from the network: pieces of one read share it.
     * A result that is not 0 ends the transfer: `done` gets FAILURE_NONE with `aborted` set. */
    int (*data)(struct http_request *r, const char *piece, size_t n, mono_ns at);
    /* The end. FAILURE_NONE: the body is complete. Else CONNECT, CUT, STALL, TIMEOUT, GARBAGE or
     * CANCELLED, and `words` say why. */
    void (*done)(struct http_request *r, enum failure failure, const char *words);
};

struct http_timer {
    struct http_timer *prev, *next;
    mono_ns at;
    struct http_request *request;
    bool set; /* in the list */
};

struct http_request {
    /* The caller's, kept until `done`. */
    const char *url;
    const char *body; /* JSON to POST; NULL: GET */
    size_t body_len;
    mono_ns deadline; /* the whole of it; MONO_NEVER = none */
    mono_ns idle_ns;  /* no byte for so long, counted from `sent` on; 0 = no limit */
    const struct http_handler *handler;
    void *user;

    /* The answer, from `headers` on. */
    int status; /* 0 = none */

    /* The loop's own. */
    struct http *http;
    void *easy;
    struct http_request *prev, *next;
    struct http_timer total, idle;
    enum failure ending; /* why the loop ends it */
    bool headers_over;
    bool aborted;
    char words[HTTP_WORDS_MAX];
};

struct http_options {
    const char *socket;         /* path of a Unix socket to connect to, or NULL */
    const char *const *headers; /* "Name: value", for every request; NULL-ended; may be NULL */
    mono_ns connect_timeout_ns; /* 0 = 10 s */
};

/* Raises the limit of open files to what is allowed. */
int http_open(const struct http_options *options, struct http **ret, struct err *err);
/* Ends what is in flight as FAILURE_CANCELLED. NULL is fine. */
void http_close(struct http *h);

void http_start(struct http *h, struct http_request *r);
/* Its `done` comes soon, from http_poll. */
void http_cancel(struct http_request *r);
size_t http_in_flight(const struct http *h);

/* Waits until something happened, the deadline has passed, wake_fd (if not -1) is readable or a
 * signal came, and works it off. 1 when there may be more to do, 0 for the other three, negative
 * when the loop is broken, which ends all that is in flight, or when nothing could ever end the
 * wait (-EDEADLK). A wake_fd must stay open until a call with another one, or -1. */
int http_poll(struct http *h, mono_ns deadline, int wake_fd, struct err *err);

/* For use from `headers` on and in `done`; NULL when there is no such header. Valid until the next
 * call. */
const char *http_header(const struct http_request *r, const char *name);
/* What Retry-After says, in seconds or as a date; -1 when it says nothing. */
int64_t http_retry_after_ns(const struct http_request *r);

#endif
