/*
 * plugin: what anything pluggable shows of itself, and how it is found by its id.
 *
 * Six kinds (dataset, client, collector, scorer, analysis, plot) have one form: a const ops struct
 * at the bottom of its file whose first member is `struct plugin plugin`, and a registry.c with one
 * NULL-ended array of pointers to those members. Lookup, aliases, suggestions for a mistyped id
 * and `ipw list` are written once, here and in cli/cmd_list.c.
 *
 *     static const struct plugin *const items[] = {&rapl_ops.plugin, &host_ops.plugin, NULL};
 *     const struct registry collectors = {"collector", "collectors", items};
 */
#ifndef IPW_CORE_PLUGIN_H
#define IPW_CORE_PLUGIN_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Why something cannot be used here, and what to do about it. Empty text = nothing to say. */
struct plugin_status {
    bool usable;
    char reason[ERR_TEXT_MAX];
    char remedy[ERR_TEXT_MAX];
};

struct plugin {
    const char *id;
    const char *help; /* one line */
    /* NULL-ended list of other names for the same thing; optional */
    const char *const *aliases;
    /* Finds out whether it can be used on this machine; optional: it always can. Must be quick. */
    void (*check)(struct plugin_status *ret);
};

struct registry {
    const char *kind;
    const char *plural;
    const struct plugin *const *items; /* NULL-ended */
};

/* By id or alias. NULL and -ENOENT words that name the nearest id, or all of them. The result is
 * the first member of the ops struct, so the caller may cast it to that. */
const struct plugin *registry_find(const struct registry *r, const char *id, struct err *err);

/* Splits the words of a failure at "; ": what is in front is the reason, what follows the remedy
 * ("" when there is none). The form in which plugins say both in one err. */
void plugin_explain(const struct err *err, char reason[ERR_TEXT_MAX], char remedy[ERR_TEXT_MAX]);

/* Asks the plugin. */
struct plugin_status plugin_status(const struct plugin *p);

#endif
