#include "cli/commands.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/suggest.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* one a line */
/* clang-format off */
const struct command *const commands[] = {
    &cmd_profile,
    &cmd_sweep,
    &cmd_compare,
    &cmd_validate,
    &cmd_analyze,
    &cmd_plot,
    &cmd_report,
    &cmd_export,
    &cmd_measure,
    &cmd_doctor,
    &cmd_list,
    &cmd_serve_pocket,
    &cmd_completion,
    &cmd_help,
    NULL,
};
/* clang-format on */

const struct command *command_find(const char *name, struct err *err)
{
    struct suggest s = suggest_for(name);

    for (const struct command *const *c = commands; *c; c++) {
        if (strcmp((*c)->name, name) == 0)
            return *c;
        suggest_offer(&s, (*c)->name);
    }
    if (s.best)
        err_set(err, EINVAL, "unknown command '%.60s': did you mean '%s'?", name, s.best);
    else
        err_set(err, EINVAL, "unknown command '%.60s' (see ipw --help)", name);
    return NULL;
}

static void print_overview(FILE *out)
{
    fprintf(out,
            "ipw %s: what does an answer from this model cost in joules?\n\n"
            "Usage: ipw COMMAND [options]\n\n",
            IPW_VERSION);
    for (const struct command *const *c = commands; *c; c++)
        fprintf(out, "  %-14s %s\n", (*c)->name, (*c)->help);
    fprintf(out, "\nipw COMMAND --help tells more; ipw --version prints the version.\n");
}

static int usage_error(const struct err *err)
{
    log_error("%s", err->text);
    return EXIT_USAGE;
}

static int run_command(const struct command *c, int argc, char **argv)
{
    void *args = xcalloc(1, c->args_size);
    struct operands operands = {0};
    struct err err = {0};
    int status, r;

    r = options_parse(c, argc, argv, args, &operands, &err);
    if (r == -ECANCELED) {
        options_help(c);
        status = EXIT_DONE;
    } else if (r < 0) {
        status = usage_error(&err);
    } else {
        status = c->run(args, &operands);
    }
    options_release(c, args, &operands);
    free(args);
    return status;
}

static int help_run(const void *args, const struct operands *operands)
{
    struct err err = {0};
    const struct command *c;

    (void)args;
    if (operands->n == 0) {
        print_overview(stdout);
        return EXIT_DONE;
    }
    c = command_find(operands->items[0], &err);
    if (!c)
        return usage_error(&err);
    options_help(c);
    return EXIT_DONE;
}

const struct command cmd_help = {
    .name = "help",
    .help = "what a command does and which options it has",
    .operands = "[COMMAND]",
    .operands_max = 1,
    .run = help_run,
};

/* Results must reach their reader: a full disk or a closed pipe is an error. */
static int flushed(int status)
{
    if (fflush(stdout) != 0 || ferror(stdout)) {
        log_error("cannot write to standard output");
        return status ? status : EXIT_ERROR;
    }
    return status;
}

int commands_main(int argc, char **argv)
{
    const struct command *c;
    struct err err = {0};

    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview(stdout);
        return flushed(EXIT_DONE);
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("ipw %s\n", IPW_VERSION);
        return flushed(EXIT_DONE);
    }
    if (argv[1][0] == '-') {
        err_set(&err, EINVAL, "unknown option %.60s: a command comes first (see ipw --help)",
                argv[1]);
        return usage_error(&err);
    }
    c = command_find(argv[1], &err);
    if (!c)
        return usage_error(&err);
    return flushed(run_command(c, argc - 2, argv + 2));
}
