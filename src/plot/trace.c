#include "plot/trace.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* How many intervals tell what is usual. */
#define USUAL_OF 255
/* A silence is a gap when it is so many times longer than usual, and longer than a sensor whose
 * value stands still is silent (SERIES_HOLD_NS, and a period more). */
#define GAP_FACTOR  10
#define GAP_LEAST_S 1.5

void trace_release(struct trace *t)
{
    free(t->pieces);
    *t = (struct trace){0};
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool is_gap(const struct trace *t, double seconds)
{
    return seconds > GAP_LEAST_S && seconds > GAP_FACTOR * t->usual_s;
}

/* Learns what is usual from the first intervals and takes the gaps among them out. */
static void learn_usual(struct trace *t)
{
    double lengths[USUAL_OF] = {0};
    size_t n = t->n < USUAL_OF ? t->n : USUAL_OF, kept = 0;

    for (size_t i = 0; i < n; i++)
        lengths[i] = t->pieces[i].to_s - t->pieces[i].from_s;
    qsort(lengths, n, sizeof(*lengths), by_size);
    t->usual_s = n ? lengths[n / 2] : 0;
    for (size_t i = 0; i < t->n; i++)
        if (!is_gap(t, t->pieces[i].to_s - t->pieces[i].from_s))
            t->pieces[kept++] = t->pieces[i];
    t->n = kept;
}

static struct trace_piece joined(const struct trace_piece *a, const struct trace_piece *b)
{
    double a_s = a->to_s - a->from_s, b_s = b->to_s - b->from_s;

    return (struct trace_piece){
        .from_s = a->from_s,
        .to_s = b->to_s,
        .from_w = a->from_w,
        .to_w = b->to_w,
        .low_w = fmin(a->low_w, b->low_w),
        .mean_w = (a->mean_w * a_s + b->mean_w * b_s) / (a_s + b_s),
        .high_w = fmax(a->high_w, b->high_w),
    };
}

/* The piece belongs to the one before it: nothing lies between, and both together are still short
 * enough. */
static bool joins(const struct trace *t, const struct trace_piece *before,
                  const struct trace_piece *p)
{
    return before->to_s == p->from_s && p->to_s - before->from_s <= t->shortest_s;
}

void trace_thin(struct trace *t, size_t n)
{
    size_t kept = 1;

    if (t->n <= n || t->n < 2)
        return;
    t->shortest_s =
        fmax(2 * t->shortest_s, 2 * (t->pieces[t->n - 1].to_s - t->pieces[0].from_s) / (double)n);
    for (size_t i = 1; i < t->n; i++)
        if (joins(t, &t->pieces[kept - 1], &t->pieces[i]))
            t->pieces[kept - 1] = joined(&t->pieces[kept - 1], &t->pieces[i]);
        else
            t->pieces[kept++] = t->pieces[i];
    t->n = kept;
}

static void add_piece(struct trace *t, struct trace_piece p)
{
    if (t->n == USUAL_OF && t->usual_s == 0)
        learn_usual(t);
    if (t->usual_s > 0 && is_gap(t, p.to_s - p.from_s))
        return;
    if (t->n && joins(t, &t->pieces[t->n - 1], &p)) {
        t->pieces[t->n - 1] = joined(&t->pieces[t->n - 1], &p);
        return;
    }
    if (t->n == TRACE_PIECES_MAX)
        trace_thin(t, TRACE_PIECES_MAX / 2);
    if (t->n == TRACE_PIECES_MAX)
        return; /* so many gaps that nothing joins: the end is not shown */
    GROW(t->pieces, t->n, t->cap);
    t->pieces[t->n++] = p;
}

void trace_add(struct trace *t, double time_s, double value, bool is_break)
{
    double dt = time_s - t->last_s, dv = value - t->last_value;
    struct trace_piece p = {t->last_s, time_s, t->last_value, value, 0, 0, 0};

    if (!isfinite(value) || !isfinite(time_s)) {
        t->started = false;
        return;
    }
    if (t->is_counter)
        p.from_w = p.to_w = dv / dt;
    p.low_w = fmin(p.from_w, p.to_w);
    p.mean_w = (p.from_w + p.to_w) / 2;
    p.high_w = fmax(p.from_w, p.to_w);
    if (t->started && !is_break && dt > 0 && isfinite(p.low_w) && isfinite(p.high_w) &&
        !(t->is_counter && dv < 0))
        add_piece(t, p);
    else if (t->started && !is_break && dt <= 0)
        return; /* a time that does not go on tells nothing */
    t->started = true;
    t->last_s = time_s;
    t->last_value = value;
}

void trace_finish(struct trace *t)
{
    if (t->usual_s == 0)
        learn_usual(t);
}

static double power_at(const struct trace_piece *p, double time_s)
{
    double part = (time_s - p->from_s) / (p->to_s - p->from_s);

    return p->from_w + (p->to_w - p->from_w) * part;
}

struct trace trace_sum(const struct trace *a, const struct trace *b)
{
    struct trace sum = {.usual_s = fmax(a->usual_s, b->usual_s)};
    size_t i = 0, j = 0;

    while (i < a->n && j < b->n) {
        const struct trace_piece *p = &a->pieces[i], *q = &b->pieces[j];
        double from = fmax(p->from_s, q->from_s), to = fmin(p->to_s, q->to_s);

        if (from < to) {
            GROW(sum.pieces, sum.n, sum.cap);
            sum.pieces[sum.n++] = (struct trace_piece){
                .from_s = from,
                .to_s = to,
                .from_w = power_at(p, from) + power_at(q, from),
                .to_w = power_at(p, to) + power_at(q, to),
                .low_w = p->low_w + q->low_w,
                .mean_w = p->mean_w + q->mean_w,
                .high_w = p->high_w + q->high_w,
            };
        }
        if (p->to_s <= q->to_s)
            i++;
        if (q->to_s <= p->to_s)
            j++;
    }
    return sum;
}
