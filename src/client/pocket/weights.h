/*
 * weights: the file that holds the embedded transformer, and what may stand in it.
 *
 * All numbers are little-endian.
 *
 *     offset  bytes
 *          0      8  "IPWPOCKT"
 *          8      4  version, 1
 *         12   6 x 4  vocabulary, context, width, layers, heads, hidden (struct pocket_shape)
 *         36      4  zero
 *         40      8  checksum64 of everything behind byte 48, xor checksum64 of bytes 0..39
 *         48  4 each  the tokens' texts: one UTF-8 character, filled up with NUL; the first three
 *                    (BEGIN, ANSWER, END) are empty, the fourth, U+FFFD, is the unknown character
 *            2 each  the parameters as IEEE 754 halves, in the order of pocket_parameter_count
 *
 * Version 1 is this network: x = embedding[token] + the three tokens' before it, each from a table
 * of its own (before_1[...] and so on, as far as there are any); in each layer x +=
 * out(attention(norm(x))) and x += down(relu(up(norm(x)))^2); logits = embedding * norm(x). norm is
 * by the root mean square with a gain, without a mean. Attention is causal; queries and keys are
 * turned by their position, pair (j, j + size/2) of a head at the rate POCKET_ROPE_BASE^(-2j/size).
 */
#ifndef IPW_CLIENT_POCKET_WEIGHTS_H
#define IPW_CLIENT_POCKET_WEIGHTS_H

#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define POCKET_HEADER_SIZE 48
#define POCKET_VERSION     1
#define POCKET_ROPE_BASE   1000.0
#define POCKET_NORM_EPS    1e-5f
/* How many tokens before its own a token sees without attention. */
#define POCKET_BEFORE_COUNT 3
/* The lanes of a panel (see kernels.h): width and hidden are multiples of it. */
#define POCKET_LANES 32

struct pocket_shape {
    uint32_t vocabulary; /* 5 .. 512 */
    uint32_t context;    /* 16 .. 1024 */
    uint32_t width;      /* 32 .. 512, a multiple of 32 */
    uint32_t layers;     /* 1 .. 16 */
    uint32_t heads;      /* 1 .. 16; width / heads is even */
    uint32_t hidden;     /* 32 .. 2048, a multiple of 32 */
};

/* The parameters in their order. A matrix is stored by its inputs: row i holds what input i gives
 * to each output. */
enum pocket_part {
    POCKET_EMBEDDING, /* vocabulary x width, once */
    POCKET_BEFORE,    /* 3 x vocabulary x width, once: for one, two, three tokens before */
    POCKET_NORM_1,    /* width; this and what follows once a layer */
    POCKET_QKV,       /* width x 3 width: queries, keys, values */
    POCKET_OUT,       /* width x width */
    POCKET_NORM_2,    /* width */
    POCKET_UP,        /* width x hidden */
    POCKET_DOWN,      /* hidden x width */
    POCKET_LAST_NORM, /* width, once */
};

/* Is this shape within its bounds? -EBADMSG with words. */
int pocket_shape_check(const struct pocket_shape *shape, struct err *err);
/* Of a checked shape: how many parameters there are, and which is the first of a part. `layer` only
 * counts for the parts that each layer has. */
size_t pocket_parameter_count(const struct pocket_shape *shape);
size_t pocket_parameter_offset(const struct pocket_shape *shape, enum pocket_part part,
                               uint32_t layer);

/* Reads and checks header, size and checksum, never trusting one for the other. -EBADMSG. */
int pocket_weights_check(const void *data, size_t size, struct pocket_shape *ret, struct err *err);
/* Of checked weights: the text of a token (4 bytes, not ended when all are used), and n parameters
 * from `first` on. */
const char *pocket_weights_token(const void *data, uint32_t token);
void pocket_weights_read(const void *data, const struct pocket_shape *shape, size_t first, size_t n,
                         float *ret);

/* Writes a file: for the trainer and the tests. tokens has shape->vocabulary texts. The parameters
 * are rounded to halves. */
void pocket_weights_write(const struct pocket_shape *shape, const char *const *tokens,
                          const float *parameters, struct buf *out);
/* The texts of the vocabulary we train with: the four special ones, newline, and ' ' to '~'. */
#define POCKET_TRAINED_VOCABULARY 100
extern const char *const pocket_trained_tokens[POCKET_TRAINED_VOCABULARY];
/* A file of random weights, the same for the same seed. Its vocabulary must be at most
 * POCKET_TRAINED_VOCABULARY. */
void pocket_weights_random(const struct pocket_shape *shape, uint64_t seed, struct buf *out);

float pocket_from_half(uint16_t half);
/* Rounds to nearest, ties to even. */
uint16_t pocket_to_half(float value);

#endif
