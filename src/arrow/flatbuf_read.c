/*
 * Positions are offsets into the buffer and are checked before the bytes there are touched; sums
 * cannot overflow because every term is below 2^32 and size_t has 64 bits.
 */
#include "arrow/flatbuf_read.h"

#include "arrow/bytes.h"

#include <assert.h>

static_assert(sizeof(size_t) == 8, "positions are sums of 32-bit numbers");

static void fail(struct fb *fb, size_t where, const char *problem)
{
    if (fb->problem)
        return;
    fb->problem = problem;
    fb->where = where;
}

static bool has_room(struct fb *fb, size_t pos, size_t n, const char *problem)
{
    if (pos <= fb->size && n <= fb->size - pos)
        return true;
    fail(fb, pos < fb->size ? pos : fb->size, problem);
    return false;
}

/* Where the reference at `pos` leads; 0 when it is bad. */
static size_t follow(struct fb *fb, size_t pos)
{
    uint32_t distance;

    if (!has_room(fb, pos, 4, "a reference lies outside the metadata"))
        return 0;
    distance = load_u32(fb->data + pos);
    if (distance < 4 ||
        !has_room(fb, pos + distance, 4, "a reference leads outside the metadata")) {
        fail(fb, pos, "a reference leads to itself");
        return 0;
    }
    return pos + distance;
}

static struct fb_table table_at(struct fb *fb, size_t pos)
{
    struct fb_table t = {.fb = fb, .pos = pos};
    int64_t vtable;

    if (!pos || !has_room(fb, pos, 4, "a table lies outside the metadata"))
        return (struct fb_table){0};
    vtable = (int64_t)pos - load_i32(fb->data + pos);
    if (vtable < 0 || !has_room(fb, (size_t)vtable, 4, "a vtable lies outside the metadata")) {
        fail(fb, pos, "a vtable lies outside the metadata");
        return (struct fb_table){0};
    }
    t.vtable = (size_t)vtable;
    t.vtable_size = load_u16(fb->data + t.vtable);
    t.size = load_u16(fb->data + t.vtable + 2);
    if (t.vtable_size < 4 || t.size < 4 ||
        !has_room(fb, t.vtable, t.vtable_size, "a vtable lies outside the metadata") ||
        !has_room(fb, pos, t.size, "a table lies outside the metadata")) {
        fail(fb, t.vtable, "a vtable is too short");
        return (struct fb_table){0};
    }
    return t;
}

struct fb_table fb_root(struct fb *fb)
{
    return table_at(fb, follow(fb, 0));
}

/* Position of a field that has n bytes; 0 when it is absent. */
static size_t field_at(const struct fb_table *t, unsigned id, size_t n)
{
    size_t slot = 4 + 2 * (size_t)id;
    uint16_t offset;

    if (!t->fb || t->fb->problem || slot + 2 > t->vtable_size)
        return 0;
    offset = load_u16(t->fb->data + t->vtable + slot);
    if (!offset)
        return 0;
    if (offset < 4 || offset + n > t->size) {
        fail(t->fb, t->vtable + slot, "a field lies outside its table");
        return 0;
    }
    return t->pos + offset;
}

int64_t fb_int(const struct fb_table *t, unsigned id, unsigned width, int64_t fallback)
{
    size_t pos = field_at(t, id, width);

    if (!pos)
        return fallback;
    switch (width) {
    case 1:
        return load_i8(t->fb->data + pos);
    case 2:
        return load_i16(t->fb->data + pos);
    case 4:
        return load_i32(t->fb->data + pos);
    default:
        assert(width == 8);
        return load_i64(t->fb->data + pos);
    }
}

bool fb_bool(const struct fb_table *t, unsigned id, bool fallback)
{
    return fb_int(t, id, 1, fallback) != 0;
}

struct fb_table fb_table(const struct fb_table *t, unsigned id)
{
    size_t pos = field_at(t, id, 4);

    return pos ? table_at(t->fb, follow(t->fb, pos)) : (struct fb_table){0};
}

struct fb_vector fb_vector(const struct fb_table *t, unsigned id, uint32_t item_size)
{
    struct fb_vector v = {.fb = t->fb, .item_size = item_size};
    size_t pos = field_at(t, id, 4);

    pos = pos ? follow(t->fb, pos) : 0;
    if (!pos)
        return (struct fb_vector){0};
    v.pos = pos + 4;
    v.count = load_u32(t->fb->data + pos);
    if (v.count > (t->fb->size - v.pos) / item_size) {
        fail(t->fb, pos, "a vector is longer than the metadata");
        return (struct fb_vector){0};
    }
    return v;
}

const char *fb_string(const struct fb_table *t, unsigned id, size_t *ret_n)
{
    struct fb_vector v = fb_vector(t, id, 1);

    if (!v.fb)
        return NULL;
    *ret_n = v.count;
    return (const char *)v.fb->data + v.pos;
}

const uint8_t *fb_item(const struct fb_vector *v, uint32_t i)
{
    assert(i < v->count);
    return v->fb->data + v->pos + (size_t)i * v->item_size;
}

struct fb_table fb_item_table(const struct fb_vector *v, uint32_t i)
{
    assert(i < v->count && v->item_size == 4);
    if (v->fb->problem)
        return (struct fb_table){0};
    return table_at(v->fb, follow(v->fb, v->pos + (size_t)i * 4));
}
