/*
 * ipw export: the records of a run as jsonl or csv.
 */
#include "base/cleanup.h"
#include "base/log.h"
#include "cli/commands.h"
#include "store/export.h"
#include "store/rundir.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct export_args {
    const char *format;
    const char *output;
};

static const char *const formats[] = {"jsonl", "csv", NULL};

static const struct option options[] = {
    {"format", OPT_CHOICE, offsetof(struct export_args, format), "how to write them", "FORMAT",
     "jsonl", formats},
    {"output", OPT_TEXT, offsetof(struct export_args, output), "write here instead of to stdout",
     "FILE", .letter = 'o'},
    {0},
};

static int export_to(const struct export_args *a, const char *dir, FILE *out, int64_t *ret_rows,
                     struct err *err)
{
    int r = rundir_recover(dir, err);

    if (r < 0)
        return r;
    return strcmp(a->format, "csv") == 0 ? export_csv(dir, out, ret_rows, err)
                                         : export_jsonl(dir, out, ret_rows, err);
}

static int export_run(const void *args, const struct operands *operands)
{
    const struct export_args *a = args;
    AUTO_FILE FILE *file = NULL;
    struct err err = {0};
    int64_t rows = 0;

    if (a->output) {
        file = fopen(a->output, "we");
        if (!file) {
            log_error("cannot create %s: %s", a->output, strerror(errno));
            return EXIT_ERROR;
        }
    }
    if (export_to(a, operands->items[0], file ? file : stdout, &rows, &err) < 0) {
        log_error("%s", err.text);
        return EXIT_ERROR;
    }
    log_info("%" PRId64 " records%s%s", rows, a->output ? " written to " : "",
             a->output ? a->output : "");
    return EXIT_DONE;
}

const struct command cmd_export = {
    .name = "export",
    .help = "the records of a run as jsonl or csv",
    .operands = "DIR",
    .operands_min = 1,
    .operands_max = 1,
    .options = options,
    .args_size = sizeof(struct export_args),
    .details = "Works on any HuggingFace dataset directory. In csv, structs become columns with\n"
               "dotted names, lists JSON text, nulls empty.",
    .run = export_run,
};
