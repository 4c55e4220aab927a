/*
 * tasks: the questions the embedded model learns from, and those it never sees.
 *
 *     struct rng rng = rng_seed(seed, stream);
 *     task_draw(&rng, kind, TASK_TRAINING, &task);
 *     task.problem, task.text ...
 *
 * What is asked decides whether a question is held out, not how it is worded: each has a key made
 * of its content alone ("add 17 25", whichever way it is asked and in whichever order). Held out
 * are all contents of the bundled questions, and one in ten of the rest by a hash of the key.
 */
#ifndef POCKET_TASKS_H
#define POCKET_TASKS_H

#include "base/err.h"
#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum task_kind {
    TASK_ADDITION,
    TASK_SUBTRACTION,
    TASK_PRODUCT,
    TASK_COMPARISON,
    TASK_PARITY,
    TASK_COUNTING,
    TASK_REVERSAL,
    TASK_LETTER_SORTING,
    TASK_NUMBER_SORTING,
    TASK_WEEKDAY,
    TASK_MONTH,
    TASK_KINDS,
};

enum task_side { TASK_TRAINING, TASK_HELD_OUT };

struct task {
    char problem[192];
    char text[160];  /* what the model is to say: perhaps a line of work, then the answer */
    char answer[64]; /* the answer alone */
    const char *scorer;
    char key[64];
};

extern const char *const task_names[TASK_KINDS];
/* Its subject in the bundled questions. */
extern const char *const task_subjects[TASK_KINDS];

/* Reads the bundled questions of the subjects the model learns, and holds their contents out; once,
 * before the first draw. Returns how many there are; -EBADMSG: one is not understood. */
int task_hold_out_bundled(struct err *err);
/* Is this a subject the model learns? */
bool task_knows_subject(const char *subject);
/* The key of a question from its text. False: it is not understood. */
bool task_key(const char *problem, char key[64]);
bool task_is_held_out(const char *key);

/* A question of one side. */
void task_draw(struct rng *rng, enum task_kind kind, enum task_side side, struct task *ret);
/* A kind for training, the harder ones more often. */
enum task_kind task_draw_kind(struct rng *rng);

#endif
