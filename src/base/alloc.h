/*
 * alloc: memory that is there, or the program ends.
 *
 * Nothing in ipw can go on usefully without a few kilobytes, so these never return NULL. Sizes that
 * come from a file or the network must be bounded before they get here: see buf.h.
 */
#ifndef IPW_BASE_ALLOC_H
#define IPW_BASE_ALLOC_H

#include <stdarg.h>
#include <stddef.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t count, size_t size) __attribute__((malloc, returns_nonnull));
/* The same at an address that is a multiple of `alignment`, a power of two. */
void *xcalloc_aligned(size_t alignment, size_t count, size_t size)
    __attribute__((malloc, returns_nonnull));
/* An overflowing count * size aborts, like any size that cannot be had. */
void *xreallocarray(void *p, size_t count, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
void *xmemdup(const void *p, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2), malloc));

/* Room for one more element: doubles a growing array when it is full.
 *     GROW(items, n_items, cap_items);
 *     items[n_items++] = x; */
#define GROW(array, count, cap)                                                \
    do {                                                                       \
        if ((count) >= (cap)) {                                                \
            (cap) = (cap) ? (cap)*2 : 16;                                      \
            (array) = xreallocarray((array), (size_t)(cap), sizeof(*(array))); \
        }                                                                      \
    } while (0)

#endif
