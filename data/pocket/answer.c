/*
 * The model as the program runs it (client/pocket/model.c), not as it is trained, and the scorers
 * that judge any model.
 */
#include "answer.h"

#include "base/cleanup.h"
#include "core/item.h"
#include "score/scorer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int best(const float *logits, int n)
{
    int found = 0;

    for (int i = 1; i < n; i++)
        if (logits[i] > logits[found])
            found = i;
    return found;
}

bool answer_say(struct pocket_state *s, const struct pocket_model *m, const char *problem,
                char *text, size_t size)
{
    int tokens[1024], token;
    size_t n = pocket_encode(m, problem, strlen(problem), tokens, 1024), at = 0;
    const float *logits;

    text[0] = '\0';
    if (n + 3 > (size_t)pocket_context(m) || n > 1024)
        return false;
    pocket_state_reset(s);
    pocket_step(s, POCKET_BEGIN);
    for (size_t i = 0; i < n; i++)
        pocket_step(s, tokens[i]);
    logits = pocket_step(s, POCKET_ANSWER);
    while ((token = best(logits, pocket_vocabulary(m))) != POCKET_END && at + 5 < size &&
           pocket_state_length(s) < pocket_context(m)) {
        at += (size_t)snprintf(text + at, size - at, "%s", pocket_decode(m, token));
        logits = pocket_step(s, token);
    }
    return true;
}

bool answer_is_right(const char *problem, const char *reference, const char *scorer,
                     const char *text)
{
    struct item item = {.problem = problem, .answer = reference, .scorer = scorer};
    struct score score;
    struct err err = {0};

    return score_answer(scorer, &item, text, &score, &err) == 0 && score.verdict == VERDICT_CORRECT;
}

int answer_count_right(const struct pocket_model *m, enum task_kind kind, int n, uint64_t seed,
                       bool show)
{
    AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(m);
    struct rng rng = rng_seed(seed, 1000 + (uint64_t)kind);
    int right = 0;

    for (int i = 0; i < n; i++) {
        struct task t;
        char text[256];
        bool good;

        task_draw(&rng, kind, TASK_HELD_OUT, &t);
        good = answer_say(s, m, t.problem, text, sizeof(text)) &&
               answer_is_right(t.problem, t.answer, t.scorer, text);
        if (!good && show)
            fprintf(stderr, "%s\n  said %s\n  not  %s\n", t.problem, text, t.text);
        right += good;
    }
    return right;
}
