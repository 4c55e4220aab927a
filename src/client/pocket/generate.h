/*
 * generate: one answer of the embedded model, from prompt to end.
 *
 *     r = pocket_prompt_encode(m, text, n, &prompt, &err);
 *     r = pocket_generate(m, state, &prompt, &options, &cancelled, on_text, arg, &outcome);
 *     pocket_prompt_release(&prompt);
 *
 * on_text is called on the thread that generates, for every token as soon as it may be given out
 * (see stops.h), with the time at which it was made.
 */
#ifndef IPW_CLIENT_POCKET_GENERATE_H
#define IPW_CLIENT_POCKET_GENERATE_H

#include "base/clock.h"
#include "base/err.h"
#include "client/pocket/model.h"
#include "client/pocket/options.h"
#include "client/pocket/stops.h"

#include <stdatomic.h>
#include <stddef.h>

/* What the model is fed before it answers: BEGIN, the text, ANSWER. */
struct pocket_prompt {
    int *tokens;
    int n;
    int n_text; /* tokens of the text alone */
};

/* -E2BIG with words when the context has no room for it and one token of answer. Any thread. */
int pocket_prompt_encode(const struct pocket_model *m, const char *text, size_t n,
                         struct pocket_prompt *ret, struct err *err);
void pocket_prompt_release(struct pocket_prompt *p);

enum pocket_finish {
    POCKET_FINISH_STOP,  /* the model ended its answer, or a stop string came */
    POCKET_FINISH_LENGTH /* max_tokens, or the context is full */
};

const char *pocket_finish_name(enum pocket_finish f); /* "stop", "length" */

struct pocket_outcome {
    enum pocket_finish finish;
    int prompt_tokens;     /* of the text */
    int completion_tokens; /* of text; those of a stop string count, END does not */
    mono_ns first;         /* the first token was chosen: the prefill is over */
    mono_ns end;           /* the last was */
};

/* `state` is the thread's own, of the same model; its former contents go. -ECANCELED when
 * *cancelled became true: that is looked at before every step. */
int pocket_generate(const struct pocket_model *m, struct pocket_state *state,
                    const struct pocket_prompt *prompt, const struct pocket_options *options,
                    const atomic_bool *cancelled, pocket_text_fn on_text, void *arg,
                    struct pocket_outcome *ret);

#endif
