/*
 * plot: figures of runs behind one ops struct.
 *
 *     const struct plot_ops *p = plot_find("power_trace", &err);
 *     r = plot_render(p, runs, n_runs, &options, &out, &err);       bytes of a PNG, SVG or PDF
 *
 * A figure that has nothing to show is -ENODATA with words for the person, never an empty picture.
 * Where the energy in it is estimated, the figure says so itself.
 *
 * To add one: write src/plot/<name>.c with the ops at its bottom and name it in registry.c.
 */
#ifndef IPW_PLOT_PLOT_H
#define IPW_PLOT_PLOT_H

#include "analysis/run.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/plugin.h"

#include <stdbool.h>
#include <stddef.h>

enum plot_format { PLOT_PNG, PLOT_SVG, PLOT_PDF };

struct plot_options {
    enum plot_format format;
    bool dark;
    /* 0 = the figure's own. CSS pixels; a PNG has twice as many dots each way. */
    double width_px, height_px;
};

struct chart; /* plot/chart.h: the paper, axes and marks */

struct plot_ops {
    struct plugin plugin;
    bool several; /* one figure of all the runs together; else one of each run */
    /* Draws on the chart. -ENODATA: nothing to show. Reads the runs from their first record. */
    int (*draw)(struct chart *c, struct run *const *runs, size_t n_runs, struct err *err);
};

extern const struct registry plots;
const struct plot_ops *plot_find(const char *id, struct err *err);

/* Appends the figure's file to ret. */
int plot_render(const struct plot_ops *p, struct run *const *runs, size_t n_runs,
                const struct plot_options *options, struct buf *ret, struct err *err);

#endif
