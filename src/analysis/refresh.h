/*
 * refresh: what summary.json says of the scores, after they have changed.
 *
 * A run writes its summary once; an answer may be scored later, by an analysis or a judge. Then the
 * member `efficiency` is computed anew from the records, and nothing else changes.
 */
#ifndef IPW_ANALYSIS_REFRESH_H
#define IPW_ANALYSIS_REFRESH_H

#include "analysis/tally.h"
#include "base/err.h"

/* Adds the run up into *ret, which the caller releases, and, where there is a summary.json,
 * replaces its `efficiency`. */
int run_refresh(const char *dir, struct tally *ret, struct err *err);

#endif
