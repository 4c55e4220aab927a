/*
 * The size of the file follows from its shape, and must be the size it has: a header that lies is
 * found out by comparing two small numbers, before a byte behind it is looked at.
 */
#include "client/pocket/weights.h"

#include "base/checksum.h"
#include "base/utf8.h"
#include "client/pocket/model.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#define TOKEN_BYTES 4
#define OFFSET_SUM  40

static const char magic[8] = {'I', 'P', 'W', 'P', 'O', 'C', 'K', 'T'};

static uint32_t read_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint64_t read_u64(const unsigned char *p)
{
    return read_u32(p) | (uint64_t)read_u32(p + 4) << 32;
}

int pocket_shape_check(const struct pocket_shape *s, struct err *err)
{
    const struct {
        const char *name;
        uint32_t value, least, most, multiple;
    } bounds[] = {
        {"vocabulary", s->vocabulary, POCKET_FIRST_TEXT + 2, 512, 1},
        {"context", s->context, 16, 1024, 1},
        {"width", s->width, POCKET_LANES, 512, POCKET_LANES},
        {"layers", s->layers, 1, 16, 1},
        {"heads", s->heads, 1, 16, 1},
        {"hidden", s->hidden, POCKET_LANES, 2048, POCKET_LANES},
    };

    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++)
        if (bounds[i].value < bounds[i].least || bounds[i].value > bounds[i].most ||
            bounds[i].value % bounds[i].multiple)
            return err_set(err, EBADMSG, "weights: %s is %u, not %u to %u by %u", bounds[i].name,
                           bounds[i].value, bounds[i].least, bounds[i].most, bounds[i].multiple);
    if (s->width % (2 * s->heads))
        return err_set(err, EBADMSG, "weights: a width of %u does not split into %u heads",
                       s->width, s->heads);
    return 0;
}

static size_t layer_size(const struct pocket_shape *s)
{
    size_t width = s->width;

    return 2 * width + 4 * width * width + 2 * width * s->hidden;
}

size_t pocket_parameter_count(const struct pocket_shape *s)
{
    return (1 + POCKET_BEFORE_COUNT) * (size_t)s->vocabulary * s->width +
           s->layers * layer_size(s) + s->width;
}

size_t pocket_parameter_offset(const struct pocket_shape *s, enum pocket_part part, uint32_t layer)
{
    size_t width = s->width, hidden = s->hidden;
    const size_t within[] = {[POCKET_NORM_1] = 0,
                             [POCKET_QKV] = width,
                             [POCKET_OUT] = width + 3 * width * width,
                             [POCKET_NORM_2] = width + 4 * width * width,
                             [POCKET_UP] = 2 * width + 4 * width * width,
                             [POCKET_DOWN] = 2 * width + 4 * width * width + width * hidden};

    if (part == POCKET_EMBEDDING)
        return 0;
    if (part == POCKET_BEFORE)
        return s->vocabulary * width;
    if (part == POCKET_LAST_NORM)
        return pocket_parameter_count(s) - width;
    return (1 + POCKET_BEFORE_COUNT) * s->vocabulary * width + layer * layer_size(s) + within[part];
}

static uint64_t sum_of(const unsigned char *data, size_t size)
{
    return checksum64(data, OFFSET_SUM) ^
           checksum64(data + POCKET_HEADER_SIZE, size - POCKET_HEADER_SIZE);
}

/* One character, or none for the tokens that are no text. */
static bool is_token_text(const unsigned char *p, uint32_t token)
{
    size_t n = strnlen((const char *)p, TOKEN_BYTES);

    for (size_t i = n; i < TOKEN_BYTES; i++)
        if (p[i])
            return false;
    if (token < POCKET_FIRST_TEXT)
        return n == 0;
    return n > 0 && utf8_char((const char *)p, n, NULL) == n;
}

int pocket_weights_check(const void *data, size_t size, struct pocket_shape *ret, struct err *err)
{
    const unsigned char *p = data;
    struct pocket_shape s;
    size_t wanted;
    int r;

    if (size < POCKET_HEADER_SIZE || memcmp(p, magic, sizeof(magic)) != 0)
        return err_set(err, EBADMSG, "weights: these bytes are none");
    if (read_u32(p + 8) != POCKET_VERSION)
        return err_set(err, EBADMSG, "weights: version %u is not known here", read_u32(p + 8));
    s = (struct pocket_shape){read_u32(p + 12), read_u32(p + 16), read_u32(p + 20),
                              read_u32(p + 24), read_u32(p + 28), read_u32(p + 32)};
    r = pocket_shape_check(&s, err);
    if (r < 0)
        return r;
    wanted = POCKET_HEADER_SIZE + TOKEN_BYTES * (size_t)s.vocabulary +
             sizeof(uint16_t) * pocket_parameter_count(&s);
    if (size != wanted)
        return err_set(err, EBADMSG, "weights: %zu bytes where the header asks for %zu", size,
                       wanted);
    if (read_u32(p + 36) != 0 || read_u64(p + OFFSET_SUM) != sum_of(p, size))
        return err_set(err, EBADMSG, "weights: the checksum does not match");
    for (uint32_t t = 0; t < s.vocabulary; t++)
        if (!is_token_text(p + POCKET_HEADER_SIZE + (size_t)TOKEN_BYTES * t, t))
            return err_set(err, EBADMSG, "weights: token %u has no proper text", t);
    *ret = s;
    return 0;
}

const char *pocket_weights_token(const void *data, uint32_t token)
{
    return (const char *)data + POCKET_HEADER_SIZE + (size_t)TOKEN_BYTES * token;
}

void pocket_weights_read(const void *data, const struct pocket_shape *shape, size_t first, size_t n,
                         float *ret)
{
    const unsigned char *p = data;

    p += POCKET_HEADER_SIZE + (size_t)TOKEN_BYTES * shape->vocabulary + sizeof(uint16_t) * first;
    for (size_t i = 0; i < n; i++, p += sizeof(uint16_t))
        ret[i] = pocket_from_half((uint16_t)(p[0] | p[1] << 8));
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* The half's exponent and mantissa in a float's place are 2^112 too small, subnormals included: one
 * exact multiplication puts that right. Infinities and NaN become large numbers instead, so no
 * weight is ever anything but finite. */
float pocket_from_half(uint16_t half)
{
    return float_of((uint32_t)(half & 0x8000) << 16 | (uint32_t)(half & 0x7fff) << 13) *
           float_of((127 + 112) << 23);
}

uint16_t pocket_to_half(float value)
{
    uint32_t bits, sign;
    float scaled, largest = 65504.0f;

    memcpy(&bits, &value, sizeof(bits));
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    value = float_of(bits);
    if (!(value <= largest))
        return (uint16_t)(sign | 0x7bff);
    /* Below the normal halves the steps are 2^-24: adding 1/2 (whose last bit is 2^-24) rounds. */
    if (bits < 113u << 23) {
        scaled = value + 0.5f;
        memcpy(&bits, &scaled, sizeof(bits));
        return (uint16_t)(sign | (bits - (126u << 23)));
    }
    bits += 0xfff + (bits >> 13 & 1);
    bits = (bits >> 13) - (112u << 10);
    return (uint16_t)(sign | (bits > 0x7bff ? 0x7bff : bits));
}
