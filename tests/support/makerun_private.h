/*
 * makerun_private: what the files of makerun share.
 */
#ifndef IPW_TESTS_MAKERUN_PRIVATE_H
#define IPW_TESTS_MAKERUN_PRIVATE_H

#include "makerun.h"

#include "base/rng.h"
#include "core/channel.h"
#include "store/rundir.h"

/* What telemetry has to know of a query. */
struct made_query {
    double sent_s, end_s;
    double gpu_w, cpu_w; /* while it was in flight */
};

enum made_metric {
    MADE_ENERGY_J,
    MADE_POWER_W,
    MADE_J_PER_OUTPUT_TOKEN,
    MADE_TTFT_S,
    MADE_TOTAL_S,
    MADE_TOKENS_PER_S,
    MADE_ITL_MEDIAN_MS,
    MADE_INPUT_TOKENS,
    MADE_OUTPUT_TOKENS,
    MADE_GPU_W,
    MADE_CPU_W,
    MADE_TEMPERATURE_C,
    MADE_GPU_MEMORY_MB,
    MADE_CPU_MEMORY_MB,
    MADE_METRICS
};

struct makerun_state {
    const struct makerun *m;
    struct rundir *dir;
    struct rng rng;
    struct device gpu, cpu;
    struct system_info system;
    bool has_energy, has_gpu;
    struct made_query *queries;   /* query i was in lane i % concurrency */
    double *values[MADE_METRICS]; /* of every record; NAN = absent */
    double gpu_j, cpu_j;          /* sums */
    struct run_verdict verdict;
    struct makerun_truth truth;
};

int makerun_telemetry(struct makerun_state *s, struct err *err);
int makerun_summary(struct makerun_state *s, struct err *err);

#endif
