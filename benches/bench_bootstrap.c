/*
 * Resampling: the intervals of a paired comparison of 10 000 records by 10 000 resamples, against
 * a bare loop that adds as many numbers: every record's row to the sums, once per resample, in
 * order and with nothing drawn. Both take turns; the median of the processor time of each counts.
 */
#include "bench_row.h"

#include "analysis/bootstrap.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/rng.h"

#include <time.h>

#define RECORDS 10000
#define ROUNDS  5

/* What ipw compare sums when every value is known: eight of each run, and how many. */
#define FIGURES 8
#define COLUMNS (2 * FIGURES + 1)

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void differences(void *arg, const double *sums, double *ret)
{
    (void)arg;
    for (int f = 0; f < FIGURES; f++)
        ret[f] = sums[f + FIGURES] / sums[COLUMNS - 1] - sums[f] / sums[COLUMNS - 1];
}

static double bare_s(const struct bootstrap_sample *s, double *ret_sum)
{
    double start = cpu_s(), sums[COLUMNS] = {0};

    for (int b = 0; b < BOOTSTRAP_RESAMPLES; b++)
        for (size_t i = 0; i < RECORDS; i++)
            for (size_t k = 0; k < COLUMNS; k++)
                sums[k] += s->cells[i * COLUMNS + k];
    for (int k = 0; k < COLUMNS; k++)
        *ret_sum += sums[k]; /* it is looked at, so it is computed */
    return cpu_s() - start;
}

static double resampled_s(const struct bootstrap_sample *s, double *ret_sum)
{
    struct interval ret[FIGURES];
    double start = cpu_s();

    bootstrap(s, 1, &(struct bootstrap_options){.seed = 1}, differences, NULL, ret, FIGURES);
    *ret_sum += ret[0].low;
    return cpu_s() - start;
}

int main(void)
{
    AUTO(bootstrap_sample) struct bootstrap_sample s = bootstrap_sample(COLUMNS);
    struct rng rng = rng_seed(1, RNG_STREAM_PLAIN);
    double bare[ROUNDS], ours[ROUNDS], sum = 0, limit, median;

    for (int i = 0; i < RECORDS; i++) {
        double row[COLUMNS];

        for (int k = 0; k < COLUMNS; k++)
            row[k] = k == COLUMNS - 1 ? 1 : rng_uniform(&rng);
        bootstrap_add(&s, row);
    }
    for (int round = 0; round < ROUNDS; round++) {
        bare[round] = bare_s(&s, &sum);
        ours[round] = resampled_s(&s, &sum);
    }
    limit = bench_quantile(bare, ROUNDS, 0.5);
    median = bench_quantile(ours, ROUNDS, 0.5);
    if (!(sum > 0))
        return 1;
    bench_print(&(struct bench_row){"10 000 resamples of 10 000 pairs",
                                    "a loop of as many additions", limit, median, "s",
                                    median / limit, "x", "<= 3x", median <= 3 * limit});
    bench_print(&(struct bench_row){"the same, one core", "one second", 1, median, "s", median,
                                    " s", "< 1 s", median < 1});
    return 0;
}
