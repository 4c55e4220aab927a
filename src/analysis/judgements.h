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
 *     const struct judgement *known = judgements_find(kept, key);
 *     if (!judgement_is_final(known))
 *         ask, and when there is a result:
 *             r = judgements_add(kept, key, row, "judge", model, &result, &err);
 *
 * A question at which the server has failed JUDGEMENT_FAILURES_MAX times, on different days as it
 * were, is not asked again. Failures that say nothing of the question (nobody there, a refused key,
 * an interruption) are not kept. One thread; two processes may append to the same file.
 */
#ifndef IPW_ANALYSIS_JUDGEMENTS_H
#define IPW_ANALYSIS_JUDGEMENTS_H

#include "analysis/judge.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "core/item.h"
#include "score/scorer.h"

#include <stdbool.h>
#include <stdint.h>

#define JUDGEMENTS_FILE        "analysis/judgements.jsonl"
#define JUDGEMENT_FAILURES_MAX 3

struct judgement {
    uint64_t key;
    bool scored;
    int failures;       /* when not */
    struct score score; /* when scored */
};

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
/* NULL when nothing is known. Valid until the next addition. */
const struct judgement *judgements_find(const struct judgements *j, uint64_t key);
/* Whether asking would bring nothing new. NULL is not. */
bool judgement_is_final(const struct judgement *known);

/* Keeps a result, in the file and in memory; one that is not to be kept is passed over. */
int judgements_add(struct judgements *j, uint64_t key, int64_t row, const char *spec,
                   const char *model, const struct judge_result *result, struct err *err);

#endif
