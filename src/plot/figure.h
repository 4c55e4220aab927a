/*
 * figure: what the figures of one run have in common.
 */
#ifndef IPW_PLOT_FIGURE_H
#define IPW_PLOT_FIGURE_H

#include "analysis/run.h"
#include "base/err.h"
#include "plot/chart.h"

#include <stdbool.h>
#include <stddef.h>

/* Numbers that grow. All zero is empty; figure_values_release. */
struct figure_values {
    double *v;
    size_t n, cap;
};
void figure_values_add(struct figure_values *values, double value);
void figure_values_release(struct figure_values *values);

/* Calls `each` for every record, from the first. Returns 0 or the first failure. */
int figure_each(struct run *run, void (*each)(void *arg, const struct record *r), void *arg,
                struct err *err);

/* Title, and "Model: m  |  Hardware: h" below it. */
void figure_head(struct chart *c, const char *title, struct run *run);
/* The GPU's name, else the CPU's, else "Unknown"; by summary.json or else the first record. The
 * caller frees. */
char *figure_hardware(struct run *run);
/* What a run is called among others: the last part of its directory. The caller frees. */
char *figure_run_name(const struct run *run);

/* The record's energy is modelled. */
bool figure_is_estimated(const struct record *r);

/* The line of an empirical distribution: at every value a step up by its share, at most 2n vertices
 * at x and y, which the caller provides. The values are sorted. Returns the number of vertices. */
size_t figure_cdf(const double *sorted, size_t n, double *x, double *y);
/* "12.3 ms", "4.5 kJ". */
#define FIGURE_TEXT_MAX 48
void figure_quantity(double value, const char *unit, char text[FIGURE_TEXT_MAX]);
/* Student's t that 97.5 % of the distribution with so many degrees of freedom lies below. */
double figure_t95(int64_t degrees);
/* Whether values that range from lo to hi are better shown on a log axis. */
bool figure_wants_log(double lo, double hi);

#endif
