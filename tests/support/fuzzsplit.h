/* fuzzsplit: the same bytes in other pieces. The first bytes of a fuzzer's input choose them. */
#ifndef IPW_TESTS_FUZZSPLIT_H
#define IPW_TESTS_FUZZSPLIT_H

#include <stddef.h>
#include <stdint.h>

#define FUZZ_HEAD 4

/* A sequence of piece sizes, most of them small. */
struct fuzz_split {
    uint32_t state;
};

static inline struct fuzz_split fuzz_split(const uint8_t *head)
{
    return (struct fuzz_split){(uint32_t)head[0] | (uint32_t)head[1] << 8 |
                               (uint32_t)head[2] << 16 | 1u << 24};
}

/* The next size, 1 to `left`. */
static inline size_t fuzz_split_next(struct fuzz_split *s, size_t left)
{
    size_t n;

    s->state = s->state * 1664525u + 1013904223u;
    n = 1 + (s->state >> 16) % (s->state >> 30 ? 9 : 300);
    return n < left ? n : left;
}

#endif
