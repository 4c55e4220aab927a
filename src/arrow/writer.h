/*
 * writer: the messages of an Arrow IPC stream, as HuggingFace's data-*.arrow files have them.
 *
 *     struct arrow_sink sink = arrow_sink_fd(fd);
 *     r = arrow_write_schema(&sink, &schema, &err);
 *     while (rows) { fill the builder; r = arrow_write_batch(&sink, builder, &err); clear it }
 *     r = arrow_write_end(&sink, &err);
 *
 * Uncompressed, little-endian, metadata version 5, every field nullable. A reader takes a stream
 * without its end too: what was written is readable after each message. A sink that fails may have
 * taken part of a message; the stream is then good up to the message before.
 */
#ifndef IPW_ARROW_WRITER_H
#define IPW_ARROW_WRITER_H

#include "arrow/builder.h"
#include "arrow/schema.h"
#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>
#include <sys/uio.h>

/* Where a stream goes. One call per message, all its parts in order: they must be taken whole
 * before the call returns 0. */
struct arrow_sink {
    int (*write)(void *ctx, const struct iovec *parts, size_t n_parts, struct err *err);
    void *ctx;
};

/* Appends to a buf, lent as long as the sink is used; -EMSGSIZE past its limit. */
struct arrow_sink arrow_sink_buf(struct buf *out);
/* Writes to a file descriptor, lent likewise, however often the kernel takes only a part. */
struct arrow_sink arrow_sink_fd(int fd);

/* The schema message, with the metadata "huggingface" when the schema has it. Names and metadata
 * that are not UTF-8 get U+FFFD for each bad byte. Fails as arrow_schema_check_writable does, with
 * -EFBIG when the message would pass 2 GiB, or as the sink does. */
int arrow_write_schema(const struct arrow_sink *sink, const struct arrow_schema *schema,
                       struct err *err);
/* The builder's rows as one record batch; none is fine too. The body goes to the sink from where
 * it lies. -EINVAL when a row was begun and not ended, or as the sink fails. */
int arrow_write_batch(const struct arrow_sink *sink, const struct arrow_builder *b,
                      struct err *err);
/* The end-of-stream marker. */
int arrow_write_end(const struct arrow_sink *sink, struct err *err);

#endif
