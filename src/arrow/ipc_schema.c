/*
 * The schema message: a tree of Field tables, turned into our tree of fields.
 *
 * A flatbuffer may refer to one table from many places, so a few hundred bytes can describe more
 * fields than any memory holds. Honest writers give each field its own table, which takes at least
 * FIELD_BYTES_MIN bytes: that bounds how many fields the metadata may have, and how much text.
 */
#include "arrow/ipc.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_BYTES_MIN 16
/* Names and zones may be shared by several fields, within reason. */
#define TEXT_PER_BYTE 4

/* Type ids of the format that we read, and the names of those we do not. */
enum {
    TYPE_NULL = 1,
    TYPE_INT,
    TYPE_FLOAT,
    TYPE_BINARY,
    TYPE_UTF8,
    TYPE_BOOL,
    TYPE_DECIMAL,
    TYPE_DATE,
    TYPE_TIME,
    TYPE_TIMESTAMP,
    TYPE_INTERVAL,
    TYPE_LIST,
    TYPE_STRUCT,
    TYPE_UNION,
    TYPE_FIXED_BINARY,
    TYPE_FIXED_LIST,
    TYPE_MAP,
    TYPE_DURATION,
    TYPE_LARGE_BINARY,
    TYPE_LARGE_UTF8,
    TYPE_LARGE_LIST,
    TYPE_RUN_END,
    TYPE_BINARY_VIEW,
    TYPE_UTF8_VIEW,
    TYPE_LIST_VIEW,
    TYPE_LARGE_LIST_VIEW
};

struct schema_reader {
    struct ipc_stream *s;
    struct ipc_message *m;
    struct err *err;
    size_t fields_left;
    size_t text_left;
    int depth;
    /* the fields from the column down to the one being read, for messages */
    const struct arrow_field *path[ARROW_DEPTH_MAX + 1];
};

static int fail_at(const struct schema_reader *r, const struct fb_table *t, const char *words)
{
    return ipc_fail(r->s, r->m->meta + t->pos, r->err, "%s", words);
}

/* "column 'a.b'" */
static const char *column_name(const struct schema_reader *r, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "column '");

    for (int i = 0; i < r->depth && n < size; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%s", i ? "." : "", r->path[i]->name);
    if (n < size - 2)
        snprintf(text + n, size - n, "'");
    else
        memcpy(text + size - 5, "...'", 5);
    return text;
}

static int fail_column(const struct schema_reader *r, const struct fb_table *t, int code,
                       const char *words)
{
    char column[100];

    ipc_fail(r->s, r->m->meta + t->pos, r->err, "%s: %s", column_name(r, column, sizeof(column)),
             words);
    if (r->err)
        r->err->code = -code;
    return -code;
}

/* A copy of a string field that must be UTF-8 without NULs; NULL when it is absent. */
static int read_text(struct schema_reader *r, const struct fb_table *t, unsigned id, char **ret)
{
    size_t n = 0;
    const char *text = fb_string(t, id, &n);

    if (r->m->fb.problem)
        return ipc_fail_fb(r->s, r->m, r->err);
    if (text && (memchr(text, 0, n) || !utf8_valid(text, n)))
        return fail_at(r, t, "a name in the schema is not UTF-8 text");
    if (n > r->text_left)
        return fail_at(r, t, "the schema's names are longer than the schema");
    r->text_left -= n;
    *ret = text ? xstrndup(text, n) : NULL;
    return 0;
}

static int read_int(struct schema_reader *r, const struct fb_table *type, enum arrow_type *ret)
{
    bool is_signed = fb_bool(type, 1, false);

    switch (fb_int(type, 0, 4, 0)) {
    case 8:
        *ret = is_signed ? ARROW_INT8 : ARROW_UINT8;
        return 0;
    case 16:
        *ret = is_signed ? ARROW_INT16 : ARROW_UINT16;
        return 0;
    case 32:
        *ret = is_signed ? ARROW_INT32 : ARROW_UINT32;
        return 0;
    case 64:
        *ret = is_signed ? ARROW_INT64 : ARROW_UINT64;
        return 0;
    default:
        return fail_column(r, type, EBADMSG, "an integer of impossible width");
    }
}

static int read_unit(struct schema_reader *r, const struct fb_table *type, int64_t unit,
                     struct arrow_field *f)
{
    if (unit < ARROW_SECOND || unit > ARROW_NANO)
        return fail_column(r, type, EBADMSG, "an unknown unit of time");
    f->unit = (enum arrow_unit)unit;
    return 0;
}

static int read_decimal(struct schema_reader *r, const struct fb_table *type, struct arrow_field *f)
{
    int64_t precision = fb_int(type, 0, 4, 0), scale = fb_int(type, 1, 4, 0);
    int64_t bits = fb_int(type, 2, 4, 128);

    if ((bits != 32 && bits != 64 && bits != 128 && bits != 256) || scale < -ARROW_SCALE_MAX ||
        scale > ARROW_SCALE_MAX)
        return fail_column(r, type, EBADMSG, "a decimal of impossible width or scale");
    f->type = ARROW_DECIMAL;
    f->param = (int32_t)bits / 8;
    f->precision = (int32_t)precision;
    f->scale = (int32_t)scale;
    return 0;
}

static int read_time(struct schema_reader *r, const struct fb_table *type, struct arrow_field *f)
{
    int64_t unit = fb_int(type, 0, 2, ARROW_MILLI), bits = fb_int(type, 1, 4, 32);
    bool is_coarse = unit == ARROW_SECOND || unit == ARROW_MILLI;

    if (bits != (is_coarse ? 32 : 64))
        return fail_column(r, type, EBADMSG, "a time of impossible width");
    f->type = bits == 32 ? ARROW_TIME32 : ARROW_TIME64;
    return read_unit(r, type, unit, f);
}

static int read_date(struct schema_reader *r, const struct fb_table *type, struct arrow_field *f)
{
    int64_t unit = fb_int(type, 0, 2, 1);

    if (unit != 0 && unit != 1)
        return fail_column(r, type, EBADMSG, "an unknown unit of dates");
    f->type = unit == 0 ? ARROW_DATE32 : ARROW_DATE64;
    return 0;
}

static int read_timestamp(struct schema_reader *r, const struct fb_table *type,
                          struct arrow_field *f)
{
    int result = read_text(r, type, 1, &f->timezone);

    if (result < 0)
        return result;
    if (f->timezone && strlen(f->timezone) > ARROW_TIMEZONE_MAX)
        return fail_column(r, type, EBADMSG, "a time zone with too long a name");
    f->type = ARROW_TIMESTAMP;
    return read_unit(r, type, fb_int(type, 0, 2, ARROW_SECOND), f);
}

/* A type with one whole number that must not be negative. */
static int read_param(struct schema_reader *r, const struct fb_table *type, enum arrow_type to,
                      struct arrow_field *f)
{
    int64_t param = fb_int(type, 0, 4, 0);

    if (param < 0)
        return fail_column(r, type, EBADMSG, "a negative size");
    f->type = to;
    f->param = (int32_t)param;
    return 0;
}

static int read_float(struct schema_reader *r, const struct fb_table *type, struct arrow_field *f)
{
    static const enum arrow_type by_precision[] = {ARROW_FLOAT16, ARROW_FLOAT32, ARROW_FLOAT64};
    int64_t precision = fb_int(type, 0, 2, 0);

    if (precision < 0 || precision > 2)
        return fail_column(r, type, EBADMSG, "a float of impossible width");
    f->type = by_precision[precision];
    return 0;
}

static int refuse_type(struct schema_reader *r, const struct fb_table *t, int64_t id)
{
    static const char *const names[] = {
        [TYPE_INTERVAL] = "interval",
        [TYPE_UNION] = "union",
        [TYPE_MAP] = "map",
        [TYPE_RUN_END] = "run_end_encoded",
        [TYPE_LIST_VIEW] = "list_view",
        [TYPE_LARGE_LIST_VIEW] = "large_list_view",
    };
    char words[64];

    if (id >= 0 && id <= TYPE_LARGE_LIST_VIEW && names[id])
        snprintf(words, sizeof(words), "type %s is not read", names[id]);
    else
        snprintf(words, sizeof(words), "type number %lld is unknown", (long long)id);
    return fail_column(r, t, ENOTSUP, words);
}

static int read_type(struct schema_reader *r, const struct fb_table *field, struct arrow_field *f)
{
    static const enum arrow_type plain[] = {
        [TYPE_NULL] = ARROW_NULL,
        [TYPE_BINARY] = ARROW_BINARY,
        [TYPE_UTF8] = ARROW_UTF8,
        [TYPE_BOOL] = ARROW_BOOL,
        [TYPE_LIST] = ARROW_LIST,
        [TYPE_STRUCT] = ARROW_STRUCT,
        [TYPE_LARGE_BINARY] = ARROW_LARGE_BINARY,
        [TYPE_LARGE_UTF8] = ARROW_LARGE_UTF8,
        [TYPE_LARGE_LIST] = ARROW_LARGE_LIST,
        [TYPE_BINARY_VIEW] = ARROW_BINARY_VIEW,
        [TYPE_UTF8_VIEW] = ARROW_UTF8_VIEW,
    };
    int64_t id = fb_int(field, 2, 1, 0);
    struct fb_table type = fb_table(field, 3);

    if (r->m->fb.problem)
        return ipc_fail_fb(r->s, r->m, r->err);
    switch (id) {
    case TYPE_INT:
        return read_int(r, &type, &f->type);
    case TYPE_FLOAT:
        return read_float(r, &type, f);
    case TYPE_DECIMAL:
        return read_decimal(r, &type, f);
    case TYPE_DATE:
        return read_date(r, &type, f);
    case TYPE_TIME:
        return read_time(r, &type, f);
    case TYPE_TIMESTAMP:
        return read_timestamp(r, &type, f);
    case TYPE_DURATION:
        f->type = ARROW_DURATION;
        return read_unit(r, &type, fb_int(&type, 0, 2, ARROW_MILLI), f);
    case TYPE_FIXED_BINARY:
        return read_param(r, &type, ARROW_FIXED_BINARY, f);
    case TYPE_FIXED_LIST:
        return read_param(r, &type, ARROW_FIXED_LIST, f);
    case TYPE_INTERVAL:
    case TYPE_UNION:
    case TYPE_MAP:
    case TYPE_RUN_END:
        return refuse_type(r, field, id);
    default:
        if (id < TYPE_NULL || id > TYPE_UTF8_VIEW)
            return refuse_type(r, field, id);
        f->type = plain[id];
        return 0;
    }
}

static bool is_nested(const struct arrow_field *f)
{
    return f->type == ARROW_STRUCT || f->type == ARROW_LIST || f->type == ARROW_LARGE_LIST ||
           f->type == ARROW_FIXED_LIST;
}

static int read_encoding(struct schema_reader *r, const struct fb_table *field,
                         struct arrow_field *f)
{
    struct fb_table encoding = fb_table(field, 4);
    struct fb_table index = fb_table(&encoding, 1);

    if (!encoding.fb)
        return 0;
    if (is_nested(f))
        return fail_column(r, field, ENOTSUP, "a dictionary of structs or lists is not read");
    f->is_dictionary = true;
    f->dictionary_id = fb_int(&encoding, 0, 8, 0);
    f->index_type = ARROW_INT32;
    return index.fb ? read_int(r, &index, &f->index_type) : 0;
}

static int read_children(struct schema_reader *r, const struct fb_table *t, unsigned id,
                         struct arrow_field *parent);

static int check_child_count(struct schema_reader *r, const struct fb_table *field,
                             const struct arrow_field *f)
{
    if (f->type == ARROW_STRUCT || f->n_children == (is_nested(f) ? 1 : 0))
        return 0;
    return fail_column(r, field, EBADMSG, "a wrong number of children for its type");
}

/* The parent's new child: name, type, dictionary, then its own children. Extension types are read
 * as what they are stored as, so the metadata of a field is not looked at. */
static int read_field(struct schema_reader *r, const struct fb_table *field,
                      struct arrow_field *parent)
{
    AUTO_FREE char *name = NULL;
    struct arrow_field *f;
    int result = read_text(r, field, 0, &name);

    if (result < 0)
        return result;
    if (r->fields_left-- == 0)
        return fail_at(r, field, "more fields than the schema has room for");
    f = arrow_field_add(parent, name ? name : "", ARROW_NULL);
    f->nullable = fb_bool(field, 1, false);
    r->path[r->depth++] = f;
    result = read_type(r, field, f);
    if (result == 0)
        result = read_encoding(r, field, f);
    if (result == 0 && r->depth == ARROW_DEPTH_MAX && fb_vector(field, 5, 4).count > 0)
        result = fail_column(r, field, ENOTSUP, "nested deeper than 64 levels");
    if (result == 0)
        result = read_children(r, field, 5, f);
    if (result == 0)
        result = check_child_count(r, field, f);
    r->depth--;
    return result;
}

static int read_children(struct schema_reader *r, const struct fb_table *t, unsigned id,
                         struct arrow_field *parent)
{
    struct fb_vector fields = fb_vector(t, id, 4);

    for (uint32_t i = 0; i < fields.count; i++) {
        struct fb_table field = fb_item_table(&fields, i);
        int result;

        if (!field.fb)
            return ipc_fail_fb(r->s, r->m, r->err);
        result = read_field(r, &field, parent);
        if (result < 0)
            return result;
    }
    return r->m->fb.problem ? ipc_fail_fb(r->s, r->m, r->err) : 0;
}

/* The schema's metadata: only "huggingface" is kept. */
static int read_metadata(struct schema_reader *r, const struct fb_table *schema)
{
    struct fb_vector pairs = fb_vector(schema, 2, 4);

    for (uint32_t i = 0; i < pairs.count && !r->s->schema.huggingface; i++) {
        static const char wanted[] = "huggingface";
        struct fb_table pair = fb_item_table(&pairs, i);
        size_t n = 0;
        const char *key = fb_string(&pair, 0, &n);
        int result = 0;

        if (key && n == strlen(wanted) && memcmp(key, wanted, n) == 0)
            result = read_text(r, &pair, 1, &r->s->schema.huggingface);
        if (result < 0)
            return result;
    }
    return r->m->fb.problem ? ipc_fail_fb(r->s, r->m, r->err) : 0;
}

static bool is_same_value_type(const struct arrow_field *a, const struct arrow_field *b)
{
    return a->type == b->type && a->param == b->param && a->scale == b->scale && a->unit == b->unit;
}

static int compare_ids(const void *a, const void *b)
{
    int64_t x = ((const struct ipc_dictionary *)a)->id, y = ((const struct ipc_dictionary *)b)->id;

    return (x > y) - (x < y);
}

static void collect_dictionaries(struct ipc_stream *s, const struct arrow_field *f, size_t *cap)
{
    for (size_t i = 0; i < f->n_children; i++)
        collect_dictionaries(s, &f->children[i], cap);
    if (!f->is_dictionary)
        return;
    GROW(s->dictionaries, s->n_dictionaries, *cap);
    s->dictionaries[s->n_dictionaries++] =
        (struct ipc_dictionary){.id = f->dictionary_id, .field = f};
}

/* One entry for every dictionary id of the schema, sorted. */
static int read_dictionaries(struct schema_reader *r, const struct fb_table *schema)
{
    struct ipc_stream *s = r->s;
    size_t cap = 0, kept = 0;

    collect_dictionaries(s, &s->schema.root, &cap);
    if (s->n_dictionaries > 1)
        qsort(s->dictionaries, s->n_dictionaries, sizeof(*s->dictionaries), compare_ids);
    for (size_t i = 0; i < s->n_dictionaries; i++) {
        struct ipc_dictionary *d = &s->dictionaries[i];

        if (kept > 0 && s->dictionaries[kept - 1].id == d->id) {
            if (!is_same_value_type(s->dictionaries[kept - 1].field, d->field))
                return fail_at(r, schema, "one dictionary is used for two types");
            continue;
        }
        s->dictionaries[kept++] = *d;
    }
    s->n_dictionaries = kept;
    return 0;
}

struct ipc_dictionary *ipc_dictionary_find(const struct ipc_stream *s, int64_t id)
{
    const struct ipc_dictionary key = {.id = id};

    return s->n_dictionaries == 0 ? NULL
                                  : bsearch(&key, s->dictionaries, s->n_dictionaries,
                                            sizeof(*s->dictionaries), compare_ids);
}

int ipc_schema_read(struct ipc_stream *s, struct ipc_message *m, struct err *err)
{
    struct schema_reader r = {.s = s,
                              .m = m,
                              .err = err,
                              .fields_left = m->fb.size / FIELD_BYTES_MIN,
                              .text_left = m->fb.size * TEXT_PER_BYTE};
    const struct fb_table *schema = &m->header;
    int result;

    arrow_schema_init(&s->schema);
    if (fb_int(schema, 0, 2, 0) != 0)
        return fail_at(&r, schema, "big-endian data is not read");
    result = read_children(&r, schema, 1, &s->schema.root);
    if (result == 0)
        result = read_metadata(&r, schema);
    if (result == 0)
        result = read_dictionaries(&r, schema);
    return result;
}
