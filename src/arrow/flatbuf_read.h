/*
 * flatbuf_read: a flatbuffer from outside, every access checked.
 *
 * The first thing found wrong is remembered in the fb, with its byte; from then on every getter
 * answers "absent". So a whole table is read without a check per field, and looked at once:
 *
 *     struct fb fb = {.data = meta, .size = n};
 *     struct fb_table message = fb_root(&fb);
 *     int64_t body_bytes = fb_int(&message, 3, 8, 0);
 *     struct fb_table schema = fb_table(&message, 2);
 *     if (fb.problem)
 *         return err_set(err, EBADMSG, "byte %zu: %s", fb.where, fb.problem);
 *
 * References only lead forward (a reference to itself or back is refused), so no walk can go round
 * in a circle. It can meet one table many times, though: who descends counts what it makes.
 *
 * Nothing is copied or allocated; all that is handed out points into `data`. An fb is for one
 * thread.
 */
#ifndef IPW_ARROW_FLATBUF_READ_H
#define IPW_ARROW_FLATBUF_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fb {
    const uint8_t *data;
    size_t size;
    const char *problem; /* the first thing found wrong; NULL = nothing so far */
    size_t where;        /* its byte in data */
};

/* All zero = absent; getters on it give the fallback. */
struct fb_table {
    struct fb *fb;
    size_t pos; /* in fb->data */
    size_t vtable;
    uint16_t vtable_size;
    uint16_t size;
};

/* All zero = absent, which is the same as empty. */
struct fb_vector {
    struct fb *fb;
    size_t pos; /* of the first item in fb->data */
    uint32_t count;
    uint32_t item_size;
};

struct fb_table fb_root(struct fb *fb);

/* A whole number of `width` (1, 2, 4 or 8) bytes, sign-extended; fallback when the field is absent.
 * `id` is the field's number in the schema of the format. */
int64_t fb_int(const struct fb_table *t, unsigned id, unsigned width, int64_t fallback);
bool fb_bool(const struct fb_table *t, unsigned id, bool fallback);
/* The text (not NUL-terminated, not checked to be UTF-8) and its length; NULL when absent. */
const char *fb_string(const struct fb_table *t, unsigned id, size_t *ret_n);
struct fb_table fb_table(const struct fb_table *t, unsigned id);
/* A vector of structs or scalars of item_size bytes, or of tables (item_size 4). */
struct fb_vector fb_vector(const struct fb_table *t, unsigned id, uint32_t item_size);
/* Item i, which must be below count: its bytes, or the table it refers to. */
const uint8_t *fb_item(const struct fb_vector *v, uint32_t i);
struct fb_table fb_item_table(const struct fb_vector *v, uint32_t i);

#endif
