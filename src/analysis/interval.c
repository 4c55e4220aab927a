#include "analysis/interval.h"

#include <math.h>

#define Z 1.959963984540054 /* of the normal distribution, two-sided 95 % */

struct interval interval_wilson(int64_t successes, int64_t trials)
{
    double n = (double)trials, p = (double)successes / n, middle, half;

    if (trials <= 0)
        return (struct interval){NAN, NAN, NAN};
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n);
    half = Z / (1 + Z * Z / n) * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n));
    /* at the ends exactly, not but for rounding */
    return (struct interval){
        .value = p,
        .low = successes == 0 ? 0 : middle - half,
        .high = successes == trials ? 1 : middle + half,
    };
}
