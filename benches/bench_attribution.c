/*
 * How far a query's share of the energy is from the truth when about eight are in flight.
 *
 * The test server knows what each of its answers cost and shows the sum as a counter that is
 * renewed every 100 ms; `ipw profile` sees that counter and the streams. Prompt and output tokens
 * cost the same in the rows with a goal, as the rule by which energy is shared assumes. In one row
 * a prompt token costs a tenth of an output token, as on a real server: there the rule is wrong by
 * design, and the row says how much. The last rows are of a simulated server in virtual time
 * (simbatch.h), which is the same on every machine.
 *
 *     bench_attribution IPW
 */
#include "bench_row.h"

#include "core/stats.h"
#include "simbatch.h"
#include "truthrun.h"

#include <math.h>

static struct truthrun_options streams(const char *ipw)
{
    return (struct truthrun_options){.ipw = ipw,
                                     .testserver = TESTSERVER,
                                     .refresh_ms = 100,
                                     .base_w = 120,
                                     .prompt_j = 0.2,
                                     .token_j = 0.2,
                                     .queries = 96,
                                     .tokens_min = 30,
                                     .tokens_max = 110,
                                     .prompt_min = 20,
                                     .prompt_max = 200,
                                     .itl = "25ms",
                                     .load = {"--concurrency", "8"}};
}

/* goal NAN = none: the figure is there to be known. */
static void print_row(const char *what, const struct truthrun_result *r, double goal)
{
    double median = stats_median(r->error_pct, r->n);
    char name[160], limit[160];

    snprintf(name, sizeof(name), "attribution error, %s, median", what);
    snprintf(limit, sizeof(limit), "exact share, %zu queries; p95 %.1f %%; shared equally", r->n,
             stats_percentile(r->error_pct, r->n, 95));
    bench_print(&(struct bench_row){.name = name,
                                    .limit = limit,
                                    .limit_value = stats_median(r->equal_pct, r->n_equal),
                                    .measured = median,
                                    .unit = "%",
                                    .value = median,
                                    .value_unit = " %",
                                    .goal = isnan(goal) ? "none: by design" : "<= 5 %",
                                    .ok = isnan(goal) || median <= goal});
}

static void print_conservation(double worst)
{
    bench_print(&(struct bench_row){.name = "queries + idle against the meter, 8 streams",
                                    .limit = "exact sum",
                                    .limit_value = 0,
                                    .measured = worst * 1e12,
                                    .unit = "x 1e-12",
                                    .value = worst * 1e9,
                                    .value_unit = " x 1e-9",
                                    .goal = "< 1e-9",
                                    .ok = worst < 1e-9});
}

static void simulate(void)
{
    static const double cost_j[] = {0.05, 0.2, 0.6};

    for (size_t i = 0; i < sizeof(cost_j) / sizeof(cost_j[0]); i++) {
        struct simbatch_errors e;
        char name[160], limit[160];

        simbatch_compare(120, cost_j[i], true, 7 + i, &e);
        snprintf(name, sizeof(name), "attribution error, simulated, %.2f J a token, median",
                 cost_j[i]);
        snprintf(limit, sizeof(limit), "exact share, %d queries; p95 %.1f %%; shared equally",
                 SIMBATCH_QUERIES, e.p95_pct);
        bench_print(&(struct bench_row){.name = name,
                                        .limit = limit,
                                        .limit_value = e.equal_pct,
                                        .measured = e.median_pct,
                                        .unit = "%",
                                        .value = e.median_pct,
                                        .value_unit = " %",
                                        .goal = "<= 5 %",
                                        .ok = e.median_pct <= 5});
    }
}

static struct truthrun_result run(const struct truthrun_options *o)
{
    struct truthrun_result r = {0};
    struct err err = {0};

    if (truthrun(o, &r, &err) < 0) {
        fprintf(stderr, "bench_attribution: %s\n", err.text);
        exit(1);
    }
    return r;
}

int main(int argc, char **argv)
{
    struct truthrun_options o = streams(argc > 1 ? argv[1] : "build-bench/ipw");
    struct truthrun_result r = run(&o);
    double worst = fmax(r.conservation, r.sum_error);

    print_row("8 concurrent streams, known truth", &r, 5);
    truthrun_release(&r);
    o.load[0] = "--request-rate";
    o.load[1] = "4.5";
    r = run(&o);
    worst = fmax(worst, fmax(r.conservation, r.sum_error));
    print_row("open loop, 8 streams on average, known truth", &r, 5);
    print_conservation(worst);
    truthrun_release(&r);
    o = streams(o.ipw);
    o.prompt_j = 0.02;
    r = run(&o);
    print_row("8 streams, prompt tokens ten times cheaper", &r, NAN);
    truthrun_release(&r);
    simulate();
    return 0;
}
