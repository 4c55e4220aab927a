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

static void put_f64(struct arrow_column *c, double value)
{
    if (isnan(value))
        arrow_put_null_number(c);
    else
        arrow_put_f64(c, value);
}

static void put_string(struct arrow_column *c, const char *text)
{
    arrow_put_text(c, text, text ? strlen(text) : 0);
}

static void put_reasons(struct arrow_column *c, const struct record *r)
{
    arrow_put_list(c, r->measurement.n_reasons);
    for (size_t i = 0; i < r->measurement.n_reasons; i++)
        put_string(arrow_column_child(c), r->measurement.reasons[i]);
}

static void put_leaf(struct arrow_column *c, const struct record_field *f, const struct record *r,
                     const char *base)
{
    const void *member = base + f->offset;

    switch (f->kind) {
    case FIELD_F64:
        put_f64(c, *(const double *)member);
        break;
    case FIELD_I64:
        if (*(const int64_t *)member < 0)
            arrow_put_null_number(c);
        else
            arrow_put_i64(c, *(const int64_t *)member);
        break;
    case FIELD_INT:
        arrow_put_i64(c, *(const int *)member);
        break;
    case FIELD_TEXT:
        put_string(c, *(const char *const *)member);
        break;
    case FIELD_CHARS:
        put_string(c, member);
        break;
    case FIELD_TRI:
        if (*(const int *)member < 0)
            arrow_put_null(c);
        else
            arrow_put_bool(c, *(const int *)member > 0);
        break;
    case FIELD_VALIDITY:
        put_string(c, validity_name(*(const enum validity *)member));
        break;
    case FIELD_REASONS:
        put_reasons(c, r);
        break;
    default:
        break;
    }
}

/* The index of the FIELD_END that belongs to the FIELD_BEGIN at i. */
static size_t end_of(size_t i)
{
    int depth = 0;

    for (;; i++) {
        if (record_fields[i].kind == FIELD_BEGIN || record_fields[i].kind == FIELD_BEGIN_AT)
            depth++;
        else if (record_fields[i].kind == FIELD_END && --depth == 0)
            return i;
    }
}

void record_put(void *record, struct arrow_builder *b)
{
    const struct record *r = record;
    struct arrow_column *c = arrow_builder_column(b, 0);
    const char *base = (const char *)r; /* of the members that follow */

    for (size_t i = 0; i < n_record_fields; i++) {
        const struct record_field *f = &record_fields[i];

        if (f->kind == FIELD_END) {
            base = (const char *)r; /* what lies behind a pointer does not nest */
        } else if (f->kind == FIELD_METADATA) {
            arrow_put_json(c, r->metadata);
            c = arrow_column_sibling(c);
        } else if (f->kind == FIELD_BEGIN) {
            arrow_put_struct(c++);
        } else if (f->kind == FIELD_BEGIN_AT) {
            base = *(const char *const *)((const char *)r + f->offset);
            if (base) {
                arrow_put_struct(c++);
            } else {
                arrow_put_null(c);
                c = arrow_column_sibling(c);
                base = (const char *)r;
                i = end_of(i);
            }
        } else {
            put_leaf(c, f, r, base);
            c = arrow_column_sibling(c);
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
