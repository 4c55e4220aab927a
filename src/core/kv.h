/*
 * kv: the `k=v` parameters of a client, dataset or collector, in the order given; later keys win.
 */
#ifndef IPW_CORE_KV_H
#define IPW_CORE_KV_H

#include <stddef.h>

struct kv {
    char *key;
    char *value;
};

struct kv_list {
    struct kv *items;
    size_t n;
    size_t cap;
};

/* Copies both. */
void kv_add(struct kv_list *l, const char *key, const char *value);
/* The last value of this key, else NULL. */
const char *kv_get(const struct kv_list *l, const char *key);
void kv_list_release(struct kv_list *l);

#endif
