/*
 * gauges: what the sensors other than the energy meters said in a window, and what in it casts
 * doubt on the energy.
 *
 * Several GPUs are one machine here: memory adds up, utilisation is averaged, the temperature is
 * the hottest's.
 */
#ifndef IPW_RUN_GAUGES_H
#define IPW_RUN_GAUGES_H

#include "core/record.h"
#include "record/build.h"
#include "telemetry/sampler.h"

struct gauges;

/* What is normal on this machine is taken from [a, b], before the first query: processes that are
 * on a GPU then are expected to be there. */
struct gauges *gauges_new(struct sampler *s, mono_ns a, mono_ns b);
void gauges_free(struct gauges *g);

void gauges_of_window(struct gauges *g, mono_ns a, mono_ns b, struct build_gauges *ret);
/* Adds to the record what the sensors give as reasons to doubt it: throttled, power_limit_changed,
 * foreign_process, on_battery, counter_reset. */
void gauges_judge(struct gauges *g, mono_ns a, mono_ns b, struct record *r);

#endif
