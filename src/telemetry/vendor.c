#include "telemetry/vendor.h"

#include <errno.h>
#include <string.h>

int vendor_load(struct dl *ret, const char *const *names, const struct dl_symbol *symbols,
                void *api, struct err *err)
{
    struct err loader = {0};
    int r = dl_load(ret, names, symbols, api, &loader);

    if (r == -ENOSYS)
        return err_set(err, ENOSYS, "%s; it is not the library wanted, or one of a very old driver",
                       loader.text);
    /* The loader tells an absent file from a broken one by its words only. The program sets no
     * locale, so they are the English ones. */
    if (r < 0 && strncmp(loader.text, names[0], strlen(names[0])) == 0 &&
        strstr(loader.text, "No such file or directory"))
        return err_set(err, ENODEV, "%s is not installed", names[0]);
    if (r < 0)
        return err_set(err, ENOEXEC, "%s cannot be loaded: %s", names[0], loader.text);
    return 0;
}

void vendor_text(char *to, size_t size, const char *from)
{
    size_t i = 0;

    for (; i + 1 < size && from[i]; i++)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[i] = '\0';
}
