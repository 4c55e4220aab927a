#include "score/scorer.h"
#include "score/scorers.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

static const struct plugin *const items[] = {
    &scorer_exact_ops.plugin,   &scorer_contains_ops.plugin,
    &scorer_numeric_ops.plugin, &scorer_choice_ops.plugin,
    &scorer_math_ops.plugin,    &scorer_list_ops.plugin,
    &scorer_regex_ops.plugin,   NULL,
};

const struct registry scorers = {"scorer", "scorers", items};

int score_answer(const char *spec, const struct item *item, const char *answer, struct score *ret,
                 struct err *err)
{
    const char *colon = strchr(spec, ':');
    AUTO_FREE char *id = xstrndup(spec, colon ? (size_t)(colon - spec) : strlen(spec));
    /* plugin is the first member of every ops struct */
    const struct scorer_ops *ops = (const struct scorer_ops *)registry_find(&scorers, id, err);

    if (!ops)
        return -ENOENT;
    if (ops->needs_judge)
        return err_set(err, ENOTSUP, "scorer %s needs a judge", id);
    return ops->score(colon ? colon + 1 : "", item, answer, ret, err);
}
