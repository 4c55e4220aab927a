/*
 * What hfwriter.c (writing) and hfrecover.c (taking up what was interrupted) share.
 */
#ifndef IPW_STORE_HFWRITER_PRIVATE_H
#define IPW_STORE_HFWRITER_PRIVATE_H

#include "arrow/builder.h"
#include "base/buf.h"
#include "base/checksum.h"
#include "base/clock.h"

#include <stdint.h>

#define PART_NAME_MAX 64
#define CHUNK_BYTES   ((size_t)256 << 10)

struct hfwriter {
    int dirfd;
    struct arrow_schema schema;
    struct buf schema_message;
    struct arrow_builder *batch;   /* rows since the last COMMIT */
    struct arrow_builder *message; /* where rows for the journal are put together */
    int64_t journaled;             /* rows of `batch` that the journal has */
    int64_t rows;                  /* all */
    mono_ns oldest_fresh;          /* when the first row that it has not was appended */

    int part_fd;
    uint64_t part;             /* its number */
    uint64_t offset;           /* its length: whole batches */
    struct checksum batch_sum; /* of the batch being written */
    uint64_t batch_bytes;
    char *chunk; /* CHUNK_BYTES of room, and what it holds at the place it has in the file */
    size_t chunk_from, chunk_to;

    int journal_fd;
    struct syncer *syncer;
};

/* part-00000.arrow while it is written, data-00000-of-00001.arrow when the set is finished. */
void part_name(char name[PART_NAME_MAX], uint64_t part);
void shard_name(char name[PART_NAME_MAX], uint64_t part, uint64_t parts);

/* Everything but the files: takes the schema over. */
int hfwriter_new(int dirfd, struct arrow_schema *schema, struct hfwriter **ret, struct err *err);
int hfwriter_open_journal(struct hfwriter *w, const char *name, int flags, struct err *err);
void hfwriter_copy_schema(struct arrow_schema *to, const struct arrow_schema *from);

#endif
