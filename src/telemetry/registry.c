#include "telemetry/collector.h"

extern const struct collector_ops amdsmi_ops;
extern const struct collector_ops estimate_ops;
extern const struct collector_ops host_ops;
extern const struct collector_ops hwmon_ops;
extern const struct collector_ops nvml_ops;
extern const struct collector_ops powermetrics_ops;
extern const struct collector_ops rapl_ops;

/* In this order `auto` tries them: of two that see the same thing the first counts. */
/* clang-format off */
static const struct plugin *const items[] = {
    &nvml_ops.plugin,
    &amdsmi_ops.plugin,
    &rapl_ops.plugin,
    &hwmon_ops.plugin,
    &powermetrics_ops.plugin,
    &host_ops.plugin,
    &estimate_ops.plugin,
    NULL,
};
/* clang-format on */

const struct registry collectors = {"collector", "collectors", items};

const struct collector_ops *collector_find(const char *id, struct err *err)
{
    /* plugin is the first member of every ops struct */
    return (const struct collector_ops *)registry_find(&collectors, id, err);
}
