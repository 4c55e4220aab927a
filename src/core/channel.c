#include "core/channel.h"

const char *rail_name(enum rail r)
{
    static const char *const names[RAIL_COUNT] = {
        [RAIL_NONE] = "none", [RAIL_GPU] = "gpu",       [RAIL_CPU] = "cpu",
        [RAIL_DRAM] = "dram", [RAIL_ANE] = "ane",       [RAIL_SOC] = "soc",
        [RAIL_CORE] = "core", [RAIL_UNCORE] = "uncore", [RAIL_OTHER] = "other",
    };

    return names[r];
}

const char *quantity_name(enum quantity q)
{
    static const char *const names[QUANTITY_COUNT] = {
        [QUANTITY_ENERGY_J] = "energy_j",
        [QUANTITY_POWER_W] = "power_w",
        [QUANTITY_TEMPERATURE_C] = "temperature_c",
        [QUANTITY_MEMORY_USED_BYTES] = "memory_used_bytes",
        [QUANTITY_MEMORY_TOTAL_BYTES] = "memory_total_bytes",
        [QUANTITY_UTILIZATION_PCT] = "utilization_pct",
        [QUANTITY_MEMORY_UTILIZATION_PCT] = "memory_utilization_pct",
        [QUANTITY_CLOCK_HZ] = "clock_hz",
        [QUANTITY_POWER_LIMIT_W] = "power_limit_w",
        [QUANTITY_THROTTLED] = "throttled",
        [QUANTITY_FOREIGN_PROCESSES] = "foreign_processes",
        [QUANTITY_ON_BATTERY] = "on_battery",
    };

    return names[q];
}
