/*
 * Drawing sorts the candidates: the vocabulary is a hundred characters, and a step of the model
 * costs a hundred times more than that.
 */
#include "client/pocket/choose.h"

#include "base/alloc.h"
#include "client/pocket/model.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

void chooser_init(struct chooser *c, int n_tokens, double temperature, int top_k, double top_p,
                  uint64_t seed)
{
    *c = (struct chooser){
        .n_tokens = n_tokens,
        .temperature = temperature,
        .top_k = top_k,
        .top_p = top_p,
        .rng = rng_seed(seed, RNG_STREAM_TOKENS),
        .candidates = temperature > 0 ? xcalloc((size_t)n_tokens, sizeof(struct candidate)) : NULL,
    };
}

void chooser_release(struct chooser *c)
{
    free(c->candidates);
    c->candidates = NULL;
}

static bool is_allowed(const float *logits, int token)
{
    return token != POCKET_BEGIN && token != POCKET_ANSWER && !isnan(logits[token]);
}

static int most_likely(const struct chooser *c, const float *logits)
{
    int best = -1;

    for (int i = 0; i < c->n_tokens; i++)
        if (is_allowed(logits, i) && (best < 0 || logits[i] > logits[best]))
            best = i;
    return best < 0 ? POCKET_END : best;
}

/* The most likely first; of equals the first. */
static int by_weight(const void *pa, const void *pb)
{
    const struct candidate *a = pa, *b = pb;

    if (a->weight != b->weight)
        return a->weight < b->weight ? 1 : -1;
    return (a->token > b->token) - (a->token < b->token);
}

/* Turns the first n logits, sorted, into shares of the first. Returns their sum. */
static double weigh(struct chooser *c, int n)
{
    double top = c->candidates[0].weight, sum = 0;

    for (int i = 0; i < n; i++) {
        struct candidate *x = &c->candidates[i];

        /* equal infinities have no difference */
        x->weight = x->weight == top ? 1 : exp((x->weight - top) / c->temperature);
        sum += x->weight;
    }
    return sum;
}

int chooser_pick(struct chooser *c, const float *logits)
{
    int n = 0;
    double sum, left;

    if (c->temperature <= 0)
        return most_likely(c, logits);
    for (int i = 0; i < c->n_tokens; i++)
        if (is_allowed(logits, i))
            c->candidates[n++] = (struct candidate){i, (double)logits[i]};
    if (n == 0)
        return POCKET_END;
    qsort(c->candidates, (size_t)n, sizeof(*c->candidates), by_weight);
    if (c->top_k > 0 && c->top_k < n)
        n = c->top_k;
    sum = weigh(c, n) * c->top_p;
    /* a draw within the nucleus: the fewest that reach top_p of the whole, in their proportion */
    left = 0;
    for (int i = 0; i < n; i++) {
        left += c->candidates[i].weight;
        if (left >= sum)
            n = i + 1;
    }
    left *= rng_uniform(&c->rng);
    for (int i = 0; i < n - 1; i++) {
        left -= c->candidates[i].weight;
        if (left < 0)
            return c->candidates[i].token;
    }
    return c->candidates[n - 1].token;
}
