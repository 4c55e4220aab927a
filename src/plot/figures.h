/* figures: the figures there are; for registry.c. */
#ifndef IPW_PLOT_FIGURES_H
#define IPW_PLOT_FIGURES_H

#include "plot/plot.h"

extern const struct plot_ops plot_ttft, plot_latency, plot_energy, plot_power;
extern const struct plot_ops plot_output_kde;
extern const struct plot_ops plot_power_trace;
extern const struct plot_ops plot_latency_cdf;
extern const struct plot_ops plot_energy_per_token;
extern const struct plot_ops plot_accuracy_by_subject;
extern const struct plot_ops plot_efficiency_frontier;
extern const struct plot_ops plot_sweep;

#endif
