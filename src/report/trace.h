/*
 * trace: the power of every rail over a run's time, in as many points as a page can carry.
 *
 *     AUTO(trace) struct trace t = {0};
 *     r = trace_read(run, &t, &err);
 *     trace_fit(&t, 400000);                    at most so many points in all
 *     trace_json(&t, &w);                       an array of lines
 *
 * A line is a channel of power, or the slope of an energy counter from tick to tick. Which lines
 * are shown at first: of each device's rail the counter where there is one, else the power; what is
 * a part of another rail is not.
 */
#ifndef IPW_REPORT_TRACE_H
#define IPW_REPORT_TRACE_H

#include "analysis/run.h"
#include "base/err.h"
#include "base/json.h"
#include "report/thin.h"

#include <stddef.h>
#include <stdint.h>

/* More lines than this nobody can tell apart; further channels are counted in left_out. */
#define TRACE_LINES_MAX 64
/* Buckets of a line before trace_fit: 110 ms each in a run of an hour. */
#define TRACE_BUCKETS 32768

struct trace_line {
    char name[96];
    char device[96];
    int64_t device_number;
    enum rail rail;
    bool counter; /* watts are means from tick to tick */
    bool estimated;
    bool shown;
    struct thin thin;
};

struct trace {
    struct trace_line *lines;
    size_t n;
    size_t left_out;
    int64_t samples; /* of the lines, before thinning */
};

void trace_release(struct trace *t);
int trace_read(struct run *run, struct trace *ret, struct err *err);
void trace_fit(struct trace *t, size_t max_points);
size_t trace_points(const struct trace *t);
/* Each line as {"name", "rail", "device", "estimated", "step", "shown", "t": [...], "mw": [...]}:
 * times as differences in units of 0.1 ms, power in mW, null where a new stretch begins. */
void trace_json(const struct trace *t, struct json_writer *w, const char *key);

#endif
