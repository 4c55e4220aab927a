/*
 * choose: the next token, given the logits.
 *
 *     struct chooser c;
 *     chooser_init(&c, vocabulary, temperature, top_k, top_p, seed);
 *     token = chooser_pick(&c, logits);        again and again
 *     chooser_release(&c);
 *
 * At temperature 0 it is the most likely token, whatever the rest says; of equals the first. Else
 * one is drawn: of the top_k most likely, of these the fewest whose probabilities add up to top_p.
 * The draws follow from the seed alone. For one thread at a time.
 */
#ifndef IPW_CLIENT_POCKET_CHOOSE_H
#define IPW_CLIENT_POCKET_CHOOSE_H

#include "base/rng.h"

struct candidate {
    int token;
    double weight; /* its logit, later its share */
};

struct chooser {
    int n_tokens;
    double temperature; /* >= 0 */
    int top_k;          /* 0 = all */
    double top_p;       /* 0 < top_p <= 1 */
    struct rng rng;
    struct candidate *candidates; /* n_tokens of them; NULL at temperature 0 */
};

void chooser_init(struct chooser *c, int n_tokens, double temperature, int top_k, double top_p,
                  uint64_t seed);
void chooser_release(struct chooser *c);
/* Never POCKET_BEGIN or POCKET_ANSWER, which no answer contains. A logit that is no number is never
 * chosen; when none is a number, the answer ends. */
int chooser_pick(struct chooser *c, const float *logits);

#endif
