/*
 * rng: random numbers that are the same on every machine.
 *
 * A run's plan (arrival times, shuffling, sampling) follows from its seed alone, so that two people
 * on two machines send the same load. The generator is xoshiro256** seeded by splitmix64; what is
 * drawn from it uses only operations that IEEE 754 rounds exactly, so even the gamma deviates are
 * equal bit for bit. Not for secrets.
 *
 *     struct rng r = rng_seed(seed, RNG_STREAM_SCHEDULE);
 *     gap_s = rng_exponential(&r) / rate_per_s;
 *
 * Purposes that share a seed take different streams: drawing more for one must not change another.
 */
#ifndef IPW_BASE_RNG_H
#define IPW_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* Stream 0 is the plain generator as published; the others are ours. */
enum rng_stream {
    RNG_STREAM_PLAIN,
    RNG_STREAM_SCHEDULE,
    RNG_STREAM_SHUFFLE,
    RNG_STREAM_SAMPLE,
    RNG_STREAM_BOOTSTRAP,
    RNG_STREAM_TOKENS
};

struct rng {
    uint64_t s[4];
};

struct rng rng_seed(uint64_t seed, uint64_t stream);

uint64_t rng_u64(struct rng *r);
/* The next n words, as n calls would give them, without the calls. */
void rng_fill(struct rng *r, uint64_t *words, size_t n);
/* Uniform in [0, n), without bias. n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Uniform in [0, 1), a multiple of 2^-53. */
double rng_uniform(struct rng *r);
/* Mean 1. */
double rng_exponential(struct rng *r);
/* Mean 0, variance 1. */
double rng_normal(struct rng *r);
/* Mean `shape`, variance `shape` (scale 1). shape > 0 and finite. */
double rng_gamma(struct rng *r, double shape);
/* Puts the n items into a uniformly random order. */
void rng_shuffle(struct rng *r, size_t *items, size_t n);

#endif
