/*
 * csv: a push parser for comma-separated values (RFC 4180).
 *
 * Fed in pieces of any size, it stops behind each record. Quoted fields may hold commas, doubled
 * quotes and line breaks. Lines end in LF or CR LF; a byte order mark at the start and blank lines
 * are passed over; quotes in the middle of an unquoted field are text. A record that breaks the
 * rules is reported and passed over to the end of its line.
 *
 *     struct csv csv;
 *     csv_init(&csv, 64 << 20);
 *     for each piece, while n > 0:
 *         event = csv_push(&csv, piece, n, &used);    then piece += used, n -= used
 *         CSV_RECORD: csv_field(&csv, i, &len) for i < csv.n_fields
 *         CSV_BAD:    csv.reason
 *     event = csv_finish(&csv);                       a last line without an end
 *     csv_release(&csv);
 *
 * One thread at a time.
 */
#ifndef IPW_DATASET_CSV_H
#define IPW_DATASET_CSV_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CSV_FIELDS_MAX 4096

enum csv_event {
    CSV_MORE,   /* everything was used, no record is complete */
    CSV_RECORD, /* fields are valid until the next push */
    CSV_BAD     /* a record could not be read; reason and line say which and why */
};

enum csv_state {
    CSV_FIELD_START,
    CSV_PLAIN,       /* in an unquoted field */
    CSV_QUOTED,      /* between quotes */
    CSV_QUOTE_ENDED, /* behind a quote that ends the field, or is the first of two */
    CSV_CR,          /* behind a CR that ends the record if LF follows */
    CSV_SKIPPING     /* the rest of a bad line */
};

struct csv {
    /* the record */
    struct buf text;    /* its fields, one after another, each followed by a NUL */
    size_t *field_ends; /* in text, behind the NUL */
    size_t n_fields;
    size_t cap_fields;
    int64_t line;       /* it begins at, from 1 */
    int64_t offset;     /* in bytes from the start of the input (csv_restart sets it) */
    const char *reason; /* why it is bad; a string constant */
    /* the reading of it */
    enum csv_state state;
    enum csv_state cr_from; /* the state before CSV_CR */
    bool in_record;         /* something of it was seen */
    bool record_given;      /* the last record was handed out; the next push begins a new one */
    int64_t next_line;      /* of the next byte */
    int64_t next_offset;
    unsigned bom_seen; /* bytes of a byte order mark at the very start; 3 = past it */
};

void csv_init(struct csv *c, size_t record_max);
void csv_release(struct csv *c);

/* Reads up to n bytes, or to the end of a record. *ret_used is how many were taken, at least one
 * when n is not 0. */
enum csv_event csv_push(struct csv *c, const char *data, size_t n, size_t *ret_used);
/* The input is over. CSV_MORE = nothing was left. Then the parser is ready for csv_restart. */
enum csv_event csv_finish(struct csv *c);
/* Forgets what was begun: the next byte is at this offset, where a record begins. */
void csv_restart(struct csv *c, int64_t offset, int64_t line);

/* The text of a field, followed by a NUL that does not count. */
const char *csv_field(const struct csv *c, size_t i, size_t *ret_len);

#endif
