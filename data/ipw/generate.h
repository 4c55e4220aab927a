/*
 * generate: what the generators of the bundled questions share.
 *
 * A generator draws one question into a draft; generate.c asks it again until it has enough that
 * are new and do not give their answer away. `variant` counts the accepted questions of this
 * generator, so that `variant % n` goes through its wordings evenly.
 */
#ifndef IPW_GENERATE_H
#define IPW_GENERATE_H

#include "base/rng.h"

#include <stdbool.h>

enum difficulty { EASY, MEDIUM, HARD };

struct draft {
    char problem[1024];
    char answer[128];
    const char *scorer;
    enum difficulty difficulty;
    bool useless; /* draw again: ambiguous or dull */
};

typedef void (*generator_fn)(struct rng *rng, int variant, struct draft *d);

struct generator {
    const char *subject;
    int count;
    generator_fn draw;
    bool shows_answer; /* the question has to name it, as in "which is larger, 3 or 5?" */
};

/* NULL-ended by their subject. */
extern const struct generator basic_generators[];
extern const struct generator mathematics_generators[];
extern const struct generator reasoning_generators[];

/* A whole number from low to high, both included. */
int draw_between(struct rng *rng, int low, int high);
#define DRAW(rng, list) ((list)[draw_between((rng), 0, (int)(sizeof(list) / sizeof(*(list))) - 1)])

void ask(struct draft *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Adds to the question. */
void ask_more(struct draft *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void answer(struct draft *d, const char *scorer, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void answer_number(struct draft *d, int value);

#define NUMBER_ONLY "Answer with the number only."

#endif
