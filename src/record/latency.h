/*
 * latency: how long one query took, and how many tokens it had.
 *
 *     latency_fill(&record, &response);
 *
 * Definitions, all on the one monotonic clock, n = the output tokens the server told:
 *
 *     ttft_s         first non-empty delta (answer, reasoning or tool call) - sent
 *     ttfo_s         first non-empty delta of the answer - sent
 *     headers_s      status line and headers - sent
 *     total_s        end - sent; the end is the last delta, not what the server adds after it
 *     per_token_ms   total_s / n          (guidellm's TPOT, inference-perf's NTPOT)
 *     throughput_tps n / total_s
 *     tpot_s         (last - first delta) / (n - 1)      (vLLM's TPOT, AIPerf's ITL)
 *     itl_*_ms       of the gaps between successive deltas, which are mostly, but need not be, one
 *                    token each; percentiles interpolate, the deviation is a sample's
 *
 * What cannot be known is absent: per token without tokens or time, tpot with fewer than two tokens
 * or deltas at one instant only, itl with fewer than two deltas. A failed query has neither tokens
 * nor latencies, however far it came: it must not enter an average.
 */
#ifndef IPW_RECORD_LATENCY_H
#define IPW_RECORD_LATENCY_H

#include "core/record.h"
#include "core/response.h"

/* Sets all of ret->latency and ret->tokens, and the tokens in ret->request. */
void latency_fill(struct record *ret, const struct response *r);

#endif
