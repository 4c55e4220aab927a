/*
 * fake: what the stand-in vendor libraries share: GPUs that draw a known power, and faults on
 * order.
 *
 * A stand-in is a shared library with the vendor's symbols. It is set up by environment variables
 * (PREFIX is FAKE_NVML or FAKE_AMD), read when the program under test initialises it; the faults
 * and what is one library's own, at every call:
 *
 *   PREFIX_GPUS=N          how many (1); at most 16
 *   PREFIX_POWER=TEXT      a function of simpower.h ("constant:100"); several, parted by ";", are
 *                          for GPU 0, 1, ...; the last serves the rest
 *   PREFIX_REFRESH_MS=T    the counter, and the power shown, are renewed every T (100; AMD: 1); 0 =
 *                          at every call. Renewals lie at multiples of T of the monotonic clock
 *   PREFIX_JITTER=F        each renewal is late by a part of T between 0 and F < 1 (0)
 *   PREFIX_QUANTUM_MJ=Q    the counter shows whole multiples of Q millijoules (1)
 *   PREFIX_START_J=E       what the counter shows at initialisation (1000)
 *   PREFIX_RESET_AT=S      the counter starts again from 0, S seconds after initialisation
 *   PREFIX_ERRORS=LIST     NAME[@GPU]=CODE,...: these calls fail with CODE; NAME * is every call
 *   PREFIX_HANG=LIST       NAME[@GPU],...: these calls never return
 *   PREFIX_DELAY_US=LIST   NAME[@GPU]=US,...: these calls take so long
 *   PREFIX_FAULTS_FROM=S   ERRORS, HANG and DELAY_US begin S seconds after initialisation (0)
 *   PREFIX_STAMPS=KIND     see the library
 *
 * More of one library's own are described at its top. In-process tests may also call fake_pin() and
 * read fake_inits and fake_shutdowns, which each library exports.
 */
#ifndef IPW_TESTS_FAKE_H
#define IPW_TESTS_FAKE_H

#include "base/clock.h"
#include "support/simpower.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FAKE_GPUS_MAX 16

struct fake {
    const char *prefix;
    unsigned int gpus;
    struct simpower power[FAKE_GPUS_MAX];
    mono_ns refresh_ns;
    double jitter;
    double quantum_j;
    double start_j;
    mono_ns reset_at; /* MONO_NEVER */
    mono_ns origin;
    mono_ns faults_from;
    char stamps[16];
};

/* All that these libraries export besides the vendor's functions. */
#define FAKE_EXPORT __attribute__((visibility("default")))
/* Stops the library's clock at t; MONO_ABSENT lets it run again. */
FAKE_EXPORT void fake_pin(mono_ns t);
FAKE_EXPORT extern int fake_inits;
FAKE_EXPORT extern int fake_shutdowns;

/* Reads the environment. Ends the program with a message when it makes no sense. */
void fake_setup(struct fake *f, const char *prefix, double refresh_ms);

/* The value of PREFIX_NAME, else the fallback. */
const char *fake_text(const struct fake *f, const char *name, const char *fallback);
double fake_number(const struct fake *f, const char *name, double fallback);

mono_ns fake_now(void);
/* The newest renewal not later than t, and its counter and power. */
mono_ns fake_renewal(const struct fake *f, mono_ns t);
double fake_joules(const struct fake *f, unsigned int gpu, mono_ns t);
double fake_watts(const struct fake *f, unsigned int gpu, mono_ns t);

/* The faults ordered for a call: waits, hangs, or returns the error (0 = none). gpu -1: the call
 * belongs to none. */
int fake_fault(const struct fake *f, const char *call, int gpu);

/* Microseconds since 1970 of a monotonic time. */
long long fake_wall_us(mono_ns t);

#endif
