/*
 * curves: the power of every rail over a run's time, in as many points as a page can carry.
 *
 *     AUTO(curves) struct curves t = {0};
 *     r = curves_read(run, &t, &err);
 *     curves_fit(&t, 400000);                    at most so many points in all
 *     curves_json(&t, &w);                       an array of lines
 *
 * A line is a channel of power, or the slope of an energy counter from tick to tick. Which lines
 * are shown at first: of each device's rail the counter where there is one, else the power; what is
 * a part of another rail is not.
 */
#ifndef IPW_REPORT_CURVES_H
#define IPW_REPORT_CURVES_H

#include "analysis/run.h"
#include "base/err.h"
#include "base/json.h"
#include "report/thin.h"

#include <stddef.h>
#include <stdint.h>

/* More lines than this nobody can tell apart; further channels are counted in left_out. */
#define CURVES_MAX 64
/* Buckets of a line before curves_fit: 110 ms each in a run of an hour. */
#define CURVE_BUCKETS 32768

struct curve {
    char name[96];
    char device[96];
    int64_t device_number;
    enum rail rail;
    bool counter; /* watts are means from tick to tick */
    bool estimated;
    bool shown;
    struct thin thin;
};

struct curves {
    struct curve *lines;
    size_t n;
    size_t left_out;
    int64_t samples; /* of the lines, before thinning */
};

void curves_release(struct curves *t);
int curves_read(struct run *run, struct curves *ret, struct err *err);
void curves_fit(struct curves *t, size_t max_points);
size_t curves_points(const struct curves *t);
/* Each line as {"name", "rail", "device", "estimated", "step", "shown", "t": [...], "mw": [...]}:
 * times as differences in units of 0.1 ms, power in mW, null where a new stretch begins. */
void curves_json(const struct curves *t, struct json_writer *w, const char *key);

#endif
