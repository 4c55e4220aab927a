/*
 * thin: a curve of any length in a bounded number of points, without losing a peak.
 *
 *     struct thin t;
 *     thin_init(&t, 32768);
 *     thin_add(&t, time_s, watts, from_s, is_break);          again and again, in order of time
 *     n = thin_points(&t, &points);                           caller frees
 *     thin_release(&t);
 *
 * While everything fits, every sample is kept. After that time is cut into equal buckets, and of
 * each only the lowest and the highest sample are kept, with their own times; whenever the buckets
 * run out, their width doubles. So the envelope is exact however often it was thinned.
 */
#ifndef IPW_REPORT_THIN_H
#define IPW_REPORT_THIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thin_bucket {
    double from_s; /* where what it shows begins */
    double min_s, min;
    double max_s, max;
    bool broken; /* not connected with what was before */
};

struct thin {
    struct thin_bucket *buckets;
    size_t n, cap, max;
    double width_s; /* 0 = a bucket each */
    int64_t samples;
    bool pending_break; /* of samples that were dropped */
};

struct thin_point {
    double time_s;
    double value; /* NAN = a new stretch begins at this time */
};

/* max_buckets >= 4; at most three points come of a bucket. */
void thin_init(struct thin *t, size_t max_buckets);
void thin_release(struct thin *t);

/* A sample that held from `from_s` (its own time where it is a moment's) to time_s. Samples that go
 * back in time, or whose time or value is not finite, are dropped, and what follows is not
 * connected with what was before. */
void thin_add(struct thin *t, double time_s, double value, double from_s, bool is_break);
/* Halves the number of buckets, as if there had been less room. */
void thin_coarsen(struct thin *t);
/* In order of time; *ret is the caller's. */
size_t thin_points(const struct thin *t, struct thin_point **ret);

#endif
