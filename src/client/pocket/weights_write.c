/*
 * Writing weights: used where they are trained and where they are tested, not by the program.
 */
#include "base/alloc.h"
#include "base/checksum.h"
#include "base/cleanup.h"
#include "base/rng.h"
#include "client/pocket/weights.h"

#include <math.h>
#include <string.h>

const char *const pocket_trained_tokens[POCKET_TRAINED_VOCABULARY] = {
    "",   "",   "",  "\xEF\xBF\xBD",
    "\n", " ",  "!", "\"",
    "#",  "$",  "%", "&",
    "'",  "(",  ")", "*",
    "+",  ",",  "-", ".",
    "/",  "0",  "1", "2",
    "3",  "4",  "5", "6",
    "7",  "8",  "9", ":",
    ";",  "<",  "=", ">",
    "?",  "@",  "A", "B",
    "C",  "D",  "E", "F",
    "G",  "H",  "I", "J",
    "K",  "L",  "M", "N",
    "O",  "P",  "Q", "R",
    "S",  "T",  "U", "V",
    "W",  "X",  "Y", "Z",
    "[",  "\\", "]", "^",
    "_",  "`",  "a", "b",
    "c",  "d",  "e", "f",
    "g",  "h",  "i", "j",
    "k",  "l",  "m", "n",
    "o",  "p",  "q", "r",
    "s",  "t",  "u", "v",
    "w",  "x",  "y", "z",
    "{",  "|",  "}", "~",
};

static void add_u32(struct buf *out, uint32_t value)
{
    for (int shift = 0; shift < 32; shift += 8)
        buf_addc(out, (char)(value >> shift));
}

static void add_tokens(const struct pocket_shape *shape, const char *const *tokens, struct buf *out)
{
    for (uint32_t t = 0; t < shape->vocabulary; t++) {
        char text[4] = {0};
        size_t n = strlen(tokens[t]);

        memcpy(text, tokens[t], n < sizeof(text) ? n : sizeof(text));
        buf_add(out, text, sizeof(text));
    }
}

void pocket_weights_write(const struct pocket_shape *shape, const char *const *tokens,
                          const float *parameters, struct buf *out)
{
    const uint32_t fields[] = {POCKET_VERSION, shape->vocabulary, shape->context, shape->width,
                               shape->layers,  shape->heads,      shape->hidden,  0};
    size_t n = pocket_parameter_count(shape), start = out->len;
    uint64_t sum;

    buf_add(out, "IPWPOCKT", 8);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
        add_u32(out, fields[i]);
    sum = checksum64(out->data + start, out->len - start);
    buf_add_zeros(out, 8);
    add_tokens(shape, tokens, out);
    for (size_t i = 0; i < n; i++) {
        uint16_t half = pocket_to_half(parameters[i]);

        buf_addc(out, (char)half);
        buf_addc(out, (char)(half >> 8));
    }
    if (out->failed)
        return;
    sum ^=
        checksum64(out->data + start + POCKET_HEADER_SIZE, out->len - start - POCKET_HEADER_SIZE);
    for (int i = 0; i < 8; i++)
        out->data[start + 40 + i] = (char)(sum >> 8 * i);
}

static void fill(float *p, size_t n, struct rng *rng, double deviation)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (float)(rng_normal(rng) * deviation);
}

static void fill_gain(float *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = 1;
}

void pocket_weights_random(const struct pocket_shape *s, uint64_t seed, struct buf *out)
{
    AUTO_FREE float *p = xcalloc(pocket_parameter_count(s), sizeof(*p));
    struct rng rng = rng_seed(seed, RNG_STREAM_PLAIN);
    size_t width = s->width;
    double deviation = 1 / sqrt((double)width);

    fill(p, (1 + POCKET_BEFORE_COUNT) * s->vocabulary * width, &rng, deviation);
    for (uint32_t l = 0; l < s->layers; l++) {
        fill_gain(p + pocket_parameter_offset(s, POCKET_NORM_1, l), width);
        fill(p + pocket_parameter_offset(s, POCKET_QKV, l), 3 * width * width, &rng, deviation);
        fill(p + pocket_parameter_offset(s, POCKET_OUT, l), width * width, &rng, deviation);
        fill_gain(p + pocket_parameter_offset(s, POCKET_NORM_2, l), width);
        fill(p + pocket_parameter_offset(s, POCKET_UP, l), width * s->hidden, &rng, deviation);
        fill(p + pocket_parameter_offset(s, POCKET_DOWN, l), width * s->hidden, &rng,
             1 / sqrt((double)s->hidden));
    }
    fill_gain(p + pocket_parameter_offset(s, POCKET_LAST_NORM, 0), width);
    pocket_weights_write(s, pocket_trained_tokens, p, out);
}
