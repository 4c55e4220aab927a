/*
 * params: the --dataset-param values, checked.
 *
 * All of them accept a NULL list, which has no parameters.
 */
#ifndef IPW_DATASET_PARAMS_H
#define IPW_DATASET_PARAMS_H

#include "base/err.h"
#include "core/kv.h"

#include <stdbool.h>
#include <stdint.h>

/* Every key must be in `valid` (NULL-ended): else -EINVAL that names the nearest one, or all. */
int params_check(const struct kv_list *params, const char *const *valid, struct err *err);
/* NULL when it was not given. */
const char *params_text(const struct kv_list *params, const char *key);
/* true, false, yes, no, 1, 0; the fallback when it was not given. */
int params_bool(const struct kv_list *params, const char *key, bool fallback, bool *ret,
                struct err *err);
/* A whole number within the limits. */
int params_int(const struct kv_list *params, const char *key, int64_t fallback, int64_t min,
               int64_t max, int64_t *ret, struct err *err);

#endif
