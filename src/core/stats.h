/*
 * stats: the figures that describe a set of values. Absent is NAN.
 *
 *     n = stats_sort(values, n);                    absent ones dropped, the rest ascending
 *     p99 = stats_percentile(values, n, 99);
 *     sd = stats_std(values, n);
 *
 * Pure: any thread. No values give NAN.
 */
#ifndef IPW_CORE_STATS_H
#define IPW_CORE_STATS_H

#include <stddef.h>

/* In the order of the record's fields. */
struct stat4 {
    double avg, max, median, min;
};
#define STAT4_ABSENT       \
    (struct stat4)         \
    {                      \
        NAN, NAN, NAN, NAN \
    }

/* x / y; NAN unless y is known and positive. */
double stats_ratio(double x, double y);

/* Sorts in ascending order what is not NAN to the front; returns how many that are. */
size_t stats_sort(double *values, size_t n);

/* Of any order. */
double stats_mean(const double *values, size_t n);
/* Of a sample (divided by n - 1); 0 for a single value. */
double stats_std(const double *values, size_t n);

/* Of sorted values without NAN: linear interpolation at percent / 100 * (n - 1), which is type 7 of
 * Hyndman and Fan and what numpy does by default. percent is 0..100. */
double stats_percentile(const double *sorted, size_t n, double percent);
double stats_median(const double *sorted, size_t n);

/* Of values in any order, some perhaps NAN: sorts them like stats_sort. */
struct stat4 stats_four(double *values, size_t n);

#endif
