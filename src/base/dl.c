#include "base/dl.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

static int resolve(void *handle, const struct dl_symbol *symbols, void *api, const char *library,
                   struct err *err)
{
    for (const struct dl_symbol *s = symbols; s->name; s++) {
        void *address = dlsym(handle, s->name);

        if (!address && s->required)
            return err_set(err, ENOSYS, "%s has no %s", library, s->name);
        /* ISO C has no cast from object to function pointer; POSIX guarantees the same bytes. */
        memcpy((char *)api + s->offset, &address, sizeof(address));
    }
    return 0;
}

int dl_load(struct dl *ret, const char *const *names, const struct dl_symbol *symbols, void *api,
            struct err *err)
{
    void *handle = NULL;
    int r;

    for (size_t i = 0; names[i]; i++) {
        handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (handle) {
            names += i;
            break;
        }
        if (i == 0)
            err_set(err, ENOENT, "%s", dlerror());
    }
    if (!handle)
        return -ENOENT;
    r = resolve(handle, symbols, api, *names, err);
    if (r < 0) {
        dlclose(handle);
        return r;
    }
    *ret = (struct dl){.handle = handle, .name = *names};
    return 0;
}

void dl_release(struct dl *lib)
{
    if (lib->handle)
        dlclose(lib->handle);
    *lib = (struct dl){0};
}
