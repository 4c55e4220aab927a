/*
 * The common case is checked without a branch per value: offsets are compared in a loop that only
 * gathers "something was wrong", and text is one block that is mostly ASCII. Only when that says no
 * is the array walked value by value, to find the culprit, or to find that it is hidden under a
 * null, where a file may hold anything.
 */
#include "arrow/array_check.h"

#include "arrow/bytes.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/utf8.h"

static int64_t offset_at(const uint8_t *offsets, int64_t i, unsigned width)
{
    return width == 4 ? load_i32(offsets + i * 4) : load_i64(offsets + i * 8);
}

/* Both widths written out, so that each is a loop a compiler can vectorize. */
static bool offsets_rise32(const uint8_t *offsets, int64_t n)
{
    int fallen = 0;

    for (int64_t i = 0; i < n; i++)
        fallen |= load_i32(offsets + i * 4 + 4) < load_i32(offsets + i * 4);
    return !fallen;
}

static bool offsets_rise64(const uint8_t *offsets, int64_t n)
{
    int fallen = 0;

    for (int64_t i = 0; i < n; i++)
        fallen |= load_i64(offsets + i * 8 + 8) < load_i64(offsets + i * 8);
    return !fallen;
}

int64_t check_offsets(const uint8_t *offsets, int64_t n, unsigned width)
{
    if (offset_at(offsets, 0, width) < 0)
        return 0;
    if (width == 4 ? offsets_rise32(offsets, n) : offsets_rise64(offsets, n))
        return -1;
    for (int64_t i = 1;; i++) /* one of them does */
        if (offset_at(offsets, i, width) < offset_at(offsets, i - 1, width))
            return i;
}

static bool is_ascii(const uint8_t *p, size_t n)
{
    size_t i = 0;
    uint64_t all = 0;

    /* in blocks, so that text of another kind is noticed soon */
    for (; i + 256 <= n; i += 256) {
        for (size_t k = 0; k < 256; k += 8)
            all |= load_u64(p + i + k);
        if (all & UINT64_C(0x8080808080808080))
            return false;
    }
    for (; i < n; i++)
        all |= p[i];
    return !(all & UINT64_C(0x8080808080808080));
}

/* A place where a character starts, or the end of the block. */
static bool is_boundary(const uint8_t *block, size_t size, size_t at)
{
    return at >= size || (block[at] & 0xC0) != 0x80;
}

/* One by one, without those that are null. */
static int64_t find_bad_text(const struct arrow_array *a)
{
    const char *text;
    size_t n;

    for (int64_t i = 0; i < a->length; i++)
        if (arrow_bytes(a, i, &text, &n) && !utf8_valid(text, n))
            return i;
    return -1;
}

int64_t check_utf8(const struct arrow_array *a)
{
    unsigned width = a->storage == ARROW_UTF8 ? 4 : 8;
    int64_t first, last;
    const uint8_t *block;
    size_t size;

    if (a->length == 0)
        return -1;
    first = offset_at(a->offsets, 0, width);
    last = offset_at(a->offsets, a->length, width);
    if (first == last)
        return -1;
    block = a->values + first;
    size = (size_t)(last - first);
    if (is_ascii(block, size))
        return -1;
    if (!utf8_valid((const char *)block, size))
        return find_bad_text(a);
    for (int64_t i = 0; i < a->length; i++)
        if (!is_boundary(block, size, (size_t)(offset_at(a->offsets, i, width) - first)))
            return find_bad_text(a);
    return -1;
}

int64_t check_indexes(const struct arrow_array *a, int64_t n_values)
{
    for (int64_t i = 0; i < a->length; i++) {
        int64_t index = arrow_index(a, i);

        if ((index < 0 || index >= n_values) && !arrow_is_null(a, i))
            return i;
    }
    return -1;
}

int64_t check_views(const struct arrow_array *a, size_t n_buffers, size_t *ret_needs)
{
    for (size_t k = 0; k < n_buffers; k++)
        ret_needs[k] = 0;
    for (int64_t i = 0; i < a->length; i++) {
        const uint8_t *view = a->values + i * 16;
        int32_t n = load_i32(view), buffer = load_i32(view + 8), offset = load_i32(view + 12);
        size_t end;

        if ((n >= 0 && n <= 12) || arrow_is_null(a, i))
            continue;
        if (n < 0 || buffer < 0 || (size_t)buffer >= n_buffers || offset < 0)
            return i;
        end = (size_t)offset + (size_t)n;
        if (ret_needs[buffer] < end)
            ret_needs[buffer] = end;
    }
    return -1;
}

int64_t check_view_utf8(const struct arrow_array *a, size_t n_buffers, int64_t *allowance)
{
    AUTO_FREE bool *is_valid = xcalloc(n_buffers + 1, sizeof(*is_valid));

    for (size_t k = 0; k < n_buffers; k++)
        is_valid[k] = utf8_valid((const char *)a->view_buffers[k].data, a->view_buffers[k].size);
    for (int64_t i = 0; i < a->length; i++) {
        const struct arrow_span *in;
        const char *text;
        size_t n, at;

        if (!arrow_bytes(a, i, &text, &n))
            continue;
        if (n > 12) {
            in = &a->view_buffers[load_u32(a->values + i * 16 + 8)];
            at = (size_t)((const uint8_t *)text - in->data);
            if (is_valid[in - a->view_buffers] && is_boundary(in->data, in->size, at) &&
                is_boundary(in->data, in->size, at + n))
                continue;
            *allowance -= (int64_t)n;
            if (*allowance < 0)
                return -2;
        }
        if (!utf8_valid(text, n))
            return i;
    }
    return -1;
}
