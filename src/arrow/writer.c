/*
 * A message is: FF FF FF FF, the size of the metadata, the metadata (a Flatbuffers "Message",
 * padded to 8), the body. The tables and the ids of their fields are those of Arrow's Message.fbs
 * and Schema.fbs. The body is a list of parts that point into the builder's own buffers, each
 * followed by the zeros that pad it to 8.
 */
#include "arrow/writer.h"

#include "arrow/flatbuf_build.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { METADATA_V5 = 4 };
enum { HEADER_SCHEMA = 1, HEADER_RECORD_BATCH = 3 };
enum { TYPE_NULL = 1, TYPE_INT, TYPE_FLOAT, TYPE_UTF8 = 5, TYPE_BOOL, TYPE_LIST = 12, TYPE_STRUCT };
enum { PRECISION_DOUBLE = 2 };

static const char zeros[8];

static size_t padding(size_t n)
{
    return (8 - n % 8) % 8;
}

static int write_to_buf(void *ctx, const struct iovec *parts, size_t n_parts, struct err *err)
{
    struct buf *out = ctx;

    for (size_t i = 0; i < n_parts; i++)
        if (buf_add(out, parts[i].iov_base, parts[i].iov_len) < 0)
            return err_set(err, EMSGSIZE, "an Arrow stream passes the limit of %zu bytes",
                           out->max);
    return 0;
}

struct arrow_sink arrow_sink_buf(struct buf *out)
{
    return (struct arrow_sink){.write = write_to_buf, .ctx = out};
}

/* Drops the first n bytes of the parts. */
static void skip_bytes(struct iovec **parts, size_t *n_parts, size_t n)
{
    while (*n_parts > 0 && n >= (*parts)->iov_len) {
        n -= (*parts)->iov_len;
        (*parts)++;
        (*n_parts)--;
    }
    if (n > 0) {
        (*parts)->iov_base = (char *)(*parts)->iov_base + n;
        (*parts)->iov_len -= n;
    }
}

static int write_to_fd(void *ctx, const struct iovec *parts, size_t n_parts, struct err *err)
{
    AUTO_FREE struct iovec *copy = xmemdup(parts, n_parts * sizeof(*parts));
    struct iovec *rest = copy;
    int fd = (int)(intptr_t)ctx;

    skip_bytes(&rest, &n_parts, 0);
    while (n_parts > 0) {
        ssize_t n = writev(fd, rest, n_parts < IOV_MAX ? (int)n_parts : IOV_MAX);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return err_sys(err, n < 0 ? errno : EIO, "cannot write an Arrow stream");
        skip_bytes(&rest, &n_parts, (size_t)n);
    }
    return 0;
}

struct arrow_sink arrow_sink_fd(int fd)
{
    return (struct arrow_sink){.write = write_to_fd, .ctx = (void *)(intptr_t)fd};
}

/* Metadata in front of the body's parts: parts[0] and [1] are free for it. */
static int send_message(const struct arrow_sink *sink, struct buf *metadata, struct iovec *parts,
                        size_t n_parts, struct err *err)
{
    uint32_t prefix[2] = {0xFFFFFFFF, 0};

    flatbuf_end(metadata);
    if (metadata->failed)
        return err_set(err, EFBIG, "the metadata of an Arrow message passes 2 GiB");
    prefix[1] = (uint32_t)metadata->len;
    parts[0] = (struct iovec){prefix, sizeof(prefix)};
    parts[1] = (struct iovec){metadata->data, metadata->len};
    return sink->write(sink->ctx, parts, n_parts, err);
}

/* The Message table. Returns where its reference to the header stands. */
static size_t begin_message(struct buf *out, uint8_t header_type, size_t body_bytes)
{
    struct flatbuf_slot message[] = {FLATBUF_I16(METADATA_V5), FLATBUF_U8(header_type), FLATBUF_REF,
                                     FLATBUF_I64((int64_t)body_bytes)};

    flatbuf_begin(out);
    flatbuf_link(out, 0, flatbuf_table(out, message, 4));
    return message[2].at;
}

static size_t write_text(struct buf *out, const char *text)
{
    AUTO(buf) struct buf clean = BUF_INIT(FLATBUF_MAX);
    size_t n = strlen(text);

    if (utf8_valid(text, n))
        return flatbuf_string(out, text, n);
    if (utf8_sanitize(&clean, text, n) < 0)
        out->failed = true;
    return flatbuf_string(out, buf_str(&clean), clean.len);
}

static uint8_t type_id(enum arrow_type type)
{
    switch (type) {
    case ARROW_BOOL:
        return TYPE_BOOL;
    case ARROW_INT64:
        return TYPE_INT;
    case ARROW_FLOAT64:
        return TYPE_FLOAT;
    case ARROW_UTF8:
        return TYPE_UTF8;
    case ARROW_STRUCT:
        return TYPE_STRUCT;
    case ARROW_LIST:
        return TYPE_LIST;
    default:
        return TYPE_NULL;
    }
}

/* A type is a table, even where it has nothing to say. */
static size_t write_type(struct buf *out, enum arrow_type type)
{
    struct flatbuf_slot int64[] = {FLATBUF_I32(64), FLATBUF_U8(true)}; /* bitWidth, is_signed */
    struct flatbuf_slot float64[] = {FLATBUF_I16(PRECISION_DOUBLE)};

    switch (type) {
    case ARROW_INT64:
        return flatbuf_table(out, int64, 2);
    case ARROW_FLOAT64:
        return flatbuf_table(out, float64, 1);
    default:
        return flatbuf_table(out, NULL, 0);
    }
}

static size_t write_fields(struct buf *out, const struct arrow_field *parent);

static size_t write_field(struct buf *out, const struct arrow_field *f)
{
    enum { NAME, NULLABLE, TYPE_TYPE, TYPE, DICTIONARY, CHILDREN, N_SLOTS };
    struct flatbuf_slot field[N_SLOTS] = {
        [NAME] = FLATBUF_REF,
        [NULLABLE] = FLATBUF_U8(true),
        [TYPE_TYPE] = FLATBUF_U8(type_id(f->type)),
        [TYPE] = FLATBUF_REF,
        [CHILDREN] = FLATBUF_REF,
    };
    size_t pos = flatbuf_table(out, field, N_SLOTS);

    flatbuf_link(out, field[NAME].at, write_text(out, f->name));
    flatbuf_link(out, field[TYPE].at, write_type(out, f->type));
    flatbuf_link(out, field[CHILDREN].at, write_fields(out, f));
    return pos;
}

static size_t write_fields(struct buf *out, const struct arrow_field *parent)
{
    size_t pos = flatbuf_refs(out, parent->n_children);

    for (size_t i = 0; i < parent->n_children; i++)
        flatbuf_link(out, pos + 4 + 4 * i, write_field(out, &parent->children[i]));
    return pos;
}

/* The schema's only metadata, as a vector of one KeyValue. */
static size_t write_metadata(struct buf *out, const char *key, const char *value)
{
    struct flatbuf_slot pair[] = {FLATBUF_REF, FLATBUF_REF};
    size_t pos = flatbuf_refs(out, 1);

    flatbuf_link(out, pos + 4, flatbuf_table(out, pair, 2));
    flatbuf_link(out, pair[0].at, write_text(out, key));
    flatbuf_link(out, pair[1].at, write_text(out, value));
    return pos;
}

int arrow_write_schema(const struct arrow_sink *sink, const struct arrow_schema *schema,
                       struct err *err)
{
    enum { ENDIANNESS, FIELDS, CUSTOM_METADATA, N_SLOTS };
    AUTO(buf) struct buf out = BUF_INIT(FLATBUF_MAX);
    struct flatbuf_slot slots[N_SLOTS] = {[FIELDS] = FLATBUF_REF};
    struct iovec parts[2];
    size_t header;
    int r = arrow_schema_check_writable(schema, err);

    if (r < 0)
        return r;
    if (schema->huggingface)
        slots[CUSTOM_METADATA] = (struct flatbuf_slot)FLATBUF_REF;
    header = begin_message(&out, HEADER_SCHEMA, 0);
    flatbuf_link(&out, header, flatbuf_table(&out, slots, N_SLOTS));
    flatbuf_link(&out, slots[FIELDS].at, write_fields(&out, &schema->root));
    if (schema->huggingface)
        flatbuf_link(&out, slots[CUSTOM_METADATA].at,
                     write_metadata(&out, "huggingface", schema->huggingface));
    return send_message(sink, &out, parts, 2, err);
}

/* What a record batch's metadata says of its body, and the body itself. */
struct body {
    int64_t *nodes;   /* length, null count */
    int64_t *buffers; /* offset, length */
    struct iovec *parts;
    size_t n_nodes, n_buffers, n_parts;
    size_t bytes;
};

static void body_release(struct body *body)
{
    free(body->nodes);
    free(body->buffers);
    free(body->parts);
}

/* writev takes parts that it does not change through a pointer that is not const. */
static struct iovec part(const void *p, size_t n)
{
    return (struct iovec){.iov_base = (void *)(uintptr_t)p, .iov_len = n};
}

static void add_buffer(struct body *body, const struct arrow_buffer *span)
{
    body->buffers[2 * body->n_buffers] = (int64_t)body->bytes;
    body->buffers[2 * body->n_buffers + 1] = (int64_t)span->bytes;
    body->n_buffers++;
    if (span->bytes == 0)
        return;
    body->parts[body->n_parts++] = part(span->data, span->bytes);
    if (padding(span->bytes))
        body->parts[body->n_parts++] = part(zeros, padding(span->bytes));
    body->bytes += span->bytes + padding(span->bytes);
}

static void lay_out_body(struct body *body, const struct arrow_builder *b)
{
    const struct arrow_column *columns = arrow_builder_columns(b);
    size_t n = arrow_builder_count(b);

    body->nodes = xcalloc(n, 2 * sizeof(*body->nodes));
    body->buffers = xcalloc(n, 2 * ARROW_SPANS_MAX * sizeof(*body->buffers));
    body->parts = xcalloc(2 + 2 * ARROW_SPANS_MAX * n, sizeof(*body->parts));
    body->n_parts = 2; /* send_message's */
    for (size_t i = 0; i < n; i++) {
        struct arrow_buffer spans[ARROW_SPANS_MAX];
        size_t n_spans = arrow_column_spans(&columns[i], spans);

        body->nodes[2 * i] = (int64_t)columns[i].len;
        body->nodes[2 * i + 1] = (int64_t)arrow_column_nulls(&columns[i]);
        for (size_t k = 0; k < n_spans; k++)
            add_buffer(body, &spans[k]);
    }
    body->n_nodes = n;
}

int arrow_write_batch(const struct arrow_sink *sink, const struct arrow_builder *b, struct err *err)
{
    AUTO(buf) struct buf out = BUF_INIT(FLATBUF_MAX);
    AUTO(body) struct body body = {0};
    struct flatbuf_slot batch[] = {FLATBUF_I64(arrow_builder_rows(b)), FLATBUF_REF, FLATBUF_REF};
    size_t header;

    if (arrow_builder_in_row(b))
        return err_set(err, EINVAL, "a record batch is written in the middle of a row");
    lay_out_body(&body, b);
    header = begin_message(&out, HEADER_RECORD_BATCH, body.bytes);
    flatbuf_link(&out, header, flatbuf_table(&out, batch, 3));
    flatbuf_link(&out, batch[1].at, flatbuf_pairs(&out, body.nodes, body.n_nodes));
    flatbuf_link(&out, batch[2].at, flatbuf_pairs(&out, body.buffers, body.n_buffers));
    return send_message(sink, &out, body.parts, body.n_parts, err);
}

int arrow_write_end(const struct arrow_sink *sink, struct err *err)
{
    static const uint32_t marker[2] = {0xFFFFFFFF, 0};
    struct iovec whole = part(marker, sizeof(marker));

    return sink->write(sink->ctx, &whole, 1, err);
}
