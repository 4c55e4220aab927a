/*
 * buf: bytes that grow up to a limit.
 *
 * Whatever is fed by a network, a file or a child process goes into a buf, so that no input can
 * take more memory than its limit. The bytes are always followed by a NUL that does not count.
 *
 *     AUTO(buf) struct buf b = BUF_INIT(1 << 20);
 *     r = buf_add(&b, piece, n);           -EMSGSIZE once it would pass the limit
 *
 * A buf that fails keeps what it had. Functions that format into a buf of our own making may
 * ignore the result when the limit cannot be reached; `failed` then remembers that it was.
 */
#ifndef IPW_BASE_BUF_H
#define IPW_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data; /* NULL until the first byte; else data[len] == 0 */
    size_t len;
    size_t cap;
    size_t max;  /* bytes it may hold */
    bool failed; /* an addition was refused */
};

/* For text we make ourselves (a JSON document, a page) whose size follows from bounded input. */
#define BUF_MAX_OWN ((size_t)1 << 32)

#define BUF_INIT(limit) \
    {                   \
        .max = (limit)  \
    }

void buf_init(struct buf *b, size_t max);
void buf_release(struct buf *b);

/* Room for n more bytes; -EMSGSIZE past the limit. */
int buf_reserve(struct buf *b, size_t n);
int buf_add(struct buf *b, const void *p, size_t n);
int buf_adds(struct buf *b, const char *s);
int buf_addc(struct buf *b, char c);
int buf_addf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* n bytes of zero. */
int buf_add_zeros(struct buf *b, size_t n);

/* Empties it and keeps the memory. */
void buf_clear(struct buf *b);
/* Drops the first n bytes (all of them when n is larger). */
void buf_consume(struct buf *b, size_t n);
/* The text, never NULL. Valid until the next addition. */
const char *buf_str(const struct buf *b);
/* Moves the text out (caller frees) and leaves the buf empty. Never NULL. */
char *buf_take(struct buf *b);

#endif
