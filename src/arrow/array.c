/*
 * Every accessor goes through value_at: it says whether there is a value, and leads from a
 * dictionary-encoded array to the part of the dictionary that holds it. What follows is a switch on
 * the type and one load.
 */
#include "arrow/array.h"

#include "arrow/bytes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The first double that no int64 reaches. */
#define TWO_TO_63 9223372036854775808.0

static bool bit_at(const uint8_t *bits, int64_t i)
{
    return bits[i >> 3] >> (i & 7) & 1;
}

static bool is_masked(const struct arrow_array *a, int64_t i)
{
    if (a->all_null || (a->validity && !bit_at(a->validity, i)))
        return true;
    for (a = a->mask; a; a = a->mask)
        if (!bit_at(a->validity, i))
            return true;
    return false;
}

/* Any integer type, also temporal; what does not fit an int64 (a large uint64) is the fallback. */
static int64_t integer_at(const struct arrow_array *a, int64_t i, int64_t fallback)
{
    switch (a->storage) {
    case ARROW_INT8:
        return load_i8(a->values + i);
    case ARROW_UINT8:
        return load_u8(a->values + i);
    case ARROW_INT16:
        return load_i16(a->values + i * 2);
    case ARROW_UINT16:
        return load_u16(a->values + i * 2);
    case ARROW_INT32:
    case ARROW_DATE32:
    case ARROW_TIME32:
        return load_i32(a->values + i * 4);
    case ARROW_UINT32:
        return load_u32(a->values + i * 4);
    case ARROW_INT64:
    case ARROW_DATE64:
    case ARROW_TIME64:
    case ARROW_TIMESTAMP:
    case ARROW_DURATION:
        return load_i64(a->values + i * 8);
    case ARROW_UINT64: {
        uint64_t value = load_u64(a->values + i * 8);

        return value <= INT64_MAX ? (int64_t)value : fallback;
    }
    default:
        return fallback;
    }
}

int64_t arrow_index(const struct arrow_array *a, int64_t i)
{
    return integer_at(a, i, -1);
}

const struct arrow_array *arrow_dictionary_at(const struct arrow_dictionary *d, int64_t i,
                                              int64_t *ret_i)
{
    size_t low = 0, high = d->n_parts;

    while (high - low > 1) { /* the last part that starts at or before i */
        size_t middle = low + (high - low) / 2;

        if (d->starts[middle] <= i)
            low = middle;
        else
            high = middle;
    }
    *ret_i = i - d->starts[low];
    return d->parts[low];
}

/* false = there is no value. Else *a and *i say where it lies, outside any dictionary. */
static bool value_at(const struct arrow_array **a, int64_t *i)
{
    if (!*a || *i < 0 || *i >= (*a)->length || is_masked(*a, *i))
        return false;
    if (!(*a)->dictionary)
        return true;
    *a = arrow_dictionary_at((*a)->dictionary, arrow_index(*a, *i), i);
    return !is_masked(*a, *i);
}

bool arrow_is_null(const struct arrow_array *a, int64_t i)
{
    return !value_at(&a, &i);
}

/* IEEE 754 binary16. */
static double half_at(const uint8_t *p)
{
    uint16_t bits = load_u16(p);
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value;

    if (exponent == 31)
        value = fraction ? NAN : INFINITY;
    else if (exponent == 0)
        value = ldexp(fraction, -24);
    else
        value = ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

static double real_at(const struct arrow_array *a, int64_t i)
{
    switch (a->storage) {
    case ARROW_FLOAT16:
        return half_at(a->values + i * 2);
    case ARROW_FLOAT32:
        return load_f32(a->values + i * 4);
    case ARROW_FLOAT64:
        return load_f64(a->values + i * 8);
    default:
        return NAN;
    }
}

int64_t arrow_i64(const struct arrow_array *a, int64_t i, int64_t fallback)
{
    double real;

    if (!value_at(&a, &i))
        return fallback;
    real = real_at(a, i);
    if (isnan(real))
        return integer_at(a, i, fallback);
    return real == floor(real) && real >= -TWO_TO_63 && real < TWO_TO_63 ? (int64_t)real : fallback;
}

double arrow_f64(const struct arrow_array *a, int64_t i)
{
    char text[ARROW_TEXT_MAX];

    if (!value_at(&a, &i))
        return NAN;
    switch (a->storage) {
    case ARROW_INT8:
    case ARROW_INT16:
    case ARROW_INT32:
    case ARROW_INT64:
    case ARROW_UINT8:
    case ARROW_UINT16:
    case ARROW_UINT32:
        return (double)integer_at(a, i, 0);
    case ARROW_UINT64:
        return (double)load_u64(a->values + i * 8);
    case ARROW_DECIMAL:
        return arrow_format(a, i, text) ? strtod(text, NULL) : NAN;
    default:
        return real_at(a, i);
    }
}

bool arrow_bool(const struct arrow_array *a, int64_t i, bool fallback)
{
    if (!value_at(&a, &i) || a->storage != ARROW_BOOL)
        return fallback;
    return bit_at(a->values, i);
}

/* A view: a length, then 12 bytes that are the value or say in which buffer and where it lies. */
static const uint8_t *view_at(const struct arrow_array *a, int64_t i, size_t *ret_n)
{
    const uint8_t *view = a->values + i * 16;

    *ret_n = load_u32(view);
    return *ret_n <= 12 ? view + 4 : a->view_buffers[load_u32(view + 8)].data + load_u32(view + 12);
}

/* An array that has nothing but empty values may have no bytes to point to. */
static const char *not_null(const uint8_t *p)
{
    return p ? (const char *)p : "";
}

bool arrow_bytes(const struct arrow_array *a, int64_t i, const char **ret, size_t *ret_n)
{
    if (!value_at(&a, &i))
        return false;
    switch (a->storage) {
    case ARROW_UTF8:
    case ARROW_BINARY: {
        int32_t start = load_i32(a->offsets + i * 4);

        *ret_n = (size_t)(load_i32(a->offsets + i * 4 + 4) - start);
        *ret = not_null(a->values) + start;
        return true;
    }
    case ARROW_LARGE_UTF8:
    case ARROW_LARGE_BINARY: {
        int64_t start = load_i64(a->offsets + i * 8);

        *ret_n = (size_t)(load_i64(a->offsets + i * 8 + 8) - start);
        *ret = not_null(a->values) + start;
        return true;
    }
    case ARROW_UTF8_VIEW:
    case ARROW_BINARY_VIEW:
        *ret = not_null(view_at(a, i, ret_n));
        return true;
    case ARROW_FIXED_BINARY:
        *ret_n = (size_t)a->field->param;
        *ret = not_null(a->values) + i * a->field->param;
        return true;
    default:
        return false;
    }
}

bool arrow_text(const struct arrow_array *a, int64_t i, const char **ret, size_t *ret_n)
{
    if (!a || (a->field->type != ARROW_UTF8 && a->field->type != ARROW_LARGE_UTF8 &&
               a->field->type != ARROW_UTF8_VIEW))
        return false;
    return arrow_bytes(a, i, ret, ret_n);
}

void arrow_list(const struct arrow_array *a, int64_t i, int64_t *ret_start, int64_t *ret_count)
{
    *ret_start = *ret_count = 0;
    if (!value_at(&a, &i))
        return;
    switch (a->storage) {
    case ARROW_LIST:
        *ret_start = load_i32(a->offsets + i * 4);
        *ret_count = load_i32(a->offsets + i * 4 + 4) - *ret_start;
        break;
    case ARROW_LARGE_LIST:
        *ret_start = load_i64(a->offsets + i * 8);
        *ret_count = load_i64(a->offsets + i * 8 + 8) - *ret_start;
        break;
    case ARROW_FIXED_LIST:
        *ret_start = i * a->field->param;
        *ret_count = a->field->param;
        break;
    default:
        break;
    }
}

const struct arrow_array *arrow_child(const struct arrow_array *a, const char *name)
{
    if (!a || a->field->type != ARROW_STRUCT)
        return NULL;
    for (size_t i = 0; i < a->n_children; i++)
        if (strcmp(a->children[i].field->name, name) == 0)
            return &a->children[i];
    return NULL;
}
