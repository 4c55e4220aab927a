/*
 * response: what came back for one query, and exactly when.
 *
 * Clients report events; a response collects the events of one query. Times are kept for every
 * content delta in a few bytes each, so that gaps between tokens can be computed after the stream
 * has ended.
 *
 *     struct response r;
 *     response_init(&r, max_bytes);
 *     response_delta(&r, DELTA_ANSWER, text, n, at);      again and again
 *     response_release(&r);
 */
#ifndef IPW_CORE_RESPONSE_H
#define IPW_CORE_RESPONSE_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum delta_kind { DELTA_ANSWER, DELTA_REASONING, DELTA_TOOL_CALL };

/* Token counts as the server told them; -1 = not told. */
struct usage {
    int64_t prompt_tokens;
    int64_t completion_tokens;
    int64_t cached_prompt_tokens;
    int64_t reasoning_tokens;
};
#define USAGE_NONE     \
    {                  \
        -1, -1, -1, -1 \
    }

/* The server's own account of its time, in ns; -1 = not told. */
struct server_timings {
    int64_t load_ns;
    int64_t queue_ns;
    int64_t prefill_ns;
    int64_t decode_ns;
};
#define SERVER_TIMINGS_NONE \
    {                       \
        -1, -1, -1, -1      \
    }

/* Why a query failed. */
enum failure {
    FAILURE_NONE,
    FAILURE_CONNECT, /* refused, unreachable, DNS, TLS */
    FAILURE_STATUS,  /* the server answered with an error status */
    FAILURE_STREAM,  /* an error inside the stream */
    FAILURE_CUT,     /* reset, or the body ended too early */
    FAILURE_NO_END,  /* the stream ended in good order, but without a finish reason */
    FAILURE_STALL,   /* no byte for the idle limit */
    FAILURE_TIMEOUT, /* the total time limit */
    FAILURE_GARBAGE, /* not what the protocol says: content type, JSON, UTF-8 */
    FAILURE_TOO_LARGE,
    FAILURE_CANCELLED,
    FAILURE_COUNT
};

const char *failure_name(enum failure f); /* "connect", "status", ... */

struct response {
    struct buf answer;
    struct buf reasoning;
    mono_ns sent;         /* a connection was there and the request was handed to it; MONO_ABSENT =
                             none came up */
    mono_ns headers;      /* status line and headers were there; MONO_ABSENT = never */
    mono_ns first_token;  /* first non-empty delta of any kind */
    mono_ns first_answer; /* first non-empty DELTA_ANSWER */
    mono_ns last_token;   /* last non-empty delta */
    mono_ns end;          /* success: last_token (or the finish, when there was no text); failure:
                             when it was noticed */
    int64_t deltas;       /* non-empty ones */
    struct buf times;     /* their times, compact: see response_times */
    struct usage usage;
    struct server_timings timings;
    char finish_reason[32]; /* "" = none seen */
    enum failure failure;
    int http_status;        /* 0 = none */
    int64_t retry_after_ns; /* -1 = the server named none */
    char error[ERR_TEXT_MAX];
};

/* max_bytes bounds answer and reasoning each. */
void response_init(struct response *r, size_t max_bytes);
void response_release(struct response *r);

/* Appends text; empty text changes nothing. -EMSGSIZE past the limit. */
int response_delta(struct response *r, enum delta_kind kind, const char *text, size_t n,
                   mono_ns at);
/* The arrival times of all non-empty deltas, oldest first; the caller frees. *ret_n of them. */
mono_ns *response_times(const struct response *r, size_t *ret_n);

#endif
