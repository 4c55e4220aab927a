/*
 * channel: one measured quantity of one device, and what is known about it.
 *
 * Collectors declare their channels once, when they open; from then on a channel is its number.
 */
#ifndef IPW_CORE_CHANNEL_H
#define IPW_CORE_CHANNEL_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>

/* Where the energy flows. SOC (psys, a board's input rail) contains the others and is never added
 * to them; CORE and UNCORE are parts of CPU. */
enum rail {
    RAIL_NONE, /* not a power rail: memory, host utilisation */
    RAIL_GPU,
    RAIL_CPU,
    RAIL_DRAM,
    RAIL_ANE,
    RAIL_SOC,
    RAIL_CORE,
    RAIL_UNCORE,
    RAIL_OTHER, /* metered, but not known what it feeds; shown, never summed */
    RAIL_COUNT
};

enum quantity {
    QUANTITY_ENERGY_J, /* a cumulative counter */
    QUANTITY_POWER_W,
    QUANTITY_TEMPERATURE_C,
    QUANTITY_MEMORY_USED_BYTES,
    QUANTITY_MEMORY_TOTAL_BYTES,
    QUANTITY_UTILIZATION_PCT,        /* compute: SMs, CPU cores */
    QUANTITY_MEMORY_UTILIZATION_PCT, /* memory controller busy */
    QUANTITY_CLOCK_HZ,
    QUANTITY_POWER_LIMIT_W,
    QUANTITY_THROTTLED,         /* 0 no, 1 yes: slowed by heat or by a power cap */
    QUANTITY_FOREIGN_PROCESSES, /* processes on the device besides the expected ones */
    QUANTITY_ON_BATTERY,        /* 0 no, 1 yes */
    QUANTITY_COUNT
};

const char *rail_name(enum rail r);         /* "gpu", "cpu", ... */
const char *quantity_name(enum quantity q); /* "energy_j", "power_w", ... */

enum device_kind { DEVICE_HOST, DEVICE_CPU, DEVICE_GPU, DEVICE_SOC };

struct device {
    enum device_kind kind;
    int number;       /* the vendor's own: GPU index, package number */
    char name[96];    /* "NVIDIA H100 80GB HBM3", "package-0" */
    char vendor[32];  /* "NVIDIA" */
    char uuid[64];    /* or PCI address; "" = none */
    char type[32];    /* "GPU", "Integrated GPU", "SoC", "CPU" */
    char backend[32]; /* "NVML", "powercap" */
};

struct channel {
    enum quantity quantity;
    enum rail rail;
    size_t device;  /* index in the device table */
    char name[64];  /* for people: "package-0", "VDD_IN", "GPU 0" */
    bool estimated; /* modelled, not measured */
    bool summed;    /* enters its rail's total. Two sensors of one rail and device never both do */
    double range;   /* ENERGY_J: the counter wraps to 0 after this many joules; NAN = never */
    double quantum; /* smallest step of the value, NAN = not known */
    mono_ns refresh_ns; /* how often the source renews it, as documented; 0 = not known */
};

/* What records and summary.json say of the machine. Absent text is "". */
struct system_info {
    char os_name[64];
    char os_version[64];
    char kernel_version[96];
    char host_name[96];
    int cpu_count;
    char cpu_brand[96];
};

#endif
