/*
 * Multiply and mix, several words side by side so that the processor need not wait for each
 * product: fast enough that every byte of a run can be checked without the store noticing.
 */
#include "base/checksum.h"

#include <string.h>

static inline uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

/* Whole blocks. The lanes are kept where nothing else can be: a store to them could be to the data,
 * for all the compiler knows. */
static void add_blocks(struct checksum *c, const unsigned char *p, size_t blocks)
{
    struct checksum_lanes lanes = c->lanes;

    for (; blocks > 0; blocks--, p += CHECKSUM_BLOCK) {
        for (int i = 0; i < CHECKSUM_LANES; i++) {
            uint64_t word;

            memcpy(&word, p + 8 * i, sizeof(word));
            lanes.at[i] = mix(lanes.at[i], word);
        }
    }
    c->lanes = lanes;
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
        add_blocks(c, c->tail, 1);
    }
    add_blocks(c, p, n / CHECKSUM_BLOCK);
    if (n % CHECKSUM_BLOCK)
        memcpy(c->tail, p + n - n % CHECKSUM_BLOCK, n % CHECKSUM_BLOCK);
}

uint64_t checksum_value(const struct checksum *c)
{
    size_t held = c->len % CHECKSUM_BLOCK;
    struct checksum last = *c;
    uint64_t hash = c->len;

    if (held) {
        memset(last.tail + held, 0, CHECKSUM_BLOCK - held);
        add_blocks(&last, last.tail, 1);
    }
    for (int i = 0; i < CHECKSUM_LANES; i++)
        hash = mix(hash, last.lanes.at[i]);
    return hash;
}

uint64_t checksum64(const void *data, size_t n)
{
    struct checksum c = {0};

    checksum_add(&c, data, n);
    return checksum_value(&c);
}
