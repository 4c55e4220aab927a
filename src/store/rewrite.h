/*
 * rewrite: the verdicts on a run's answers, written back into its rows.
 *
 *     AUTO_PTR(rewrite) struct rewrite *w = NULL;
 *     r = rewrite_open(dir, model, &w, &err);                 locks the run
 *     for every row, in order:
 *         r = rewrite_row(w, changed ? &evaluation : NULL, &err);
 *     r = rewrite_commit(w, &err);                            now it is the run
 *
 * A row keeps everything but model_metrics.<model>.lm_correctness and .evaluation.{is_correct,
 * metadata, scorer}; columns of these that the run does not have are added. Rows are streamed, so
 * memory is that of a few batches; the disk needs room for the data twice. As long as no row
 * changes nothing is written.
 *
 * How it survives a kill at any instant: the new data is written to `.ipw-rewrite/` in the run's
 * directory, complete with its own metadata. state.json, which names the shards, is then replaced
 * in one step by one that names those in `.ipw-rewrite/`: that is the moment at which the new data
 * is the run. What follows (the shards get their usual names, the old ones and `.ipw-rewrite/` go)
 * can be interrupted and is finished by rewrite_settle. At every instant the directory can be
 * loaded, with the old or the new values throughout. Where the file system has no hard links, there
 * is a moment behind that point at which only this program can, by settling it.
 *
 * For one thread.
 */
#ifndef IPW_STORE_REWRITE_H
#define IPW_STORE_REWRITE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct rewrite;

/* As in struct record. */
struct evaluation {
    int correct;          /* -1 not scored, 0 wrong, 1 correct */
    const char *scorer;   /* NULL = null */
    const char *metadata; /* NULL = null */
};

/* `model` is the key of model_metrics. -EBUSY while another process writes the run. */
int rewrite_open(const char *dir, const char *model, struct rewrite **ret, struct err *err);
/* The next row. NULL: as it is. -ENOTSUP when the run has columns that cannot be written, found out
 * at the first change. After a failure only closing is left. */
int rewrite_row(struct rewrite *w, const struct evaluation *change, struct err *err);
/* Rows not given yet stay as they are. Does nothing when no row was changed. */
int rewrite_commit(struct rewrite *w, struct err *err);
/* Unlocks; without a commit the run stays as it was. NULL is fine. */
void rewrite_close(struct rewrite *w);
DEFINE_AUTO_PTR(rewrite, rewrite_close);

/* Finishes or forgets what an interrupted rewrite left in the directory, whose lock the caller
 * holds. */
int rewrite_settle(int dirfd, struct err *err);
/* Whether there is something to settle. */
bool rewrite_unsettled(int dirfd);

#endif
