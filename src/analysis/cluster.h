/*
 * cluster: which records are of one question.
 *
 *     struct clusters c = {0};
 *     bootstrap_add_to(&sample, cluster_of(&c, record->problem), row);
 *     clusters_release(&c);
 *
 * A question asked again is no new evidence about questions, so its records are one row of a
 * bootstrap. The first BOOTSTRAP_ROWS_MAX different questions have a row each; the others share
 * these, by a sum over their text, so that equal ones still meet. Memory: half a mebibyte.
 *
 * The result depends on the texts and their order alone. For one thread.
 */
#ifndef IPW_ANALYSIS_CLUSTER_H
#define IPW_ANALYSIS_CLUSTER_H

#include <stddef.h>
#include <stdint.h>

struct cluster_slot;

/* All zero: none yet. */
struct clusters {
    struct cluster_slot *slots;
    uint64_t key;    /* of the table, so that nobody can write texts that fill one corner of it */
    size_t n;        /* rows given */
    size_t nameless; /* records without a text that came when there were no rows left */
    int64_t repeats; /* records whose question was known */
};

/* The row, from 0 without holes. text NULL: a question of its own. */
size_t cluster_of(struct clusters *c, const char *text);
void clusters_release(struct clusters *c);

#endif
