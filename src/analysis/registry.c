#include "analysis/analyses.h"
#include "analysis/analysis.h"

static const struct plugin *const items[] = {
    &analysis_accuracy_ops.plugin,
    &analysis_regression_ops.plugin,
    &analysis_phases_ops.plugin,
    NULL,
};

const struct registry analyses = {"analysis", "analyses", items};
