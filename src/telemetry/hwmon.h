/*
 * hwmon: private to the hwmon collector, which is three files: hwmon.c walks the chips and samples,
 * hwmon_chips.c knows what the chips measure, hwmon_jetson.c does the boards with an INA3221.
 */
#ifndef IPW_TELEMETRY_HWMON_H
#define IPW_TELEMETRY_HWMON_H

#include "telemetry/collector.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Files kept open for values that enter no total: a machine may have thousands of them. */
#define HWMON_UNSUMMED_MAX 256
/* No single sensor of a machine shows more; what does is broken. */
#define HWMON_POWER_MAX_UW INT64_C(100000000000)

/* What a chip's value is; see hwmon_chips.c. */
struct hwmon_rule {
    const char *chip;
    const char *label; /* how the value's label begins; "" = any */
    enum rail rail;
    bool summed; /* the first such value of a device is */
    enum device_kind kind;
    const char *vendor;
};

/* Never NULL: unknown chips get a rule that shows them and sums nothing. */
const struct hwmon_rule *hwmon_rule_of(const char *chip, const char *label);
/* How early in the table it is: of two values of one rail the earlier rule's is summed. */
size_t hwmon_rule_rank(const struct hwmon_rule *rule);

struct hwmon_sensor {
    int fd;         /* the value, or its voltage */
    int fd_current; /* the value is voltage x current; -1 = it is not */
    int64_t min, max;
    double divisor; /* of the whole number in the file to the channel's unit */
    size_t channel;
    bool part; /* of the computed sum */
};

struct hwmon {
    struct hwmon_sensor *sensors;
    size_t n, cap;
    size_t n_unsummed, n_left_out;
    size_t sum_channel; /* SIZE_MAX = none */
    /* what may not be read */
    size_t n_denied;
    char first_denied[128];
    /* boards with an INA3221 */
    bool jetson;
    bool whole_rail; /* there is a rail that contains the others */
    size_t board;    /* its device; SIZE_MAX = none yet */
};

/* Opens a file and reads it once. Returns the fd, or -errno. A sensor that sleeps may wake up, so
 * that is no failure. A file that may not be read is remembered in h under chip_path. */
int hwmon_open_file(struct hwmon *h, const char *chip_path, int dirfd, const char *file);
/* Takes the fds. */
void hwmon_add_sensor(struct hwmon *h, struct hwmon_sensor s);

/* The rails of one INA3221 in dirfd, "class/hwmon/hwmonN". */
void hwmon_jetson_chip(struct hwmon *h, struct collector_setup *setup, const char *chip_path,
                       int dirfd);
/* After the last chip: the sum of the rails where no rail is the whole, and the temperature. */
void hwmon_jetson_finish(struct hwmon *h, struct collector_setup *setup, int sysfs);

#endif
