/*
 * ipw completion: a bash completion script made from the command and option tables.
 */
#include "cli/commands.h"

#include <stdio.h>

static const char *const shells[] = {"bash", NULL};

static void print_words(const char *const *words)
{
    for (; *words; words++)
        printf(" %s", *words);
}

static void print_option_words(const struct option *o)
{
    for (; o && o->name; o++)
        printf(" --%s", o->name);
}

/* Cases of "${COMP_WORDS[1]} $previous": what may follow an option with choices. */
static void print_choices(const struct command *c)
{
    for (const struct option *o = c->options; o && o->name; o++) {
        if (!o->choices)
            continue;
        printf("    '%s --%s') words='", c->name, o->name);
        print_words(o->choices);
        printf("' ;;\n");
    }
}

static int completion_run(const void *args, const struct operands *operands)
{
    (void)args;
    (void)operands;
    printf("# bash completion for ipw, made by `ipw completion bash`\n"
           "_ipw()\n{\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}"
           " words=\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n        words='");
    for (const struct command *const *c = commands; *c; c++)
        printf(" %s", (*c)->name);
    printf(" --help --version'\n"
           "    else\n    case \"${COMP_WORDS[1]}\" in\n");
    for (const struct command *const *c = commands; *c; c++) {
        printf("    %s) words='", (*c)->name);
        if ((*c)->operand_choices)
            print_words((*c)->operand_choices);
        print_option_words((*c)->options);
        print_option_words(options_common);
        printf("' ;;\n");
    }
    printf("    esac\n    case \"${COMP_WORDS[1]} $previous\" in\n");
    for (const struct command *const *c = commands; *c; c++)
        print_choices(*c);
    printf(
        "    *) ;;\n    esac\n    fi\n"
        "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
        "    # otherwise a file name\n"
        "    [ ${#COMPREPLY[@]} -gt 0 ] || mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
        "}\ncomplete -o filenames -F _ipw ipw\n");
    return EXIT_DONE;
}

const struct command cmd_completion = {
    .name = "completion",
    .help = "a shell completion script: eval \"$(ipw completion bash)\"",
    .operands = "SHELL",
    .operands_min = 1,
    .operands_max = 1,
    .operand_choices = shells,
    .run = completion_run,
};
