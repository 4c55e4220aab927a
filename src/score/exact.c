/*
 * exact and contains compare text, the first all of it, the second a part of it.
 *
 * Folding (fold_text): ASCII letters have no case, runs of blanks are one blank, and quotes,
 * markdown marks and punctuation at the ends do not count. Letters beyond ASCII must be the same.
 *
 * exact: the whole answer is the reference; or, if the answer marks something as its answer
 * (\boxed{...}, else "the answer is ..."), that is; else its last line is, or the last bold part of
 * that line.
 * contains: the reference stands in the answer, bounded by something other than letters and
 * digits: "4" is not in "42". It cannot know about "not".
 */
#include "base/cleanup.h"
#include "score/scorers.h"
#include "score/text.h"

#include <errno.h>
#include <string.h>

static bool same_text(struct span text, const struct buf *reference)
{
    AUTO(buf) struct buf folded = BUF_INIT(BUF_MAX_OWN);

    fold_text(text, &folded);
    return folded.len == reference->len &&
           memcmp(buf_str(&folded), buf_str(reference), folded.len) == 0;
}

int score_no_arguments(const char *args, const char *id, struct err *err)
{
    if (*args)
        return err_set(err, EINVAL, "scorer %s takes no arguments, but got '%.60s'", id, args);
    return 0;
}

/* What the answer singles out, or its last line: all of it, its first sentence, or (the reference
 * has no comma) its first clause. */
static bool same_part(struct span part, const struct buf *reference)
{
    struct span clause = first_sentence(part);
    const char *comma = memchr(clause.p, ',', clause.n);

    if (same_text(part, reference) || same_text(clause, reference))
        return true;
    if (!comma || strchr(buf_str(reference), ','))
        return false;
    clause.n = (size_t)(comma - clause.p);
    return same_text(clause, reference);
}

static bool says(struct span text, const struct buf *reference, struct span *ret_chosen)
{
    if (find_boxed(text, ret_chosen) || find_cue(text, ret_chosen))
        return same_part(*ret_chosen, reference);
    *ret_chosen = last_line(text);
    if (same_part(*ret_chosen, reference))
        return true;
    for (size_t at = 0; next_bold(last_line(text), &at, ret_chosen);)
        continue;
    return same_text(*ret_chosen, reference);
}

static int exact_score(const char *args, const struct item *item, const char *answer,
                       struct score *ret, struct err *err)
{
    AUTO(buf) struct buf reference = BUF_INIT(BUF_MAX_OWN);
    struct span text, chosen;
    bool right;

    if (score_no_arguments(args, "exact", err) < 0)
        return -EINVAL;
    if (score_trivial(item, answer, &text, ret))
        return 0;
    fold_text(span_of(item->answer), &reference);
    chosen = text;
    right = reference.len ? same_text(text, &reference)
                          : span_equal_nocase(text, span_trim(span_of(item->answer)));
    if (!right && reference.len)
        right = says(text, &reference, &chosen);
    score_set(ret, right ? VERDICT_CORRECT : VERDICT_WRONG, span_bare(chosen), "");
    return 0;
}

const struct scorer_ops scorer_exact_ops = {
    .plugin = {.id = "exact",
               .help = "the same text, whatever its case, blanks, quotes and final punctuation"},
    .score = exact_score,
};

static int contains_score(const char *args, const struct item *item, const char *answer,
                          struct score *ret, struct err *err)
{
    AUTO(buf) struct buf reference = BUF_INIT(BUF_MAX_OWN);
    AUTO(buf) struct buf folded = BUF_INIT(BUF_MAX_OWN);
    struct span text, needle;
    bool right;

    if (score_no_arguments(args, "contains", err) < 0)
        return -EINVAL;
    if (score_trivial(item, answer, &text, ret))
        return 0;
    fold_text(span_of(item->answer), &reference);
    fold_text(text, &folded);
    needle = span_of(buf_str(&reference));
    right =
        needle.n && span_find_word(span_of(buf_str(&folded)), 0, buf_str(&reference)) != (size_t)-1;
    score_set(ret, right ? VERDICT_CORRECT : VERDICT_WRONG, right ? needle : text, "");
    return 0;
}

const struct scorer_ops scorer_contains_ops = {
    .plugin = {.id = "contains", .help = "the reference stands in the answer as whole words"},
    .score = contains_score,
};
