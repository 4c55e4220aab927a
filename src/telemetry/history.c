/*
 * Numbers instead of pointers or indices name ticks, so that a reader can copy a long window in
 * pieces, letting the sampler in between, while old blocks are dropped at the other end.
 */
#include "telemetry/history.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Time between changes counts as a refresh up to here: beyond it something was off. */
#define REFRESH_MAX_NS (10 * NS_PER_S)

static const struct {
    double min, max;
} possible[QUANTITY_COUNT] = {
    [QUANTITY_ENERGY_J] = {0, 1e15},
    [QUANTITY_POWER_W] = {0, 100e3},
    [QUANTITY_TEMPERATURE_C] = {-273.15, 1000},
    [QUANTITY_MEMORY_USED_BYTES] = {0, 0x1p60},
    [QUANTITY_MEMORY_TOTAL_BYTES] = {0, 0x1p60},
    [QUANTITY_UTILIZATION_PCT] = {0, 101},
    [QUANTITY_MEMORY_UTILIZATION_PCT] = {0, 101},
    [QUANTITY_CLOCK_HZ] = {0, 1e12},
    [QUANTITY_POWER_LIMIT_W] = {0, 100e3},
    [QUANTITY_THROTTLED] = {0, 1},
    [QUANTITY_FOREIGN_PROCESSES] = {0, 1e6},
    [QUANTITY_ON_BATTERY] = {0, 1},
};

void history_init(struct history *h, const struct channel *c)
{
    *h = (struct history){
        .quantity = c->quantity,
        .range = c->range > 0 && isfinite(c->range) ? c->range : NAN,
        .refresh_ns = c->refresh_ns > 0 ? c->refresh_ns : 0,
        .last = NAN,
        .edge_after = {MONO_ABSENT, MONO_ABSENT, MONO_ABSENT},
        .passed = MONO_ABSENT,
        .broken = true,
    };
}

void history_release(struct history *h)
{
    for (size_t i = 0; i < h->n_blocks; i++)
        free(h->blocks[i]);
    free(h->blocks);
    free(h->spare);
    free(h->gaps);
    *h = (struct history){0};
}

static struct tick *tick_at(const struct history *h, uint64_t number)
{
    uint64_t offset = number - h->base;

    return &h->blocks[offset / HISTORY_BLOCK][offset % HISTORY_BLOCK];
}

const struct tick *history_tick(const struct history *h, uint64_t number)
{
    return tick_at(h, number);
}

static void add_tick(struct history *h, struct tick t)
{
    if (h->end - h->base == (uint64_t)h->n_blocks * HISTORY_BLOCK) {
        GROW(h->blocks, h->n_blocks, h->cap_blocks);
        h->blocks[h->n_blocks++] =
            h->spare ? h->spare : xreallocarray(NULL, HISTORY_BLOCK, sizeof(struct tick));
        h->spare = NULL;
    }
    if (h->end > h->first) {
        /* A prediction may not put the order of events in doubt. */
        mono_ns earlier = tick_at(h, h->end - 1)->at;

        if (t.at < earlier)
            t.at = earlier;
    }
    *tick_at(h, h->end++) = t;
}

static void count_step(struct history *h, mono_ns at)
{
    if (h->stepped_at)
        h->step_ns[h->steps++ % HISTORY_RECENT] = at - h->stepped_at;
    h->stepped_at = at;
}

static void start_anew(struct history *h, mono_ns before, mono_ns after, double value)
{
    struct tick t = {.after = h->read_from ? h->last_before : before,
                     .seen = after,
                     .at = after,
                     .value = value,
                     .flags = TICK_BREAK};

    phase_reset(&h->phase);
    h->stepped_at = 0;
    h->broken = false;
    add_tick(h, t);
}

/* The time that a step seen at `after` may have taken. */
static double step_seconds(const struct history *h, mono_ns after)
{
    mono_ns since = after - tick_at(h, h->end - 1)->after;
    mono_ns refresh = h->refresh_ns;

    if (h->longest_ns > refresh)
        refresh = h->longest_ns;
    if (refresh == 0)
        refresh = HISTORY_REFRESH_NS;
    return ns_to_s(since > refresh ? since : refresh);
}

static bool may_have_wrapped_unseen(const struct history *h, mono_ns before)
{
    double most_w = fmax(4 * h->peak_w, HISTORY_PEAK_W);

    return !isnan(h->range) && ns_to_s(before - h->read_until) * most_w > h->range;
}

static void put_edge(struct history *h, mono_ns before, mono_ns after, double step_j,
                     double seconds)
{
    const struct tick *last = tick_at(h, h->end - 1);
    struct tick t = {.after = h->last_before, .seen = after};

    t.at = phase_change(&h->phase, t.after, before, after, h->refresh_ns);
    h->joules += step_j;
    t.value = h->joules;
    h->peak_w = fmax(h->peak_w, step_j / seconds);
    if (!(last->flags & TICK_BREAK)) {
        mono_ns took = t.at - last->at;

        if (took > h->longest_ns && took <= REFRESH_MAX_NS)
            h->longest_ns = took;
    }
    h->edge_after[2] = h->edge_after[1];
    h->edge_after[1] = h->edge_after[0];
    h->edge_after[0] = t.after;
    count_step(h, t.at);
    add_tick(h, t);
}

static enum history_verdict put_counter(struct history *h, mono_ns before, mono_ns after,
                                        double raw)
{
    double step_j = raw - h->raw, seconds, limit_w = HISTORY_ABSURD_W;
    enum history_verdict verdict = HISTORY_JUMPED;

    if (h->broken) {
        start_anew(h, before, after, h->joules);
        return HISTORY_OK;
    }
    if (may_have_wrapped_unseen(h, before)) {
        start_anew(h, before, after, h->joules);
        return HISTORY_JUMPED;
    }
    if (step_j == 0)
        return HISTORY_OK;
    seconds = step_seconds(h, after);
    if (step_j < 0) {
        verdict = HISTORY_RESET;
        limit_w = HISTORY_WRAP_W;
        step_j += h->range; /* NAN when it has none */
        if (!(step_j >= 0 && step_j < h->range / 2))
            step_j = INFINITY;
    }
    if (step_j / seconds > limit_w) {
        start_anew(h, before, after, h->joules);
        h->resets += verdict == HISTORY_RESET;
        return verdict;
    }
    put_edge(h, before, after, step_j, seconds);
    return HISTORY_OK;
}

static void put_gauge(struct history *h, mono_ns before, mono_ns after, double value, bool apart)
{
    struct tick *last = h->end > h->first ? tick_at(h, h->end - 1) : NULL;
    struct tick t = {.after = before,
                     .seen = after,
                     .at = before + (after - before) / 2,
                     .value = value,
                     .flags = h->broken ? TICK_BREAK : 0};
    bool same = last && !h->broken && last->value == value;

    if (same && !apart && after - last->after <= SERIES_HOLD_NS) {
        last->seen = after;
        last->at = last->after + (after - last->after) / 2;
        return;
    }
    if (!same && last)
        count_step(h, t.at);
    h->broken = false;
    add_tick(h, t);
}

static bool impossible(const struct history *h, double value)
{
    return !(value >= possible[h->quantity].min && value <= possible[h->quantity].max) ||
           value > h->range;
}

enum history_verdict history_put(struct history *h, mono_ns before, mono_ns after, double value,
                                 mono_ns limit_ns)
{
    enum history_verdict verdict = HISTORY_OK;
    bool apart;

    if (isnan(value))
        return HISTORY_OK;
    if (impossible(h, value) || before > after || before <= 0)
        return HISTORY_REFUSED;
    if (after <= h->read_until || before < h->last_before) {
        h->silent = 0;
        return HISTORY_OK;
    }
    apart = h->read_until && before - h->read_until > limit_ns;
    if (apart) {
        GROW(h->gaps, h->n_gaps, h->cap_gaps);
        h->gaps[h->n_gaps++] = (struct gap){h->read_until, before};
    }
    if (h->quantity == QUANTITY_ENERGY_J) {
        verdict = put_counter(h, before, after, value);
        h->raw = value;
        h->last = h->joules;
    } else {
        put_gauge(h, before, after, value, apart);
        h->last = value;
    }
    if (!h->read_from)
        h->read_from = before;
    h->last_before = before;
    h->read_until = after;
    h->read_ns[h->reads++ % HISTORY_RECENT] = after - before;
    h->silent = 0;
    return verdict;
}

void history_break(struct history *h)
{
    h->broken = true;
}

void history_close(struct history *h)
{
    GROW(h->gaps, h->n_gaps, h->cap_gaps);
    h->gaps[h->n_gaps++] = (struct gap){h->read_until, MONO_NEVER};
}

/* The first number whose tick was seen at t or later. */
static uint64_t seen_from(const struct history *h, mono_ns t)
{
    uint64_t low = h->first, high = h->end;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (tick_at(h, middle)->seen >= t)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

void history_range(const struct history *h, mono_ns a, mono_ns b, uint64_t *ret_from,
                   uint64_t *ret_to)
{
    uint64_t from = seen_from(h, a), low = from, high = h->end;

    *ret_from = from - h->first < SERIES_MARGIN ? h->first : from - SERIES_MARGIN;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (tick_at(h, middle)->after > b)
            high = middle;
        else
            low = middle + 1;
    }
    *ret_to = h->end - low < SERIES_MARGIN ? h->end : low + SERIES_MARGIN;
}

uint64_t history_takable(const struct history *h)
{
    bool grows = h->quantity != QUANTITY_ENERGY_J && h->end > h->first;

    return grows ? h->end - 1 : h->end;
}

void history_forget(struct history *h, mono_ns t)
{
    uint64_t keep = seen_from(h, t);
    size_t drop, gone = 0;

    keep = keep - h->first < SERIES_MARGIN ? h->first : keep - SERIES_MARGIN;
    if (h->taking && h->taken < keep)
        keep = h->taken;
    if (keep <= h->first)
        return;
    h->first = keep;
    drop = (size_t)((keep - h->base) / HISTORY_BLOCK);
    for (size_t i = 0; i < drop; i++) {
        free(h->spare);
        h->spare = h->blocks[i];
    }
    memmove(h->blocks, h->blocks + drop, (h->n_blocks - drop) * sizeof(*h->blocks));
    h->n_blocks -= drop;
    h->base += (uint64_t)drop * HISTORY_BLOCK;
    while (gone < h->n_gaps && h->first < h->end && h->gaps[gone].to < tick_at(h, h->first)->after)
        gone++;
    if (gone > 0)
        memmove(h->gaps, h->gaps + gone, (h->n_gaps - gone) * sizeof(*h->gaps));
    h->n_gaps -= gone;
}

static int compare_ns(const void *x, const void *y)
{
    mono_ns a = *(const mono_ns *)x, b = *(const mono_ns *)y;

    return (a > b) - (a < b);
}

static mono_ns median_of(const mono_ns *recent, int64_t count)
{
    mono_ns sorted[HISTORY_RECENT];
    size_t n = count < HISTORY_RECENT ? (size_t)count : HISTORY_RECENT;

    if (n == 0)
        return 0;
    memcpy(sorted, recent, n * sizeof(*sorted));
    qsort(sorted, n, sizeof(*sorted), compare_ns);
    return sorted[n / 2];
}

mono_ns history_refresh(const struct history *h)
{
    return h->steps < 3 ? 0 : median_of(h->step_ns, h->steps);
}

mono_ns history_read_ns(const struct history *h)
{
    return median_of(h->read_ns, h->reads);
}

mono_ns history_followed(const struct history *h)
{
    if (h->quantity == QUANTITY_ENERGY_J)
        return h->edge_after[2];
    return h->reads ? h->last_before : MONO_ABSENT;
}
