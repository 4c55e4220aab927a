/*
 * syncer: fdatasync on a thread of its own. Private to hfwriter.
 *
 * The caller writes and asks; the thread makes it durable, at most SYNCER_INTERVAL_NS later. Asking
 * often does not sync more often: a sync makes the kernel write every page out, which is most of
 * the cost of a fast run.
 */
#ifndef IPW_STORE_SYNCER_H
#define IPW_STORE_SYNCER_H

#include "base/clock.h"
#include "base/err.h"

#include <stdint.h>

#define SYNCER_INTERVAL_NS (400 * NS_PER_MS)

struct syncer;

int syncer_new(struct syncer **ret, struct err *err);
/* Waits for what was asked for, then ends the thread. NULL is fine. */
void syncer_free(struct syncer *s);

/* What is in the two files now shall be on the disk soon. The fds stay the caller's and must stay
 * open until a syncer_wait has returned. */
void syncer_ask(struct syncer *s, int fd_first, int fd_second);
/* Blocks until all that was asked for is on the disk. Returns the first failure there ever was. */
int syncer_wait(struct syncer *s, struct err *err);
/* The same result without waiting. */
int syncer_failure(struct syncer *s, struct err *err);

#endif
