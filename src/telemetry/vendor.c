#include "telemetry/vendor.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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

/* True only when the list could be read and the vendor is not in it. */
static bool is_absent(const char *sysfs_root, const char *pci_vendor)
{
    AUTO_FD int root = fs_open_dir(AT_FDCWD, sysfs_root, NULL);
    int fd = root < 0 ? -1 : fs_open_dir(root, "bus/pci/devices", NULL);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    bool absent = dir != NULL;

    for (struct dirent *e = dir ? readdir(dir) : NULL; e && absent; e = readdir(dir)) {
        char path[300], vendor[16];

        snprintf(path, sizeof(path), "%s/vendor", e->d_name);
        absent = e->d_name[0] == '.' || fs_read_text(fd, path, vendor, sizeof(vendor), NULL) < 0 ||
                 strcmp(vendor, pci_vendor) != 0;
    }
    if (dir)
        closedir(dir);
    else if (fd >= 0)
        close(fd);
    return absent;
}

int vendor_blame(const char *sysfs_root, const char *pci_vendor, const char *what, int code,
                 struct err *err)
{
    struct err said = {0};

    if (code == -ENODEV || code == -ENOSYS || code == -ENOEXEC || !sysfs_root ||
        !is_absent(sysfs_root, pci_vendor))
        return code;
    if (err)
        said = *err;
    return err_set(err, ENODEV, "no %s GPU here (%.*s)", what, (int)strcspn(said.text, ";"),
                   said.text);
}

void vendor_text(char *to, size_t size, const char *from)
{
    size_t i = 0;

    for (; i + 1 < size && from[i]; i++)
        to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
    to[i] = '\0';
}
