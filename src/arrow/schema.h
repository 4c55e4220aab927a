/*
 * schema: the types of an Arrow table, as a tree of fields.
 *
 * Built by code (the store's record) or by the reader (a file's schema message). The columns of a
 * table are the children of `root`, which is itself an ARROW_STRUCT field. Fields are numbered in
 * pre-order from 0, the first column; root has no number.
 *
 *     AUTO(arrow_schema) struct arrow_schema s = {0};
 *     arrow_schema_init(&s);
 *     struct arrow_field *req = arrow_field_add(&s.root, "request", ARROW_STRUCT);
 *     arrow_field_add(req, "index", ARROW_INT64);
 *     arrow_field_add(arrow_field_add(req, "reasons", ARROW_LIST), "item", ARROW_UTF8);
 *
 * A pointer to a field stays valid until a sibling is added. Children are added by the functions
 * below only, which know how much room an array of them has.
 */
#ifndef IPW_ARROW_SCHEMA_H
#define IPW_ARROW_SCHEMA_H

#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types by what a reader of values must know; what a writer of ours makes is marked W. */
enum arrow_type {
    ARROW_NULL, /* W */
    ARROW_BOOL, /* W */
    ARROW_INT8,
    ARROW_INT16,
    ARROW_INT32,
    ARROW_INT64, /* W */
    ARROW_UINT8,
    ARROW_UINT16,
    ARROW_UINT32,
    ARROW_UINT64,
    ARROW_FLOAT16,
    ARROW_FLOAT32,
    ARROW_FLOAT64, /* W */
    ARROW_UTF8,    /* W */
    ARROW_LARGE_UTF8,
    ARROW_UTF8_VIEW,
    ARROW_BINARY,
    ARROW_LARGE_BINARY,
    ARROW_BINARY_VIEW,
    ARROW_FIXED_BINARY, /* param: byte width */
    ARROW_DECIMAL,      /* param: byte width (4, 8, 16 or 32); precision, scale */
    ARROW_DATE32,
    ARROW_DATE64,
    ARROW_TIME32,    /* unit */
    ARROW_TIME64,    /* unit */
    ARROW_TIMESTAMP, /* unit, timezone */
    ARROW_DURATION,  /* unit */
    ARROW_STRUCT,    /* W */
    ARROW_LIST,      /* W */
    ARROW_LARGE_LIST,
    ARROW_FIXED_LIST /* param: items per list */
};

/* Limits of what is read, so that a value's text and a walk over the fields are bounded. */
#define ARROW_SCALE_MAX    128 /* of a decimal, either sign */
#define ARROW_TIMEZONE_MAX 64  /* bytes */
#define ARROW_DEPTH_MAX    64  /* levels of fields, the columns being the first */

enum arrow_unit { ARROW_SECOND, ARROW_MILLI, ARROW_MICRO, ARROW_NANO };

struct arrow_field {
    char *name;
    enum arrow_type type; /* of the values; of a dictionary-encoded column: of the dictionary */
    bool nullable;
    int32_t param;
    int32_t precision;
    int32_t scale;
    enum arrow_unit unit;
    char *timezone; /* NULL when the file gives none */
    /* Dictionary-encoded: the column holds indexes of this integer type into dictionary `id`. */
    bool is_dictionary;
    enum arrow_type index_type;
    int64_t dictionary_id;
    struct arrow_field *children;
    size_t n_children;
};

struct arrow_schema {
    struct arrow_field root;
    char *huggingface; /* schema metadata "huggingface": one-line JSON; NULL = none */
};

void arrow_schema_init(struct arrow_schema *s);
void arrow_schema_release(struct arrow_schema *s);

/* Appends a child (nullable) to a struct, list or the root and returns it. */
struct arrow_field *arrow_field_add(struct arrow_field *parent, const char *name,
                                    enum arrow_type type);
/* A deep copy of `from`, which is not below parent, as a new child of parent. */
struct arrow_field *arrow_field_copy(struct arrow_field *parent, const struct arrow_field *from);
/* Removes all children of a field. */
void arrow_field_drop_children(struct arrow_field *f);
/* The child of this name, NULL when there is none. */
const struct arrow_field *arrow_field_child(const struct arrow_field *parent, const char *name);
/* How many fields the tree below (and with) this one has. */
size_t arrow_field_count(const struct arrow_field *f);
/* Same names, types, order and nesting. */
bool arrow_field_equal(const struct arrow_field *a, const struct arrow_field *b);

/* The type in words: "string", "timestamp[us, tz=UTC]", "list"; a leaf's are those of HuggingFace.
 * Needs text of ARROW_TYPE_NAME_MAX bytes, but may return a constant. */
#define ARROW_TYPE_NAME_MAX 128
const char *arrow_type_name(const struct arrow_field *f, char text[ARROW_TYPE_NAME_MAX]);

/* Writes the HuggingFace "features" object of the schema as a member `key`. A list is written in
 * the old spelling [T], which every version of that library reads (the new one is refused by those
 * before 4.0). Fixed-width binary and decimal, whose names the tree cannot spell, get dtype null.
 */
void arrow_features_json(const struct arrow_schema *s, struct json_writer *w, const char *key);
/* Sets `huggingface` to {"info": {"features": ...}} for the fields as they are now. */
void arrow_schema_describe(struct arrow_schema *s);

#endif
