#include "base/alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void out_of_memory(size_t size) __attribute__((noreturn));

static void out_of_memory(size_t size)
{
    fprintf(stderr, "ipw: out of memory (%zu bytes wanted)\n", size);
    abort();
}

void *xmalloc(size_t size)
{
    void *p = malloc(size ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

void *xcalloc(size_t count, size_t size)
{
    void *p = calloc(count ? count : 1, size ? size : 1);

    if (!p)
        out_of_memory(size);
    return p;
}

void *xcalloc_aligned(size_t alignment, size_t count, size_t size)
{
    void *p = NULL;
    size_t total;

    if (__builtin_mul_overflow(count, size, &total) ||
        posix_memalign(&p, alignment, total ? total : alignment) != 0)
        out_of_memory(size);
    return memset(p, 0, total);
}

void *xreallocarray(void *p, size_t count, size_t size)
{
    size_t total;

    if (__builtin_mul_overflow(count, size, &total))
        out_of_memory(SIZE_MAX);
    p = realloc(p, total ? total : 1);
    if (!p)
        out_of_memory(total);
    return p;
}

void *xmemdup(const void *src, size_t n)
{
    void *p = xmalloc(n);

    if (n)
        memcpy(p, src, n);
    return p;
}

char *xstrndup(const char *s, size_t n)
{
    size_t len = strnlen(s, n);
    char *copy = xmalloc(len + 1);

    memcpy(copy, s, len);
    copy[len] = '\0';
    return copy;
}

char *xstrdup(const char *s)
{
    return xstrndup(s, SIZE_MAX - 1);
}

char *xasprintf(const char *fmt, ...)
{
    char *s = NULL;
    va_list ap;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&s, fmt, ap);
    va_end(ap);
    if (n < 0)
        out_of_memory(0);
    return s;
}
