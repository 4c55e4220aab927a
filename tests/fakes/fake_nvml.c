/*
 * A stand-in for libnvidia-ml. See fake.h for its settings. Its own (prefix FAKE_NVML):
 *
 *   STAMPS=renewal    the energy field is stamped with the moment of its renewal (the default)
 *          read       with the moment of the call
 *          none       with 0
 *          future     an hour ahead
 *   RING_MS=T         the driver's ring has a sample every T (20); 0 = there is no ring
 *   RING_SIZE=N       samples that it keeps (120)
 *   RING_SHIFT_S=S    its stamps are S seconds off (0)
 *   REASONS=BITS      what slows the clocks (0)
 *   PROCESSES=N       processes that compute on each GPU (1); every second one has two entries
 *   NAMES=A;B;...     the GPUs' names ("NVIDIA Stand-in"); the last serves the rest
 *
 * Besides the functions, ERRORS knows the names field83 and field186: those fields alone fail.
 * Values that no setting governs: GPU i has temperature 40 + i, 1 GiB used of 80 GiB, 30 + i %
 * busy, 10 + i % memory, 1500 + i MHz, a limit of 700 - i W, the UUID GPU-iiiiiiii-..., and one MIG
 * instance MIG-iiiiiiii-....
 *
 * Built with FAKE_MINIMAL it has only the functions that the collector cannot do without.
 */
#include "fakes/fake.h"
#include "telemetry/nvml_api.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct nvml_device {
    unsigned int index;
    bool mig;
};

static struct fake fake;
static struct nvml_device devices[FAKE_GPUS_MAX], migs[FAKE_GPUS_MAX];
static int users;

/* The prototypes, from the collector's own list: a stand-in cannot drift from it unnoticed. */
#define PROTOTYPE(kind, type, member, symbol, parameters) FAKE_EXPORT type symbol parameters;
NVML_API(PROTOTYPE)
#undef PROTOTYPE

#define ENTER(gpu)                                     \
    do {                                               \
        int fault_ = fake_fault(&fake, __func__, gpu); \
        if (fault_)                                    \
            return fault_;                             \
        if (users == 0)                                \
            return NVML_ERROR_UNINITIALIZED;           \
    } while (0)

int nvmlInit_v2(void)
{
    int fault;

    if (users == 0)
        fake_setup(&fake, "FAKE_NVML", 100);
    fault = fake_fault(&fake, __func__, -1);
    if (fault)
        return fault;
    for (unsigned int i = 0; i < FAKE_GPUS_MAX; i++) {
        devices[i] = (struct nvml_device){.index = i};
        migs[i] = (struct nvml_device){.index = i, .mig = true};
    }
    users++;
    fake_inits++;
    return NVML_SUCCESS;
}

int nvmlShutdown(void)
{
    if (users == 0)
        return NVML_ERROR_UNINITIALIZED;
    users--;
    fake_shutdowns++;
    return NVML_SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned int *count)
{
    ENTER(-1);
    *count = fake.gpus;
    return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, struct nvml_device **ret)
{
    ENTER((int)index);
    if (index >= fake.gpus)
        return NVML_ERROR_INVALID_ARGUMENT;
    *ret = &devices[index];
    return NVML_SUCCESS;
}

#ifndef FAKE_MINIMAL
const char *nvmlErrorString(int code)
{
    switch (code) {
    case NVML_SUCCESS:
        return "Success";
    case NVML_ERROR_NOT_SUPPORTED:
        return "Not Supported";
    case NVML_ERROR_NO_PERMISSION:
        return "Insufficient Permissions";
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    case NVML_ERROR_GPU_IS_LOST:
        return "GPU is lost";
    case NVML_ERROR_LIB_RM_VERSION_MISMATCH:
        return "Driver/library version mismatch";
    default:
        return "Unknown Error";
    }
}

static void uuid_of(const char *kind, unsigned int i, char *text, size_t size)
{
    char digits[9] = "";

    memset(digits, "0123456789abcdef"[i % 16], 8);
    snprintf(text, size, "%s-%s-1111-2222-3333-444444444444", kind, digits);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, struct nvml_device **ret)
{
    char text[96];

    ENTER(-1);
    for (unsigned int i = 0; i < fake.gpus; i++) {
        uuid_of("GPU", i, text, sizeof(text));
        if (strcmp(text, uuid) == 0) {
            *ret = &devices[i];
            return NVML_SUCCESS;
        }
        uuid_of("MIG", i, text, sizeof(text));
        if (strcmp(text, uuid) == 0) {
            *ret = &migs[i];
            return NVML_SUCCESS;
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

int nvmlDeviceGetDeviceHandleFromMigDeviceHandle(struct nvml_device *mig, struct nvml_device **ret)
{
    ENTER((int)mig->index);
    if (!mig->mig)
        return NVML_ERROR_INVALID_ARGUMENT;
    *ret = &devices[mig->index];
    return NVML_SUCCESS;
}

int nvmlDeviceGetName(struct nvml_device *d, char *name, unsigned int length)
{
    const char *names = fake_text(&fake, "NAMES", "NVIDIA Stand-in");

    ENTER((int)d->index);
    for (unsigned int i = 0; i < d->index && strchr(names, ';'); i++)
        names = strchr(names, ';') + 1;
    snprintf(name, length, "%.*s", (int)strcspn(names, ";"), names);
    return NVML_SUCCESS;
}

int nvmlDeviceGetUUID(struct nvml_device *d, char *uuid, unsigned int length)
{
    ENTER((int)d->index);
    uuid_of(d->mig ? "MIG" : "GPU", d->index, uuid, length);
    return NVML_SUCCESS;
}

static unsigned long long millijoules(unsigned int gpu, mono_ns t)
{
    return (unsigned long long)llround(fake_joules(&fake, gpu, t) * 1e3);
}

static unsigned int milliwatts(unsigned int gpu, mono_ns t)
{
    return (unsigned int)lround(fake_watts(&fake, gpu, t) * 1e3);
}

static long long stamp_of(mono_ns t)
{
    if (strcmp(fake.stamps, "none") == 0)
        return 0;
    if (strcmp(fake.stamps, "read") == 0)
        return fake_wall_us(t);
    if (strcmp(fake.stamps, "future") == 0)
        return fake_wall_us(t + 3000 * NS_PER_S);
    return fake_wall_us(fake_renewal(&fake, t));
}

static int field(struct nvml_device *d, struct nvml_field_value *f, mono_ns t)
{
    char name[32];
    int fault;

    snprintf(name, sizeof(name), "field%u", f->field);
    fault = fake_fault(&fake, name, (int)d->index);
    if (fault)
        return fault;
    if (f->scope != 0)
        return NVML_ERROR_INVALID_ARGUMENT;
    f->timestamp_us = stamp_of(t);
    f->latency_us = 0;
    if (f->field == NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION) {
        f->value_type = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        f->value.ull = millijoules(d->index, t);
        return NVML_SUCCESS;
    }
    if (f->field == NVML_FI_DEV_POWER_INSTANT) {
        f->value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
        f->value.u = milliwatts(d->index, t);
        return NVML_SUCCESS;
    }
    return NVML_ERROR_NOT_SUPPORTED;
}

int nvmlDeviceGetFieldValues(struct nvml_device *d, int count, struct nvml_field_value *values)
{
    ENTER((int)d->index);
    for (int i = 0; i < count; i++)
        values[i].result = field(d, &values[i], fake_now());
    return NVML_SUCCESS;
}

int nvmlDeviceGetTotalEnergyConsumption(struct nvml_device *d, unsigned long long *mj)
{
    ENTER((int)d->index);
    *mj = millijoules(d->index, fake_now());
    return NVML_SUCCESS;
}

int nvmlDeviceGetPowerUsage(struct nvml_device *d, unsigned int *mw)
{
    ENTER((int)d->index);
    *mw = milliwatts(d->index, fake_now());
    return NVML_SUCCESS;
}

/* Samples lie at multiples of the ring's period; each shows the power of its own moment. */
int nvmlDeviceGetSamples(struct nvml_device *d, int type, unsigned long long last_seen_us,
                         int *value_type, unsigned int *count, struct nvml_sample *samples)
{
    mono_ns period = (mono_ns)(fake_number(&fake, "RING_MS", 20) * 1e6), now = fake_now();
    mono_ns shift = s_to_ns(fake_number(&fake, "RING_SHIFT_S", 0));
    int64_t size = (int64_t)fake_number(&fake, "RING_SIZE", 120), newest;
    unsigned int n = 0;

    ENTER((int)d->index);
    if (type != NVML_TOTAL_POWER_SAMPLES || period <= 0)
        return NVML_ERROR_NOT_SUPPORTED;
    if (!samples) {
        *count = (unsigned int)size;
        return NVML_SUCCESS;
    }
    *value_type = NVML_VALUE_TYPE_UNSIGNED_INT;
    newest = now / period;
    for (int64_t k = newest - size + 1; k <= newest && n < *count; k++) {
        unsigned long long us = (unsigned long long)fake_wall_us(k * period + shift);

        if (k < 0 || us <= last_seen_us)
            continue;
        samples[n].timestamp_us = us;
        samples[n++].value.u =
            (unsigned int)lround(simpower_watts(&fake.power[d->index], k * period) * 1e3);
    }
    *count = n;
    return n ? NVML_SUCCESS : NVML_ERROR_NOT_FOUND;
}

int nvmlDeviceGetTemperature(struct nvml_device *d, int sensor, unsigned int *celsius)
{
    ENTER((int)d->index);
    if (sensor != NVML_TEMPERATURE_GPU)
        return NVML_ERROR_INVALID_ARGUMENT;
    *celsius = 40 + d->index;
    return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryInfo_v2(struct nvml_device *d, struct nvml_memory_v2 *m)
{
    ENTER((int)d->index);
    if (m->version != NVML_MEMORY_V2)
        return NVML_ERROR_INVALID_ARGUMENT;
    m->total = 80ull << 30;
    m->reserved = 1ull << 29;
    m->used = 1ull << 30;
    m->free = m->total - m->reserved - m->used;
    return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryInfo(struct nvml_device *d, struct nvml_memory *m)
{
    ENTER((int)d->index);
    m->total = 80ull << 30;
    m->used = (1ull << 30) + (1ull << 29);
    m->free = m->total - m->used;
    return NVML_SUCCESS;
}

int nvmlDeviceGetUtilizationRates(struct nvml_device *d, struct nvml_utilization *u)
{
    ENTER((int)d->index);
    u->gpu = 30 + d->index;
    u->memory = 10 + d->index;
    return NVML_SUCCESS;
}

int nvmlDeviceGetClockInfo(struct nvml_device *d, int clock, unsigned int *mhz)
{
    ENTER((int)d->index);
    if (clock != NVML_CLOCK_SM)
        return NVML_ERROR_INVALID_ARGUMENT;
    *mhz = 1500 + d->index;
    return NVML_SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(struct nvml_device *d, unsigned int *mw)
{
    ENTER((int)d->index);
    *mw = (700 - d->index) * 1000;
    return NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(struct nvml_device *d, unsigned long long *reasons)
{
    ENTER((int)d->index);
    *reasons = (unsigned long long)fake_number(&fake, "REASONS", 0);
    return NVML_SUCCESS;
}

int nvmlDeviceGetCurrentClocksThrottleReasons(struct nvml_device *d, unsigned long long *reasons)
{
    ENTER((int)d->index);
    *reasons = (unsigned long long)fake_number(&fake, "REASONS", 0);
    return NVML_SUCCESS;
}

static int list_processes(unsigned int *count, struct nvml_process *list)
{
    unsigned int n = (unsigned int)fake_number(&fake, "PROCESSES", 1), entries = n + n / 2;

    if (*count < entries) {
        *count = entries;
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    *count = 0;
    for (unsigned int i = 0; i < n; i++)
        for (unsigned int k = 0; k <= i % 2; k++)
            list[(*count)++] = (struct nvml_process){.pid = 1000 + i, .gpu_instance = k};
    return NVML_SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(struct nvml_device *d, unsigned int *count,
                                            struct nvml_process *list)
{
    ENTER((int)d->index);
    return list_processes(count, list);
}

int nvmlDeviceGetComputeRunningProcesses_v2(struct nvml_device *d, unsigned int *count,
                                            struct nvml_process *list)
{
    ENTER((int)d->index);
    return list_processes(count, list);
}
#endif
