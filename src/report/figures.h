/*
 * figures: the charts of plot/ inside of the page.
 *
 * Each is an image in a data: address, where nothing in it can run or be addressed by the page. An
 * SVG follows the reader's light or dark screen by itself, and there is a narrow one for phones, or
 * one in between where there are very many queries; a figure of so many marks that its SVG would be
 * slow is a PNG for light and one for dark.
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
