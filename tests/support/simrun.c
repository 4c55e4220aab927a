#include "simrun.h"

#include <math.h>

void simrun_init(struct simrun *r, const struct simrun_options *o,
                 const struct simcounter *counters, size_t n, mono_ns start)
{
    *r = (struct simrun){.options = *o, .counters = counters, .n = n};
    for (size_t i = 0; i < n; i++) {
        struct channel c = {
            .quantity = QUANTITY_ENERGY_J,
            .range = counters[i].range_j > 0 ? counters[i].range_j : NAN,
            .refresh_ns = o->documented_ns,
        };

        history_init(&r->histories[i], &c);
        r->needs[i] = (struct pace_need){&r->histories[i].phase, o->documented_ns};
    }
    pace_init(&r->pace, o->period_ns, o->fixed, start);
}

static mono_ns wake(struct simrun *r)
{
    uint64_t k = r->rounds * 4;
    double late = -log1p(-sim_uniform(r->options.seed, k)) * (double)r->options.late_ns;

    if (sim_hash(r->options.seed, k + 1) % 64 == 0)
        late += sim_uniform(r->options.seed, k + 2) * (double)r->options.stall_ns;
    return r->pace.deadline + (mono_ns)late;
}

void simrun_until(struct simrun *r, mono_ns t)
{
    mono_ns now = 0;

    while (now <= t) {
        mono_ns begin = wake(r);

        now = begin;
        for (size_t i = 0; i < r->n; i++) {
            /* The value is latched somewhere inside the read. */
            double when = sim_uniform(r->options.seed ^ 99, r->rounds * SIMRUN_MAX + i);
            mono_ns latched = now + (mono_ns)(when * (double)r->options.read_ns);

            history_put(&r->histories[i], now, now + r->options.read_ns,
                        simcounter_shown(&r->counters[i], latched), 3 * r->options.period_ns);
            now += r->options.read_ns;
        }
        pace_next(&r->pace, r->needs, r->n, begin, now);
        r->rounds++;
    }
}

void simrun_copy(const struct simrun *r, size_t counter, mono_ns a, mono_ns b, struct series *ret)
{
    const struct history *h = &r->histories[counter];
    uint64_t from, to;

    series_clear(ret);
    history_range(h, a, b, &from, &to);
    for (; from < to; from++)
        series_add(ret, *history_tick(h, from));
    for (size_t i = 0; i < h->n_gaps; i++)
        if (h->gaps[i].to >= a && h->gaps[i].from <= b)
            series_add_gap(ret, h->gaps[i]);
    ret->read_from = h->read_from;
    ret->read_until = h->read_until;
    ret->period_ns = r->pace.spacing_ns;
}

void simrun_release(struct simrun *r)
{
    for (size_t i = 0; i < r->n; i++)
        history_release(&r->histories[i]);
}
