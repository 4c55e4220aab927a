/*
 * One source, compiled twice on x86: for what every such processor has, and for AVX2 with fused
 * multiply-add, chosen when a model is opened. The compiler splits the eight lanes into what its
 * target has (two SSE or NEON registers, one AVX register), so the same lines serve ARM.
 */
#include "client/pocket/kernels.h"

#include "client/pocket/weights.h"

#include <stdbool.h>
#include <string.h>

#define LANES  8
#define INLINE static inline __attribute__((always_inline))

struct lanes {
    float v __attribute__((vector_size(LANES * sizeof(float))));
};

INLINE void multiply_add(struct lanes *sum, float x, const float *p)
{
    struct lanes w;

    memcpy(&w, p, sizeof(w));
    sum->v += x * w.v;
}

INLINE void product(const float *panels, const float *x, float *y, size_t inputs, size_t outputs)
{
    for (size_t o = 0; o < outputs; o += POCKET_LANES) {
        struct lanes a = {0}, b = {0}, c = {0}, d = {0};

        for (size_t i = 0; i < inputs; i++, panels += POCKET_LANES) {
            multiply_add(&a, x[i], panels);
            multiply_add(&b, x[i], panels + LANES);
            multiply_add(&c, x[i], panels + 2 * LANES);
            multiply_add(&d, x[i], panels + 3 * LANES);
        }
        memcpy(y + o, &a, sizeof(a));
        memcpy(y + o + LANES, &b, sizeof(b));
        memcpy(y + o + 2 * LANES, &c, sizeof(c));
        memcpy(y + o + 3 * LANES, &d, sizeof(d));
    }
}

INLINE void match(const float *query, const float *keys, size_t stride, float *scores, size_t n,
                  size_t size, float scale)
{
    for (size_t t = 0; t < n; t += LANES) {
        struct lanes even = {0}, odd = {0};

        for (size_t j = 0; j < size; j += 2) {
            multiply_add(&even, query[j], keys + j * stride + t);
            multiply_add(&odd, query[j + 1], keys + (j + 1) * stride + t);
        }
        even.v = (even.v + odd.v) * scale;
        memcpy(scores + t, &even, sizeof(even));
    }
}

INLINE void mix(const float *shares, const float *values, size_t stride, float *out, size_t n,
                size_t size)
{
    size_t j = 0;

    for (; j + LANES <= size; j += LANES) {
        struct lanes sum = {0};

        for (size_t t = 0; t < n; t++)
            multiply_add(&sum, shares[t], values + t * stride + j);
        memcpy(out + j, &sum, sizeof(sum));
    }
    for (; j < size; j++) {
        out[j] = 0;
        for (size_t t = 0; t < n; t++)
            out[j] += shares[t] * values[t * stride + j];
    }
}

#define DEFINE_KERNELS(suffix, attribute)                                                       \
    attribute static void product_##suffix(const float *panels, const float *x, float *y,       \
                                           size_t inputs, size_t outputs)                       \
    {                                                                                           \
        product(panels, x, y, inputs, outputs);                                                 \
    }                                                                                           \
    attribute static void match_##suffix(const float *query, const float *keys, size_t stride,  \
                                         float *scores, size_t n, size_t size, float scale)     \
    {                                                                                           \
        match(query, keys, stride, scores, n, size, scale);                                     \
    }                                                                                           \
    attribute static void mix_##suffix(const float *shares, const float *values, size_t stride, \
                                       float *out, size_t n, size_t size)                       \
    {                                                                                           \
        mix(shares, values, stride, out, n, size);                                              \
    }                                                                                           \
    const struct pocket_kernels pocket_kernels_##suffix = {#suffix, product_##suffix,           \
                                                           match_##suffix, mix_##suffix}

DEFINE_KERNELS(plain, );

#if defined(__x86_64__)

extern const struct pocket_kernels pocket_kernels_avx2;
DEFINE_KERNELS(avx2, __attribute__((target("avx2,fma"))));

const struct pocket_kernels *pocket_kernels_best(void)
{
    bool have = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");

    return have ? &pocket_kernels_avx2 : &pocket_kernels_plain;
}

#else

const struct pocket_kernels *pocket_kernels_best(void)
{
    return &pocket_kernels_plain;
}

#endif

size_t pocket_panels_size(size_t inputs, size_t outputs)
{
    return inputs * ((outputs + POCKET_LANES - 1) / POCKET_LANES) * POCKET_LANES;
}

void pocket_panels_pack(const float *matrix, size_t inputs, size_t outputs, int by_output,
                        float *panels)
{
    for (size_t o = 0; o < outputs; o += POCKET_LANES)
        for (size_t i = 0; i < inputs; i++)
            for (size_t lane = o; lane < o + POCKET_LANES; lane++)
                *panels++ = lane >= outputs ? 0
                            : by_output     ? matrix[lane * inputs + i]
                                            : matrix[i * outputs + lane];
}
