/*
 * NVIDIA GPUs through NVML, the library behind nvidia-smi, loaded at run time.
 *
 * Opening goes: library, driver, GPUs, which of them count, their sensors. Each step that fails has
 * its own words. The GPUs that count are those that the program under test can see: NVML itself
 * shows all of the machine's whatever CUDA_VISIBLE_DEVICES says, so the variable is read here by
 * CUDA's rules, and the others are named in a note.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/dl.h"
#include "telemetry/nvml_gpu.h"
#include "telemetry/vendor.h"
#include "telemetry/visible.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GPUS_MAX 256

struct nvml {
    struct dl lib;
    struct nvml_api api;
    bool initialised;
    struct stamp_anchor anchor;
    struct nvml_gpu *gpus;
    size_t n_gpus;
};

static const struct dl_symbol symbols[] = {
#define NVML_SYMBOL(kind, type, member, symbol, parameters) \
    DL_##kind(struct nvml_api, member, #symbol),
    NVML_API(NVML_SYMBOL)
#undef NVML_SYMBOL
        {0}};

static void nvml_close(void *ctx)
{
    struct nvml *n = ctx;

    if (!n)
        return;
    for (size_t i = 0; i < n->n_gpus; i++)
        nvml_gpu_release(&n->gpus[i]);
    free(n->gpus);
    if (n->initialised)
        n->api.shutdown();
    dl_release(&n->lib);
    free(n);
}

DEFINE_AUTO_PTR(nvml, nvml_close);

static const char *error_words(const struct nvml *n, int code)
{
    const char *words = n->api.error_string ? n->api.error_string(code) : NULL;

    return words ? words : "unknown error";
}

/* What NVML said when it could not start, as one of ours. */
static int init_error(const struct nvml *n, int code, struct err *err)
{
    static const struct {
        int nvml;
        int code;
        const char *remedy;
    } known[] = {
        {NVML_ERROR_DRIVER_NOT_LOADED, ENXIO,
         "load it with: modprobe nvidia (in a container: start that with --gpus all)"},
        {NVML_ERROR_NO_PERMISSION, EACCES, "give this user access to /dev/nvidiactl"},
        {NVML_ERROR_LIB_RM_VERSION_MISMATCH, EPROTO,
         "restart the machine or reload the nvidia modules, so that both are of one version"},
        {NVML_ERROR_OPERATING_SYSTEM, EACCES, "allow /dev/nvidia* in this container or cgroup"},
        {NVML_ERROR_GPU_IS_LOST, EIO, "reset the GPU or restart the machine"},
    };

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].nvml == code)
            return err_set(err, known[i].code, "NVML: %s; %s", error_words(n, code),
                           known[i].remedy);
    return err_set(err, EIO, "NVML: %s (%d); see what nvidia-smi says", error_words(n, code), code);
}

static int start(struct nvml *n, const char *path, struct err *err)
{
    static const char *const usual[] = {"libnvidia-ml.so.1", "libnvidia-ml.so", NULL};
    const char *const given[] = {path, NULL};
    int r = vendor_load(&n->lib, path ? given : usual, symbols, &n->api, err);

    if (r < 0)
        return r;
    r = n->api.init();
    if (r == NVML_ERROR_GPU_NOT_FOUND)
        return err_set(err, ENODEV, "NVML: %s", error_words(n, r));
    if (r != NVML_SUCCESS)
        return init_error(n, r, err);
    n->initialised = true;
    return 0;
}

static void describe(const struct nvml *n, struct nvml_gpu *gpu)
{
    char text[97] = "NVIDIA GPU"; /* one more than the library is told of */

    if (gpu->handle && n->api.name)
        n->api.name(gpu->handle, text, sizeof(text) - 1);
    vendor_text(gpu->name, sizeof(gpu->name), text);
    memset(text, 0, sizeof(text));
    if (gpu->handle && n->api.uuid)
        n->api.uuid(gpu->handle, text, sizeof(text) - 1);
    vendor_text(gpu->uuid, sizeof(gpu->uuid), text);
}

static int enumerate(struct nvml *n, struct collector_setup *setup, struct err *err)
{
    unsigned int count = 0;
    int r = n->api.count(&count);

    if (r != NVML_SUCCESS)
        return init_error(n, r, err);
    if (count == 0)
        return err_set(err, ENODEV, "NVML sees no GPU");
    n->n_gpus = count < GPUS_MAX ? count : GPUS_MAX;
    n->gpus = xcalloc(n->n_gpus, sizeof(*n->gpus));
    for (unsigned int i = 0; i < n->n_gpus; i++) {
        struct nvml_gpu *gpu = &n->gpus[i];

        gpu->index = i;
        r = n->api.by_index(i, &gpu->handle);
        if (r != NVML_SUCCESS) {
            gpu->handle = NULL;
            collector_note(setup, "GPU %u cannot be read: %s", i, error_words(n, r));
        }
        describe(n, gpu);
    }
    return 0;
}

/* The GPU whose UUID begins with this text, when there is exactly one; else NULL. */
static struct nvml_gpu *by_uuid(struct nvml *n, const char *text, size_t len)
{
    struct nvml_gpu *found = NULL;

    for (size_t i = 0; i < n->n_gpus; i++) {
        if (strncmp(n->gpus[i].uuid, text, len) != 0)
            continue;
        if (found)
            return NULL;
        found = &n->gpus[i];
    }
    return found;
}

/* MIG-<uuid>, or the older MIG-GPU-<uuid of the parent>/<instance>/<instance>. */
static struct nvml_gpu *by_mig(struct nvml *n, const char *entry)
{
    struct nvml_device *mig, *parent;
    char uuid[97] = "";

    if (strncmp(entry, "MIG-GPU-", 8) == 0 && strchr(entry, '/'))
        return by_uuid(n, entry + 4, strcspn(entry + 4, "/"));
    if (!n->api.by_uuid || !n->api.mig_parent || !n->api.uuid ||
        n->api.by_uuid(entry, &mig) != NVML_SUCCESS ||
        n->api.mig_parent(mig, &parent) != NVML_SUCCESS ||
        n->api.uuid(parent, uuid, sizeof(uuid) - 1) != NVML_SUCCESS)
        return NULL;
    return by_uuid(n, uuid, strlen(uuid));
}

static struct nvml_gpu *by_entry(struct nvml *n, const char *entry)
{
    int index = visible_index(entry, n->n_gpus);

    if (index >= 0)
        return &n->gpus[index];
    if (strncmp(entry, "GPU-", 4) == 0)
        return by_uuid(n, entry, strlen(entry));
    if (strncmp(entry, "MIG-", 4) == 0)
        return by_mig(n, entry);
    return NULL;
}

/* A number means the same GPU to CUDA and to NVML only if all are alike or CUDA was told to number
 * them as NVML does. */
static void note_order(const struct nvml *n, struct collector_setup *setup)
{
    const char *order = getenv("CUDA_DEVICE_ORDER");

    if (order && strcmp(order, "PCI_BUS_ID") == 0)
        return;
    for (size_t i = 1; i < n->n_gpus; i++) {
        if (strcmp(n->gpus[i].name, n->gpus[0].name) == 0)
            continue;
        collector_note(setup, "different GPUs: CUDA may number them in another order than NVML; "
                              "set CUDA_DEVICE_ORDER=PCI_BUS_ID or list UUIDs");
        return;
    }
}

static void note_hidden(const struct nvml *n, struct collector_setup *setup)
{
    char list[400] = "";
    size_t len = 0;

    for (size_t i = 0; i < n->n_gpus; i++) {
        if (n->gpus[i].counted || len >= sizeof(list))
            continue;
        len += (size_t)snprintf(list + len, sizeof(list) - len, "%s GPU %zu (%s)", len ? "," : "",
                                i, n->gpus[i].name);
    }
    if (len)
        collector_note(setup, "not counted because of CUDA_VISIBLE_DEVICES:%s", list);
}

/* Marks the GPUs that count. As in CUDA, the list ends at the first entry that names none. */
static int choose(struct nvml *n, struct collector_setup *setup, struct err *err)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    bool all = visible_all(text), numbered = false, any = false;
    char entry[128];

    for (size_t i = 0; i < n->n_gpus && all; i++)
        n->gpus[i].counted = true;
    while (!all && visible_next(&text, entry, sizeof(entry))) {
        struct nvml_gpu *gpu = by_entry(n, entry);

        if (!gpu) {
            collector_note(setup,
                           "CUDA_VISIBLE_DEVICES: there is no GPU \"%.60s\"; the list ends "
                           "there, as it does for CUDA",
                           entry);
            break;
        }
        numbered = numbered || visible_index(entry, n->n_gpus) >= 0;
        gpu->shared = strncmp(entry, "MIG-", 4) == 0 && (gpu->shared || !gpu->counted);
        gpu->counted = any = true;
    }
    if (!all && !any)
        return err_set(err, ENODEV,
                       "CUDA_VISIBLE_DEVICES leaves no GPU; unset it, or list those "
                       "that the server uses");
    if (numbered)
        note_order(n, setup);
    if (!all)
        note_hidden(n, setup);
    return 0;
}

static int declare(struct nvml *n, struct collector_setup *setup, struct err *err)
{
    size_t first = setup->n_channels;

    for (size_t i = 0; i < n->n_gpus; i++) {
        struct nvml_gpu *gpu = &n->gpus[i];
        size_t channels = setup->n_channels;

        if (!gpu->counted || !gpu->handle)
            continue;
        nvml_gpu_declare(gpu, &n->api, &n->anchor, setup);
        if (gpu->lost)
            collector_note(setup, "GPU %u (%s) is lost; reset it or restart the machine",
                           gpu->index, gpu->name);
        else if (setup->n_channels == channels)
            collector_note(setup, "GPU %u (%s) has no sensor that can be read", gpu->index,
                           gpu->name);
        else if (gpu->shared)
            collector_note(setup,
                           "GPU %u (%s): its energy is the whole GPU's, shared by all MIG "
                           "instances on it",
                           gpu->index, gpu->name);
    }
    if (setup->n_channels == first)
        return err_set(err, EIO, "NVML: no GPU can be read; see what nvidia-smi says");
    return 0;
}

static int nvml_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    AUTO_PTR(nvml) struct nvml *n = xcalloc(1, sizeof(*n));
    int r = start(n, setup->env->nvml_lib, err);

    if (r < 0)
        return vendor_blame(setup->env->sysfs_root, "0x10de", "NVIDIA", r, err);
    stamp_anchor_refresh(&n->anchor);
    r = enumerate(n, setup, err);
    if (r == 0)
        r = choose(n, setup, err);
    if (r == 0)
        r = declare(n, setup, err);
    if (r == 0)
        *ret_ctx = STEAL(n);
    return r;
}

static int nvml_read(void *ctx, struct sample_sink *out, struct err *err)
{
    struct nvml *n = ctx;
    int error = NVML_SUCCESS, put = 0, r;

    stamp_anchor_refresh(&n->anchor);
    /* Energy of all GPUs back to back, so that their sum is of one moment. */
    for (size_t i = 0; i < n->n_gpus; i++) {
        if (!n->gpus[i].counted || !n->gpus[i].handle || n->gpus[i].lost)
            continue;
        r = nvml_gpu_read_energy(&n->gpus[i], &n->api, &n->anchor, out, &put);
        error = r ? r : error;
    }
    for (size_t i = 0; i < n->n_gpus; i++) {
        if (!n->gpus[i].counted || !n->gpus[i].handle || n->gpus[i].lost)
            continue;
        r = nvml_gpu_read_gauges(&n->gpus[i], &n->api, out, &put);
        error = r ? r : error;
    }
    if (put == 0)
        return err_set(err, EIO, "NVML: %s",
                       error_words(n, error ? error : NVML_ERROR_GPU_IS_LOST));
    return 0;
}

static void nvml_check(struct plugin_status *ret);

const struct collector_ops nvml_ops = {
    .plugin =
        {
            .id = "nvml",
            .help = "NVIDIA GPUs: energy, power, memory, utilisation, temperature, clocks",
            .check = nvml_check,
        },
    .open = nvml_open,
    .read = nvml_read,
    .close = nvml_close,
};

static void nvml_check(struct plugin_status *ret)
{
    collector_check(&nvml_ops, ret);
}
