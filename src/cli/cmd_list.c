/*
 * ipw list: what is available here, and why something is not.
 */
#include "analysis/analysis.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/commands.h"
#include "client/client.h"
#include "core/plugin.h"
#include "dataset/dataset.h"
#include "plot/plot.h"
#include "score/scorer.h"
#include "telemetry/collector.h"

#include <stdio.h>
#include <string.h>

struct list_args {
    bool json;
};

static const struct option options[] = {
    {"json", OPT_FLAG, offsetof(struct list_args, json), "one JSON document on stdout"},
    {0},
};

static const struct registry *const registries[] = {&clients,  &datasets, &collectors, &scorers,
                                                    &analyses, &plots,    NULL};

/* `visualizations` is the Python tool's word for plots. */
static const char *const kinds[] = {"clients",        "datasets", "collectors",
                                    "scorers",        "analyses", "plots",
                                    "visualizations", "all",      NULL};

static void list_text(const struct registry *r, bool first)
{
    printf("%s%c%s:\n", first ? "" : "\n", r->plural[0] - 'a' + 'A', r->plural + 1);
    if (!*r->items)
        printf("  none yet\n");
    for (const struct plugin *const *p = r->items; *p; p++) {
        struct plugin_status status = plugin_status(*p);

        printf("  %-20s %s\n", (*p)->id, (*p)->help);
        if (status.usable)
            continue;
        printf("  %-20s not usable here: %s\n", "", status.reason);
        if (status.remedy[0])
            printf("  %-20s remedy: %s\n", "", status.remedy);
    }
}

static void list_json(const struct registry *r, struct json_writer *w)
{
    jw_begin_array(w, r->plural);
    for (const struct plugin *const *p = r->items; *p; p++) {
        struct plugin_status status = plugin_status(*p);

        jw_begin_object(w, NULL);
        jw_text(w, "id", (*p)->id);
        jw_text(w, "help", (*p)->help);
        jw_begin_array(w, "aliases");
        for (const char *const *alias = (*p)->aliases; alias && *alias; alias++)
            jw_text(w, NULL, *alias);
        jw_end_array(w);
        jw_bool(w, "usable", status.usable);
        jw_text(w, "reason", status.usable ? NULL : status.reason);
        jw_text(w, "remedy", status.remedy[0] ? status.remedy : NULL);
        jw_end_object(w);
    }
    jw_end_array(w);
}

static bool wanted(const struct operands *operands, const struct registry *r)
{
    for (size_t i = 0; i < operands->n; i++) {
        const char *kind = operands->items[i];

        if (strcmp(kind, "visualizations") == 0)
            kind = plots.plural;
        if (strcmp(kind, r->plural) == 0 || strcmp(kind, "all") == 0)
            return true;
    }
    return operands->n == 0;
}

static int list_run(const void *args, const struct operands *operands)
{
    const struct list_args *a = args;
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&out, JSON_PRETTY);
    bool first = true;

    if (a->json)
        jw_begin_object(&w, NULL);
    for (const struct registry *const *r = registries; *r; r++) {
        if (!wanted(operands, *r))
            continue;
        if (a->json)
            list_json(*r, &w);
        else
            list_text(*r, first);
        first = false;
    }
    if (a->json) {
        jw_end_object(&w);
        puts(buf_str(&out));
    }
    return EXIT_DONE;
}

const struct command cmd_list = {
    .name = "list",
    .help = "what is available here, and why something is not",
    .operands = "[KIND...]",
    .operands_max = 16,
    .operand_choices = kinds,
    .options = options,
    .args_size = sizeof(struct list_args),
    .run = list_run,
};
