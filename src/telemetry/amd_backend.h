/*
 * amd_backend: the two libraries that read AMD GPUs, behind one small table.
 *
 * AMD SMI is the newer one and is tried first; ROCm SMI is what older systems and Debian have. The
 * collector in amdsmi.c knows neither's types.
 *
 * A library is opened once, used by one thread and closed once. GPUs are numbered from 0 in the
 * library's own order.
 */
#ifndef IPW_TELEMETRY_AMD_BACKEND_H
#define IPW_TELEMETRY_AMD_BACKEND_H

#include "base/err.h"
#include "core/channel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AMD_GPUS_MAX 256

/* What is read besides the energy. Each fills ret[0], utilisation also ret[1] (the memory
 * controller); NAN = absent. */
enum amd_gauge {
    AMD_POWER_W,
    AMD_TEMPERATURE_C,
    AMD_MEMORY_USED_BYTES,
    AMD_MEMORY_TOTAL_BYTES,
    AMD_UTILIZATION_PCT,
    AMD_GAUGES
};

struct amd_energy {
    double joules;
    double quantum_j;
    uint64_t stamp_ns; /* CLOCK_BOOTTIME when the driver fetched it; 0 = none */
};

struct amd_backend {
    const char *name;
    /* path NULL: the usual names. -ENODEV: not installed, or no GPU. -ENOSYS: another library. */
    int (*open)(const char *path, void **ret_lib, size_t *ret_gpus, struct err *err);
    void (*close)(void *lib);
    /* Fills name and uuid (the PCI address). */
    void (*describe)(void *lib, size_t gpu, struct device *ret);
    /* False: not this time. */
    bool (*energy)(void *lib, size_t gpu, struct amd_energy *ret);
    void (*gauges[AMD_GAUGES])(void *lib, size_t gpu, double ret[2]);
};

extern const struct amd_backend amdsmi_backend;
extern const struct amd_backend rocmsmi_backend;

/* The energy of `count` steps of the counter. Both libraries round the step of 2^-16 J, which the
 * kernel documents, to 15.3 uJ: 0.27 % too much. That one figure is put right; any other is taken
 * as it is. 0 or less, or not finite: false. */
bool amd_energy_of(uint64_t count, float resolution_uj, uint64_t stamp_ns, struct amd_energy *ret);

/* "0000:c1:00.0"; only the lower 16 bits of the second are looked at. */
void amd_format_bdf(uint64_t domain, uint64_t bus_device_function, char *text, size_t size);

#endif
