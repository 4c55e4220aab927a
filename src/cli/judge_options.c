#include "cli/judge_options.h"

#include <errno.h>

int judge_args_config(const struct judge_args *a, struct judge_config *ret, struct err *err)
{
    if (!a->model && (a->base_url || a->params.n))
        return err_set(err, EINVAL, "--%s needs --judge-model NAME beside it",
                       a->base_url ? "judge-base-url" : "judge-param");
    if (!a->model)
        return 0;
    *ret = (struct judge_config){.base_url = a->base_url,
                                 .model = a->model,
                                 .params = &a->params,
                                 .concurrency = a->concurrency,
                                 .retries = a->retries};
    return 1;
}
