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
 * record (NAN, -1, NULL), never an error, as long as it has records with model_metrics. The same
 * holds for a column of a type that cannot hold the value, and for numbers that are not finite.
 *
 * Where two columns say one thing (lm_response repeats model_answers) the first that has a value
 * counts. The Python tool writes lm_correctness = false before anything is scored: only true, or
 * what `evaluation` says, is a score. A record without a verdict of its own (measurement.validity),
 * as all of that tool's are, was never checked: it is VALIDITY_DEGRADED, for the reason
 * RUN_UNCHECKED.
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

/* The reason of a record that has no verdict. */
#define RUN_UNCHECKED "unchecked"

struct run;

/* -ENOENT when there is nothing to read, -EBUSY while another process writes it, -EINVAL when it is
 * a dataset, but none of records. */
int run_open(const char *dir, struct run **ret, struct err *err);
void run_close(struct run *r);
DEFINE_AUTO_PTR(run, run_close);

const char *run_dir(const struct run *r); /* as given */
/* The key of model_answers and model_metrics; of several the first. */
const char *run_model(const struct run *r);
/* Chooses the model whose records are read, and starts again at the first; NULL takes the only one.
 * -EINVAL, with words that list them, when it is not there, or NULL and there are several. */
int run_select(struct run *r, const char *model, struct err *err);
/* summary.json, an object; NULL when it has none that can be read (a run that was killed and not
 * resumed). */
const struct json *run_summary(const struct run *r);
/* How many rows there are, by the files' metadata. */
int64_t run_rows(const struct run *r);

/* 1 = *ret is the next record, 0 = the end. Its texts, metadata, device and system live until the
 * next call. Text that holds a NUL character ends there. */
int run_next(struct run *r, const struct record **ret, struct err *err);
/* Starts again at the first record. */
int run_rewind(struct run *r, struct err *err);

/* The energy by which a record is judged: the rails of its `basis` ("gpu", "gpu+cpu", "soc",
 * "cpu"). Where the record names none: on Apple's machines the SoC's, where known, as the Python
 * tool does; else the GPU's, else the CPU's. NAN = not known. */
double record_joules(const struct record *r);
/* The same as mean power over the query's time: record_joules / total_s. NAN = not known. */
double record_watts(const struct record *r);
/* The query came to its end: request.status is "ok", or absent and there is a response. */
bool record_ok(const struct record *r);

/* One sample of telemetry/. */
struct sample {
    double time_s;  /* since the run's start, as the request's times are */
    double value;   /* joules since the first read, watts, degrees, ...; NAN = none */
    size_t channel; /* index in the channels below */
    bool is_break;  /* nothing is known between the sample before and this one */
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
 * telemetry. Samples without a time, or of a quantity this program does not know, are left out.
 * -E2BIG when there are more than RUN_CHANNELS_MAX channels. */
#define RUN_CHANNELS_MAX 4096
int run_samples(struct run *r, int (*each)(void *arg, const struct sample *s), void *arg,
                struct err *err);
/* The channels met so far by run_samples; a channel keeps its index as long as the run is open. The
 * array is valid until the next sample, its texts as long as the run. */
size_t run_channels(const struct run *r, const struct sampled_channel **ret);

#endif
