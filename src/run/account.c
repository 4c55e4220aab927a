/*
 * A rail's energy over time is followed by a cursor per channel: the energy of each further piece
 * of time is added to what there was, so counters and power sensors are the same thing here, and
 * what two neighbouring pieces get is exactly what they get as one. A piece whose energy is not
 * known begins a new epoch: there is no difference across it.
 *
 * A counter's energy at an instant is final when three more ticks have come. As long as nobody
 * waits we do not go beyond that, so that a counter that stands still for a while costs nothing.
 * Who has ended waits for no more than the meter says (sampler_progress); what the counter had not
 * shown by then goes to the next piece of time: nothing is lost and nothing is counted twice.
 *
 * The slice of history in hand is copied once per advance, from the cursor to the new end. Nothing
 * is copied as long as the oldest query in flight holds everything up.
 */
#include "run/account.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RECENT_NS   (3 * NS_PER_S)
#define WAIT_NS     (2 * NS_PER_S)
#define FINAL_TICKS 3 /* after t: then E(t) never changes again (energy.h) */

struct cursor {
    size_t channel;
    mono_ns at;    /* the energy is known up to here */
    double level;  /* of a counter: what it was taken to show here; NAN = not known */
    double joules; /* in all */
    int64_t epoch;
    struct series slice;
};

/* A query from its sending until it is taken. While it is in flight nothing after `since` can be
 * settled, and until it is taken its window must not be forgotten. */
struct stay {
    struct flight *flight; /* NULL = it has ended */
    mono_ns since, ended;
    void *query;
};

struct account {
    struct meter *meter;
    struct attribution *attribution;
    const struct channel *channels;
    struct cursor *cursors; /* one per counted channel */
    size_t n_cursors;
    enum rail rails[RAIL_COUNT];
    size_t n_rails;
    double idle_w[RAIL_COUNT];
    enum basis basis;
    const struct device *gpu;
    int n_gpus;
    mono_ns settled;
    bool last_call; /* there will be no more ticks to wait for */
    double nobodys_j;
    struct stay **stays;
    size_t n_stays, cap_stays;
};

static void add_cursor(struct account *a, size_t channel, mono_ns start)
{
    enum rail rail = a->channels[channel].rail;
    bool known = false;

    a->cursors[a->n_cursors++] = (struct cursor){.channel = channel, .at = start, .level = NAN};
    for (size_t i = 0; i < a->n_rails; i++)
        known = known || a->rails[i] == rail;
    if (!known)
        a->rails[a->n_rails++] = rail;
}

static enum basis basis_of(struct account *a)
{
    struct build_input in;

    build_input_init(&in);
    for (size_t i = 0; i < a->n_cursors; i++) {
        const struct channel *c = &a->channels[a->cursors[i].channel];

        in.rails[c->rail].present = true;
        in.rails[c->rail].estimated |= c->estimated;
    }
    return build_basis(in.rails, a->gpu);
}

struct account *account_open(struct meter *m, const double idle_w[RAIL_COUNT], mono_ns start)
{
    struct account *a = xcalloc(1, sizeof(*a));
    size_t n;

    a->meter = m;
    a->settled = start;
    memcpy(a->idle_w, idle_w, sizeof(a->idle_w));
    n = sampler_channels(meter_sampler(m), &a->channels);
    a->cursors = xcalloc(n, sizeof(*a->cursors));
    for (size_t i = 0; i < n; i++)
        if (meter_counts(m, i))
            add_cursor(a, i, start);
    a->gpu = meter_gpu(m, &a->n_gpus);
    a->basis = basis_of(a);
    a->attribution = attribution_new(a->rails, a->n_rails, a->idle_w, start);
    return a;
}

void account_close(struct account *a)
{
    if (!a)
        return;
    for (size_t i = 0; i < a->n_cursors; i++)
        series_release(&a->cursors[i].slice);
    attribution_free(a->attribution);
    free(a->cursors);
    for (size_t i = 0; i < a->n_stays; i++)
        free(a->stays[i]);
    free(a->stays);
    free(a);
}

struct stay *account_begin(struct account *a, mono_ns sent)
{
    struct stay *s = xcalloc(1, sizeof(*s));

    s->since = sent > a->settled ? sent : a->settled;
    s->flight = attribution_open(a->attribution, s->since, s);
    GROW(a->stays, a->n_stays, a->cap_stays);
    a->stays[a->n_stays++] = s;
    return s;
}

void account_end(struct account *a, struct stay *s, const struct response *r, void *query)
{
    attribution_close(a->attribution, s->flight, r);
    s->flight = NULL;
    s->ended = mono_now();
    s->query = query;
}

/* The counter may have started again between a and b. */
static bool is_broken(const struct series *s, mono_ns a, mono_ns b)
{
    for (size_t i = series_after(s, a); i < s->n_ticks && s->ticks[i].after < b; i++)
        if (s->ticks[i].flags & TICK_BREAK)
            return true;
    return false;
}

/* What a counter counted from where the cursor is to t; NAN = not known. What was settled stays: a
 * level that turns out to be lower than it was taken for makes no negative energy, the counter has
 * to come up to it first. */
static double counted_j(const struct account *a, struct cursor *c, mono_ns t)
{
    double from = c->level, to = energy_at(&c->slice, t);

    if (isnan(from) || isnan(to) || is_broken(&c->slice, c->at, t)) {
        c->level = to;
        return energy_of_window(&a->channels[c->channel], &c->slice, c->at, t).joules;
    }
    c->level = fmax(from, to);
    return c->level - from;
}

static void move_cursor(struct account *a, struct cursor *c, mono_ns t)
{
    const struct channel *channel = &a->channels[c->channel];
    double joules = channel->quantity == QUANTITY_ENERGY_J
                        ? counted_j(a, c, t)
                        : energy_of_window(channel, &c->slice, c->at, t).joules;

    if (isnan(joules))
        c->epoch++;
    else
        c->joules += joules;
    c->at = t;
}

static double energy_of_rail(void *ctx, enum rail rail, mono_ns t, int64_t *ret_epoch)
{
    struct account *a = ctx;
    double joules = 0;

    *ret_epoch = 0;
    for (size_t i = 0; i < a->n_cursors; i++) {
        struct cursor *c = &a->cursors[i];

        if (a->channels[c->channel].rail != rail)
            continue;
        if (t > c->at)
            move_cursor(a, c, t);
        joules += c->joules;
        *ret_epoch += c->epoch;
    }
    return joules;
}

/* Everything that is still to be looked at lies after this; a little more is kept for those who
 * want to see the present. */
static mono_ns oldest_need(const struct account *a)
{
    mono_ns t = a->settled - RECENT_NS;

    for (size_t i = 0; i < a->n_stays; i++)
        t = a->stays[i]->since < t ? a->stays[i]->since : t;
    return t;
}

static void settle(struct account *a, mono_ns until)
{
    for (size_t i = 0; i < a->n_cursors; i++)
        sampler_copy(meter_sampler(a->meter), a->cursors[i].channel, a->cursors[i].at, until,
                     &a->cursors[i].slice);
    attribution_advance(a->attribution, until, energy_of_rail, a);
    a->settled = until;
}

static bool is_waited_for(const struct account *a)
{
    mono_ns now = mono_now();

    for (size_t i = 0; i < a->n_stays; i++)
        if (!a->stays[i]->flight && now - a->stays[i]->ended > WAIT_NS)
            return true;
    return false;
}

/* How far all counters are final, but not beyond t, nor so far behind it that it matters. One that
 * never changed is not waited for. */
static mono_ns final_until(struct account *a, mono_ns t)
{
    mono_ns least = t;

    for (size_t i = 0; i < a->n_cursors; i++) {
        struct cursor *c = &a->cursors[i];
        const struct series *s = &c->slice;

        if (a->channels[c->channel].quantity != QUANTITY_ENERGY_J)
            continue;
        sampler_copy(meter_sampler(a->meter), c->channel, t, t, &c->slice);
        if (s->n_ticks > FINAL_TICKS && s->ticks[s->n_ticks - FINAL_TICKS].after < least)
            least = s->ticks[s->n_ticks - FINAL_TICKS].after;
    }
    return least < t - RECENT_NS ? t : least;
}

void account_advance(struct account *a, mono_ns safe)
{
    mono_ns until = sampler_progress(meter_sampler(a->meter));

    until = until < safe ? until : safe;
    for (size_t i = 0; i < a->n_stays; i++)
        if (a->stays[i]->flight && a->stays[i]->since < until)
            until = a->stays[i]->since;
    if (until > a->settled && !a->last_call && !is_waited_for(a))
        until = final_until(a, until);
    if (until > a->settled)
        settle(a, until);
    sampler_forget(meter_sampler(a->meter), oldest_need(a));
}

static void remove_stay(struct account *a, struct stay *s)
{
    size_t i = 0;

    while (a->stays[i] != s)
        i++;
    a->stays[i] = a->stays[--a->n_stays];
    free(s);
}

/* The basis of a query nobody waits for. */
static double share_of_basis(const struct account *a, const struct attributed *x)
{
    double joules = 0;

    for (size_t i = 0; i < a->n_rails; i++)
        if (basis_counts(a->basis, a->rails[i], account_has(a, RAIL_SOC)))
            joules += x->rails[a->rails[i]].tokens_j;
    return joules;
}

bool account_take(struct account *a, struct attributed *ret)
{
    while (attribution_take(a->attribution, ret)) {
        struct stay *s = ret->query;

        ret->query = s->query;
        remove_stay(a, s);
        if (ret->query)
            return true;
        a->nobodys_j += share_of_basis(a, ret);
    }
    return false;
}

double account_nobodys(const struct account *a)
{
    return a->nobodys_j;
}

size_t account_pending(const struct account *a)
{
    return attribution_pending(a->attribution);
}

mono_ns account_settled(const struct account *a)
{
    return a->settled;
}

void account_last_call(struct account *a)
{
    sampler_stop(meter_sampler(a->meter));
    a->last_call = true;
}

void account_fill(struct account *a, const struct response *r, struct build_input *ret)
{
    struct rail_phases rails[RAIL_COUNT];

    ret->basis = a->basis;
    ret->gpu = a->gpu;
    ret->n_gpus = a->n_gpus;
    ret->system = meter_system(a->meter);
    for (size_t i = 0; i < a->n_cursors; i++) { /* also of one that was never sent */
        const struct channel *c = &a->channels[a->cursors[i].channel];

        ret->rails[c->rail].present = true;
        ret->rails[c->rail].estimated |= c->estimated;
        ret->rails[c->rail].idle_w = a->idle_w[c->rail];
    }
    if (r->sent == MONO_ABSENT)
        return;
    meter_phases(a->meter, r->sent, r->first_token, r->end, rails);
    for (size_t i = 0; i < RAIL_COUNT; i++) {
        if (!rails[i].whole.present)
            continue;
        ret->rails[i].energy = rails[i].whole.energy;
        ret->rails[i].power_w = rails[i].whole.power_w;
        ret->rails[i].prefill = rails[i].prefill;
        ret->rails[i].decode = rails[i].decode;
    }
}

enum basis account_basis(const struct account *a)
{
    return a->basis;
}

struct attribution_totals account_totals(const struct account *a, enum rail rail)
{
    return attribution_totals(a->attribution, rail);
}

bool account_has(const struct account *a, enum rail rail)
{
    for (size_t i = 0; i < a->n_rails; i++)
        if (a->rails[i] == rail)
            return true;
    return false;
}

double account_imbalance(const struct account *a)
{
    return attribution_imbalance(a->attribution);
}
