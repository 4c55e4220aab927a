/*
 * ticks: round numbers along an axis, and how they are written.
 *
 *     struct ticks t;
 *     ticks_linear(0, 1234, 6, &t);            0 200 400 ... 1200
 *     tick_text(t.at[i], t.step, 0, text);     "1,200"
 *
 * Any finite range is accepted: tiny, huge, negative, upside down, a single value. Pure.
 */
#ifndef IPW_PLOT_TICKS_H
#define IPW_PLOT_TICKS_H

#include <stddef.h>

#define TICKS_MAX     24
#define TICK_TEXT_MAX 32

struct ticks {
    double lo, hi; /* the axis' ends: as asked, widened where they were one point */
    double at[TICKS_MAX];
    size_t n;
    double step; /* between neighbours; 0 on a log axis */
};

/* About so many, at least two, multiples of 1, 2 or 5 times a power of ten in [lo, hi]. */
void ticks_linear(double lo, double hi, int about, struct ticks *ret);
/* lo must be positive. Whole decades; where fewer than two fit, their 2nd and 5th parts too; where
 * even these are fewer than two, round numbers as on a linear axis (step is then not 0). */
void ticks_log(double lo, double hi, int about, struct ticks *ret);

/* The power of ten (a multiple of 3, -12..12) by which a quantity of this magnitude is best told:
 * 0.02 -> -3, 4200 -> 3. 0 for 0 and for what has no prefix. */
int tick_exponent(double magnitude);
/* "m", "k", ...; "" for 0 and for anything without a prefix. */
const char *tick_prefix(int exponent);

/* value / 10^exponent with the decimals that tell neighbours `step` apart (both in the same unit as
 * the value), thousands by commas; scientific where that would take too many digits. step 0: as few
 * digits as say it. */
void tick_text(double value, double step, int exponent, char text[TICK_TEXT_MAX]);

#endif
