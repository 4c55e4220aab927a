/*
 * The property list parser on any bytes: paths are terminated and bounded, a document begins no
 * second time before it ended, and where the bytes are cut makes no difference. The first byte says
 * how long the pieces are.
 */
#include "telemetry/plist.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A digest of what was handed out, in its order. */
struct seen {
    uint64_t digest;
    size_t numbers, documents;
};

static void mix(struct seen *s, const void *p, size_t n)
{
    const unsigned char *bytes = p;

    for (size_t i = 0; i < n; i++)
        s->digest = (s->digest ^ bytes[i]) * UINT64_C(1099511628211);
}

static void number(void *ctx, const char *path, double value)
{
    struct seen *s = ctx;

    if (!isfinite(value) || strnlen(path, PLIST_PATH_MAX) == PLIST_PATH_MAX || !*path)
        abort();
    mix(s, path, strlen(path));
    mix(s, &value, sizeof(value));
    s->numbers++;
}

static void end(void *ctx, bool whole)
{
    struct seen *s = ctx;

    mix(s, &whole, sizeof(whole));
    s->documents++;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct seen at_once = {0}, in_pieces = {0};
    const char *text = (const char *)data + 1;
    struct plist p;
    size_t piece;

    if (size == 0)
        return 0;
    size--;
    plist_init(&p, number, end, &at_once);
    plist_push(&p, text, size);
    piece = 1 + data[0] % 64;
    plist_init(&p, number, end, &in_pieces);
    for (size_t i = 0; i < size; i += piece)
        plist_push(&p, text + i, size - i < piece ? size - i : piece);
    if (memcmp(&at_once, &in_pieces, sizeof(at_once)) != 0)
        abort();
    return 0;
}
