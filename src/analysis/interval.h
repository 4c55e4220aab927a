/*
 * interval: how sure is a share of successes?
 *
 *     struct interval i = interval_wilson(84, 100);       0.84, 0.756 to 0.899
 */
#ifndef IPW_ANALYSIS_INTERVAL_H
#define IPW_ANALYSIS_INTERVAL_H

#include "analysis/bootstrap.h"

#include <stdint.h>

/* Wilson's score interval at 95 %, for trials that are independent of each other. It stays within
 * [0, 1] and is good even for few trials and shares near 0 or 1, where the usual plus and minus is
 * not. Without trials everything is NAN. 0 <= successes <= trials. Pure. */
struct interval interval_wilson(int64_t successes, int64_t trials);

#endif
