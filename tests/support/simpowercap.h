/*
 * simpowercap: a fake sysfs with powercap zones that count a known power curve.
 *
 * Makes ROOT/class/powercap/intel-rapl:0, intel-rapl:0:0, ... with `name`, `energy_uj` and
 * `max_energy_range_uj` and rewrites every energy_uj each refresh with the energy at that instant.
 * A zone called package-N or psys is a top zone, any other a child of the top zone before it. The
 * curve's time is CLOCK_MONOTONIC in seconds, so another process knows the truth too.
 *
 *     struct simpowercap_zone z[] = {{"package-0", &cpu}, {"dram", &dram}};
 *     struct simpowercap *s = simpowercap_open(root, z, 2, 262144, &err);
 *     for (;;) { simpowercap_update(s); ... }
 *
 * A zone without a curve shows what simpowercap_show tells it, at first 0.
 *
 * The files keep their inode and their length (the number is followed by line feeds), so that a
 * reader may hold them open and pread them as it does in sysfs. Run it as a program with
 *     sim-powercap ROOT REFRESH_MS RANGE_J NAME=SPEC...       (see simcurve.h)
 * which prints "ready" once the tree is there and goes on until it is killed.
 */
#ifndef IPW_TESTS_SIMPOWERCAP_H
#define IPW_TESTS_SIMPOWERCAP_H

#include "base/clock.h"
#include "base/err.h"
#include "simcurve.h"

struct simpowercap_zone {
    const char *name;
    const struct simcurve *power; /* NULL = see simpowercap_show */
};

struct simpowercap;

/* Makes the tree below root, which exists. The zones' curves stay the caller's. */
int simpowercap_open(const char *root, const struct simpowercap_zone *zones, size_t n,
                     double range_j, struct simpowercap **ret, struct err *err);
/* Writes the energy of now to every zone. */
int simpowercap_update(struct simpowercap *s, struct err *err);
/* Writes an energy to one zone, by its place in the list. */
int simpowercap_show(struct simpowercap *s, size_t zone, double joules, struct err *err);
/* Leaves the tree. NULL is fine. */
void simpowercap_close(struct simpowercap *s);

#endif
