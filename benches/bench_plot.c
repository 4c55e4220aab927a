/*
 * Figures: the time one takes, from opening the run to the bytes of a PNG, for a run of 10 000
 * queries with a million samples. One thread does it all and waits for nothing, so that its CPU
 * time is the time on a machine with nothing else to do; the best of a few rounds.
 */
#include "bench_row.h"

#include "base/fs.h"
#include "makerun.h"
#include "plot/plot.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <time.h>

#define ROUNDS 7

static char base[] = "/tmp/ipw-bench-XXXXXX";
static char dir[64];
static struct err err;

static void must(int r)
{
    if (r >= 0)
        return;
    fprintf(stderr, "bench_plot: %s\n", err.text);
    exit(1);
}

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static double render_ms(const struct plot_ops *p)
{
    struct plot_options options = {.format = PLOT_PNG};
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    AUTO_PTR(run) struct run *run = NULL;
    double start = cpu_ms();

    must(run_open(dir, &run, &err));
    must(plot_render(p, &run, 1, &options, &out, &err));
    return cpu_ms() - start;
}

int main(void)
{
    struct makerun m = makerun_default();
    double slowest = 0;
    char name[96];

    if (!mkdtemp(base))
        return 1;
    snprintf(dir, sizeof(dir), "%s/run", base);
    m.records = 10000;
    m.concurrency = 4;
    m.telemetry_s = 4000; /* of 5 channels at 50 Hz */
    must(makerun(&m, dir, NULL, &err));
    for (const struct plugin *const *p = plots.items; *p; p++) {
        const struct plot_ops *ops = (const struct plot_ops *)*p;
        double best = INFINITY;

        if (ops->several)
            continue;
        for (int round = 0; round < ROUNDS; round++)
            best = fmin(best, render_ms(ops));
        if (strcmp((*p)->id, "power_trace") == 0)
            bench_print(&(struct bench_row){"figure power_trace, 1 000 000 samples", "200 ms", 200,
                                            best, "ms", best, " ms", "<= 200 ms", best <= 200});
        else if (best > slowest) {
            slowest = best;
            snprintf(name, sizeof(name), "slowest other figure (%s), 10 000 queries", (*p)->id);
        }
    }
    bench_print(&(struct bench_row){name, "200 ms", 200, slowest, "ms", slowest, " ms", "<= 200 ms",
                                    slowest <= 200});
    fs_remove_tree(AT_FDCWD, base, NULL);
    return 0;
}
