/*
 * The parsers of /proc and os-release on any text: what they give is bounded, terminated UTF-8, and
 * numbers that make sense together. The first byte chooses where the text is cut for a second look.
 */
#include "base/utf8.h"
#include "telemetry/procinfo.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text, size_t size)
{
    size_t n = strnlen(text, size);

    if (n == size || !utf8_valid(text, n))
        abort();
}

static void look(const char *text, size_t n)
{
    struct cpu_times t = {0}, zero = {0};
    struct memory_info m;
    struct cpu_info cpu;
    char name[64], version[16];
    double pct;

    if (cpu_times_parse(text, n, &t) == 0) {
        pct = cpu_times_busy_pct(&zero, &t);
        if (!isnan(pct) && !(pct >= 0 && pct <= 100))
            abort();
    }
    memory_info_parse(text, n, &m);
    if (m.total_bytes < -1 || m.available_bytes < -1)
        abort();
    cpu_info_parse(text, n, n % 2 ? "Board" : "", &cpu);
    check_text(cpu.brand, sizeof(cpu.brand));
    if (cpu.count < 0)
        abort();
    os_release_parse(text, n, name, sizeof(name), version, sizeof(version));
    check_text(name, sizeof(name));
    check_text(version, sizeof(version));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    look((const char *)data + 1, size - 1);
    look((const char *)data + 1, (size - 1) * data[0] / 256);
    return 0;
}
