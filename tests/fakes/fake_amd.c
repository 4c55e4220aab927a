#include "fakes/fake_amd.h"

#include <math.h>
#include <string.h>

struct fake fake_amd;

bool fake_amd_set(const char *name)
{
    return fake_number(&fake_amd, name, 0) != 0;
}

void fake_amd_setup(void)
{
    double resolution_uj;

    fake_setup(&fake_amd, "FAKE_AMD", 1);
    resolution_uj = fake_number(&fake_amd, "RESOLUTION_UJ", 15.3);
    fake_amd.quantum_j = resolution_uj == 15.3 ? 0x1p-16 : resolution_uj * 1e-6;
}

static uint64_t stamp_of(mono_ns t)
{
    if (strcmp(fake_amd.stamps, "none") == 0)
        return 0;
    if (strcmp(fake_amd.stamps, "wall") == 0)
        return (uint64_t)fake_wall_us(t) * 1000;
    if (strcmp(fake_amd.stamps, "future") == 0)
        t += 3000 * NS_PER_S;
    return (uint64_t)(t + clock_suspended_ns());
}

void fake_amd_energy(unsigned int gpu, uint64_t *count, float *resolution_uj, uint64_t *stamp_ns)
{
    mono_ns t = fake_now();

    *count = (uint64_t)llround(fake_joules(&fake_amd, gpu, t) / fake_amd.quantum_j);
    *resolution_uj = (float)fake_number(&fake_amd, "RESOLUTION_UJ", 15.3);
    *stamp_ns = stamp_of(fake_renewal(&fake_amd, t));
}

double fake_amd_watts(unsigned int gpu)
{
    return fake_watts(&fake_amd, gpu, fake_now());
}
