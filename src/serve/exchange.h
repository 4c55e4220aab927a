/*
 * exchange: one HTTP request and its answer, between libmicrohttpd's thread and a worker.
 *
 *     x = exchange_new(server, connection, url, method);    the headers are there
 *     exchange_body(x, data, n);                            again and again
 *     exchange_go_on(x);                                    the body is complete, or an answer is
 *     exchange_gone(x);                                     the connection is done with it
 *
 * All four are called on libmicrohttpd's thread.
 */
#ifndef IPW_SERVE_EXCHANGE_H
#define IPW_SERVE_EXCHANGE_H

#include "base/clock.h"
#include "client/pocket/pool.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

struct exchange;

/* What exchanges share. Only libmicrohttpd's thread touches the counters and the list. */
struct exchange_host {
    struct pocket_model *model;
    struct pocket_pool *pool;
    struct clock_anchor anchor;
    uint64_t requests;
    size_t body_bytes;      /* held by all of them together */
    struct exchange *first; /* all whose connections are there */
};

/* NULL: close the connection. */
struct exchange *exchange_new(struct exchange_host *h, struct MHD_Connection *c, const char *url,
                              const char *method);
/* Too much is dropped, and answered with an error when all of it has come. MHD_NO: it is so much
 * that the connection is to be closed. */
enum MHD_Result exchange_body(struct exchange *x, const char *data, size_t n);
enum MHD_Result exchange_go_on(struct exchange *x);
void exchange_gone(struct exchange *x);

#endif
