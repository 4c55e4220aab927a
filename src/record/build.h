/*
 * build: one query's record, from what was asked, what came back and what was measured.
 *
 *     struct build_input in = {.item = item, .response = &response, ...};
 *     build_record(&in, &record);
 *
 * Which rails count. Figures per token, efficiency, cost, bounds and net energy are those of the
 * basis, chosen for a whole run by the sensors there are (build_basis), never by what happened to
 * be known for one query, so that all records of a run mean the same:
 *
 *     soc       the whole board or package is metered (a Jetson's input, psys, or Apple's GPU, CPU
 *               and ANE together) and no discrete GPU is: psys does not see a card in a slot
 *     gpu+cpu   GPUs and CPU packages are metered
 *     gpu, cpu  only these are
 *
 * A measured basis has no estimated part: with a measured GPU and a modelled CPU it is "gpu". The
 * fields of the single rails (per_query_joules is the GPU's, cpu_per_query_joules the CPU
 * packages') are filled whatever the basis; soc contains the others and is never added to them.
 *
 * Overlap. A query that was alone has the meter's energy of its window, as the account settled it
 * (so that records and idle add up to the meter without exception). One that was not has its
 * share by tokens, and the other rule's figure beside it. Its bounds take the smaller and larger of
 * both, widened as the meter's own bounds are: the truth may still lie outside, as no rule is
 * exact. Power, temperature, memory and utilisation are those of the devices in its time, not of
 * the query.
 *
 * Net energy is the basis less the idle power over the query's time (its part of it, where it was
 * not alone). It may be slightly negative; it is not cut at 0.
 *
 * A failed query keeps its energy and has no tokens, latencies or phases.
 *
 * Pure; any thread. Texts in the record are borrowed from the input and live as long as it does.
 */
#ifndef IPW_RECORD_BUILD_H
#define IPW_RECORD_BUILD_H

#include "core/channel.h"
#include "core/item.h"
#include "core/record.h"
#include "core/response.h"
#include "record/attribution.h"
#include "record/energy.h"

#include <stdbool.h>
#include <stdint.h>

/* With fewer changes of a counter in its time a record is degraded. */
#define BUILD_TICKS_MIN 3

enum basis { BASIS_NONE, BASIS_GPU, BASIS_GPU_CPU, BASIS_SOC, BASIS_CPU };

const char *basis_name(enum basis b); /* "gpu", "gpu+cpu", "soc", "cpu"; NULL for none */

/* One rail over the query's time. */
struct build_rail {
    bool present;                          /* this machine has it */
    bool estimated;                        /* modelled, at least in part */
    struct energy energy, prefill, decode; /* the meter's, for all in flight together */
    struct stat4 power_w;
    double idle_w; /* NAN = not measured */
};

struct build_gauges {
    struct stat4 cpu_memory_bytes, gpu_memory_bytes;
    double gpu_memory_total_bytes;
    struct stat4 temperature_c;
    double compute_pct, memory_bandwidth_pct; /* averages */
};

struct build_input {
    const struct item *item;
    const struct response *response;
    struct build_rail rails[RAIL_COUNT];
    enum basis basis;
    const struct attributed *attributed; /* NULL = it was alone */
    struct build_gauges gauges;

    const char *model;
    const struct device *gpu; /* the first; NULL = none */
    int n_gpus;
    const struct system_info *system;

    double price_per_kwh_usd, carbon_g_per_kwh; /* NAN = not told */

    int64_t index, attempts;
    mono_ns run_start, planned; /* planned: MONO_ABSENT = it was not */
};

/* Everything absent. */
void build_input_init(struct build_input *in);
/* By which rails are present, and whether the GPU is a card of its own. */
enum basis build_basis(const struct build_rail *rails, const struct device *gpu);
/* Whether the rail is a part of the basis. `board`: the machine has a meter of the whole
 * (RAIL_SOC); where it has none, the basis "soc" is the sum of its parts. */
bool basis_counts(enum basis b, enum rail rail, bool board);
/* Fills all of *ret; not scored, and with the reasons that can be seen from the input. */
void build_record(const struct build_input *in, struct record *ret);

#endif
