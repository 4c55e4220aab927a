/*
 * fake_amd: what the stand-ins for libamd_smi and librocm_smi64 share. Settings besides those of
 * fake.h (prefix FAKE_AMD; the counter is renewed every millisecond):
 *
 *   RESOLUTION_UJ=R   the step that the library tells of its counter (15.3, as the real ones, whose
 *                     step then is 2^-16 J); QUANTUM_MJ is not used
 *   STAMPS=boot       the counter is stamped with the renewal's CLOCK_BOOTTIME (the default)
 *          none       with 0
 *          future     an hour ahead
 *          wall       with nanoseconds since 1970
 *   NO_CURRENT=1      the GPU tells an average power only
 *   NO_JUNCTION=1     the GPU has an edge temperature only
 *
 * GPU i: "AMD Stand-in i" at 0000:(c1 + i):00.0, 55 + i degrees (edge: 45 + i), 2 GiB used of 192,
 * 60 + i % busy, 20 + i % memory.
 */
#ifndef IPW_TESTS_FAKE_AMD_H
#define IPW_TESTS_FAKE_AMD_H

#include "fakes/fake.h"

extern struct fake fake_amd;

void fake_amd_setup(void);
void fake_amd_energy(unsigned int gpu, uint64_t *count, float *resolution_uj, uint64_t *stamp_ns);
double fake_amd_watts(unsigned int gpu);
bool fake_amd_set(const char *name);

#endif
