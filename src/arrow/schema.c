#include "arrow/schema.h"

#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void arrow_schema_init(struct arrow_schema *s)
{
    *s = (struct arrow_schema){.root = {.name = xstrdup(""), .type = ARROW_STRUCT}};
}

static void field_release(struct arrow_field *f)
{
    arrow_field_drop_children(f);
    free(f->name);
    free(f->timezone);
}

void arrow_field_drop_children(struct arrow_field *f)
{
    for (size_t i = 0; i < f->n_children; i++)
        field_release(&f->children[i]);
    free(f->children);
    f->children = NULL;
    f->n_children = 0;
}

void arrow_schema_release(struct arrow_schema *s)
{
    field_release(&s->root);
    free(s->huggingface);
    *s = (struct arrow_schema){0};
}

struct arrow_field *arrow_field_add(struct arrow_field *parent, const char *name,
                                    enum arrow_type type)
{
    size_t n = parent->n_children;
    struct arrow_field *f;

    /* room doubles whenever n reaches a power of two: a file may have very many fields */
    if ((n & (n - 1)) == 0)
        parent->children = xreallocarray(parent->children, n ? 2 * n : 1, sizeof(*f));
    f = &parent->children[parent->n_children++];
    *f = (struct arrow_field){.name = xstrdup(name), .type = type, .nullable = true};
    return f;
}

struct arrow_field *arrow_field_copy(struct arrow_field *parent, const struct arrow_field *from)
{
    struct arrow_field *f = arrow_field_add(parent, from->name, from->type);

    f->nullable = from->nullable;
    f->param = from->param;
    f->precision = from->precision;
    f->scale = from->scale;
    f->unit = from->unit;
    f->timezone = from->timezone ? xstrdup(from->timezone) : NULL;
    f->is_dictionary = from->is_dictionary;
    f->index_type = from->index_type;
    f->dictionary_id = from->dictionary_id;
    for (size_t i = 0; i < from->n_children; i++)
        arrow_field_copy(f, &from->children[i]);
    return f;
}

const struct arrow_field *arrow_field_child(const struct arrow_field *parent, const char *name)
{
    for (size_t i = 0; i < parent->n_children; i++)
        if (strcmp(parent->children[i].name, name) == 0)
            return &parent->children[i];
    return NULL;
}

size_t arrow_field_count(const struct arrow_field *f)
{
    size_t count = 1;

    for (size_t i = 0; i < f->n_children; i++)
        count += arrow_field_count(&f->children[i]);
    return count;
}

bool arrow_field_equal(const struct arrow_field *a, const struct arrow_field *b)
{
    if (a->type != b->type || strcmp(a->name, b->name) != 0 || a->n_children != b->n_children ||
        a->param != b->param || a->precision != b->precision || a->scale != b->scale ||
        a->unit != b->unit || a->is_dictionary != b->is_dictionary)
        return false;
    if (strcmp(a->timezone ? a->timezone : "", b->timezone ? b->timezone : "") != 0)
        return false;
    for (size_t i = 0; i < a->n_children; i++)
        if (!arrow_field_equal(&a->children[i], &b->children[i]))
            return false;
    return true;
}

const char *arrow_type_name(const struct arrow_field *f, char text[ARROW_TYPE_NAME_MAX])
{
    static const char *const plain[] = {
        [ARROW_NULL] = "null",
        [ARROW_BOOL] = "bool",
        [ARROW_INT8] = "int8",
        [ARROW_INT16] = "int16",
        [ARROW_INT32] = "int32",
        [ARROW_INT64] = "int64",
        [ARROW_UINT8] = "uint8",
        [ARROW_UINT16] = "uint16",
        [ARROW_UINT32] = "uint32",
        [ARROW_UINT64] = "uint64",
        [ARROW_FLOAT16] = "float16",
        [ARROW_FLOAT32] = "float32",
        [ARROW_FLOAT64] = "float64",
        [ARROW_UTF8] = "string",
        [ARROW_LARGE_UTF8] = "large_string",
        [ARROW_UTF8_VIEW] = "string_view",
        [ARROW_BINARY] = "binary",
        [ARROW_LARGE_BINARY] = "large_binary",
        [ARROW_BINARY_VIEW] = "binary_view",
        [ARROW_DATE32] = "date32",
        [ARROW_DATE64] = "date64",
        [ARROW_STRUCT] = "struct",
        [ARROW_LIST] = "list",
        [ARROW_LARGE_LIST] = "large_list",
    };
    static const char *const units[] = {"s", "ms", "us", "ns"};
    const size_t size = ARROW_TYPE_NAME_MAX;

    switch (f->type) {
    case ARROW_TIME32:
    case ARROW_TIME64:
        snprintf(text, size, "time%d[%s]", f->type == ARROW_TIME32 ? 32 : 64, units[f->unit]);
        return text;
    case ARROW_TIMESTAMP:
        if (f->timezone)
            snprintf(text, size, "timestamp[%s, tz=%s]", units[f->unit], f->timezone);
        else
            snprintf(text, size, "timestamp[%s]", units[f->unit]);
        return text;
    case ARROW_DURATION:
        snprintf(text, size, "duration[%s]", units[f->unit]);
        return text;
    case ARROW_DECIMAL:
        snprintf(text, size, "decimal%d(%d, %d)", f->param * 8, f->precision, f->scale);
        return text;
    case ARROW_FIXED_BINARY:
        snprintf(text, size, "fixed_size_binary[%d]", f->param);
        return text;
    case ARROW_FIXED_LIST:
        snprintf(text, size, "fixed_size_list[%d]", f->param);
        return text;
    default:
        return plain[f->type];
    }
}

static void feature_json(const struct arrow_field *f, struct json_writer *w, const char *key)
{
    char text[ARROW_TYPE_NAME_MAX];

    switch (f->type) {
    case ARROW_STRUCT:
        jw_begin_object(w, key);
        for (size_t i = 0; i < f->n_children; i++)
            feature_json(&f->children[i], w, f->children[i].name);
        jw_end_object(w);
        break;
    case ARROW_LIST:
    case ARROW_LARGE_LIST:
    case ARROW_FIXED_LIST:
        jw_begin_array(w, key);
        for (size_t i = 0; i < f->n_children; i++)
            feature_json(&f->children[i], w, NULL);
        jw_end_array(w);
        break;
    default:
        jw_begin_object(w, key);
        jw_text(w, "dtype", arrow_type_name(f, text));
        jw_text(w, "_type", "Value");
        jw_end_object(w);
        break;
    }
}

void arrow_features_json(const struct arrow_schema *s, struct json_writer *w, const char *key)
{
    feature_json(&s->root, w, key);
}

void arrow_schema_describe(struct arrow_schema *s)
{
    struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_SPACED);

    w.ascii = true;
    jw_begin_object(&w, NULL);
    jw_begin_object(&w, "info");
    arrow_features_json(s, &w, "features");
    jw_end_object(&w);
    jw_end_object(&w);
    free(s->huggingface);
    s->huggingface = buf_take(&text);
}
