/*
 * report: one page about one or several runs.
 *
 *     r = report_make(runs, n_runs, NULL, &page, &err);          HTML, ready to be written
 *
 * The page is one file that loads nothing and sends nothing, and its policy (CSP) forbids both:
 * only its own script and style, named by their digests, are allowed. The same runs give the same
 * bytes.
 *
 * It stays below the limit whatever the runs hold: charts and curves have shares, the curves are
 * thinned with every peak kept, long texts are cut with a note, and of very many queries the first
 * are shown.
 */
#ifndef IPW_REPORT_REPORT_H
#define IPW_REPORT_REPORT_H

#include "analysis/run.h"
#include "base/buf.h"
#include "base/err.h"

#include <stddef.h>

#define REPORT_MAX_BYTES ((size_t)20000000)

struct report_options {
    size_t max_bytes; /* at least 2 MB; 0 = REPORT_MAX_BYTES */
};

/* Reads the runs, from their first record, several times. Appends the page to ret. -ENODATA when
 * none of them has a record. options may be NULL. */
int report_make(struct run *const *runs, size_t n_runs, const struct report_options *options,
                struct buf *ret, struct err *err);

#endif
