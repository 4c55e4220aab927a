/*
 * AMD GPUs through AMD SMI, else ROCm SMI, whichever the machine has.
 *
 * The counter carries the moment at which the driver fetched it, on the clock that runs on in
 * suspend; that is used where it fits the read. Whether the counter agrees with the power sensor is
 * not tried out here, because opening must be quick.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "telemetry/amd_backend.h"
#include "telemetry/collector.h"
#include "telemetry/stamp.h"
#include "telemetry/vendor.h"
#include "telemetry/visible.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_CHANNEL ((size_t)-1)
#define SLOW_NS    NS_PER_S
/* The firmware adds to the counter about this often. */
#define ENERGY_REFRESH_NS NS_PER_MS

struct amd_gpu {
    size_t number;
    size_t energy;
    struct stamp_counter stamps;
    size_t gauges[AMD_GAUGES][2];
};

struct amd {
    const struct amd_backend *backend;
    void *lib;
    struct amd_gpu *gpus; /* those that count */
    size_t n_gpus;
    mono_ns slow_due;
};

static const struct {
    bool slow; /* once a second */
    int values;
    struct {
        enum quantity quantity;
        enum rail rail;
        double quantum;
    } value[2];
} gauges[AMD_GAUGES] = {
    [AMD_POWER_W] = {false, 1, {{QUANTITY_POWER_W, RAIL_GPU, NAN}}},
    [AMD_TEMPERATURE_C] = {false, 1, {{QUANTITY_TEMPERATURE_C, RAIL_NONE, 1}}},
    [AMD_MEMORY_USED_BYTES] = {false, 1, {{QUANTITY_MEMORY_USED_BYTES, RAIL_NONE, 1}}},
    [AMD_MEMORY_TOTAL_BYTES] = {true, 1, {{QUANTITY_MEMORY_TOTAL_BYTES, RAIL_NONE, 1}}},
    [AMD_UTILIZATION_PCT] = {false,
                             2,
                             {{QUANTITY_UTILIZATION_PCT, RAIL_NONE, 1},
                              {QUANTITY_MEMORY_UTILIZATION_PCT, RAIL_NONE, 1}}},
};

bool amd_energy_of(uint64_t count, float resolution_uj, uint64_t stamp_ns, struct amd_energy *ret)
{
    double quantum_j = (double)resolution_uj * 1e-6;

    if (!(quantum_j > 0) || !isfinite(quantum_j) || count == UINT64_MAX)
        return false;
    if (resolution_uj == 15.3f)
        quantum_j = 0x1p-16;
    *ret = (struct amd_energy){
        .joules = (double)count * quantum_j, .quantum_j = quantum_j, .stamp_ns = stamp_ns};
    return true;
}

void amd_format_bdf(uint64_t domain, uint64_t bus_device_function, char *text, size_t size)
{
    unsigned int bdf = (unsigned int)bus_device_function;

    snprintf(text, size, "%04x:%02x:%02x.%u", (unsigned int)domain, bdf >> 8 & 0xff,
             bdf >> 3 & 0x1f, bdf & 7);
}

static void amd_close(void *ctx)
{
    struct amd *a = ctx;

    if (!a)
        return;
    if (a->lib)
        a->backend->close(a->lib);
    free(a->gpus);
    free(a);
}

DEFINE_AUTO_PTR(amd, amd_close);

/* A library that the person named is taken for whichever of the two it is. */
static int open_named(struct amd *a, const char *path, size_t *ret_gpus, struct err *err)
{
    struct err second = {0};
    int r;

    a->backend = &amdsmi_backend;
    r = a->backend->open(path, &a->lib, ret_gpus, err);
    if (r != -ENOSYS)
        return r;
    a->backend = &rocmsmi_backend;
    r = a->backend->open(path, &a->lib, ret_gpus, &second);
    if (r < 0 && r != -ENOSYS)
        err_set(err, -r, "%s", second.text);
    return r;
}

static int open_backend(struct amd *a, const char *path, size_t *ret_gpus, struct err *err)
{
    struct err second = {0};
    int r, r2;

    if (path)
        return open_named(a, path, ret_gpus, err);
    a->backend = &amdsmi_backend;
    r = a->backend->open(NULL, &a->lib, ret_gpus, err);
    if (r == 0)
        return 0;
    a->backend = &rocmsmi_backend;
    r2 = a->backend->open(NULL, &a->lib, ret_gpus, &second);
    /* Of two failures the one worth telling is that of a library which is there. */
    if (r2 < 0 && (r != -ENODEV || r2 == -ENODEV))
        return r;
    if (r2 < 0)
        return err_set(err, -r2, "%s", second.text);
    return 0;
}

/* Keeps of the n GPUs in `order` those that the variable lists by their place in it, and returns
 * how many. As in HIP, the list ends at the first entry that names none. */
static size_t restrict_to(const char *variable, size_t *order, size_t n,
                          struct collector_setup *setup)
{
    const char *text = getenv(variable);
    size_t kept[AMD_GPUS_MAX], n_kept = 0;
    bool taken[AMD_GPUS_MAX] = {false};
    char entry[128];

    if (visible_all(text))
        return n;
    while (visible_next(&text, entry, sizeof(entry))) {
        int i = visible_index(entry, n);

        if (strncmp(entry, "GPU-", 4) == 0) {
            collector_note(setup,
                           "%s lists UUIDs, which are not looked up: every GPU is counted; "
                           "list numbers instead",
                           variable);
            return n;
        }
        if (i < 0) {
            collector_note(setup, "%s: there is no GPU \"%.60s\"; the list ends there", variable,
                           entry);
            break;
        }
        if (!taken[i])
            kept[n_kept++] = order[i];
        taken[i] = true;
    }
    for (size_t i = 0; i < n; i++)
        if (!taken[i])
            collector_note(setup, "GPU %zu is not counted because of %s", order[i], variable);
    memcpy(order, kept, n_kept * sizeof(*order));
    return n_kept;
}

/* Fills a->gpus with those that count. HIP numbers what ROCR leaves. */
static int choose(struct amd *a, size_t n, struct collector_setup *setup, struct err *err)
{
    size_t order[AMD_GPUS_MAX];

    for (size_t i = 0; i < n; i++)
        order[i] = i;
    n = restrict_to("ROCR_VISIBLE_DEVICES", order, n, setup);
    n = restrict_to("HIP_VISIBLE_DEVICES", order, n, setup);
    if (n == 0)
        return err_set(err, ENODEV,
                       "ROCR_VISIBLE_DEVICES and HIP_VISIBLE_DEVICES leave no GPU; "
                       "unset them, or list those that the server uses");
    a->gpus = xcalloc(n, sizeof(*a->gpus));
    a->n_gpus = n;
    for (size_t i = 0; i < n; i++)
        a->gpus[i].number = order[i];
    return 0;
}

static void declare_gauges(struct amd *a, struct amd_gpu *gpu, struct collector_setup *setup,
                           struct channel base)
{
    bool power_counts = gpu->energy == NO_CHANNEL;

    for (size_t i = 0; i < AMD_GAUGES; i++) {
        double value[2] = {NAN, NAN};

        a->backend->gauges[i](a->lib, gpu->number, value);
        for (int k = 0; k < 2; k++) {
            gpu->gauges[i][k] = NO_CHANNEL;
            if (k >= gauges[i].values || isnan(value[k]))
                continue;
            base.quantity = gauges[i].value[k].quantity;
            base.rail = gauges[i].value[k].rail;
            base.quantum = gauges[i].value[k].quantum;
            base.refresh_ns = gauges[i].slow ? SLOW_NS : 0;
            base.summed = i == AMD_POWER_W && power_counts;
            gpu->gauges[i][k] = collector_add_channel(setup, base);
        }
    }
}

static void declare(struct amd *a, struct amd_gpu *gpu, struct collector_setup *setup)
{
    struct device d = {.kind = DEVICE_GPU, .number = (int)gpu->number};
    struct channel base = {.range = NAN, .quantum = NAN};
    struct amd_energy e;

    snprintf(d.name, sizeof(d.name), "AMD GPU");
    snprintf(d.vendor, sizeof(d.vendor), "AMD");
    snprintf(d.backend, sizeof(d.backend), "%s", a->backend->name);
    a->backend->describe(a->lib, gpu->number, &d);
    base.device = collector_add_device(setup, d);
    snprintf(base.name, sizeof(base.name), "GPU %zu", gpu->number);
    gpu->energy = NO_CHANNEL;
    /* A counter that shows 0 on a GPU that is running does not count. */
    if (a->backend->energy(a->lib, gpu->number, &e) && e.joules > 0) {
        struct channel c = base;

        c.quantity = QUANTITY_ENERGY_J;
        c.rail = RAIL_GPU;
        c.summed = true;
        c.quantum = e.quantum_j;
        c.refresh_ns = ENERGY_REFRESH_NS;
        gpu->energy = collector_add_channel(setup, c);
    }
    declare_gauges(a, gpu, setup, base);
}

static int amd_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    AUTO_PTR(amd) struct amd *a = xcalloc(1, sizeof(*a));
    size_t n = 0, first = setup->n_channels;
    int r = open_backend(a, setup->env->amdsmi_lib, &n, err);

    if (r < 0)
        return vendor_blame(setup->env->sysfs_root, "0x1002", "AMD", r, err);
    r = choose(a, n, setup, err);
    if (r < 0)
        return r;
    for (size_t i = 0; i < a->n_gpus; i++) {
        size_t channels = setup->n_channels;

        declare(a, &a->gpus[i], setup);
        if (setup->n_channels == channels)
            collector_note(setup, "GPU %zu has no sensor that can be read", a->gpus[i].number);
    }
    if (setup->n_channels == first)
        return err_set(err, EIO, "%s: no GPU can be read; see what amd-smi or rocm-smi says",
                       a->backend->name);
    *ret_ctx = STEAL(a);
    return 0;
}

static int read_energy(struct amd *a, struct amd_gpu *gpu, int64_t suspended_ns,
                       struct sample_sink *out)
{
    struct stamp_reading r = {0};
    struct amd_energy e;

    if (gpu->energy == NO_CHANNEL)
        return 0;
    r.before = mono_now();
    if (!a->backend->energy(a->lib, gpu->number, &e))
        return 0;
    r.after = mono_now();
    r.stamp = stamp_from_boot_ns(e.stamp_ns, suspended_ns, r.after);
    r.value = e.joules;
    stamp_put_fetched(&gpu->stamps, out, gpu->energy, &r);
    return 1;
}

static int read_gauges(struct amd *a, struct amd_gpu *gpu, bool slow, struct sample_sink *out)
{
    mono_ns before = mono_now();
    int put = 0;

    for (size_t i = 0; i < AMD_GAUGES; i++) {
        double value[2] = {NAN, NAN};
        mono_ns after;

        if ((gpu->gauges[i][0] == NO_CHANNEL && gpu->gauges[i][1] == NO_CHANNEL) ||
            (gauges[i].slow && !slow))
            continue;
        a->backend->gauges[i](a->lib, gpu->number, value);
        after = mono_now();
        for (int k = 0; k < gauges[i].values; k++) {
            if (gpu->gauges[i][k] == NO_CHANNEL || isnan(value[k]))
                continue;
            sample_put(out, gpu->gauges[i][k], before, after, value[k]);
            put++;
        }
        before = after;
    }
    return put;
}

static int amd_read(void *ctx, struct sample_sink *out, struct err *err)
{
    struct amd *a = ctx;
    int64_t suspended_ns = clock_suspended_ns();
    mono_ns now = mono_now();
    bool slow = now >= a->slow_due;
    int put = 0;

    if (slow)
        a->slow_due = now + SLOW_NS;
    /* Energy of all GPUs back to back, so that their sum is of one moment. */
    for (size_t i = 0; i < a->n_gpus; i++)
        put += read_energy(a, &a->gpus[i], suspended_ns, out);
    for (size_t i = 0; i < a->n_gpus; i++)
        put += read_gauges(a, &a->gpus[i], slow, out);
    if (put == 0)
        return err_set(err, EIO, "%s: no GPU answers", a->backend->name);
    return 0;
}

static void amd_check(struct plugin_status *ret);

const struct collector_ops amdsmi_ops = {
    .plugin =
        {
            .id = "amdsmi",
            .help = "AMD GPUs: energy, power, memory, utilisation, temperature",
            .check = amd_check,
        },
    .open = amd_open,
    .read = amd_read,
    .close = amd_close,
};

static void amd_check(struct plugin_status *ret)
{
    collector_check(&amdsmi_ops, ret);
}
