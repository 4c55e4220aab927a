/*
 * Record and dictionary batches: the nodes and buffers of the metadata are laid over the schema's
 * tree, in pre-order, and everything the accessors rely on is checked here, once.
 *
 * Uncompressed buffers are not copied. What a compressed buffer must hold follows from lengths and
 * offsets that were read before it, and no more than that is decompressed.
 */
#include "arrow/array_check.h"
#include "arrow/bytes.h"
#include "arrow/ipc.h"
#include "base/alloc.h"
#include "base/cleanup.h"

#include <assert.h>

/* count * width, or a number that no buffer reaches. */
static size_t bytes_for(int64_t count, size_t width)
{
    size_t bytes;

    return __builtin_mul_overflow((size_t)count, width, &bytes) ? SIZE_MAX : bytes;
}

static size_t bytes_for_bits(int64_t count)
{
    return (size_t)(count / 8 + (count % 8 != 0));
}

static int64_t count_zeros(const uint8_t *bits, int64_t n)
{
    int64_t ones = 0, i = 0;

    for (; i + 64 <= n; i += 64)
        ones += __builtin_popcountll(load_u64(bits + i / 8));
    for (; i < n; i++)
        ones += bits[i / 8] >> (i % 8) & 1;
    return n - ones;
}

/* A null count of 0 means that the buffer does not count, whatever it holds; -1 that nobody knows,
 * and then an absent buffer means no nulls. */
static int load_validity(struct ipc_loader *l, struct arrow_array *a)
{
    size_t need = a->null_count == 0 ? 0 : bytes_for_bits(a->length);
    struct arrow_span span = {0};
    int r;

    if (a->null_count == -1 && l->next_buffer < l->buffers.count &&
        load_i64(fb_item(&l->buffers, l->next_buffer) + 8) == 0)
        need = 0;
    r = ipc_take_buffer(l, a, need, &span);
    if (r < 0)
        return r;
    a->validity = span.data;
    a->null_count = span.data ? count_zeros(span.data, a->length) : 0;
    return 0;
}

/* Bytes of one value; 0 where values are bits, variable, or none. */
static size_t value_width(const struct arrow_array *a)
{
    switch (a->storage) {
    case ARROW_INT8:
    case ARROW_UINT8:
        return 1;
    case ARROW_INT16:
    case ARROW_UINT16:
    case ARROW_FLOAT16:
        return 2;
    case ARROW_INT32:
    case ARROW_UINT32:
    case ARROW_FLOAT32:
    case ARROW_DATE32:
    case ARROW_TIME32:
        return 4;
    case ARROW_INT64:
    case ARROW_UINT64:
    case ARROW_FLOAT64:
    case ARROW_DATE64:
    case ARROW_TIME64:
    case ARROW_TIMESTAMP:
    case ARROW_DURATION:
        return 8;
    case ARROW_UTF8_VIEW:
    case ARROW_BINARY_VIEW:
        return 16;
    case ARROW_FIXED_BINARY:
    case ARROW_DECIMAL:
        return (size_t)a->field->param;
    default:
        return 0;
    }
}

static int load_fixed(struct ipc_loader *l, struct arrow_array *a)
{
    size_t need =
        a->storage == ARROW_BOOL ? bytes_for_bits(a->length) : bytes_for(a->length, value_width(a));
    struct arrow_span span = {0};
    int r = ipc_take_buffer(l, a, need, &span);

    a->values = span.data;
    return r;
}

/* *ret_last is the end of the last value; 0 when there are none (then the buffer may be empty). */
static int load_offsets(struct ipc_loader *l, struct arrow_array *a, unsigned width,
                        int64_t *ret_last)
{
    struct arrow_span span = {0};
    size_t need = a->length == 0 ? 0 : bytes_for(a->length, width);
    int64_t bad;
    int r = ipc_take_buffer(l, a, need > SIZE_MAX - width ? need : need ? need + width : 0, &span);

    if (r < 0)
        return r;
    a->offsets = span.data;
    *ret_last = 0;
    if (a->length == 0)
        return 0;
    bad = check_offsets(a->offsets, a->length, width);
    if (bad >= 0)
        return ipc_load_fail(l, a, "offset %lld of %lld falls", (long long)bad,
                             (long long)a->length + 1);
    *ret_last =
        width == 4 ? load_i32(a->offsets + a->length * 4) : load_i64(a->offsets + a->length * 8);
    return 0;
}

static int load_text(struct ipc_loader *l, struct arrow_array *a)
{
    bool is_large = a->storage == ARROW_LARGE_UTF8 || a->storage == ARROW_LARGE_BINARY;
    struct arrow_span span = {0};
    int64_t last, bad;
    int r = load_offsets(l, a, is_large ? 8 : 4, &last);

    if (r == 0)
        r = ipc_take_buffer(l, a, (size_t)last, &span);
    if (r < 0)
        return r;
    a->values = span.data;
    bad = a->storage == ARROW_UTF8 || a->storage == ARROW_LARGE_UTF8 ? check_utf8(a) : -1;
    return bad < 0 ? 0 : ipc_load_fail(l, a, "value %lld is not valid UTF-8", (long long)bad);
}

static int load_view_buffers(struct ipc_loader *l, struct arrow_array *a, size_t n)
{
    size_t *needs = arena_alloc(&l->mem->arena, n * sizeof(*needs));
    struct arrow_span *spans = arena_alloc(&l->mem->arena, n * sizeof(*spans));
    int64_t bad = check_views(a, n, needs);
    int r = bad < 0 ? 0 : ipc_load_fail(l, a, "view %lld leads nowhere", (long long)bad);

    for (size_t k = 0; r == 0 && k < n; k++)
        r = ipc_take_buffer(l, a, needs[k], &spans[k]);
    a->view_buffers = spans;
    if (r < 0 || a->storage == ARROW_BINARY_VIEW)
        return r;
    bad = check_view_utf8(a, n, &l->s->allowance);
    if (bad == -2)
        return ipc_load_fail(l, a, "views overlap too much");
    return bad < 0 ? 0 : ipc_load_fail(l, a, "value %lld is not valid UTF-8", (long long)bad);
}

static int load_views(struct ipc_loader *l, struct arrow_array *a)
{
    int64_t n;
    int r = load_fixed(l, a);

    if (r < 0)
        return r;
    if (l->next_variadic >= l->variadic.count)
        return ipc_load_fail(l, a, "the batch does not say how many buffers its views have");
    n = load_i64(fb_item(&l->variadic, l->next_variadic++));
    if (n < 0 || n > l->buffers.count - l->next_buffer)
        return ipc_load_fail(l, a, "%lld buffers for views, %u are left", (long long)n,
                             l->buffers.count - l->next_buffer);
    return load_view_buffers(l, a, (size_t)n);
}

static int load_indexes(struct ipc_loader *l, struct arrow_array *a)
{
    const struct ipc_dictionary *d = ipc_dictionary_find(l->s, a->field->dictionary_id);
    int64_t bad;
    int r = load_fixed(l, a);

    if (r < 0)
        return r;
    bad = check_indexes(a, d->values.length);
    if (bad >= 0 && d->values.n_parts == 0)
        return ipc_load_fail(l, a, "dictionary %lld is missing", (long long)d->id);
    if (bad >= 0)
        return ipc_load_fail(l, a, "value %lld has index %lld in a dictionary of %lld",
                             (long long)bad, (long long)arrow_index(a, bad),
                             (long long)d->values.length);
    a->dictionary = &d->values;
    a->all_null = d->values.length == 0;
    return 0;
}

static int load_array(struct ipc_loader *l, struct arrow_array *a);

static int load_children(struct ipc_loader *l, struct arrow_array *a)
{
    const struct arrow_field *f = a->field;

    a->n_children = f->n_children;
    a->children = arena_alloc(&l->mem->arena, f->n_children * sizeof(*a->children));
    for (size_t i = 0; i < f->n_children; i++) {
        struct arrow_array *child = &a->children[i];
        int r;

        *child = (struct arrow_array){.field = &f->children[i], .parent = a};
        child->storage =
            child->field->is_dictionary ? child->field->index_type : child->field->type;
        if (a->storage == ARROW_STRUCT)
            child->mask = a->validity ? a : a->mask;
        r = load_array(l, child);
        if (r < 0)
            return r;
    }
    return 0;
}

static int load_struct(struct ipc_loader *l, struct arrow_array *a)
{
    int r = load_children(l, a);

    for (size_t i = 0; r == 0 && i < a->n_children; i++)
        if (a->children[i].length < a->length)
            r = ipc_load_fail(l, &a->children[i], "%lld values in a struct of %lld",
                              (long long)a->children[i].length, (long long)a->length);
    return r;
}

static int load_list(struct ipc_loader *l, struct arrow_array *a)
{
    int64_t last = 0;
    int r = 0;

    if (a->storage == ARROW_FIXED_LIST) {
        if (__builtin_mul_overflow(a->length, (int64_t)a->field->param, &last))
            return ipc_load_fail(l, a, "%lld lists of %d", (long long)a->length, a->field->param);
    } else {
        r = load_offsets(l, a, a->storage == ARROW_LIST ? 4 : 8, &last);
    }
    if (r == 0)
        r = load_children(l, a);
    if (r == 0 && last > a->children[0].length)
        r = ipc_load_fail(l, a, "its lists need %lld items and have %lld", (long long)last,
                          (long long)a->children[0].length);
    return r;
}

static int load_values(struct ipc_loader *l, struct arrow_array *a)
{
    if (a->field->is_dictionary && !l->is_dictionary)
        return load_indexes(l, a);
    switch (a->storage) {
    case ARROW_UTF8:
    case ARROW_LARGE_UTF8:
    case ARROW_BINARY:
    case ARROW_LARGE_BINARY:
        return load_text(l, a);
    case ARROW_UTF8_VIEW:
    case ARROW_BINARY_VIEW:
        return load_views(l, a);
    case ARROW_STRUCT:
        return load_struct(l, a);
    case ARROW_LIST:
    case ARROW_LARGE_LIST:
    case ARROW_FIXED_LIST:
        return load_list(l, a);
    default:
        return load_fixed(l, a);
    }
}

/* Types that have a length and, without nulls, nothing in the body to prove it. */
static bool is_weightless(const struct arrow_array *a)
{
    return !a->validity && (a->storage == ARROW_NULL || a->storage == ARROW_STRUCT ||
                            a->storage == ARROW_FIXED_LIST ||
                            (a->storage == ARROW_FIXED_BINARY && a->field->param == 0));
}

static int load_array(struct ipc_loader *l, struct arrow_array *a)
{
    int r = ipc_take_node(l, a);

    if (r == 0 && a->storage != ARROW_NULL)
        r = load_validity(l, a);
    if (r == 0 && is_weightless(a))
        r = ipc_charge(l, a, (size_t)a->length);
    if (r < 0)
        return r;
    if (a->storage == ARROW_NULL) {
        a->all_null = true;
        a->null_count = a->length;
        return 0;
    }
    return load_values(l, a);
}

/* What a RecordBatch table says, before any of it is used. */
static int start_load(struct ipc_loader *l, const struct fb_table *batch)
{
    struct fb_table compression = fb_table(batch, 3);
    int64_t codec = fb_int(&compression, 0, 1, 0);

    l->where = l->m->meta + batch->pos;
    l->rows = fb_int(batch, 0, 8, 0);
    l->nodes = fb_vector(batch, 1, 16);
    l->buffers = fb_vector(batch, 2, 16);
    l->variadic = fb_vector(batch, 4, 8);
    if (l->m->fb.problem)
        return ipc_fail_fb(l->s, l->m, l->err);
    if (l->rows < 0)
        return ipc_fail(l->s, l->where, l->err, "a batch of %lld rows", (long long)l->rows);
    if (compression.fb &&
        ((codec != ARROW_LZ4 && codec != ARROW_ZSTD) || fb_int(&compression, 1, 1, 0) != 0))
        return ipc_fail(l->s, l->where, l->err, "compression %lld is not read, only LZ4 and ZSTD",
                        (long long)codec);
    l->codec = compression.fb ? (enum arrow_codec)codec : ARROW_UNCOMPRESSED;
    return 0;
}

static int end_load(const struct ipc_loader *l)
{
    if (l->next_node != l->nodes.count || l->next_buffer != l->buffers.count)
        return ipc_fail(l->s, l->m->meta, l->err,
                        "a batch has %u nodes and %u buffers, its schema %u and %u", l->nodes.count,
                        l->buffers.count, l->next_node, l->next_buffer);
    return 0;
}

int ipc_batch_rows(const struct ipc_stream *s, struct ipc_message *m, int64_t *ret, struct err *err)
{
    int64_t rows = fb_int(&m->header, 0, 8, 0);

    if (m->fb.problem)
        return ipc_fail_fb(s, m, err);
    if (rows < 0)
        return ipc_fail(s, m->meta, err, "a batch of %lld rows", (long long)rows);
    *ret = rows;
    return 0;
}

int ipc_batch_load(struct ipc_stream *s, struct ipc_message *m, struct ipc_memory *mem,
                   const struct arrow_array **ret, struct err *err)
{
    struct ipc_loader l = {.s = s, .m = m, .mem = mem, .err = err};
    struct arrow_array *root = arena_alloc(&mem->arena, sizeof(*root));
    int r = start_load(&l, &m->header);

    if (r < 0)
        return r;
    *root =
        (struct arrow_array){.field = &s->schema.root, .storage = ARROW_STRUCT, .length = l.rows};
    r = load_children(&l, root);
    for (size_t i = 0; r == 0 && i < root->n_children; i++)
        if (root->children[i].length != l.rows)
            r = ipc_load_fail(&l, &root->children[i], "%lld values in a batch of %lld rows",
                              (long long)root->children[i].length, (long long)l.rows);
    if (r == 0 && root->n_children == 0)
        r = ipc_charge(&l, root, (size_t)l.rows);
    if (r == 0)
        r = end_load(&l);
    if (r == 0)
        *ret = root;
    return r;
}

void ipc_dictionary_clear(struct ipc_dictionary *d)
{
    ipc_memory_release(&d->memory);
    free(d->values.parts);
    free(d->values.starts);
    d->values = (struct arrow_dictionary){0};
}

static void add_part(struct ipc_dictionary *d, struct arrow_array *part)
{
    struct arrow_dictionary *v = &d->values;
    size_t n = v->n_parts;

    if ((n & (n - 1)) == 0) { /* room doubles at powers of two */
        v->parts = xreallocarray(v->parts, n ? 2 * n : 1, sizeof(*v->parts));
        v->starts = xreallocarray(v->starts, n ? 2 * n : 1, sizeof(*v->starts));
    }
    v->parts[n] = part;
    v->starts[n] = v->length;
    v->length += part->length;
    v->n_parts++;
}

static int load_dictionary_values(struct ipc_loader *l, const struct ipc_dictionary *d,
                                  const struct fb_table *batch, struct arrow_array **ret)
{
    struct arrow_array *a = arena_alloc(&l->mem->arena, sizeof(*a));
    int r = start_load(l, batch);

    if (r < 0)
        return r;
    *a = (struct arrow_array){.field = d->field, .storage = d->field->type};
    r = load_array(l, a);
    if (r == 0 && a->length != l->rows)
        r = ipc_load_fail(l, a, "%lld values in a dictionary of %lld", (long long)a->length,
                          (long long)l->rows);
    if (r == 0 && a->length > INT64_MAX - d->values.length)
        r = ipc_load_fail(l, a, "a dictionary of too many values");
    if (r == 0)
        r = end_load(l);
    if (r == 0)
        *ret = a;
    return r;
}

int ipc_dictionary_load(struct ipc_stream *s, struct ipc_message *m, struct err *err)
{
    struct fb_table batch = fb_table(&m->header, 1);
    int64_t id = fb_int(&m->header, 0, 8, 0);
    bool is_delta = fb_bool(&m->header, 2, false);
    struct ipc_dictionary *d = ipc_dictionary_find(s, id);
    AUTO(ipc_memory) struct ipc_memory fresh = {0};
    struct ipc_loader l = {.s = s, .m = m, .err = err, .is_dictionary = true};
    struct arrow_array *values = NULL;
    int r;

    if (m->fb.problem)
        return ipc_fail_fb(s, m, err);
    if (!d || !batch.fb)
        return ipc_fail(s, m->meta, err, "dictionary %lld is not in the schema", (long long)id);
    if (is_delta && d->values.n_parts == 0)
        return ipc_fail(s, m->meta, err, "more of dictionary %lld, of which there is nothing yet",
                        (long long)id);
    /* what is added lives with what is there; what replaces it is complete before the old goes */
    l.mem = is_delta ? &d->memory : &fresh;
    r = load_dictionary_values(&l, d, &batch, &values);
    if (r < 0)
        return r;
    if (!is_delta) {
        ipc_dictionary_clear(d);
        d->memory = fresh;
        fresh = (struct ipc_memory){0};
    }
    assert(values);
    add_part(d, values);
    return 0;
}
