/*
 * What a stamp means differs between drivers and is documented by none: the moment at which the
 * value was renewed, or the moment at which it was fetched. Both allow "the value was true at the
 * stamp". Only the first allows "and not before", so that is believed only after the stamps have
 * behaved so: they change exactly when the value does, and lie before the read that shows them.
 */
#include "telemetry/stamp.h"

#include <stdlib.h>

#define CACHE_AGE_NS (100 * NS_PER_MS)
#define FAR_NS       (3600 * NS_PER_S)

static mono_ns later(mono_ns a, mono_ns b)
{
    return a > b ? a : b;
}

static mono_ns earlier(mono_ns a, mono_ns b)
{
    return a < b ? a : b;
}

void stamp_anchor_add(struct stamp_anchor *a, mono_ns before, int64_t wall_ns, mono_ns after)
{
    int64_t low = wall_ns - after, high = wall_ns - before;

    if (a->now != 0 && later(a->low, low) <= earlier(a->high, high)) {
        low = later(a->low, low);
        high = earlier(a->high, high);
    }
    *a = (struct stamp_anchor){.low = low, .high = high, .now = after};
}

void stamp_anchor_refresh(struct stamp_anchor *a)
{
    mono_ns before = mono_now();
    int64_t wall_ns = clock_anchor_now().wall_ns;

    stamp_anchor_add(a, before, wall_ns, mono_now());
}

static mono_ns near_or_absent(mono_ns t, mono_ns now)
{
    return t >= 0 && t > now - FAR_NS && t < now + FAR_NS ? t : MONO_ABSENT;
}

mono_ns stamp_from_wall_us(const struct stamp_anchor *a, int64_t wall_us)
{
    if (wall_us <= 0 || wall_us > INT64_MAX / NS_PER_US)
        return MONO_ABSENT;
    return near_or_absent(wall_us * NS_PER_US - (a->low + (a->high - a->low) / 2), a->now);
}

mono_ns stamp_from_boot_ns(uint64_t boot_ns, int64_t suspended_ns, mono_ns now)
{
    if (boot_ns == 0 || boot_ns > INT64_MAX)
        return MONO_ABSENT;
    return near_or_absent((int64_t)boot_ns - suspended_ns, now);
}

static void put(struct stamp_counter *c, struct sample_sink *out, size_t channel, mono_ns before,
                mono_ns after, double value)
{
    sample_put(out, channel, before, after, value);
    c->put = after;
}

/* Learns from this reading how far stamps can be trusted. True: the stamp is the moment at which
 * this value replaced the previous one. */
static bool is_renewal(struct stamp_counter *c, const struct stamp_reading *r)
{
    bool changed = r->value != c->value;
    bool fits = r->stamp != MONO_ABSENT && r->stamp < r->before &&
                r->stamp - r->latency - STAMP_MARGIN_NS > c->put;

    if (!c->seen || c->marks_reads || r->stamp == MONO_ABSENT)
        return false;
    if (!changed) {
        /* A conversion is exact to the margin, so only a larger step is a new stamp. */
        c->marks_reads = c->stamp != MONO_ABSENT && llabs(r->stamp - c->stamp) > STAMP_MARGIN_NS;
        return false;
    }
    c->renewals = fits ? c->renewals + 1 : 0;
    return fits && c->renewals > STAMP_RENEWALS;
}

void stamp_put(struct stamp_counter *c, struct sample_sink *out, size_t channel,
               const struct stamp_reading *r)
{
    mono_ns begun = r->stamp - r->latency - STAMP_MARGIN_NS;
    mono_ns done = earlier(r->stamp + STAMP_MARGIN_NS, r->after);

    if (is_renewal(c, r)) {
        put(c, out, channel, begun, begun, c->value);
        put(c, out, channel, done, done, r->value);
    } else if (r->stamp >= r->before && r->stamp <= r->after) {
        put(c, out, channel, later(begun, r->before), done, r->value);
    } else {
        put(c, out, channel, r->before, r->after, r->value);
    }
    c->seen = true;
    c->value = r->value;
    c->stamp = r->stamp;
}

void stamp_put_fetched(struct stamp_counter *c, struct sample_sink *out, size_t channel,
                       const struct stamp_reading *r)
{
    bool sane = r->stamp != MONO_ABSENT && r->stamp <= r->after && r->stamp >= c->put &&
                r->before - r->stamp <= CACHE_AGE_NS;

    if (sane)
        put(c, out, channel, r->stamp, r->stamp, r->value);
    else
        put(c, out, channel, r->before, r->after, r->value);
}
