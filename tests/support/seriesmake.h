/*
 * seriesmake: series made by hand, for tests of what is computed from them. Times in milliseconds.
 */
#ifndef IPW_TESTS_SERIESMAKE_H
#define IPW_TESTS_SERIESMAKE_H

#include "core/series.h"

#define MS NS_PER_MS

/* A change known to the nanosecond. */
static inline void edge(struct series *s, mono_ns ms, double value)
{
    series_add(s, (struct tick){.after = ms * MS - 1, .seen = ms * MS, .at = ms * MS, value, 0});
}

static inline void level(struct series *s, mono_ns ms, double value)
{
    series_add(s, (struct tick){ms * MS - 1, ms * MS, ms * MS, value, TICK_BREAK});
}

static inline void shown(struct series *s, mono_ns from_ms, mono_ns to_ms, double value)
{
    series_add(s, (struct tick){.after = from_ms * MS,
                                .seen = to_ms * MS,
                                .at = (from_ms + to_ms) * MS / 2,
                                .value = value});
}

/* Ticks every 100 ms whose cells have these powers, after a level 50 ms before the first. */
static inline struct series cells(const double *power_w, size_t n)
{
    struct series s = {.read_from = 40 * MS, .period_ns = 20 * MS};
    double sum = 10;

    level(&s, 50, 0);
    edge(&s, 100, sum);
    for (size_t i = 0; i < n; i++)
        edge(&s, 200 + 100 * (mono_ns)i, sum += power_w[i] * 0.1);
    s.read_until = (100 + 100 * (mono_ns)n) * MS;
    return s;
}

#endif
