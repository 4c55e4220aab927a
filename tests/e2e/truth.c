/*
 * truth KIND: what `ipw profile` records, against a server that knows what its answers cost.
 *
 *     truth sequential     one after the other: the energy of each query
 *     truth spaced         the same, each on an idle machine: power steps at both its edges
 *     truth closed         eight at once
 *     truth open           about eight at once, on a schedule
 *
 * IPW and IPW_TESTSERVER are the programs. The machine that runs this may be busy: a reading that
 * came late is an error of this machine, so the better of two tries counts. What must hold without
 * any doubt (nothing is lost, parts add up) is asserted on each.
 */
#include "truthrun.h"

#include "core/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kind {
    const char *name;
    double median_pct, p95_pct; /* the most that is right; p95 NAN = printed only */
    bool bounds;                /* of a query that was alone the truth lies inside them */
    struct truthrun_options options;
};

/* Queries of 0.5 to 1.5 s. */
#define ALONE                                                                               \
    .refresh_ms = 100, .base_w = 60, .prompt_j = 0.1, .token_j = 4, .queries = 40,          \
    .tokens_min = 20, .tokens_max = 57, .prompt_min = 20, .prompt_max = 150, .itl = "22ms", \
    .alone = true
#define STREAMS                                                                       \
    .refresh_ms = 100, .base_w = 120, .prompt_j = 0.2, .token_j = 0.2, .queries = 64, \
    .tokens_min = 30, .tokens_max = 110, .prompt_min = 20, .prompt_max = 200, .itl = "25ms"

static const struct kind kinds[] = {
    {"sequential", 0.5, 1.5, true, {ALONE}},
    {"spaced", 0.5, 1.5, true, {ALONE, .load = {"--request-rate", "0.6", "--burstiness", "2000"}}},
    {"closed", 5, NAN, false, {STREAMS, .load = {"--concurrency", "8"}}},
    {"open", 5, NAN, false, {STREAMS, .load = {"--request-rate", "4.5"}}},
};

static const struct kind *find(const char *name)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

static void print(const struct kind *k, const struct truthrun_result *r)
{
    printf("%s: %zu queries of %.2f to %.2f s, at most %.0f in flight: error median %.3f %%, "
           "p95 %.3f %%, most %.3f %%\n",
           k->name, r->n, r->shortest_s, r->longest_s, r->peak_in_flight,
           stats_median(r->error_pct, r->n), stats_percentile(r->error_pct, r->n, 95),
           stats_percentile(r->error_pct, r->n, 100));
    printf("  truth inside the bounds: %zu; without energy: %zu; by heads: median %.2f %%\n",
           r->inside, r->unknown, stats_median(r->equal_pct, r->n_equal));
    printf("  meter %.3f %% from all tokens and the base; conservation %.2g, sum of records and "
           "idle %.2g\n",
           r->total_error_pct, r->conservation, r->sum_error);
}

/* What no noise excuses. */
static bool is_sound(const struct kind *k, const struct truthrun_result *r)
{
    bool ok = r->conservation < 1e-9 && (r->unknown > 0 || r->sum_error < 1e-9) &&
              r->n + r->unknown == k->options.queries;

    if (!ok)
        printf("NOT SOUND\n");
    return ok;
}

static bool is_close(const struct kind *k, const struct truthrun_result *r)
{
    return r->unknown == 0 && stats_median(r->error_pct, r->n) <= k->median_pct &&
           !(stats_percentile(r->error_pct, r->n, 95) > k->p95_pct) &&
           (!k->bounds || r->inside == r->n) && r->total_error_pct <= 1;
}

int main(int argc, char **argv)
{
    const struct kind *k = argc == 2 ? find(argv[1]) : NULL;
    bool close = false;

    if (!k) {
        fputs("usage: truth sequential|spaced|closed|open\n", stderr);
        return 2;
    }
    for (int i = 0; i < 2 && !close; i++) {
        struct truthrun_options o = k->options;
        struct truthrun_result r = {0};
        struct err err = {0};
        bool sound;

        o.ipw = getenv("IPW");
        o.testserver = getenv("IPW_TESTSERVER");
        if (!o.ipw || !o.testserver || truthrun(&o, &r, &err) < 0) {
            printf("%s\n", *err.text ? err.text : "IPW and IPW_TESTSERVER name the programs");
            return 1;
        }
        print(k, &r);
        fflush(stdout);
        sound = is_sound(k, &r);
        close = is_close(k, &r);
        truthrun_release(&r);
        if (!sound)
            return 1;
    }
    return close ? 0 : 1;
}
