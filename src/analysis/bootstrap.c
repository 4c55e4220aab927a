/*
 * A resample is a count per row, how often it was drawn; its sums are the counts times the rows.
 * Drawing and summing are apart because each is then fast: the counts of one resample fit the
 * first-level cache, and the rows are read in order, once for LANES resamples at a time, by a loop
 * that compilers turn into vector instructions. Gathering the drawn rows instead would miss the
 * cache on nearly every one.
 *
 * An index is the upper half of (32 random bits) * n. That favours some rows by at most n / 2^32,
 * 4e-6 for as many rows as are kept, which no number of resamples here could show.
 */
#include "analysis/bootstrap.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/rng.h"
#include "core/stats.h"

#include <assert.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* equal sums everywhere; gcc does not fuse with -std=c11 */
#endif

#define LANES 8   /* resamples at a time; even */
#define CHUNK 256 /* rows at a time: their weights are 16 KiB */
#define DRAWS 512 /* random words at a time */

_Static_assert(BOOTSTRAP_ROWS_MAX <= UINT16_MAX, "a row may be drawn every time");

struct bootstrap_sample bootstrap_sample(size_t n_columns)
{
    assert(n_columns > 0);
    return (struct bootstrap_sample){.n_columns = n_columns};
}

void bootstrap_sample_release(struct bootstrap_sample *s)
{
    free(s->cells);
    *s = (struct bootstrap_sample){.n_columns = s->n_columns};
}

void bootstrap_add_to(struct bootstrap_sample *s, size_t group, const double *row)
{
    size_t at = group % BOOTSTRAP_ROWS_MAX;
    double *cells;

    if (at >= s->cap_rows) {
        s->cap_rows = at < 32 ? 64 : 2 * at < BOOTSTRAP_ROWS_MAX ? 2 * at : BOOTSTRAP_ROWS_MAX;
        s->cells = xreallocarray(s->cells, s->cap_rows * s->n_columns, sizeof(*s->cells));
    }
    if (at >= s->n_rows) {
        memset(s->cells + s->n_rows * s->n_columns, 0,
               (at + 1 - s->n_rows) * s->n_columns * sizeof(*s->cells));
        s->n_rows = at + 1;
    }
    cells = s->cells + at * s->n_columns;
    for (size_t k = 0; k < s->n_columns; k++)
        cells[k] += row[k];
    s->n_added++;
}

void bootstrap_add(struct bootstrap_sample *s, const double *row)
{
    bootstrap_add_to(s, s->n_added, row);
}

/* How often each of n rows was drawn in n draws. */
static void draw(struct rng *rng, uint16_t *counts, size_t n)
{
    uint64_t words[DRAWS];

    memset(counts, 0, n * sizeof(*counts));
    for (size_t left = n; left > 0;) {
        size_t now = left < 2 * DRAWS ? left : 2 * DRAWS;

        rng_fill(rng, words, (now + 1) / 2);
        for (size_t i = 0; i < now / 2; i++) {
            counts[((words[i] & UINT32_MAX) * n) >> 32]++;
            counts[((words[i] >> 32) * n) >> 32]++;
        }
        if (now % 2)
            counts[((words[now / 2] & UINT32_MAX) * n) >> 32]++;
        left -= now;
    }
}

/* Two doubles that are computed together: the width every 64-bit x86 and ARM has. A vector type of
 * the compilers, because left alone they vectorise the loop below along the wrong side. */
struct two {
    double v __attribute__((vector_size(16)));
};
#define TWOS (LANES / 2)

/* For two columns: sums[lane] += their n values times the weights in that lane. */
static void add_columns(const struct two *weights, const double *x, const double *y, size_t n,
                        struct two *x_sums, struct two *y_sums)
{
    struct two xs[TWOS], ys[TWOS];

    memcpy(xs, x_sums, sizeof(xs));
    memcpy(ys, y_sums, sizeof(ys));
    for (size_t i = 0; i < n; i++, weights += TWOS)
        for (size_t j = 0; j < TWOS; j++) {
            xs[j].v += weights[j].v * x[i];
            ys[j].v += weights[j].v * y[i];
        }
    memcpy(x_sums, xs, sizeof(xs));
    memcpy(y_sums, ys, sizeof(ys));
}

/* A sample prepared for being drawn from. */
struct source {
    size_t n_rows, n_columns;
    size_t *place;    /* of each of the sample's columns: which column below */
    double *columns;  /* column after column; one of zeros makes their number even */
    uint16_t *counts; /* lane after lane, one per row */
    struct two *sums; /* column after column, LANES each */
};

/* Adds one column, unless it is there already: how many values are known is often the same for
 * many of them. Returns its place. */
static size_t source_add_column(struct source *src, const struct bootstrap_sample *s, size_t column)
{
    double *to = src->columns + src->n_columns * src->n_rows;

    for (size_t i = 0; i < s->n_rows; i++)
        to[i] = s->cells[i * s->n_columns + column];
    for (size_t k = 0; k < src->n_columns; k++)
        if (memcmp(src->columns + k * src->n_rows, to, src->n_rows * sizeof(*to)) == 0) {
            memset(to, 0, src->n_rows * sizeof(*to));
            return k;
        }
    return src->n_columns++;
}

static void source_init(struct source *src, const struct bootstrap_sample *s)
{
    size_t even = s->n_columns + s->n_columns % 2;

    src->n_rows = s->n_rows;
    src->place = xcalloc(s->n_columns, sizeof(*src->place));
    src->columns = xcalloc(s->n_rows * even, sizeof(*src->columns));
    src->counts = xcalloc(s->n_rows * LANES, sizeof(*src->counts));
    src->sums = xcalloc_aligned(sizeof(struct two), even * TWOS, sizeof(*src->sums));
    for (size_t k = 0; k < s->n_columns; k++)
        src->place[k] = source_add_column(src, s, k);
}

static void source_release(struct source *src)
{
    free(src->place);
    free(src->columns);
    free(src->counts);
    free(src->sums);
}

/* The counts of n rows from `from` on, as weights[row][lane]. */
static void set_weights(const struct source *src, size_t from, size_t n, struct two *weights)
{
    for (size_t j = 0; j < TWOS; j++) {
        const uint16_t *a = src->counts + 2 * j * src->n_rows + from, *b = a + src->n_rows;

        for (size_t i = 0; i < n; i++) {
            weights[i * TWOS + j].v[0] = a[i];
            weights[i * TWOS + j].v[1] = b[i];
        }
    }
}

/* The sums of LANES resamples. */
static void source_resample(struct source *src, struct rng *rng)
{
    struct two weights[CHUNK * TWOS];

    for (size_t lane = 0; lane < LANES; lane++)
        draw(rng, src->counts + lane * src->n_rows, src->n_rows);
    for (size_t k = 0; k < src->n_columns * TWOS; k++)
        src->sums[k] = (struct two){0};
    for (size_t from = 0; from < src->n_rows; from += CHUNK) {
        size_t n = src->n_rows - from < CHUNK ? src->n_rows - from : CHUNK;

        set_weights(src, from, n, weights);
        for (size_t k = 0; k < src->n_columns; k += 2) {
            const double *x = src->columns + k * src->n_rows + from;

            add_columns(weights, x, x + src->n_rows, n, src->sums + k * TWOS,
                        src->sums + (k + 1) * TWOS);
        }
    }
}

/* The share of resamples below the lower end. Student's t for n - 1 degrees of freedom from the
 * normal quantile z by Cornish and Fisher's expansion (the numbers are its polynomials at z), the
 * root makes up for a bootstrap's variance being divided by n, not n - 1. */
static double tail_share(size_t n)
{
    double v = (double)n - 1;
    double t = 1.959963985 + (2.372271 + (2.822499 + (2.555850 + 1.589534 / v) / v) / v) / v;

    return erfc(t * sqrt((double)n / v) / sqrt(2)) / 2;
}

/* Of sorted values, linearly between two neighbours; either may be infinite. */
static double quantile(const double *sorted, size_t n, double share)
{
    double at = share * (double)(n - 1), below = floor(at), part = at - below;
    size_t i = (size_t)below;

    if (part == 0 || sorted[i] == sorted[i + 1])
        return sorted[i];
    return sorted[i] + part * (sorted[i + 1] - sorted[i]);
}

static void set_ends(struct interval *interval, double *values, size_t n, double tail)
{
    size_t known = stats_sort(values, n);

    if (isnan(interval->value) || (double)known < 0.95 * (double)n)
        return;
    interval->low = quantile(values, known, tail);
    interval->high = quantile(values, known, 1 - tail);
}

/* The figures of the records as they are; returns the number of rows of the smallest sample. */
static size_t figures_now(const struct bootstrap_sample *samples, size_t n_samples,
                          bootstrap_figures *figures, void *arg, double *sums, double *values)
{
    size_t at = 0, fewest = SIZE_MAX;

    for (size_t s = 0; s < n_samples; s++) {
        for (size_t k = 0; k < samples[s].n_columns; k++, at++) {
            sums[at] = 0;
            for (size_t i = 0; i < samples[s].n_rows; i++)
                sums[at] += samples[s].cells[i * samples[s].n_columns + k];
        }
        if (samples[s].n_rows < fewest)
            fewest = samples[s].n_rows;
    }
    figures(arg, sums, values);
    return fewest;
}

/* The sums of one lane, of one sample after the other. */
static void take_sums(const struct bootstrap_sample *samples, const struct source *sources,
                      size_t n_samples, size_t lane, double *sums)
{
    for (size_t s = 0; s < n_samples; s++)
        for (size_t k = 0; k < samples[s].n_columns; k++)
            *sums++ = sources[s].sums[sources[s].place[k] * TWOS + lane / 2].v[lane % 2];
}

/* values[figure * resamples + resample] */
static void resample_all(const struct bootstrap_sample *samples, struct source *sources,
                         size_t n_samples, const struct bootstrap_options *options,
                         bootstrap_figures *figures, void *arg, double *sums, double *values,
                         size_t n_ret)
{
    struct rng rng = rng_seed(options->seed, RNG_STREAM_BOOTSTRAP);
    AUTO_FREE double *one = xcalloc(n_ret, sizeof(*one));

    for (size_t b = 0; b < options->resamples; b += LANES) {
        for (size_t s = 0; s < n_samples; s++)
            source_resample(&sources[s], &rng);
        for (size_t lane = 0; lane < LANES && b + lane < options->resamples; lane++) {
            take_sums(samples, sources, n_samples, lane, sums);
            figures(arg, sums, one);
            for (size_t f = 0; f < n_ret; f++)
                values[f * options->resamples + b + lane] = one[f];
        }
    }
}

void bootstrap(const struct bootstrap_sample *samples, size_t n_samples,
               const struct bootstrap_options *options, bootstrap_figures *figures, void *arg,
               struct interval *ret, size_t n_ret)
{
    struct bootstrap_options o = *options;
    AUTO_FREE struct source *sources = xcalloc(n_samples, sizeof(*sources));
    AUTO_FREE double *values = NULL, *sums = NULL;
    size_t n_columns = 0, fewest;

    o.resamples = o.resamples ? o.resamples : BOOTSTRAP_RESAMPLES;
    assert(n_samples > 0 && n_ret > 0 && o.resamples <= BOOTSTRAP_RESAMPLES_MAX);
    for (size_t s = 0; s < n_samples; s++)
        n_columns += samples[s].n_columns;
    sums = xcalloc(n_columns, sizeof(*sums));
    values = xcalloc(n_ret, o.resamples * sizeof(*values));
    fewest = figures_now(samples, n_samples, figures, arg, sums, values);
    for (size_t f = 0; f < n_ret; f++)
        ret[f] = (struct interval){values[f], NAN, NAN};
    if (fewest < 2)
        return;
    for (size_t s = 0; s < n_samples; s++)
        source_init(&sources[s], &samples[s]);
    resample_all(samples, sources, n_samples, &o, figures, arg, sums, values, n_ret);
    for (size_t f = 0; f < n_ret; f++)
        set_ends(&ret[f], values + f * o.resamples, o.resamples, tail_share(fewest));
    for (size_t s = 0; s < n_samples; s++)
        source_release(&sources[s]);
}
