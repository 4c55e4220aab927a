#include "core/plugin.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool answers_to(const struct plugin *p, const char *id)
{
    if (strcmp(p->id, id) == 0)
        return true;
    for (const char *const *alias = p->aliases; alias && *alias; alias++)
        if (strcmp(*alias, id) == 0)
            return true;
    return false;
}

static void no_such_id(const struct registry *r, const char *id, struct err *err)
{
    AUTO(buf) struct buf ids = BUF_INIT(BUF_MAX_OWN);
    struct suggest s = suggest_for(id);

    for (const struct plugin *const *p = r->items; *p; p++) {
        buf_addf(&ids, "%s%s", ids.len ? ", " : "", (*p)->id);
        suggest_offer(&s, (*p)->id);
        for (const char *const *alias = (*p)->aliases; alias && *alias; alias++)
            suggest_offer(&s, *alias);
    }
    if (s.best)
        err_set(err, ENOENT, "unknown %s '%.60s': did you mean '%s'?", r->kind, id, s.best);
    else if (ids.len)
        err_set(err, ENOENT, "unknown %s '%.60s' (there are: %s)", r->kind, id, ids.data);
    else
        err_set(err, ENOENT, "unknown %s '%.60s'", r->kind, id);
}

const struct plugin *registry_find(const struct registry *r, const char *id, struct err *err)
{
    for (const struct plugin *const *p = r->items; *p; p++)
        if (answers_to(*p, id))
            return *p;
    no_such_id(r, id, err);
    return NULL;
}

void plugin_explain(const struct err *err, char reason[ERR_TEXT_MAX], char remedy[ERR_TEXT_MAX])
{
    const char *split = strstr(err->text, "; ");

    snprintf(reason, ERR_TEXT_MAX, "%.*s", split ? (int)(split - err->text) : ERR_TEXT_MAX,
             err->text);
    snprintf(remedy, ERR_TEXT_MAX, "%s", split ? split + 2 : "");
}

struct plugin_status plugin_status(const struct plugin *p)
{
    struct plugin_status status = {.usable = true};

    if (p->check)
        p->check(&status);
    return status;
}
