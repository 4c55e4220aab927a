/*
 * Multiply and mix, four words side by side so that the processor need not wait for each product:
 * fast enough that every byte of a run can be checked without the store noticing.
 */
#include "base/checksum.h"

#include <string.h>

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

static inline void add_block(struct checksum *c, const unsigned char *p)
{
    uint64_t words[4];

    memcpy(words, p, sizeof(words));
    for (int i = 0; i < 4; i++)
        c->lanes[i] = mix(c->lanes[i], words[i]);
}

void checksum_add(struct checksum *c, const void *data, size_t n)
{
    const unsigned char *p = data;
    size_t held = c->len % CHECKSUM_BLOCK;

    c->len += n;
    if (held) {
        size_t take = CHECKSUM_BLOCK - held < n ? CHECKSUM_BLOCK - held : n;

        memcpy(c->tail + held, p, take);
        p += take;
        n -= take;
        if (held + take < CHECKSUM_BLOCK)
            return;
        add_block(c, c->tail);
    }
    for (; n >= CHECKSUM_BLOCK; n -= CHECKSUM_BLOCK, p += CHECKSUM_BLOCK)
        add_block(c, p);
    if (n)
        memcpy(c->tail, p, n);
}

uint64_t checksum_value(const struct checksum *c)
{
    size_t held = c->len % CHECKSUM_BLOCK;
    struct checksum last = *c;
    uint64_t hash = c->len;

    if (held) {
        memset(last.tail + held, 0, CHECKSUM_BLOCK - held);
        add_block(&last, last.tail);
    }
    for (int i = 0; i < 4; i++)
        hash = mix(hash, last.lanes[i]);
    return hash;
}

uint64_t checksum64(const void *data, size_t n)
{
    struct checksum c = {0};

    checksum_add(&c, data, n);
    return checksum_value(&c);
}
