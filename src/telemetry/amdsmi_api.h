/*
 * amdsmi_api: the part of AMD SMI (libamd_smi) that we call, declared by us. See nvml_api.h for the
 * form.
 *
 * Where a structure grew between versions we hand over a block that is larger than any of them and
 * pick the members at the offsets of the version that the library says it is.
 */
#ifndef IPW_TELEMETRY_AMDSMI_API_H
#define IPW_TELEMETRY_AMDSMI_API_H

#include <stdint.h>

enum amdsmi_status {
    AMDSMI_STATUS_SUCCESS = 0,
    AMDSMI_STATUS_NOT_SUPPORTED = 2,
    AMDSMI_STATUS_NO_PERM = 10,
    AMDSMI_STATUS_INIT_ERROR = 18,
    AMDSMI_STATUS_DRIVER_NOT_LOADED = 34,
};

#define AMDSMI_INIT_AMD_GPUS UINT64_C(2)

/* Of amdsmi_get_processor_type; an APU is a GPU with a CPU on the same die. */
enum { AMDSMI_PROCESSOR_GPU = 1, AMDSMI_PROCESSOR_APU = 6 };

enum { AMDSMI_TEMPERATURE_EDGE = 0, AMDSMI_TEMPERATURE_JUNCTION = 1 };
enum { AMDSMI_TEMP_CURRENT = 0 };
enum { AMDSMI_MEMORY_VRAM = 0 };

/* Room for any version's structure; words[] is what we look at. */
struct amdsmi_block {
    union {
        uint32_t words[512];
        char text[2048];
        uint64_t align;
    };
};

/* amdsmi_get_lib_version: the first word is the major version (24 and before: the year, which is
 * the major version of the file's name). */
#define AMDSMI_VERSION_MIN 24
/* amdsmi_get_power_info: watts, 32 bits each. From version 25 a 64-bit member stands before them.
 * What a GPU does not have is all ones, in 16 or 32 bits. */
#define AMDSMI_POWER_CURRENT(version) ((version) >= 25 ? 2 : 0)
#define AMDSMI_POWER_AVERAGE(version) ((version) >= 25 ? 3 : 1)
/* amdsmi_get_gpu_activity: percent, 32 bits each. */
enum { AMDSMI_ACTIVITY_GFX = 0, AMDSMI_ACTIVITY_UMC = 1 };
/* amdsmi_get_gpu_asic_info begins with the name, as text. */

/* clang-format off */
#define AMDSMI_API(X)                                                                              \
    X(REQUIRED, int, init, amdsmi_init, (uint64_t))                                                \
    X(REQUIRED, int, shutdown, amdsmi_shut_down, (void))                                           \
    X(REQUIRED, int, sockets, amdsmi_get_socket_handles, (uint32_t *, void **))                    \
    X(REQUIRED, int, processors, amdsmi_get_processor_handles, (void *, uint32_t *, void **))      \
    X(REQUIRED, int, processor_type, amdsmi_get_processor_type, (void *, int *))                   \
    X(OPTIONAL, int, version, amdsmi_get_lib_version, (struct amdsmi_block *))                     \
    X(OPTIONAL, int, status_string, amdsmi_status_code_to_string, (int, const char **))            \
    X(OPTIONAL, int, asic_info, amdsmi_get_gpu_asic_info, (void *, struct amdsmi_block *))         \
    X(OPTIONAL, int, bdf, amdsmi_get_gpu_device_bdf, (void *, uint64_t *))                         \
    X(OPTIONAL, int, energy, amdsmi_get_energy_count, (void *, uint64_t *, float *, uint64_t *))   \
    X(OPTIONAL, int, power, amdsmi_get_power_info, (void *, struct amdsmi_block *))                \
    X(OPTIONAL, int, temperature, amdsmi_get_temp_metric, (void *, int, int, int64_t *))           \
    X(OPTIONAL, int, memory_used, amdsmi_get_gpu_memory_usage, (void *, int, uint64_t *))          \
    X(OPTIONAL, int, memory_total, amdsmi_get_gpu_memory_total, (void *, int, uint64_t *))         \
    X(OPTIONAL, int, activity, amdsmi_get_gpu_activity, (void *, struct amdsmi_block *))
/* clang-format on */

struct amdsmi_api {
#define AMDSMI_MEMBER(kind, type, member, symbol, parameters) type(*member) parameters;
    AMDSMI_API(AMDSMI_MEMBER)
#undef AMDSMI_MEMBER
};

#endif
