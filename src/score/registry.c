#include "score/scorer.h"
#include "score/scorers.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static const struct plugin *const items[] = {
    &scorer_exact_ops.plugin,  &scorer_contains_ops.plugin, &scorer_numeric_ops.plugin,
    &scorer_choice_ops.plugin, &scorer_math_ops.plugin,     &scorer_list_ops.plugin,
    &scorer_regex_ops.plugin,  &scorer_judge_ops.plugin,    NULL,
};

const struct registry scorers = {"scorer", "scorers", items};

const struct scorer_ops *scorer_find(const char *spec, const char **ret_args, struct err *err)
{
    const char *colon = strchr(spec, ':');
    AUTO_FREE char *id = xstrndup(spec, colon ? (size_t)(colon - spec) : strlen(spec));
    /* plugin is the first member of every ops struct */
    const struct scorer_ops *ops = (const struct scorer_ops *)registry_find(&scorers, id, err);

    if (ops)
        *ret_args = colon ? colon + 1 : "";
    return ops;
}

int score_answer(const char *spec, const struct item *item, const char *answer, struct score *ret,
                 struct err *err)
{
    const char *args;
    const struct scorer_ops *ops = scorer_find(spec, &args, err);
    int r;

    if (!ops)
        return -ENOENT;
    if (!ops->needs_judge)
        return ops->score(args, item, answer, ret, err);
    r = ops->check(args, err);
    if (r < 0)
        return r;
    return err_set(err, ENOTSUP,
                   "scorer %s needs a judge; name one with --judge-model and "
                   "--judge-base-url",
                   ops->plugin.id);
}

void score_write(const struct score *s, struct buf *ret)
{
    struct json_writer w = json_writer(ret, JSON_LINE);

    jw_begin_object(&w, NULL);
    jw_text(&w, "extracted", s->extracted);
    if (*s->reason)
        jw_text(&w, "reason", s->reason);
    jw_bool(&w, "unscorable", s->verdict == VERDICT_UNSCORABLE);
    jw_end_object(&w);
}
