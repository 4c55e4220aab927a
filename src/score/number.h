/*
 * number: numbers as people and models write them, found in a text.
 *
 *     struct number x;
 *     for (size_t at = 0; number_next(text, at, &x); at = x.end) ...
 *
 * Read as one number: 12, -3.5, +7, .5, $1,234.50, 1 234, 1'234, 1_234, 1{,}234, 1.234,5 (both
 * marks, the comma last), 3/4, 2 1/2, \frac{3}{4}, 2\frac{1}{2}, ½, 50%, 50 percent, 1.5e3,
 * 1.5 x 10^3, 1.5 \times 10^{3}, 10³, 2^10, 1.5 million. Groups have exactly three digits. "1.234"
 * is one and a bit; "3,5" is two numbers. A minus sign behind a letter or digit is a hyphen
 * (COVID-19, 3-5), digits behind a letter are part of a name (CO2, m2).
 */
#ifndef IPW_SCORE_NUMBER_H
#define IPW_SCORE_NUMBER_H

#include "score/text.h"

#include <stdbool.h>
#include <stddef.h>

struct number {
    double value; /* finite; of "50%" it is 50 */
    bool percent;
    bool negated; /* "not 5" */
    size_t start; /* in the text, with its sign */
    size_t end;   /* behind it, with its percent sign or multiplier */
};

/* The first number at or behind `from`. */
bool number_next(struct span text, size_t from, struct number *ret);

/* The number a text gives as its answer. In this order: in the last \boxed{}; behind the last
 * "answer is" (behind the last "=" of that sentence if there is one); the last line, or the first,
 * if it is nothing but a number and its unit; the last that stands alone in bold; in the last
 * sentence with a number, the one behind the "=" of an equation between numbers, else its last. A
 * number behind "not" does not count. If there are no figures at all, a number word where the
 * answer is marked or very short. On failure *ret_reason says what is wrong with the text. */
bool number_of_answer(struct span text, struct number *ret, const char **ret_reason);

/* Same value? Two whole numbers must be equal, others to 1 part in 1e9, or as far apart as the
 * tolerance (absolute, or relative to the reference) allows. A percentage equals both its number
 * and its hundredth ("50%" is 50 and 0.5), unless both are percentages. */
struct tolerance {
    double absolute;
    double relative;
};
bool number_equal(const struct number *answer, const struct number *reference,
                  struct tolerance tolerance);

#endif
