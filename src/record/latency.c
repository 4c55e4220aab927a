/*
 * Times stay integers until the last step: a difference of two mono_ns is exact, a difference of
 * two doubles of seconds since boot is not.
 */
#include "record/latency.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>

/* NAN where either is not known or they are out of order. */
static double span_s(mono_ns from, mono_ns to)
{
    if (from == MONO_ABSENT || to == MONO_ABSENT || to < from)
        return NAN;
    return ns_to_s(to - from);
}

static int64_t told(int64_t tokens)
{
    return tokens >= 0 ? tokens : -1;
}

static void fill_tokens(struct record *ret, const struct usage *u)
{
    int64_t total;

    ret->tokens.input = told(u->prompt_tokens);
    ret->tokens.output = told(u->completion_tokens);
    ret->tokens.total = -1;
    if (ret->tokens.input >= 0 && ret->tokens.output >= 0 &&
        !__builtin_add_overflow(ret->tokens.input, ret->tokens.output, &total))
        ret->tokens.total = total;
    ret->request.cached_tokens = told(u->cached_prompt_tokens);
    ret->request.reasoning_tokens = told(u->reasoning_tokens);
}

static void fill_gaps(struct record *ret, const struct response *r)
{
    size_t n_times;
    AUTO_FREE mono_ns *times = response_times(r, &n_times);
    AUTO_FREE double *gaps_ms = NULL;
    size_t n;

    if (n_times < 2)
        return;
    n = n_times - 1;
    gaps_ms = xcalloc(n, sizeof(*gaps_ms));
    for (size_t i = 0; i < n; i++)
        gaps_ms[i] = (double)(times[i + 1] - times[i]) / 1e6;
    n = stats_sort(gaps_ms, n);
    ret->latency.itl_median_ms = stats_median(gaps_ms, n);
    ret->latency.itl_p90_ms = stats_percentile(gaps_ms, n, 90);
    ret->latency.itl_p95_ms = stats_percentile(gaps_ms, n, 95);
    ret->latency.itl_p99_ms = stats_percentile(gaps_ms, n, 99);
    ret->latency.itl_std_ms = stats_std(gaps_ms, n);
}

static void fill_times(struct record *ret, const struct response *r)
{
    double output = (double)ret->tokens.output, total_s = span_s(r->sent, r->end);
    double streamed_s = span_s(r->first_token, r->last_token);

    ret->latency.total_s = total_s;
    ret->latency.ttft_s = span_s(r->sent, r->first_token);
    ret->latency.ttfo_s = span_s(r->sent, r->first_answer);
    ret->latency.headers_s = span_s(r->sent, r->headers);
    if (output > 0 && total_s > 0) {
        ret->latency.per_token_ms = total_s * 1000 / output;
        ret->latency.throughput_tps = output / total_s;
    }
    if (output >= 2 && streamed_s > 0)
        ret->latency.tpot_s = streamed_s / (output - 1);
}

void latency_fill(struct record *ret, const struct response *r)
{
    struct record absent;

    record_init(&absent);
    ret->latency = absent.latency;
    ret->tokens = absent.tokens;
    ret->request.cached_tokens = ret->request.reasoning_tokens = -1;
    if (r->failure != FAILURE_NONE)
        return;
    fill_tokens(ret, &r->usage);
    fill_times(ret, r);
    fill_gaps(ret, r);
}
