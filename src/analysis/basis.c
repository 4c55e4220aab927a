#include "analysis/basis.h"

#include "analysis/run.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* The n-th of the figures in the order in which one is taken. */
static double nth(const struct stat4 *s, int n)
{
    return n == 0 ? s->avg : n == 1 ? s->median : n == 2 ? s->max : s->min;
}

/* The first figure that is there, better one that is positive; of two rails one that both have. */
static double sensor(const struct stat4 *a, const struct stat4 *b)
{
    double found = NAN;

    for (int n = 0; n < 4; n++) {
        double value = nth(a, n) + (b ? nth(b, n) : 0);

        if (value > BASIS_ZERO)
            return value;
        if (isnan(found) && isfinite(value))
            found = value;
    }
    return found;
}

static double rail_power(const struct record *r, const char *basis)
{
    if (strcmp(basis, "gpu+cpu") == 0)
        return sensor(&r->gpu_w, &r->cpu_w);
    if (strcmp(basis, "soc") == 0)
        return sensor(&r->soc_w, NULL);
    return sensor(strcmp(basis, "cpu") == 0 ? &r->cpu_w : &r->gpu_w, NULL);
}

/* The Python tool's choice for a record of its own; ours have it from build.c. */
static const char *choose(const struct record *r)
{
    const char *basis = r->energy.basis;
    bool ours = r->measurement.energy_source != NULL;
    bool apple = r->gpu && strcasecmp(r->gpu->vendor, "apple") == 0;

    if (basis && (ours || strcmp(basis, "soc") != 0))
        return basis;
    if ((basis || apple) && !isnan(r->energy.soc_j) && !isnan(sensor(&r->soc_w, NULL)))
        return "soc";
    if (isnan(r->energy.gpu_j) && isnan(sensor(&r->gpu_w, NULL)) &&
        (!isnan(r->energy.cpu_j) || !isnan(sensor(&r->cpu_w, NULL))))
        return "cpu";
    return "gpu";
}

static double rail_energy(const struct record *r, const char *basis)
{
    struct record chosen = {.energy = r->energy};

    chosen.energy.basis = basis;
    return record_joules(&chosen);
}

void basis_of(const struct record *r, struct basis *ret)
{
    const char *basis = choose(r);
    double seconds = r->latency.total_s;
    struct basis b = {
        .name = basis,
        .reported_j = rail_energy(r, basis),
        .sensor_w = rail_power(r, basis),
        .energy_j = NAN,
        .power_w = NAN,
    };

    b.zero_energy = fabs(b.reported_j) <= BASIS_ZERO;
    b.zero_power = fabs(b.sensor_w) <= BASIS_ZERO;
    if (b.reported_j > BASIS_ZERO) {
        b.energy_j = b.reported_j;
    } else if (b.zero_energy && b.sensor_w > BASIS_ZERO && seconds > 0) {
        b.energy_j = b.sensor_w * seconds;
        b.imputed = true;
    }
    if (!b.imputed && b.energy_j > 0 && seconds > 0) {
        b.power_w = b.energy_j / seconds;
    } else if (b.sensor_w > BASIS_ZERO) {
        b.power_w = b.sensor_w;
        b.sensor_counts = true;
    }
    if (isnan(b.reported_j) && isnan(b.sensor_w))
        b.name = NULL;
    *ret = b;
}
