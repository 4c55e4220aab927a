/*
 * judge_params: which of a judge's parameters are the client's, and which go into the request.
 */
#ifndef IPW_ANALYSIS_JUDGE_PARAMS_H
#define IPW_ANALYSIS_JUDGE_PARAMS_H

#include "base/err.h"
#include "core/kv.h"

/* Appends copies to both lists (to be released by the caller in any case), with the key of
 * IPW_EVAL_API_KEY in front of the client's. params may be NULL. -EINVAL for what seems to be a
 * mistyped api_key; the words do not repeat its value. */
int judge_params_split(const struct kv_list *params, struct kv_list *client,
                       struct kv_list *generation, struct err *err);

#endif
