/*
 * judge_options: the --judge-* options, for every command that scores.
 *
 *     struct analyze_args { ...; struct judge_args judge; };
 *     static const struct option options[] = {
 *         ...
 *         JUDGE_OPTIONS(struct analyze_args, judge),
 *         {0}};
 *     ...
 *     struct judge_config config;
 *     r = judge_args_config(&a->judge, &config, &err);     1 = there is a judge, 0 = none was named
 *     if (r > 0)
 *         r = judge_accuracy(&config, dir, &analysis_options, -1, &result, &err);
 */
#ifndef IPW_CLI_JUDGE_OPTIONS_H
#define IPW_CLI_JUDGE_OPTIONS_H

#include "analysis/analysis.h"
#include "analysis/judge.h"
#include "cli/options.h"

#include <stddef.h>
#include <stdint.h>

struct judge_args {
    const char *model, *base_url;
    struct kv_list params;
    int64_t concurrency, retries;
};

/* Rows of an option table; `member` of the struct `type` is a struct judge_args. The aliases are
 * the Python tool's. */
/* clang-format off */
#define JUDGE_OPTIONS(type, member)                                                               \
    {"judge-model", OPT_TEXT, offsetof(type, member.model),                                       \
     "the model that judges answers whose scorer is judge", "NAME", .alias = "eval-model"},       \
    {"judge-base-url", OPT_TEXT, offsetof(type, member.base_url),                                 \
     "its server, OpenAI-compatible (http://127.0.0.1:8000/v1)", "URL",                           \
     .alias = "eval-base-url"},                                                                   \
    {"judge-param", OPT_KV, offsetof(type, member.params),                                        \
     "parameter of the judge, such as temperature=0 or api_key=KEY; repeatable", "k=v"},          \
    {"judge-concurrency", OPT_INT, offsetof(type, member.concurrency),                            \
     "questions to the judge at once", "N", "4", .min = 1, .max = JUDGE_CONCURRENCY_MAX},         \
    {"judge-retries", OPT_INT, offsetof(type, member.retries),                                    \
     "how often a question is asked again after a failure", "N", "3", .min = 0, .max = 100}
/* clang-format on */

/* What was given, as a configuration without on_result; it lends from `a`. 1 when there is a judge,
 * 0 when none was named, -EINVAL when there is one but for its model. */
int judge_args_config(const struct judge_args *a, struct judge_config *ret, struct err *err);

/* analysis_run("accuracy", ...) with this judge, who tells its progress on stderr. wake_fd: see
 * judging.h. o->judge is set for the time of the call. */
int judge_accuracy(const struct judge_config *judge, const char *dir, struct analysis_options *o,
                   int wake_fd, struct analysis_result *ret, struct err *err);

#endif
