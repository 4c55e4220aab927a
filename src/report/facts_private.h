/*
 * Cells that the tables (facts.c) and the cards (headline.c) both show.
 */
#ifndef IPW_REPORT_FACTS_PRIVATE_H
#define IPW_REPORT_FACTS_PRIVATE_H

#include "base/buf.h"
#include "report/subject.h"

/* Text of any origin, as text. */
void facts_text(struct buf *page, const char *text);
/* Median and 99th percentile. */
void facts_metric(struct buf *page, const struct metric_stats *m, const char *unit);
void facts_accuracy(struct buf *page, const struct subject *s);
/* With its bounds, or the word that it is estimated. */
void facts_mean_energy(struct buf *page, const struct subject *s);

#endif
