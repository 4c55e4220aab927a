/*
 * bootstrap: how sure is a figure that was computed from these records?
 *
 * For figures that are functions of sums over records: a mean (sum of x / how many), a ratio of
 * sums (joules per correct answer), accuracy / mean joules. A record is a row of numbers, one per
 * column; a figure is made from the columns' sums.
 *
 *     enum { CORRECT, SCORED, JOULES, KNOWN_J, N_COLUMNS };
 *     static void figures(void *arg, const double *sums, double *ret)
 *     {
 *         ret[0] = sums[CORRECT] / sums[SCORED];
 *         ret[1] = sums[JOULES] / sums[CORRECT];
 *     }
 *
 *     AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(N_COLUMNS);
 *     while (next record) {
 *         double row[N_COLUMNS] = {record->correct == 1, record->correct >= 0};
 *         bootstrap_put(row + JOULES, record_joules(record));      JOULES and KNOWN_J
 *         bootstrap_add(&s, row);
 *     }
 *     struct interval ret[2];
 *     bootstrap(&s, 1, &(struct bootstrap_options){.seed = 0}, figures, NULL, ret, 2);
 *
 * Paired: two runs over the same questions are one sample whose rows hold the columns of both, and
 * the figure is a difference. Unpaired: two samples, each drawn from by itself; their sums follow
 * each other in `sums`. Records that belong together (repeats of one question) are one row, their
 * sum (bootstrap_add_to), else repeats would pretend to be new evidence.
 *
 * Method: the ordinary bootstrap. As many rows as there are are drawn with replacement, the figures
 * are computed from the sums of those drawn, and this is repeated; the interval lies between two
 * percentiles of what came out. They would be 2.5 and 97.5, but for few rows that interval is too
 * narrow (n - 1 degrees of freedom, and a variance divided by n), so the percentiles are moved
 * outwards by as much as Student's t for n rows: Hesterberg's expanded percentile interval. At 20
 * rows they are 1.6 and 98.4, at 1 000 rows 2.48 and 97.52. Below about 8 rows even this is too
 * narrow: say so beside the figure. An interval says what other questions of the same kind would
 * give; it does not cover what is wrong with every record alike, such as a sensor's error.
 *
 * The same rows in the same order and the same seed give the same interval on every machine.
 *
 * Absent: a NAN (or infinity) in a row makes every figure of its column NAN. A record in which a
 * value is not known has 0 in its column and 0 in the column that counts: bootstrap_put. A figure
 * that is NAN in a resample (0 / 0) is left out of the percentiles; an infinite one counts, so that
 * joules per correct answer may have an upper end of INFINITY. No interval (low and high NAN) where
 * a sample has fewer than 2 rows, where the figure itself is NAN, or where it was NAN in more than
 * 5 % of the resamples.
 *
 * Memory: at most BOOTSTRAP_ROWS_MAX rows of 8 bytes per column are kept. Later records are added
 * to the rows there are, in turn: rows are then groups of records, which for figures that do not
 * change when every sum is doubled (means, ratios) moves an interval's width by half a percent.
 *
 * Pure: any thread, one sample for one thread at a time.
 */
#ifndef IPW_ANALYSIS_BOOTSTRAP_H
#define IPW_ANALYSIS_BOOTSTRAP_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#define BOOTSTRAP_RESAMPLES     10000
#define BOOTSTRAP_RESAMPLES_MAX 100000
#define BOOTSTRAP_ROWS_MAX      16384

struct interval {
    double value;     /* from the records as they are */
    double low, high; /* 95 %; NAN = none */
};

struct bootstrap_sample {
    size_t n_columns;
    double *cells; /* row after row */
    size_t n_rows, cap_rows;
    size_t n_added;
};

/* No rows yet. n_columns > 0. */
struct bootstrap_sample bootstrap_sample(size_t n_columns);
void bootstrap_sample_release(struct bootstrap_sample *s);

/* One record: n_columns numbers. */
void bootstrap_add(struct bootstrap_sample *s, const double *row);
/* Adds to the row of group `group`; a group of which nothing was added has only zeros, so groups
 * are to be numbered without holes. Not to be mixed with bootstrap_add. */
void bootstrap_add_to(struct bootstrap_sample *s, size_t group, const double *row);

/* Two columns for a value that may not be known: the value and 1, or 0 and 0. */
static inline void bootstrap_put(double *two_cells, double value)
{
    two_cells[0] = isfinite(value) ? value : 0;
    two_cells[1] = isfinite(value) ? 1 : 0;
}

struct bootstrap_options {
    uint64_t seed;
    size_t resamples; /* 0 = BOOTSTRAP_RESAMPLES; at most BOOTSTRAP_RESAMPLES_MAX */
};

/* Computes the figures from the sums of the columns of all samples, one sample after the other. */
typedef void bootstrap_figures(void *arg, const double *sums, double *ret);

/* The figures, n_ret of them, with their intervals. */
void bootstrap(const struct bootstrap_sample *samples, size_t n_samples,
               const struct bootstrap_options *options, bootstrap_figures *figures, void *arg,
               struct interval *ret, size_t n_ret);

#endif
