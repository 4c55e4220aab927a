/*
 * replay: recorded exchanges, played back with their timing.
 *
 * A sample is three files: NAME.req (what was asked), NAME.raw (the response as it came) and
 * NAME.times (one line "nanoseconds-since-request bytes" per receive). A request gets a sample with
 * its method and path. When several have them, in this order: the one named in the path
 * (/sample/NAME/v1/...: fits into a client's base URL) or in the query (?sample=NAME), the one
 * whose request body is equal, the first by name.
 */
#ifndef IPW_FAKES_REPLAY_H
#define IPW_FAKES_REPLAY_H

#include "request.h"

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct replay_piece {
    size_t offset, len;
    int64_t delay_ns;
};

struct replay_sample {
    char *name;
    struct buf req, raw;
    struct request request;
    struct replay_piece *pieces; /* at least one; together all of raw */
    size_t n_pieces;
};

struct replay;
struct server;

int replay_open(const char *dir, struct replay **ret, struct err *err);
void replay_free(struct replay *p);
/* NULL = none fits. */
const struct replay_sample *replay_find(const struct replay *p, const struct request *r,
                                        const char *body);
/* After the request, at the server's --speed. */
double replay_delay_ns(const struct server *s, const struct replay_piece *p);

#endif
