/*
 * json: documents read into a tree, and written.
 *
 * Reading is exact: whole numbers of 64 bits stay whole, other numbers are the nearest double,
 * text is valid UTF-8 (an escaped lone surrogate becomes U+FFFD), nesting is at most
 * JSON_DEPTH_MAX, of two equal keys the last counts. A doc can be parsed into again and again
 * without allocating:
 *
 *     AUTO(json_doc) struct json_doc doc = {0};
 *     while (next_line(&line, &n))
 *         if (json_doc_parse(&doc, line, n, &err) == 0)
 *             text = json_text(json_get(doc.root, "response"), "");
 *
 * The tree belongs to the doc and is gone at its next parse. The getters accept NULL and a value of
 * the wrong type, and then give the fallback: a chain of lookups needs one check at its end.
 */
#ifndef IPW_BASE_JSON_H
#define IPW_BASE_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JSON_DEPTH_MAX 128

enum json_type {
    JSON_NULL,
    JSON_BOOL,
    JSON_INT,  /* a whole number that fits int64 */
    JSON_REAL, /* any other number */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

struct json {
    enum json_type type;
    union {
        bool boolean;
        int64_t integer;
        double real;
        size_t len; /* bytes of a string; elements of an array or object */
    };
    union {
        const char *text;   /* string: NUL behind it, may contain NULs */
        struct json *child; /* array, object: the first element */
    };
    const char *key; /* in an object; NUL-terminated */
    size_t key_len;
    struct json *next; /* the next element of the same array or object */
};

struct json_doc {
    struct json *root; /* NULL before the first successful parse */
    struct arena arena;
};

#define JSON_FOREACH(item, container) \
    for (const struct json *item = json_first(container); item; item = item->next)

/* Parses exactly one document; blanks around it are allowed. On failure root is NULL and the words
 * give the byte. */
int json_doc_parse(struct json_doc *doc, const char *text, size_t n, struct err *err);
void json_doc_release(struct json_doc *doc);

/* The first element of an array or object, else NULL. */
const struct json *json_first(const struct json *v);
/* A member of an object, else NULL. */
const struct json *json_get(const struct json *v, const char *key);
/* Members of members: json_path(v, "usage", "prompt_tokens_details", "cached_tokens"). */
#define json_path(v, ...) json_path_to(v, __VA_ARGS__, (const char *)NULL)
const struct json *json_path_to(const struct json *v, ...) __attribute__((sentinel));
bool json_is(const struct json *v, enum json_type type);
const char *json_text(const struct json *v, const char *fallback);
/* JSON_INT, or a JSON_REAL without a fraction. */
int64_t json_int(const struct json *v, int64_t fallback);
double json_real(const struct json *v, double fallback);
bool json_bool(const struct json *v, bool fallback);

/*
 * Writing: values go to a buf in the order of the calls; the writer puts the separators.
 *
 *     struct json_writer w = json_writer(&out, JSON_PRETTY);
 *     jw_begin_object(&w, NULL);
 *     jw_int(&w, "queries", 12);
 *     jw_real(&w, "joules", NAN);         not finite: null
 *     jw_end_object(&w);
 *
 * `key` is NULL in an array and at the top. Text that is not valid UTF-8 is written with U+FFFD for
 * the bad bytes.
 */
enum json_style {
    JSON_LINE,   /* {"a":1,"b":[2]}                 one line, for the wire and for .jsonl */
    JSON_SPACED, /* {"a": 1, "b": [2]}              as Python's json.dumps */
    JSON_PRETTY  /* indented by two spaces          as json.dumps(indent=2) */
};

struct json_writer {
    struct buf *out;
    enum json_style style;
    bool ascii; /* \uXXXX for everything beyond ASCII, as Python does by default */
    bool first; /* nothing in the open container yet */
    int depth;
};

struct json_writer json_writer(struct buf *out, enum json_style style);
void jw_begin_object(struct json_writer *w, const char *key);
void jw_end_object(struct json_writer *w);
void jw_begin_array(struct json_writer *w, const char *key);
void jw_end_array(struct json_writer *w);
void jw_null(struct json_writer *w, const char *key);
void jw_bool(struct json_writer *w, const char *key, bool value);
void jw_int(struct json_writer *w, const char *key, int64_t value);
/* Exact beyond int64 too; our parser gives such a number back as the nearest double. */
void jw_uint(struct json_writer *w, const char *key, uint64_t value);
void jw_real(struct json_writer *w, const char *key, double value);
/* text NULL: null. */
void jw_text(struct json_writer *w, const char *key, const char *text);
void jw_textn(struct json_writer *w, const char *key, const char *text, size_t n);
/* A parsed value, whole. NULL: null. */
void jw_value(struct json_writer *w, const char *key, const struct json *value);

#endif
