/*
 * judging: a judge for the analysis of one run, with what it has said before.
 *
 *     AUTO_PTR(judging) struct judging *judging = NULL;
 *     r = judging_open(&(struct judging_options){.judge = config, .dir = dir, .wake_fd = -1},
 *                      &judging, &err);
 *     analysis_options.judge = judging_judge(judging);
 *
 * Puts judge.h and judgements.h behind the answer_judge of scoring.h: what is known is not asked
 * again, and every verdict is kept as it comes. The server is first spoken to when there is a
 * question for it. One thread.
 */
#ifndef IPW_ANALYSIS_JUDGING_H
#define IPW_ANALYSIS_JUDGING_H

#include "analysis/judge.h"
#include "analysis/scoring.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <stdbool.h>

struct judging;

struct judging_options {
    struct judge_config judge; /* without on_result and arg */
    const char *dir;           /* the run's */
    bool again;                /* ask also what is known */
    int wake_fd;               /* ends the judging when it becomes readable; -1 = none */
    /* Words for the person who waits, every few seconds; NULL = none wanted. */
    void (*status)(void *arg, const char *words);
    void *arg;
};

/* Checks the configuration and reads what is known; does not talk to the server. */
int judging_open(const struct judging_options *o, struct judging **ret, struct err *err);
void judging_close(struct judging *g);
DEFINE_AUTO_PTR(judging, judging_close);

/* Lives as long as the judging. */
const struct answer_judge *judging_judge(struct judging *g);

#endif
