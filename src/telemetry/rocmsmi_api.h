/*
 * rocmsmi_api: the part of ROCm SMI (librocm_smi64) that we call, declared by us. See nvml_api.h
 * for the form. Checked against the symbols of Debian's librocm-smi64-1 (5.2.3).
 */
#ifndef IPW_TELEMETRY_ROCMSMI_API_H
#define IPW_TELEMETRY_ROCMSMI_API_H

#include <stddef.h>
#include <stdint.h>

enum rsmi_status {
    RSMI_STATUS_SUCCESS = 0,
    RSMI_STATUS_NOT_SUPPORTED = 2,
    RSMI_STATUS_PERMISSION = 4,
    RSMI_STATUS_INIT_ERROR = 8,
};

enum { RSMI_TEMPERATURE_EDGE = 0, RSMI_TEMPERATURE_JUNCTION = 1 };
enum { RSMI_TEMP_CURRENT = 0 };
enum { RSMI_MEMORY_VRAM = 0 };

/* clang-format off */
#define ROCMSMI_API(X)                                                                             \
    X(REQUIRED, int, init, rsmi_init, (uint64_t))                                                  \
    X(REQUIRED, int, shutdown, rsmi_shut_down, (void))                                             \
    X(REQUIRED, int, count, rsmi_num_monitor_devices, (uint32_t *))                                \
    X(OPTIONAL, int, status_string, rsmi_status_string, (int, const char **))                      \
    X(OPTIONAL, int, name, rsmi_dev_name_get, (uint32_t, char *, size_t))                          \
    X(OPTIONAL, int, pci_id, rsmi_dev_pci_id_get, (uint32_t, uint64_t *))                          \
    X(OPTIONAL, int, energy, rsmi_dev_energy_count_get,                                            \
      (uint32_t, uint64_t *, float *, uint64_t *))                                                 \
    X(OPTIONAL, int, power, rsmi_dev_power_get, (uint32_t, uint64_t *, int *))                     \
    X(OPTIONAL, int, power_average, rsmi_dev_power_ave_get, (uint32_t, uint32_t, uint64_t *))      \
    X(OPTIONAL, int, temperature, rsmi_dev_temp_metric_get, (uint32_t, uint32_t, int, int64_t *))  \
    X(OPTIONAL, int, memory_used, rsmi_dev_memory_usage_get, (uint32_t, int, uint64_t *))          \
    X(OPTIONAL, int, memory_total, rsmi_dev_memory_total_get, (uint32_t, int, uint64_t *))         \
    X(OPTIONAL, int, busy, rsmi_dev_busy_percent_get, (uint32_t, uint32_t *))                      \
    X(OPTIONAL, int, memory_busy, rsmi_dev_memory_busy_percent_get, (uint32_t, uint32_t *))
/* clang-format on */

struct rocmsmi_api {
#define ROCMSMI_MEMBER(kind, type, member, symbol, parameters) type(*member) parameters;
    ROCMSMI_API(ROCMSMI_MEMBER)
#undef ROCMSMI_MEMBER
};

#endif
