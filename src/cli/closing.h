/*
 * closing: what a run came to, as it is shown at its end: energy's source, a table of the figures,
 * efficiency, doubts, and where the records are.
 */
#ifndef IPW_CLI_CLOSING_H
#define IPW_CLI_CLOSING_H

#include "run/profile.h"

#include <stdio.h>

void closing_print(FILE *out, struct profile_outcome *o);

#endif
