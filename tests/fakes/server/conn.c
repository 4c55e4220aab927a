/*
 * The stamp of a piece is taken just before the write that carries its last byte: a client cannot
 * have seen the piece earlier, so its own stamp minus ours is never negative and is all its delay.
 */
#include "conn.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { STEPS_MAX = 64, READ_SIZE = 64 << 10 };

struct conn *conn_new(int fd)
{
    struct conn *c = xcalloc(1, sizeof(*c));

    c->fd = fd;
    buf_init(&c->in, REQUEST_HEAD_MAX + REQUEST_BODY_MAX + READ_SIZE);
    buf_init(&c->out, BUF_MAX_OWN);
    return c;
}

void conn_free(struct conn *c)
{
    cleanup_fd(&c->fd);
    buf_release(&c->in);
    buf_release(&c->out);
    exchange_free(c->x);
    free(c);
}

/* All of a request is there. */
static bool is_complete(const struct conn *c)
{
    return c->head && c->in.len >= c->request.head_bytes + (size_t)c->request.body_bytes;
}

bool conn_read(struct conn *c)
{
    char piece[READ_SIZE];

    while (c->in.len < REQUEST_HEAD_MAX + REQUEST_BODY_MAX) {
        ssize_t n = recv(c->fd, piece, sizeof(piece), 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
        buf_add(&c->in, piece, (size_t)n);
        if ((size_t)n < sizeof(piece))
            return true;
    }
    return true;
}

/* Up to where the next write may go: all, unless a fault wants it in pieces. */
static size_t write_end(const struct conn *c)
{
    enum fault_kind kind = c->x ? c->x->fault.kind : FAULT_NONE;

    if (kind == FAULT_BYTES)
        return c->out_done + 1;
    for (size_t i = c->out_done + 1; kind == FAULT_SPLIT_UTF8 && i < c->out.len; i++)
        if (((unsigned char)c->out.data[i] & 0xC0) == 0x80 &&
            ((unsigned char)c->out.data[i - 1] & 0xC0) != 0x80)
            return i;
    return c->out.len;
}

static enum conn_wait written_out(struct conn *c, mono_ns t)
{
    if (c->x && c->out.len)
        exchange_sent(c->x, c->sends, t);
    c->sends = 0;
    c->out_done = 0;
    buf_clear(&c->out);
    if (c->out.cap > READ_SIZE * 2)
        buf_release(&c->out);
    return c->close ? CONN_OVER : CONN_READ;
}

/* CONN_READ = all is written. */
static enum conn_wait flush(struct conn *c, mono_ns *ret_at)
{
    mono_ns t = MONO_ABSENT;

    while (c->out_done < c->out.len) {
        size_t end = write_end(c);
        ssize_t n;

        t = mono_now();
        n = send(c->fd, c->out.data + c->out_done, end - c->out_done, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN || errno == EWOULDBLOCK ? CONN_WRITE : CONN_OVER;
        c->out_done += (size_t)n;
        if (c->out_done == end && end < c->out.len && c->x && c->x->fault.arg > 0) {
            *ret_at = t + c->x->fault.arg;
            return CONN_TIME;
        }
    }
    return written_out(c, t);
}

static void refuse(struct conn *c, int status)
{
    buf_addf(&c->out, "HTTP/1.1 %d Refused\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
             status);
    c->close = true;
}

/* True when something began: an exchange, or a refusal. */
static bool begin(struct conn *c, struct server *s)
{
    int status = c->head ? 0 : request_parse(buf_str(&c->in), c->in.len, &c->request);

    if (status > 1) {
        refuse(c, status);
        return true;
    }
    if (!c->head && status == 0) {
        c->head = true;
        if (c->request.expect_100 && !is_complete(c)) {
            buf_adds(&c->out, "HTTP/1.1 100 Continue\r\n\r\n");
            return true;
        }
    }
    if (!is_complete(c))
        return false;
    c->x = exchange_begin(s, &c->request, c->in.data + c->request.head_bytes, mono_now());
    buf_consume(&c->in, c->request.head_bytes + (size_t)c->request.body_bytes);
    if (c->in.len == 0)
        buf_release(&c->in);
    c->head = false;
    return true;
}

enum conn_wait conn_run(struct conn *c, struct server *s, mono_ns *ret_at,
                        void (*finished)(void *arg, struct exchange *x), void *arg)
{
    for (int steps = 0; steps < STEPS_MAX; steps++) {
        enum conn_wait wait = flush(c, ret_at);

        if (wait != CONN_READ)
            return wait;
        if (!c->x) {
            if (!begin(c, s))
                return CONN_READ;
        } else if (c->x->stage == STAGE_DONE) {
            finished(arg, c->x);
            if (c->x->ending != ENDING_KEEP)
                return CONN_OVER;
            exchange_free(c->x);
            c->x = NULL;
        } else if (c->x->due > mono_now()) {
            *ret_at = c->x->due;
            return CONN_TIME;
        } else {
            c->sends = exchange_step(c->x, &c->out);
        }
    }
    *ret_at = mono_now(); /* the others first */
    return CONN_TIME;
}
