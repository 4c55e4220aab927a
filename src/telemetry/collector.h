/*
 * collector: a source of measurements behind one ops struct.
 *
 * To add one: write src/telemetry/<name>.c with the ops struct at its bottom, name it in registry.c
 * and in this folder's meson.build, test it on a fake tree or a stand-in library. Nothing else
 * knows of it.
 *
 * Life: open() looks for the hardware and declares devices and channels; the sampler then calls
 * read() from one thread of its own, again and again, until close(). A collector therefore needs no
 * lock. Absent hardware is not an error: open() returns -ENODEV. Hardware that is there but cannot
 * be read is -EACCES (or what the system said), and the words carry the exact remedy after "; ".
 */
#ifndef IPW_TELEMETRY_COLLECTOR_H
#define IPW_TELEMETRY_COLLECTOR_H

#include "base/err.h"
#include "core/channel.h"
#include "core/kv.h"
#include "core/plugin.h"

#include <stdbool.h>
#include <stddef.h>

/* Where things are on this machine; tests point it elsewhere. */
struct telemetry_env {
    const char *sysfs_root;  /* "/sys" */
    const char *procfs_root; /* "/proc" */
    const char *nvml_lib;    /* path of the vendor library; NULL = its usual names */
    const char *amdsmi_lib;
    /* parameters "collector.key=value" without the prefix */
    const struct kv_list *params;
};

/* From IPW_SYSFS_ROOT, IPW_PROCFS_ROOT, IPW_NVML_LIB and IPW_AMDSMI_LIB, else the defaults. The
 * strings live in the environment. */
struct telemetry_env telemetry_env_default(void);

/* What the machine says of itself, whichever collectors are used. */
void system_info_read(const struct telemetry_env *env, struct system_info *ret);

/* What open() finds out. The sampler copies it all. */
struct collector_setup {
    const struct telemetry_env *env;
    struct device *devices;
    size_t n_devices, cap_devices;
    struct channel *channels;
    size_t n_channels, cap_channels;
    struct system_info system; /* filled by `host` */
    /* Things worth saying that do not stop it ("package-1 cannot be read; ..."), one line each. */
    char **notes;
    size_t n_notes, cap_notes;
};

/* Each returns the new entry's index within this setup. A device without a type gets its kind's. */
size_t collector_add_device(struct collector_setup *s, struct device d);
size_t collector_add_channel(struct collector_setup *s, struct channel c);
void collector_note(struct collector_setup *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void collector_setup_release(struct collector_setup *s);

/* Where read() puts what it saw. */
struct sample_sink {
    void (*put)(struct sample_sink *self, size_t channel, mono_ns before, mono_ns after,
                double value);
};

/* One value: `channel` is the index that collector_add_channel gave, `before` and `after` the clock
 * around the read (or the source's own stamp twice). Values of a counter are raw: joules as shown,
 * wraps and all. A NAN is "absent this time" and the same as not calling it. A source with its own
 * history (a driver's ring) may put several values of one channel, oldest first. */
static inline void sample_put(struct sample_sink *out, size_t channel, mono_ns before,
                              mono_ns after, double value)
{
    out->put(out, channel, before, after, value);
}

struct collector_ops {
    struct plugin plugin;
    /* Required. */
    int (*open)(struct collector_setup *setup, void **ret_ctx, struct err *err);
    /* Required. Reads every channel once, back to back, no allocation. A channel that fails is not
     * put; negative only when the whole source failed this time. */
    int (*read)(void *ctx, struct sample_sink *out, struct err *err);
    /* Required. */
    void (*close)(void *ctx);
    /* The value is a model's, not a sensor's: in `auto` it is used only when nothing measures the
     * CPU. */
    bool estimates;
};

extern const struct registry collectors;

/* The ops of this id. */
const struct collector_ops *collector_find(const char *id, struct err *err);

/* A `check` for plugin.h: opens and closes it on this machine; the words of a failure are split at
 * "; " into reason and remedy. Each collector's check slot is a one-line function calling this. */
void collector_check(const struct collector_ops *ops, struct plugin_status *ret);

#endif
