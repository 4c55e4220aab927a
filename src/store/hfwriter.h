/*
 * hfwriter: a HuggingFace dataset written row by row, that survives whatever ends the program.
 *
 *     r = hfwriter_create(dirfd, &schema, &w, &err);        dirfd: an empty directory
 *     r = hfwriter_append(w, put, arg, mono_now(), &err);    one row
 *     r = hfwriter_tick(w, mono_now(), &err);                at hfwriter_due(w), or more often
 *     r = hfwriter_finish(w, &err);                          now it is a dataset
 *     hfwriter_free(w);
 *
 * While it is written the directory holds part-*.arrow (batches of 1000 rows) and `journal` (the
 * rows since the last whole batch, and which bytes of the parts count). A row is in the journal,
 * and so safe from a kill of the process, at the latest HFWRITER_FLUSH_NS after it was appended; it
 * is synced to the disk at once after that by a thread of the writer's own, so that a slow disk
 * does not hold up the caller. hfwriter_finish turns the parts into data-*.arrow, writes
 * dataset_info.json and state.json, and removes the journal. A directory with a journal is
 * unfinished: hfwriter_resume takes it up where it was, whatever happened.
 *
 * Memory: two batches, however many rows there are. A write that fails (a full disk) leaves all
 * that was written before it good; the row that failed and those not yet in the journal are lost.
 *
 * One thread calls all functions.
 */
#ifndef IPW_STORE_HFWRITER_H
#define IPW_STORE_HFWRITER_H

#include "arrow/array.h"
#include "arrow/builder.h"
#include "arrow/schema.h"
#include "base/clock.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define HFWRITER_BATCH_ROWS  1000
#define HFWRITER_SHARD_BYTES INT64_C(500000000)
#define HFWRITER_FLUSH_NS    (500 * NS_PER_MS)

struct hfwriter;

/* Puts one row into the builder (arrow_builder_end_row is the writer's). May be called again for
 * the same row, and then must put the same. */
typedef void hfwriter_put_fn(void *arg, struct arrow_builder *b);
/* Is shown every batch of rows that a resumed directory holds already. */
typedef int hfwriter_seen_fn(void *arg, const struct arrow_array *batch, struct err *err);

/* The directory must not hold a journal. */
int hfwriter_create(int dirfd, const struct arrow_schema *schema, struct hfwriter **ret,
                    struct err *err);
/* Takes up an unfinished directory, or makes a finished one unfinished again so that rows can be
 * added. `seen` may be NULL. The schema is the directory's own. -ENODATA when it was interrupted
 * before the first byte was committed: nothing is lost by making it anew. */
int hfwriter_resume(int dirfd, hfwriter_seen_fn *seen, void *arg, struct hfwriter **ret,
                    struct err *err);
/* Whether there is a journal. */
bool hfwriter_unfinished(int dirfd);

int hfwriter_append(struct hfwriter *w, hfwriter_put_fn *put, void *arg, mono_ns now,
                    struct err *err);
/* Journals the rows that are due; does nothing before hfwriter_due. Also reports what the syncing
 * thread met. */
int hfwriter_tick(struct hfwriter *w, mono_ns now, struct err *err);
/* When hfwriter_tick wants to be called; MONO_NEVER when nothing waits. */
mono_ns hfwriter_due(const struct hfwriter *w);
/* Journals everything and waits until it is on the disk. */
int hfwriter_sync(struct hfwriter *w, struct err *err);

const struct arrow_schema *hfwriter_schema(const struct hfwriter *w);
int64_t hfwriter_rows(const struct hfwriter *w);
int hfwriter_finish(struct hfwriter *w, struct err *err);
/* Without hfwriter_finish the directory stays unfinished. NULL is fine. */
void hfwriter_free(struct hfwriter *w);

/* dataset_info.json and state.json for these shards; also used when an analysis rewrites a set. */
int hf_write_metadata(int dirfd, const struct arrow_schema *schema, const char *const *shards,
                      size_t n_shards, struct err *err);

#endif
