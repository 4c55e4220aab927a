/*
 * conn: one connection and the exchange that is on it.
 *
 * A connection reads a request, plays its exchange, and reads the next; it never reads ahead and
 * never makes bytes before the earlier ones are written, so a slow reader costs one write's bytes.
 */
#ifndef IPW_FAKES_CONN_H
#define IPW_FAKES_CONN_H

#include "exchange.h"
#include "timers.h"

struct conn {
    struct timer timer; /* first, so that a timer is its connection */
    int fd;
    uint32_t events; /* what epoll watches */
    struct buf in;
    struct request request; /* valid when head is true */
    bool head;
    bool close; /* when out is written: the request was refused */
    struct buf out;
    size_t out_done;
    unsigned sends;               /* what out contains: SENDS_ */
    struct exchange *x;           /* NULL between requests */
    struct conn *previous, *next; /* all that are open */
};

/* What a connection waits for. */
enum conn_wait { CONN_READ, CONN_WRITE, CONN_TIME, CONN_OVER };

/* Takes ownership of fd. */
struct conn *conn_new(int fd);
void conn_free(struct conn *c);
/* Does what can be done now. CONN_TIME: *ret_at is when to call again. CONN_OVER: c->x, if any, has
 * told how (x->ending), and the connection is to be closed. finished() is called for every exchange
 * that ends. */
enum conn_wait conn_run(struct conn *c, struct server *s, mono_ns *ret_at,
                        void (*finished)(void *arg, struct exchange *x), void *arg);
/* Reads what is there. False: the client has closed. */
bool conn_read(struct conn *c);

#endif
