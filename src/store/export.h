/*
 * export: the records of a run (or of any HuggingFace directory) as text, row by row.
 */
#ifndef IPW_STORE_EXPORT_H
#define IPW_STORE_EXPORT_H

#include "base/err.h"

#include <stdint.h>
#include <stdio.h>

/* One JSON object per line: nested as stored, nulls as null. */
int export_jsonl(const char *dir, FILE *out, int64_t *ret_rows, struct err *err);
/* RFC 4180 with a header line. Structs become columns with dotted names, lists JSON text, nulls
 * empty; text is always quoted, so that an empty text differs from a null. */
int export_csv(const char *dir, FILE *out, int64_t *ret_rows, struct err *err);

#endif
