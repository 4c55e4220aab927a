#include "simpowercap.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#define WIDTH 20

struct zone {
    const struct simcurve *power;
    int fd; /* of energy_uj */
};

struct simpowercap {
    struct zone *zones;
    size_t n;
    double range_j;
};

static int write_file(const char *dir, const char *name, const char *text, struct err *err)
{
    AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
    AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

    if (fd < 0)
        return err_sys(err, errno, "%s", path);
    return fs_write_full(fd, text, strlen(text), err);
}

/* The zone's directory with its constant files; the fd of its energy_uj. */
static int make_zone(const char *dir, const char *name, double range_j, struct err *err)
{
    AUTO_FREE char *named = xasprintf("%s\n", name);
    AUTO_FREE char *range = xasprintf("%" PRId64 "\n", (int64_t)(range_j * 1e6));
    AUTO_FREE char *path = xasprintf("%s/energy_uj", dir);
    int r, fd;

    r = fs_mkdirs(dir, err);
    if (r == 0)
        r = write_file(dir, "name", named, err);
    if (r == 0)
        r = write_file(dir, "max_energy_range_uj", range, err);
    if (r < 0)
        return r;
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    return fd < 0 ? err_sys(err, errno, "%s", path) : fd;
}

int simpowercap_open(const char *root, const struct simpowercap_zone *zones, size_t n,
                     double range_j, struct simpowercap **ret, struct err *err)
{
    struct simpowercap *s = xcalloc(1, sizeof(*s));
    int top = -1, child = -1, r;

    s->zones = xcalloc(n, sizeof(*s->zones));
    s->range_j = range_j;
    for (size_t i = 0; i < n; i++) {
        bool is_top =
            top < 0 || !strncmp(zones[i].name, "package-", 8) || !strcmp(zones[i].name, "psys");
        AUTO_FREE char *dir = NULL;
        int fd;

        top += is_top;
        child = is_top ? -1 : child + 1;
        dir = is_top ? xasprintf("%s/class/powercap/intel-rapl:%d", root, top)
                     : xasprintf("%s/class/powercap/intel-rapl:%d:%d", root, top, child);
        fd = make_zone(dir, zones[i].name, range_j, err);
        if (fd < 0) {
            simpowercap_close(s);
            return fd;
        }
        s->zones[s->n++] = (struct zone){zones[i].power, fd};
    }
    r = simpowercap_update(s, err);
    for (size_t i = 0; r == 0 && i < n; i++)
        if (!zones[i].power)
            r = simpowercap_show(s, i, 0, err);
    if (r < 0) {
        simpowercap_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

int simpowercap_show(struct simpowercap *s, size_t zone, double joules, struct err *err)
{
    char text[WIDTH + 1];
    int n = snprintf(text, sizeof(text), "%" PRId64, (int64_t)(fmod(joules, s->range_j) * 1e6));

    memset(text + n, '\n', (size_t)(WIDTH - n));
    if (pwrite(s->zones[zone].fd, text, WIDTH, 0) != WIDTH)
        return err_sys(err, errno, "energy_uj");
    return 0;
}

int simpowercap_update(struct simpowercap *s, struct err *err)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < s->n; i++)
        if (s->zones[i].power)
            r = simpowercap_show(s, i, simcurve_joules(s->zones[i].power, ns_to_s(mono_now())),
                                 err);
    return r;
}

void simpowercap_close(struct simpowercap *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n; i++)
        close(s->zones[i].fd);
    free(s->zones);
    free(s);
}
