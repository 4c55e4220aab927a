#include "telemetry/collector.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *env_or(const char *name, const char *fallback)
{
    const char *value = getenv(name);

    return value && *value ? value : fallback;
}

struct telemetry_env telemetry_env_default(void)
{
    return (struct telemetry_env){
        .sysfs_root = env_or("IPW_SYSFS_ROOT", "/sys"),
        .procfs_root = env_or("IPW_PROCFS_ROOT", "/proc"),
        .nvml_lib = env_or("IPW_NVML_LIB", NULL),
        .amdsmi_lib = env_or("IPW_AMDSMI_LIB", NULL),
    };
}

size_t collector_add_device(struct collector_setup *s, struct device d)
{
    static const char *const types[] = {
        [DEVICE_HOST] = "Host", [DEVICE_CPU] = "CPU", [DEVICE_GPU] = "GPU", [DEVICE_SOC] = "SoC"};

    if (!d.type[0])
        snprintf(d.type, sizeof(d.type), "%s", types[d.kind]);
    GROW(s->devices, s->n_devices, s->cap_devices);
    s->devices[s->n_devices] = d;
    return s->n_devices++;
}

size_t collector_add_channel(struct collector_setup *s, struct channel c)
{
    GROW(s->channels, s->n_channels, s->cap_channels);
    s->channels[s->n_channels] = c;
    return s->n_channels++;
}

void collector_note(struct collector_setup *s, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    GROW(s->notes, s->n_notes, s->cap_notes);
    s->notes[s->n_notes++] = xstrdup(text);
}

void collector_setup_release(struct collector_setup *s)
{
    for (size_t i = 0; i < s->n_notes; i++)
        free(s->notes[i]);
    free(s->notes);
    free(s->devices);
    free(s->channels);
    *s = (struct collector_setup){.env = s->env};
}

void collector_check(const struct collector_ops *ops, struct plugin_status *ret)
{
    struct telemetry_env env = telemetry_env_default();
    struct collector_setup setup = {.env = &env};
    struct err err = {0};
    void *ctx = NULL;

    ret->usable = ops->open(&setup, &ctx, &err) == 0;
    if (ret->usable)
        ops->close(ctx);
    else
        plugin_explain(&err, ret->reason, ret->remedy);
    collector_setup_release(&setup);
}
