/*
 * sink: where a run's records and samples go: its directory, and the two datasets in it.
 *
 *     r = sink_open(&options, &s, &err);
 *     r = sink_record(s, &record, &err);
 *     r = sink_samples(s, sampler, &err);            now and then
 *     r = sink_tick(s, mono_now(), &err);            at sink_due(s), or more often
 *     r = sink_finish(s, &err);                      now it can be opened as a dataset
 *     sink_close(s);                                 without sink_finish: can be resumed
 *
 * A new run takes the place of an old one with its first record, not before. One thread.
 */
#ifndef IPW_RUN_SINK_H
#define IPW_RUN_SINK_H

#include "arrow/schema.h"
#include "base/clock.h"
#include "base/err.h"
#include "core/record.h"
#include "telemetry/sampler.h"

#include <stdbool.h>

struct sink;

struct sink_options {
    const char *path;
    const char *config; /* JSON: what must be the same to resume */
    const char *model;
    const struct arrow_field *metadata; /* a struct: the fields of dataset_metadata */
    bool overwrite;
    bool resume; /* takes up what is there; a new run when there is nothing */
    /* Is told of every record that is there already. */
    void (*seen)(void *arg, int64_t index, double end_s);
    void *arg;
};

/* -EEXIST when there is a run and neither overwrite nor resume is set; see rundir.h for the rest.
 * -EINVAL when it cannot be resumed with this configuration or dataset. */
int sink_open(const struct sink_options *options, struct sink **ret, struct err *err);
void sink_close(struct sink *s);

/* The run that is resumed did not end by itself: what it measured outside its records is lost. */
bool sink_was_killed(const struct sink *s);
/* Times in the samples are seconds since then. */
void sink_set_start(struct sink *s, mono_ns run_start);

int sink_record(struct sink *s, const struct record *r, struct err *err);
/* Takes all new samples from the sampler. */
int sink_samples(struct sink *s, struct sampler *sampler, struct err *err);
int sink_tick(struct sink *s, mono_ns now, struct err *err);
mono_ns sink_due(const struct sink *s);
int sink_finish(struct sink *s, struct err *err);

int64_t sink_records(const struct sink *s);
const char *sink_path(const struct sink *s);
/* The directory, for summary.json. */
int sink_fd(const struct sink *s);

#endif
