/*
 * nvml_api: the part of NVIDIA's management library that we call, declared by us.
 *
 * The build needs no SDK: names, numbers and layouts below are the library's binary interface, as
 * its documentation describes it. NVML_API lists every function once; the list makes both the
 * struct of pointers and the table that dl_load fills. Only the REQUIRED ones must exist. Each of
 * the others is one metric: when it is missing, that metric is absent.
 */
#ifndef IPW_TELEMETRY_NVML_API_H
#define IPW_TELEMETRY_NVML_API_H

#include <assert.h>
#include <stddef.h>

struct nvml_device;

enum nvml_return {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NO_PERMISSION = 4,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_INSUFFICIENT_SIZE = 7,
    NVML_ERROR_DRIVER_NOT_LOADED = 9,
    NVML_ERROR_FUNCTION_NOT_FOUND = 13,
    NVML_ERROR_GPU_IS_LOST = 15,
    NVML_ERROR_OPERATING_SYSTEM = 17,
    NVML_ERROR_LIB_RM_VERSION_MISMATCH = 18,
    NVML_ERROR_GPU_NOT_FOUND = 28,
    NVML_ERROR_UNKNOWN = 999,
};

enum nvml_value_type {
    NVML_VALUE_TYPE_DOUBLE = 0,
    NVML_VALUE_TYPE_UNSIGNED_INT = 1,
    NVML_VALUE_TYPE_UNSIGNED_LONG = 2,
    NVML_VALUE_TYPE_UNSIGNED_LONG_LONG = 3,
    NVML_VALUE_TYPE_SIGNED_LONG_LONG = 4,
    NVML_VALUE_TYPE_SIGNED_INT = 5,
    NVML_VALUE_TYPE_UNSIGNED_SHORT = 6,
};

union nvml_value {
    double d;
    int i;
    unsigned int u;
    unsigned long ul;
    unsigned long long ull;
    long long ll;
    unsigned short us;
};

/* Numbers of nvmlDeviceGetFieldValues. */
enum { NVML_FI_DEV_TOTAL_ENERGY_CONSUMPTION = 83, NVML_FI_DEV_POWER_INSTANT = 186 };

struct nvml_field_value {
    unsigned int field;
    unsigned int scope; /* 0: the GPU, not the module it sits on */
    long long timestamp_us;
    long long latency_us;
    int value_type;
    int result; /* of this field alone */
    union nvml_value value;
};
static_assert(sizeof(struct nvml_field_value) == 40, "nvmlFieldValue_t");

enum { NVML_TOTAL_POWER_SAMPLES = 0 };

struct nvml_sample {
    unsigned long long timestamp_us;
    union nvml_value value;
};
static_assert(sizeof(struct nvml_sample) == 16, "nvmlSample_t");

enum { NVML_TEMPERATURE_GPU = 0, NVML_CLOCK_SM = 1 };

struct nvml_memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used; /* with what the driver keeps for itself */
};

struct nvml_memory_v2 {
    unsigned int version;
    unsigned long long total;
    unsigned long long reserved; /* by the driver */
    unsigned long long free;
    unsigned long long used; /* without `reserved` */
};
static_assert(sizeof(struct nvml_memory_v2) == 40, "nvmlMemory_v2_t");

#define NVML_MEMORY_V2 ((unsigned int)sizeof(struct nvml_memory_v2) | 2u << 24)

struct nvml_utilization {
    unsigned int gpu;
    unsigned int memory;
};

/* An entry of nvmlDeviceGetComputeRunningProcesses, versions 2 and 3. */
struct nvml_process {
    unsigned int pid;
    unsigned long long used_memory;
    unsigned int gpu_instance;
    unsigned int compute_instance;
};
static_assert(sizeof(struct nvml_process) == 24, "nvmlProcessInfo_v2_t");

/* Bits of nvmlDeviceGetCurrentClocksEventReasons. The others (idle, clocks set by a person, sync
 * boost, display) are no slowing down by heat or by power. */
#define NVML_REASON_SW_POWER_CAP   0x04ull
#define NVML_REASON_HW_SLOWDOWN    0x08ull
#define NVML_REASON_SW_THERMAL     0x20ull
#define NVML_REASON_HW_THERMAL     0x40ull
#define NVML_REASON_HW_POWER_BRAKE 0x80ull
#define NVML_REASONS_THROTTLED                                                     \
    (NVML_REASON_SW_POWER_CAP | NVML_REASON_HW_SLOWDOWN | NVML_REASON_SW_THERMAL | \
     NVML_REASON_HW_THERMAL | NVML_REASON_HW_POWER_BRAKE)

/* X(REQUIRED or OPTIONAL, result, member, symbol, parameters) */
/* clang-format off */
#define NVML_API(X)                                                                                \
    X(REQUIRED, int, init, nvmlInit_v2, (void))                                                    \
    X(REQUIRED, int, shutdown, nvmlShutdown, (void))                                               \
    X(REQUIRED, int, count, nvmlDeviceGetCount_v2, (unsigned int *))                               \
    X(REQUIRED, int, by_index, nvmlDeviceGetHandleByIndex_v2,                                      \
      (unsigned int, struct nvml_device **))                                                       \
    X(OPTIONAL, const char *, error_string, nvmlErrorString, (int))                                \
    X(OPTIONAL, int, by_uuid, nvmlDeviceGetHandleByUUID, (const char *, struct nvml_device **))    \
    X(OPTIONAL, int, mig_parent, nvmlDeviceGetDeviceHandleFromMigDeviceHandle,                     \
      (struct nvml_device *, struct nvml_device **))                                               \
    X(OPTIONAL, int, name, nvmlDeviceGetName, (struct nvml_device *, char *, unsigned int))        \
    X(OPTIONAL, int, uuid, nvmlDeviceGetUUID, (struct nvml_device *, char *, unsigned int))        \
    X(OPTIONAL, int, fields, nvmlDeviceGetFieldValues,                                             \
      (struct nvml_device *, int, struct nvml_field_value *))                                      \
    X(OPTIONAL, int, energy, nvmlDeviceGetTotalEnergyConsumption,                                  \
      (struct nvml_device *, unsigned long long *))                                                \
    X(OPTIONAL, int, power, nvmlDeviceGetPowerUsage, (struct nvml_device *, unsigned int *))       \
    X(OPTIONAL, int, samples, nvmlDeviceGetSamples,                                                \
      (struct nvml_device *, int, unsigned long long, int *, unsigned int *,                       \
       struct nvml_sample *))                                                                      \
    X(OPTIONAL, int, temperature, nvmlDeviceGetTemperature,                                        \
      (struct nvml_device *, int, unsigned int *))                                                 \
    X(OPTIONAL, int, memory_v2, nvmlDeviceGetMemoryInfo_v2,                                        \
      (struct nvml_device *, struct nvml_memory_v2 *))                                             \
    X(OPTIONAL, int, memory, nvmlDeviceGetMemoryInfo,                                              \
      (struct nvml_device *, struct nvml_memory *))                                                \
    X(OPTIONAL, int, utilization, nvmlDeviceGetUtilizationRates,                                   \
      (struct nvml_device *, struct nvml_utilization *))                                           \
    X(OPTIONAL, int, clock, nvmlDeviceGetClockInfo, (struct nvml_device *, int, unsigned int *))   \
    X(OPTIONAL, int, power_limit, nvmlDeviceGetEnforcedPowerLimit,                                 \
      (struct nvml_device *, unsigned int *))                                                      \
    X(OPTIONAL, int, event_reasons, nvmlDeviceGetCurrentClocksEventReasons,                        \
      (struct nvml_device *, unsigned long long *))                                                \
    X(OPTIONAL, int, throttle_reasons, nvmlDeviceGetCurrentClocksThrottleReasons,                  \
      (struct nvml_device *, unsigned long long *))                                                \
    X(OPTIONAL, int, processes, nvmlDeviceGetComputeRunningProcesses_v3,                           \
      (struct nvml_device *, unsigned int *, struct nvml_process *))                               \
    X(OPTIONAL, int, processes_v2, nvmlDeviceGetComputeRunningProcesses_v2,                        \
      (struct nvml_device *, unsigned int *, struct nvml_process *))
/* clang-format on */

struct nvml_api {
#define NVML_MEMBER(kind, type, member, symbol, parameters) type(*member) parameters;
    NVML_API(NVML_MEMBER)
#undef NVML_MEMBER
};

#endif
