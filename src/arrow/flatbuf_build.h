/*
 * flatbuf_build: Flatbuffers, written front to back into a buf.
 *
 * Just what Arrow's messages need: tables, strings, vectors of references and vectors of structs
 * made of 64-bit words. What is referred to is written after what refers to it, and linked:
 *
 *     struct buf out = BUF_INIT(FLATBUF_MAX);
 *     flatbuf_begin(&out);
 *     struct flatbuf_slot kv[] = {FLATBUF_REF, FLATBUF_REF};       KeyValue {key, value}
 *     flatbuf_link(&out, 0, flatbuf_table(&out, kv, 2));           the root reference is at 0
 *     flatbuf_link(&out, kv[0].at, flatbuf_string(&out, "k", 1));
 *     flatbuf_link(&out, kv[1].at, flatbuf_string(&out, "v", 1));
 *     flatbuf_end(&out);
 *     if (out.failed) ...                                          it passed the limit
 *
 * Everything is aligned to its size relative to the buffer's first byte, as verifiers demand. Once
 * the buf has refused an addition, every further call does nothing: one check of `failed` at the
 * end is enough. Positions are byte numbers in the buf.
 */
#ifndef IPW_ARROW_FLATBUF_BUILD_H
#define IPW_ARROW_FLATBUF_BUILD_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* References are 31 bits wide in practice: readers take them as signed. */
#define FLATBUF_MAX ((size_t)INT32_MAX - 7)
/* Fields a table may have. */
#define FLATBUF_SLOTS_MAX 8

/* A field of a table. Its place in the array is its id in the format's definition. */
struct flatbuf_slot {
    uint8_t size;  /* bytes in the table: 1, 2, 4 or 8; 0 = absent, which means the default */
    int64_t value; /* a reference has 0 until it is linked */
    size_t at;     /* set by flatbuf_table: where the field stands */
};

#define FLATBUF_ABSENT \
    {                  \
        .size = 0      \
    }
#define FLATBUF_U8(v)           \
    {                           \
        .size = 1, .value = (v) \
    }
#define FLATBUF_I16(v)          \
    {                           \
        .size = 2, .value = (v) \
    }
#define FLATBUF_I32(v)          \
    {                           \
        .size = 4, .value = (v) \
    }
#define FLATBUF_I64(v)          \
    {                           \
        .size = 8, .value = (v) \
    }
#define FLATBUF_REF \
    {               \
        .size = 4   \
    }

/* The root reference of an empty buf, at position 0. */
void flatbuf_begin(struct buf *out);
/* Pads with zeros to a multiple of 8. */
void flatbuf_end(struct buf *out);

/* A table (its vtable in front of it) with the values of the slots. Returns its position. */
size_t flatbuf_table(struct buf *out, struct flatbuf_slot *slots, size_t n_slots);
/* A string with the NUL that the format asks for. Returns its position. */
size_t flatbuf_string(struct buf *out, const char *text, size_t n);
/* A vector of references, all unlinked: element i stands at the result + 4 + 4 * i. */
size_t flatbuf_refs(struct buf *out, size_t count);
/* A vector of structs of two 64-bit words each, from 2 * count words. Returns its position. */
size_t flatbuf_pairs(struct buf *out, const int64_t *words, size_t count);
/* Makes the reference at `at` point to `target`, which lies behind it. */
void flatbuf_link(struct buf *out, size_t at, size_t target);

#endif
