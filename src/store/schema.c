#include "store/schema.h"

#include "arrow/infer.h"

#include <math.h>
#include <string.h>

static enum arrow_type arrow_type_of(enum field_kind kind)
{
    switch (kind) {
    case FIELD_F64:
        return ARROW_FLOAT64;
    case FIELD_I64:
    case FIELD_INT:
        return ARROW_INT64;
    case FIELD_TRI:
        return ARROW_BOOL;
    case FIELD_REASONS:
        return ARROW_LIST;
    case FIELD_BEGIN:
    case FIELD_BEGIN_AT:
    case FIELD_METADATA:
        return ARROW_STRUCT;
    default:
        return ARROW_UTF8;
    }
}

/* Adds the fields from *i up to the FIELD_END of this level to parent. */
static void add_fields(struct arrow_field *parent, size_t *i, const char *model,
                       const struct arrow_field *metadata)
{
    while (*i < n_record_fields && record_fields[*i].kind != FIELD_END) {
        const struct record_field *row = &record_fields[(*i)++];
        struct arrow_field *f =
            arrow_field_add(parent, row->name ? row->name : model, arrow_type_of(row->kind));

        if (row->kind == FIELD_REASONS) {
            arrow_field_add(f, "item", ARROW_UTF8);
        } else if (row->kind == FIELD_METADATA) {
            for (size_t k = 0; metadata && k < metadata->n_children; k++)
                arrow_field_copy(f, &metadata->children[k]);
        } else if (row->kind == FIELD_BEGIN || row->kind == FIELD_BEGIN_AT) {
            add_fields(f, i, model, metadata);
            (*i)++; /* its FIELD_END */
        }
    }
}

void record_schema(const char *model, const struct arrow_field *metadata, struct arrow_schema *ret)
{
    size_t i = 0;

    arrow_schema_init(ret);
    add_fields(&ret->root, &i, model, metadata);
    arrow_schema_describe(ret);
}

static inline void put_f64(struct arrow_column *c, double value)
{
    if (isnan(value))
        arrow_put_null_leaf(c);
    else
        arrow_put_f64(c, value);
}

static inline void put_i64(struct arrow_column *c, int64_t value)
{
    if (value < 0)
        arrow_put_null_leaf(c);
    else
        arrow_put_i64(c, value);
}

static inline void put_tri(struct arrow_column *c, int value)
{
    if (value < 0)
        arrow_put_null_leaf(c);
    else
        arrow_put_bool(c, value > 0);
}

static inline void put_string(struct arrow_column *c, const char *text)
{
    if (text)
        arrow_put_text(c, text, strlen(text));
    else
        arrow_put_null_leaf(c);
}

static void put_reasons(struct arrow_column *c, const struct record *r)
{
    arrow_put_list(c, r->measurement.n_reasons);
    for (size_t i = 0; i < r->measurement.n_reasons; i++)
        put_string(arrow_column_child(c), r->measurement.reasons[i]);
}

/* The FIELD_END that belongs to this FIELD_BEGIN. */
static const struct record_field *end_of(const struct record_field *f)
{
    int depth = 0;

    for (;; f++) {
        if (f->kind == FIELD_BEGIN || f->kind == FIELD_BEGIN_AT)
            depth++;
        else if (f->kind == FIELD_END && --depth == 0)
            return f;
    }
}

/* Every record passes through every field, and most are numbers: those go in runs. What has a
 * single column goes on to the next without asking how many it has. */
void record_put(void *record, struct arrow_builder *b)
{
    const struct record *r = record;
    const struct record_field *f = record_fields, *end = f + n_record_fields;
    struct arrow_column *c = arrow_builder_column(b, 0);
    const char *base = record; /* of the members that follow */

    for (; f < end; f++) {
        const void *member;

        for (; f->kind == FIELD_F64; f++) { /* the last of all is a FIELD_END */
            member = base + f->offset;
            put_f64(c++, *(const double *)member);
        }
        member = base + f->offset;
        switch (f->kind) {
        case FIELD_I64:
            put_i64(c++, *(const int64_t *)member);
            break;
        case FIELD_INT:
            arrow_put_i64(c++, *(const int *)member);
            break;
        case FIELD_TEXT:
            put_string(c++, *(const char *const *)member);
            break;
        case FIELD_CHARS:
            put_string(c++, member);
            break;
        case FIELD_TRI:
            put_tri(c++, *(const int *)member);
            break;
        case FIELD_VALIDITY:
            put_string(c++, validity_name(*(const enum validity *)member));
            break;
        case FIELD_REASONS:
            put_reasons(c, r);
            c = arrow_column_sibling(c);
            break;
        case FIELD_METADATA:
            arrow_put_json(c, r->metadata);
            c = arrow_column_sibling(c);
            break;
        case FIELD_BEGIN:
            arrow_put_struct(c++);
            break;
        case FIELD_BEGIN_AT:
            base = *(const char *const *)member;
            if (base) {
                arrow_put_struct(c++);
                break;
            }
            arrow_put_null(c);
            c = arrow_column_sibling(c);
            f = end_of(f);
            base = record;
            break;
        default: /* FIELD_END; what lies behind a pointer does not nest */
            base = record;
            break;
        }
    }
}

void telemetry_schema(struct arrow_schema *ret)
{
    arrow_schema_init(ret);
    arrow_field_add(&ret->root, "time_s", ARROW_FLOAT64);
    arrow_field_add(&ret->root, "uncertainty_s", ARROW_FLOAT64);
    arrow_field_add(&ret->root, "collector", ARROW_UTF8);
    arrow_field_add(&ret->root, "device", ARROW_UTF8);
    arrow_field_add(&ret->root, "device_number", ARROW_INT64);
    arrow_field_add(&ret->root, "channel", ARROW_UTF8);
    arrow_field_add(&ret->root, "rail", ARROW_UTF8);
    arrow_field_add(&ret->root, "quantity", ARROW_UTF8);
    arrow_field_add(&ret->root, "value", ARROW_FLOAT64);
    arrow_field_add(&ret->root, "estimated", ARROW_BOOL);
    arrow_field_add(&ret->root, "break", ARROW_BOOL);
    arrow_schema_describe(ret);
}

void telemetry_put(void *row, struct arrow_builder *b)
{
    const struct telemetry_row *t = row;
    struct arrow_column *c = arrow_builder_column(b, 0);

    put_f64(c++, ns_to_s(t->tick.at - t->run_start));
    put_f64(c++, ns_to_s(t->tick.seen - t->tick.after));
    put_string(c++, t->collector);
    put_string(c++, t->device->name);
    arrow_put_i64(c++, t->device->number);
    put_string(c++, t->channel->name);
    put_string(c++, rail_name(t->channel->rail));
    put_string(c++, quantity_name(t->channel->quantity));
    put_f64(c++, t->tick.value);
    arrow_put_bool(c++, t->channel->estimated);
    arrow_put_bool(c++, t->tick.flags & TICK_BREAK);
}
