/*
 * procinfo: what /proc and os-release say of the machine, parsed once for all who ask.
 *
 * The parsers take text of any length and content, allocate nothing and never fail: what is not
 * there, or not as it should be, is absent. A last line without its end is a line too, except in
 * what is cut from a longer file, where the readers leave it away.
 */
#ifndef IPW_TELEMETRY_PROCINFO_H
#define IPW_TELEMETRY_PROCINFO_H

#include <stddef.h>
#include <stdint.h>

/* Time of all CPUs since boot, in the kernel's ticks (10 ms). */
struct cpu_times {
    int64_t busy;
    int64_t idle; /* idle, waiting for a disk, or taken by the hypervisor */
};

/* From /proc/stat. 0, or -EINVAL when there is no such line. */
int cpu_times_parse(const char *text, size_t n, struct cpu_times *ret);
/* From the open file. 0 or -errno. */
int cpu_times_read(int fd, struct cpu_times *ret);
/* Per cent of the time between two that was busy; NAN when no tick has passed. */
double cpu_times_busy_pct(const struct cpu_times *from, const struct cpu_times *to);

struct memory_info {
    int64_t total_bytes; /* -1 = absent, like the next */
    int64_t available_bytes;
};

/* From /proc/meminfo. */
void memory_info_parse(const char *text, size_t n, struct memory_info *ret);
int memory_info_read(int fd, struct memory_info *ret);

struct cpu_info {
    int count;      /* CPUs as the kernel counts them: threads. 0 = not said */
    char brand[96]; /* "" = not said */
};

/* From /proc/cpuinfo. `board` ("" = none) is the device tree's name of the board: ARM kernels name
 * the core by numbers only, and the board says which machine it is. */
void cpu_info_parse(const char *text, size_t n, const char *board, struct cpu_info *ret);
/* From <procfs>/cpuinfo and <procfs>/device-tree/model; where neither has it, count is what the
 * system says. */
void cpu_info_read(const char *procfs_root, struct cpu_info *ret);

/* NAME and VERSION_ID of os-release; "" = absent. */
void os_release_parse(const char *text, size_t n, char *ret_name, size_t name_size,
                      char *ret_version, size_t version_size);

#endif
