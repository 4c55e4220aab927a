/*
 * The tree is built from yajl's callbacks: yajl is the fastest of Debian's C parsers, hands numbers
 * over as text (so that we decide what is exact) and validates UTF-8. Its own memory comes from the
 * doc's arena too: a parse of a small message calls malloc not at all once the arena is warm.
 */
#include "base/json.h"

#include "base/utf8.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

struct builder {
    struct arena *arena;
    struct json *root;
    struct json *open[JSON_DEPTH_MAX];  /* the containers around the next value */
    struct json **tail[JSON_DEPTH_MAX]; /* where their next element goes */
    int depth;
    const char *key; /* of the next value */
    size_t key_len;
    const char *refusal;
};

static int refuse(struct builder *b, const char *why)
{
    b->refusal = why;
    return 0; /* yajl stops */
}

static struct json *add_value(struct builder *b, enum json_type type)
{
    struct json *v = arena_alloc(b->arena, sizeof(*v));

    *v = (struct json){.type = type, .key = b->key, .key_len = b->key_len};
    b->key = NULL;
    b->key_len = 0;
    if (b->depth == 0) {
        b->root = v;
    } else {
        *b->tail[b->depth - 1] = v;
        b->tail[b->depth - 1] = &v->next;
        b->open[b->depth - 1]->len++;
    }
    return v;
}

static int on_null(void *ctx)
{
    add_value(ctx, JSON_NULL);
    return 1;
}

static int on_boolean(void *ctx, int value)
{
    add_value(ctx, JSON_BOOL)->boolean = value;
    return 1;
}

static int on_number(void *ctx, const char *text, size_t n)
{
    struct builder *b = ctx;
    const char *digits = arena_strndup(b->arena, text, n);
    double real;

    if (!strpbrk(digits, ".eE")) {
        long long integer;

        errno = 0;
        integer = strtoll(digits, NULL, 10);
        if (!errno) {
            add_value(b, JSON_INT)->integer = integer;
            return 1;
        }
    }
    real = strtod(digits, NULL);
    if (!isfinite(real))
        return refuse(b, "number too large");
    add_value(b, JSON_REAL)->real = real;
    return 1;
}

/* yajl lets overlong forms and surrogates pass. */
static bool is_text(struct builder *b, const unsigned char *text, size_t n)
{
    return utf8_valid((const char *)text, n) || refuse(b, "text that is not UTF-8");
}

static int on_string(void *ctx, const unsigned char *text, size_t n)
{
    struct builder *b = ctx;
    struct json *v = add_value(b, JSON_STRING);

    if (!is_text(b, text, n))
        return 0;
    v->len = n;
    v->text = arena_strndup(b->arena, (const char *)text, n);
    return 1;
}

static int on_key(void *ctx, const unsigned char *text, size_t n)
{
    struct builder *b = ctx;

    if (!is_text(b, text, n))
        return 0;
    b->key = arena_strndup(b->arena, (const char *)text, n);
    b->key_len = n;
    return 1;
}

static int open_container(struct builder *b, enum json_type type)
{
    struct json *v;

    if (b->depth == JSON_DEPTH_MAX)
        return refuse(b, "nested too deeply");
    v = add_value(b, type);
    b->open[b->depth] = v;
    b->tail[b->depth] = &v->child;
    b->depth++;
    return 1;
}

static int on_begin_object(void *ctx)
{
    return open_container(ctx, JSON_OBJECT);
}

static int on_begin_array(void *ctx)
{
    return open_container(ctx, JSON_ARRAY);
}

static int on_end(void *ctx)
{
    struct builder *b = ctx;

    b->depth--;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_begin_object,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_begin_array,
    .yajl_end_array = on_end,
};

/* yajl's memory. The size in front of each piece serves realloc. */
static void *arena_malloc(void *ctx, size_t size)
{
    size_t *p = arena_alloc(ctx, size + 16);

    *p = size;
    return (char *)p + 16;
}

static void *arena_realloc(void *ctx, void *old, size_t size)
{
    void *p = arena_malloc(ctx, size);

    if (old) {
        size_t old_size = *(size_t *)((char *)old - 16);

        memcpy(p, old, old_size < size ? old_size : size);
    }
    return p;
}

static void arena_free(void *ctx, void *p)
{
    (void)ctx;
    (void)p;
}

/* The first line of yajl's report says what; the rest draws the place, which may be huge. */
static int parse_error(struct err *err, yajl_handle y, const struct builder *b, yajl_status status,
                       const char *text, size_t n)
{
    size_t at = yajl_get_bytes_consumed(y);
    unsigned char *report;
    char reason[80] = "";

    if (b->refusal)
        return err_set(err, EINVAL, "not usable JSON at byte %zu: %s", at, b->refusal);
    if (status != yajl_status_error)
        return err_set(err, EINVAL, "JSON ends too early");
    report = yajl_get_error(y, 0, (const unsigned char *)text, n);
    if (report) {
        size_t len = strcspn((char *)report, "\n");

        if (len >= sizeof(reason))
            len = sizeof(reason) - 1;
        memcpy(reason, report, len);
        reason[len] = '\0';
    }
    yajl_free_error(y, report);
    return err_set(err, EINVAL, "not JSON at byte %zu: %s", at, reason);
}

/* The value of the escape \uXXXX at p, -1 when it is none. */
static int escaped_unit(const char *p, const char *end)
{
    int value = 0;

    if (end - p < 6 || p[0] != '\\' || p[1] != 'u')
        return -1;
    for (int i = 2; i < 6; i++) {
        int digit = isdigit((unsigned char)p[i]) ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10;

        if (!isxdigit((unsigned char)p[i]))
            return -1;
        value = value * 16 + digit;
    }
    return value;
}

/* yajl joins a high surrogate with whatever escape follows and writes '?' for a lone one. Halves
 * without their other half are made U+FFFD before it sees them: same length, so that positions in
 * messages stay right. */
static const char *mend_surrogates(struct arena *arena, const char *text, size_t n)
{
    const char *end = text + n;
    char *copy = NULL;

    if (!memmem(text, n, "\\ud", 3) && !memmem(text, n, "\\uD", 3))
        return text;
    for (const char *p = text; p < end; p++) {
        int unit = escaped_unit(p, end), next;

        if (*p != '\\')
            continue;
        next = escaped_unit(p + 6 < end ? p + 6 : end, end);
        if (unit >= 0xD800 && unit < 0xDC00 && next >= 0xDC00 && next < 0xE000) {
            p += 11;
        } else if (unit >= 0xD800 && unit < 0xE000) {
            copy = copy ? copy : arena_strndup(arena, text, n);
            memcpy(copy + (p - text), "\\ufffd", 6);
            p += 5;
        } else {
            p++; /* whatever is escaped, it is not a backslash that begins another escape */
        }
    }
    return copy ? copy : text;
}

int json_doc_parse(struct json_doc *doc, const char *text, size_t n, struct err *err)
{
    yajl_alloc_funcs memory = {arena_malloc, arena_realloc, arena_free, &doc->arena};
    struct builder b = {.arena = &doc->arena};
    yajl_handle y;
    yajl_status status;
    int r = 0;

    arena_reset(&doc->arena);
    doc->root = NULL;
    text = mend_surrogates(&doc->arena, text, n);
    y = yajl_alloc(&callbacks, &memory, &b);
    status = yajl_parse(y, (const unsigned char *)text, n);
    if (status == yajl_status_ok)
        status = yajl_complete_parse(y);
    if (status != yajl_status_ok || !b.root || b.depth)
        r = parse_error(err, y, &b, status, text, n);
    else
        doc->root = b.root;
    yajl_free(y);
    return r;
}

void json_doc_release(struct json_doc *doc)
{
    arena_release(&doc->arena);
    doc->root = NULL;
}

const struct json *json_first(const struct json *v)
{
    return v && (v->type == JSON_ARRAY || v->type == JSON_OBJECT) ? v->child : NULL;
}

const struct json *json_get(const struct json *v, const char *key)
{
    const struct json *found = NULL;

    if (!json_is(v, JSON_OBJECT))
        return NULL;
    JSON_FOREACH (item, v)
        if (strcmp(item->key, key) == 0)
            found = item;
    return found;
}

const struct json *json_path_to(const struct json *v, ...)
{
    const char *key;
    va_list ap;

    va_start(ap, v);
    while ((key = va_arg(ap, const char *)))
        v = json_get(v, key);
    va_end(ap);
    return v;
}

bool json_is(const struct json *v, enum json_type type)
{
    return v && v->type == type;
}

const char *json_text(const struct json *v, const char *fallback)
{
    return json_is(v, JSON_STRING) ? v->text : fallback;
}

int64_t json_int(const struct json *v, int64_t fallback)
{
    if (json_is(v, JSON_INT))
        return v->integer;
    if (json_is(v, JSON_REAL) && fabs(v->real) < 0x1p63 && v->real == floor(v->real))
        return (int64_t)v->real;
    return fallback;
}

double json_real(const struct json *v, double fallback)
{
    if (json_is(v, JSON_INT))
        return (double)v->integer;
    return json_is(v, JSON_REAL) ? v->real : fallback;
}

bool json_bool(const struct json *v, bool fallback)
{
    return json_is(v, JSON_BOOL) ? v->boolean : fallback;
}
