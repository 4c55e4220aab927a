#include "cli/profile_options.h"

#include "base/log.h"

#include <errno.h>

int profile_options_check(const struct profile_options *o)
{
    const char *wrong = NULL;

    if (o->overwrite && o->resume)
        wrong = "--overwrite and --resume exclude each other";
    else if (o->duration_ns == 0)
        wrong = "--duration 0 asks nothing";
    else if (o->timeout_ns == 0)
        wrong = "--timeout 0 leaves no time for an answer";
    else if (o->sample_interval_ns < 100000)
        wrong = "--sample-interval: at least 100us";
    if (!wrong)
        return 0;
    log_error("%s", wrong);
    return -EINVAL;
}
