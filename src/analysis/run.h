/*
 * run: a stored run, read back as the structs it was written from.
 *
 *     AUTO_PTR(run) struct run *run = NULL;
 *     const struct record *record;
 *     int more = run_open("runs/profile_x", &run, &err);
 *     while (more >= 0 && (more = run_next(run, &record, &err)) > 0)
 *         use(record->energy.gpu_j);
 *     if (more < 0) ...
 *
 * An interrupted run is recovered first (rundir.h), so that whatever was saved can be read. Also
 * read are directories that the Python tool wrote: what a directory does not have is absent in the
 * record (NAN, -1, NULL), never an error, as long as it has records with model_metrics.
 *
 * Rows are read batch by batch: memory does not grow with the run. For one thread at a time.
 */
#ifndef IPW_ANALYSIS_RUN_H
#define IPW_ANALYSIS_RUN_H

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"
#include "core/record.h"

#include <stdint.h>

struct run;

/* -ENOENT when there is nothing to read, -EBUSY while another process writes it. */
int run_open(const char *dir, struct run **ret, struct err *err);
void run_close(struct run *r);
DEFINE_AUTO_PTR(run, run_close);

const char *run_dir(const struct run *r); /* as given */
/* The key of model_answers and model_metrics; of several the first. */
const char *run_model(const struct run *r);
/* summary.json; NULL when it has none (a run that was killed and not resumed). */
const struct json *run_summary(const struct run *r);
/* How many rows there are, by the files' metadata. */
int64_t run_rows(const struct run *r);

/* 1 = *ret is the next record, 0 = the end. Its texts, metadata, device and system live until the
 * next call. Text that holds a NUL character ends there. */
int run_next(struct run *r, const struct record **ret, struct err *err);
/* Starts again at the first record. */
int run_rewind(struct run *r, struct err *err);

/* The energy by which a record is judged: the rails of its `basis` ("gpu", "gpu+cpu", "soc",
 * "cpu"), or, where the record names none, the GPU's, else the CPU's. NAN = not known. */
double record_joules(const struct record *r);
/* The same as mean power over the query's time: record_joules / total_s. NAN = not known. */
double record_watts(const struct record *r);
/* The query came to its end: request.status is "ok", or absent and there is a response. */
bool record_ok(const struct record *r);

/* One sample of telemetry/. */
struct sample {
    double time_s;     /* since the run's start, as the request's times are */
    double value;      /* joules since the first read, watts, degrees, ...; NAN = none */
    size_t channel;    /* index in the channels below */
    bool is_break;     /* nothing is known between the sample before and this one */
};

struct sampled_channel {
    const char *collector, *device, *name; /* the run's */
    int64_t device_number;
    enum rail rail;
    enum quantity quantity;
    bool estimated;
};

/* Gives every sample, in the order stored (by channel in order of time; channels interleave), to
 * `each`; a result other than 0 ends it and is returned. 0 and no call when the run has no
 * telemetry. */
int run_samples(struct run *r, int (*each)(void *arg, const struct sample *s), void *arg,
                struct err *err);
/* The channels met so far by run_samples. */
size_t run_channels(const struct run *r, const struct sampled_channel **ret);

#endif
