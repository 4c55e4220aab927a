/*
 * Round ticks. A step is found as the smallest of 1, 2, 5 times a power of ten that needs no more
 * ticks than asked for; a tick is a whole multiple of the step, computed as one multiplication or,
 * for steps below one, one division by the reciprocal power, so that 0.3 is 0.3 and not
 * 0.30000000000000004.
 */
#include "plot/ticks.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Ends further out than this would overflow a difference. */
#define HUGE_END 1e300

/* One point becomes a range around it; the rest is put in order. */
static void widen(double *lo, double *hi)
{
    double a = fmax(fmin(fmin(*lo, *hi), HUGE_END), -HUGE_END);
    double b = fmax(fmin(fmax(*lo, *hi), HUGE_END), -HUGE_END);
    double size = fmax(fabs(a), fabs(b));

    if (b - a <= size * 1e-9 || b - a < 1e-300) {
        double by = size > 1e-290 ? size * 0.1 : 1;

        a -= by;
        b += by;
    }
    *lo = a;
    *hi = b;
}

/* base * 10^power without the error of a negative power. */
static double scaled(double base, int power)
{
    return power < 0 ? base / pow(10, -power) : base * pow(10, power);
}

/* The smallest round step that is not smaller than `least`. */
static void round_step(double least, int *ret_base, int *ret_power)
{
    static const int bases[] = {1, 2, 5};
    int power = (int)floor(log10(least));

    /* log10 may be off by one unit in the last place */
    while (scaled(1, power) > least)
        power--;
    for (;; power++)
        for (size_t i = 0; i < 3; i++)
            if (scaled(bases[i], power) >= least * (1 - 1e-12)) {
                *ret_base = bases[i];
                *ret_power = power;
                return;
            }
}

static void fill_linear(double lo, double hi, int about, struct ticks *ret)
{
    double first, last;
    int base, power;

    round_step((hi - lo) / about, &base, &power);
    memset(ret, 0, sizeof(*ret));
    ret->lo = lo;
    ret->hi = hi;
    ret->step = scaled(base, power);
    /* an end that is a tick up to rounding counts as one */
    first = ceil(lo / ret->step - 1e-9);
    last = floor(hi / ret->step + 1e-9);
    for (double k = first; k <= last && ret->n < TICKS_MAX; k++)
        ret->at[ret->n++] = k == 0 ? 0 : scaled(k * base, power);
}

void ticks_linear(double lo, double hi, int about, struct ticks *ret)
{
    widen(&lo, &hi);
    about = about < 2 ? 2 : about > TICKS_MAX - 2 ? TICKS_MAX - 2 : about;
    /* a step that is close to the range's size may leave a single multiple inside */
    do
        fill_linear(lo, hi, about++, ret);
    while (ret->n < 2 && about < TICKS_MAX);
}

static void add_log(struct ticks *t, double value)
{
    if (value >= t->lo * (1 - 1e-9) && value <= t->hi * (1 + 1e-9) && t->n < TICKS_MAX)
        t->at[t->n++] = value;
}

void ticks_log(double lo, double hi, int about, struct ticks *ret)
{
    int from, to, every;

    if (lo > hi) {
        double swap = lo;

        lo = hi;
        hi = swap;
    }
    lo = fmax(lo, 1e-300);
    hi = fmin(fmax(hi, lo), HUGE_END);
    if (hi <= lo * (1 + 1e-9)) {
        lo /= 2;
        hi *= 2;
    }
    memset(ret, 0, sizeof(*ret));
    ret->lo = lo;
    ret->hi = hi;
    about = about < 2 ? 2 : about > TICKS_MAX - 2 ? TICKS_MAX - 2 : about;
    from = (int)floor(log10(lo));
    to = (int)ceil(log10(hi));
    every = (to - from + about - 1) / about;
    every = every < 1 ? 1 : every;
    for (int p = from - (from % every + every) % every; p <= to; p += every)
        add_log(ret, scaled(1, p));
    if (ret->n >= 2 && (ret->n > 2 || about < 6))
        return;
    ret->n = 0;
    for (int p = from; p <= to; p++) {
        add_log(ret, scaled(1, p));
        add_log(ret, scaled(2, p));
        add_log(ret, scaled(5, p));
    }
    if (ret->n < 2 || ret->n > (size_t)about + 1)
        ticks_linear(lo, hi, about, ret);
}

int tick_exponent(double magnitude)
{
    double m = fabs(magnitude);
    int exponent = 0;

    if (!(m > 0) || m >= 1e15 || m < 1e-12)
        return 0;
    while (m >= 1000 && exponent < 12) {
        m /= 1000;
        exponent += 3;
    }
    while (m < 1 && exponent > -12) {
        m *= 1000;
        exponent -= 3;
    }
    return exponent;
}

const char *tick_prefix(int exponent)
{
    static const char *const prefixes[] = {"p", "n", "µ", "m", "", "k", "M", "G", "T"};

    if (exponent < -12 || exponent > 12 || exponent % 3)
        return "";
    return prefixes[(exponent + 12) / 3];
}

/* Commas between the thousands of the whole part. */
static void add_commas(const char *plain, char text[TICK_TEXT_MAX])
{
    size_t sign = plain[0] == '-', whole = strcspn(plain + sign, "."), out = 0;

    if (sign)
        text[out++] = '-';
    for (size_t i = 0; plain[sign + i] && out + 2 < TICK_TEXT_MAX; i++) {
        if (i && i < whole && (whole - i) % 3 == 0)
            text[out++] = ',';
        text[out++] = plain[sign + i];
    }
    text[out] = '\0';
}

void tick_text(double value, double step, int exponent, char text[TICK_TEXT_MAX])
{
    double v = scaled(value, -exponent), s = scaled(fabs(step), -exponent);
    int decimals = s > 0 ? (int)fmax(0, -floor(log10(s) + 1e-9)) : 0;
    char plain[64];

    if (v == 0) {
        snprintf(text, TICK_TEXT_MAX, "0");
        return;
    }
    if (!(fabs(v) < 1e9) || decimals > 6 || (step == 0 && fabs(v) < 1e-3)) {
        int digits = s > 0 && isfinite(s) ? (int)ceil(log10(fabs(v) / s)) : 3;

        snprintf(text, TICK_TEXT_MAX, "%.*g", digits < 1 ? 1 : digits > 15 ? 15 : digits + 1, v);
        return;
    }
    if (step == 0)
        snprintf(plain, sizeof(plain), fabs(v) >= 100 ? "%.0f" : "%.3g", v);
    else
        snprintf(plain, sizeof(plain), "%.*f", decimals, v);
    add_commas(plain, text);
}
