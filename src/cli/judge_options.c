#include "cli/judge_options.h"

#include "analysis/judging.h"
#include "base/log.h"

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

static void show_status(void *arg, const char *words)
{
    (void)arg;
    log_info("%s", words);
}

int judge_accuracy(const struct judge_config *judge, const char *dir, struct analysis_options *o,
                   int wake_fd, struct analysis_result *ret, struct err *err)
{
    AUTO_PTR(judging) struct judging *judging = NULL;
    int r = judging_open(&(struct judging_options){.judge = *judge,
                                                   .dir = dir,
                                                   .again = o->rescore,
                                                   .wake_fd = wake_fd,
                                                   .status = show_status},
                         &judging, err);

    if (r < 0)
        return r;
    o->judge = judging_judge(judging);
    r = analysis_run("accuracy", dir, o, ret, err);
    o->judge = NULL;
    return r;
}
