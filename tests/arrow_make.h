/*
 * arrow_make: Arrow streams made by hand, right or wrong, for the tests of the reader.
 *
 *     struct buf stream = BUF_INIT(1 << 20);
 *     static const struct mk_field fields[] = {{.name = "a", MK_INT(32, true)}};
 *     mk_schema(&stream, fields, 1);
 *     struct mk_batch b = mk_batch(2);
 *     mk_node(&b, 2, 0);
 *     mk_buffer(&b, NULL, 0);
 *     mk_buffer(&b, (int32_t[]){1, 2}, 8);
 *     mk_record(&stream, &b);
 *
 * The flatbuffers are plain: every table has its own vtable in front and 8 bytes for each field.
 */
#ifndef IPW_TESTS_ARROW_MAKE_H
#define IPW_TESTS_ARROW_MAKE_H

#include "base/buf.h"

#include <assert.h>
#include <lz4frame.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

static int mk_version = 4;      /* V5 */
static bool mk_is_legacy;       /* framing from before 0.15 */
static int mk_endianness;       /* 1 = big */
static const char *mk_meta_key; /* one pair of schema metadata */
static const char *mk_meta_text;

static inline void mk_pad(struct buf *b, size_t alignment)
{
    buf_add_zeros(b, (alignment - b->len % alignment) % alignment);
}

/* Where the table's field `id` is kept. */
static inline size_t mk_slot(size_t table, unsigned id)
{
    return table + 8 + 8 * (size_t)id;
}

/* A table of n fields, all absent yet. Returns its position. */
static inline size_t mk_table(struct buf *b, unsigned n)
{
    uint16_t vtable_size = (uint16_t)(4 + 2 * n), table_size = (uint16_t)(8 + 8 * n);
    size_t vtable, table;
    int32_t distance;

    mk_pad(b, 8);
    vtable = b->len;
    buf_add(b, &vtable_size, 2);
    buf_add(b, &table_size, 2);
    buf_add_zeros(b, 2 * n);
    mk_pad(b, 8);
    table = b->len;
    distance = (int32_t)(table - vtable);
    buf_add(b, &distance, 4);
    buf_add_zeros(b, 4 + 8 * n);
    return table;
}

static inline void mk_mark(struct buf *b, size_t table, unsigned id)
{
    int32_t distance;
    uint16_t offset = (uint16_t)(mk_slot(table, id) - table);

    memcpy(&distance, b->data + table, 4);
    memcpy(b->data + table - distance + 4 + 2 * id, &offset, 2);
}

static inline void mk_number(struct buf *b, size_t table, unsigned id, unsigned width,
                             int64_t value)
{
    mk_mark(b, table, id);
    memcpy(b->data + mk_slot(table, id), &value, width);
}

/* Makes the reference at `pos` lead to the end of the buffer, which is where the next thing goes.
 * Vectors of 8-byte items need `offset` 4, since their count comes first. */
static inline void mk_refer(struct buf *b, size_t pos, size_t offset)
{
    uint32_t distance;

    mk_pad(b, 8);
    buf_add_zeros(b, offset);
    distance = (uint32_t)(b->len - pos);
    memcpy(b->data + pos, &distance, 4);
}

static inline void mk_reference(struct buf *b, size_t table, unsigned id, size_t offset)
{
    mk_mark(b, table, id);
    mk_refer(b, mk_slot(table, id), offset);
}

static inline size_t mk_table_in(struct buf *b, size_t table, unsigned id, unsigned n)
{
    size_t child;

    mk_mark(b, table, id);
    child = mk_table(b, n);
    *(uint32_t *)(void *)(b->data + mk_slot(table, id)) = (uint32_t)(child - mk_slot(table, id));
    return child;
}

static inline void mk_text(struct buf *b, size_t table, unsigned id, const char *text)
{
    uint32_t n = (uint32_t)strlen(text);

    mk_reference(b, table, id, 0);
    buf_add(b, &n, 4);
    buf_add(b, text, n + 1);
}

/* Returns the position of the first item. */
static inline size_t mk_vector(struct buf *b, size_t table, unsigned id, uint32_t count,
                               size_t item_size)
{
    size_t first;

    mk_reference(b, table, id, 4);
    buf_add(b, &count, 4);
    first = b->len;
    buf_add_zeros(b, count * item_size);
    return first;
}

/* A table that an item of a vector refers to. */
static inline size_t mk_item_table(struct buf *b, size_t item, unsigned n)
{
    size_t table = mk_table(b, n);
    uint32_t distance = (uint32_t)(table - item);

    memcpy(b->data + item, &distance, 4);
    return table;
}

struct mk_param {
    unsigned id, width;
    int64_t value;
};

struct mk_field {
    const char *name;
    int type; /* as numbered in the format */
    struct mk_param params[3];
    const char *zone;
    bool is_dictionary;
    int64_t dictionary_id;
    int index_bits; /* 0 = left out */
    bool index_signed;
    const struct mk_field *children;
    uint32_t n_children;
};

#define MK_NULL                .type = 1
#define MK_INT(bits, sign)     .type = 2, .params = {{0, 4, bits}, {1, 1, sign}}
#define MK_FLOAT(kind)         .type = 3, .params = {{0, 2, kind}}
#define MK_BINARY              .type = 4
#define MK_UTF8                .type = 5
#define MK_BOOL                .type = 6
#define MK_DECIMAL(p, s, bits) .type = 7, .params = {{0, 4, p}, {1, 4, s}, {2, 4, bits}}
#define MK_DATE(unit)          .type = 8, .params = {{0, 2, unit}}
#define MK_TIME(unit, bits)    .type = 9, .params = {{0, 2, unit}, {1, 4, bits}}
#define MK_TIMESTAMP(unit)     .type = 10, .params = {{0, 2, unit}}
#define MK_LIST                .type = 12
#define MK_STRUCT              .type = 13
#define MK_FIXED_BINARY(n)     .type = 15, .params = {{0, 4, n}}
#define MK_FIXED_LIST(n)       .type = 16, .params = {{0, 4, n}}
#define MK_MAP                 .type = 17
#define MK_DURATION(unit)      .type = 18, .params = {{0, 2, unit}}
#define MK_LARGE_BINARY        .type = 19
#define MK_LARGE_UTF8          .type = 20
#define MK_LARGE_LIST          .type = 21
#define MK_BINARY_VIEW         .type = 23
#define MK_UTF8_VIEW           .type = 24
#define MK_DICTIONARY(id, bits, sign) \
    .is_dictionary = true, .dictionary_id = id, .index_bits = bits, .index_signed = sign
#define MK_CHILDREN(...)                                \
    .children = (const struct mk_field[]){__VA_ARGS__}, \
    .n_children = sizeof((const struct mk_field[]){__VA_ARGS__}) / sizeof(struct mk_field)

static inline void mk_fields(struct buf *b, size_t table, unsigned id,
                             const struct mk_field *fields, uint32_t n);

static inline void mk_encoding(struct buf *b, size_t field, const struct mk_field *f)
{
    size_t encoding = mk_table_in(b, field, 4, 4), index;

    mk_number(b, encoding, 0, 8, f->dictionary_id);
    if (!f->index_bits)
        return;
    index = mk_table_in(b, encoding, 1, 2);
    mk_number(b, index, 0, 4, f->index_bits);
    mk_number(b, index, 1, 1, f->index_signed);
}

static inline void mk_one_field(struct buf *b, size_t item, const struct mk_field *f)
{
    size_t field = mk_item_table(b, item, 7), type;

    mk_text(b, field, 0, f->name);
    mk_number(b, field, 1, 1, 1);
    mk_number(b, field, 2, 1, f->type);
    type = mk_table_in(b, field, 3, 3);
    for (size_t i = 0; i < 3; i++)
        if (f->params[i].width)
            mk_number(b, type, f->params[i].id, f->params[i].width, f->params[i].value);
    if (f->zone)
        mk_text(b, type, 1, f->zone);
    if (f->is_dictionary)
        mk_encoding(b, field, f);
    if (f->n_children)
        mk_fields(b, field, 5, f->children, f->n_children);
}

static inline void mk_fields(struct buf *b, size_t table, unsigned id,
                             const struct mk_field *fields, uint32_t n)
{
    size_t items = mk_vector(b, table, id, n, 4);

    for (uint32_t i = 0; i < n; i++)
        mk_one_field(b, items + 4 * i, &fields[i]);
}

/* Begins the metadata of a message; returns the header's table of n fields. */
static inline size_t mk_header(struct buf *meta, int type, unsigned n, int64_t body_size)
{
    uint32_t root;
    size_t message;

    buf_add_zeros(meta, 8);
    message = mk_table(meta, 5);
    root = (uint32_t)message;
    memcpy(meta->data, &root, 4);
    mk_number(meta, message, 0, 2, mk_version);
    mk_number(meta, message, 1, 1, type);
    mk_number(meta, message, 3, 8, body_size);
    return mk_table_in(meta, message, 2, n);
}

/* Adds metadata and body as one message. */
static inline void mk_frame(struct buf *stream, struct buf *meta, const void *body, size_t n)
{
    uint32_t marker = 0xFFFFFFFF, size;

    mk_pad(meta, 8);
    if (mk_is_legacy) { /* 4 + size is a multiple of 8 */
        buf_add_zeros(meta, 4);
    } else {
        buf_add(stream, &marker, 4);
    }
    size = (uint32_t)meta->len;
    buf_add(stream, &size, 4);
    buf_add(stream, meta->data, meta->len);
    if (n)
        buf_add(stream, body, n);
    mk_pad(stream, 8);
    buf_release(meta);
}

static inline void mk_schema(struct buf *stream, const struct mk_field *fields, uint32_t n)
{
    struct buf meta = BUF_INIT(64 << 20);
    size_t schema = mk_header(&meta, 1, 4, 0);

    mk_number(&meta, schema, 0, 2, mk_endianness);
    mk_fields(&meta, schema, 1, fields, n);
    if (mk_meta_key) {
        size_t items = mk_vector(&meta, schema, 2, 1, 4);
        size_t pair = mk_item_table(&meta, items, 2);

        mk_text(&meta, pair, 0, mk_meta_key);
        mk_text(&meta, pair, 1, mk_meta_text);
    }
    mk_frame(stream, &meta, NULL, 0);
}

static inline void mk_end(struct buf *stream)
{
    if (!mk_is_legacy)
        buf_add(stream, "\xFF\xFF\xFF\xFF", 4);
    buf_add_zeros(stream, 4);
}

enum { MK_RAW = -1, MK_LZ4 = 0, MK_ZSTD = 1, MK_STORED = 2 /* ZSTD with length -1 */ };

struct mk_batch {
    int64_t rows;
    int codec;
    int64_t nodes[400][2];
    int64_t buffers[800][2];
    int64_t variadic[8];
    uint32_t n_nodes, n_buffers, n_variadic;
    struct buf body;
};

static inline struct mk_batch mk_batch(int64_t rows)
{
    return (struct mk_batch){.rows = rows, .codec = MK_RAW, .body = BUF_INIT(1 << 28)};
}

static inline void mk_node(struct mk_batch *b, int64_t length, int64_t nulls)
{
    assert(b->n_nodes < 400);
    b->nodes[b->n_nodes][0] = length;
    b->nodes[b->n_nodes++][1] = nulls;
}

/* An entry that says whatever it wants. */
static inline void mk_buffer_entry(struct mk_batch *b, int64_t offset, int64_t size)
{
    assert(b->n_buffers < 800);
    b->buffers[b->n_buffers][0] = offset;
    b->buffers[b->n_buffers++][1] = size;
}

/* Appends data compressed by the batch's codec, after the length `says`. */
static inline void mk_compressed(struct mk_batch *b, const void *data, size_t n, int64_t says)
{
    size_t cap = ZSTD_compressBound(n) + LZ4F_compressFrameBound(n, NULL), got;
    char *frame = malloc(cap);

    mk_pad(&b->body, 8);
    got = b->codec == MK_LZ4 ? LZ4F_compressFrame(frame, cap, data, n, NULL)
                             : ZSTD_compress(frame, cap, data, n, 1);
    mk_buffer_entry(b, (int64_t)b->body.len, (int64_t)(got + 8));
    buf_add(&b->body, &says, 8);
    buf_add(&b->body, frame, got);
    mk_pad(&b->body, 8);
    free(frame);
}

static inline void mk_buffer(struct mk_batch *b, const void *data, size_t n)
{
    if (n > 0 && (b->codec == MK_LZ4 || b->codec == MK_ZSTD)) {
        mk_compressed(b, data, n, (int64_t)n);
        return;
    }
    mk_pad(&b->body, 8);
    if (b->codec == MK_STORED && n > 0) {
        mk_buffer_entry(b, (int64_t)b->body.len, (int64_t)n + 8);
        buf_add(&b->body, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
    } else {
        mk_buffer_entry(b, (int64_t)b->body.len, (int64_t)n);
    }
    if (n)
        buf_add(&b->body, data, n);
    mk_pad(&b->body, 8);
}

/* A column of text without nulls. */
static inline void mk_texts(struct mk_batch *b, const char *const *texts, size_t n)
{
    struct buf data = BUF_INIT(1 << 20);
    int32_t offsets[64] = {0};

    assert(n < 64);
    for (size_t i = 0; i < n; i++) {
        buf_adds(&data, texts[i]);
        offsets[i + 1] = (int32_t)data.len;
    }
    mk_node(b, (int64_t)n, 0);
    mk_buffer(b, NULL, 0);
    mk_buffer(b, offsets, 4 * (n + 1));
    mk_buffer(b, data.data, data.len);
    buf_release(&data);
}

static inline void mk_batch_table(struct buf *meta, size_t table, const struct mk_batch *b)
{
    size_t items;

    mk_number(meta, table, 0, 8, b->rows);
    items = mk_vector(meta, table, 1, b->n_nodes, 16);
    memcpy(meta->data + items, b->nodes, b->n_nodes * sizeof(b->nodes[0]));
    items = mk_vector(meta, table, 2, b->n_buffers, 16);
    memcpy(meta->data + items, b->buffers, b->n_buffers * sizeof(b->buffers[0]));
    if (b->codec != MK_RAW) {
        size_t compression = mk_table_in(meta, table, 3, 2);

        mk_number(meta, compression, 0, 1, b->codec == MK_STORED ? MK_ZSTD : b->codec);
        mk_number(meta, compression, 1, 1, 0);
    }
    if (b->n_variadic) {
        items = mk_vector(meta, table, 4, b->n_variadic, 8);
        memcpy(meta->data + items, b->variadic, b->n_variadic * sizeof(b->variadic[0]));
    }
}

/* Adds the batch to the stream and releases it. */
static inline void mk_record(struct buf *stream, struct mk_batch *b)
{
    struct buf meta = BUF_INIT(64 << 20);
    size_t table = mk_header(&meta, 3, 5, (int64_t)b->body.len);

    mk_batch_table(&meta, table, b);
    mk_frame(stream, &meta, b->body.data, b->body.len);
    buf_release(&b->body);
}

static inline void mk_dictionary(struct buf *stream, struct mk_batch *b, int64_t id, bool is_delta)
{
    struct buf meta = BUF_INIT(64 << 20);
    size_t header = mk_header(&meta, 2, 3, (int64_t)b->body.len);

    mk_number(&meta, header, 0, 8, id);
    mk_number(&meta, header, 2, 1, is_delta);
    mk_batch_table(&meta, mk_table_in(&meta, header, 1, 5), b);
    mk_frame(stream, &meta, b->body.data, b->body.len);
    buf_release(&b->body);
}

#endif
