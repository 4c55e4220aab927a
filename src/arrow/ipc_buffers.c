/*
 * The nodes and buffers of a batch, taken one after the other in the order of the schema's tree,
 * and what they may cost.
 */
#include "arrow/bytes.h"
#include "arrow/ipc.h"
#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ipc_memory_reset(struct ipc_memory *m)
{
    for (size_t i = 0; i < m->n_blocks; i++)
        free(m->blocks[i]);
    m->n_blocks = 0;
    arena_reset(&m->arena);
}

void ipc_memory_release(struct ipc_memory *m)
{
    ipc_memory_reset(m);
    free(m->blocks);
    arena_release(&m->arena);
    *m = (struct ipc_memory){0};
}

/* "a.b" of an array, written from its end; "..." for what does not fit. */
static const char *column_path(const struct arrow_array *a, char *text, size_t size)
{
    char *p = text + size - 1;

    *p = '\0';
    for (; a && (a->parent || a->field->name[0]); a = a->parent) {
        size_t n = strlen(a->field->name), dot = *p != '\0';

        if (n + dot + 3 > (size_t)(p - text)) {
            p -= 3;
            memcpy(p, "...", 3);
            break;
        }
        if (dot)
            *--p = '.';
        p -= n;
        memcpy(p, a->field->name, n);
    }
    return p;
}

int ipc_load_fail(const struct ipc_loader *l, const struct arrow_array *a, const char *fmt, ...)
{
    char words[ERR_TEXT_MAX], path[100];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    return ipc_fail(l->s, l->where, l->err, "column '%s': %s", column_path(a, path, sizeof(path)),
                    words);
}

int ipc_charge(struct ipc_loader *l, const struct arrow_array *a, size_t amount)
{
    if (amount > INT64_MAX || (int64_t)amount > l->s->allowance)
        return ipc_load_fail(l, a, "more values (%zu) than a file of this size can hold", amount);
    l->s->allowance -= (int64_t)amount;
    return 0;
}

int ipc_take_node(struct ipc_loader *l, struct arrow_array *a)
{
    const uint8_t *node;

    if (l->next_node >= l->nodes.count)
        return ipc_load_fail(l, a, "the batch has only %u nodes", l->nodes.count);
    node = fb_item(&l->nodes, l->next_node++);
    l->where = (size_t)(node - l->s->data);
    a->length = load_i64(node);
    a->null_count = load_i64(node + 8);
    if (a->length < 0 || a->null_count < -1 || a->null_count > a->length)
        return ipc_load_fail(l, a, "%lld nulls in %lld values", (long long)a->null_count,
                             (long long)a->length);
    return 0;
}

/* Bytes from the file itself cost nothing, until columns share them: that makes work which the
 * file's size does not pay for. */
static int claim(struct ipc_loader *l, const struct arrow_array *a, size_t need)
{
    if (need > l->m->body_size - l->claimed)
        return ipc_charge(l, a, need);
    l->claimed += need;
    return 0;
}

static int decompress_buffer(struct ipc_loader *l, const struct arrow_array *a, size_t need,
                             struct arrow_span *span)
{
    AUTO(buf) struct buf out = BUF_INIT(need);
    struct err why = {0};
    int r;

    r = ipc_charge(l, a, need);
    if (r < 0)
        return r;
    if (decompress(&l->s->decompressor, l->codec, span->data, span->size, need, &out, &why) < 0)
        return ipc_load_fail(l, a, "%s", why.text);
    span->size = out.len;
    GROW(l->mem->blocks, l->mem->n_blocks, l->mem->cap_blocks);
    l->mem->blocks[l->mem->n_blocks++] = buf_take(&out);
    span->data = (const uint8_t *)l->mem->blocks[l->mem->n_blocks - 1];
    return 0;
}

int ipc_take_buffer(struct ipc_loader *l, const struct arrow_array *a, size_t need,
                    struct arrow_span *ret)
{
    struct arrow_span span = {0};
    const uint8_t *entry;
    int64_t offset, size;
    int r = 0;

    if (l->next_buffer >= l->buffers.count)
        return ipc_load_fail(l, a, "the batch has only %u buffers", l->buffers.count);
    entry = fb_item(&l->buffers, l->next_buffer++);
    l->where = (size_t)(entry - l->s->data);
    offset = load_i64(entry);
    size = load_i64(entry + 8);
    if (size < 0 || (size > 0 && (offset < 0 || (uint64_t)offset > l->m->body_size ||
                                  (uint64_t)size > l->m->body_size - (uint64_t)offset)))
        return ipc_load_fail(l, a,
                             "a buffer (%lld bytes from %lld on) lies outside the body of %zu",
                             (long long)size, (long long)offset, l->m->body_size);
    if (need == 0) {
        *ret = span;
        return 0;
    }
    if (size > 0) {
        l->where = l->m->body + (size_t)offset;
        span = (struct arrow_span){l->s->data + l->where, (size_t)size};
        if (l->codec != ARROW_UNCOMPRESSED &&
            !decompress_is_raw(span.data, span.size, &span.data, &span.size))
            r = decompress_buffer(l, a, need, &span);
        else if (span.size >= need)
            r = claim(l, a, need);
    }
    if (r == 0 && span.size < need)
        r = ipc_load_fail(l, a, "a buffer has %zu bytes where %zu are needed", span.size, need);
    if (r == 0)
        *ret = (struct arrow_span){span.data, need};
    return r;
}
