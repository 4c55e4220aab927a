/*
 * nvml_gpu: the sensors of one NVIDIA GPU.
 *
 * nvml.c finds the GPUs and decides which are counted; this file knows what can be read from one.
 * A sensor is declared only when it could be read once, so that the channel table says what this
 * GPU really has.
 */
#ifndef IPW_TELEMETRY_NVML_GPU_H
#define IPW_TELEMETRY_NVML_GPU_H

#include "telemetry/collector.h"
#include "telemetry/nvml_api.h"
#include "telemetry/stamp.h"

#include <stdbool.h>
#include <stddef.h>

#define NVML_NO_CHANNEL ((size_t)-1)
#define NVML_GAUGES     7

/* Which of two ways leads to the energy counter and to the power. */
enum nvml_way { NVML_WAY_NONE, NVML_WAY_FIELD, NVML_WAY_CALL };

/* The driver's own history of power. */
struct nvml_ring {
    size_t channel;
    struct nvml_sample *samples;
    unsigned int cap;
    unsigned long long last_us; /* the newest sample fetched */
    mono_ns last;               /* the newest put, or when the ring was opened */
    mono_ns heard;              /* the newest put that came from the ring */
};

struct nvml_gpu {
    struct nvml_device *handle; /* NULL: could not be had */
    unsigned int index;
    char name[96];
    char uuid[96];
    bool counted;
    bool shared; /* only MIG instances of it are visible */
    bool lost;   /* fell off the bus: not asked again */

    enum nvml_way energy_way, power_way;
    size_t energy, power;
    struct stamp_counter stamps;
    struct nvml_ring ring;
    size_t gauges[NVML_GAUGES][2];
    mono_ns slow_due;
};

/* Asks every sensor once and declares the device and the channels of those that answered. */
void nvml_gpu_declare(struct nvml_gpu *gpu, const struct nvml_api *api,
                      const struct stamp_anchor *anchor, struct collector_setup *setup);

/* Each puts what it could read and returns the last NVML error, 0 when there was none; *put grows
 * by the values put. */
int nvml_gpu_read_energy(struct nvml_gpu *gpu, const struct nvml_api *api,
                         const struct stamp_anchor *anchor, struct sample_sink *out, int *put);
int nvml_gpu_read_gauges(struct nvml_gpu *gpu, const struct nvml_api *api, struct sample_sink *out,
                         int *put);

void nvml_gpu_release(struct nvml_gpu *gpu);

#endif
