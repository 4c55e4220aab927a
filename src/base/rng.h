/*
 * rng: numbers that look random and are the same for the same seed on every machine.
 *
 * For schedules, shuffles and generated text; not for secrets. The state is one word, so a
 * generator of its own for every item costs nothing: rng_seed(seed, item) gives streams that have
 * nothing to do with each other.
 */
#ifndef IPW_BASE_RNG_H
#define IPW_BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t state;
};

/* SplitMix64: a counter behind a mixing function in which every bit of the input moves half of the
 * bits of the output. */
static inline uint64_t rng_next(struct rng *r)
{
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline struct rng rng_seed(uint64_t seed, uint64_t stream)
{
    struct rng r = {seed};

    r.state = rng_next(&r) ^ stream;
    r.state = rng_next(&r);
    return r;
}

/* 0 to n - 1, each equally likely: what would favour the small ones is drawn again. n is not 0. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint64_t uneven = (UINT64_MAX - n + 1) % n; /* 2^64 modulo n */
    uint64_t x;

    do
        x = rng_next(r);
    while (x < uneven);
    return x % n;
}

#endif
