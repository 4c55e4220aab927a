/*
 * answer: what a model says to a question, and how often it is right.
 */
#ifndef POCKET_ANSWER_H
#define POCKET_ANSWER_H

#include "tasks.h"

#include "client/pocket/model.h"

#include <stdbool.h>
#include <stddef.h>

/* Greedily, until the model ends or text is full. False: the question is too long for it. */
bool answer_say(struct pocket_state *s, const struct pocket_model *m, const char *problem,
                char *text, size_t size);
/* By the scorer of the dataset. */
bool answer_is_right(const char *problem, const char *reference, const char *scorer,
                     const char *text);
/* Of n held-out questions of a kind, drawn by a seed: how many it answers rightly. With `show`
 * wrong answers go to stderr. */
int answer_count_right(const struct pocket_model *m, enum task_kind kind, int n, uint64_t seed,
                       bool show);

#endif
