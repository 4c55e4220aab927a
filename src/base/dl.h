/*
 * dl: a vendor library by dlopen, its functions by a table.
 *
 * The build never needs an SDK: the vendor's types and functions that we use are declared by us,
 * and resolved at run time. A missing optional symbol leaves its pointer NULL, which disables one
 * metric; a missing required one fails the library.
 *
 *     static const char *const names[] = {"libnvidia-ml.so.1", NULL};
 *     struct nvml_api api;
 *     static const struct dl_symbol symbols[] = {
 *         DL_REQUIRED(struct nvml_api, init, "nvmlInit_v2"),
 *         DL_OPTIONAL(struct nvml_api, energy, "nvmlDeviceGetTotalEnergyConsumption"), {0}};
 *     r = dl_load(&lib, names, symbols, &api, &err);
 */
#ifndef IPW_BASE_DL_H
#define IPW_BASE_DL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

struct dl {
    void *handle;
    const char *name; /* the one of the names that loaded */
};

struct dl_symbol {
    const char *name;
    size_t offset; /* of the function pointer in the api struct */
    bool required;
};

#define DL_REQUIRED(api, member, symbol)    \
    {                                       \
        symbol, offsetof(api, member), true \
    }
#define DL_OPTIONAL(api, member, symbol)     \
    {                                        \
        symbol, offsetof(api, member), false \
    }

/* Loads the first of the NULL-ended names that exists and fills the api struct. -ENOENT when none
 * can be loaded (the words are the loader's for the first), -ENOSYS when a required symbol is
 * missing. The names must outlive the dl. */
int dl_load(struct dl *ret, const char *const *names, const struct dl_symbol *symbols, void *api,
            struct err *err);
void dl_release(struct dl *lib);

#endif
