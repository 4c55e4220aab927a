/*
 * meter: the collectors of this machine, sampled, and what they add up to.
 *
 * Which collectors to open is said by a list: "auto" (all that are there; the CPU model only when
 * nothing measures the CPU), "none", or ids separated by commas (then each must work). What could
 * not be used is kept with its reason and remedy.
 *
 * A rail's energy is the sum over its devices. Where two sensors see the same thing only one
 * counts: of the rails other than the GPUs' the first collector that has it, of the GPUs the first
 * that knows the device. A rail with an estimated part is estimated as a whole, and never mixed
 * with a measured one.
 *
 *     r = meter_open(&options, &m, &err);
 *     meter_settle(m);                      the first refresh of every counter has been seen
 *     a = mono_now(); ... b = mono_now();
 *     meter_wait(m, b);
 *     meter_rails(m, a, b, rails);
 *     meter_close(m);
 */
#ifndef IPW_RUN_METER_H
#define IPW_RUN_METER_H

#include "base/json.h"
#include "core/channel.h"
#include "core/kv.h"
#include "record/energy.h"
#include "telemetry/sampler.h"

#include <stdbool.h>
#include <stddef.h>

struct meter_options {
    const char *collectors; /* "auto", "none", "rapl,nvml" */
    mono_ns period_ns;
    bool fixed_period;
    const struct kv_list *params; /* "estimate.tdp_watts=65"; NULL = none */
};

enum collector_state { COLLECTOR_USED, COLLECTOR_ABSENT, COLLECTOR_FAILED, COLLECTOR_NOT_WANTED };

struct collector_report {
    const char *id;
    enum collector_state state;
    char reason[ERR_TEXT_MAX];
    char remedy[ERR_TEXT_MAX];
};

struct meter;

/* Opens and starts. Without any usable collector it still succeeds: then there are no channels. */
int meter_open(const struct meter_options *options, struct meter **ret, struct err *err);
void meter_close(struct meter *m);

struct sampler *meter_sampler(struct meter *m);
size_t meter_reports(const struct meter *m, const struct collector_report **ret);
/* Whether the channel enters its rail's sum. */
bool meter_counts(const struct meter *m, size_t channel);

/* Waits until every counter has changed twice, at most about a second. */
void meter_settle(struct meter *m);
/* Waits until windows that end at t can be built. */
void meter_wait(struct meter *m, mono_ns t);

struct rail_energy {
    bool present; /* some channel feeds it */
    bool estimated;
    struct energy energy;
    struct stat4
        power_w; /* of the sum: avg is energy over time; peak and others of one device only */
};

/* All rails over [a, b]; ret has RAIL_COUNT entries. */
void meter_rails(struct meter *m, mono_ns a, mono_ns b, struct rail_energy *ret);

/* The same over a query's time, and of its two parts, which meet at `first`. Without time in it,
 * or without a `first` (MONO_ABSENT), a part is not known. */
struct rail_phases {
    struct rail_energy whole;
    struct energy prefill, decode;
};
void meter_phases(struct meter *m, mono_ns a, mono_ns first, mono_ns b, struct rail_phases *ret);

/* The first of the GPUs, NULL = none; how many there are goes to ret_n unless NULL. */
const struct device *meter_gpu(const struct meter *m, int *ret_n);
/* What is known of the machine, whatever collectors are used. */
const struct system_info *meter_system(const struct meter *m);

/* "measured", "estimated" or "none": where the energy of these rails comes from. */
const char *meter_source(const struct rail_energy *rails);

/* How each device's energy counter and its integrated power agree over [a, b]: their quotient, NAN
 * where it has not both. ret has one entry per device of the sampler. */
void meter_agreement(struct meter *m, mono_ns a, mono_ns b, double *ret);
/* The same as member `agreement` of a JSON object. */
void meter_describe_agreement(struct meter *m, const double *ratios, struct json_writer *w);

/* The tables of collectors and channels as members of a JSON object: for doctor and summary.json.
 */
void meter_describe(struct meter *m, struct json_writer *w);

#endif
