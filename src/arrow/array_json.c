/*
 * A value as JSON, whatever its type. Recursion follows the schema, whose depth the reader bounds.
 */
#include "arrow/array.h"

#include "arrow/bytes.h"
#include "base/cleanup.h"

#include <string.h>

static void base64_json(struct json_writer *w, const char *key, const char *bytes, size_t n)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);

    /* what cannot fit is not worth encoding: the writer's buf refuses it below */
    if (n / 3 > w->out->max / 4) {
        w->out->failed = true;
        return;
    }
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t group = (uint32_t)load_u8(bytes + i) << 16;
        char quad[4];

        if (left > 1)
            group |= (uint32_t)load_u8(bytes + i + 1) << 8;
        if (left > 2)
            group |= load_u8(bytes + i + 2);
        for (int k = 0; k < 4; k++)
            quad[k] = alphabet[group >> (18 - 6 * k) & 63];
        if (left < 3)
            quad[3] = '=';
        if (left < 2)
            quad[2] = '=';
        buf_add(&text, quad, 4);
    }
    jw_textn(w, key, buf_str(&text), text.len);
}

static void list_json(const struct arrow_array *a, int64_t i, struct json_writer *w,
                      const char *key)
{
    int64_t start, count;

    arrow_list(a, i, &start, &count);
    jw_begin_array(w, key);
    for (int64_t k = 0; k < count && !w->out->failed; k++)
        arrow_value_json(&a->children[0], start + k, w, NULL);
    jw_end_array(w);
}

static void struct_json(const struct arrow_array *a, int64_t i, struct json_writer *w,
                        const char *key)
{
    jw_begin_object(w, key);
    for (size_t k = 0; k < a->n_children && !w->out->failed; k++)
        arrow_value_json(&a->children[k], i, w, a->children[k].field->name);
    jw_end_object(w);
}

static void uint64_json(const struct arrow_array *a, int64_t i, struct json_writer *w,
                        const char *key)
{
    if (a->dictionary)
        a = arrow_dictionary_at(a->dictionary, arrow_index(a, i), &i);
    jw_uint(w, key, load_u64(a->values + i * 8));
}

void arrow_value_json(const struct arrow_array *a, int64_t i, struct json_writer *w,
                      const char *key)
{
    char text[ARROW_TEXT_MAX];
    const char *bytes;
    size_t n;

    if (arrow_is_null(a, i)) {
        jw_null(w, key);
        return;
    }
    switch (a->field->type) {
    case ARROW_NULL: /* was null above */
        break;
    case ARROW_BOOL:
        jw_bool(w, key, arrow_bool(a, i, false));
        break;
    case ARROW_INT8:
    case ARROW_INT16:
    case ARROW_INT32:
    case ARROW_INT64:
    case ARROW_UINT8:
    case ARROW_UINT16:
    case ARROW_UINT32:
        jw_int(w, key, arrow_i64(a, i, 0));
        break;
    case ARROW_UINT64:
        uint64_json(a, i, w, key);
        break;
    case ARROW_FLOAT16:
    case ARROW_FLOAT32:
    case ARROW_FLOAT64:
        jw_real(w, key, arrow_f64(a, i));
        break;
    case ARROW_UTF8:
    case ARROW_LARGE_UTF8:
    case ARROW_UTF8_VIEW:
        if (arrow_bytes(a, i, &bytes, &n))
            jw_textn(w, key, bytes, n);
        break;
    case ARROW_BINARY:
    case ARROW_LARGE_BINARY:
    case ARROW_BINARY_VIEW:
    case ARROW_FIXED_BINARY:
        if (arrow_bytes(a, i, &bytes, &n))
            base64_json(w, key, bytes, n);
        break;
    case ARROW_DECIMAL:
    case ARROW_DATE32:
    case ARROW_DATE64:
    case ARROW_TIME32:
    case ARROW_TIME64:
    case ARROW_TIMESTAMP:
    case ARROW_DURATION:
        jw_textn(w, key, text, arrow_format(a, i, text));
        break;
    case ARROW_STRUCT:
        struct_json(a, i, w, key);
        break;
    case ARROW_LIST:
    case ARROW_LARGE_LIST:
    case ARROW_FIXED_LIST:
        list_json(a, i, w, key);
        break;
    }
}
