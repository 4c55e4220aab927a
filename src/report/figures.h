/*
 * figures: the charts of plot/ inside of the page.
 *
 * Each is an image in a data: address, where nothing in it can run or be addressed by the page.
 * There are four of it, for light and dark paper and for a phone, of which the browser shows the
 * one that fits.
 */
#ifndef IPW_REPORT_FIGURES_H
#define IPW_REPORT_FIGURES_H

#include "analysis/run.h"
#include "base/buf.h"
#include "base/err.h"
#include "report/subject.h"

#include <stddef.h>

/* Appends at most about max_bytes. A figure that has nothing to show, or no room, is left out with
 * a sentence that says so. */
void figures_write(struct buf *page, const struct subject *s, size_t n, size_t max_bytes);

#endif
