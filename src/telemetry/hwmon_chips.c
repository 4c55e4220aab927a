/*
 * What the known chips measure. A chip's name and the beginning of a value's label decide; the
 * first row that fits counts. Sources: the kernel's Documentation/hwmon and Documentation/ABI, and
 * NVIDIA's words on the power meters of Grace.
 *
 * - amd_energy: one counter per socket and one per core.
 * - power_meter is ACPI's; Grace has four per socket: the module (Grace with the GPU beside it),
 *   Grace itself (CPU, memory, I/O), and of Grace the rails of the cores and of the I/O. On other
 *   machines an ACPI meter may be anything, so those are only shown.
 * - xe and i915: counters of the card and of the package in it; i915_gtN is a tile of i915.
 * - amdgpu shows power. The vendor's library knows more of the same GPU: the device carries the PCI
 *   address, so that whoever uses both can tell that it is one.
 */
#include "telemetry/hwmon.h"

#include <string.h>

static const struct hwmon_rule rules[] = {
    {"amd_energy", "Esocket", RAIL_CPU, true, DEVICE_CPU, "AMD"},
    {"amd_energy", "Ecore", RAIL_CORE, false, DEVICE_CPU, "AMD"},
    {"power_meter", "Module Power Socket", RAIL_SOC, true, DEVICE_CPU, "NVIDIA"},
    {"power_meter", "Grace Power Socket", RAIL_CPU, true, DEVICE_CPU, "NVIDIA"},
    {"power_meter", "CPU Power Socket", RAIL_CORE, true, DEVICE_CPU, "NVIDIA"},
    {"power_meter", "SysIO Power Socket", RAIL_UNCORE, true, DEVICE_CPU, "NVIDIA"},
    {"xe", "card", RAIL_GPU, true, DEVICE_GPU, "Intel"},
    {"xe", "pkg", RAIL_GPU, true, DEVICE_GPU, "Intel"},
    {"xe", "", RAIL_GPU, true, DEVICE_GPU, "Intel"},
    {"i915", "", RAIL_GPU, true, DEVICE_GPU, "Intel"},
    {"amdgpu", "", RAIL_GPU, true, DEVICE_GPU, "AMD"},
    {"nouveau", "", RAIL_GPU, true, DEVICE_GPU, "NVIDIA"},
    {"", "", RAIL_OTHER, false, DEVICE_HOST, ""},
};

#define N_RULES (sizeof(rules) / sizeof(*rules))

const struct hwmon_rule *hwmon_rule_of(const char *chip, const char *label)
{
    for (size_t i = 0; i < N_RULES - 1; i++)
        if (strcmp(chip, rules[i].chip) == 0 &&
            strncmp(label, rules[i].label, strlen(rules[i].label)) == 0)
            return &rules[i];
    return &rules[N_RULES - 1];
}

size_t hwmon_rule_rank(const struct hwmon_rule *rule)
{
    return (size_t)(rule - rules);
}
