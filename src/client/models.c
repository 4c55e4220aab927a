/*
 * The names of a server's models. A name without a tag means the tag "latest", as Ollama has it;
 * servers that know no tags are not harmed by that.
 */
#include "client/client.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/suggest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void model_list_add(struct model_list *l, const char *name)
{
    GROW(l->names, l->n, l->cap);
    l->names[l->n++] = xstrdup(name);
}

void model_list_release(struct model_list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->names[i]);
    free(l->names);
    *l = (struct model_list){0};
}

/* Length of the name without ":latest". */
static size_t stem(const char *name)
{
    static const char latest[] = ":latest";
    size_t n = strlen(name), tail = sizeof(latest) - 1;

    return n > tail && strcmp(name + n - tail, latest) == 0 ? n - tail : n;
}

bool model_name_matches(const char *a, const char *b)
{
    size_t n = stem(a);

    return n == stem(b) && memcmp(a, b, n) == 0;
}

int model_list_check(const struct model_list *l, const char *name, const char *server,
                     struct err *err)
{
    AUTO(buf) struct buf names = BUF_INIT(BUF_MAX_OWN);
    AUTO(model_list) struct model_list stems = {0};
    struct suggest near = suggest_for(name);

    for (size_t i = 0; i < l->n; i++) {
        if (model_name_matches(l->names[i], name))
            return 0;
        buf_addf(&names, "%s%s", i ? ", " : "", l->names[i]);
        /* what was typed without a tag is near to what has none */
        model_list_add(&stems, l->names[i]);
        if (!strchr(name, ':'))
            stems.names[i][stem(l->names[i])] = '\0';
        suggest_offer(&near, stems.names[i]);
    }
    if (near.best)
        return err_set(err, ENOENT, "%.80s has no model '%.60s': did you mean '%.60s'? It has: %s",
                       server, name, near.best, buf_str(&names));
    return err_set(err, ENOENT, "%.80s has no model '%.60s'. It has: %s", server, name,
                   l->n ? buf_str(&names) : "none");
}
