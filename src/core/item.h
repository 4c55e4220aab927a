/*
 * item: one question of a dataset.
 */
#ifndef IPW_CORE_ITEM_H
#define IPW_CORE_ITEM_H

#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

struct item {
    int64_t index;       /* its row in the dataset, from 0 */
    const char *problem; /* what is sent to the model; not empty */
    const char *answer;  /* the reference; "" = there is none */
    const char *subject; /* "general" when the dataset names none */
    const char *scorer;  /* id, possibly with arguments ("numeric:0.01"); NULL = the dataset's */
    /* The whole source row (an object), or NULL. Becomes the record's dataset_metadata. */
    const struct json *metadata;
};

#endif
