/*
 * The same bytes must give the same records, places and complaints however they are cut; the first
 * byte says how. A record read again from its place must be the same.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "dataset/csv.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void note(const struct csv *csv, enum csv_event event, struct buf *log)
{
    if (event == CSV_BAD)
        buf_addf(log, "!%s@%lld,%lld", csv->reason, (long long)csv->line, (long long)csv->offset);
    if (event != CSV_RECORD)
        return;
    buf_addf(log, "%zu@%lld,%lld:", csv->n_fields, (long long)csv->line, (long long)csv->offset);
    for (size_t i = 0; i < csv->n_fields; i++) {
        size_t len;
        const char *field = csv_field(csv, i, &len);

        if (field[len])
            abort();
        buf_add(log, field, len + 1);
    }
}

static void read_in_pieces(const char *text, size_t n, size_t step, struct buf *log)
{
    struct csv csv;

    csv_init(&csv, RECORD_MAX);
    for (size_t at = 0; at < n;) {
        size_t used, piece = n - at < step ? n - at : step;

        note(&csv, csv_push(&csv, text + at, piece, &used), log);
        if (!used || used > piece)
            abort();
        at += used;
    }
    note(&csv, csv_finish(&csv), log);
    if (csv_finish(&csv) != CSV_MORE)
        abort();
    csv_release(&csv);
}

/* Reads the first record that begins at or behind the middle again from its place. */
static void read_again(const char *text, size_t n)
{
    AUTO(buf) struct buf first = BUF_INIT(1 << 24), second = BUF_INIT(1 << 24);
    enum csv_event event = CSV_MORE;
    struct csv csv;
    size_t at = 0, used;

    csv_init(&csv, RECORD_MAX);
    while (at < n && !(event == CSV_RECORD && (size_t)csv.offset >= n / 2)) {
        event = csv_push(&csv, text + at, n - at, &used);
        at += used;
    }
    if (event == CSV_RECORD) {
        int64_t offset = csv.offset, line = csv.line;

        note(&csv, event, &first);
        csv_restart(&csv, offset, line);
        event = csv_push(&csv, text + offset, n - (size_t)offset, &used);
        if (event == CSV_MORE)
            event = csv_finish(&csv);
        note(&csv, event, &second);
        if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
            abort();
    }
    csv_release(&csv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(buf) struct buf whole = BUF_INIT(1 << 24), cut = BUF_INIT(1 << 24);
    const char *text = (const char *)data + 1;

    if (size < 1 || size > 65536)
        return 0;
    read_in_pieces(text, size - 1, size, &whole);
    read_in_pieces(text, size - 1, 1 + data[0] % 16, &cut);
    if (whole.len != cut.len || (whole.len && memcmp(whole.data, cut.data, whole.len) != 0))
        abort();
    read_again(text, size - 1);
    return 0;
}
