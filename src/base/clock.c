#include "base/clock.h"

#include <errno.h>
#include <stdio.h>

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

mono_ns mono_now(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

struct timespec mono_timespec(mono_ns t)
{
    if (t < 0)
        t = 0;
    return (struct timespec){.tv_sec = t / NS_PER_S, .tv_nsec = t % NS_PER_S};
}

int mono_sleep_until(mono_ns t)
{
    struct timespec ts = mono_timespec(t);

    return -clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

struct clock_anchor clock_anchor_now(void)
{
    mono_ns before = mono_now();
    int64_t wall_ns = read_clock(CLOCK_REALTIME);
    mono_ns after = mono_now();

    return (struct clock_anchor){.mono = before + (after - before) / 2, .wall_ns = wall_ns};
}

int64_t clock_suspended_ns(void)
{
    return read_clock(CLOCK_BOOTTIME) - read_clock(CLOCK_MONOTONIC);
}

void clock_format_utc(int64_t wall_ns, char *text, size_t size)
{
    int64_t fraction_ns = (wall_ns % NS_PER_S + NS_PER_S) % NS_PER_S; /* also before 1970 */
    time_t seconds = (time_t)((wall_ns - fraction_ns) / NS_PER_S);
    long ms = (long)(fraction_ns / NS_PER_MS);
    struct tm tm;

    gmtime_r(&seconds, &tm);
    snprintf(text, size, "%04d-%02d-%02dT%02d:%02d:%02d.%03ldZ", tm.tm_year + 1900, tm.tm_mon + 1,
             tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec, ms);
}
