/*
 * host: the machine itself. Memory in use, how busy its CPUs are, whether it runs on battery, and
 * the words about it that records carry.
 *
 * It is always available: what the system does not say is absent. Memory in use is what cannot be
 * had without pushing something out (total - available), as `free` and others mean it. Utilisation
 * is that of the time since the read before; the kernel counts it in ticks of 10 ms.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "telemetry/attr.h"
#include "telemetry/collector.h"
#include "telemetry/procinfo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TICK_NS            (10 * NS_PER_MS)
#define SUPPLIES_MAX       8
#define SUPPLY_ENTRIES_MAX 256
#define OS_RELEASE_MAX     65536

struct host {
    int meminfo, stat; /* -1 = not there */
    struct cpu_times last;
    int mains[SUPPLIES_MAX], batteries[SUPPLIES_MAX]; /* `online`, `status` */
    size_t n_mains, n_batteries;
    size_t used, total, busy, on_battery; /* channels */
};

static size_t add_channel(struct collector_setup *setup, enum quantity quantity, const char *name,
                          double quantum, mono_ns refresh_ns)
{
    struct channel c = {.quantity = quantity,
                        .rail = RAIL_NONE,
                        .range = NAN,
                        .quantum = quantum,
                        .refresh_ns = refresh_ns};

    snprintf(c.name, sizeof(c.name), "%s", name);
    return collector_add_channel(setup, c);
}

static void read_os_release(const struct telemetry_env *env, struct system_info *ret)
{
    const char *given = env->params ? kv_get(env->params, "os_release") : NULL;
    const char *paths[] = {given ? given : "/etc/os-release", "/usr/lib/os-release"};

    for (size_t i = 0; i < (given ? 1 : 2); i++) {
        AUTO(buf) struct buf text = BUF_INIT(OS_RELEASE_MAX);

        if (fs_read_all(AT_FDCWD, paths[i], &text, NULL) < 0)
            continue;
        os_release_parse(buf_str(&text), text.len, ret->os_name, sizeof(ret->os_name),
                         ret->os_version, sizeof(ret->os_version));
        return;
    }
}

void system_info_read(const struct telemetry_env *env, struct system_info *ret)
{
    struct utsname name;
    struct cpu_info cpu;

    read_os_release(env, ret);
    if (uname(&name) == 0) {
        if (!*ret->os_name)
            text_clean(ret->os_name, sizeof(ret->os_name), name.sysname, strlen(name.sysname));
        text_clean(ret->kernel_version, sizeof(ret->kernel_version), name.release,
                   strlen(name.release));
        text_clean(ret->host_name, sizeof(ret->host_name), name.nodename, strlen(name.nodename));
    }
    cpu_info_read(env->procfs_root, &cpu);
    ret->cpu_count = cpu.count > 0 ? cpu.count : -1;
    snprintf(ret->cpu_brand, sizeof(ret->cpu_brand), "%s", cpu.brand);
}

/* Batteries of mice and the like have the scope "Device". */
static void add_supply(struct host *h, int dirfd, const char *name)
{
    AUTO_FD int supply = fs_open_dir(dirfd, name, NULL);
    char type[32], scope[32];
    bool battery;
    int fd;

    if (supply < 0 || attr_text(supply, "type", type, sizeof(type)) <= 0)
        return;
    attr_text(supply, "scope", scope, sizeof(scope));
    battery = strcmp(type, "Battery") == 0;
    if (strcmp(scope, "Device") == 0 ||
        (!battery && strcmp(type, "Mains") != 0 && strncmp(type, "USB", 3) != 0))
        return;
    fd = attr_open(supply, battery ? "status" : "online");
    if (fd < 0)
        return;
    if (battery && h->n_batteries < SUPPLIES_MAX)
        h->batteries[h->n_batteries++] = fd;
    else if (!battery && h->n_mains < SUPPLIES_MAX)
        h->mains[h->n_mains++] = fd;
    else
        close(fd);
}

static void find_supplies(struct host *h, const char *sysfs_root)
{
    AUTO_FREE char *path = xasprintf("%s/class/power_supply", sysfs_root);
    DIR *dir = opendir(path);
    struct dirent *e;

    if (!dir)
        return;
    for (int i = 0; i < SUPPLY_ENTRIES_MAX && (e = readdir(dir)); i++)
        if (e->d_name[0] != '.')
            add_supply(h, dirfd(dir), e->d_name);
    closedir(dir);
}

/* 1 or 0; NAN = not known now. */
static double read_on_battery(const struct host *h)
{
    double result = NAN;

    for (size_t i = 0; i < h->n_mains; i++) {
        int64_t online;

        if (attr_read(h->mains[i], &online) < 0)
            continue;
        if (online > 0)
            return 0;
        result = 1;
    }
    for (size_t i = 0; i < h->n_batteries && isnan(result); i++) {
        char status[32];
        ssize_t n = pread(h->batteries[i], status, sizeof(status) - 1, 0);

        status[n > 0 ? n : 0] = '\0';
        status[strcspn(status, "\n")] = '\0';
        if (strcmp(status, "Discharging") == 0)
            result = 1;
        else if (strcmp(status, "Charging") == 0 || strcmp(status, "Full") == 0 ||
                 strcmp(status, "Not charging") == 0)
            result = 0;
    }
    return result;
}

static int host_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    const struct telemetry_env *env = setup->env;
    AUTO_FREE char *meminfo = xasprintf("%s/meminfo", env->procfs_root);
    AUTO_FREE char *stat = xasprintf("%s/stat", env->procfs_root);
    struct host *h = xcalloc(1, sizeof(*h));
    struct device d = {.kind = DEVICE_HOST, .backend = "procfs"};
    struct memory_info memory;

    (void)err;
    system_info_read(env, &setup->system);
    snprintf(d.name, sizeof(d.name), "%s", setup->system.host_name);
    collector_add_device(setup, d);
    h->meminfo = attr_open(AT_FDCWD, meminfo);
    h->stat = attr_open(AT_FDCWD, stat);
    if (h->meminfo >= 0 && memory_info_read(h->meminfo, &memory) == 0) {
        h->used = add_channel(setup, QUANTITY_MEMORY_USED_BYTES, "memory used", 1024, 0);
        h->total = add_channel(setup, QUANTITY_MEMORY_TOTAL_BYTES, "memory total", 1024, 0);
    } else if (h->meminfo >= 0) {
        close(h->meminfo);
        h->meminfo = -1;
    }
    if (h->stat >= 0 && cpu_times_read(h->stat, &h->last) == 0) {
        h->busy = add_channel(setup, QUANTITY_UTILIZATION_PCT, "CPU", NAN, TICK_NS);
    } else if (h->stat >= 0) {
        close(h->stat);
        h->stat = -1;
    }
    find_supplies(h, env->sysfs_root);
    if (h->n_batteries > 0)
        h->on_battery = add_channel(setup, QUANTITY_ON_BATTERY, "on battery", 1, 0);
    *ret_ctx = h;
    return 0;
}

static int read_memory(const struct host *h, struct sample_sink *out)
{
    mono_ns before = mono_now(), after;
    struct memory_info m;
    int r = memory_info_read(h->meminfo, &m);

    after = mono_now();
    if (r < 0)
        return r;
    if (m.total_bytes >= 0)
        sample_put(out, h->total, before, after, (double)m.total_bytes);
    if (m.available_bytes >= 0 && m.available_bytes <= m.total_bytes)
        sample_put(out, h->used, before, after, (double)(m.total_bytes - m.available_bytes));
    return 0;
}

static int read_busy(struct host *h, struct sample_sink *out)
{
    mono_ns before = mono_now(), after;
    struct cpu_times now;
    int r = cpu_times_read(h->stat, &now);
    double pct;

    after = mono_now();
    if (r < 0)
        return r;
    pct = cpu_times_busy_pct(&h->last, &now);
    h->last = now;
    if (!isnan(pct))
        sample_put(out, h->busy, before, after, pct);
    return 0;
}

static int host_read(void *ctx, struct sample_sink *out, struct err *err)
{
    struct host *h = ctx;
    int memory = h->meminfo >= 0 ? read_memory(h, out) : -ENODEV;
    int busy = h->stat >= 0 ? read_busy(h, out) : -ENODEV;

    if (h->n_batteries > 0) {
        mono_ns before = mono_now();
        double on_battery = read_on_battery(h);

        if (!isnan(on_battery))
            sample_put(out, h->on_battery, before, mono_now(), on_battery);
    }
    /* With neither from the start there is nothing that could fail. */
    if (memory == 0 || busy == 0 || (h->meminfo < 0 && h->stat < 0))
        return 0;
    return err_sys(err, memory != -ENODEV ? -memory : -busy, "host: nothing can be read");
}

static void host_close(void *ctx)
{
    struct host *h = ctx;

    cleanup_fd(&h->meminfo);
    cleanup_fd(&h->stat);
    for (size_t i = 0; i < h->n_mains; i++)
        close(h->mains[i]);
    for (size_t i = 0; i < h->n_batteries; i++)
        close(h->batteries[i]);
    free(h);
}

extern const struct collector_ops host_ops;

static void host_check(struct plugin_status *ret)
{
    collector_check(&host_ops, ret);
}

const struct collector_ops host_ops = {
    .plugin = {.id = "host",
               .help = "memory, CPU utilisation, battery, and what the machine is",
               .check = host_check},
    .open = host_open,
    .read = host_read,
    .close = host_close,
};
