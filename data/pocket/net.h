/*
 * net: the embedded transformer as it is trained: forward and backward over a batch.
 *
 *     struct net *net = net_new(&shape, 4096);
 *     net_init(net, seed);
 *     net_batch_add(net, tokens, n, first_target) until it returns false
 *     loss = net_step(net);                     net->gradients is what to follow
 *     net_batch_clear(net);
 *
 * The parameters are those of client/pocket/weights.h, in its order. Sequences of a batch lie one
 * behind the other, without padding; each sees only itself.
 */
#ifndef POCKET_NET_H
#define POCKET_NET_H

#include "client/pocket/weights.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_SEQUENCE_MAX 256
#define NET_BATCH_MAX    512

struct net_sequence {
    size_t start;        /* its first row in the batch */
    size_t n;            /* how many tokens are read */
    size_t first_target; /* the first row (from its start) whose next token counts */
    size_t target_start; /* where its targets begin among all */
};

struct net {
    struct pocket_shape shape;
    size_t count; /* of parameters */
    float *parameters;
    float *gradients;

    size_t rows_max;
    size_t rows;    /* tokens of the batch */
    size_t targets; /* how many of them count */
    int *tokens;
    int *wanted; /* by target */
    struct net_sequence sequences[NET_BATCH_MAX];
    size_t n_sequences;

    struct net_layer *layers;
    struct net_scratch *scratch;
};

struct net *net_new(const struct pocket_shape *shape, size_t rows_max);
void net_free(struct net *net);
/* Random parameters from a seed. */
void net_init(struct net *net, uint64_t seed);

void net_batch_clear(struct net *net);
/* n tokens, of which those from `first_target` on are to be predicted. False: the batch is full. */
bool net_batch_add(struct net *net, const int *tokens, size_t n, size_t first_target);

/* The mean loss (nats per target); net_step also sets the gradients. */
double net_loss(struct net *net);
double net_step(struct net *net);

#endif
