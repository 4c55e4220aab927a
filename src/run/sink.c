#include "run/sink.h"

#include "arrow/array.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "store/hfwriter.h"
#include "store/rundir.h"
#include "store/schema.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TICKS_AT_ONCE 256

struct sink {
    struct rundir *dir;
    struct hfwriter *records;
    struct hfwriter *samples;
    mono_ns run_start;
    bool was_killed;
    bool published;
};

static int look_at_batch(void *arg, const struct arrow_array *batch, struct err *err)
{
    const struct sink_options *o = arg;
    const struct arrow_array *request = arrow_child(batch, "request");

    (void)err;
    for (int64_t i = 0; o->seen && i < batch->length; i++)
        o->seen(o->arg, arrow_i64(arrow_child(request, "index"), i, -1),
                arrow_f64(arrow_child(request, "end_s"), i));
    return 0;
}

/* A dataset that is taken up again, or made: also when it was interrupted before its first byte. */
static int open_writer(int fd, bool resume, const struct arrow_schema *schema,
                       hfwriter_seen_fn *seen, void *arg, struct hfwriter **ret, struct err *err)
{
    int r = -ENODATA;

    if (fd < 0)
        return fd;
    if (resume)
        r = hfwriter_resume(fd, seen, arg, ret, err);
    if (r == -ENODATA || r == -ENOENT)
        return hfwriter_create(fd, schema, ret, err);
    if (r == 0 && !arrow_field_equal(&hfwriter_schema(*ret)->root, &schema->root))
        return err_set(err, EINVAL, "cannot resume: the dataset is not the one the run began with");
    return r;
}

static int open_dir(struct sink *s, const struct sink_options *o, bool *ret_resumed,
                    struct err *err)
{
    enum rundir_state state = rundir_state(o->path);

    *ret_resumed = o->resume && (state == RUNDIR_UNFINISHED || state == RUNDIR_FINISHED);
    s->was_killed = *ret_resumed && state == RUNDIR_UNFINISHED;
    s->published = *ret_resumed;
    if (*ret_resumed)
        return rundir_resume(o->path, o->config, &s->dir, err);
    return rundir_create(o->path, o->overwrite, o->config, &s->dir, err);
}

static int open_writers(struct sink *s, const struct sink_options *o, bool resumed, struct err *err)
{
    AUTO(arrow_schema) struct arrow_schema records = {0}, samples = {0};
    int r;

    record_schema(o->model, o->metadata, &records);
    telemetry_schema(&samples);
    r = open_writer(rundir_fd(s->dir), resumed, &records, look_at_batch, (void *)(uintptr_t)o,
                    &s->records, err);
    if (r == 0)
        r = open_writer(rundir_telemetry_fd(s->dir, err), resumed, &samples, NULL, NULL,
                        &s->samples, err);
    return r;
}

int sink_open(const struct sink_options *options, struct sink **ret, struct err *err)
{
    struct sink *s = xcalloc(1, sizeof(*s));
    bool resumed = false;
    int r = open_dir(s, options, &resumed, err);

    if (r == 0)
        r = open_writers(s, options, resumed, err);
    if (r < 0) {
        sink_close(s);
        return r;
    }
    *ret = s;
    return 0;
}

void sink_close(struct sink *s)
{
    if (!s)
        return;
    hfwriter_free(s->samples);
    hfwriter_free(s->records);
    rundir_close(s->dir);
    free(s);
}

bool sink_was_killed(const struct sink *s)
{
    return s->was_killed;
}

void sink_set_start(struct sink *s, mono_ns run_start)
{
    s->run_start = run_start;
}

int sink_record(struct sink *s, const struct record *r, struct err *err)
{
    int result = hfwriter_append(s->records, record_put, (void *)(uintptr_t)r, mono_now(), err);

    if (result < 0 || s->published)
        return result;
    s->published = true;
    result = hfwriter_sync(s->records, err);
    return result < 0 ? result : rundir_publish(s->dir, err);
}

static int take_channel(struct sink *s, struct sampler *sampler, size_t channel, struct err *err)
{
    struct tick ticks[TICKS_AT_ONCE];
    const struct channel *channels;
    const struct device *devices;
    struct telemetry_row row;
    size_t n;

    sampler_channels(sampler, &channels);
    sampler_devices(sampler, &devices);
    row = (struct telemetry_row){.channel = &channels[channel],
                                 .device = &devices[channels[channel].device],
                                 .collector = sampler_collector(sampler, channel),
                                 .run_start = s->run_start};
    do {
        n = sampler_take(sampler, channel, ticks, TICKS_AT_ONCE);
        for (size_t i = 0; i < n; i++) {
            int r;

            row.tick = ticks[i];
            r = hfwriter_append(s->samples, telemetry_put, &row, mono_now(), err);
            if (r < 0)
                return r;
        }
    } while (n == TICKS_AT_ONCE);
    return 0;
}

int sink_samples(struct sink *s, struct sampler *sampler, struct err *err)
{
    const struct channel *channels;
    size_t n = sampler_channels(sampler, &channels);
    int r = 0;

    for (size_t i = 0; r == 0 && i < n; i++)
        r = take_channel(s, sampler, i, err);
    return r;
}

int sink_tick(struct sink *s, mono_ns now, struct err *err)
{
    int r = hfwriter_tick(s->records, now, err);

    return r < 0 ? r : hfwriter_tick(s->samples, now, err);
}

mono_ns sink_due(const struct sink *s)
{
    mono_ns a = hfwriter_due(s->records), b = hfwriter_due(s->samples);

    return a < b ? a : b;
}

/* The samples first: a finished dataset of records is what says that the run is whole. */
int sink_finish(struct sink *s, struct err *err)
{
    int r = hfwriter_finish(s->samples, err);

    return r < 0 ? r : hfwriter_finish(s->records, err);
}

int64_t sink_records(const struct sink *s)
{
    return hfwriter_rows(s->records);
}

const char *sink_path(const struct sink *s)
{
    return rundir_path(s->dir);
}

int sink_fd(const struct sink *s)
{
    return rundir_fd(s->dir);
}
