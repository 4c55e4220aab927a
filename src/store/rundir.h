/*
 * rundir: the directory of a run: made, locked, resumed, replaced, recovered.
 *
 * A run's records are a dataset in the directory itself, its samples another in telemetry/ (both
 * written by hfwriter). run.json keeps the configuration from the start, for --resume; summary.json
 * comes at the end.
 *
 * An existing run is never destroyed before the new one has records: the new one is written to
 * "<path>.new" and takes the old one's place with rundir_publish. A directory that is not a run is
 * never touched.
 *
 * Whoever writes holds a lock on the directory, so that two processes cannot write one run.
 */
#ifndef IPW_STORE_RUNDIR_H
#define IPW_STORE_RUNDIR_H

#include "base/err.h"
#include "base/json.h"

#include <stdbool.h>

struct rundir;

enum rundir_state {
    RUNDIR_ABSENT,     /* nothing there, or an empty directory */
    RUNDIR_UNFINISHED, /* a run that was interrupted, or is being written */
    RUNDIR_FINISHED,
    RUNDIR_FOREIGN /* something that is not a run */
};

enum rundir_state rundir_state(const char *path);

/* A new run with this configuration (a JSON object, kept in run.json). -EEXIST when there is a run
 * and `overwrite` is not set; -ENOTEMPTY when something else is there; -EBUSY when another process
 * writes it. Missing parents are made. */
int rundir_create(const char *path, bool overwrite, const char *config, struct rundir **ret,
                  struct err *err);
/* Takes a run up again. -ENOENT when there is none; -EINVAL when its configuration differs, with
 * the name of the first difference. */
int rundir_resume(const char *path, const char *config, struct rundir **ret, struct err *err);
/* The new run has records: it replaces the old one. Does nothing when there was none, or again. */
int rundir_publish(struct rundir *d, struct err *err);
/* Unlocks. A new run that was never published is removed when it replaces another one. NULL is
 * fine. */
void rundir_close(struct rundir *d);

/* The directory itself, and telemetry/ in it (made when missing); both stay the rundir's. */
int rundir_fd(const struct rundir *d);
int rundir_telemetry_fd(struct rundir *d, struct err *err);
/* Where the run is, or will be once it is published. */
const char *rundir_path(const struct rundir *d);

/* For whoever changes a finished run: the directory's fd, locked until it is closed. -EBUSY while
 * another process writes it. */
int rundir_lock(const char *path, struct err *err);

/* For every command that reads a run: finishes what an interrupted run or rewrite (rewrite.h) left,
 * so that it can be opened as a dataset. -EBUSY while it is being written. Does nothing on a
 * finished run. */
int rundir_recover(const char *path, struct err *err);

#endif
