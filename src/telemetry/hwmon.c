/*
 * hwmon: every energy counter and power sensor that the kernel's hardware monitoring shows.
 *
 * open() walks <sysfs>/class/hwmon and asks hwmon_chips.c what each value is. A value is shown
 * whatever it is; it enters a total only when the chip is known, and of two values of one rail of
 * one device only one does: the counter before the power, the whole card before its package.
 *
 * Files are opened once. A machine can have thousands of sensors and a process only so many files,
 * so values that enter no total stop at HWMON_UNSUMMED_MAX.
 */
#include "telemetry/hwmon.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "telemetry/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One value of a chip, before it is opened. */
struct candidate {
    enum quantity quantity;
    int index;
    const char *attribute; /* "input" or "average" */
    char label[64];
    const struct hwmon_rule *rule;
};

struct chip {
    char path[48]; /* "class/hwmon/hwmon3", where its values are */
    int number;    /* 3 */
    char name[32];
    char pci[16]; /* "0000:03:00.0", "" = not a PCI device */
    int dirfd;    /* of path */
    bool apu;     /* amdgpu: its power is that of CPU and GPU */
    struct candidate *candidates;
    size_t n, cap;
};

static void chip_release(struct chip *c)
{
    cleanup_fd(&c->dirfd);
    free(c->candidates);
}

/* The sensor may be asleep or busy, and answer later. */
static bool is_passing(int code)
{
    return code == -EAGAIN || code == -EBUSY || code == -EPERM;
}

int hwmon_open_file(struct hwmon *h, const char *chip_path, int dirfd, const char *file)
{
    AUTO_FD int fd = attr_open(dirfd, file);
    int64_t value;
    int r = fd < 0 ? fd : attr_read(fd, &value);

    if (fd < 0 && (r == -EACCES || r == -EPERM) && h->n_denied++ == 0)
        snprintf(h->first_denied, sizeof(h->first_denied), "%s/%s", chip_path, file);
    if (fd < 0 || (r < 0 && !is_passing(r)))
        return r;
    return steal_fd(&fd);
}

void hwmon_add_sensor(struct hwmon *h, struct hwmon_sensor s)
{
    GROW(h->sensors, h->n, h->cap);
    h->sensors[h->n++] = s;
}

/* "0000:03:00.0" */
static bool is_pci_address(const char *s)
{
    static const char form[] = "xxxx:xx:xx.x";

    for (size_t i = 0; i < sizeof(form); i++) {
        bool hex = s[i] && strchr("0123456789abcdefABCDEF", s[i]);

        if (form[i] == 'x' ? !hex : s[i] != form[i])
            return false;
    }
    return true;
}

static void find_pci_address(struct chip *c)
{
    char target[256];
    ssize_t n = readlinkat(c->dirfd, "device", target, sizeof(target) - 1);
    const char *last;

    if (n <= 0)
        return;
    target[n] = '\0';
    last = strrchr(target, '/');
    last = last ? last + 1 : target;
    if (is_pci_address(last))
        snprintf(c->pci, sizeof(c->pci), "%.12s", last);
}

static void read_label(const struct chip *c, const char *kind, int index, char *ret, size_t size)
{
    static const char *const suffixes[] = {"label", "oem_info"};
    char file[48];

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
        snprintf(file, sizeof(file), "%s%d_%s", kind, index, suffixes[i]);
        if (attr_text(c->dirfd, file, ret, size) > 0)
            return;
    }
}

static void add_candidates(struct chip *c, enum quantity quantity, const char *attribute)
{
    const char *kind = quantity == QUANTITY_ENERGY_J ? "energy" : "power";
    AUTO_FREE char *suffix = xasprintf("_%s", attribute);
    AUTO_FREE int *indices = NULL;
    size_t n = attr_indices(c->dirfd, kind, suffix, &indices);
    size_t n_before = c->n;

    for (size_t i = 0; i < n; i++) {
        struct candidate v = {.quantity = quantity, .index = indices[i], .attribute = attribute};
        bool known = false;

        for (size_t k = 0; k < n_before; k++)
            known |= c->candidates[k].quantity == quantity && c->candidates[k].index == v.index;
        if (known)
            continue;
        read_label(c, kind, v.index, v.label, sizeof(v.label));
        v.rule = hwmon_rule_of(c->name, v.label);
        GROW(c->candidates, c->n, c->cap);
        c->candidates[c->n++] = v;
    }
}

/* Of an average and a present value of one power the average is kept: it misses nothing between two
 * reads. */
static void find_candidates(struct chip *c)
{
    add_candidates(c, QUANTITY_ENERGY_J, "input");
    add_candidates(c, QUANTITY_POWER_W, "average");
    add_candidates(c, QUANTITY_POWER_W, "input");
}

static int by_rank(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    size_t rank_x = hwmon_rule_rank(x->rule), rank_y = hwmon_rule_rank(y->rule);

    if (x->quantity != y->quantity)
        return x->quantity == QUANTITY_ENERGY_J ? -1 : 1;
    if (rank_x != rank_y)
        return rank_x < rank_y ? -1 : 1;
    return x->index - y->index;
}

/* The number at the end of "Esocket1", -1 when there is none. */
static int trailing_number(const char *label)
{
    size_t end = strlen(label), start = end;
    const char *p;

    while (start > 0 && strchr("0123456789", label[start - 1]))
        start--;
    p = label + start;
    return text_take_index(&p);
}

static int count_devices(const struct collector_setup *setup, const struct device *like)
{
    int n = 0;

    for (size_t i = 0; i < setup->n_devices; i++)
        n += setup->devices[i].kind == like->kind &&
             strcmp(setup->devices[i].vendor, like->vendor) == 0;
    return n;
}

/* Sockets are devices of their own, whatever chips show them; else the chip is the device. */
static size_t device_of(struct collector_setup *setup, const struct chip *c,
                        const struct candidate *v)
{
    struct device d = {.kind = v->rule->kind};
    bool socket = d.kind == DEVICE_CPU && v->rule->summed;

    snprintf(d.vendor, sizeof(d.vendor), "%s", v->rule->vendor);
    if (socket) {
        d.number = trailing_number(v->label);
        d.number = d.number < 0 ? 0 : d.number;
        snprintf(d.name, sizeof(d.name), "%s socket %d", d.vendor, d.number);
        snprintf(d.backend, sizeof(d.backend), "hwmon/%.24s", c->name);
    } else {
        d.number = d.kind == DEVICE_HOST ? c->number : 0;
        if (d.kind == DEVICE_GPU)
            snprintf(d.name, sizeof(d.name), "%s GPU", d.vendor);
        else
            snprintf(d.name, sizeof(d.name), "%s", c->name);
        snprintf(d.uuid, sizeof(d.uuid), "%s", c->pci);
        snprintf(d.backend, sizeof(d.backend), "hwmon%d/%.16s", c->number, c->name);
    }
    for (size_t i = 0; i < setup->n_devices; i++)
        if (strcmp(setup->devices[i].backend, d.backend) == 0 &&
            strcmp(setup->devices[i].name, d.name) == 0)
            return i;
    if (d.kind == DEVICE_GPU)
        d.number = count_devices(setup, &d);
    return collector_add_device(setup, d);
}

static bool is_summed_already(const struct collector_setup *setup, size_t device, enum rail rail)
{
    for (size_t i = 0; i < setup->n_channels; i++)
        if (setup->channels[i].summed && setup->channels[i].device == device &&
            setup->channels[i].rail == rail)
            return true;
    return false;
}

static void name_channel(const struct chip *c, const struct candidate *v, char *ret, size_t size)
{
    const char *blank = *c->pci ? " " : "";
    char text[192];

    if (v->rule->kind == DEVICE_CPU)
        snprintf(text, sizeof(text), "%s", v->label);
    else if (*v->label)
        snprintf(text, sizeof(text), "%s%s%s %s", c->name, blank, c->pci, v->label);
    else
        snprintf(text, sizeof(text), "%s%s%s %s%d", c->name, blank, c->pci,
                 v->quantity == QUANTITY_ENERGY_J ? "energy" : "power", v->index);
    text_clean(ret, size, text, strlen(text));
}

/* As the chip documents it, in milliseconds. */
static mono_ns refresh_ns(const struct chip *c, const struct candidate *v)
{
    char file[48];
    int64_t ms = 0;

    if (strcmp(c->name, "amd_energy") == 0)
        return NS_PER_MS;
    snprintf(file, sizeof(file), "power%d_average_interval", v->index);
    if (attr_read_at(c->dirfd, file, &ms) < 0)
        attr_read_at(c->dirfd, "update_interval", &ms);
    return ms > 0 && ms <= 60000 ? ms * NS_PER_MS : 0;
}

static void add_value(struct hwmon *h, struct collector_setup *setup, const struct chip *c,
                      const struct candidate *v)
{
    bool energy = v->quantity == QUANTITY_ENERGY_J;
    struct channel ch = {.quantity = v->quantity,
                         .rail = c->apu && v->rule->rail == RAIL_GPU ? RAIL_SOC : v->rule->rail,
                         .range = NAN,
                         .quantum = 1e-6};
    char file[48];
    int fd;

    if (!v->rule->summed && h->n_unsummed >= HWMON_UNSUMMED_MAX) {
        h->n_left_out++;
        return;
    }
    snprintf(file, sizeof(file), "%s%d_%s", energy ? "energy" : "power", v->index, v->attribute);
    fd = hwmon_open_file(h, c->path, c->dirfd, file);
    if (fd < 0)
        return;
    ch.device = device_of(setup, c, v);
    ch.summed = v->rule->summed && !is_summed_already(setup, ch.device, ch.rail);
    ch.refresh_ns = refresh_ns(c, v);
    name_channel(c, v, ch.name, sizeof(ch.name));
    h->n_unsummed += !ch.summed;
    hwmon_add_sensor(h, (struct hwmon_sensor){.fd = fd,
                                              .fd_current = -1,
                                              .max = energy ? INT64_MAX : HWMON_POWER_MAX_UW,
                                              .divisor = 1e6,
                                              .channel = collector_add_channel(setup, ch)});
}

/* Some drivers (ACPI's power_meter) keep their values with the device, not with the hwmon. */
static void open_values(struct chip *c)
{
    int device;

    find_candidates(c);
    if (c->n > 0)
        return;
    device = fs_open_dir(c->dirfd, "device", NULL);
    if (device < 0)
        return;
    close(c->dirfd);
    c->dirfd = device;
    snprintf(c->path, sizeof(c->path), "class/hwmon/hwmon%d/device", c->number);
    find_candidates(c);
}

static void add_chip(struct hwmon *h, struct collector_setup *setup, int sysfs, int number)
{
    AUTO(chip) struct chip c = {.number = number};
    char northbridge[16];

    snprintf(c.path, sizeof(c.path), "class/hwmon/hwmon%d", number);
    c.dirfd = fs_open_dir(sysfs, c.path, NULL);
    if (c.dirfd < 0 || attr_text(c.dirfd, "name", c.name, sizeof(c.name)) <= 0)
        return;
    if (strcmp(c.name, "ina3221") == 0) {
        hwmon_jetson_chip(h, setup, c.path, c.dirfd);
        return;
    }
    find_pci_address(&c);
    open_values(&c);
    /* Only APUs have this voltage; their power sensor is that of the whole chip. */
    attr_text(c.dirfd, "in1_label", northbridge, sizeof(northbridge));
    c.apu = strcmp(c.name, "amdgpu") == 0 && strcmp(northbridge, "vddnb") == 0;
    if (c.n > 1)
        qsort(c.candidates, c.n, sizeof(*c.candidates), by_rank);
    for (size_t i = 0; i < c.n; i++)
        add_value(h, setup, &c, &c.candidates[i]);
}

static void hwmon_close(void *ctx)
{
    struct hwmon *h = ctx;

    for (size_t i = 0; i < h->n; i++) {
        cleanup_fd(&h->sensors[i].fd);
        cleanup_fd(&h->sensors[i].fd_current);
    }
    free(h->sensors);
    free(h);
}

/* The remedy is for all files of the kind: "energy*_input" for "energy1_input". */
static int explain_denied(const char *root, const struct hwmon *h, struct err *err)
{
    const char *file = strrchr(h->first_denied, '/') + 1;
    int head = (int)(file - h->first_denied + (ptrdiff_t)strcspn(file, "0123456789"));
    const char *tail = h->first_denied + head;

    return err_set(err, EACCES,
                   "%s/%s is readable by root only (%zu such files); "
                   "run 'sudo chmod a+r %s/%.*s*%s'",
                   root, h->first_denied, h->n_denied, root, head, h->first_denied,
                   tail + strspn(tail, "0123456789"));
}

static int hwmon_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    const char *root = setup->env->sysfs_root;
    AUTO_FD int sysfs = fs_open_dir(AT_FDCWD, root, NULL);
    AUTO_FD int dirfd = sysfs < 0 ? -1 : fs_open_dir(sysfs, "class/hwmon", NULL);
    AUTO_FREE int *numbers = NULL;
    size_t n = dirfd < 0 ? 0 : attr_indices(dirfd, "hwmon", "", &numbers);
    struct hwmon *h = xcalloc(1, sizeof(*h));
    int r;

    h->sum_channel = h->board = SIZE_MAX;
    for (size_t i = 0; i < n; i++)
        add_chip(h, setup, sysfs, numbers[i]);
    hwmon_jetson_finish(h, setup, sysfs);
    if (h->n == 0) {
        r = h->n_denied > 0
                ? explain_denied(root, h, err)
                : err_set(err, ENODEV, "no energy or power sensors under %s/class/hwmon", root);
        hwmon_close(h);
        return r;
    }
    if (h->n_denied > 0) {
        struct err why = {0};

        explain_denied(root, h, &why);
        collector_note(setup, "%s", why.text);
    }
    if (h->n_left_out > 0)
        collector_note(setup, "%zu values that enter no total are left out", h->n_left_out);
    *ret_ctx = h;
    return 0;
}

/* The value in the channel's unit, or -errno. */
static int read_sensor(const struct hwmon_sensor *s, double *ret)
{
    int64_t value, current;
    int r = attr_read(s->fd, &value);

    if (r == 0 && s->fd_current >= 0) {
        r = attr_read(s->fd_current, &current);
        if (r == 0 && (value < 0 || current < 0 || __builtin_mul_overflow(value, current, &value)))
            r = -ERANGE;
    }
    if (r < 0)
        return r;
    if (value < s->min || value > s->max)
        return -ERANGE;
    *ret = (double)value / s->divisor;
    return 0;
}

static int hwmon_read(void *ctx, struct sample_sink *out, struct err *err)
{
    const struct hwmon *h = ctx;
    mono_ns before = mono_now(), after, sum_from = 0, sum_to = 0;
    double sum = 0;
    size_t good = 0;
    int failure = 0;

    for (size_t i = 0; i < h->n; i++) {
        const struct hwmon_sensor *s = &h->sensors[i];
        double value = NAN;
        int r = read_sensor(s, &value);

        after = mono_now();
        if (s->part) {
            sum_from = sum_from ? sum_from : before;
            sum_to = after;
            sum += value;
        }
        if (r == 0) {
            sample_put(out, s->channel, before, after, value);
            good++;
        } else {
            failure = r;
        }
        before = after;
    }
    if (h->sum_channel != SIZE_MAX && !isnan(sum))
        sample_put(out, h->sum_channel, sum_from, sum_to, sum);
    return good > 0 ? 0 : err_sys(err, -failure, "no sensor can be read");
}

extern const struct collector_ops hwmon_ops;

static void hwmon_check(struct plugin_status *ret)
{
    collector_check(&hwmon_ops, ret);
}

const struct collector_ops hwmon_ops = {
    .plugin = {.id = "hwmon",
               .help = "energy and power sensors of boards and chips (Jetson, Grace, amdgpu, xe)",
               .check = hwmon_check},
    .open = hwmon_open,
    .read = hwmon_read,
    .close = hwmon_close,
};
