/*
 * facts: the parts of the page that are text and tables, and are there without any script.
 *
 * With several runs every table has a column for each of them.
 */
#ifndef IPW_REPORT_FACTS_H
#define IPW_REPORT_FACTS_H

#include "base/buf.h"
#include "report/subject.h"

#include <stddef.h>

/* What must be known before any figure is read: estimated or absent energy, an invalid or
 * unfinished run. */
void facts_alerts(struct buf *page, const struct subject *s, size_t n);
/* Model, hardware, accuracy, joules per answer, IPW, verdict. */
void facts_headline(struct buf *page, const struct subject *s, size_t n);
/* Sources, bounds, coverage, reasons, rails. */
void facts_measured(struct buf *page, const struct subject *s, size_t n);
/* Outcome, speed, load, overhead, machine; the statistics of each figure. */
void facts_metrics(struct buf *page, const struct subject *s, size_t n);
/* Command line and configuration. */
void facts_repeat(struct buf *page, const struct subject *s, size_t n);

#endif
