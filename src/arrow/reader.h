/*
 * reader: an Arrow IPC stream, batch by batch.
 *
 *     AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
 *     const struct arrow_array *batch;
 *     int more = arrow_reader_open(AT_FDCWD, "data-00000-of-00001.arrow", &r, &err);
 *     while (more >= 0 && (more = arrow_reader_next(r, &batch, &err)) > 0)
 *         use(arrow_child(batch, "problem"));
 *     if (more < 0) ...
 *
 * Read are the types of enum arrow_type, at any nesting down to ARROW_DEPTH_MAX levels; dictionary
 * encoding of flat types, with replaced and added-to dictionaries; LZ4 and ZSTD bodies; metadata V4
 * and V5; the framing from before Arrow 0.15; a stream without its end marker. Extension types are
 * read as what they are stored as. Everything else (map, union, run-end encoded, list views,
 * intervals, big-endian data, the Arrow *file* format) is refused at once, -ENOTSUP or -EBADMSG,
 * with the column and type in the words.
 *
 * The file is mapped, not read: values point into it. A batch is checked completely before it is
 * handed out (offsets, indexes, UTF-8), so a truncated, damaged or hostile file gives -EBADMSG with
 * words that name the file and the byte, never a wrong access, and never takes more memory or time
 * than its size deserves. Known limit: when another process shortens the file while it is mapped,
 * touching the lost part raises SIGBUS. The size is taken once, at opening; files that only grow,
 * or are replaced by rename, are safe.
 *
 * A reader is for one thread at a time.
 */
#ifndef IPW_ARROW_READER_H
#define IPW_ARROW_READER_H

#include "arrow/array.h"
#include "arrow/schema.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct arrow_reader;

/* Opens the file and reads its schema. */
int arrow_reader_open(int dirfd, const char *path, struct arrow_reader **ret, struct err *err);
/* The same over bytes that the caller keeps until the reader is closed; `name` is for messages. */
int arrow_reader_open_memory(const void *data, size_t size, const char *name,
                             struct arrow_reader **ret, struct err *err);
/* NULL is allowed. Its schema and batches are gone. */
void arrow_reader_close(struct arrow_reader *r);
DEFINE_AUTO_PTR(arrow_reader, arrow_reader_close);

/* Belongs to the reader. */
const struct arrow_schema *arrow_reader_schema(const struct arrow_reader *r);

/* 1 = *ret is a batch: a struct array whose children are the columns in the schema's order. It
 * lives until the next call. 0 = the end; what lies behind an end marker is not looked at. After an
 * error another call gives the same error. */
int arrow_reader_next(struct arrow_reader *r, const struct arrow_array **ret, struct err *err);

/* The rows of the whole stream, from the metadata of its messages alone. Does not move the reader;
 * a later arrow_reader_next may still find a body to be damaged. */
int arrow_reader_rows(const struct arrow_reader *r, int64_t *ret, struct err *err);

/* The byte behind the last message that was read and found good: the schema, a dictionary or a
 * batch, not the end marker. A file that breaks off can be cut here and continued. */
int64_t arrow_reader_position(const struct arrow_reader *r);

#endif
