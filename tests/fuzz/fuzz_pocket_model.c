/*
 * No bytes may make the embedded model's reader crash, or take more than they deserve. The bytes
 * are tried as they are, and once more with a checksum that fits, so that what lies behind it is
 * reached too; a model that opens is run for a few steps.
 */
#include "base/alloc.h"
#include "base/checksum.h"
#include "base/cleanup.h"
#include "client/pocket/model.h"
#include "client/pocket/weights.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(const void *data, size_t size)
{
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    struct err err = {0};

    if (pocket_model_open(data, size, &m, &err) < 0) {
        if (m || !err.text[0])
            abort();
        return;
    }
    AUTO_PTR(pocket_state) struct pocket_state *s = pocket_state_new(m);
    for (int i = 0; i < 4 && i < pocket_context(m); i++)
        pocket_step(s, i * 7 % pocket_vocabulary(m));
    if (pocket_state_length(s) != 4)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE uint8_t *sealed = xmemdup(data, size);

    run(data, size);
    if (size >= POCKET_HEADER_SIZE) {
        uint64_t sum = checksum64(sealed, 40) ^ checksum64(sealed + 48, size - 48);

        for (int i = 0; i < 8; i++)
            sealed[40 + i] = (uint8_t)(sum >> 8 * i);
        run(sealed, size);
    }
    return 0;
}
