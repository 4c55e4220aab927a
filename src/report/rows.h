/*
 * rows: the queries of the runs as the page's table reads them, within a number of bytes.
 *
 *     r = rows_write(runs, n_runs, 12 << 20, &w, &told, &err);
 *
 * writes three members of an object: "columns" (names), "rows" (an array each, in that order) and
 * "texts" (which columns are text). Quantities are whole numbers of millionths (12.3 J is
 * 12300000), null where absent. When the texts do not fit, the longest are cut, all to the same
 * size: a text that was cut is [text, bytes of the whole]. When even the figures do not fit, each
 * run's first queries are kept.
 */
#ifndef IPW_REPORT_ROWS_H
#define IPW_REPORT_ROWS_H

#include "analysis/run.h"
#include "base/err.h"
#include "base/json.h"

#include <stddef.h>
#include <stdint.h>

struct rows_told {
    int64_t rows;
    int64_t left_out;    /* queries that are not in the table */
    int64_t cut_texts;   /* texts that are not whole */
    size_t largest_text; /* bytes in the page of those, at most */
};

/* Reads every run twice. max_bytes counts what html_json makes of it. */
int rows_write(struct run *const *runs, size_t n_runs, size_t max_bytes, struct json_writer *w,
               struct rows_told *ret, struct err *err);

/* The bytes that the text takes in the page, at most `limit`; *ret_n (unless NULL) is how many of
 * the text's own bytes those are, whole characters. */
size_t rows_text_cost(const char *text, size_t limit, size_t *ret_n);

#endif
