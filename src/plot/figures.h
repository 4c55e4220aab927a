/* figures: the figures there are; for registry.c. */
#ifndef IPW_PLOT_FIGURES_H
#define IPW_PLOT_FIGURES_H

#include "plot/plot.h"

extern const struct plot_ops plot_latency_cdf;

#endif
