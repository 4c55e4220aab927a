/*
 * The lag is solved in closed form: within a level the power runs exponentially from where it was
 * to the level; the value at the start of the cycle is the one that the cycle reproduces.
 */
#include "simcurve.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS 64

static const double two_pi = 6.283185307179586;

uint64_t sim_hash(uint64_t seed, uint64_t i)
{
    uint64_t x = seed * UINT64_C(0x9E3779B97F4A7C15) + i * UINT64_C(0xD1B54A32D192ED03);

    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    x ^= x >> 32;
    x *= UINT64_C(0xD6E8FEB86659FD93);
    return x ^ x >> 32;
}

double sim_uniform(uint64_t seed, uint64_t i)
{
    return (double)(sim_hash(seed, i) >> 11) * 0x1p-53;
}

/* Power and energy, t after the start of level i. */
static double level_w(const struct simcurve *p, size_t i, double t_s)
{
    if (p->lag_s <= 0)
        return p->watts[i];
    return p->watts[i] + (p->start_w[i] - p->watts[i]) * exp(-t_s / p->lag_s);
}

static double level_j(const struct simcurve *p, size_t i, double t_s)
{
    double steady_j = p->watts[i] * t_s;

    if (p->lag_s <= 0)
        return steady_j;
    return steady_j - (p->start_w[i] - p->watts[i]) * p->lag_s * expm1(-t_s / p->lag_s);
}

static double run_cycle(struct simcurve *p, double start_w)
{
    for (size_t i = 0; i < p->n; i++) {
        double length_s = p->from_s[i + 1] - p->from_s[i];

        p->start_w[i] = start_w;
        p->before_j[i + 1] = p->before_j[i] + level_j(p, i, length_s);
        start_w = level_w(p, i, length_s);
    }
    return start_w;
}

void simcurve_levels(struct simcurve *p, const double *length_s, const double *watts, size_t n,
                     double lag_s)
{
    double end_w;

    *p = (struct simcurve){.n = n, .lag_s = lag_s, .sine_s = 1};
    p->from_s = calloc(n + 1, sizeof(double));
    p->watts = calloc(n + 1, sizeof(double));
    p->start_w = calloc(n + 1, sizeof(double));
    p->before_j = calloc(n + 1, sizeof(double));
    if (!p->from_s || !p->watts || !p->start_w || !p->before_j)
        abort();
    for (size_t i = 0; i < n; i++) {
        p->watts[i] = watts[i];
        p->from_s[i + 1] = p->from_s[i] + length_s[i];
    }
    end_w = run_cycle(p, 0);
    if (lag_s > 0)
        run_cycle(p, end_w / -expm1(-p->from_s[n] / lag_s));
}

void simcurve_release(struct simcurve *p)
{
    free(p->from_s);
    free(p->watts);
    free(p->start_w);
    free(p->before_j);
    *p = (struct simcurve){0};
}

static void parse_steps(struct simcurve *p, const double *x, int n)
{
    double length_s[STEPS], watts[STEPS];
    uint64_t seed = (uint64_t)x[3];

    for (size_t i = 0; i < STEPS; i++) {
        watts[i] = x[0] + (x[1] - x[0]) * sim_uniform(seed, 2 * i);
        length_s[i] = x[2] * (0.2 + 1.6 * sim_uniform(seed, 2 * i + 1));
    }
    simcurve_levels(p, length_s, watts, STEPS, n > 4 ? x[4] : 0);
}

int simcurve_parse(struct simcurve *p, const char *text)
{
    double x[5] = {0};
    char kind[8];
    int n =
        sscanf(text, "%7[a-z]:%lf,%lf,%lf,%lf,%lf", kind, &x[0], &x[1], &x[2], &x[3], &x[4]) - 1;

    if (n == 1 && !strcmp(kind, "const")) {
        simcurve_levels(p, (double[]){1}, x, 1, 0);
    } else if (n == 3 && !strcmp(kind, "sine") && x[2] > 0) {
        simcurve_levels(p, (double[]){1}, x, 1, 0);
        p->sine_w = x[1];
        p->sine_s = x[2];
    } else if (n >= 4 && !strcmp(kind, "square") && x[2] > 0 && x[3] > 0 && x[3] < 1) {
        simcurve_levels(p, (double[]){x[2] * x[3], x[2] * (1 - x[3])}, (double[]){x[1], x[0]}, 2,
                        x[4]);
    } else if (n >= 4 && !strcmp(kind, "steps") && x[2] > 0) {
        parse_steps(p, x, n);
    } else {
        return -1;
    }
    return 0;
}

static size_t find_level(const struct simcurve *p, double in_cycle_s)
{
    size_t low = 0, high = p->n;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (p->from_s[middle] <= in_cycle_s)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double simcurve_watts(const struct simcurve *p, double t_s)
{
    double in_cycle_s = fmod(t_s, p->from_s[p->n]);
    size_t i = find_level(p, in_cycle_s);

    return level_w(p, i, in_cycle_s - p->from_s[i]) + p->sine_w * sin(two_pi * t_s / p->sine_s);
}

double simcurve_joules(const struct simcurve *p, double t_s)
{
    double cycle_s = p->from_s[p->n], cycles = floor(t_s / cycle_s);
    double in_cycle_s = t_s - cycles * cycle_s;
    size_t i = find_level(p, in_cycle_s);
    double sine_j = p->sine_w * p->sine_s / two_pi * (1 - cos(two_pi * t_s / p->sine_s));

    return cycles * p->before_j[p->n] + p->before_j[i] + level_j(p, i, in_cycle_s - p->from_s[i]) +
           sine_j;
}
