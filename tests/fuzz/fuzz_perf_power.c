/*
 * The small languages of sysfs: lists of CPUs, perf events, indices in names, cleaned text.
 */
#include "base/utf8.h"
#include "telemetry/attr.h"
#include "telemetry/perf_power.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), clean[20];
    const char *p = text;
    int cpus[8], n;
    uint64_t config = 0;

    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    n = perf_power_parse_cpus(text, cpus, 8);
    if (n == 0 || n > 8)
        abort();
    for (int i = 0; i < n; i++)
        if (cpus[i] < 0 || cpus[i] > ATTR_INDEX_MAX)
            abort();
    if (perf_power_parse_event(text, &config) == 0 && config > UINT32_MAX)
        abort();
    if (text_take_index(&p) > ATTR_INDEX_MAX || p < text || p > text + size)
        abort();
    if (text_clean(clean, sizeof(clean), text, size) >= sizeof(clean) ||
        !utf8_valid(clean, strlen(clean)))
        abort();
    free(text);
    return 0;
}
