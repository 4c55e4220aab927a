/*
 * checksum: has this stretch of a file survived as it was written? Not against an adversary.
 */
#ifndef IPW_BASE_CHECKSUM_H
#define IPW_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_LANES 4
#define CHECKSUM_BLOCK (8 * CHECKSUM_LANES)

/* 64 bits over pieces: all zero is the start, the pieces may be cut anywhere. */
struct checksum {
    struct checksum_lanes {
        uint64_t at[CHECKSUM_LANES];
    } lanes;
    unsigned char tail[CHECKSUM_BLOCK]; /* bytes that do not fill a block yet */
    uint64_t len;
};

void checksum_add(struct checksum *c, const void *data, size_t n);
uint64_t checksum_value(const struct checksum *c);
/* Of one piece. */
uint64_t checksum64(const void *data, size_t n);

#endif
