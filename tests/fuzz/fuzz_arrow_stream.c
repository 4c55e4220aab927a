/*
 * Any bytes as an Arrow stream, every value read as JSON into a bounded buffer.
 */
#include "arrow_rows.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) struct buf rows = BUF_INIT(1 << 16);
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    int64_t count, last = 0;
    struct err err = {0};

    rows_of_memory(data, size, &rows, &err);
    if (arrow_reader_open_memory(data, size, "fuzz", &r, &err) < 0)
        return 0;
    arrow_reader_rows(r, &count, &err);
    for (const struct arrow_array *batch; arrow_reader_next(r, &batch, &err) > 0;) {
        if (arrow_reader_position(r) <= last || arrow_reader_position(r) > (int64_t)size)
            abort();
        last = arrow_reader_position(r);
    }
    return 0;
}
