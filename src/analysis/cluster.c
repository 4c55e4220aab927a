#include "analysis/cluster.h"

#include "analysis/bootstrap.h"
#include "base/alloc.h"
#include "base/checksum.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define SLOTS ((size_t)2 * BOOTSTRAP_ROWS_MAX) /* a power of two, never more than half full */

struct cluster_slot {
    uint64_t id;
    size_t row; /* + 1; 0 = free */
};

_Static_assert((SLOTS & (SLOTS - 1)) == 0, "slots are found by masking");

void clusters_release(struct clusters *c)
{
    free(c->slots);
    *c = (struct clusters){0};
}

static struct cluster_slot *find(struct clusters *c, uint64_t id)
{
    size_t at = (size_t)((id * c->key) >> 32) & (SLOTS - 1);

    while (c->slots[at].row && c->slots[at].id != id)
        at = (at + 1) & (SLOTS - 1);
    return &c->slots[at];
}

size_t cluster_of(struct clusters *c, const char *text)
{
    struct cluster_slot *slot;
    uint64_t id;

    if (!text) /* a row of its own while there are any */
        return c->n < BOOTSTRAP_ROWS_MAX ? c->n++ : c->nameless++ % BOOTSTRAP_ROWS_MAX;
    if (!c->slots) {
        c->slots = xcalloc(SLOTS, sizeof(*c->slots));
        if (getrandom(&c->key, sizeof(c->key), GRND_NONBLOCK) < 0)
            c->key = (uintptr_t)c;
        c->key |= 1;
    }
    id = checksum64(text, strlen(text));
    slot = find(c, id);
    if (slot->row) {
        c->repeats++;
        return slot->row - 1;
    }
    if (c->n == BOOTSTRAP_ROWS_MAX)
        return (size_t)(id % BOOTSTRAP_ROWS_MAX);
    *slot = (struct cluster_slot){.id = id, .row = ++c->n};
    return slot->row - 1;
}
