/*
 * estimate: CPU power guessed from utilisation, for machines without any sensor of it.
 *
 *     watts = idle + (full - idle) x utilisation
 *
 * full is what the CPU may take with every thread busy. The table below gives it per thread, as
 * rough defaults of our own: public TDP figures of common models of each family, divided by their
 * threads, so that a virtual machine with two of 128 threads gets two of 128 parts. The share at
 * idle is a guess of the same kind. Errors of a factor of two are to be expected, which is why
 * every value is marked as estimated; tdp_watts and idle_watts put better numbers in.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "telemetry/attr.h"
#include "telemetry/collector.h"
#include "telemetry/procinfo.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_NS    (10 * NS_PER_MS)
#define WATTS_MAX  100000.0
#define KEY_FULL_W "tdp_watts"
#define KEY_IDLE_W "idle_watts"

static const struct family {
    const char *brand; /* a part of it */
    double full_w_per_thread;
    double idle_share; /* of full */
} families[] = {
    {"EPYC", 2.0, 0.25},         /* 280 W / 128, 360 W / 192 */
    {"Xeon", 3.2, 0.25},         /* 350 W / 112, 205 W / 56 */
    {"Threadripper", 3.5, 0.2},  /* 280 W / 64 to 350 W / 192 */
    {"Ryzen", 5.0, 0.15},        /* 65 W / 12, 170 W / 32 */
    {"Core(TM)", 4.5, 0.1},      /* 125 W / 24, 28 W / 8 */
    {"Apple M", 3.0, 0.05},      /* 20 W / 8, 36 W / 12 */
    {"Neoverse-V2", 3.5, 0.2},   /* 250 W / 72 */
    {"Neoverse", 2.0, 0.25},     /* 250 W / 128 */
    {"Cortex-A78AE", 2.0, 0.15}, /* 15 W / 8 and more */
    {"Cortex-A76", 2.0, 0.25},   /* 8 W / 4 */
    {"Cortex", 1.2, 0.25},       /* 5 W / 4 */
    {"", 3.0, 0.2},              /* anything else */
};

struct estimate {
    int stat;
    struct cpu_times last;
    double idle_w, full_w;
    size_t channel;
};

static const struct family *family_of(const char *brand)
{
    const struct family *f = families;

    while (!strstr(brand, f->brand))
        f++;
    return f;
}

/* Absent leaves *ret as it is. */
static int read_param(const struct telemetry_env *env, const char *key, double *ret,
                      struct err *err)
{
    const char *text = env->params ? kv_get(env->params, key) : NULL;
    double watts;

    if (!text)
        return 0;
    if (parse_f64(text, &watts, NULL) < 0 || watts < 0 || watts > WATTS_MAX)
        return err_set(err, EINVAL, "estimate: %s '%.60s' is not a number of watts", key, text);
    *ret = watts;
    return 0;
}

static int choose_model(const struct telemetry_env *env, const struct cpu_info *cpu,
                        struct estimate *e, struct err *err)
{
    const struct family *f = family_of(cpu->brand);
    int r;

    e->full_w = f->full_w_per_thread * (cpu->count > 0 ? cpu->count : 1);
    r = read_param(env, KEY_FULL_W, &e->full_w, err);
    if (r < 0)
        return r;
    e->idle_w = f->idle_share * e->full_w;
    r = read_param(env, KEY_IDLE_W, &e->idle_w, err);
    if (r < 0)
        return r;
    if (!(e->full_w > 0) || e->idle_w > e->full_w)
        return err_set(err, EINVAL, "estimate: %g W idle and %g W busy cannot be; set %s",
                       e->idle_w, e->full_w, KEY_FULL_W " and " KEY_IDLE_W);
    return 0;
}

static void declare(struct collector_setup *setup, const struct cpu_info *cpu, struct estimate *e)
{
    struct device d = {.kind = DEVICE_CPU, .backend = "estimate"};
    struct channel c = {.quantity = QUANTITY_POWER_W,
                        .rail = RAIL_CPU,
                        .name = "CPU (estimated)",
                        .estimated = true,
                        .summed = true,
                        .range = NAN,
                        .quantum = NAN,
                        .refresh_ns = TICK_NS};

    snprintf(d.name, sizeof(d.name), "%s", *cpu->brand ? cpu->brand : "CPU");
    c.device = collector_add_device(setup, d);
    e->channel = collector_add_channel(setup, c);
    collector_note(setup,
                   "CPU power is modelled from utilisation, %.3g W idle to %.3g W busy "
                   "(%s, %d threads); set " KEY_FULL_W " and " KEY_IDLE_W,
                   e->idle_w, e->full_w, d.name, cpu->count);
}

static int estimate_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    AUTO_FREE char *path = xasprintf("%s/stat", setup->env->procfs_root);
    AUTO_FD int stat = attr_open(AT_FDCWD, path);
    struct estimate e = {0};
    struct cpu_info cpu;
    int r;

    if (stat < 0 || cpu_times_read(stat, &e.last) < 0)
        return err_set(err, ENODEV, "no CPU times in %s", path);
    cpu_info_read(setup->env->procfs_root, &cpu);
    r = choose_model(setup->env, &cpu, &e, err);
    if (r < 0)
        return r;
    declare(setup, &cpu, &e);
    e.stat = steal_fd(&stat);
    *ret_ctx = xmemdup(&e, sizeof(e));
    return 0;
}

static int estimate_read(void *ctx, struct sample_sink *out, struct err *err)
{
    struct estimate *e = ctx;
    mono_ns before = mono_now(), after;
    struct cpu_times now;
    int r = cpu_times_read(e->stat, &now);
    double pct;

    after = mono_now();
    if (r < 0)
        return err_sys(err, -r, "cannot read the CPU times");
    pct = cpu_times_busy_pct(&e->last, &now);
    e->last = now;
    if (!isnan(pct))
        sample_put(out, e->channel, before, after, e->idle_w + (e->full_w - e->idle_w) * pct / 100);
    return 0;
}

static void estimate_close(void *ctx)
{
    struct estimate *e = ctx;

    cleanup_fd(&e->stat);
    free(e);
}

extern const struct collector_ops estimate_ops;

static void estimate_check(struct plugin_status *ret)
{
    collector_check(&estimate_ops, ret);
}

const struct collector_ops estimate_ops = {
    .plugin = {.id = "estimate",
               .help = "CPU power modelled from utilisation; not a measurement",
               .check = estimate_check},
    .open = estimate_open,
    .read = estimate_read,
    .close = estimate_close,
    .estimates = true,
};
