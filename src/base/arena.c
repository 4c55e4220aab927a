#include "base/arena.h"

#include "base/alloc.h"

#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_FIRST_BLOCK 4096
#define ARENA_ALIGN       alignof(max_align_t)

struct arena_block {
    struct arena_block *next;
    size_t cap;
    alignas(max_align_t) char data[];
};

static void free_blocks(struct arena_block *b)
{
    while (b) {
        struct arena_block *next = b->next;

        free(b);
        b = next;
    }
}

void arena_release(struct arena *a)
{
    free_blocks(a->blocks);
    *a = (struct arena){0};
}

void arena_reset(struct arena *a)
{
    if (a->blocks) {
        free_blocks(a->blocks->next);
        a->blocks->next = NULL;
    }
    a->used = 0;
}

static void add_block(struct arena *a, size_t size)
{
    size_t cap = a->blocks ? a->blocks->cap * 2 : ARENA_FIRST_BLOCK;
    struct arena_block *b;

    if (cap < size)
        cap = size;
    b = xmalloc(sizeof(*b) + cap);
    b->next = a->blocks;
    b->cap = cap;
    a->blocks = b;
    a->used = 0;
}

void *arena_alloc(struct arena *a, size_t size)
{
    void *p;

    size = (size + ARENA_ALIGN - 1) & ~(ARENA_ALIGN - 1);
    if (!a->blocks || a->blocks->cap - a->used < size)
        add_block(a, size);
    p = a->blocks->data + a->used;
    a->used += size;
    return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    char *copy = arena_alloc(a, n + 1);

    if (n)
        memcpy(copy, s, n);
    copy[n] = '\0';
    return copy;
}
