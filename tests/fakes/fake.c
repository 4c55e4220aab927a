/*
 * The libraries are loaded into the program under test, so nothing here may depend on its state;
 * a wrong setting ends the program at once, because a test that runs with it would prove nothing.
 */
#include "fakes/fake.h"

#include "base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fake_inits;
int fake_shutdowns;
static mono_ns pinned = MONO_ABSENT;

void fake_pin(mono_ns t)
{
    pinned = t;
}

mono_ns fake_now(void)
{
    return pinned != MONO_ABSENT ? pinned : mono_now();
}

static void refuse(const char *name, const char *text)
{
    fprintf(stderr, "stand-in library: %s=%s makes no sense\n", name, text);
    abort();
}

const char *fake_text(const struct fake *f, const char *name, const char *fallback)
{
    char variable[64];
    const char *text;

    snprintf(variable, sizeof(variable), "%s_%s", f->prefix, name);
    text = getenv(variable);
    return text ? text : fallback;
}

double fake_number(const struct fake *f, const char *name, double fallback)
{
    const char *text = fake_text(f, name, NULL);
    double value = fallback;

    if (text && parse_f64(text, &value, NULL) < 0)
        refuse(name, text);
    return value;
}

static void setup_power(struct fake *f)
{
    const char *text = fake_text(f, "POWER", "constant:100");

    for (unsigned int i = 0; i < FAKE_GPUS_MAX; i++) {
        size_t len = strcspn(text, ";");
        char one[128];

        snprintf(one, sizeof(one), "%.*s", (int)len, text);
        if (simpower_parse(one, &f->power[i], NULL) < 0)
            refuse("POWER", one);
        if (text[len])
            text += len + 1;
    }
}

void fake_setup(struct fake *f, const char *prefix, double refresh_ms)
{
    double reset_s;

    f->prefix = prefix;
    f->gpus = (unsigned int)fake_number(f, "GPUS", 1);
    if (f->gpus > FAKE_GPUS_MAX)
        refuse("GPUS", "more than 16");
    setup_power(f);
    f->refresh_ns = llround(fake_number(f, "REFRESH_MS", refresh_ms) * 1e6);
    f->jitter = fake_number(f, "JITTER", 0);
    if (!(f->jitter >= 0 && f->jitter < 1))
        refuse("JITTER", "not in [0, 1)");
    f->quantum_j = fake_number(f, "QUANTUM_MJ", 1) / 1e3;
    f->start_j = fake_number(f, "START_J", 1000);
    f->origin = fake_now();
    reset_s = fake_number(f, "RESET_AT", -1);
    f->reset_at = reset_s >= 0 ? f->origin + s_to_ns(reset_s) : MONO_NEVER;
    f->faults_from = f->origin + s_to_ns(fake_number(f, "FAULTS_FROM", 0));
    snprintf(f->stamps, sizeof(f->stamps), "%s", fake_text(f, "STAMPS", ""));
}

/* When renewal k happens: k periods after the clock's zero, late by up to `jitter` of a period. */
static mono_ns renewal_time(const struct fake *f, int64_t k)
{
    uint64_t z = ((uint64_t)k + 1) * UINT64_C(0x9E3779B97F4A7C15);

    z ^= z >> 29;
    z *= UINT64_C(0xBF58476D1CE4E5B9);
    z ^= z >> 32;
    return k * f->refresh_ns +
           (mono_ns)(f->jitter * (double)(z >> 11) * 0x1p-53 * (double)f->refresh_ns);
}

mono_ns fake_renewal(const struct fake *f, mono_ns t)
{
    int64_t k;

    if (f->refresh_ns <= 0)
        return t;
    k = t / f->refresh_ns;
    return renewal_time(f, k) <= t ? renewal_time(f, k) : renewal_time(f, k - 1);
}

double fake_joules(const struct fake *f, unsigned int gpu, mono_ns t)
{
    mono_ns renewal = fake_renewal(f, t);
    double joules;

    if (renewal >= f->reset_at)
        joules = simpower_joules(&f->power[gpu], f->reset_at, renewal);
    else
        joules = f->start_j + simpower_joules(&f->power[gpu], f->origin, renewal);
    /* A hair above, so that 0.3 / 0.1 is 3 steps. */
    return floor(joules / f->quantum_j + 1e-9) * f->quantum_j;
}

double fake_watts(const struct fake *f, unsigned int gpu, mono_ns t)
{
    return simpower_watts(&f->power[gpu], fake_renewal(f, t));
}

/* Finds the call in NAME[@GPU][=VALUE],... True with its value, 0 when it has none. */
static bool ordered(const char *list, const char *call, int gpu, int *ret)
{
    while (*list) {
        size_t len = strcspn(list, ",");
        char name[96], entry[128];
        int for_gpu = -1, value = 0;

        snprintf(entry, sizeof(entry), "%.*s", (int)len, list);
        list += len + (list[len] == ',');
        snprintf(name, sizeof(name), "%.*s", (int)strcspn(entry, "@="), entry);
        if (strchr(entry, '@'))
            for_gpu = (int)strtol(strchr(entry, '@') + 1, NULL, 10);
        if (strchr(entry, '='))
            value = (int)strtol(strchr(entry, '=') + 1, NULL, 10);
        if ((strcmp(name, "*") == 0 || strcmp(name, call) == 0) &&
            (for_gpu < 0 || for_gpu == gpu)) {
            *ret = value;
            return true;
        }
    }
    return false;
}

int fake_fault(const struct fake *f, const char *call, int gpu)
{
    int value = 0;

    if (fake_now() < f->faults_from)
        return 0;
    if (ordered(fake_text(f, "DELAY_US", ""), call, gpu, &value))
        mono_sleep_until(mono_now() + value * NS_PER_US);
    while (ordered(fake_text(f, "HANG", ""), call, gpu, &value))
        pause();
    if (ordered(fake_text(f, "ERRORS", ""), call, gpu, &value))
        return value;
    return 0;
}

/* The two clocks stay equally far apart; the reading that took least time tells how far. */
static int64_t find_wall_offset(void)
{
    mono_ns best = MONO_NEVER;
    int64_t offset = 0;

    for (int i = 0; i < 100; i++) {
        mono_ns before = mono_now();
        struct clock_anchor anchor = clock_anchor_now();
        mono_ns width = mono_now() - before;

        if (width < best) {
            best = width;
            offset = anchor.wall_ns - anchor.mono;
        }
    }
    return offset;
}

long long fake_wall_us(mono_ns t)
{
    static int64_t offset;

    if (offset == 0)
        offset = find_wall_offset();
    return (t + offset) / NS_PER_US;
}
