/*
 * simpower: power as a known function of the monotonic clock, with its exact integral.
 *
 * A stand-in sensor shows simpower_watts or a counter made of simpower_joules; a test then compares
 * what was measured with simpower_joules of the same interval. The functions depend on the clock
 * and the text only, so two processes given the same text see the same power.
 *
 *     struct simpower p;
 *     assert_ok(simpower_parse("square:100:300:0.5", &p, &err), &err);
 *     truth_j = simpower_joules(&p, a, b);
 *
 * Texts (watts, seconds):
 *     constant:W
 *     square:BASE:PEAK:PERIOD     the first half of each period at BASE, the second at PEAK
 *     sine:BASE:PEAK:PERIOD       between BASE and PEAK, at the mean and rising at t = 0
 *     ramp:BASE:PEAK:PERIOD       rises from BASE to PEAK over a period, then falls back at once
 *     steps:BASE:PEAK:PERIOD:SEED a new level in [BASE, PEAK) every period, chosen by the seed
 *
 * Periods are whole nanoseconds and begin at t = 0 of the clock, so that an integral is exact up to
 * the rounding of a few doubles however large t is. `steps` sums one level per period: O(b - a).
 */
#ifndef IPW_TESTS_SIMPOWER_H
#define IPW_TESTS_SIMPOWER_H

#include "base/clock.h"
#include "base/err.h"

#include <stdint.h>

enum simpower_kind {
    SIMPOWER_CONSTANT,
    SIMPOWER_SQUARE,
    SIMPOWER_SINE,
    SIMPOWER_RAMP,
    SIMPOWER_STEPS,
};

struct simpower {
    enum simpower_kind kind;
    double base_w;
    double peak_w;     /* constant: same as base_w */
    mono_ns period_ns; /* > 0; even for square */
    uint64_t seed;
};

/* -EINVAL for anything but the texts above; watts must not be negative, a period at least 2 ns. */
int simpower_parse(const char *text, struct simpower *ret, struct err *err);

double simpower_watts(const struct simpower *p, mono_ns t);
/* The integral over [a, b]; negative when b < a. */
double simpower_joules(const struct simpower *p, mono_ns a, mono_ns b);

#endif
