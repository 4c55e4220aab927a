/*
 * ROCm SMI: GPUs are numbers, power is in microwatts, temperature in thousandths of a degree.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/dl.h"
#include "telemetry/amd_backend.h"
#include "telemetry/rocmsmi_api.h"
#include "telemetry/vendor.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct rocmsmi_lib {
    struct dl lib;
    struct rocmsmi_api api;
    bool initialised;
};

static const struct dl_symbol symbols[] = {
#define ROCMSMI_SYMBOL(kind, type, member, symbol, parameters) \
    DL_##kind(struct rocmsmi_api, member, #symbol),
    ROCMSMI_API(ROCMSMI_SYMBOL)
#undef ROCMSMI_SYMBOL
        {0}};

static void backend_close(void *lib)
{
    struct rocmsmi_lib *l = lib;

    if (!l)
        return;
    if (l->initialised)
        l->api.shutdown();
    dl_release(&l->lib);
    free(l);
}

DEFINE_AUTO_PTR(rocmsmi_lib, backend_close);

static int init_error(const struct rocmsmi_lib *l, int status, struct err *err)
{
    const char *words = NULL;

    if (!l->api.status_string || l->api.status_string(status, &words) != 0 || !words)
        words = "unknown error";
    if (status == RSMI_STATUS_PERMISSION)
        return err_set(err, EACCES, "ROCm SMI: %s; add this user to the groups render and video",
                       words);
    return err_set(err, EIO,
                   "ROCm SMI: %s (%d); load the driver with: modprobe amdgpu (in a container: pass "
                   "/dev/kfd and /dev/dri)",
                   words, status);
}

static int backend_open(const char *path, void **ret_lib, size_t *ret_gpus, struct err *err)
{
    /* .1 is Debian's; AMD's own packages count as ROCm does. */
    static const char *const usual[] = {"librocm_smi64.so.1",
                                        "librocm_smi64.so",
                                        "librocm_smi64.so.7",
                                        "librocm_smi64.so.6",
                                        "librocm_smi64.so.5",
                                        "/opt/rocm/lib/librocm_smi64.so",
                                        NULL};
    const char *const given[] = {path, NULL};
    AUTO_PTR(rocmsmi_lib) struct rocmsmi_lib *l = xcalloc(1, sizeof(*l));
    int r = vendor_load(&l->lib, path ? given : usual, symbols, &l->api, err);
    uint32_t n = 0;
    int status;

    if (r < 0)
        return r;
    status = l->api.init(0);
    if (status != RSMI_STATUS_SUCCESS)
        return init_error(l, status, err);
    l->initialised = true;
    status = l->api.count(&n);
    if (status != RSMI_STATUS_SUCCESS)
        return init_error(l, status, err);
    if (n == 0)
        return err_set(err, ENODEV, "ROCm SMI sees no GPU");
    *ret_gpus = n < AMD_GPUS_MAX ? n : AMD_GPUS_MAX;
    *ret_lib = STEAL(l);
    return 0;
}

static void backend_describe(void *lib, size_t gpu, struct device *ret)
{
    const struct rocmsmi_lib *l = lib;
    char name[257] = ""; /* one more than the library is told of */
    uint64_t id;

    if (l->api.name && l->api.name((uint32_t)gpu, name, sizeof(name) - 1) == RSMI_STATUS_SUCCESS &&
        name[0])
        vendor_text(ret->name, sizeof(ret->name), name);
    if (l->api.pci_id && l->api.pci_id((uint32_t)gpu, &id) == RSMI_STATUS_SUCCESS)
        amd_format_bdf(id >> 32, id, ret->uuid, sizeof(ret->uuid));
}

static bool backend_energy(void *lib, size_t gpu, struct amd_energy *ret)
{
    const struct rocmsmi_lib *l = lib;
    uint64_t count = 0, stamp_ns = 0;
    float resolution_uj = 0;

    return l->api.energy &&
           l->api.energy((uint32_t)gpu, &count, &resolution_uj, &stamp_ns) == RSMI_STATUS_SUCCESS &&
           amd_energy_of(count, resolution_uj, stamp_ns, ret);
}

static void read_power(void *lib, size_t gpu, double ret[2])
{
    const struct rocmsmi_lib *l = lib;
    uint64_t uw = 0;
    int type, status = RSMI_STATUS_NOT_SUPPORTED;

    /* The newer call knows both kinds of GPU, those that tell the present power and those that tell
     * an average. */
    if (l->api.power)
        status = l->api.power((uint32_t)gpu, &uw, &type);
    if (status != RSMI_STATUS_SUCCESS && l->api.power_average)
        status = l->api.power_average((uint32_t)gpu, 0, &uw);
    ret[0] = status == RSMI_STATUS_SUCCESS ? (double)uw / 1e6 : NAN;
}

static void read_temperature(void *lib, size_t gpu, double ret[2])
{
    static const uint32_t sensors[] = {RSMI_TEMPERATURE_JUNCTION, RSMI_TEMPERATURE_EDGE};
    const struct rocmsmi_lib *l = lib;

    ret[0] = NAN;
    for (size_t i = 0; i < 2 && isnan(ret[0]) && l->api.temperature; i++) {
        int64_t millicelsius = 0;

        if (l->api.temperature((uint32_t)gpu, sensors[i], RSMI_TEMP_CURRENT, &millicelsius) ==
                RSMI_STATUS_SUCCESS &&
            millicelsius > 0)
            ret[0] = (double)millicelsius / 1e3;
    }
}

static double memory(int (*call)(uint32_t, int, uint64_t *), size_t gpu)
{
    uint64_t bytes = 0;

    return call && call((uint32_t)gpu, RSMI_MEMORY_VRAM, &bytes) == RSMI_STATUS_SUCCESS
               ? (double)bytes
               : NAN;
}

static void read_memory_used(void *lib, size_t gpu, double ret[2])
{
    const struct rocmsmi_lib *l = lib;

    ret[0] = memory(l->api.memory_used, gpu);
}

static void read_memory_total(void *lib, size_t gpu, double ret[2])
{
    const struct rocmsmi_lib *l = lib;

    ret[0] = memory(l->api.memory_total, gpu);
}

static double percent(int (*call)(uint32_t, uint32_t *), size_t gpu)
{
    uint32_t pct = 0;

    return call && call((uint32_t)gpu, &pct) == RSMI_STATUS_SUCCESS && pct < 0xffff ? (double)pct
                                                                                    : NAN;
}

static void read_utilization(void *lib, size_t gpu, double ret[2])
{
    const struct rocmsmi_lib *l = lib;

    ret[0] = percent(l->api.busy, gpu);
    ret[1] = percent(l->api.memory_busy, gpu);
}

const struct amd_backend rocmsmi_backend = {
    .name = "ROCm SMI",
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
