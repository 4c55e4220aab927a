#include "core/kv.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void kv_add(struct kv_list *l, const char *key, const char *value)
{
    GROW(l->items, l->n, l->cap);
    l->items[l->n++] = (struct kv){.key = xstrdup(key), .value = xstrdup(value)};
}

const char *kv_get(const struct kv_list *l, const char *key)
{
    for (size_t i = l->n; i-- > 0;)
        if (strcmp(l->items[i].key, key) == 0)
            return l->items[i].value;
    return NULL;
}

void kv_list_release(struct kv_list *l)
{
    for (size_t i = 0; i < l->n; i++) {
        free(l->items[i].key);
        free(l->items[i].value);
    }
    free(l->items);
    *l = (struct kv_list){0};
}
