/*
 * The usual blocking: the right operand is packed into panels that the inner loop reads in order, a
 * tile of 6 x 16 sums stays in registers (12 of AVX2's 16). The left one is read where it lies: its
 * values are broadcast one by one, so their order hardly matters. Compiled with -march=native this
 * reaches most of what one core has; without, it is merely correct.
 */
#include "gemm.h"

#include <string.h>

#define ROWS  6
#define COLS  16
#define DEPTH 256 /* of a block: what it reads stays in the caches */
#define TALL  96  /* rows of a block, a multiple of ROWS */
#define WIDE  512 /* columns of a block, a multiple of COLS */

typedef float vector __attribute__((vector_size(32), aligned(4), may_alias));

/* The left operand of a tile. */
struct left {
    const float *p;
    size_t row; /* from a row to the next */
    size_t col;
};

static float packed[WIDE * DEPTH] __attribute__((aligned(64)));

/* Panels of COLS columns, each k deep; what is missing is zero. */
static void pack(struct matrix b, const float *from, size_t n, size_t k)
{
    float *to = packed;

    for (size_t j = 0; j < n; j += COLS, to += COLS * k) {
        size_t here = n - j < COLS ? n - j : COLS;

        if (here < COLS)
            memset(to, 0, COLS * k * sizeof(*to));
        if (!b.transposed && here == COLS)
            for (size_t i = 0; i < k; i++)
                memcpy(to + i * COLS, from + i * b.stride + j, COLS * sizeof(*to));
        else if (!b.transposed)
            for (size_t i = 0; i < k; i++)
                memcpy(to + i * COLS, from + i * b.stride + j, here * sizeof(*to));
        else
            for (size_t c = 0; c < here; c++)
                for (size_t i = 0; i < k; i++)
                    to[i * COLS + c] = from[(j + c) * b.stride + i];
    }
}

static inline __attribute__((always_inline)) void tile(struct left a, const float *b, size_t k,
                                                       float *c, size_t stride, bool add)
{
    vector sum[ROWS][2] = {0};

    for (size_t i = 0; i < k; i++, b += COLS) {
        vector low = *(const vector *)b, high = *(const vector *)(b + 8);

#pragma GCC unroll 6
        for (size_t r = 0; r < ROWS; r++) {
            sum[r][0] += a.p[r * a.row + i * a.col] * low;
            sum[r][1] += a.p[r * a.row + i * a.col] * high;
        }
    }
#pragma GCC unroll 6
    for (size_t r = 0; r < ROWS; r++) {
        vector *to = (vector *)(c + r * stride), *to_high = (vector *)(c + r * stride + 8);

        if (add) {
            sum[r][0] += *to;
            sum[r][1] += *to_high;
        }
        *to = sum[r][0];
        *to_high = sum[r][1];
    }
}

/* Compiled for either direction, which turns a multiplication per value into none. */
static void whole_tile(struct left a, const float *b, size_t k, float *c, size_t stride, bool add)
{
    if (a.col == 1)
        tile((struct left){a.p, a.row, 1}, b, k, c, stride, add);
    else
        tile((struct left){a.p, 1, a.col}, b, k, c, stride, add);
}

/* At an edge: by way of copies that have all rows and columns. */
static void part_tile(struct left a, size_t rows, size_t cols, const float *b, size_t k, float *c,
                      size_t stride, bool add)
{
    static float copy[ROWS * DEPTH];
    float sums[ROWS * COLS];

    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < k; i++)
            copy[r * k + i] = r < rows ? a.p[r * a.row + i * a.col] : 0;
    tile((struct left){copy, k, 1}, b, k, sums, COLS, false);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < cols; j++)
            c[r * stride + j] = sums[r * COLS + j] + (add ? c[r * stride + j] : 0);
}

static void block(struct left a, size_t m, size_t n, size_t k, float *c, size_t stride, bool add)
{
    for (size_t j = 0; j < n; j += COLS)
        for (size_t i = 0; i < m; i += ROWS) {
            struct left rows = {a.p + i * a.row, a.row, a.col};
            float *to = c + i * stride + j;

            if (m - i >= ROWS && n - j >= COLS)
                whole_tile(rows, packed + j * k, k, to, stride, add);
            else
                part_tile(rows, m - i < ROWS ? m - i : ROWS, n - j < COLS ? n - j : COLS,
                          packed + j * k, k, to, stride, add);
        }
}

void gemm(size_t m, size_t n, size_t k, struct matrix a, struct matrix b, float *c, size_t stride,
          bool add)
{
    size_t row = a.transposed ? 1 : a.stride, col = a.transposed ? a.stride : 1;

    for (size_t p = 0; p < k; p += DEPTH) {
        size_t deep = k - p < DEPTH ? k - p : DEPTH;

        for (size_t j = 0; j < n; j += WIDE) {
            size_t wide = n - j < WIDE ? n - j : WIDE;

            pack(b, b.transposed ? b.p + j * b.stride + p : b.p + p * b.stride + j, wide, deep);
            for (size_t i = 0; i < m; i += TALL)
                block((struct left){a.p + i * row + p * col, row, col}, m - i < TALL ? m - i : TALL,
                      wide, deep, c + i * stride + j, stride, add || p > 0);
        }
    }
}
