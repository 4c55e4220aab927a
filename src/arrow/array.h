/*
 * array: the values of a column.
 *
 * What the reader hands out: one arrow_array per field, in the shape of the schema, over the bytes
 * of the file. A record batch is an array of type struct whose children are the columns:
 *
 *     const struct arrow_array *problem = arrow_child(batch, "problem");
 *     const struct arrow_array *usage = arrow_child(arrow_child(batch, "metrics"), "usage");
 *     for (int64_t i = 0; i < batch->length; i++)
 *         if (arrow_text(problem, i, &text, &n))
 *             printf("%.*s %f\n", (int)n, text, arrow_f64(usage, i));
 *
 * The accessors accept NULL for the array, an index out of range and a value of another type, and
 * then say "null" or give the fallback, so a chain of lookups needs one check at its end. Where the
 * format encodes a column by a dictionary they look the value up. They never write and may be
 * called by several threads on one batch; text and arrays live as long as the batch.
 *
 * Everything an accessor relies on (offsets in order and in range, indexes within their
 * dictionary, UTF-8) was checked by the reader when it loaded the batch.
 */
#ifndef IPW_ARROW_ARRAY_H
#define IPW_ARROW_ARRAY_H

#include "arrow/schema.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arrow_span {
    const uint8_t *data;
    size_t size;
};

struct arrow_dictionary;

struct arrow_array {
    const struct arrow_field *field;
    const struct arrow_array *parent; /* the struct or list around it; NULL = it is a batch */
    /* The nearest struct around it that has nulls: where that one is null, so is this. */
    const struct arrow_array *mask;
    int64_t length;
    int64_t null_count;      /* of its own; structs around it may hide more */
    bool all_null;           /* type null, or a column that this shard does not have: no buffers */
    enum arrow_type storage; /* what `values` holds: the field's type, or the dictionary's index */
    /* The buffers; NULL where the type has none or the array is empty. Not aligned. */
    const uint8_t *validity; /* one bit per value, 1 = valid; NULL = all are */
    const uint8_t *offsets;  /* length + 1 of them */
    const uint8_t *values;   /* numbers, bits, text bytes, views, or indexes of a dictionary */
    const struct arrow_span *view_buffers;     /* of a view type: where long values lie */
    const struct arrow_dictionary *dictionary; /* not NULL: values are indexes into it */
    struct arrow_array *children;
    size_t n_children;
};

/* The values of dictionary-encoded columns. Later parts are deltas; part k holds the indexes from
 * starts[k] on. */
struct arrow_dictionary {
    struct arrow_array **parts;
    int64_t *starts;
    size_t n_parts;
    int64_t length; /* of all parts together */
};

/* The value itself is null, or what it stands for in the dictionary, or a struct around it. */
bool arrow_is_null(const struct arrow_array *a, int64_t i);

/* A whole number: any integer type that fits, a float without a fraction, and the raw count of a
 * date, time, timestamp or duration in the field's unit. */
int64_t arrow_i64(const struct arrow_array *a, int64_t i, int64_t fallback);
/* Any integer, float or decimal as the nearest double; NAN when null or not a number. */
double arrow_f64(const struct arrow_array *a, int64_t i);
bool arrow_bool(const struct arrow_array *a, int64_t i, bool fallback);

/* Text of the utf8 types, valid UTF-8, not NUL-terminated. false = null or not text. */
bool arrow_text(const struct arrow_array *a, int64_t i, const char **ret, size_t *ret_n);
/* The bytes of text or of a binary type. */
bool arrow_bytes(const struct arrow_array *a, int64_t i, const char **ret, size_t *ret_n);

/* The items of list i: *ret_count values of a->children[0] from *ret_start on. A null list, and
 * what is no list, has none. */
void arrow_list(const struct arrow_array *a, int64_t i, int64_t *ret_start, int64_t *ret_count);

/* The child of a struct (or column of a batch) by name; of several equal names the first. NULL when
 * there is none. */
const struct arrow_array *arrow_child(const struct arrow_array *a, const char *name);

/* Room for any value of a temporal or decimal type as text. */
#define ARROW_TEXT_MAX 256

/*
 * A temporal or decimal value as text of *at most* ARROW_TEXT_MAX bytes. Returns its length, 0 when
 * null or another type. ISO 8601, with as many decimals as the unit has (0, 3, 6 or 9):
 *   date       2024-01-31                     years beyond 9999: +12024-01-31, before 0:
 * -0044-03-15 time       23:59:59.123 timestamp  2024-01-31T23:59:59.123456     no time zone in the
 * schema: as it stands 2024-01-31T23:59:59.123456Z    zone UTC 2024-01-31T23:59:59Z[Asia/Tokyo]
 * another zone: the instant in UTC, and its name duration   PT90.500S, -PT0.001S decimal    -12.50
 * with all its decimals; 12E+3 when the scale is negative
 */
size_t arrow_format(const struct arrow_array *a, int64_t i, char text[ARROW_TEXT_MAX]);

/*
 * Any value as JSON: numbers exactly (64-bit integers with all digits), NaN and infinities as null,
 * binary as base64 text (RFC 4648, padded), temporal and decimal as arrow_format writes them,
 * structs as objects with every member, lists as arrays. Stops early once the writer's buf is full.
 */
void arrow_value_json(const struct arrow_array *a, int64_t i, struct json_writer *w,
                      const char *key);

/* Where value i of a dictionary lies: the part, and the index in it. */
const struct arrow_array *arrow_dictionary_at(const struct arrow_dictionary *d, int64_t i,
                                              int64_t *ret_i);
/* The index that a dictionary-encoded array holds at i, -1 when it does not fit an int64. The
 * reader's check of indexes uses it; accessors follow it. */
int64_t arrow_index(const struct arrow_array *a, int64_t i);

#endif
