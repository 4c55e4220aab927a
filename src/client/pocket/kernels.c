/*
 * One source, compiled twice on x86: for what every such processor has, and for AVX2 with fused
 * multiply-add, chosen when a model is opened. The first serves ARM too.
 */
#include "client/pocket/kernels.h"

#include "client/pocket/weights.h"

#include <stdbool.h>

/* Types by name, since only a type can carry these attributes. */
typedef float four_floats __attribute__((vector_size(16), aligned(4), may_alias));

#define VECTOR  four_floats
#define NAME(x) x##_plain
#define FOR_TARGET
#include "client/pocket/kernels_body.h"
#undef VECTOR
#undef NAME
#undef FOR_TARGET

#if defined(__x86_64__)

typedef float eight_floats __attribute__((vector_size(32), aligned(4), may_alias));

extern const struct pocket_kernels pocket_kernels_avx2;

#define VECTOR     eight_floats
#define NAME(x)    x##_avx2
#define FOR_TARGET __attribute__((target("avx2,fma")))
#include "client/pocket/kernels_body.h"

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
