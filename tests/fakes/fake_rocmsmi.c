/*
 * A stand-in for librocm_smi64. See fake.h and fake_amd.h for its settings.
 */
#include "fakes/fake_amd.h"
#include "telemetry/rocmsmi_api.h"

#include <math.h>
#include <stdio.h>

static int users;

#define PROTOTYPE(kind, type, member, symbol, parameters) FAKE_EXPORT type symbol parameters;
ROCMSMI_API(PROTOTYPE)
#undef PROTOTYPE

#define ENTER(gpu)                                         \
    do {                                                   \
        int fault_ = fake_fault(&fake_amd, __func__, gpu); \
        if (fault_)                                        \
            return fault_;                                 \
        if (users == 0)                                    \
            return RSMI_STATUS_INIT_ERROR;                 \
    } while (0)

int rsmi_init(uint64_t flags)
{
    int fault;

    if (users == 0)
        fake_amd_setup();
    fault = fake_fault(&fake_amd, __func__, -1);
    if (fault)
        return fault;
    if (flags != 0)
        return 1;
    users++;
    fake_inits++;
    return RSMI_STATUS_SUCCESS;
}

int rsmi_shut_down(void)
{
    users--;
    fake_shutdowns++;
    return RSMI_STATUS_SUCCESS;
}

int rsmi_num_monitor_devices(uint32_t *count)
{
    ENTER(-1);
    *count = fake_amd.gpus;
    return RSMI_STATUS_SUCCESS;
}

#ifndef FAKE_MINIMAL
int rsmi_status_string(int status, const char **text)
{
    *text = status == RSMI_STATUS_PERMISSION ? "Permission denied" : "An unknown error occurred";
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_name_get(uint32_t gpu, char *name, size_t size)
{
    ENTER((int)gpu);
    snprintf(name, size, "AMD Stand-in %u", gpu);
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_pci_id_get(uint32_t gpu, uint64_t *id)
{
    ENTER((int)gpu);
    *id = (uint64_t)(0xc1 + gpu) << 8 | UINT64_C(1) << 28; /* a partition, not to be shown */
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_energy_count_get(uint32_t gpu, uint64_t *count, float *resolution_uj,
                              uint64_t *stamp_ns)
{
    ENTER((int)gpu);
    fake_amd_energy(gpu, count, resolution_uj, stamp_ns);
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_power_get(uint32_t gpu, uint64_t *uw, int *type)
{
    ENTER((int)gpu);
    *uw = (uint64_t)llround(fake_amd_watts(gpu) * 1e6);
    *type = 1;
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_power_ave_get(uint32_t gpu, uint32_t sensor, uint64_t *uw)
{
    ENTER((int)gpu);
    if (sensor != 0)
        return 1;
    *uw = (uint64_t)llround(fake_amd_watts(gpu) * 1e6);
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_temp_metric_get(uint32_t gpu, uint32_t sensor, int metric, int64_t *millicelsius)
{
    ENTER((int)gpu);
    if (metric != RSMI_TEMP_CURRENT ||
        (sensor == RSMI_TEMPERATURE_JUNCTION && fake_amd_set("NO_JUNCTION")))
        return RSMI_STATUS_NOT_SUPPORTED;
    *millicelsius = ((sensor == RSMI_TEMPERATURE_JUNCTION ? 55 : 45) + (int64_t)gpu) * 1000;
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_memory_usage_get(uint32_t gpu, int type, uint64_t *bytes)
{
    ENTER((int)gpu);
    *bytes = type == RSMI_MEMORY_VRAM ? UINT64_C(2) << 30 : 1;
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_memory_total_get(uint32_t gpu, int type, uint64_t *bytes)
{
    ENTER((int)gpu);
    *bytes = type == RSMI_MEMORY_VRAM ? UINT64_C(192) << 30 : 1;
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_busy_percent_get(uint32_t gpu, uint32_t *percent)
{
    ENTER((int)gpu);
    *percent = 60 + gpu;
    return RSMI_STATUS_SUCCESS;
}

int rsmi_dev_memory_busy_percent_get(uint32_t gpu, uint32_t *percent)
{
    ENTER((int)gpu);
    *percent = 20 + gpu;
    return RSMI_STATUS_SUCCESS;
}
#endif
