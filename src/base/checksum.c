/*
 * Multiply and mix, eight bytes at a time: fast enough (several GB/s) that every byte of a run can
 * be checked without the store noticing.
 */
#include "base/checksum.h"

#include <string.h>

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0x9E3779B97F4A7C15);
    return hash ^ hash >> 32;
}

void checksum_add(struct checksum *c, const void *data, size_t n)
{
    const unsigned char *p = data;
    uint64_t word;

    while (n > 0 && c->len % 8 != 0) { /* complete the word that was begun */
        c->tail |= (uint64_t)*p++ << c->len % 8 * 8;
        n--;
        if (++c->len % 8 == 0) {
            c->hash = mix(c->hash, c->tail);
            c->tail = 0;
        }
    }
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        c->hash = mix(c->hash, word);
        c->len += 8;
    }
    for (; n > 0; n--)
        c->tail |= (uint64_t)*p++ << c->len++ % 8 * 8;
}

uint64_t checksum_value(const struct checksum *c)
{
    return mix(mix(c->hash, c->tail), c->len);
}

uint64_t checksum64(const void *data, size_t n)
{
    struct checksum c = {0};

    checksum_add(&c, data, n);
    return checksum_value(&c);
}
