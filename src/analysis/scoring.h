/*
 * scoring: gives a verdict to the answers of a run that have none, and writes it back.
 *
 *     AUTO(scoring) struct scoring s = {0};
 *     r = scoring_run(run, &options, &s, &err);
 *     s.verdicts[i]                                what came of row i
 *
 * How an answer is scored: by options.scorer; else by what its question says (dataset_metadata.
 * scorer), what the record says (evaluation.scorer), what the run was configured with (summary.json
 * profiler_config.scorer). Without any it stays unscored. A failed query is never scored, and what
 * was found unscorable is not tried again, unless options.rescore. An evaluation that failed is
 * tried in three analyses.
 *
 * One pass over the run. Verdicts are written back in one step at its end (store/rewrite.h); when
 * nothing is new nothing is written, and where it cannot be written the verdicts here are all there
 * is. Memory: a byte per row, and what SCORING_WINDOW answers take that wait for a judge.
 */
#ifndef IPW_ANALYSIS_SCORING_H
#define IPW_ANALYSIS_SCORING_H

#include "analysis/analysis.h"
#include "analysis/run.h"
#include "base/err.h"
#include "score/scorer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Answers that may wait for the judge at a time. */
#define SCORING_WINDOW 1024
/* Analyses in which a failing evaluation is tried. */
#define SCORING_ATTEMPTS_MAX 3

/*
 * Who decides about answers whose scorer needs a judge. Results may come in any order, from `run`
 * only, by scoring_judged.
 */
struct answer_judge {
    void *ctx;
    /* Queues a question and copies the texts. `user` is for scoring_judged. */
    int (*add)(void *ctx, const char *spec, const struct item *item, const char *answer, void *user,
               struct err *err);
    /* Works until at most `left` questions are without a result. A failure ends the judging: what
     * has a verdict is kept, the rest stays unscored. */
    int (*run)(void *ctx, size_t left, struct err *err);
    /* What it did and cost, as members of the open object; optional. */
    void (*write)(void *ctx, struct json_writer *w);
};

/* The result of one question, once for each. score NULL: none. Then `counts` says whether it is one
 * of the attempts at this answer (the judge replied nothing usable), or nothing was tried at all
 * (no connection); error is why. */
void scoring_judged(void *user, const struct score *score, bool counts, const char *error);

enum scoring_verdict {
    SCORING_KEPT, /* as the record says */
    SCORING_WRONG,
    SCORING_CORRECT,
    SCORING_UNSCORABLE,
    SCORING_FAILED /* the evaluation, not the query */
};

struct scoring {
    uint8_t *verdicts; /* enum scoring_verdict, one per row */
    size_t n, cap;
    int64_t scored;    /* verdicts that are new, unscorable included */
    int64_t no_scorer; /* answers for which nothing says how */
    int64_t no_judge;  /* that need a judge, and none was there, or it failed */
    int64_t refused;   /* whose scorer is not known or malformed */
    /* the first words about each; "" = none */
    char judge_words[ERR_TEXT_MAX], refused_words[ERR_TEXT_MAX];
    char unwritten[ERR_TEXT_MAX]; /* why verdicts were not written back; "" = they were */
};

/* Is there such a scorer, and are its arguments good? -ENOENT, -EINVAL. */
int scoring_check(const char *spec, struct err *err);

/* Reads the run from its first record to its end. -EBUSY when another process writes the run. */
int scoring_run(struct run *run, const struct analysis_options *o, struct scoring *ret,
                struct err *err);
void scoring_release(struct scoring *s);

/* Whether a stored evaluation says that it failed, and how often it was tried (0 = never). */
bool evaluation_failed(const char *metadata, int64_t *ret_attempts);

#endif
