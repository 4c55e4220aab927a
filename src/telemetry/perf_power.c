/*
 * Events are opened one by one rather than as a group: a package that goes offline then takes only
 * its own counters with it. The number of packages is small, the reads are 8 bytes each.
 */
#include "telemetry/perf_power.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/num.h"
#include "telemetry/attr.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PMU_DIR "bus/event_source/devices/power"

static int syscall_perf_event_open(uint32_t type, uint64_t config, int cpu)
{
    struct perf_event_attr attr = {.type = type, .size = sizeof(attr), .config = config};
    long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

    return fd < 0 ? -errno : (int)fd;
}

perf_power_syscall_fn perf_power_syscall = syscall_perf_event_open;

int perf_power_parse_cpus(const char *text, int *ret, size_t max)
{
    size_t n = 0;

    for (;;) {
        int first = text_take_index(&text), last = first;

        if (*text == '-') {
            text++;
            last = text_take_index(&text);
        }
        if (first < 0 || last < first)
            return -EINVAL;
        for (; first <= last && n < max; first++)
            ret[n++] = first;
        if (!*text)
            return (int)n;
        if (*text++ != ',')
            return -EINVAL;
    }
}

int perf_power_parse_event(const char *text, uint64_t *ret)
{
    static const char term[] = "event=0x";
    unsigned long long value;
    char *end;

    if (strncmp(text, term, sizeof(term) - 1) != 0)
        return -EINVAL;
    text += sizeof(term) - 1;
    if (!isxdigit((unsigned char)*text) || strlen(text) > 8)
        return -EINVAL;
    value = strtoull(text, &end, 16);
    if (*end)
        return -EINVAL;
    *ret = value;
    return 0;
}

static const struct source {
    const char *event;
    const char *domain; /* as powercap calls it; "" = the package itself */
    enum rail rail;
} sources[] = {
    {"energy-pkg", "", RAIL_CPU},        {"energy-ram", "dram", RAIL_DRAM},
    {"energy-cores", "core", RAIL_CORE}, {"energy-gpu", "uncore", RAIL_UNCORE},
    {"energy-psys", "psys", RAIL_SOC},
};

struct pmu {
    int root; /* of sysfs */
    int dir;
    uint32_t type;
    int cpus[PERF_POWER_CPUS_MAX];
    int packages[PERF_POWER_CPUS_MAX];
    char names[PERF_POWER_CPUS_MAX][48];
    int n_cpus;
};

static void pmu_release(struct pmu *p)
{
    cleanup_fd(&p->dir);
    cleanup_fd(&p->root);
}

static int topology(const struct pmu *p, int cpu, const char *what, int fallback)
{
    char path[96];
    int64_t value;

    snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/topology/%s", cpu, what);
    if (attr_read_at(p->root, path, &value) < 0 || value < 0 || value > ATTR_INDEX_MAX)
        return fallback;
    return (int)value;
}

/* "package-N"; with its die where the mask has several CPUs of one package. */
static void name_packages(struct pmu *p)
{
    for (int i = 0; i < p->n_cpus; i++)
        p->packages[i] = topology(p, p->cpus[i], "physical_package_id", i);
    for (int i = 0; i < p->n_cpus; i++) {
        int same = 0;

        for (int j = 0; j < p->n_cpus; j++)
            same += p->packages[j] == p->packages[i];
        if (same > 1)
            snprintf(p->names[i], sizeof(p->names[i]), "package-%d-die-%d", p->packages[i],
                     topology(p, p->cpus[i], "die_id", i));
        else
            snprintf(p->names[i], sizeof(p->names[i]), "package-%d", p->packages[i]);
    }
}

static int pmu_find(const char *sysfs_root, struct pmu *ret, struct err *err)
{
    char text[512];
    int64_t type;

    ret->dir = -1;
    ret->root = fs_open_dir(AT_FDCWD, sysfs_root, NULL);
    if (ret->root >= 0)
        ret->dir = fs_open_dir(ret->root, PMU_DIR, NULL);
    if (ret->dir < 0 || attr_read_at(ret->dir, "type", &type) < 0 || type < 0 || type > UINT32_MAX)
        return err_set(err, ENODEV, "no power PMU under %s/%s", sysfs_root, PMU_DIR);
    ret->type = (uint32_t)type;
    if (attr_text(ret->dir, "cpumask", text, sizeof(text)) <= 0 ||
        (ret->n_cpus = perf_power_parse_cpus(text, ret->cpus, PERF_POWER_CPUS_MAX)) <= 0)
        return err_set(err, ENODEV, "%s/%s/cpumask names no CPU", sysfs_root, PMU_DIR);
    name_packages(ret);
    return 0;
}

static bool describe_event(const struct pmu *p, const struct source *s, uint64_t *ret_config,
                           double *ret_scale)
{
    char path[64], text[64];

    snprintf(path, sizeof(path), "events/%s", s->event);
    if (attr_text(p->dir, path, text, sizeof(text)) <= 0 ||
        perf_power_parse_event(text, ret_config) < 0)
        return false;
    snprintf(path, sizeof(path), "events/%s.unit", s->event);
    if (attr_text(p->dir, path, text, sizeof(text)) < 0 || strcmp(text, "Joules") != 0)
        return false;
    snprintf(path, sizeof(path), "events/%s.scale", s->event);
    return attr_text(p->dir, path, text, sizeof(text)) > 0 &&
           parse_f64(text, ret_scale, NULL) == 0 && *ret_scale > 0;
}

static void add_event(struct perf_power *ret, const struct pmu *p, const struct source *s, int i,
                      double scale, int fd)
{
    struct perf_power_event e = {
        .rail = s->rail, .package = p->packages[i], .joules_per_count = scale, .fd = fd};

    if (s->rail == RAIL_SOC)
        snprintf(e.device, sizeof(e.device), "%s", s->domain);
    else
        snprintf(e.device, sizeof(e.device), "%s", p->names[i]);
    if (s->rail == RAIL_SOC || !*s->domain)
        snprintf(e.name, sizeof(e.name), "%s", e.device);
    else
        snprintf(e.name, sizeof(e.name), "%s %s", e.device, s->domain);
    GROW(ret->events, ret->n, ret->cap);
    ret->events[ret->n++] = e;
}

int perf_power_open(const char *sysfs_root, struct perf_power *ret, struct err *err)
{
    AUTO(pmu) struct pmu pmu = {.root = -1, .dir = -1};
    struct perf_power found = {0};
    int first_failure = 0;
    int r = pmu_find(sysfs_root, &pmu, err);

    if (r < 0)
        return r;
    for (int i = 0; i < pmu.n_cpus; i++) {
        for (size_t k = 0; k < sizeof(sources) / sizeof(*sources); k++) {
            uint64_t config;
            double scale;
            int fd;

            if ((i > 0 && sources[k].rail == RAIL_SOC) ||
                !describe_event(&pmu, &sources[k], &config, &scale))
                continue;
            fd = perf_power_syscall(pmu.type, config, pmu.cpus[i]);
            if (fd >= 0)
                add_event(&found, &pmu, &sources[k], i, scale, fd);
            else if (!first_failure)
                first_failure = fd;
        }
    }
    if (found.n == 0) {
        if (first_failure == -EACCES || first_failure == -EPERM)
            return err_set(err, EACCES, "the power PMU may be read with CAP_PERFMON only");
        return err_set(err, ENODEV, "the power PMU has no energy event");
    }
    *ret = found;
    return 0;
}

void perf_power_release(struct perf_power *p)
{
    for (size_t i = 0; i < p->n; i++)
        cleanup_fd(&p->events[i].fd);
    free(p->events);
    *p = (struct perf_power){0};
}

int perf_power_read(const struct perf_power_event *e, double *ret_j)
{
    uint64_t count;
    ssize_t got;

    do
        got = read(e->fd, &count, sizeof(count));
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    if (got != sizeof(count))
        return -ENODATA;
    *ret_j = (double)count * e->joules_per_count;
    return 0;
}
