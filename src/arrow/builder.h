/*
 * builder: rows become the columns of one Arrow record batch.
 *
 * One column per field of the schema, numbered in pre-order (schema.h). A row is one value put into
 * every top-level column; a struct's children get one value each per struct, a list's child as many
 * as the list has items. The puts of a row may come in any order of columns, then the row is ended:
 *
 *     AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
 *     r = arrow_builder_new(&schema, &b, &err);
 *     arrow_put_struct(arrow_builder_column(b, 0));               request: present
 *     arrow_put_i64(arrow_builder_column(b, 1), 7);               request.index
 *     arrow_put_list(arrow_builder_column(b, 2), 2);              request.reasons: two
 *     arrow_put_text(arrow_builder_column(b, 3), "late", 4);
 *     arrow_put_text(arrow_builder_column(b, 3), NULL, 0);        null
 *     r = arrow_builder_end_row(b, &err);
 *     if (r == -EFBIG) { arrow_write_batch(...); arrow_builder_clear(b); put the row again }
 *
 * A put never fails and never allocates per value: buffers double and are kept by _clear, so memory
 * is flat from batch to batch. A column that has seen nothing but nulls is asleep: its nulls are
 * counted, its buffers not touched, as most columns of most rows are empty. Putting into a column
 * of another type is a bug and asserts; a wrong number of puts is found by _end_row. Not for use by
 * two threads at once.
 */
#ifndef IPW_ARROW_BUILDER_H
#define IPW_ARROW_BUILDER_H

#include "arrow/schema.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nesting that Arrow's C++ library still reads: struct and list levels over a leaf. */
#define ARROW_WRITE_DEPTH_MAX 63

struct arrow_builder;

/* What a column has that not every put of a row needs. */
struct arrow_column_rest {
    const size_t *want; /* the length this column must have when a row ends */
    char *text;         /* `extent` bytes */
    size_t text_cap;
    size_t room; /* what cap is when awake */
    bool listed; /* below a list: never asleep, as its length follows no row */
    char *name;
    const struct json *member; /* scratch of arrow_put_json */
};

/* Open only so that the puts can be inlined: use the functions. A row touches every column, so one
 * is a cache line, and hundreds stay in the cache. */
struct arrow_column {
    _Alignas(64) size_t len; /* values, nulls included */
    size_t cap;              /* values that fit; a multiple of 8; 0: asleep */
    size_t null_count;       /* when awake; 0: `validity` means nothing yet */
    uint8_t *validity;       /* bit i: value i is there; the bits from len on are 0 */
    union {
        int64_t *i64;
        double *f64;
        uint8_t *bits;    /* bool; the bits from len on are 0 */
        int32_t *offsets; /* text, list: cap + 1 of them */
    };
    size_t extent; /* text: bytes, list: items, so far; others: 0 */
    uint32_t span; /* columns from this one to the next that is not below it */
    enum arrow_type type;
    struct arrow_column_rest *rest;
};
static_assert(sizeof(struct arrow_column) == 64, "a column is a cache line");

/* So many rows a column sleeps at most: its buffers are then as many zeros. */
#define ARROW_SLEEP_ROWS 1024

/* Whether such fields can be written: the types marked W in schema.h, lists with one child, leaves
 * with none, nesting up to ARROW_WRITE_DEPTH_MAX. -ENOTSUP, -EINVAL or -E2BIG with the field's
 * name. */
int arrow_schema_check_writable(const struct arrow_schema *schema, struct err *err);

/* An empty builder for a schema that can be written (else as above); the schema may go away. */
int arrow_builder_new(const struct arrow_schema *schema, struct arrow_builder **ret,
                      struct err *err);
void arrow_builder_free(struct arrow_builder *b);
DEFINE_AUTO_PTR(arrow_builder, arrow_builder_free);

/* How many columns there are, nested ones included. */
size_t arrow_builder_count(const struct arrow_builder *b);
/* The column of the field with this pre-order number; stays valid as long as the builder. */
struct arrow_column *arrow_builder_column(struct arrow_builder *b, size_t field);

/* Takes the row in. -EINVAL when a column did not get exactly one value for it, -EFBIG when a text
 * column would hold more than INT32_MAX bytes or a list column as many items (Arrow's offsets have
 * 32 bits): then write the batch, clear, and put the row again; a row that alone is too large fails
 * so with an empty builder too. On failure the builder is as it was before the row's first put. */
int arrow_builder_end_row(struct arrow_builder *b, struct err *err);
/* Rows ended since the last clear. */
int64_t arrow_builder_rows(const struct arrow_builder *b);
/* Size of the batch's body as it would be written now. Walks all columns. */
size_t arrow_builder_bytes(const struct arrow_builder *b);
/* Forgets all rows, also one that was begun, and keeps the memory. */
void arrow_builder_clear(struct arrow_builder *b);

/* A null. A struct's children get a null each, recursively; a list's child gets nothing. */
void arrow_put_null(struct arrow_column *c);
/* Text; p NULL = null. Invalid UTF-8 is stored with U+FFFD for each bad byte. Copies. */
void arrow_put_text(struct arrow_column *c, const char *p, size_t n);

/* Wakes the column, and makes room for one more value. Only for the puts below. */
void arrow_column_grow(struct arrow_column *c);

/* The number of the next value, which is marked present. */
static inline size_t arrow_column_push(struct arrow_column *c)
{
    size_t i = c->len;

    if (__builtin_expect(i >= c->cap, 0))
        arrow_column_grow(c);
    if (c->null_count)
        c->validity[i / 8] = (uint8_t)(c->validity[i / 8] | 1u << i % 8);
    c->len = i + 1;
    return i;
}

/* Fetches what a row soon needs: hundreds of columns are too many streams for the processor to
 * foresee by itself. */
static inline void arrow_column_foresee(const struct arrow_column *c)
{
    __builtin_prefetch(&c->i64[c->len + 8], 1);
}

static inline void arrow_put_i64(struct arrow_column *c, int64_t value)
{
    assert(c->type == ARROW_INT64);
    size_t i = arrow_column_push(c);
    arrow_column_foresee(c);
    c->i64[i] = value;
}

/* NaN is a value like any other, not a null. */
static inline void arrow_put_f64(struct arrow_column *c, double value)
{
    assert(c->type == ARROW_FLOAT64);
    size_t i = arrow_column_push(c);
    arrow_column_foresee(c);
    c->f64[i] = value;
}

static inline void arrow_put_bool(struct arrow_column *c, bool value)
{
    assert(c->type == ARROW_BOOL);
    size_t i = arrow_column_push(c);
    c->bits[i / 8] = (uint8_t)(c->bits[i / 8] | (unsigned)value << i % 8);
}

/* A null in a column without children: most of a record is, and most of those columns sleep. */
static inline void arrow_put_null_leaf(struct arrow_column *c)
{
    if (__builtin_expect(c->cap > 0, 0))
        arrow_put_null(c);
    else
        c->len++;
}

/* A struct that is there; each child then gets one value. */
static inline void arrow_put_struct(struct arrow_column *c)
{
    assert(c->type == ARROW_STRUCT);
    arrow_column_push(c);
}

/* A list that is there; its child then gets `items` values. */
void arrow_put_list(struct arrow_column *c, size_t items);

/* A column's first child: the one behind it, when it has any (span > 1). Its next sibling, when
 * that is still below the parent. */
static inline struct arrow_column *arrow_column_child(struct arrow_column *c)
{
    return c + 1;
}

static inline struct arrow_column *arrow_column_sibling(struct arrow_column *c)
{
    return c + c->span;
}

/* How many of a column's values are null. */
static inline size_t arrow_column_nulls(const struct arrow_column *c)
{
    return c->cap == 0 ? c->len : c->null_count;
}

/* Whether value i of a column is. */
static inline bool arrow_column_is_null(const struct arrow_column *c, size_t i)
{
    return c->cap == 0 || (c->null_count && !(c->validity[i / 8] >> i % 8 & 1));
}

/*
 * For the writer: the columns in pre-order, and the buffers of one in the order of the format.
 */
struct arrow_buffer {
    const void *data; /* may be NULL when bytes is 0 */
    size_t bytes;
};

#define ARROW_SPANS_MAX 3

const struct arrow_column *arrow_builder_columns(const struct arrow_builder *b);
/* Whether a row was begun and not ended. */
bool arrow_builder_in_row(const struct arrow_builder *b);
/* Fills in the buffers, returns how many there are. */
size_t arrow_column_spans(const struct arrow_column *c, struct arrow_buffer spans[ARROW_SPANS_MAX]);

#endif
