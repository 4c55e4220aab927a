/*
 * clock: one monotonic clock for requests and samples; the wall clock once per run.
 *
 * mono_ns counts nanoseconds of CLOCK_MONOTONIC. It does not run while the machine is suspended.
 */
#ifndef IPW_BASE_CLOCK_H
#define IPW_BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef int64_t mono_ns;

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_PER_US INT64_C(1000)
/* "Never", and "not known". */
#define MONO_NEVER  INT64_MAX
#define MONO_ABSENT INT64_C(-1)

mono_ns mono_now(void);
/* Sleeps until t on the monotonic clock; a signal may wake it early (-EINTR). */
int mono_sleep_until(mono_ns t);
struct timespec mono_timespec(mono_ns t);

static inline double ns_to_s(int64_t ns)
{
    return (double)ns / 1e9;
}

static inline int64_t s_to_ns(double s)
{
    return (int64_t)(s * 1e9);
}

/* The two clocks read together, so that a monotonic time can be given as a date. */
struct clock_anchor {
    mono_ns mono;
    int64_t wall_ns; /* since 1970-01-01 UTC */
};

struct clock_anchor clock_anchor_now(void);
/* CLOCK_BOOTTIME - CLOCK_MONOTONIC: grows only while the machine sleeps. */
int64_t clock_suspended_ns(void);
/* "2026-01-31T12:00:00.123Z" into text of at least 32 bytes. */
void clock_format_utc(int64_t wall_ns, char *text, size_t size);

#endif
