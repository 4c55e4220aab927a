/*
 * judgements: what a judge has said about a run's answers, kept from the moment it said it.
 *
 * A judge costs time and money, so no verdict may be lost to a kill, and no question be asked
 * twice. Each verdict is a line of analysis/judgements.jsonl in the run's directory, appended as it
 * comes; it is found again by what was asked: the scorer, the judge's model, the three texts, and
 * the version of our wording.
 *
 *     AUTO_PTR(judgements) struct judgements *kept = NULL;
 *     r = judgements_open(dir, &kept, &err);
 *     uint64_t key = judgements_key("judge", model, &item, answer);
 *     const struct score *known = judgements_find(kept, key);
 *     if (!known)
 *         ask, and when there is a verdict:
 *             r = judgements_add(kept, key, row, "judge", model, &score, &err);
 *
 * One thread; two processes may append to the same file.
 */
#ifndef IPW_ANALYSIS_JUDGEMENTS_H
#define IPW_ANALYSIS_JUDGEMENTS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "core/item.h"
#include "score/scorer.h"

#include <stdint.h>

#define JUDGEMENTS_FILE "analysis/judgements.jsonl"

struct judgements;

/* Reads what there is; a missing file is none. Lines that cannot be read, the last of a process
 * that was killed for example, are passed over. */
int judgements_open(const char *dir, struct judgements **ret, struct err *err);
/* Makes what was added durable. NULL is fine. */
void judgements_close(struct judgements *j);
DEFINE_AUTO_PTR(judgements, judgements_close);

/* Not against an adversary: two texts can be made to have one key. answer may be NULL. */
uint64_t judgements_key(const char *spec, const char *model, const struct item *item,
                        const char *answer);
/* NULL when there is no verdict; of several the last. Valid until the next addition. */
const struct score *judgements_find(const struct judgements *j, uint64_t key);

/* Keeps a verdict, in the file and in memory. */
int judgements_add(struct judgements *j, uint64_t key, int64_t row, const char *spec,
                   const char *model, const struct score *score, struct err *err);

#endif
