/*
 * Most builders go from the back to the front, so that a reference is known when it is written.
 * Here every reference is filled in later instead: the output is a plain growing buf, the order of
 * the bytes is the order of the calls, and no vtable is shared (a schema of 200 fields would save
 * 3 kB of a file of megabytes).
 */
#include "arrow/flatbuf_build.h"

#include <assert.h>
#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,
               "values are copied as they are in memory");

/* Zeros until the next byte's position leaves `rest` when divided by `unit`. */
static void align_to(struct buf *out, size_t unit, size_t rest)
{
    while (!out->failed && out->len % unit != rest)
        buf_addc(out, '\0');
}

/* The next byte's position; 0 once failed, which flatbuf_link never touches then. */
static size_t place(const struct buf *out)
{
    return out->failed ? 0 : out->len;
}

static void add(struct buf *out, const void *p, size_t n)
{
    if (!out->failed)
        buf_add(out, p, n);
}

void flatbuf_begin(struct buf *out)
{
    assert(out->len == 0);
    buf_add_zeros(out, 4);
}

void flatbuf_end(struct buf *out)
{
    align_to(out, 8, 0);
}

/* Fills the vtable and each slot's place relative to the table, the widest first: behind the four
 * bytes of the table's own offset everything is then aligned when the first one is. */
static size_t lay_out(struct flatbuf_slot *slots, size_t n_slots, uint16_t *vtable)
{
    size_t n_used = 0;
    uint16_t size = 4;

    for (uint8_t width = 8; width > 0; width /= 2) {
        for (size_t i = 0; i < n_slots; i++) {
            if (slots[i].size != width)
                continue;
            vtable[2 + i] = size;
            slots[i].at = size;
            size = (uint16_t)(size + width);
            if (i >= n_used)
                n_used = i + 1;
        }
    }
    vtable[0] = (uint16_t)(4 + 2 * n_used);
    vtable[1] = size;
    return vtable[0];
}

static bool has_wide(const struct flatbuf_slot *slots, size_t n_slots)
{
    for (size_t i = 0; i < n_slots; i++)
        if (slots[i].size == 8)
            return true;
    return false;
}

size_t flatbuf_table(struct buf *out, struct flatbuf_slot *slots, size_t n_slots)
{
    uint16_t vtable[2 + FLATBUF_SLOTS_MAX] = {0};
    char table[4 + 8 * FLATBUF_SLOTS_MAX] = {0};
    int32_t back;
    size_t vtable_bytes, pos;

    assert(n_slots <= FLATBUF_SLOTS_MAX);
    vtable_bytes = lay_out(slots, n_slots, vtable);
    if (has_wide(slots, n_slots))
        align_to(out, 8, (12 - vtable_bytes % 8) % 8);
    else
        align_to(out, 4, (4 - vtable_bytes % 4) % 4);
    add(out, vtable, vtable_bytes);
    pos = place(out);
    back = (int32_t)vtable_bytes;
    memcpy(table, &back, 4);
    for (size_t i = 0; i < n_slots; i++) {
        if (!slots[i].size)
            continue;
        memcpy(table + slots[i].at, &slots[i].value, slots[i].size);
        slots[i].at += pos;
    }
    add(out, table, vtable[1]);
    return pos;
}

/* The count in front of a vector or string. */
static size_t begin_vector(struct buf *out, size_t count)
{
    uint32_t n = (uint32_t)count;
    size_t pos;

    if (count > FLATBUF_MAX)
        out->failed = true;
    pos = place(out);
    add(out, &n, 4);
    return pos;
}

size_t flatbuf_string(struct buf *out, const char *text, size_t n)
{
    size_t pos;

    align_to(out, 4, 0);
    pos = begin_vector(out, n);
    add(out, text, n);
    add(out, "", 1);
    return pos;
}

size_t flatbuf_refs(struct buf *out, size_t count)
{
    size_t pos;

    align_to(out, 4, 0);
    pos = begin_vector(out, count);
    if (!out->failed)
        buf_add_zeros(out, 4 * count);
    return pos;
}

size_t flatbuf_pairs(struct buf *out, const int64_t *words, size_t count)
{
    size_t pos;

    align_to(out, 8, 4); /* so that the words behind the count are aligned */
    pos = begin_vector(out, count);
    add(out, words, 16 * count);
    return pos;
}

void flatbuf_link(struct buf *out, size_t at, size_t target)
{
    uint32_t distance = (uint32_t)(target - at);

    if (out->failed)
        return;
    assert(at < target && at + 4 <= out->len && target < out->len);
    memcpy(out->data + at, &distance, 4);
}
