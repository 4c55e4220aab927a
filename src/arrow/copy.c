#include "arrow/copy.h"

static void put_text(struct arrow_column *c, const struct arrow_array *a, int64_t i)
{
    const char *text = NULL;
    size_t n = 0;

    arrow_text(a, i, &text, &n);
    arrow_put_text(c, text ? text : "", n);
}

static void put_struct(struct arrow_column *c, const struct arrow_array *a, int64_t i)
{
    struct arrow_column *child = arrow_column_child(c);

    arrow_put_struct(c);
    for (size_t k = 0; k < a->n_children; k++, child = arrow_column_sibling(child))
        arrow_put_value(child, &a->children[k], i);
}

static void put_list(struct arrow_column *c, const struct arrow_array *a, int64_t i)
{
    int64_t start, count;

    arrow_list(a, i, &start, &count);
    arrow_put_list(c, (size_t)count);
    for (int64_t k = 0; k < count; k++)
        arrow_put_value(arrow_column_child(c), &a->children[0], start + k);
}

void arrow_put_value(struct arrow_column *c, const struct arrow_array *a, int64_t i)
{
    if (arrow_is_null(a, i)) {
        arrow_put_null(c);
        return;
    }
    switch (c->type) {
    case ARROW_BOOL:
        arrow_put_bool(c, arrow_bool(a, i, false));
        break;
    case ARROW_INT64:
        arrow_put_i64(c, arrow_i64(a, i, 0));
        break;
    case ARROW_FLOAT64:
        arrow_put_f64(c, arrow_f64(a, i));
        break;
    case ARROW_UTF8:
        put_text(c, a, i);
        break;
    case ARROW_STRUCT:
        put_struct(c, a, i);
        break;
    case ARROW_LIST:
        put_list(c, a, i);
        break;
    default: /* null: the only other type that a builder has */
        arrow_put_null(c);
        break;
    }
}

void arrow_put_row(struct arrow_builder *b, const struct arrow_array *batch, int64_t i)
{
    struct arrow_column *c = arrow_builder_column(b, 0);

    for (size_t k = 0; k < batch->n_children; k++, c = arrow_column_sibling(c))
        arrow_put_value(c, &batch->children[k], i);
}

/* Value i of a column of the other builder. */
static void put_built(struct arrow_column *to, const struct arrow_column *from, size_t i)
{
    if (arrow_column_is_null(from, i)) {
        arrow_put_null(to);
        return;
    }
    switch (from->type) {
    case ARROW_BOOL:
        arrow_put_bool(to, from->bits[i / 8] >> i % 8 & 1);
        break;
    case ARROW_INT64:
        arrow_put_i64(to, from->i64[i]);
        break;
    case ARROW_FLOAT64:
        arrow_put_f64(to, from->f64[i]);
        break;
    case ARROW_UTF8:
        arrow_put_text(to, from->rest->text ? from->rest->text + from->offsets[i] : "",
                       (size_t)(from->offsets[i + 1] - from->offsets[i]));
        break;
    case ARROW_LIST:
        arrow_put_list(to, (size_t)(from->offsets[i + 1] - from->offsets[i]));
        for (int32_t k = from->offsets[i]; k < from->offsets[i + 1]; k++)
            put_built(to + 1, from + 1, (size_t)k);
        break;
    default:
        arrow_put_struct(to);
        for (size_t k = 1; k < from->span; k += from[k].span)
            put_built(to + k, from + k, i);
        break;
    }
}

void arrow_put_built_row(struct arrow_builder *to, const struct arrow_builder *from, int64_t i)
{
    const struct arrow_column *columns = arrow_builder_columns(from);
    size_t n = arrow_builder_count(from);

    for (size_t k = 0; k < n; k += columns[k].span)
        put_built(arrow_builder_column(to, k), &columns[k], (size_t)i);
}
