/*
 * options: a command's options as a table, and what follows from it: parsing, help, completion.
 *
 * A command keeps its arguments in a struct of its own; a row of its table says which member an
 * option fills. Defaults stand in the table as the person would type them, so that help cannot
 * disagree with the program.
 *
 *     struct list_args { bool json; };
 *     static const struct option options[] = {
 *         {"json", OPT_FLAG, offsetof(struct list_args, json), .help = "one JSON document"},
 *         {0}};
 *
 * Accepted: --name value, --name=value, -n value, `--` (what follows are operands). A mistake is
 * one line that names it and the nearest valid spelling.
 */
#ifndef IPW_CLI_OPTIONS_H
#define IPW_CLI_OPTIONS_H

#include "base/err.h"
#include "core/kv.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_type {
    OPT_FLAG,     /* bool */
    OPT_TEXT,     /* const char *, NULL = not given */
    OPT_INT,      /* int64_t within min..max; -1 = not given */
    OPT_REAL,     /* double within min..max; NAN = not given */
    OPT_DURATION, /* int64_t nanoseconds: 20ms, 1.5s; -1 = not given */
    OPT_SIZE,     /* int64_t bytes: 64MiB; -1 = not given */
    OPT_CHOICE,   /* const char *: one of choices */
    OPT_KV        /* struct kv_list: k=v, repeatable; the value keeps its commas and = signs */
};

struct option {
    const char *name; /* without the dashes */
    enum option_type type;
    size_t offset; /* of the member in the args struct */
    const char *help;
    const char *value;   /* how help calls the value: "N", "DIR", "k=v" */
    const char *initial; /* the default, as typed; NULL = none */
    const char *const *choices;
    const char *alias; /* an older spelling that is accepted, not shown */
    double min, max;   /* OPT_INT, OPT_REAL: ignored when both are 0 */
    char letter;       /* -n, 0 = none */
};

/* The words that are not options. They point into argv. */
struct operands {
    const char **items;
    size_t n;
    /* All words after the command's name, options too: what was typed. */
    int argc;
    const char *const *argv;
};

struct command {
    const char *name;
    const char *help;     /* one line */
    const char *operands; /* for the usage line: "DIR...", NULL = takes none */
    size_t operands_min;
    size_t operands_max;
    const char *const *operand_choices; /* NULL-ended; NULL = anything */
    const struct option *options;       /* ended by a row without a name; NULL = none */
    size_t args_size;
    const char *details; /* further text of --help: examples; NULL = none */
    /* Returns the exit status. */
    int (*run)(const void *args, const struct operands *operands);
};

/* Reads the words after the command's name into args (args_size bytes) and operands; both are to be
 * released by options_release. -EINVAL with one line for the person. A request for help is
 * -ECANCELED. */
int options_parse(const struct command *c, int argc, char **argv, void *args,
                  struct operands *ret_operands, struct err *err);
void options_release(const struct command *c, void *args, struct operands *operands);

/* `ipw COMMAND --help` on stdout. */
void options_help(const struct command *c);

/* Options that every command has (--help, --quiet), as rows for help and completion. */
extern const struct option options_common[];

#endif
