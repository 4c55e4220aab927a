/*
 * kernels: the arithmetic of a step, for the processor at hand.
 *
 * A matrix is kept in panels of POCKET_LANES outputs: within a panel the lanes of input 0, then
 * those of input 1, and so on, so that a product reads its memory once, in order. Outputs that do
 * not fill the last panel are padded with zeros.
 */
#ifndef IPW_CLIENT_POCKET_KERNELS_H
#define IPW_CLIENT_POCKET_KERNELS_H

#include <stddef.h>

struct pocket_kernels {
    /* y = panels * x. inputs and outputs as of the matrix; y has room for whole panels. */
    void (*product)(const float *panels, const float *x, float *y, size_t inputs, size_t outputs);
    /* scores[t] = scale * sum over j of query[j] * keys[j * stride + t], t < n. scores and each row
     * of keys have room for a multiple of 8. */
    void (*match)(const float *query, const float *keys, size_t stride, float *scores, size_t n,
                  size_t size, float scale);
    /* out[j] = sum over t of shares[t] * values[t * stride + j], j < size; size is even. */
    void (*mix)(const float *shares, const float *values, size_t stride, float *out, size_t n,
                size_t size);
};

/* For any processor, and the best there is for this one. */
extern const struct pocket_kernels pocket_kernels_plain;
const struct pocket_kernels *pocket_kernels_best(void);

size_t pocket_panels_size(size_t inputs, size_t outputs); /* in floats */
/* From a matrix stored by its inputs (by_output false) or by its outputs. */
void pocket_panels_pack(const float *matrix, size_t inputs, size_t outputs, int by_output,
                        float *panels);

#endif
