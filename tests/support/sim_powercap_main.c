/* See simpowercap.h. */
#include "simpowercap.h"

#include "base/num.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ZONES_MAX 16

static int run(const char *root, double refresh_ms, double range_j,
               const struct simpowercap_zone *zones, size_t n, struct err *err)
{
    mono_ns period = (mono_ns)(refresh_ms * 1e6), deadline = mono_now();
    struct simpowercap *s;
    int r = simpowercap_open(root, zones, n, range_j, &s, err);

    if (r < 0)
        return r;
    puts("ready");
    fflush(stdout);
    while (r == 0) {
        deadline += period;
        mono_sleep_until(deadline);
        r = simpowercap_update(s, err);
    }
    simpowercap_close(s);
    return r;
}

int main(int argc, char **argv)
{
    static struct simcurve powers[ZONES_MAX];
    struct simpowercap_zone zones[ZONES_MAX];
    struct err err = {0};
    double refresh_ms, range_j;
    size_t n = 0;

    if (argc < 5 || argc > 4 + ZONES_MAX || parse_f64(argv[2], &refresh_ms, &err) < 0 ||
        parse_f64(argv[3], &range_j, &err) < 0 || refresh_ms < 0.1 || range_j <= 0) {
        fprintf(stderr, "usage: %s ROOT REFRESH_MS RANGE_J NAME=SPEC...\n", argv[0]);
        return 2;
    }
    for (int i = 4; i < argc; i++, n++) {
        char *spec = strchr(argv[i], '=');

        if (!spec || simcurve_parse(&powers[n], spec + 1) < 0) {
            fprintf(stderr, "%s: not NAME=SPEC\n", argv[i]);
            return 2;
        }
        *spec = '\0';
        zones[n] = (struct simpowercap_zone){argv[i], &powers[n]};
    }
    run(argv[1], refresh_ms, range_j, zones, n, &err);
    fprintf(stderr, "%s\n", err.text);
    return 1;
}
