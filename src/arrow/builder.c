/*
 * All columns are one array in pre-order, so that a subtree is a range and no pointer chain is
 * followed. How long a column must be follows from its parent: as many values as rows, as the
 * struct above has, or as the list above has items. `want` points at that number. The check at the
 * end of a row compares each column's length with it, and a roll-back cuts each column to it, top
 * down: nothing has to be remembered per row for a failure that hardly ever comes.
 *
 * A validity bitmap comes into use at a column's first null: most columns never have one. A column
 * of nulls only is asleep (cap 0) and has no buffers of its own: those it is written with are
 * zeros, which all sleepers share, so that there is a limit to how long a column sleeps.
 */
#include "arrow/builder.h"

#include "base/alloc.h"
#include "base/utf8.h"

#include <errno.h>
#include <string.h>

#define EXTENT_MAX      ((size_t)INT32_MAX)
#define EXTENT_TOO_MUCH (EXTENT_MAX + 1) /* sticks until the row is rolled back */
#define FIRST_CAP       32

/* Offsets have one more entry than there are values. */
static const char zeros[8 * (ARROW_SLEEP_ROWS + 1)];

/* Columns from one to before another. */
struct stretch {
    size_t from, to;
};

struct arrow_builder {
    struct arrow_column *columns;
    struct arrow_column_rest *rests; /* of each column */
    size_t n_columns;
    struct arrow_column **wide; /* those that have an extent */
    size_t n_wide;
    struct arrow_column **listed; /* those below lists */
    size_t n_listed;
    struct stretch *stretches; /* the others: they want as many values as there are rows */
    size_t n_stretches;
    size_t rows;
    size_t row_end; /* what the top-level columns want: rows; one more while a row is checked */
};

static int check_field(const struct arrow_field *f, int depth, struct err *err)
{
    bool children_fit = f->n_children == 0;

    switch (f->type) {
    case ARROW_NULL:
    case ARROW_BOOL:
    case ARROW_INT64:
    case ARROW_FLOAT64:
    case ARROW_UTF8:
        break;
    case ARROW_STRUCT:
        children_fit = true;
        break;
    case ARROW_LIST:
        children_fit = f->n_children == 1;
        break;
    default:
        return err_set(err, ENOTSUP, "column '%.80s' has a type that cannot be written", f->name);
    }
    if (!children_fit || f->is_dictionary)
        return err_set(err, EINVAL, "column '%.80s' has a wrong shape", f->name);
    if (f->n_children > 0 && depth >= ARROW_WRITE_DEPTH_MAX)
        return err_set(err, E2BIG, "column '%.80s' is nested too deeply", f->name);
    for (size_t i = 0; i < f->n_children; i++) {
        int r = check_field(&f->children[i], depth + 1, err);

        if (r < 0)
            return r;
    }
    return 0;
}

int arrow_schema_check_writable(const struct arrow_schema *schema, struct err *err)
{
    for (size_t i = 0; i < schema->root.n_children; i++) {
        int r = check_field(&schema->root.children[i], 0, err);

        if (r < 0)
            return r;
    }
    return 0;
}

/* Appends the field's column and those below it. */
static void add_columns(struct arrow_builder *b, const struct arrow_field *f, const size_t *want,
                        bool listed)
{
    struct arrow_column *c = &b->columns[b->n_columns++];
    bool is_list = f->type == ARROW_LIST;

    *c = (struct arrow_column){.type = f->type, .rest = &b->rests[c - b->columns]};
    *c->rest = (struct arrow_column_rest){.want = want, .name = xstrdup(f->name)};
    c->rest->listed = listed && f->type != ARROW_NULL; /* which has no buffers, awake or not */
    if (c->rest->listed)
        arrow_column_grow(c);
    if (is_list || f->type == ARROW_UTF8)
        b->wide[b->n_wide++] = c;
    if (listed)
        b->listed[b->n_listed++] = c;
    for (size_t i = 0; i < f->n_children; i++)
        add_columns(b, &f->children[i], is_list ? &c->extent : &c->len, listed || is_list);
    c->span = (uint32_t)(&b->columns[b->n_columns] - c);
}

static void find_stretches(struct arrow_builder *b)
{
    size_t from = 0;

    b->stretches = xcalloc(b->n_listed + 1, sizeof(*b->stretches));
    for (size_t k = 0; k <= b->n_listed; k++) {
        size_t to = k < b->n_listed ? (size_t)(b->listed[k] - b->columns) : b->n_columns;

        if (to > from)
            b->stretches[b->n_stretches++] = (struct stretch){from, to};
        from = to + 1;
    }
}

int arrow_builder_new(const struct arrow_schema *schema, struct arrow_builder **ret,
                      struct err *err)
{
    struct arrow_builder *b;
    size_t n = arrow_field_count(&schema->root);
    int r = arrow_schema_check_writable(schema, err);

    if (r < 0)
        return r;
    b = xcalloc(1, sizeof(*b));
    b->columns = xcalloc_aligned(_Alignof(struct arrow_column), n, sizeof(*b->columns));
    b->rests = xcalloc(n, sizeof(*b->rests));
    b->wide = xcalloc(n, sizeof(*b->wide));
    b->listed = xcalloc(n, sizeof(*b->listed));
    for (size_t i = 0; i < schema->root.n_children; i++)
        add_columns(b, &schema->root.children[i], &b->row_end, false);
    find_stretches(b);
    *ret = b;
    return 0;
}

void arrow_builder_free(struct arrow_builder *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->n_columns; i++) {
        free(b->columns[i].validity);
        free(b->columns[i].i64);
        free(b->rests[i].text);
        free(b->rests[i].name);
    }
    free(b->columns);
    free(b->rests);
    free(b->wide);
    free(b->listed);
    free(b->stretches);
    free(b);
}

size_t arrow_builder_count(const struct arrow_builder *b)
{
    return b->n_columns;
}

struct arrow_column *arrow_builder_column(struct arrow_builder *b, size_t field)
{
    assert(field < b->n_columns);
    return &b->columns[field];
}

/* A bitmap for cap bits, those from old_cap on 0. */
static uint8_t *grow_bits(uint8_t *bits, size_t old_cap, size_t cap)
{
    bits = xreallocarray(bits, cap / 8, 1);
    memset(bits + old_cap / 8, 0, (cap - old_cap) / 8);
    return bits;
}

/* Buffers for `room` values, those there were kept. */
static void resize(struct arrow_column *c, size_t room)
{
    switch (c->type) {
    case ARROW_INT64:
    case ARROW_FLOAT64:
        c->i64 = xreallocarray(c->i64, room, sizeof(*c->i64));
        break;
    case ARROW_UTF8:
    case ARROW_LIST:
        c->offsets = xreallocarray(c->offsets, room + 1, sizeof(*c->offsets));
        c->offsets[0] = 0;
        break;
    case ARROW_BOOL:
        c->bits = grow_bits(c->bits, c->rest->room, room);
        break;
    default: /* null and struct hold no values */
        break;
    }
    if (c->validity)
        c->validity = grow_bits(c->validity, c->rest->room, room);
    c->rest->room = room;
}

/* The nulls that were only counted; the bits of a bool are 0 already. */
static void lay_nulls(struct arrow_column *c)
{
    c->null_count = c->len;
    if (c->len == 0)
        return;
    if (!c->validity)
        c->validity = xmalloc(c->cap / 8);
    memset(c->validity, 0, c->cap / 8);
    if (c->type == ARROW_INT64 || c->type == ARROW_FLOAT64)
        memset(c->i64, 0, c->len * sizeof(*c->i64));
    else if (c->type == ARROW_UTF8 || c->type == ARROW_LIST)
        memset(c->offsets, 0, (c->len + 1) * sizeof(*c->offsets));
}

void arrow_column_grow(struct arrow_column *c)
{
    size_t room = c->rest->room ? c->rest->room : FIRST_CAP;
    bool asleep = c->cap == 0;

    while (room <= c->len)
        room *= 2;
    if (room != c->rest->room)
        resize(c, room);
    c->cap = room;
    if (asleep)
        lay_nulls(c);
}

/* The first null is to come: everything so far is there. */
static void open_validity(struct arrow_column *c)
{
    size_t whole = c->len / 8;

    if (!c->validity)
        c->validity = xmalloc(c->cap / 8);
    memset(c->validity, 0xFF, whole);
    memset(c->validity + whole, 0, c->cap / 8 - whole);
    if (c->len % 8)
        c->validity[whole] = (uint8_t)((1u << c->len % 8) - 1);
}

/* The place of a null in a column that is awake. */
static void lay_null(struct arrow_column *c)
{
    size_t i = c->len;

    if (i == c->cap)
        arrow_column_grow(c);
    if (!c->null_count)
        open_validity(c);
    c->null_count++;
    if (c->type == ARROW_INT64 || c->type == ARROW_FLOAT64)
        c->i64[i] = 0;
    else if (c->type == ARROW_UTF8 || c->type == ARROW_LIST)
        c->offsets[i + 1] = (int32_t)c->extent;
}

void arrow_put_null(struct arrow_column *c)
{
    if (c->cap > 0)
        lay_null(c);
    c->len++;
    if (c->type == ARROW_STRUCT)
        for (struct arrow_column *k = arrow_column_child(c); k < c + c->span;
             k = arrow_column_sibling(k))
            arrow_put_null(k);
}

/* The end of a text or list of n more; once too much, always too much. */
static size_t extend(const struct arrow_column *c, size_t n)
{
    return n > EXTENT_MAX || c->extent + n > EXTENT_MAX ? EXTENT_TOO_MUCH : c->extent + n;
}

void arrow_put_list(struct arrow_column *c, size_t items)
{
    size_t i;

    assert(c->type == ARROW_LIST);
    i = arrow_column_push(c);
    c->extent = extend(c, items);
    c->offsets[i + 1] = (int32_t)c->extent;
}

static void grow_text(struct arrow_column *c, size_t need)
{
    size_t cap = c->rest->text_cap ? c->rest->text_cap : 64;

    while (cap < need)
        cap *= 2;
    c->rest->text = xreallocarray(c->rest->text, cap, 1);
    c->rest->text_cap = cap;
}

static void append_text(struct arrow_column *c, const char *p, size_t n)
{
    size_t end = extend(c, n), i;

    if (end != EXTENT_TOO_MUCH) {
        if (end > c->rest->text_cap)
            grow_text(c, end);
        if (n)
            memcpy(c->rest->text + c->extent, p, n);
    }
    i = arrow_column_push(c);
    c->extent = end;
    c->offsets[i + 1] = (int32_t)end;
}

/* One pass without branches: most text is ASCII and needs no closer look. The last word overlaps
 * the one before. */
static bool is_ascii(const char *p, size_t n)
{
    uint64_t seen = 0, word;

    for (size_t i = 0; i + 8 <= n; i += 8) {
        memcpy(&word, p + i, 8);
        seen |= word;
    }
    if (n >= 8) {
        memcpy(&word, p + n - 8, 8);
        return !((seen | word) & UINT64_C(0x8080808080808080));
    }
    for (size_t i = 0; i < n; i++)
        seen |= (unsigned char)p[i];
    return !(seen & 0x80);
}

/* Up to three times as long; what does not fit the buf does not fit the column either. */
static void append_sanitized(struct arrow_column *c, const char *p, size_t n)
{
    AUTO(buf) struct buf clean = BUF_INIT(EXTENT_MAX);

    if (utf8_sanitize(&clean, p, n) == 0)
        append_text(c, clean.data, clean.len);
    else
        append_text(c, p, EXTENT_TOO_MUCH);
}

void arrow_put_text(struct arrow_column *c, const char *p, size_t n)
{
    assert(c->type == ARROW_UTF8);
    if (!p)
        arrow_put_null(c);
    else if (extend(c, n) == EXTENT_TOO_MUCH || is_ascii(p, n) || utf8_valid(p, n))
        append_text(c, p, n);
    else
        append_sanitized(c, p, n);
}

/* How many of the bits [from, to) are 0, and sets them all to 0. */
static size_t cut_bits(uint8_t *bits, size_t from, size_t to)
{
    size_t unset = 0;

    for (size_t i = from; i < to; i++) {
        unset += !(bits[i / 8] >> i % 8 & 1);
        bits[i / 8] = (uint8_t)(bits[i / 8] & ~(1u << i % 8));
    }
    return unset;
}

static void cut_column(struct arrow_column *c, size_t len)
{
    if (c->cap == 0) {
        c->len = len;
        return;
    }
    if (c->null_count)
        c->null_count -= cut_bits(c->validity, len, c->len);
    if (c->type == ARROW_BOOL)
        cut_bits(c->bits, len, c->len);
    if (c->type == ARROW_UTF8 || c->type == ARROW_LIST)
        c->extent = (size_t)c->offsets[len];
    c->len = len;
}

static void cut_to_rows(struct arrow_builder *b)
{
    b->row_end = b->rows;
    for (size_t i = 0; i < b->n_columns; i++)
        cut_column(&b->columns[i], *b->rests[i].want);
}

/* The words for a row that is not taken in; finds the column again. */
static int refuse_row(const struct arrow_builder *b, struct err *err)
{
    for (size_t i = 0; i < b->n_columns; i++)
        if (b->columns[i].extent > EXTENT_MAX)
            return err_set(err, EFBIG, "column '%.80s' holds too much for one record batch",
                           b->rests[i].name);
    for (size_t i = 0; i < b->n_columns; i++)
        if (b->columns[i].len != *b->rests[i].want)
            return err_set(err, EINVAL, "column '%.80s' (field %zu) has %zu values, not %zu",
                           b->rests[i].name, i, b->columns[i].len, *b->rests[i].want);
    return 0;
}

static void wake_all(struct arrow_builder *b)
{
    for (size_t i = 0; i < b->n_columns; i++)
        if (b->columns[i].cap == 0 && b->columns[i].type != ARROW_NULL)
            arrow_column_grow(&b->columns[i]);
}

int arrow_builder_end_row(struct arrow_builder *b, struct err *err)
{
    size_t unequal = 0, extents = 0;
    int r;

    b->row_end = b->rows + 1;
    for (size_t k = 0; k < b->n_stretches; k++)
        for (size_t i = b->stretches[k].from; i < b->stretches[k].to; i++)
            unequal |= b->columns[i].len ^ (b->rows + 1);
    for (size_t i = 0; i < b->n_listed; i++)
        unequal |= b->listed[i]->len ^ *b->listed[i]->rest->want;
    for (size_t i = 0; i < b->n_wide; i++)
        extents |= b->wide[i]->extent;
    if (!unequal && extents <= EXTENT_MAX) {
        b->rows++;
        if (b->rows == ARROW_SLEEP_ROWS)
            wake_all(b);
        return 0;
    }
    r = refuse_row(b, err);
    cut_to_rows(b);
    return r;
}

int64_t arrow_builder_rows(const struct arrow_builder *b)
{
    return (int64_t)b->rows;
}

void arrow_builder_clear(struct arrow_builder *b)
{
    b->rows = b->row_end = 0;
    for (size_t i = 0; i < b->n_columns; i++) {
        struct arrow_column *c = &b->columns[i];

        if (c->type == ARROW_BOOL && c->cap > 0)
            memset(c->bits, 0, (c->len + 7) / 8);
        c->len = c->null_count = c->extent = 0;
        c->cap = c->rest->listed ? c->rest->room : 0;
    }
}

const struct arrow_column *arrow_builder_columns(const struct arrow_builder *b)
{
    return b->columns;
}

bool arrow_builder_in_row(const struct arrow_builder *b)
{
    for (size_t i = 0; i < b->n_columns; i++)
        if (b->columns[i].len != *b->rests[i].want)
            return true;
    return false;
}

size_t arrow_column_spans(const struct arrow_column *c, struct arrow_buffer spans[ARROW_SPANS_MAX])
{
    bool asleep = c->cap == 0;
    size_t n = 0;

    if (c->type == ARROW_NULL)
        return 0;
    spans[n++] = (struct arrow_buffer){c->validity, arrow_column_nulls(c) ? (c->len + 7) / 8 : 0};
    switch (c->type) {
    case ARROW_BOOL:
        spans[n++] = (struct arrow_buffer){c->bits, (c->len + 7) / 8};
        break;
    case ARROW_INT64:
    case ARROW_FLOAT64:
        spans[n++] = (struct arrow_buffer){c->i64, 8 * c->len};
        break;
    case ARROW_UTF8:
        spans[n++] = (struct arrow_buffer){c->offsets, 4 * (c->len + 1)};
        spans[n++] = (struct arrow_buffer){c->rest->text, c->extent};
        break;
    case ARROW_LIST:
        spans[n++] = (struct arrow_buffer){c->offsets, 4 * (c->len + 1)};
        break;
    default:
        break;
    }
    for (size_t i = 0; asleep && i < n; i++)
        spans[i].data = zeros;
    return n;
}

size_t arrow_builder_bytes(const struct arrow_builder *b)
{
    size_t bytes = 0;

    for (size_t i = 0; i < b->n_columns; i++) {
        struct arrow_buffer spans[ARROW_SPANS_MAX];
        size_t n = arrow_column_spans(&b->columns[i], spans);

        for (size_t k = 0; k < n; k++)
            bytes += (spans[k].bytes + 7) / 8 * 8;
    }
    return bytes;
}
