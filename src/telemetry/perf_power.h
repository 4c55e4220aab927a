/*
 * perf_power: the kernel's `power` PMU, the second way to the RAPL counters.
 *
 * Where powercap's energy_uj is for root only, a program with CAP_PERFMON (or a system with
 * kernel.perf_event_paranoid <= 0) still gets the same counters from perf_event_open. What there is
 * is told by <sysfs>/bus/event_source/devices/power: the PMU's number, one CPU per package, and for
 * each event its code and how many joules a count is.
 *
 *     struct perf_power p;
 *     r = perf_power_open("/sys", &p, &err);    -ENODEV: no such PMU; -EACCES: not allowed
 *     r = perf_power_read(&p.events[0], &joules);
 *     perf_power_release(&p);
 *
 * Counts start at 0 when an event is opened, have 64 bits, and the kernel undoes the wraps of the
 * 32-bit register behind them.
 */
#ifndef IPW_TELEMETRY_PERF_POWER_H
#define IPW_TELEMETRY_PERF_POWER_H

#include "base/err.h"
#include "core/channel.h"

#include <stddef.h>
#include <stdint.h>

#define PERF_POWER_CPUS_MAX 64

struct perf_power_event {
    enum rail rail;
    int package;
    char device[48]; /* "package-0", "package-0-die-1", "psys" */
    char name[64];   /* "package-0 dram" */
    double joules_per_count;
    int fd;
};

struct perf_power {
    struct perf_power_event *events;
    size_t n, cap;
};

/* Opens every event on the CPU of every package; psys, which is the machine's, on the first only.
 * Events the kernel does not know, or that are not in joules, are left out. */
int perf_power_open(const char *sysfs_root, struct perf_power *ret, struct err *err);
void perf_power_release(struct perf_power *p);

/* Joules since it was opened. 0 or -errno. */
int perf_power_read(const struct perf_power_event *e, double *ret_j);

/* perf_event_open behind a pointer, so that a test can answer for the kernel: returns an fd that
 * gives 8 bytes a read, or -errno. */
typedef int (*perf_power_syscall_fn)(uint32_t type, uint64_t config, int cpu);
extern perf_power_syscall_fn perf_power_syscall;

/* "0,18-19" into CPU numbers. Returns how many, at most max; -EINVAL. */
int perf_power_parse_cpus(const char *text, int *ret, size_t max);
/* "event=0x02" into 2. -EINVAL for anything else: a term we do not know cannot be left out. */
int perf_power_parse_event(const char *text, uint64_t *ret);

#endif
