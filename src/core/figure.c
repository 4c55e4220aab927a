/*
 * Classes: zero, and on each side of it the powers of GROWTH between SMALLEST and the largest
 * double that fits; what is smaller counts as zero, what is larger as the last class. A class's
 * value is its geometric middle, kept within the exact minimum and maximum.
 */
#include "core/figure.h"

#include "base/alloc.h"
#include "core/stats.h"

#include <math.h>
#include <stdlib.h>

#define GROWTH    1.002
#define SMALLEST  1e-12
#define PER_SIDE  40000 /* GROWTH^40000 * SMALLEST = 5e22 */
#define N_CLASSES (2 * PER_SIDE + 1)

static size_t class_of(double value)
{
    double size = fabs(value), k;

    if (size < SMALLEST)
        return PER_SIDE;
    k = floor(log(size / SMALLEST) / log(GROWTH));
    k = fmin(k, PER_SIDE - 1);
    return value < 0 ? PER_SIDE - 1 - (size_t)k : PER_SIDE + 1 + (size_t)k;
}

static double middle_of(size_t class)
{
    double k = class > PER_SIDE ? (double)(class - PER_SIDE - 1) : (double)(PER_SIDE - 1 - class);
    double size = SMALLEST * pow(GROWTH, k + 0.5);

    if (class == PER_SIDE)
        return 0;
    return class > PER_SIDE ? size : -size;
}

static void keep_value(struct figure *f, double value)
{
    if (f->classes) {
        f->classes[class_of(value)]++;
        return;
    }
    if (f->n <= FIGURE_EXACT) {
        GROW(f->values, (size_t)f->n - 1, f->cap);
        f->values[f->n - 1] = value;
        return;
    }
    f->classes = xcalloc(N_CLASSES, sizeof(*f->classes));
    for (int64_t i = 0; i < f->n - 1; i++)
        f->classes[class_of(f->values[i])]++;
    f->classes[class_of(value)]++;
    free(f->values);
    f->values = NULL;
}

void figure_add(struct figure *f, double value)
{
    double step;

    if (!isfinite(value))
        return;
    f->n++;
    f->min = f->n == 1 ? value : fmin(f->min, value);
    f->max = f->n == 1 ? value : fmax(f->max, value);
    step = value - f->mean;
    f->mean += step / (double)f->n;
    f->m2 += step * (value - f->mean);
    keep_value(f, value);
}

void figure_release(struct figure *f)
{
    free(f->values);
    free(f->classes);
    *f = (struct figure){0};
}

double figure_mean(const struct figure *f)
{
    return f->n ? f->mean : NAN;
}

double figure_std(const struct figure *f)
{
    if (f->n == 0)
        return NAN;
    return f->n == 1 ? 0 : sqrt(f->m2 / (double)(f->n - 1));
}

double figure_min(const struct figure *f)
{
    return f->n ? f->min : NAN;
}

double figure_max(const struct figure *f)
{
    return f->n ? f->max : NAN;
}

double figure_percentile(struct figure *f, double percent)
{
    double rank = percent / 100 * (double)(f->n - 1);
    int64_t below = 0;

    if (f->n == 0)
        return NAN;
    if (!f->classes)
        return stats_percentile(f->values, stats_sort(f->values, (size_t)f->n), percent);
    for (size_t i = 0; i < N_CLASSES; i++) {
        below += f->classes[i];
        if ((double)below > rank)
            return fmin(fmax(middle_of(i), f->min), f->max);
    }
    return f->max;
}
