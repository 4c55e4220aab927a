/*
 * make-run DIR [options]: a synthetic run (tests/support/makerun.h) for benches and browser tests.
 */
#include "makerun.h"

#include "base/cleanup.h"
#include "cli/options.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

struct args {
    int64_t records, seed, concurrency;
    double telemetry_seconds, hz, joules, accuracy, failed;
    double gap_from, gap_seconds;
    const char *model, *dataset, *hardware, *reason;
    bool estimated, no_energy, no_gpu, unscored, hostile, unfinished;
};

#define AT(member) offsetof(struct args, member)

static const struct option options[] = {
    {"records", OPT_INT, AT(records), "How many", "N", "100", .max = 1e9},
    {"seed", OPT_INT, AT(seed), "Of the random numbers", "K", "1", .max = 9e15},
    {"concurrency", OPT_INT, AT(concurrency), "Queries in flight", "N", "1", .min = 1, .max = 1e6},
    {"telemetry-seconds", OPT_REAL, AT(telemetry_seconds),
     "How long samples go on; 0 = none; as long as the records if not given", "S"},
    {"hz", OPT_REAL, AT(hz), "Samples a second", "H", "50", .min = 0.001, .max = 1e6},
    {"gap-from", OPT_REAL, AT(gap_from), "Where sampling stops for a while", "S", "0"},
    {"gap-seconds", OPT_REAL, AT(gap_seconds), "For how long", "S", "0"},
    {"joules", OPT_REAL, AT(joules), "Mean energy of a query", "X"},
    {"accuracy", OPT_REAL, AT(accuracy), "Part that is correct", "A", "0.7", .max = 1},
    {"failed", OPT_REAL, AT(failed), "Part that fails", "F", "0", .max = 1},
    {"model", OPT_TEXT, AT(model), "Its name", "M"},
    {"dataset", OPT_TEXT, AT(dataset), "Its id", "D"},
    {"hardware", OPT_TEXT, AT(hardware), "The label of the hardware", "H"},
    {"reason", OPT_TEXT, AT(reason), "A reason against a tenth of the records: gap, ...", "R"},
    {"estimated", OPT_FLAG, AT(estimated), "The energy is modelled"},
    {"no-energy", OPT_FLAG, AT(no_energy), "The energy is not known"},
    {"no-gpu", OPT_FLAG, AT(no_gpu), "A machine without a GPU"},
    {"unscored", OPT_FLAG, AT(unscored), "Nothing is scored"},
    {"hostile", OPT_FLAG, AT(hostile), "Names and texts that break pages which do not quote"},
    {"unfinished", OPT_FLAG, AT(unfinished), "As a kill leaves it"},
    {NULL},
};

static int run(const void *given, const struct operands *operands)
{
    const struct args *a = given;
    struct makerun m = makerun_default();
    struct makerun_truth truth;
    struct err err = {0};

    if (a->hostile)
        makerun_set_hostile(&m);
    m.records = a->records;
    m.seed = (uint64_t)a->seed;
    m.concurrency = a->concurrency;
    m.telemetry_s = a->telemetry_seconds;
    m.telemetry_hz = a->hz;
    m.gap_from_s = a->gap_from;
    m.gap_s = a->gap_seconds;
    m.accuracy = a->unscored ? NAN : a->accuracy;
    m.failed_fraction = a->failed;
    m.model = a->model ? a->model : m.model;
    m.dataset = a->dataset ? a->dataset : m.dataset;
    m.hardware_label = a->hardware ? a->hardware : m.hardware_label;
    m.energy_source = a->no_energy ? "none" : a->estimated ? "estimated" : "measured";
    m.gpu_name = a->no_gpu ? NULL : m.gpu_name;
    m.unfinished = a->unfinished;
    m.reason = reason_find(a->reason);
    m.reason_fraction = 0.1;
    if (!isnan(a->joules))
        makerun_set_joules(&m, a->joules);
    if (makerun(&m, operands->items[0], &truth, &err) < 0) {
        fprintf(stderr, "make-run: %s\n", err.text);
        return 1;
    }
    return 0;
}

static const struct command make_run = {
    .name = "make-run",
    .help = "Makes a synthetic run",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .args_size = sizeof(struct args),
    .run = run,
};

int main(int argc, char **argv)
{
    struct args args = {0};
    struct operands operands = {0};
    struct err err = {0};
    int r = options_parse(&make_run, argc - 1, argv + 1, &args, &operands, &err);

    if (r == -ECANCELED) {
        options_help(&make_run);
        r = 0;
    } else if (r < 0) {
        fprintf(stderr, "make-run: %s\n", err.text);
        r = 2;
    } else {
        r = run(&args, &operands);
    }
    options_release(&make_run, &args, &operands);
    return r;
}
