/*
 * progress: how a run is getting on, on stderr.
 *
 * On a terminal one line that is drawn again and again; else a plain line every ten seconds.
 * Nothing with --quiet.
 *
 *     struct progress p;
 *     progress_begin(&p, quiet);
 *     progress_status(&p, "warming up");
 *     progress_show(&p, &state);
 *     progress_end(&p);                     leaves the cursor on an empty line
 */
#ifndef IPW_CLI_PROGRESS_H
#define IPW_CLI_PROGRESS_H

#include "base/clock.h"
#include "run/profile.h"

#include <stdbool.h>

struct progress {
    bool quiet, terminal;
    bool drawn; /* a line is on the screen that must go before another is written */
    mono_ns shown;
    int64_t shown_done;
    char status[128];
};

void progress_begin(struct progress *p, bool quiet);
void progress_status(struct progress *p, const char *words);
void progress_show(struct progress *p, const struct profile_progress *state);
void progress_end(struct progress *p);

/* The line itself, for a screen of this many columns (0 = any). */
void progress_format(const struct profile_progress *state, int columns, char *text, size_t size);

#endif
