/*
 * scorer: is this answer right? behind one ops struct.
 *
 * A scorer that needs no judge is a pure function of the answer and the reference, may be called
 * from any thread and takes time linear in the answer. Unscorable is not wrong: without a usable
 * reference there is nothing to compare with, and that is counted apart, with a reason. An answer
 * that is empty, refuses or says nothing recognisable is wrong: a model must not gain by silence.
 *
 * A spec is an id with optional arguments behind a colon: "exact", "numeric:0.01",
 * "regex:^4[0-9]$", "judge:simpleqa".
 */
#ifndef IPW_SCORE_SCORER_H
#define IPW_SCORE_SCORER_H

#include "base/buf.h"
#include "base/err.h"
#include "core/item.h"
#include "core/plugin.h"

enum verdict { VERDICT_WRONG, VERDICT_CORRECT, VERDICT_UNSCORABLE };

struct score {
    enum verdict verdict;
    char extracted[128]; /* what was taken as the answer, cut to fit; "" = nothing */
    char reason[128];    /* for UNSCORABLE, and worth showing for the rest */
};

struct scorer_ops {
    struct plugin plugin;
    bool needs_judge;
    /* Required unless needs_judge. args is the text behind the colon, "" when none. -EINVAL: the
     * arguments are malformed. */
    int (*score)(const char *args, const struct item *item, const char *answer, struct score *ret,
                 struct err *err);
    /* Required if needs_judge: are the arguments well-formed? analysis/judge.h does the rest. */
    int (*check)(const char *args, struct err *err);
};

extern const struct registry scorers;

/* The scorer of a spec, and where in it the arguments begin. NULL and -ENOENT words if there is
 * none. */
const struct scorer_ops *scorer_find(const char *spec, const char **ret_args, struct err *err);

/* Splits the spec, finds the scorer and asks it. answer may be NULL (none was given). -ENOENT: no
 * such scorer; -EINVAL: its arguments are malformed; -ENOTSUP: it needs a judge, and the words
 * say how to name one. */
int score_answer(const char *spec, const struct item *item, const char *answer, struct score *ret,
                 struct err *err);

/* The score as a record keeps it (evaluation.metadata): one JSON object, appended to ret. */
void score_write(const struct score *s, struct buf *ret);

#endif
