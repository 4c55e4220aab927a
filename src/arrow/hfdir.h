/*
 * hfdir: a HuggingFace dataset directory, as `save_to_disk` writes it.
 *
 *     AUTO_PTR(hfdir) struct hfdir *h = NULL;
 *     const struct arrow_array *batch;
 *     int more = hfdir_open(AT_FDCWD, "my_dataset", NULL, &h, &err);
 *     while (more >= 0 && (more = hfdir_next(h, &batch, &err)) > 0)
 *         use(arrow_child(batch, "problem"));
 *
 * Opened is a directory with state.json, whose shards are read in its order; or one with
 * dataset_dict.json, of which one split is taken. The schema is the union of the shards' columns by
 * name, at every level of structs: where one shard has a column of type null, or lacks it, another
 * shard's type counts and its own rows are null. The order is that of first appearance. Two shards
 * that disagree on a type are an error, as is one name twice in a struct. In the union no column is
 * dictionary-encoded: the accessors of array.h look values up.
 *
 * Every shard is opened twice, first for its schema and row count, then for its rows; one is mapped
 * at a time (see reader.h for what that means). dataset_info.json is not needed. For one thread at
 * a time.
 */
#ifndef IPW_ARROW_HFDIR_H
#define IPW_ARROW_HFDIR_H

#include "arrow/array.h"
#include "arrow/schema.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdint.h>

struct hfdir;

/* `split` NULL takes the first split of a DatasetDict, and any plain directory. A name that is not
 * there gives -ENOENT with words that list those that are; a plain directory has the split that its
 * state.json says it was, if any. -ENOENT too when it is no such directory. */
int hfdir_open(int dirfd, const char *path, const char *split, struct hfdir **ret, struct err *err);
/* NULL is allowed. */
void hfdir_close(struct hfdir *h);
DEFINE_AUTO_PTR(hfdir, hfdir_close);

/* Belongs to h. `huggingface` is that of the first shard. */
const struct arrow_schema *hfdir_schema(const struct hfdir *h);
/* What the metadata of all shards' batches add up to. No body was looked at: good for a progress
 * display, not for an allocation. */
int64_t hfdir_rows(const struct hfdir *h);

/* As arrow_reader_next, over all shards; every batch has the columns of the schema. */
int hfdir_next(struct hfdir *h, const struct arrow_array **ret, struct err *err);

#endif
