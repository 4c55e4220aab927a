/*
 * The types form a ladder: null, then a type, then (for int64) float64, then utf8, which holds
 * anything. Merging a value only ever climbs it, so one pass over the rows in any order gives the
 * types that hold them all.
 *
 * Members come in the same order in almost every row: the search for a key's field begins behind
 * the field of the key before, and mostly ends there.
 */
#include "arrow/infer.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static void become_text(struct arrow_field *f)
{
    arrow_field_drop_children(f);
    f->type = ARROW_UTF8;
}

/* The field's type after a value of this type, when that is not what it was. */
static void merge_type(struct arrow_field *f, enum arrow_type type)
{
    bool number = type == ARROW_INT64 || type == ARROW_FLOAT64;

    if (f->type == type)
        return;
    if (f->type == ARROW_NULL)
        f->type = type;
    else if (number && (f->type == ARROW_INT64 || f->type == ARROW_FLOAT64))
        f->type = ARROW_FLOAT64;
    else
        become_text(f);
}

/* The child of this name, from *hint on and around; NULL when there is none. Moves the hint. */
static struct arrow_field *find_child(struct arrow_field *f, const char *name, size_t *hint)
{
    for (size_t n = 0; n < f->n_children; n++) {
        size_t i = (*hint + n) % f->n_children;

        if (strcmp(f->children[i].name, name) == 0) {
            *hint = i + 1;
            return &f->children[i];
        }
    }
    return NULL;
}

/* A new child, NULL when there are too many fields below top. */
static struct arrow_field *add_child(const struct arrow_field *top, struct arrow_field *f,
                                     const char *name)
{
    if (arrow_field_count(top) > ARROW_INFER_FIELDS_MAX)
        return NULL;
    return arrow_field_add(f, name, ARROW_NULL);
}

static void merge_value(const struct arrow_field *top, struct arrow_field *f, const struct json *v,
                        int depth);

/* False when there would be too many fields. */
static bool merge_members(const struct arrow_field *top, struct arrow_field *f,
                          const struct json *v, int depth)
{
    size_t hint = 0;

    JSON_FOREACH (item, v) {
        struct arrow_field *child = find_child(f, item->key, &hint);

        if (!child) {
            child = add_child(top, f, item->key);
            hint = f->n_children;
        }
        if (!child)
            return false;
        merge_value(top, child, item, depth + 1);
    }
    return true;
}

static bool merge_elements(const struct arrow_field *top, struct arrow_field *f,
                           const struct json *v, int depth)
{
    if (f->n_children == 0 && !add_child(top, f, "item"))
        return false;
    JSON_FOREACH (item, v)
        merge_value(top, &f->children[0], item, depth + 1);
    return true;
}

static void merge_value(const struct arrow_field *top, struct arrow_field *f, const struct json *v,
                        int depth)
{
    static const enum arrow_type types[] = {
        [JSON_BOOL] = ARROW_BOOL,   [JSON_INT] = ARROW_INT64,  [JSON_REAL] = ARROW_FLOAT64,
        [JSON_STRING] = ARROW_UTF8, [JSON_ARRAY] = ARROW_LIST, [JSON_OBJECT] = ARROW_STRUCT,
    };
    bool nested = v->type == JSON_ARRAY || v->type == JSON_OBJECT;
    bool fits = true;

    if (v->type == JSON_NULL)
        return;
    merge_type(f, nested && depth >= ARROW_INFER_DEPTH_MAX ? ARROW_UTF8 : types[v->type]);
    if (f->type == ARROW_LIST)
        fits = merge_elements(top, f, v, depth);
    else if (f->type == ARROW_STRUCT)
        fits = merge_members(top, f, v, depth);
    if (!fits)
        become_text(f);
}

int arrow_infer_add(struct arrow_field *parent, const struct json *object, struct err *err)
{
    if (!json_is(object, JSON_OBJECT))
        return err_set(err, EINVAL, "a row is not a JSON object");
    if (!merge_members(parent, parent, object, 0))
        return err_set(err, E2BIG, "more than %d fields", ARROW_INFER_FIELDS_MAX);
    return 0;
}

static void put_as_text(struct arrow_column *c, const struct json *v)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_LINE);

    if (v->type == JSON_STRING) {
        arrow_put_text(c, v->text, v->len);
    } else {
        jw_value(&w, NULL, v);
        arrow_put_text(c, text.data, text.len);
    }
}

/* The column of this name among the siblings [first, end), searched from `at` on and around; `end`
 * when there is none. */
static struct arrow_column *find_column(struct arrow_column *first, struct arrow_column *end,
                                        struct arrow_column *at, const char *name)
{
    for (struct arrow_column *c = at; c < end; c = arrow_column_sibling(c))
        if (strcmp(c->rest->name, name) == 0)
            return c;
    for (struct arrow_column *c = first; c < at; c = arrow_column_sibling(c))
        if (strcmp(c->rest->name, name) == 0)
            return c;
    return end;
}

/* Each member into the column of its name among the siblings [first, end), nulls into the others.
 * The columns note their member first, since it may come in any place and more than once. */
static bool put_members(struct arrow_column *first, struct arrow_column *end, const struct json *v)
{
    struct arrow_column *at = first;
    bool whole = true;

    for (struct arrow_column *c = first; c < end; c = arrow_column_sibling(c))
        c->rest->member = NULL;
    JSON_FOREACH (item, v) {
        struct arrow_column *c = find_column(first, end, at, item->key);

        if (c == end) {
            whole = false;
            continue;
        }
        c->rest->member = item;
        at = arrow_column_sibling(c);
    }
    for (struct arrow_column *c = first; c < end; c = arrow_column_sibling(c))
        whole = arrow_put_json(c, c->rest->member) && whole;
    return whole;
}

static bool put_elements(struct arrow_column *c, const struct json *v)
{
    bool whole = true;

    arrow_put_list(c, v->len);
    JSON_FOREACH (item, v)
        whole = arrow_put_json(arrow_column_child(c), item) && whole;
    return whole;
}

/* False when the type cannot hold it; then nothing was put. */
static bool put_scalar(struct arrow_column *c, const struct json *v)
{
    if (c->type == ARROW_BOOL && v->type == JSON_BOOL)
        arrow_put_bool(c, v->boolean);
    else if (c->type == ARROW_INT64 && v->type == JSON_INT)
        arrow_put_i64(c, v->integer);
    else if (c->type == ARROW_FLOAT64 && (v->type == JSON_INT || v->type == JSON_REAL))
        arrow_put_f64(c, json_real(v, 0));
    else if (c->type == ARROW_UTF8)
        put_as_text(c, v);
    else
        return false;
    return true;
}

bool arrow_put_json(struct arrow_column *c, const struct json *v)
{
    if (!v || v->type == JSON_NULL) {
        arrow_put_null(c);
        return true;
    }
    if (c->type == ARROW_LIST && v->type == JSON_ARRAY)
        return put_elements(c, v);
    if (c->type == ARROW_STRUCT && v->type == JSON_OBJECT) {
        arrow_put_struct(c);
        return put_members(arrow_column_child(c), c + c->span, v);
    }
    if (put_scalar(c, v))
        return true;
    arrow_put_null(c);
    return false;
}

bool arrow_put_json_row(struct arrow_builder *b, const struct json *object)
{
    size_t n = arrow_builder_count(b);
    struct arrow_column *first;

    if (n == 0)
        return json_is(object, JSON_OBJECT) && object->len == 0;
    first = arrow_builder_column(b, 0);
    if (json_is(object, JSON_OBJECT))
        return put_members(first, first + n, object);
    put_members(first, first + n, NULL);
    return false;
}
