/*
 * gemm: products of matrices, for training.
 *
 * Row-major, `stride` floats from row to row. One thread; the order of the additions depends on the
 * sizes only, so the same program gives the same bits.
 */
#ifndef POCKET_GEMM_H
#define POCKET_GEMM_H

#include <stdbool.h>
#include <stddef.h>

struct matrix {
    const float *p;
    size_t stride;
    bool transposed; /* read it as its transpose */
};

#define PLAIN(p, stride)      ((struct matrix){(p), (stride), false})
#define TRANSPOSED(p, stride) ((struct matrix){(p), (stride), true})

/* c (m x n) = a (m x k) * b (k x n), added to what c holds if `add`. */
void gemm(size_t m, size_t n, size_t k, struct matrix a, struct matrix b, float *c, size_t stride,
          bool add);

#endif
