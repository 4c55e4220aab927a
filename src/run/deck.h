/*
 * deck: the questions of a run, in the order in which they are asked.
 *
 * Each has its number in that order, which follows from dataset, parameters and seed alone; it
 * becomes the record's request.index, so a run that is resumed knows what was asked already.
 *
 *     struct deck deck = {.dataset = d, .limit = max_queries};
 *     deck_skip(&deck, 17);                         answered before
 *     while ((r = deck_next(&deck, &question, &err)) > 0)
 *         ... question_free(question) when its record is written
 *     deck_release(&deck);
 *
 * One thread.
 */
#ifndef IPW_RUN_DECK_H
#define IPW_RUN_DECK_H

#include "base/err.h"
#include "base/json.h"
#include "core/item.h"
#include "dataset/dataset.h"

#include <stdbool.h>
#include <stdint.h>

/* An item that lives as long as its query: what a dataset hands out is gone at the next one. */
struct question {
    struct item item; /* its texts and metadata are the question's own */
    int64_t number;
    struct json_doc metadata;
};

struct question *question_copy(const struct item *item, int64_t number);
/* NULL is fine. */
void question_free(struct question *q);

struct deck {
    struct dataset *dataset; /* lent, at its first item */
    int64_t limit;           /* most questions; -1 = all there are */
    bool again;              /* begin anew at the dataset's end */
    int64_t next;            /* number of the next one */
    unsigned char *skipped;  /* one bit per number */
    int64_t n_skipped, cap_skipped;
};

void deck_release(struct deck *d);
/* This number is not to be asked. */
void deck_skip(struct deck *d, int64_t number);
/* How many questions a run of them all asks, those to be skipped included; -1 = no end. */
int64_t deck_total(const struct deck *d);
/* 1 = a question, the caller's; 0 = there are no more. */
int deck_next(struct deck *d, struct question **ret, struct err *err);

#endif
