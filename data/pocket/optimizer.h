/*
 * optimizer: follows the gradients. Muon for the matrices inside the layers (the momentum is made
 * nearly orthogonal, so that every direction moves at the same pace), Adam for the rest.
 *
 *     struct optimizer *o = optimizer_new(net);
 *     loss = net_step(net);
 *     optimizer_step(o, net, rate);             rate: 1 at its height, from a schedule
 */
#ifndef POCKET_OPTIMIZER_H
#define POCKET_OPTIMIZER_H

#include "net.h"

struct optimizer;

struct optimizer *optimizer_new(const struct net *net);
void optimizer_free(struct optimizer *o);
void optimizer_step(struct optimizer *o, struct net *net, double rate);

#endif
