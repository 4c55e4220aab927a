/*
 * The deviations are summed in a second pass over the values: the one-pass formula with squares
 * loses all digits where values are large and close together, as times and joules are.
 */
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

double stats_ratio(double x, double y)
{
    return y > 0 ? x / y : NAN;
}

size_t stats_sort(double *values, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++)
        if (!isnan(values[i]))
            values[kept++] = values[i];
    if (kept > 1)
        qsort(values, kept, sizeof(*values), compare);
    return kept;
}

double stats_mean(const double *values, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += values[i];
    return n ? sum / (double)n : NAN;
}

double stats_std(const double *values, size_t n)
{
    double mean = stats_mean(values, n), squares = 0;

    if (n < 2)
        return n ? 0 : NAN;
    for (size_t i = 0; i < n; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    return sqrt(squares / (double)(n - 1));
}

double stats_percentile(const double *sorted, size_t n, double percent)
{
    double at, part;
    size_t below;

    if (n == 0)
        return NAN;
    at = percent / 100 * (double)(n - 1);
    below = (size_t)at;
    if (below + 1 >= n)
        return sorted[n - 1];
    part = at - (double)below;
    return sorted[below] + part * (sorted[below + 1] - sorted[below]);
}

double stats_median(const double *sorted, size_t n)
{
    return stats_percentile(sorted, n, 50);
}

struct stat4 stats_four(double *values, size_t n)
{
    n = stats_sort(values, n);
    if (n == 0)
        return STAT4_ABSENT;
    return (struct stat4){
        .avg = stats_mean(values, n),
        .max = values[n - 1],
        .median = stats_median(values, n),
        .min = values[0],
    };
}
