/*
 * The C library's log and exp may differ in the last bit between machines, which would shift a
 * plan; so both are made here from +, -, *, / and sqrt, which are exact everywhere. They are good
 * to a few units in the last place, far beyond what a random deviate needs. A compiler that fuses
 * a * b + c would round once less, hence the pragma (gcc does not fuse with -std=c11).
 */
#include "base/rng.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

_Static_assert(FLT_EVAL_METHOD == 0, "doubles must be computed as doubles");

/* The finaliser of splitmix64: a bijection in which every input bit moves about half the output. */
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

struct rng rng_seed(uint64_t seed, uint64_t stream)
{
    struct rng r;
    /* mix(0) is 0, so stream 0 is the published seeding */
    uint64_t x = seed ^ mix(stream);

    for (int i = 0; i < 4; i++) {
        x += UINT64_C(0x9E3779B97F4A7C15);
        r.s[i] = mix(x);
    }
    return r;
}

static uint64_t rotate(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static inline uint64_t next(struct rng *r)
{
    uint64_t result = rotate(r->s[1] * 5, 7) * 9;
    uint64_t t = r->s[1] << 17;

    r->s[2] ^= r->s[0];
    r->s[3] ^= r->s[1];
    r->s[1] ^= r->s[2];
    r->s[0] ^= r->s[3];
    r->s[2] ^= t;
    r->s[3] = rotate(r->s[3], 45);
    return result;
}

uint64_t rng_u64(struct rng *r)
{
    return next(r);
}

void rng_fill(struct rng *r, uint64_t *words, size_t n)
{
    struct rng now = *r; /* a copy stays in registers */

    for (size_t i = 0; i < n; i++)
        words[i] = next(&now);
    *r = now;
}

uint64_t rng_below(struct rng *r, uint64_t n)
{
    uint64_t reject, x;

    assert(n > 0);
    reject = -n % n; /* 2^64 mod n: so many values too many for equal shares */
    do
        x = rng_u64(r);
    while (x < reject);
    return x % n;
}

double rng_uniform(struct rng *r)
{
    return (double)(rng_u64(r) >> 11) * 0x1p-53;
}

/* Uniform in (0, 1]: something to take the logarithm of. */
static double uniform_positive(struct rng *r)
{
    return (double)((rng_u64(r) >> 11) + 1) * 0x1p-53;
}

#define LN2_HIGH 0x1.62e42fefa38p-1 /* few bits: a product with an exponent is exact */
#define LN2_LOW  0x1.ef35793c7673p-45

/* For x > 0. With x = m 2^e and m near 1: ln m = 2 atanh(z), z = (m-1)/(m+1), |z| <= 0.172. */
static double stable_log(double x)
{
    int e;
    double m = frexp(x, &e), z, z2, sum = 0;

    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        e--;
    }
    z = (m - 1) / (m + 1);
    z2 = z * z;
    for (int k = 21; k >= 1; k -= 2)
        sum = sum * z2 + 1.0 / k;
    return e * LN2_HIGH + (2 * z * sum + e * LN2_LOW);
}

/* For x <= 0: exp(x) = 2^e exp(rest), |rest| <= ln(2)/2. */
static double stable_exp(double x)
{
    double e = floor(x / (LN2_HIGH + LN2_LOW) + 0.5);
    double rest = (x - e * LN2_HIGH) - e * LN2_LOW;
    double sum = 1;

    if (e < -1100)
        return 0;
    for (int k = 18; k >= 1; k--)
        sum = 1 + sum * rest / k;
    return ldexp(sum, (int)e);
}

double rng_exponential(struct rng *r)
{
    return -stable_log(uniform_positive(r));
}

/* Marsaglia's polar method. The second deviate of a pair is dropped: the state stays four words,
 * and what was drawn before never hides in it. */
double rng_normal(struct rng *r)
{
    double u, v, q;

    do {
        u = 2 * rng_uniform(r) - 1;
        v = 2 * rng_uniform(r) - 1;
        q = u * u + v * v;
    } while (q >= 1 || q == 0);
    return u * sqrt(-2 * stable_log(q) / q);
}

/* Marsaglia and Tsang, "A simple method for generating gamma variables"; shape >= 1. */
static double gamma_large(struct rng *r, double shape)
{
    double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);

    for (;;) {
        double x = rng_normal(r), t = 1 + c * x, v = t * t * t;

        if (t <= 0)
            continue;
        if (stable_log(uniform_positive(r)) < 0.5 * x * x + d - d * v + d * stable_log(v))
            return d * v;
    }
}

double rng_gamma(struct rng *r, double shape)
{
    assert(shape > 0 && isfinite(shape));
    if (shape >= 1)
        return gamma_large(r, shape);
    /* Gamma(a) = Gamma(a + 1) U^(1/a) */
    return gamma_large(r, shape + 1) * stable_exp(stable_log(uniform_positive(r)) / shape);
}

void rng_shuffle(struct rng *r, size_t *items, size_t n)
{
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)rng_below(r, i), item = items[i - 1];

        items[i - 1] = items[j];
        items[j] = item;
    }
}
