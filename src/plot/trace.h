/*
 * trace: power over time, in memory that does not grow with the run.
 *
 *     struct trace t = {.is_counter = true};
 *     trace_add(&t, time_s, joules, is_break);      in order of time
 *     trace_finish(&t);
 *     for each t.pieces: from_w at from_s to to_w at to_s
 *     trace_release(&t);
 *
 * Of a counter the power between two ticks is their difference quotient, of a power sensor it goes
 * straight from one sample to the next. Nothing is drawn across a break, nor where the source was
 * silent for much longer than it usually is: that is a gap. When there are too many pieces,
 * neighbours become one that remembers the lowest and highest power in it; all pieces then have
 * about the same length, thousands over the whole run.
 */
#ifndef IPW_PLOT_TRACE_H
#define IPW_PLOT_TRACE_H

#include <stdbool.h>
#include <stddef.h>

#define TRACE_PIECES_MAX 32768

struct trace_piece {
    double from_s, to_s;
    double from_w, to_w;
    double low_w, mean_w, high_w;
};

struct trace {
    bool is_counter;
    bool started; /* the sample before is known */
    double last_s, last_value;
    double usual_s;    /* between samples; 0 = not known yet */
    double shortest_s; /* shorter pieces become one */
    struct trace_piece *pieces;
    size_t n, cap;
};

void trace_release(struct trace *t);
/* A value that is not finite, or a counter that falls, is a break. */
void trace_add(struct trace *t, double time_s, double value, bool is_break);
/* All samples were given: what turns out to be a gap is taken out. */
void trace_finish(struct trace *t);
/* At most about n pieces, all of about the same length, however many there were. */
void trace_thin(struct trace *t, size_t n);
/* The sum of two traces where both are known; where one is not, neither is the sum. Lows and highs
 * are added, so they bound the sum's. The result is released by the caller. */
struct trace trace_sum(const struct trace *a, const struct trace *b);

#endif
