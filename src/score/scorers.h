/*
 * scorers: every scorer there is, for registry.c, and what they share beside text.h.
 */
#ifndef IPW_SCORE_SCORERS_H
#define IPW_SCORE_SCORERS_H

#include "score/scorer.h"

extern const struct scorer_ops scorer_exact_ops;
extern const struct scorer_ops scorer_contains_ops;
extern const struct scorer_ops scorer_numeric_ops;
extern const struct scorer_ops scorer_choice_ops;
extern const struct scorer_ops scorer_math_ops;
extern const struct scorer_ops scorer_list_ops;
extern const struct scorer_ops scorer_regex_ops;
extern const struct scorer_ops scorer_judge_ops;

/* -EINVAL with words when there are any. */
int score_no_arguments(const char *args, const char *id, struct err *err);

#endif
