/*
 * The last token of an answer is never fed: nothing is asked of it. So a context of C tokens has
 * room for C + 1 - prompt tokens of answer.
 */
#include "client/pocket/generate.h"

#include "base/alloc.h"
#include "client/pocket/choose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* BEGIN and ANSWER. */
#define MARKS 2

int pocket_prompt_encode(const struct pocket_model *m, const char *text, size_t n,
                         struct pocket_prompt *ret, struct err *err)
{
    int most = pocket_context(m) - MARKS;
    int *tokens = xcalloc((size_t)pocket_context(m), sizeof(*tokens));
    size_t count = pocket_encode(m, text, n, tokens + 1, (size_t)most);

    if (count > (size_t)most) {
        free(tokens);
        return err_set(err, E2BIG,
                       "the prompt has %zu tokens (characters), but the context of the embedded "
                       "model has room for %d",
                       count, most);
    }
    tokens[0] = POCKET_BEGIN;
    tokens[count + 1] = POCKET_ANSWER;
    *ret = (struct pocket_prompt){tokens, (int)count + MARKS, (int)count};
    return 0;
}

void pocket_prompt_release(struct pocket_prompt *p)
{
    free(p->tokens);
    *p = (struct pocket_prompt){0};
}

const char *pocket_finish_name(enum pocket_finish f)
{
    return f == POCKET_FINISH_STOP ? "stop" : "length";
}

/* Feeds the prompt; the logits of the first token, or NULL when cancelled. */
static const float *prefill(struct pocket_state *state, const struct pocket_prompt *prompt,
                            const atomic_bool *cancelled)
{
    const float *logits = NULL;

    pocket_state_reset(state);
    for (int i = 0; i < prompt->n; i++) {
        if (atomic_load_explicit(cancelled, memory_order_relaxed))
            return NULL;
        logits = pocket_step(state, prompt->tokens[i]);
    }
    return logits;
}

static int64_t room_for(const struct pocket_model *m, const struct pocket_prompt *prompt,
                        const struct pocket_options *options)
{
    int64_t room = pocket_context(m) + 1 - prompt->n;

    return options->max_tokens >= 0 && options->max_tokens < room ? options->max_tokens : room;
}

/* From the logits of the first token to the end of the answer. */
static int decode(const struct pocket_model *m, struct pocket_state *state, const float *logits,
                  struct chooser *chooser, struct stops *stops, int64_t room,
                  const atomic_bool *cancelled, struct pocket_outcome *o)
{
    for (;;) {
        int token = chooser_pick(chooser, logits);
        const char *text = pocket_decode(m, token);

        o->end = mono_now();
        if (o->first == MONO_ABSENT)
            o->first = o->end;
        o->finish = POCKET_FINISH_STOP;
        if (token == POCKET_END)
            break;
        o->completion_tokens++;
        if (stops_feed(stops, text, strlen(text), o->end))
            return 0;
        o->finish = POCKET_FINISH_LENGTH;
        if (o->completion_tokens >= room)
            break;
        if (atomic_load_explicit(cancelled, memory_order_relaxed))
            return -ECANCELED;
        logits = pocket_step(state, token);
    }
    stops_end(stops);
    return 0;
}

int pocket_generate(const struct pocket_model *m, struct pocket_state *state,
                    const struct pocket_prompt *prompt, const struct pocket_options *options,
                    const atomic_bool *cancelled, pocket_text_fn on_text, void *arg,
                    struct pocket_outcome *ret)
{
    struct pocket_outcome o = {.prompt_tokens = prompt->n_text, .first = MONO_ABSENT};
    const float *logits = prefill(state, prompt, cancelled);
    struct chooser chooser;
    struct stops stops;
    int r;

    if (!logits)
        return -ECANCELED;
    chooser_init(&chooser, pocket_vocabulary(m), options->temperature, options->top_k,
                 options->top_p, options->seed);
    stops_init(&stops, options->stops, options->n_stops, on_text, arg);
    r = decode(m, state, logits, &chooser, &stops, room_for(m, prompt, options), cancelled, &o);
    chooser_release(&chooser);
    stops_release(&stops);
    if (r == 0)
        *ret = o;
    return r;
}
