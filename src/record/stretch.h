/*
 * stretch: how much work a query was for the server, over time.
 *
 * A query's time from sending to end is cut into stretches of constant token rate. These are the
 * weights by which attribution shares energy:
 *
 * - Waiting (only where the server told how long it prefilled): no tokens.
 * - Prefill, up to the first delta: the prompt tokens that were not cached (at least one: the last
 *   is always computed) and what came with the first delta, spread evenly. Not known where the
 *   server told no prompt tokens.
 * - Decode: the tokens of the deltas that arrived in it, spread evenly. Each delta counts for an
 *   equal part of the output tokens told, or for one token where none were told. A stretch is at
 *   least STRETCH_MIN_NS long, so that deltas which travelled together, or late, do not look like
 *   sudden work; no meter sees finer than that anyway.
 * - After the last delta (a stalled or failed query): no tokens.
 *
 * Deltas of the very instant of the first one were made before it: a reply that came in one piece
 * is a single stretch with all its tokens.
 */
#ifndef IPW_RECORD_STRETCH_H
#define IPW_RECORD_STRETCH_H

#include "core/response.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STRETCH_MIN_NS (100 * NS_PER_MS)
/* Weights are whole millionths of a token per second, so that their sums are exact. */
#define STRETCH_WEIGHT_PER_TPS 1000000
#define STRETCH_WEIGHT_MAX     INT64_C(100000000000000)
#define STRETCH_UNKNOWN        INT64_C(-1)

struct stretch {
    mono_ns until;  /* it begins where the one before it, or the query, did */
    int64_t weight; /* 0..STRETCH_WEIGHT_MAX, or STRETCH_UNKNOWN */
    bool prefill;   /* before the first delta */
};

/* The stretches of a query sent at `start`, each longer than nothing, the last until its end; the
 * caller frees. None (*ret_n is 0, NULL) when no time passed. */
struct stretch *stretches_of(const struct response *r, mono_ns start, size_t *ret_n);

#endif
