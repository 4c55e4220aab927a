/*
 * simpower: power curves whose energy is known exactly.
 *
 * A curve is a cycle of levels that repeats for ever, optionally smoothed as a real supply smooths
 * it (first-order lag), plus a sine. Time is seconds on any clock, from 0 up; joules(t) is the
 * exact integral from 0 to t, so the energy of a window is joules(b) - joules(a). No dependency but
 * libm: stand-in libraries compile it in.
 *
 *     struct simpower p;
 *     simpower_parse(&p, "square:60,300,2,0.25");
 *     truth = simpower_joules(&p, b) - simpower_joules(&p, a);
 *     simpower_release(&p);
 *
 * Specifications (numbers separated by commas; lag_s may always be left out):
 *     const:WATTS
 *     sine:MEAN_W,AMPLITUDE_W,PERIOD_S
 *     square:LOW_W,HIGH_W,PERIOD_S,DUTY[,LAG_S]      high for the first DUTY of each period
 *     steps:LOW_W,HIGH_W,DWELL_S,SEED[,LAG_S]        64 random levels of random length, repeated
 */
#ifndef IPW_TESTS_SIMPOWER_H
#define IPW_TESTS_SIMPOWER_H

#include <stddef.h>
#include <stdint.h>

struct simpower {
    size_t n;         /* levels of the cycle */
    double *from_s;   /* where each begins within the cycle; n + 1 of them, the last its length */
    double *watts;    /* the level */
    double *start_w;  /* the smoothed power where the level begins */
    double *before_j; /* energy of the cycle before it; n + 1 of them */
    double lag_s;     /* 0 = none */
    double sine_w, sine_s;
};

/* A cycle of levels: watts[i] for length_s[i]. */
void simpower_levels(struct simpower *p, const double *length_s, const double *watts, size_t n,
                     double lag_s);
/* 0, or -1 when the text is no specification. */
int simpower_parse(struct simpower *p, const char *text);
void simpower_release(struct simpower *p);

double simpower_watts(const struct simpower *p, double t_s);
double simpower_joules(const struct simpower *p, double t_s);

/* The generator used throughout: the same numbers everywhere for the same seed. */
uint64_t sim_hash(uint64_t seed, uint64_t i);
/* In [0, 1). */
double sim_uniform(uint64_t seed, uint64_t i);

#endif
