/*
 * The integral of a periodic function over [a, b] is the energy of the whole periods between, plus
 * the difference of the energies since each edge's own period began. Only those small parts are
 * computed in floating point, so nothing is lost to the size of the clock's reading.
 */
#include "support/simpower.h"

#include "base/num.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define FIELDS_MAX 5

static const double pi = 3.14159265358979323846;

/* Cuts text at its colons into fields of at most 63 characters. Returns how many; -1: too many. */
static int split(const char *text, char fields[FIELDS_MAX][64])
{
    int n = 0;

    for (;;) {
        size_t len = strcspn(text, ":");

        if (n == FIELDS_MAX || len > 63)
            return -1;
        memcpy(fields[n], text, len);
        fields[n++][len] = '\0';
        if (!text[len])
            return n;
        text += len + 1;
    }
}

static int parse_watts(const char *text, double *ret, struct err *err)
{
    int r = parse_f64(text, ret, err);

    if (r == 0 && *ret < 0)
        return err_set(err, EINVAL, "negative watts: %s", text);
    return r;
}

static int parse_period(const char *text, mono_ns *ret, struct err *err)
{
    double seconds;
    int r = parse_f64(text, &seconds, err);

    if (r < 0)
        return r;
    if (!(seconds >= 2e-9 && seconds <= 1e6))
        return err_set(err, EINVAL, "not a period: %s", text);
    *ret = llround(seconds * 1e9 / 2) * 2;
    return 0;
}

int simpower_parse(const char *text, struct simpower *ret, struct err *err)
{
    static const struct {
        const char *name;
        int fields;
    } kinds[] = {
        [SIMPOWER_CONSTANT] = {"constant", 2}, [SIMPOWER_SQUARE] = {"square", 4},
        [SIMPOWER_SINE] = {"sine", 4},         [SIMPOWER_RAMP] = {"ramp", 4},
        [SIMPOWER_STEPS] = {"steps", 5},
    };
    char fields[FIELDS_MAX][64];
    int n = split(text, fields);
    struct simpower p = {.period_ns = NS_PER_S};
    size_t kind = 0;
    int r;

    while (kind < sizeof(kinds) / sizeof(kinds[0]) &&
           !(n == kinds[kind].fields && strcmp(fields[0], kinds[kind].name) == 0))
        kind++;
    if (kind == sizeof(kinds) / sizeof(kinds[0]))
        return err_set(err, EINVAL, "not a power function: %s", text);
    p.kind = (enum simpower_kind)kind;
    r = parse_watts(fields[1], &p.base_w, err);
    p.peak_w = p.base_w;
    if (r == 0 && n > 2)
        r = parse_watts(fields[2], &p.peak_w, err);
    if (r == 0 && n > 3)
        r = parse_period(fields[3], &p.period_ns, err);
    if (r == 0 && n > 4)
        r = parse_u64(fields[4], &p.seed, err);
    if (r == 0)
        *ret = p;
    return r;
}

/* The level of step `index` in [0, 1): splitmix64's mixing of seed and index. */
static double step_level(uint64_t seed, int64_t index)
{
    uint64_t z = seed + ((uint64_t)index + 1) * UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

/* t = index * period + rest, 0 <= rest < period. */
static int64_t period_of(const struct simpower *p, mono_ns t, mono_ns *ret_rest)
{
    int64_t index = t / p->period_ns;

    *ret_rest = t % p->period_ns;
    if (*ret_rest < 0) {
        *ret_rest += p->period_ns;
        index--;
    }
    return index;
}

double simpower_watts(const struct simpower *p, mono_ns t)
{
    double span_w = p->peak_w - p->base_w;
    mono_ns rest;
    int64_t index = period_of(p, t, &rest);
    double phase = (double)rest / (double)p->period_ns;

    switch (p->kind) {
    case SIMPOWER_CONSTANT:
        break;
    case SIMPOWER_SQUARE:
        return rest < p->period_ns / 2 ? p->base_w : p->peak_w;
    case SIMPOWER_SINE:
        return p->base_w + span_w / 2 * (1 + sin(2 * pi * phase));
    case SIMPOWER_RAMP:
        return p->base_w + span_w * phase;
    case SIMPOWER_STEPS:
        return p->base_w + span_w * step_level(p->seed, index);
    }
    return p->base_w;
}

/* Above base_w: the joules between the start of period `index` and `rest` into it. */
static double partial_j(const struct simpower *p, int64_t index, mono_ns rest)
{
    double span_w = p->peak_w - p->base_w;
    double rest_s = (double)rest / 1e9;
    double period_s = (double)p->period_ns / 1e9;
    double phase = (double)rest / (double)p->period_ns;
    mono_ns half = p->period_ns / 2;

    switch (p->kind) {
    case SIMPOWER_CONSTANT:
        break;
    case SIMPOWER_SQUARE:
        return rest > half ? span_w * (double)(rest - half) / 1e9 : 0;
    case SIMPOWER_SINE:
        return span_w / 2 * (rest_s + period_s / (2 * pi) * (1 - cos(2 * pi * phase)));
    case SIMPOWER_RAMP:
        return span_w * rest_s * phase / 2;
    case SIMPOWER_STEPS:
        return span_w * rest_s * step_level(p->seed, index);
    }
    return 0;
}

/* Above base_w: the joules of the whole periods [from, to). */
static double whole_j(const struct simpower *p, int64_t from, int64_t to)
{
    double span_w = p->peak_w - p->base_w;
    double period_s = (double)p->period_ns / 1e9;
    double levels = 0;

    if (p->kind == SIMPOWER_CONSTANT)
        return 0;
    if (p->kind != SIMPOWER_STEPS) /* each of the others has the mean (base + peak) / 2 */
        return (double)(to - from) * span_w * period_s / 2;
    for (int64_t i = from; i < to; i++)
        levels += step_level(p->seed, i);
    return levels * span_w * period_s;
}

double simpower_joules(const struct simpower *p, mono_ns a, mono_ns b)
{
    mono_ns rest_a, rest_b;
    int64_t from, to;

    if (b < a)
        return -simpower_joules(p, b, a);
    from = period_of(p, a, &rest_a);
    to = period_of(p, b, &rest_b);
    return p->base_w * (double)(b - a) / 1e9 + whole_j(p, from, to) + partial_j(p, to, rest_b) -
           partial_j(p, from, rest_a);
}
