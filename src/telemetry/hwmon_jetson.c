/*
 * Jetson boards measure their rails with INA3221 chips: three channels each, voltage and current
 * (newer kernels: power too). On some boards one rail, VDD_IN, is the whole; on the others the sum
 * of the rails stands for it, and is put only when every rail could be read, since a sum with a
 * hole would be a smaller number and not an absent one.
 *
 * An INA3221 on a board that is not a Jetson says nothing about what its rails feed or whether one
 * contains another: those are shown and never summed.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "telemetry/attr.h"
#include "telemetry/hwmon.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define INA3221_CHANNELS 3

static bool is_whole(const char *label)
{
    static const char *const names[] = {"VDD_IN", "POM_5V_IN"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(label, names[i]) == 0)
            return true;
    return false;
}

/* A rail that feeds GPU and CPU alike (VDD_CPU_GPU_CV) is the GPU's: that is what the boards are
 * for, and the other reading would call it a CPU's. */
static enum rail rail_of(const char *label)
{
    if (is_whole(label))
        return RAIL_SOC;
    if (strstr(label, "GPU"))
        return RAIL_GPU;
    if (strstr(label, "CPU"))
        return RAIL_CPU;
    if (strstr(label, "DDR") || strncmp(label, "VDDQ", 4) == 0 || strcmp(label, "VDDRQ") == 0)
        return RAIL_DRAM;
    return RAIL_OTHER;
}

static void add_board(struct hwmon *h, struct collector_setup *setup)
{
    struct device d = {.kind = DEVICE_SOC, .backend = "sysfs/ina3221"};
    AUTO_FREE char *path = xasprintf("%s/device-tree/model", setup->env->procfs_root);

    if (attr_text(AT_FDCWD, path, d.name, sizeof(d.name)) <= 0)
        snprintf(d.name, sizeof(d.name), "NVIDIA Jetson");
    h->jetson = strstr(d.name, "NVIDIA") || strstr(d.name, "Jetson");
    if (h->jetson)
        snprintf(d.vendor, sizeof(d.vendor), "NVIDIA");
    h->board = collector_add_device(setup, d);
}

/* Its power, or else voltage and current. */
static bool open_rail(struct hwmon *h, const char *chip_path, int dirfd, int n,
                      struct hwmon_sensor *ret)
{
    char file[32];

    snprintf(file, sizeof(file), "power%d_input", n);
    ret->fd = hwmon_open_file(h, chip_path, dirfd, file);
    ret->fd_current = -1;
    if (ret->fd >= 0)
        return true;
    snprintf(file, sizeof(file), "in%d_input", n);
    ret->fd = hwmon_open_file(h, chip_path, dirfd, file);
    if (ret->fd < 0)
        return false;
    snprintf(file, sizeof(file), "curr%d_input", n);
    ret->fd_current = hwmon_open_file(h, chip_path, dirfd, file);
    if (ret->fd_current >= 0)
        return true;
    close(ret->fd);
    return false;
}

static mono_ns update_interval_ns(int dirfd)
{
    int64_t ms;

    if (attr_read_at(dirfd, "update_interval", &ms) < 0 || ms <= 0 || ms > 60000)
        return 0;
    return ms * NS_PER_MS;
}

static void add_rail(struct hwmon *h, struct collector_setup *setup, const char *label,
                     mono_ns refresh_ns, struct hwmon_sensor sensor)
{
    struct channel c = {.quantity = QUANTITY_POWER_W,
                        .range = NAN,
                        .quantum = sensor.fd_current < 0 ? 1e-6 : NAN,
                        .refresh_ns = refresh_ns};

    if (h->board == SIZE_MAX)
        add_board(h, setup);
    c.device = h->board;
    c.rail = h->jetson ? rail_of(label) : RAIL_OTHER;
    c.summed = c.rail != RAIL_OTHER;
    snprintf(c.name, sizeof(c.name), "%s", label);
    sensor.max = HWMON_POWER_MAX_UW;
    sensor.divisor = 1e6;
    sensor.part = h->jetson;
    sensor.channel = collector_add_channel(setup, c);
    hwmon_add_sensor(h, sensor);
}

void hwmon_jetson_chip(struct hwmon *h, struct collector_setup *setup, const char *chip_path,
                       int dirfd)
{
    for (int n = 1; n <= INA3221_CHANNELS; n++) {
        struct hwmon_sensor sensor = {0};
        char file[32], label[64];

        snprintf(file, sizeof(file), "in%d_label", n);
        if (attr_text(dirfd, file, label, sizeof(label)) <= 0)
            snprintf(label, sizeof(label), "%.32s rail %d", strrchr(chip_path, '/') + 1, n);
        if (strcasecmp(label, "NC") == 0)
            continue;
        h->whole_rail |= is_whole(label);
        if (open_rail(h, chip_path, dirfd, n, &sensor))
            add_rail(h, setup, label, update_interval_ns(dirfd), sensor);
    }
}

static void add_temperature(struct hwmon *h, struct collector_setup *setup, int sysfs)
{
    AUTO_FD int dirfd = fs_open_dir(sysfs, "class/thermal", NULL);
    AUTO_FREE int *zones = NULL;
    size_t n = dirfd < 0 ? 0 : attr_indices(dirfd, "thermal_zone", "", &zones);

    for (size_t i = 0; i < n; i++) {
        struct channel c = {.quantity = QUANTITY_TEMPERATURE_C,
                            .rail = RAIL_GPU,
                            .device = h->board,
                            .range = NAN,
                            .quantum = NAN};
        char path[64];
        int fd;

        snprintf(path, sizeof(path), "thermal_zone%d/type", zones[i]);
        if (attr_text(dirfd, path, c.name, sizeof(c.name)) <= 0 ||
            strncasecmp(c.name, "gpu", 3) != 0)
            continue;
        snprintf(path, sizeof(path), "thermal_zone%d/temp", zones[i]);
        /* A GPU that sleeps has no temperature now but will have one. */
        fd = attr_open(dirfd, path);
        if (fd < 0)
            continue;
        hwmon_add_sensor(h, (struct hwmon_sensor){.fd = fd,
                                                  .fd_current = -1,
                                                  .min = -100000,
                                                  .max = 300000,
                                                  .divisor = 1e3,
                                                  .channel = collector_add_channel(setup, c)});
        return;
    }
}

void hwmon_jetson_finish(struct hwmon *h, struct collector_setup *setup, int sysfs)
{
    struct channel c = {.quantity = QUANTITY_POWER_W,
                        .rail = RAIL_SOC,
                        .device = h->board,
                        .name = "sum of rails",
                        .summed = true,
                        .range = NAN,
                        .quantum = NAN};

    if (h->board == SIZE_MAX)
        return;
    for (size_t i = 0; i < h->n; i++)
        if (h->sensors[i].part)
            c.refresh_ns = setup->channels[h->sensors[i].channel].refresh_ns;
    if (h->jetson && !h->whole_rail)
        h->sum_channel = collector_add_channel(setup, c);
    add_temperature(h, setup, sysfs);
}
