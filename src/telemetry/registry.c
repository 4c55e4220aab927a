#include "telemetry/collector.h"

extern const struct collector_ops nvml_ops;
extern const struct collector_ops amdsmi_ops;

static const struct plugin *const items[] = {&nvml_ops.plugin, &amdsmi_ops.plugin, NULL};

const struct registry collectors = {"collector", "collectors", items};

const struct collector_ops *collector_find(const char *id, struct err *err)
{
    /* plugin is the first member of every ops struct */
    return (const struct collector_ops *)registry_find(&collectors, id, err);
}
