/*
 * ndjson: one JSON text per line as it arrives, in any pieces.
 *
 * Lines end in LF; a CR before it and blank lines are dropped; a last line without its LF is
 * delivered at the end. What is in a line is the caller's business.
 *
 *     struct ndjson s;
 *     ndjson_init(&s, 16 << 20, on_line, ctx);
 *     while ((n = recv(...)) > 0)
 *         if ((r = ndjson_feed(&s, piece, n)) != 0) ...
 *     r = ndjson_end(&s);
 *     ndjson_release(&s);
 *
 * A line that lies whole in a piece is handed over where it lies: no copy, no allocation.
 */
#ifndef IPW_CLIENT_NDJSON_H
#define IPW_CLIENT_NDJSON_H

#include "base/buf.h"

#include <stddef.h>

/* One line, never blank, not NUL-terminated, valid during the call only. A result that is not 0
 * stops the parser, which hands it to its caller. */
typedef int (*ndjson_line_fn)(void *arg, const char *line, size_t n);

/* The fields are the parser's own. */
struct ndjson {
    ndjson_line_fn on_line;
    void *arg;
    struct buf line; /* the beginning of a line whose end has not come */
};

/* `max` bounds a line. */
void ndjson_init(struct ndjson *s, size_t max, ndjson_line_fn on_line, void *arg);
void ndjson_release(struct ndjson *s);

/* 0; -EMSGSIZE past the limit; or what on_line returned, if not 0. After a result that is not 0
 * only ndjson_release may follow. */
int ndjson_feed(struct ndjson *s, const char *piece, size_t n);
/* The stream is over: delivers what is left. Same results. */
int ndjson_end(struct ndjson *s);

#endif
