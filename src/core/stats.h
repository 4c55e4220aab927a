/*
 * stats: the figures that describe a set of values. Absent is NAN.
 */
#ifndef IPW_CORE_STATS_H
#define IPW_CORE_STATS_H

/* In the order of the record's fields. */
struct stat4 {
    double avg, max, median, min;
};

#endif
