/*
 * A stand-in for libamd_smi. See fake.h and fake_amd.h for its settings. Its own:
 *
 *   FAKE_AMD_VERSION=V    24, 25 or 26 (26): which layout the structures have
 *
 * There are two sockets; one of them also holds a processor that is no GPU.
 */
#include "fakes/fake_amd.h"
#include "telemetry/amdsmi_api.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct processor {
    unsigned int index;
    int type;
};

static struct processor processors[FAKE_GPUS_MAX], cpu = {.type = 2};
static int sockets[2];
static int users;

#define PROTOTYPE(kind, type, member, symbol, parameters) FAKE_EXPORT type symbol parameters;
AMDSMI_API(PROTOTYPE)
#undef PROTOTYPE

#define GPU(handle) (((const struct processor *)(handle))->index)
#define ENTER(gpu)                                         \
    do {                                                   \
        int fault_ = fake_fault(&fake_amd, __func__, gpu); \
        if (fault_)                                        \
            return fault_;                                 \
        if (users == 0)                                    \
            return 32; /* not initialised */               \
    } while (0)

int amdsmi_init(uint64_t flags)
{
    int fault;

    if (users == 0)
        fake_amd_setup();
    fault = fake_fault(&fake_amd, __func__, -1);
    if (fault)
        return fault;
    if (flags != AMDSMI_INIT_AMD_GPUS)
        return 1;
    for (unsigned int i = 0; i < FAKE_GPUS_MAX; i++)
        processors[i] = (struct processor){.index = i, .type = AMDSMI_PROCESSOR_GPU};
    users++;
    fake_inits++;
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_shut_down(void)
{
    users--;
    fake_shutdowns++;
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_socket_handles(uint32_t *count, void **list)
{
    ENTER(-1);
    for (uint32_t i = 0; list && i < 2 && i < *count; i++)
        list[i] = &sockets[i];
    *count = 2;
    return AMDSMI_STATUS_SUCCESS;
}

/* Even GPUs are on socket 0, odd ones on socket 1. */
int amdsmi_get_processor_handles(void *socket, uint32_t *count, void **list)
{
    unsigned int which = socket == &sockets[1];
    uint32_t n = 0;

    ENTER(-1);
    if (which == 1 && list && n < *count)
        list[n++] = &cpu;
    for (unsigned int i = which; i < fake_amd.gpus; i += 2)
        if (list && n < *count)
            list[n++] = &processors[i];
    *count = n;
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_processor_type(void *handle, int *type)
{
    ENTER((int)GPU(handle));
    *type = ((const struct processor *)handle)->type;
    return AMDSMI_STATUS_SUCCESS;
}

#ifndef FAKE_MINIMAL
static unsigned int version(void)
{
    return (unsigned int)fake_number(&fake_amd, "VERSION", 26);
}

int amdsmi_get_lib_version(struct amdsmi_block *block)
{
    ENTER(-1);
    block->words[0] = version();
    block->words[1] = 3;
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_status_code_to_string(int status, const char **text)
{
    *text = status == AMDSMI_STATUS_NO_PERM             ? "Permission Denied"
            : status == AMDSMI_STATUS_DRIVER_NOT_LOADED ? "Driver not loaded"
                                                        : "An unknown error occurred";
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_gpu_asic_info(void *handle, struct amdsmi_block *block)
{
    ENTER((int)GPU(handle));
    snprintf(block->text, sizeof(block->text), "AMD Stand-in %u", GPU(handle));
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_gpu_device_bdf(void *handle, uint64_t *bdf)
{
    ENTER((int)GPU(handle));
    *bdf = (uint64_t)(0xc1 + GPU(handle)) << 8;
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_energy_count(void *handle, uint64_t *count, float *resolution_uj, uint64_t *stamp_ns)
{
    ENTER((int)GPU(handle));
    fake_amd_energy(GPU(handle), count, resolution_uj, stamp_ns);
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_power_info(void *handle, struct amdsmi_block *block)
{
    uint32_t watts;
    unsigned int at = version() >= 25 ? 2 : 0;

    ENTER((int)GPU(handle));
    watts = (uint32_t)lround(fake_amd_watts(GPU(handle)));
    /* Members that must not be mistaken for power. */
    for (int i = 0; i < 10; i++)
        block->words[i] = 7777;
    block->words[at] = fake_amd_set("NO_CURRENT") ? (version() >= 26 ? UINT32_MAX : 0xffff) : watts;
    block->words[at + 1] = fake_amd_set("NO_CURRENT") ? watts : 0;
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_temp_metric(void *handle, int sensor, int metric, int64_t *celsius)
{
    ENTER((int)GPU(handle));
    if (metric != AMDSMI_TEMP_CURRENT ||
        (sensor == AMDSMI_TEMPERATURE_JUNCTION && fake_amd_set("NO_JUNCTION")))
        return AMDSMI_STATUS_NOT_SUPPORTED;
    *celsius = (sensor == AMDSMI_TEMPERATURE_JUNCTION ? 55 : 45) + GPU(handle);
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_gpu_memory_usage(void *handle, int type, uint64_t *bytes)
{
    ENTER((int)GPU(handle));
    *bytes = type == AMDSMI_MEMORY_VRAM ? UINT64_C(2) << 30 : 1;
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_gpu_memory_total(void *handle, int type, uint64_t *bytes)
{
    ENTER((int)GPU(handle));
    *bytes = type == AMDSMI_MEMORY_VRAM ? UINT64_C(192) << 30 : 1;
    return AMDSMI_STATUS_SUCCESS;
}

int amdsmi_get_gpu_activity(void *handle, struct amdsmi_block *block)
{
    ENTER((int)GPU(handle));
    block->words[0] = 60 + GPU(handle);
    block->words[1] = 20 + GPU(handle);
    block->words[2] = 0xffff;
    return AMDSMI_STATUS_SUCCESS;
}
#endif
