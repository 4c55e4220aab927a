/*
 * simcurve: power curves whose energy is known exactly.
 *
 * A curve is a cycle of levels that repeats for ever, optionally smoothed as a real supply smooths
 * it (first-order lag), plus a sine. Time is seconds on any clock, from 0 up; joules(t) is the
 * exact integral from 0 to t, so the energy of a window is joules(b) - joules(a). No dependency but
 * libm: stand-in libraries compile it in.
 *
 *     struct simcurve p;
 *     simcurve_parse(&p, "square:60,300,2,0.25");
 *     truth = simcurve_joules(&p, b) - simcurve_joules(&p, a);
 *     simcurve_release(&p);
 *
 * Specifications (numbers separated by commas; lag_s may always be left out):
 *     const:WATTS
 *     sine:MEAN_W,AMPLITUDE_W,PERIOD_S
 *     square:LOW_W,HIGH_W,PERIOD_S,DUTY[,LAG_S]      high for the first DUTY of each period
 *     steps:LOW_W,HIGH_W,DWELL_S,SEED[,LAG_S]        64 random levels of random length, repeated
 */
#ifndef IPW_TESTS_SIMCURVE_H
#define IPW_TESTS_SIMCURVE_H

#include <stddef.h>
#include <stdint.h>

struct simcurve {
    size_t n;         /* levels of the cycle */
    double *from_s;   /* where each begins within the cycle; n + 1 of them, the last its length */
    double *watts;    /* the level */
    double *start_w;  /* the smoothed power where the level begins */
    double *before_j; /* energy of the cycle before it; n + 1 of them */
    double lag_s;     /* 0 = none */
    double sine_w, sine_s;
};

/* A cycle of levels: watts[i] for length_s[i]. */
void simcurve_levels(struct simcurve *p, const double *length_s, const double *watts, size_t n,
                     double lag_s);
/* 0, or -1 when the text is no specification. */
int simcurve_parse(struct simcurve *p, const char *text);
void simcurve_release(struct simcurve *p);

double simcurve_watts(const struct simcurve *p, double t_s);
double simcurve_joules(const struct simcurve *p, double t_s);

/* The generator used throughout: the same numbers everywhere for the same seed. */
uint64_t sim_hash(uint64_t seed, uint64_t i);
/* In [0, 1). */
double sim_uniform(uint64_t seed, uint64_t i);

#endif
