/*
 * model: the embedded transformer's weights, and one step of it.
 *
 * A small decoder-only transformer over characters. The weights are read-only and shared; a state
 * is one conversation with its cache of keys and values, for one thread at a time.
 *
 *     r = pocket_model_open(pocket_weights, pocket_weights_size, &m, &err);
 *     s = pocket_state_new(m);
 *     for each token of the prompt: logits = pocket_step(s, token);
 *     ... choose a token from logits, step again ...
 *     pocket_state_free(s);
 *     pocket_model_close(m);
 *
 * The bytes are not trusted: magic, version, every size against its bound and against the length,
 * and the checksum are looked at before anything else is.
 */
#ifndef IPW_CLIENT_POCKET_MODEL_H
#define IPW_CLIENT_POCKET_MODEL_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct pocket_model;
struct pocket_state;

/* The weights inside the program. */
extern const unsigned char pocket_weights[];
extern const size_t pocket_weights_size;

/* `data` is lent until the model is closed, and need not be aligned. -EBADMSG with words when the
 * bytes are no weights of a version and size known here. */
int pocket_model_open(const void *data, size_t size, struct pocket_model **ret, struct err *err);
void pocket_model_close(struct pocket_model *m);
DEFINE_AUTO_PTR(pocket_model, pocket_model_close);

int pocket_vocabulary(const struct pocket_model *m); /* how many tokens there are */
int pocket_context(const struct pocket_model *m);    /* most tokens of prompt and answer together */
int64_t pocket_parameters(const struct pocket_model *m);

/* Token numbers that are no text. BEGIN is fed before the prompt, ANSWER between prompt and answer;
 * the model says END. */
enum { POCKET_BEGIN, POCKET_ANSWER, POCKET_END, POCKET_FIRST_TEXT };

/* The tokens of a text, at most max of them; returns how many the whole text has. What the
 * vocabulary lacks becomes its "unknown" token. */
size_t pocket_encode(const struct pocket_model *m, const char *text, size_t n, int *ret,
                     size_t max);
/* The text of a token, "" for one that is no text. Belongs to the model. */
const char *pocket_decode(const struct pocket_model *m, int token);

struct pocket_state *pocket_state_new(const struct pocket_model *m);
void pocket_state_free(struct pocket_state *s);
DEFINE_AUTO_PTR(pocket_state, pocket_state_free);
/* Forgets everything, keeps the memory. */
void pocket_state_reset(struct pocket_state *s);
/* How many tokens it has been fed. */
int pocket_state_length(const struct pocket_state *s);

/* Feeds one token (0 <= token < vocabulary, length < context) and returns the logits of the next
 * one, `vocabulary` of them, the state's until the next step. */
const float *pocket_step(struct pocket_state *s, int token);

#endif
