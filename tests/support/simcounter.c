#include "simcounter.h"

#include <math.h>

static mono_ns refresh_time(const struct simcounter *c, int64_t k)
{
    double jitter = (2 * sim_uniform(c->seed, (uint64_t)k) - 1) * (double)c->jitter_ns;

    return c->epoch + c->phase_ns + k * c->refresh_ns + (mono_ns)jitter;
}

mono_ns simcounter_refreshed(const struct simcounter *c, mono_ns t)
{
    int64_t k;

    if (c->refresh_ns <= 0)
        return t;
    k = (t - c->epoch - c->phase_ns) / c->refresh_ns + 1;
    while (refresh_time(c, k) > t)
        k--;
    return refresh_time(c, k);
}

double simcounter_shown(const struct simcounter *c, mono_ns t)
{
    mono_ns at = simcounter_refreshed(c, t);
    double joules = c->offset_j;

    if (at > c->epoch)
        joules += simcurve_joules(c->power, ns_to_s(at - c->epoch));
    if (c->quantum_j > 0)
        joules = floor(joules / c->quantum_j) * c->quantum_j;
    if (c->range_j > 0)
        joules = fmod(joules, c->range_j);
    return joules;
}

double simcounter_joules(const struct simcounter *c, mono_ns a, mono_ns b)
{
    return simcurve_joules(c->power, ns_to_s(b - c->epoch)) -
           simcurve_joules(c->power, ns_to_s(a - c->epoch));
}
