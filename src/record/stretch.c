/*
 * Whatever a response claims, the stretches cover [start, end] once, in order: times are clamped to
 * it, and rates to what an integer sum of many thousand queries can hold.
 */
#include "record/stretch.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <math.h>

struct stretches {
    struct stretch *items;
    size_t n, cap;
    mono_ns from; /* where the next one begins */
};

static int64_t weight_of(double tokens, mono_ns took)
{
    double weight = tokens * STRETCH_WEIGHT_PER_TPS / ns_to_s(took);

    if (tokens < 0)
        return STRETCH_UNKNOWN;
    if (weight >= (double)STRETCH_WEIGHT_MAX)
        return STRETCH_WEIGHT_MAX;
    return (int64_t)ceil(weight);
}

/* Up to `until` with so many tokens; negative = not known. */
static void add(struct stretches *s, mono_ns until, double tokens, bool prefill)
{
    if (until <= s->from)
        return;
    GROW(s->items, s->n, s->cap);
    s->items[s->n++] = (struct stretch){until, weight_of(tokens, until - s->from), prefill};
    s->from = until;
}

static mono_ns clamp(mono_ns t, mono_ns low, mono_ns high)
{
    return t < low ? low : t > high ? high : t;
}

static double tokens_per_delta(const struct response *r)
{
    int64_t told = r->usage.completion_tokens;

    return told > 0 ? (double)told / (double)r->deltas : 1;
}

/* Of the prompt, without what was cached; negative = not known. */
static double prompt_tokens(const struct usage *u)
{
    double cached = u->cached_prompt_tokens > 0 ? (double)u->cached_prompt_tokens : 0;

    if (u->prompt_tokens < 0)
        return -1;
    return fmax((double)u->prompt_tokens - cached, 1);
}

/* The stretches up to the first delta; `with_first` deltas came with it. */
static void add_prefill(struct stretches *s, const struct response *r, mono_ns first,
                        size_t with_first)
{
    double tokens = prompt_tokens(&r->usage);
    int64_t took = r->timings.prefill_ns;

    if (tokens >= 0 && with_first > 0)
        tokens += (double)with_first * tokens_per_delta(r);
    else if (tokens >= 0 && r->usage.completion_tokens > 0)
        tokens += (double)r->usage.completion_tokens;
    /* What came after the first delta was decoded after prefill: only then is the time before it
     * prefill alone. */
    if (took > 0 && took < first - s->from && r->deltas > (int64_t)with_first)
        add(s, first - took, 0, true);
    add(s, first, tokens, true);
}

static void add_decode(struct stretches *s, const struct response *r, const mono_ns *times,
                       size_t n_times, size_t i, mono_ns end)
{
    mono_ns last = clamp(times[n_times - 1], s->from, end);
    double tokens = 0;

    for (; i < n_times; i++) {
        mono_ns at = clamp(times[i], s->from, end);

        tokens += tokens_per_delta(r);
        if (i + 1 == n_times || (at - s->from >= STRETCH_MIN_NS && last - at >= STRETCH_MIN_NS)) {
            add(s, at, tokens, false);
            tokens = 0;
        }
    }
}

struct stretch *stretches_of(const struct response *r, mono_ns start, size_t *ret_n)
{
    struct stretches s = {.from = start};
    mono_ns end = r->end > start ? r->end : start;
    size_t n_times = 0, with_first = 0;
    AUTO_FREE mono_ns *times = r->deltas > 0 ? response_times(r, &n_times) : NULL;

    if (n_times == 0) {
        add_prefill(&s, r, end, 0);
    } else {
        while (with_first < n_times && times[with_first] == times[0])
            with_first++;
        add_prefill(&s, r, clamp(times[0], start, end), with_first);
        add_decode(&s, r, times, n_times, with_first, end);
        add(&s, end, 0, false);
    }
    *ret_n = s.n;
    return s.items;
}
