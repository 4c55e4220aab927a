/*
 * AMD SMI: GPUs are "processors" that hang below "sockets"; their handles are collected once. Which
 * layout a structure has follows from the version that the library tells.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/dl.h"
#include "telemetry/amd_backend.h"
#include "telemetry/amdsmi_api.h"
#include "telemetry/vendor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct amdsmi_lib {
    struct dl lib;
    struct amdsmi_api api;
    bool initialised;
    uint32_t version;
    void *gpus[AMD_GPUS_MAX];
    size_t n_gpus;
};

static const struct dl_symbol symbols[] = {
#define AMDSMI_SYMBOL(kind, type, member, symbol, parameters) \
    DL_##kind(struct amdsmi_api, member, #symbol),
    AMDSMI_API(AMDSMI_SYMBOL)
#undef AMDSMI_SYMBOL
        {0}};

static void backend_close(void *lib)
{
    struct amdsmi_lib *l = lib;

    if (!l)
        return;
    if (l->initialised)
        l->api.shutdown();
    dl_release(&l->lib);
    free(l);
}

DEFINE_AUTO_PTR(amdsmi_lib, backend_close);

static int init_error(const struct amdsmi_lib *l, int status, struct err *err)
{
    const char *words = NULL;

    if (!l->api.status_string || l->api.status_string(status, &words) != 0 || !words)
        words = "unknown error";
    if (status == AMDSMI_STATUS_NO_PERM)
        return err_set(err, EACCES, "AMD SMI: %s; add this user to the groups render and video",
                       words);
    return err_set(err, status == AMDSMI_STATUS_DRIVER_NOT_LOADED ? ENXIO : EIO,
                   "AMD SMI: %s (%d); load the driver with: modprobe amdgpu (in a container: pass "
                   "/dev/kfd and /dev/dri)",
                   words, status);
}

static int find_version(struct amdsmi_lib *l, struct err *err)
{
    struct amdsmi_block block = {0};

    if (!l->api.version || l->api.version(&block) != AMDSMI_STATUS_SUCCESS)
        return 0; /* not known: what depends on it is absent */
    l->version = block.words[0] ? block.words[0] : block.words[1];
    if (l->version < AMDSMI_VERSION_MIN)
        return err_set(err, ENOSYS, "%s is of version %u; %d is the oldest that can be used",
                       l->lib.name, l->version, AMDSMI_VERSION_MIN);
    return 0;
}

static void add_processors(struct amdsmi_lib *l, void *socket)
{
    void *list[AMD_GPUS_MAX] = {0};
    uint32_t n = AMD_GPUS_MAX;

    if (l->api.processors(socket, &n, list) != AMDSMI_STATUS_SUCCESS)
        return;
    for (uint32_t i = 0; i < n && i < AMD_GPUS_MAX && l->n_gpus < AMD_GPUS_MAX; i++) {
        int type = 0;

        if (!list[i] || l->api.processor_type(list[i], &type) != AMDSMI_STATUS_SUCCESS)
            continue;
        if (type == AMDSMI_PROCESSOR_GPU || type == AMDSMI_PROCESSOR_APU)
            l->gpus[l->n_gpus++] = list[i];
    }
}

static int find_gpus(struct amdsmi_lib *l, struct err *err)
{
    void *list[AMD_GPUS_MAX] = {0};
    uint32_t n = AMD_GPUS_MAX;
    int status = l->api.sockets(&n, list);

    if (status != AMDSMI_STATUS_SUCCESS)
        return init_error(l, status, err);
    for (uint32_t i = 0; i < n && i < AMD_GPUS_MAX; i++)
        if (list[i])
            add_processors(l, list[i]);
    if (l->n_gpus == 0)
        return err_set(err, ENODEV, "AMD SMI sees no GPU");
    return 0;
}

static int backend_open(const char *path, void **ret_lib, size_t *ret_gpus, struct err *err)
{
    static const char *const usual[] = {"libamd_smi.so",
                                        "libamd_smi.so.26",
                                        "libamd_smi.so.25",
                                        "libamd_smi.so.24",
                                        "/opt/rocm/lib/libamd_smi.so",
                                        NULL};
    const char *const given[] = {path, NULL};
    AUTO_PTR(amdsmi_lib) struct amdsmi_lib *l = xcalloc(1, sizeof(*l));
    int r = vendor_load(&l->lib, path ? given : usual, symbols, &l->api, err);
    int status;

    if (r < 0)
        return r;
    status = l->api.init(AMDSMI_INIT_AMD_GPUS);
    if (status != AMDSMI_STATUS_SUCCESS)
        return init_error(l, status, err);
    l->initialised = true;
    r = find_version(l, err);
    if (r == 0)
        r = find_gpus(l, err);
    if (r < 0)
        return r;
    *ret_gpus = l->n_gpus;
    *ret_lib = STEAL(l);
    return 0;
}

static void backend_describe(void *lib, size_t gpu, struct device *ret)
{
    const struct amdsmi_lib *l = lib;
    struct amdsmi_block block = {0};
    uint64_t bdf;

    if (l->api.asic_info && l->api.asic_info(l->gpus[gpu], &block) == AMDSMI_STATUS_SUCCESS &&
        block.text[0])
        vendor_text(ret->name, sizeof(ret->name), block.text);
    if (l->api.bdf && l->api.bdf(l->gpus[gpu], &bdf) == AMDSMI_STATUS_SUCCESS)
        amd_format_bdf(bdf >> 16, bdf, ret->uuid, sizeof(ret->uuid));
}

static bool backend_energy(void *lib, size_t gpu, struct amd_energy *ret)
{
    const struct amdsmi_lib *l = lib;
    uint64_t count = 0, stamp_ns = 0;
    float resolution_uj = 0;

    return l->api.energy &&
           l->api.energy(l->gpus[gpu], &count, &resolution_uj, &stamp_ns) ==
               AMDSMI_STATUS_SUCCESS &&
           amd_energy_of(count, resolution_uj, stamp_ns, ret);
}

/* Watts or percent; all ones in 16 or 32 bits is "not available". */
static double available(uint32_t word)
{
    return word >= 0xffff ? NAN : (double)word;
}

static void read_power(void *lib, size_t gpu, double ret[2])
{
    const struct amdsmi_lib *l = lib;
    struct amdsmi_block block = {0};

    ret[0] = NAN;
    if (!l->api.power || l->version == 0 ||
        l->api.power(l->gpus[gpu], &block) != AMDSMI_STATUS_SUCCESS)
        return;
    /* A GPU has one of the two; the other is 0 or not available. */
    ret[0] = available(block.words[AMDSMI_POWER_CURRENT(l->version)]);
    if (!(ret[0] > 0))
        ret[0] = available(block.words[AMDSMI_POWER_AVERAGE(l->version)]);
}

static void read_temperature(void *lib, size_t gpu, double ret[2])
{
    static const int sensors[] = {AMDSMI_TEMPERATURE_JUNCTION, AMDSMI_TEMPERATURE_EDGE};
    const struct amdsmi_lib *l = lib;

    ret[0] = NAN;
    for (size_t i = 0; i < 2 && isnan(ret[0]) && l->api.temperature; i++) {
        int64_t celsius = 0;

        /* Degrees, in some versions thousandths of them; 0 is an absent sensor. */
        if (l->api.temperature(l->gpus[gpu], sensors[i], AMDSMI_TEMP_CURRENT, &celsius) ==
                AMDSMI_STATUS_SUCCESS &&
            celsius > 0)
            ret[0] = celsius > 1000 ? (double)celsius / 1e3 : (double)celsius;
    }
}

static double memory(int (*call)(void *, int, uint64_t *), void *gpu)
{
    uint64_t bytes = 0;

    return call && call(gpu, AMDSMI_MEMORY_VRAM, &bytes) == AMDSMI_STATUS_SUCCESS ? (double)bytes
                                                                                  : NAN;
}

static void read_memory_used(void *lib, size_t gpu, double ret[2])
{
    const struct amdsmi_lib *l = lib;

    ret[0] = memory(l->api.memory_used, l->gpus[gpu]);
}

static void read_memory_total(void *lib, size_t gpu, double ret[2])
{
    const struct amdsmi_lib *l = lib;

    ret[0] = memory(l->api.memory_total, l->gpus[gpu]);
}

static void read_utilization(void *lib, size_t gpu, double ret[2])
{
    const struct amdsmi_lib *l = lib;
    struct amdsmi_block block = {0};

    ret[0] = ret[1] = NAN;
    if (!l->api.activity || l->api.activity(l->gpus[gpu], &block) != AMDSMI_STATUS_SUCCESS)
        return;
    ret[0] = available(block.words[AMDSMI_ACTIVITY_GFX]);
    ret[1] = available(block.words[AMDSMI_ACTIVITY_UMC]);
}

const struct amd_backend amdsmi_backend = {
    .name = "AMDSMI",
    .open = backend_open,
    .close = backend_close,
    .describe = backend_describe,
    .energy = backend_energy,
    .gauges =
        {
            [AMD_POWER_W] = read_power,
            [AMD_TEMPERATURE_C] = read_temperature,
            [AMD_MEMORY_USED_BYTES] = read_memory_used,
            [AMD_MEMORY_TOTAL_BYTES] = read_memory_total,
            [AMD_UTILIZATION_PCT] = read_utilization,
        },
};
