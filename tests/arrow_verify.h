/*
 * arrow_verify: a strict check of an Arrow IPC stream of the types we write, and its rows as JSON.
 *
 * Independent of src/arrow: it has its own idea of Flatbuffers and of the format, made after the
 * specification. Everything a strict reader could object to is an error: alignment relative to the
 * buffer's start, bounds, NUL behind strings, absent or superfluous members, nonzero padding, bits
 * behind the end of a bitmap, null counts, offsets that go back, text that is not UTF-8.
 *
 *     struct arrow_stream s = {.p = bytes, .n = size, .rows = &text};
 *     const char *why = arrow_verify(&s);         NULL: fine; text has one JSON line per row
 */
#ifndef IPW_TESTS_ARROW_VERIFY_H
#define IPW_TESTS_ARROW_VERIFY_H

#include "base/buf.h"
#include "base/json.h"
#include "base/utf8.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define VERIFY_FIELDS_MAX 8192
#define VERIFY_DEPTH_MAX  66

enum verify_type { V_NULL = 1, V_INT, V_FLOAT, V_UTF8 = 5, V_BOOL, V_LIST = 12, V_STRUCT };

struct verify_field {
    const char *name;
    enum verify_type type;
    size_t span; /* fields from this to the next one that is not below it */
    /* of the current batch */
    int64_t len, null_count;
    const uint8_t *validity, *values, *text;
};

struct arrow_stream {
    const uint8_t *p;
    size_t n;
    struct buf *rows; /* one JSON line per row; NULL: not wanted */
    /* results */
    struct verify_field fields[VERIFY_FIELDS_MAX];
    size_t n_fields;
    const char *huggingface; /* points into p */
    size_t n_batches;
    int64_t n_rows;
    size_t body_bytes;
    bool ended;
    /* the message being looked at */
    const uint8_t *fb;
    size_t fb_len;
    const char *why;
};

static inline bool verify_that(struct arrow_stream *s, bool condition, const char *why)
{
    if (!condition && !s->why)
        s->why = why;
    return !s->why;
}

/* The little-endian number at pos of the flatbuffer, which must be there and aligned to its size.
 */
static inline int64_t fb_number(struct arrow_stream *s, size_t pos, size_t size)
{
    uint64_t v = 0;

    if (!verify_that(s, pos % size == 0, "misaligned number") ||
        !verify_that(s, pos <= s->fb_len && size <= s->fb_len - pos, "number out of bounds"))
        return 0;
    for (size_t i = 0; i < size; i++)
        v |= (uint64_t)s->fb[pos + i] << 8 * i;
    return size == 8 ? (int64_t)v : size == 4 ? (int32_t)v : size == 2 ? (int16_t)v : (int64_t)v;
}

static inline size_t fb_target(struct arrow_stream *s, size_t ref)
{
    int64_t distance = fb_number(s, ref, 4);

    verify_that(s, distance > 0, "reference that does not go forward");
    verify_that(s, distance >= 0 && (size_t)distance < s->fb_len - ref, "reference out of bounds");
    return s->why ? 0 : ref + (size_t)distance;
}

/* Checks a table and that it knows at most n_ids fields. Returns its position. */
static inline size_t fb_table(struct arrow_stream *s, size_t pos, size_t n_ids)
{
    int64_t vtable = (int64_t)pos - fb_number(s, pos, 4);
    int64_t vtable_bytes, table_bytes;

    if (!verify_that(s, vtable >= 0 && vtable < (int64_t)s->fb_len, "vtable out of bounds"))
        return 0;
    vtable_bytes = fb_number(s, (size_t)vtable, 2);
    table_bytes = fb_number(s, (size_t)vtable + 2, 2);
    verify_that(s, vtable_bytes >= 4 && vtable_bytes % 2 == 0, "vtable size");
    verify_that(s, (size_t)(vtable + vtable_bytes) <= s->fb_len, "vtable too long");
    verify_that(s, table_bytes >= 4 && pos + (size_t)table_bytes <= s->fb_len, "table size");
    verify_that(s, (size_t)(vtable_bytes - 4) / 2 <= n_ids, "table with unknown fields");
    for (int64_t i = 4; i < vtable_bytes && !s->why; i += 2) {
        int64_t at = fb_number(s, (size_t)(vtable + i), 2);

        verify_that(s, at == 0 || (at >= 4 && at < table_bytes), "field outside of its table");
    }
    return s->why ? 0 : pos;
}

/* Where field `id` of a table stands, 0 when it is absent. */
static inline size_t fb_field(struct arrow_stream *s, size_t table, size_t id, size_t size)
{
    size_t vtable = table - (size_t)fb_number(s, table, 4);
    size_t at;

    if (s->why || 4 + 2 * id >= (size_t)fb_number(s, vtable, 2))
        return 0;
    at = (size_t)fb_number(s, vtable + 4 + 2 * id, 2);
    if (at == 0)
        return 0;
    verify_that(s, at + size <= (size_t)fb_number(s, vtable + 2, 2), "field reaches out of table");
    verify_that(s, (table + at) % size == 0, "misaligned field");
    return s->why ? 0 : table + at;
}

static inline int64_t fb_scalar(struct arrow_stream *s, size_t table, size_t id, size_t size,
                                int64_t fallback)
{
    size_t at = fb_field(s, table, id, size);

    return at ? fb_number(s, at, size) : fallback;
}

/* What the reference in field `id` points to; it must be there. */
static inline size_t fb_ref(struct arrow_stream *s, size_t table, size_t id)
{
    size_t at = fb_field(s, table, id, 4);

    return verify_that(s, at != 0, "absent reference") ? fb_target(s, at) : 0;
}

static inline const char *fb_string(struct arrow_stream *s, size_t pos)
{
    size_t n = (uint32_t)fb_number(s, pos, 4);
    const char *text = (const char *)s->fb + pos + 4;

    if (!verify_that(s, pos + 4 + n < s->fb_len, "string out of bounds"))
        return "";
    verify_that(s, text[n] == '\0', "string without NUL");
    verify_that(s, utf8_valid(text, n), "string that is not UTF-8");
    return s->why ? "" : text;
}

/* A vector; returns the position of its first element. */
static inline size_t fb_vector(struct arrow_stream *s, size_t pos, size_t size, size_t alignment,
                               size_t *ret_count)
{
    size_t count = (uint32_t)fb_number(s, pos, 4);

    *ret_count = 0;
    verify_that(s, (pos + 4) % alignment == 0, "misaligned vector");
    if (verify_that(s, count <= (s->fb_len - pos - 4) / size, "vector out of bounds"))
        *ret_count = count;
    return pos + 4;
}

static inline void verify_field(struct arrow_stream *s, size_t table, int depth);

static inline void verify_fields(struct arrow_stream *s, size_t vector, int depth, size_t expected)
{
    size_t count, first = fb_vector(s, vector, 4, 4, &count);

    verify_that(s, expected == SIZE_MAX || count == expected, "wrong number of children");
    for (size_t i = 0; i < count && !s->why; i++)
        verify_field(s, fb_table(s, fb_target(s, first + 4 * i), 7), depth);
}

static inline void verify_type(struct arrow_stream *s, size_t field, enum verify_type type)
{
    size_t n_ids = type == V_INT ? 2 : type == V_FLOAT ? 1 : 0;
    size_t table = fb_table(s, fb_ref(s, field, 3), n_ids);

    if (type == V_INT)
        verify_that(s, fb_scalar(s, table, 0, 4, 0) == 64 && fb_scalar(s, table, 1, 1, 0) == 1,
                    "integer that is not int64");
    if (type == V_FLOAT)
        verify_that(s, fb_scalar(s, table, 0, 2, 0) == 2, "float that is not double");
}

static inline void verify_field(struct arrow_stream *s, size_t table, int depth)
{
    struct verify_field *f = &s->fields[s->n_fields];

    if (!verify_that(s, s->n_fields < VERIFY_FIELDS_MAX && depth < VERIFY_DEPTH_MAX, "too much"))
        return;
    s->n_fields++;
    f->name = fb_string(s, fb_ref(s, table, 0));
    verify_that(s, fb_scalar(s, table, 1, 1, 0) == 1, "field that is not nullable");
    f->type = (enum verify_type)fb_scalar(s, table, 2, 1, 0);
    verify_that(s,
                f->type == V_NULL || f->type == V_INT || f->type == V_FLOAT || f->type == V_UTF8 ||
                    f->type == V_BOOL || f->type == V_LIST || f->type == V_STRUCT,
                "type that we do not write");
    verify_type(s, table, f->type);
    verify_that(s, !fb_field(s, table, 4, 4) && !fb_field(s, table, 6, 4), "dictionary, metadata");
    verify_fields(s, fb_ref(s, table, 5), depth + 1,
                  f->type == V_STRUCT ? SIZE_MAX : f->type == V_LIST);
    f->span = (size_t)(&s->fields[s->n_fields] - f);
}

static inline void verify_schema(struct arrow_stream *s, size_t header)
{
    size_t schema = fb_table(s, header, 4);
    size_t count, first;

    verify_that(s, fb_scalar(s, schema, 0, 2, 0) == 0, "not little-endian");
    verify_fields(s, fb_ref(s, schema, 1), 0, SIZE_MAX);
    if (s->why || !fb_field(s, schema, 2, 4))
        return;
    first = fb_vector(s, fb_ref(s, schema, 2), 4, 4, &count);
    verify_that(s, count == 1, "one piece of metadata expected");
    if (!s->why) {
        size_t pair = fb_table(s, fb_target(s, first), 2);

        verify_that(s, strcmp(fb_string(s, fb_ref(s, pair, 0)), "huggingface") == 0, "key");
        s->huggingface = fb_string(s, fb_ref(s, pair, 1));
    }
}

/* A batch's buffers, in the order in which they are taken. */
struct verify_body {
    size_t buffers; /* position of the first Buffer struct */
    size_t next, count;
    const uint8_t *p;
    size_t n, used;
};

/* The next buffer, which must have this many bytes and lie right behind the one before. */
static inline const uint8_t *take_buffer(struct arrow_stream *s, struct verify_body *b, size_t size)
{
    size_t at = b->buffers + 16 * b->next, start = b->used;
    size_t padded = (size + 7) / 8 * 8;

    if (!verify_that(s, b->next < b->count, "too few buffers"))
        return NULL;
    b->next++;
    verify_that(s, (size_t)fb_number(s, at, 8) == b->used, "buffer not where it should be");
    verify_that(s, (size_t)fb_number(s, at + 8, 8) == size, "buffer of a wrong size");
    if (!verify_that(s, padded <= b->n - b->used, "buffer out of bounds"))
        return NULL;
    b->used += padded;
    for (size_t i = size; i < padded; i++)
        verify_that(s, b->p[start + i] == 0, "padding that is not zero");
    return b->p + start;
}

static inline bool bit_at(const uint8_t *bits, int64_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static inline void verify_bits(struct arrow_stream *s, const uint8_t *bits, int64_t len)
{
    for (int64_t i = len; bits && i % 8; i++)
        verify_that(s, !bit_at(bits, i), "bits behind the end of a bitmap");
}

static inline int64_t offset_at(const struct verify_field *f, int64_t i)
{
    int32_t v;

    memcpy(&v, f->values + 4 * i, 4);
    return v;
}

/* Returns the extent: the last offset. */
static inline int64_t verify_offsets(struct arrow_stream *s, struct verify_body *b,
                                     struct verify_field *f)
{
    f->values = take_buffer(s, b, 4 * (size_t)(f->len + 1));
    if (s->why || !verify_that(s, offset_at(f, 0) == 0, "first offset"))
        return 0;
    for (int64_t i = 0; i < f->len; i++) {
        int64_t size = offset_at(f, i + 1) - offset_at(f, i);

        verify_that(s, size >= 0, "offset that goes back");
        verify_that(s, size == 0 || !f->validity || bit_at(f->validity, i), "null with content");
    }
    return offset_at(f, f->len);
}

static inline void verify_values(struct arrow_stream *s, struct verify_body *b,
                                 struct verify_field *f)
{
    int64_t extent;

    switch (f->type) {
    case V_BOOL:
        f->values = take_buffer(s, b, (size_t)(f->len + 7) / 8);
        verify_bits(s, f->values, f->len);
        break;
    case V_INT:
    case V_FLOAT:
        f->values = take_buffer(s, b, 8 * (size_t)f->len);
        break;
    case V_UTF8:
        extent = verify_offsets(s, b, f);
        f->text = take_buffer(s, b, (size_t)extent);
        for (int64_t i = 0; i < f->len && !s->why; i++)
            verify_that(s,
                        utf8_valid((const char *)f->text + offset_at(f, i),
                                   (size_t)(offset_at(f, i + 1) - offset_at(f, i))),
                        "text that is not UTF-8");
        break;
    default:
        break;
    }
}

static inline void verify_column(struct arrow_stream *s, struct verify_body *b, size_t nodes,
                                 size_t i, int64_t len)
{
    struct verify_field *f = &s->fields[i];
    int64_t zeros = 0;

    f->len = fb_number(s, nodes + 16 * i, 8);
    f->null_count = fb_number(s, nodes + 16 * i + 8, 8);
    f->validity = NULL;
    verify_that(s, f->len == len, "column of a wrong length");
    if (f->type == V_NULL)
        verify_that(s, f->null_count == len, "null column with values");
    else
        f->validity = take_buffer(s, b, f->null_count ? (size_t)(len + 7) / 8 : 0);
    if (f->null_count == 0)
        f->validity = NULL;
    verify_bits(s, f->validity, len);
    for (int64_t k = 0; k < len && f->validity; k++)
        zeros += !bit_at(f->validity, k);
    verify_that(s, f->type == V_NULL || zeros == f->null_count, "null count");
    if (s->why)
        return;
    verify_values(s, b, f);
    if (f->type == V_LIST)
        verify_column(s, b, nodes, i + 1, verify_offsets(s, b, f));
    if (f->type == V_STRUCT)
        for (size_t k = i + 1; k < i + f->span && !s->why; k += s->fields[k].span)
            verify_column(s, b, nodes, k, len);
}

/* Value i of a column as JSON. */
static inline void dump_value(const struct arrow_stream *s, struct json_writer *w, const char *key,
                              const struct verify_field *f, int64_t i)
{
    double real;
    int64_t integer;

    if (f->type == V_NULL || (f->validity && !bit_at(f->validity, i))) {
        jw_null(w, key);
        return;
    }
    switch (f->type) {
    case V_BOOL:
        jw_bool(w, key, bit_at(f->values, i));
        break;
    case V_INT:
        memcpy(&integer, f->values + 8 * i, 8);
        jw_int(w, key, integer);
        break;
    case V_FLOAT:
        memcpy(&real, f->values + 8 * i, 8);
        if (isfinite(real))
            jw_real(w, key, real);
        else
            jw_text(w, key, isnan(real) ? "NaN" : real > 0 ? "Infinity" : "-Infinity");
        break;
    case V_UTF8:
        jw_textn(w, key, (const char *)f->text + offset_at(f, i),
                 (size_t)(offset_at(f, i + 1) - offset_at(f, i)));
        break;
    case V_LIST:
        jw_begin_array(w, key);
        for (int64_t k = offset_at(f, i); k < offset_at(f, i + 1); k++)
            dump_value(s, w, NULL, f + 1, k);
        jw_end_array(w);
        break;
    default:
        jw_begin_object(w, key);
        for (const struct verify_field *k = f + 1; k < f + f->span; k += k->span)
            dump_value(s, w, k->name, k, i);
        jw_end_object(w);
        break;
    }
}

static inline void dump_rows(const struct arrow_stream *s, int64_t rows)
{
    for (int64_t i = 0; i < rows; i++) {
        struct json_writer w = json_writer(s->rows, JSON_LINE);

        jw_begin_object(&w, NULL);
        for (size_t k = 0; k < s->n_fields; k += s->fields[k].span)
            dump_value(s, &w, s->fields[k].name, &s->fields[k], i);
        jw_end_object(&w);
        buf_addc(s->rows, '\n');
    }
}

static inline void verify_batch(struct arrow_stream *s, size_t header, const uint8_t *body,
                                size_t body_bytes)
{
    size_t batch = fb_table(s, header, 5), n_nodes, nodes;
    struct verify_body b = {.p = body, .n = body_bytes};
    int64_t rows = fb_scalar(s, batch, 0, 8, 0);

    nodes = fb_vector(s, fb_ref(s, batch, 1), 16, 8, &n_nodes);
    b.buffers = fb_vector(s, fb_ref(s, batch, 2), 16, 8, &b.count);
    verify_that(s, !fb_field(s, batch, 3, 4) && !fb_field(s, batch, 4, 4), "compression, views");
    verify_that(s, n_nodes == s->n_fields, "number of nodes");
    for (size_t i = 0; i < s->n_fields && !s->why; i += s->fields[i].span)
        verify_column(s, &b, nodes, i, rows);
    verify_that(s, b.next == b.count, "too many buffers");
    verify_that(s, b.used == body_bytes, "body longer than its buffers");
    if (!s->why && s->rows)
        dump_rows(s, rows);
    s->n_batches++;
    s->n_rows += rows;
    s->body_bytes += body_bytes;
}

/* One message at `at`; returns where the next one begins. */
static inline size_t verify_message(struct arrow_stream *s, size_t at)
{
    uint32_t prefix[2];
    size_t start = at, message, header, body_bytes;
    int64_t type;

    if (!verify_that(s, s->n - at >= 8 && at % 8 == 0, "no room for a message"))
        return at;
    memcpy(prefix, s->p + at, 8);
    at += 8;
    verify_that(s, prefix[0] == 0xFFFFFFFF, "no continuation marker");
    verify_that(s, prefix[1] % 8 == 0 && prefix[1] <= s->n - at, "metadata size");
    s->ended = prefix[1] == 0;
    if (s->why || s->ended)
        return at;
    s->fb = s->p + at;
    s->fb_len = prefix[1];
    at += prefix[1];
    message = fb_table(s, fb_target(s, 0), 5);
    verify_that(s, fb_scalar(s, message, 0, 2, 0) == 4, "not metadata version 5");
    type = fb_scalar(s, message, 1, 1, 0);
    header = fb_ref(s, message, 2);
    body_bytes = (size_t)fb_scalar(s, message, 3, 8, 0);
    verify_that(s, body_bytes % 8 == 0 && body_bytes <= s->n - at, "body size");
    verify_that(s, type == (start ? 3 : 1), "a schema, then record batches");
    verify_that(s, type == 3 || body_bytes == 0, "schema with a body");
    if (!s->why && type == 1)
        verify_schema(s, header);
    else if (!s->why)
        verify_batch(s, header, s->p + at, body_bytes);
    return at + body_bytes;
}

/* Checks a whole stream, from its schema to its end marker. NULL when all is well, else why not. */
static inline const char *arrow_verify(struct arrow_stream *s)
{
    size_t at = 0;

    while (!s->ended && !s->why)
        at = verify_message(s, at);
    verify_that(s, at == s->n, "bytes behind the end");
    return s->why;
}

#endif
