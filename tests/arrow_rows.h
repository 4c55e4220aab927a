/*
 * arrow_rows: every row of a stream or a directory as a line of JSON, for comparison with what is
 * expected.
 */
#ifndef IPW_TESTS_ARROW_ROWS_H
#define IPW_TESTS_ARROW_ROWS_H

#include "arrow/hfdir.h"
#include "arrow/reader.h"

#include <fcntl.h>

static inline void rows_add(struct buf *out, const struct arrow_array *batch)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    for (int64_t i = 0; i < batch->length && !out->failed; i++) {
        w.first = true;
        arrow_value_json(batch, i, &w, NULL);
        buf_addc(out, '\n');
    }
}

/* Appends all rows; 0 or the error. */
static inline int rows_of_memory(const void *data, size_t size, struct buf *out, struct err *err)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    const struct arrow_array *batch;
    int more = arrow_reader_open_memory(data, size, "test", &r, err);

    while (more >= 0 && (more = arrow_reader_next(r, &batch, err)) > 0)
        rows_add(out, batch);
    return more;
}

static inline int rows_of_dir(const char *path, const char *split, struct buf *out, struct err *err)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch;
    int more = hfdir_open(AT_FDCWD, path, split, &h, err);

    while (more >= 0 && (more = hfdir_next(h, &batch, err)) > 0)
        rows_add(out, batch);
    return more;
}

#endif
