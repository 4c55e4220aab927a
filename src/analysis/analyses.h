/*
 * The analyses there are; for the registry.
 */
#ifndef IPW_ANALYSIS_ANALYSES_H
#define IPW_ANALYSIS_ANALYSES_H

#include "analysis/analysis.h"

extern const struct analysis_ops analysis_accuracy_ops;
extern const struct analysis_ops analysis_phases_ops;
extern const struct analysis_ops analysis_regression_ops;

#endif
