/*
 * rapl: the energy counters of CPU packages, from powercap or from the perf `power` PMU.
 *
 * powercap shows each counter as a zone: a package is <control>:N, its parts are <control>:N:M. One
 * package may be shown twice, through its MSR (intel-rapl) and through memory (intel-rapl-mmio), so
 * zones are known by their names, and of two with one name the first that can be read is used.
 * Names of dies (package-0-die-1) are different names: those are different counters.
 *
 * What a zone shows is in microjoules, but it moves in the register's own unit, which is 15 to 61
 * microjoules, and a whole joule for psys of some servers. The unit is not shown; it follows from
 * the range, which is 2^32 - 1 units of the 32-bit register.
 *
 * Since CVE-2020-8694 energy_uj is for root only on most systems, hence the PMU as the second way
 * and the words about what to do when that is closed too.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "telemetry/attr.h"
#include "telemetry/collector.h"
#include "telemetry/perf_power.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REGISTER_MAX   4294967295.0 /* 32 bits */
#define REFRESH_NS     NS_PER_MS
#define ZONES_MAX      1024
#define SETCAP_COMMAND "sudo setcap cap_perfmon+ep $(command -v ipw)"

struct counter {
    int fd; /* energy_uj */
    size_t channel;
};

struct rapl {
    struct counter *counters; /* of powercap */
    size_t n, cap;
    struct perf_power pmu; /* or these */
    size_t pmu_channel;    /* of its first event; the others follow */
};

struct zone {
    char id[48];     /* "intel-rapl:0:1" */
    int control;     /* index in controls */
    int package;     /* N */
    int part;        /* M, -1 = the package itself */
    char device[28]; /* the package's name: "package-0" */
    char name[28];   /* its own: "package-0", "dram" */
    char label[64];  /* "package-0 dram": what makes it the same as another */
    int64_t first_uj;
    int failure; /* -errno: cannot be read */
};

/* What could not be read, for the words at the end. */
struct refused {
    bool denied;       /* some of it for want of permission ... */
    struct zone first; /* ... and this is the first of those, else the first of all */
};

/* In the order of preference. */
static const char *const controls[] = {"intel-rapl", "intel-rapl-mmio"};

static const struct domain {
    const char *name; /* the beginning of the zone's */
    enum rail rail;
} domains[] = {
    {"package", RAIL_CPU},   {"dram", RAIL_DRAM}, {"core", RAIL_CORE},
    {"uncore", RAIL_UNCORE}, {"psys", RAIL_SOC},
};

static enum rail rail_of(const char *zone_name)
{
    for (size_t i = 0; i < sizeof(domains) / sizeof(*domains); i++)
        if (strncmp(zone_name, domains[i].name, strlen(domains[i].name)) == 0)
            return domains[i].rail;
    return RAIL_OTHER;
}

/* "intel-rapl:0" or "intel-rapl:0:1". */
static bool parse_zone_id(const char *id, struct zone *ret)
{
    for (size_t i = 0; i < sizeof(controls) / sizeof(*controls); i++) {
        size_t skip = strlen(controls[i]);
        struct zone z = {.control = (int)i, .part = -1};
        const char *p = id + skip;

        if (strlen(id) >= sizeof(z.id) || strncmp(id, controls[i], skip) != 0 || *p++ != ':')
            continue;
        z.package = text_take_index(&p);
        if (z.package >= 0 && *p == ':') {
            p++;
            z.part = text_take_index(&p);
            if (z.part < 0)
                return false;
        }
        if (z.package < 0 || *p)
            return false;
        snprintf(z.id, sizeof(z.id), "%s", id);
        *ret = z;
        return true;
    }
    return false;
}

static int by_position(const void *a, const void *b)
{
    const struct zone *x = a, *y = b;

    if (x->control != y->control)
        return x->control - y->control;
    if (x->package != y->package)
        return x->package - y->package;
    return x->part - y->part;
}

/* Reads its name and its package's. */
static bool name_zone(int dirfd, struct zone *z)
{
    char path[96];

    snprintf(path, sizeof(path), "%s/name", z->id);
    if (attr_text(dirfd, path, z->name, sizeof(z->name)) <= 0)
        return false;
    snprintf(path, sizeof(path), "%s:%d/name", controls[z->control], z->package);
    if (attr_text(dirfd, path, z->device, sizeof(z->device)) <= 0)
        return false;
    if (z->part < 0)
        snprintf(z->label, sizeof(z->label), "%s", z->name);
    else
        snprintf(z->label, sizeof(z->label), "%s %s", z->device, z->name);
    return true;
}

/* All zones, by control and number; the caller frees them. */
static size_t list_zones(int dirfd, struct zone **ret)
{
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    size_t n = 0, cap = 0;
    struct dirent *e;

    *ret = NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (n < ZONES_MAX && (e = readdir(dir))) {
        struct zone z;

        if (!parse_zone_id(e->d_name, &z) || !name_zone(dirfd, &z))
            continue;
        GROW(*ret, n, cap);
        (*ret)[n++] = z;
    }
    closedir(dir);
    if (n > 1)
        qsort(*ret, n, sizeof(**ret), by_position);
    return n;
}

static size_t device_of(struct collector_setup *setup, const char *name, int number,
                        const char *backend)
{
    struct device d = {.kind = strncmp(name, "psys", 4) == 0 ? DEVICE_HOST : DEVICE_CPU,
                       .number = number};

    for (size_t i = 0; i < setup->n_devices; i++)
        if (strcmp(setup->devices[i].name, name) == 0)
            return i;
    snprintf(d.name, sizeof(d.name), "%s", name);
    snprintf(d.backend, sizeof(d.backend), "%s", backend);
    return collector_add_device(setup, d);
}

static size_t add_channel(struct collector_setup *setup, const char *name, enum rail rail,
                          size_t device, double range_j, double quantum_j)
{
    struct channel c = {
        .quantity = QUANTITY_ENERGY_J,
        .rail = rail,
        .device = device,
        .summed = rail != RAIL_OTHER,
        .range = range_j,
        .quantum = quantum_j,
        .refresh_ns = REFRESH_NS,
    };

    snprintf(c.name, sizeof(c.name), "%s", name);
    return collector_add_channel(setup, c);
}

/* The number in the name is the package's own; that of the zone only counts zones. */
static int package_number(const struct zone *z)
{
    static const char prefix[] = "package-";
    const char *p = z->device + sizeof(prefix) - 1;
    int number = strncmp(z->device, prefix, sizeof(prefix) - 1) == 0 ? text_take_index(&p) : -1;

    return number >= 0 ? number : z->package;
}

static void add_zone(struct collector_setup *setup, struct rapl *r, int dirfd, const struct zone *z,
                     int fd)
{
    double range_j = NAN, quantum_j = 1e-6;
    size_t device = device_of(setup, z->device, package_number(z), "powercap");
    int64_t range_uj;
    char path[96];

    snprintf(path, sizeof(path), "%s/max_energy_range_uj", z->id);
    /* A counter beyond its range has another range than it says: then a fall is a reset. */
    if (attr_read_at(dirfd, path, &range_uj) == 0 && range_uj > 0 && z->first_uj <= range_uj) {
        range_j = (double)range_uj / 1e6;
        quantum_j = fmax(quantum_j, range_j / REGISTER_MAX);
    }
    GROW(r->counters, r->n, r->cap);
    r->counters[r->n++] = (struct counter){
        .fd = fd,
        .channel = add_channel(setup, z->label, rail_of(z->name), device, range_j, quantum_j),
    };
}

/* An fd whose file gives a number now, or -errno. */
static int open_counter(int dirfd, struct zone *z)
{
    AUTO_FD int fd = -1;
    char path[96];
    int r;

    snprintf(path, sizeof(path), "%s/energy_uj", z->id);
    fd = attr_open(dirfd, path);
    if (fd < 0)
        return fd;
    r = attr_read(fd, &z->first_uj);
    return r < 0 ? r : steal_fd(&fd);
}

static bool is_known(const struct collector_setup *setup, const char *label)
{
    for (size_t i = 0; i < setup->n_channels; i++)
        if (strcmp(setup->channels[i].name, label) == 0)
            return true;
    return false;
}

static void open_powercap(struct collector_setup *setup, struct rapl *r, struct refused *f)
{
    AUTO_FREE char *path = xasprintf("%s/class/powercap", setup->env->sysfs_root);
    AUTO_FD int dirfd = fs_open_dir(AT_FDCWD, path, NULL);
    AUTO_FREE struct zone *zones = NULL;
    size_t n = dirfd < 0 ? 0 : list_zones(dirfd, &zones);

    for (size_t i = 0; i < n; i++) {
        int fd;

        if (is_known(setup, zones[i].label))
            continue;
        fd = open_counter(dirfd, &zones[i]);
        if (fd < 0)
            zones[i].failure = fd;
        else
            add_zone(setup, r, dirfd, &zones[i], fd);
    }
    for (size_t i = 0; i < n; i++) {
        bool denied = zones[i].failure == -EACCES || zones[i].failure == -EPERM;

        /* Its twin may have served. */
        if (!zones[i].failure || is_known(setup, zones[i].label))
            continue;
        if (!f->first.failure || (denied && !f->denied))
            f->first = zones[i];
        f->denied |= denied;
    }
}

static int open_pmu(struct collector_setup *setup, struct rapl *r)
{
    int result = perf_power_open(setup->env->sysfs_root, &r->pmu, NULL);

    if (result < 0)
        return result;
    r->pmu_channel = setup->n_channels;
    for (size_t i = 0; i < r->pmu.n; i++) {
        const struct perf_power_event *e = &r->pmu.events[i];

        add_channel(setup, e->name, e->rail, device_of(setup, e->device, e->package, "perf"), NAN,
                    NAN);
    }
    return 0;
}

/* Why the first zone that failed cannot be read, and what helps. */
static int explain_zone(const char *root, const struct refused *f, const char *or_else,
                        struct err *err)
{
    if (f->denied)
        return err_set(err, EACCES,
                       "%s/class/powercap/%s/energy_uj is readable by root only; "
                       "run 'sudo chmod a+r %s/class/powercap/intel-rapl*/energy_uj'%s",
                       root, f->first.id, root, or_else);
    return err_sys(err, -f->first.failure, "cannot read %s/class/powercap/%s/energy_uj", root,
                   f->first.id);
}

/* Nothing can be read at all. */
static int explain(const char *root, const struct refused *f, int pmu_result, struct err *err)
{
    if (f->first.failure)
        return explain_zone(root, f, pmu_result == -EACCES ? " or '" SETCAP_COMMAND "'" : "", err);
    if (pmu_result == -EACCES)
        return err_set(err, EACCES, "the power PMU of perf is not allowed; run '%s'",
                       SETCAP_COMMAND);
    return err_set(err, ENODEV, "no RAPL domains under %s/class/powercap", root);
}

static void rapl_close(void *ctx)
{
    struct rapl *r = ctx;

    for (size_t i = 0; i < r->n; i++)
        cleanup_fd(&r->counters[i].fd);
    free(r->counters);
    perf_power_release(&r->pmu);
    free(r);
}

static int rapl_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    struct rapl *r = xcalloc(1, sizeof(*r));
    const char *root = setup->env->sysfs_root;
    struct refused f = {0};

    open_powercap(setup, r, &f);
    if (r->n == 0) {
        int pmu_result = open_pmu(setup, r);

        if (pmu_result < 0) {
            rapl_close(r);
            return explain(root, &f, pmu_result, err);
        }
    } else if (f.first.failure) {
        struct err why = {0};

        explain_zone(root, &f, "", &why);
        collector_note(setup, "%s", why.text);
    }
    *ret_ctx = r;
    return 0;
}

static int rapl_read(void *ctx, struct sample_sink *out, struct err *err)
{
    const struct rapl *r = ctx;
    mono_ns before = mono_now(), after;
    size_t good = 0;
    int failure = 0;

    for (size_t i = 0; i < r->n + r->pmu.n; i++) {
        bool powercap = i < r->n;
        int64_t energy_uj = 0;
        double energy_j = 0;
        int result = powercap ? attr_read(r->counters[i].fd, &energy_uj)
                              : perf_power_read(&r->pmu.events[i - r->n], &energy_j);

        after = mono_now();
        if (powercap)
            energy_j = (double)energy_uj / 1e6;
        if (result == 0 && energy_j < 0)
            result = -ERANGE;
        if (result == 0) {
            sample_put(out, powercap ? r->counters[i].channel : r->pmu_channel + i - r->n, before,
                       after, energy_j);
            good++;
        } else {
            failure = result;
        }
        before = after;
    }
    return good > 0 ? 0 : err_sys(err, -failure, "no counter can be read");
}

extern const struct collector_ops rapl_ops;

static void rapl_check(struct plugin_status *ret)
{
    collector_check(&rapl_ops, ret);
}

const struct collector_ops rapl_ops = {
    .plugin = {.id = "rapl",
               .help = "CPU package, DRAM and platform energy (Intel and AMD RAPL)",
               .check = rapl_check},
    .open = rapl_open,
    .read = rapl_read,
    .close = rapl_close,
};
