#include "base/buf.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(struct buf *b, size_t max)
{
    *b = (struct buf)BUF_INIT(max);
}

void buf_release(struct buf *b)
{
    free(b->data);
    *b = (struct buf)BUF_INIT(b->max);
}

int buf_reserve(struct buf *b, size_t n)
{
    size_t need, cap;

    if (n > b->max - b->len) {
        b->failed = true;
        return -EMSGSIZE;
    }
    need = b->len + n + 1;
    if (need <= b->cap)
        return 0;
    cap = b->cap ? b->cap : 64;
    while (cap < need)
        cap *= 2;
    b->data = xreallocarray(b->data, cap, 1);
    b->cap = cap;
    b->data[b->len] = '\0';
    return 0;
}

int buf_add(struct buf *b, const void *p, size_t n)
{
    int r = buf_reserve(b, n);

    if (r < 0)
        return r;
    if (n)
        memcpy(b->data + b->len, p, n);
    b->len += n;
    b->data[b->len] = '\0';
    return 0;
}

int buf_adds(struct buf *b, const char *s)
{
    return buf_add(b, s, strlen(s));
}

int buf_addc(struct buf *b, char c)
{
    return buf_add(b, &c, 1);
}

int buf_add_zeros(struct buf *b, size_t n)
{
    int r = buf_reserve(b, n);

    if (r < 0)
        return r;
    memset(b->data + b->len, 0, n + 1);
    b->len += n;
    return 0;
}

int buf_addf(struct buf *b, const char *fmt, ...)
{
    char small[256];
    va_list ap;
    int n, r;

    va_start(ap, fmt);
    n = vsnprintf(small, sizeof(small), fmt, ap);
    va_end(ap);
    if (n < 0)
        return -EINVAL;
    if ((size_t)n < sizeof(small))
        return buf_add(b, small, (size_t)n);
    r = buf_reserve(b, (size_t)n);
    if (r < 0)
        return r;
    va_start(ap, fmt);
    vsnprintf(b->data + b->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    b->len += (size_t)n;
    return 0;
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->data)
        b->data[0] = '\0';
}

void buf_consume(struct buf *b, size_t n)
{
    if (n >= b->len) {
        b->len = 0;
    } else {
        memmove(b->data, b->data + n, b->len - n);
        b->len -= n;
    }
    if (b->data)
        b->data[b->len] = '\0';
}

const char *buf_str(const struct buf *b)
{
    return b->data ? b->data : "";
}

char *buf_take(struct buf *b)
{
    char *s = b->data ? b->data : xstrdup("");

    *b = (struct buf)BUF_INIT(b->max);
    return s;
}
