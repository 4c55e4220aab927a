/*
 * commands: the table of commands. One cmd_<name>.c each; main.c dispatches.
 */
#ifndef IPW_CLI_COMMANDS_H
#define IPW_CLI_COMMANDS_H

#include "cli/options.h"

/* Exit statuses. */
enum {
    EXIT_DONE = 0,
    EXIT_ERROR = 1,
    EXIT_USAGE = 2,
    EXIT_SOME_FAILED = 3,  /* done, but some queries failed */
    EXIT_INTERRUPTED = 130 /* everything is saved */
};

extern const struct command cmd_analyze;
extern const struct command cmd_compare;
extern const struct command cmd_completion;
extern const struct command cmd_doctor;
extern const struct command cmd_export;
extern const struct command cmd_help;
extern const struct command cmd_list;
extern const struct command cmd_measure;
extern const struct command cmd_plot;
extern const struct command cmd_profile;
extern const struct command cmd_report;
extern const struct command cmd_serve_pocket;
extern const struct command cmd_sweep;
extern const struct command cmd_validate;

/* NULL-ended, in the order of `ipw --help`. */
extern const struct command *const commands[];

/* NULL when there is none, with words that name the nearest. */
const struct command *command_find(const char *name, struct err *err);

/* Runs argv[1...] and returns the exit status. */
int commands_main(int argc, char **argv);

#endif
