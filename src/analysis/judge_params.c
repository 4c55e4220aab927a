#include "analysis/judge_params.h"

#include "base/suggest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_client_param(const char *key)
{
    static const char *const names[] = {"api_key", "endpoint", "header", "ready_timeout"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(key, names[i]) == 0)
            return true;
    return false;
}

/* A mistyped api_key would go out, and perhaps be logged, as a generation parameter. */
static int check_key(const char *key, struct err *err)
{
    struct suggest near = suggest_for(key);

    suggest_offer(&near, "api_key");
    if (near.best)
        return err_set(err, EINVAL, "unknown judge parameter '%.60s': did you mean 'api_key'?",
                       key);
    return 0;
}

int judge_params_split(const struct kv_list *params, struct kv_list *client,
                       struct kv_list *generation, struct err *err)
{
    const char *key = getenv("IPW_EVAL_API_KEY");
    int r = 0;

    /* in front: the person's own counts more */
    if (key && *key)
        kv_add(client, "api_key", key);
    for (size_t i = 0; r == 0 && params && i < params->n; i++) {
        const struct kv *p = &params->items[i];

        if (is_client_param(p->key))
            kv_add(client, p->key, p->value);
        else if ((r = check_key(p->key, err)) == 0)
            kv_add(generation, p->key, p->value);
    }
    return r;
}
