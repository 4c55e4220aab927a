/*
 * arena: many small things that are all forgotten at once.
 *
 * Used where a message is parsed into nodes that live until the next message: allocation is a
 * pointer bump, and a reset keeps the memory for the next round.
 */
#ifndef IPW_BASE_ARENA_H
#define IPW_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *blocks; /* the newest first */
    size_t used;                /* of the newest */
};

/* All zero is an empty arena. */
void arena_release(struct arena *a);
/* Forgets everything; keeps the newest (largest) block. */
void arena_reset(struct arena *a);
/* Aligned for any type; never NULL; not cleared. */
void *arena_alloc(struct arena *a, size_t size);
/* A copy of n bytes with a NUL behind them. */
char *arena_strndup(struct arena *a, const char *s, size_t n);

#endif
