/*
 * sse: server-sent events as they arrive, in any pieces.
 *
 * The whole grammar: lines end in CR, LF or CRLF; a byte order mark is skipped; lines that begin
 * with a colon are comments; several data lines of an event are joined with LF; one blank behind
 * the colon is not part of the value. Unlike a browser we also deliver a last event that the end
 * of the stream cut off before its blank line: some servers never send it. `id` and `retry` are
 * accepted and ignored, for nobody resumes a POST.
 *
 *     struct sse s;
 *     sse_init(&s, 16 << 20, on_event, ctx);
 *     while ((n = recv(...)) > 0)
 *         if ((r = sse_feed(&s, piece, n)) != 0) ...
 *     r = sse_end(&s);
 *     sse_release(&s);
 *
 * An event that lies whole in a piece is handed over where it lies: no copy, no allocation.
 */
#ifndef IPW_CLIENT_SSE_H
#define IPW_CLIENT_SSE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SSE_TYPE_MAX 32

/* One event. `type` is the value of its `event` line, cut to SSE_TYPE_MAX - 1 bytes, "" when it has
 * none. The data is not NUL-terminated and valid during the call only. A result that is not 0 stops
 * the parser, which hands it to its caller. */
typedef int (*sse_event_fn)(void *arg, const char *type, const char *data, size_t n);

enum sse_place { SSE_NO_DATA, SSE_IN_PIECE, SSE_JOINED };

/* The fields are the parser's own. */
struct sse {
    sse_event_fn on_event;
    void *arg;
    struct buf line;      /* the beginning of a line whose end has not come */
    struct buf joined;    /* data of the open event, when it could not stay in the piece */
    enum sse_place place; /* where the open event's data is */
    const char *data;     /* SSE_IN_PIECE */
    size_t data_len;
    char type[SSE_TYPE_MAX];
    bool begun;          /* the first line is over */
    bool after_cr;       /* an LF that follows belongs to that CR */
    uint64_t junk_lines; /* lines with a field name that the grammar does not know */
};

/* `max` bounds a line and the joined data of an event. */
void sse_init(struct sse *s, size_t max, sse_event_fn on_event, void *arg);
void sse_release(struct sse *s);

/* 0; -EMSGSIZE past the limit; or what on_event returned, if not 0. After a result that is not 0
 * only sse_release may follow. */
int sse_feed(struct sse *s, const char *piece, size_t n);
/* The stream is over: delivers what is left. Same results. */
int sse_end(struct sse *s);

#endif
