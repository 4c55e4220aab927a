/*
 * A run is the stretch of ticks between two breaks; E is defined within one run. Carrying the power
 * on from both sides to where the two meet is the "subcell resolution" of finite-volume methods:
 * ticks are cell borders, tick values the integral, and an edge inside a cell is found from the
 * neighbouring cells' averages.
 */
#include "record/energy.h"

#include <math.h>
#include <stdbool.h>

/* Ticks [first, end) that belong together; ticks[first] may be the break that began them. */
struct run {
    size_t first, end;
};

static bool is_break(const struct series *s, size_t i)
{
    return s->ticks[i].flags & TICK_BREAK;
}

/* The run that holds tick i, as far as `margin` ticks on each side. */
static struct run run_around(const struct series *s, size_t i, size_t margin)
{
    struct run r = {i, i + 1};

    while (r.first > 0 && !is_break(s, r.first) && i - r.first < margin)
        r.first--;
    while (r.end < s->n_ticks && !is_break(s, r.end) && r.end - i <= margin)
        r.end++;
    return r;
}

/* Whether there is a whole tick interval (i, i+1) within the run: both ends edges. */
static bool is_cell(const struct series *s, struct run r, size_t i)
{
    return i >= r.first && i + 1 < r.end && !is_break(s, i) && s->ticks[i + 1].at > s->ticks[i].at;
}

static double cell_s(const struct series *s, size_t i)
{
    return ns_to_s(s->ticks[i + 1].at - s->ticks[i].at);
}

static double cell_w(const struct series *s, size_t i)
{
    return (s->ticks[i + 1].value - s->ticks[i].value) / cell_s(s, i);
}

/* Watts per second from the middle of cell i to that of cell i + 1. */
static double trend(const struct series *s, size_t i)
{
    return (cell_w(s, i + 1) - cell_w(s, i)) / ((cell_s(s, i) + cell_s(s, i + 1)) / 2);
}

/* The smaller of two trends that agree in direction, else none. */
static double agreed(double x, double y)
{
    if (x * y <= 0)
        return 0;
    return fabs(x) < fabs(y) ? x : y;
}

/* The trends by which the powers beside cell i change. Being no steeper than towards the cell's own
 * power they may carry a power below zero only beyond the energy of the cell, where E is cut off:
 * so E never falls. */
static void cell_trends(const struct series *s, struct run r, size_t i, double *ret_before,
                        double *ret_after)
{
    *ret_before = *ret_after = 0;
    if (i >= 2 && is_cell(s, r, i - 2))
        *ret_before = agreed(trend(s, i - 2), trend(s, i - 1));
    if (is_cell(s, r, i + 2))
        *ret_after = agreed(trend(s, i), trend(s, i + 1));
}

/* E at t inside cell i: see energy.h. */
static double reconstruct(const struct series *s, struct run r, size_t i, mono_ns t)
{
    double e0 = s->ticks[i].value, e1 = s->ticks[i + 1].value, h = cell_s(s, i);
    double u = ns_to_s(t - s->ticks[i].at), v = h - u;
    double line = e0 + (e1 - e0) * (u / h);
    double wb, wa, hb, ha, before_trend, after_trend, left, right, excess_left, excess_right;

    if (i == 0 || !is_cell(s, r, i - 1) || !is_cell(s, r, i + 1))
        return line;
    wb = cell_w(s, i - 1);
    wa = cell_w(s, i + 1);
    hb = cell_s(s, i - 1);
    ha = cell_s(s, i + 1);
    cell_trends(s, r, i, &before_trend, &after_trend);
    /* Carried through the whole cell, one must fall short of its energy and the other exceed it:
     * then they meet inside. */
    excess_left = wb * h + before_trend * h * (h + hb) / 2 - (e1 - e0);
    excess_right = wa * h - after_trend * h * (h + ha) / 2 - (e1 - e0);
    left = e0 + wb * u + before_trend * u * (u + hb) / 2;
    right = e1 - (wa * v - after_trend * v * (v + ha) / 2);
    if (excess_left <= 0 && excess_right >= 0)
        return fmin(fmax(fmax(left, right), e0), e1);
    if (excess_left >= 0 && excess_right <= 0)
        return fmin(fmax(fmin(left, right), e0), e1);
    return line;
}

/* Before the first change of a run: the level bounds it from below, the power after it is taken to
 * have been the same before. */
static double before_first(const struct series *s, struct run r, size_t i, mono_ns t)
{
    double back_j;

    if (!is_cell(s, r, i + 1))
        return NAN;
    back_j = cell_w(s, i + 1) * ns_to_s(s->ticks[i + 1].at - t);
    return fmax(s->ticks[i + 1].value - back_j, s->ticks[i].value);
}

/* After the last tick of a run: on for at most one more tick's time. */
static double after_last(const struct series *s, struct run r, size_t i, mono_ns t)
{
    mono_ns known_until = r.end < s->n_ticks ? s->ticks[r.end].after : s->read_until;
    double beyond_s = ns_to_s(t - s->ticks[i].at);

    if (t > known_until || is_break(s, i))
        return NAN;
    if (i == 0 || !is_cell(s, r, i - 1))
        return s->ticks[i].value;
    return s->ticks[i].value + cell_w(s, i - 1) * fmin(beyond_s, cell_s(s, i - 1));
}

double energy_at(const struct series *s, mono_ns t)
{
    size_t next = series_at_after(s, t);
    struct run r;

    if (next == 0)
        return NAN;
    r = run_around(s, next - 1, SERIES_MARGIN);
    if (next >= r.end)
        return after_last(s, r, next - 1, t);
    if (is_break(s, next - 1))
        return before_first(s, r, next - 1, t);
    return reconstruct(s, r, next - 1, t);
}

/* The least E can be at t: the last tick seen by then. There is one. */
static double least_at(const struct series *s, mono_ns t)
{
    return s->ticks[series_after(s, t) - 1].value;
}

/* The most E can be at t: the first tick before `end` that cannot have come before t; NAN = none.
 */
static double most_at(const struct series *s, size_t end, mono_ns t)
{
    size_t i = series_after(s, t);

    while (i < end && s->ticks[i].after < t)
        i++;
    return i < end ? s->ticks[i].value : NAN;
}

/* One past the first tick that surely came after b, or the break before it. Breaks that may lie
 * inside the window are counted. */
static size_t window_end(const struct series *s, size_t from, mono_ns b, int64_t *breaks)
{
    size_t i = from;

    for (; i < s->n_ticks; i++) {
        bool later = s->ticks[i].after >= b;

        if (later)
            return is_break(s, i) ? i : i + 1;
        *breaks += is_break(s, i);
    }
    return i;
}

static void counter_energy(const struct channel *c, const struct series *s, mono_ns a, mono_ns b,
                           struct energy *ret)
{
    size_t seen = series_after(s, a), from = series_at_after(s, a), to = series_at_after(s, b);
    double quantum = c->quantum > 0 ? c->quantum : 0, most;
    int64_t breaks = 0;
    size_t end = window_end(s, seen, b, &breaks);

    for (size_t i = from; i < to; i++)
        ret->ticks += !is_break(s, i);
    ret->gaps += breaks;
    /* Nothing seen before a; a break inside; nothing but guesses on either side of the window. */
    if (seen == 0 || breaks > 0 || from >= s->n_ticks || is_break(s, from) || to == 0 ||
        is_break(s, to - 1))
        return;
    ret->joules = energy_at(s, b) - energy_at(s, a);
    if (isnan(ret->joules))
        return;
    most = most_at(s, end, a);
    ret->low_j = isnan(most) ? 0 : fmax(least_at(s, b) - most - quantum, 0);
    ret->high_j = most_at(s, end, b) + quantum - least_at(s, a);
}

/* The part of [from, to] that lies in [a, b], in seconds. */
static double overlap_s(mono_ns from, mono_ns to, mono_ns a, mono_ns b)
{
    mono_ns x = from > a ? from : a, y = to < b ? to : b;

    return y > x ? ns_to_s(y - x) : 0;
}

static void add_level(struct energy *e, double watts, double seconds)
{
    e->joules += watts * seconds;
    e->low_j += watts * seconds;
    e->high_j += watts * seconds;
}

/* The straight line from tick i to the next. */
static void add_line(struct energy *e, const struct tick *x, const struct tick *y, mono_ns a,
                     mono_ns b)
{
    double seconds = overlap_s(x->seen, y->after, a, b), span, middle;
    mono_ns from = x->seen > a ? x->seen : a;

    if (seconds <= 0)
        return;
    span = ns_to_s(y->after - x->seen);
    middle = (ns_to_s(from - x->seen) + seconds / 2) / span;
    e->joules += (x->value + (y->value - x->value) * middle) * seconds;
    e->low_j += fmin(x->value, y->value) * seconds;
    e->high_j += fmax(x->value, y->value) * seconds;
}

/* Sums the window's power; false where part of it is not known. */
static bool sum_power(const struct series *s, mono_ns a, mono_ns b, mono_ns reach,
                      struct energy *ret)
{
    size_t i = series_after(s, a);
    const struct tick *first, *last;

    if (i > 0)
        i--;
    first = &s->ticks[i];
    if (first->after > a) {
        if (first->after - a > reach)
            return false;
        add_level(ret, first->value, overlap_s(a, first->after, a, b));
    }
    for (;; i++) {
        last = &s->ticks[i];
        add_level(ret, last->value, overlap_s(last->after, last->seen, a, b));
        ret->ticks += last->after <= b && last->seen >= a;
        if (last->seen >= b || i + 1 == s->n_ticks)
            break;
        if (is_break(s, i + 1)) {
            ret->gaps++;
            return false;
        }
        add_line(ret, last, &s->ticks[i + 1], a, b);
    }
    if (last->seen < b) {
        if (b - last->seen > reach)
            return false;
        add_level(ret, last->value, overlap_s(last->seen, b, a, b));
    }
    return true;
}

static void power_energy(const struct channel *c, const struct series *s, mono_ns a, mono_ns b,
                         struct energy *ret)
{
    struct energy sum = {.coverage = ret->coverage, .gaps = ret->gaps};
    mono_ns reach = 3 * (s->period_ns > c->refresh_ns ? s->period_ns : c->refresh_ns);
    bool known = s->n_ticks > 0 && sum_power(s, a, b, reach, &sum);

    ret->ticks = sum.ticks;
    ret->gaps = sum.gaps;
    if (known && sum.coverage >= ENERGY_COVERAGE_MIN)
        *ret = sum;
}

struct energy energy_of_window(const struct channel *c, const struct series *s, mono_ns a,
                               mono_ns b)
{
    struct energy e = {.joules = NAN, .low_j = NAN, .high_j = NAN};

    if (b < a)
        return e;
    e.coverage = series_coverage(s, a, b, &e.gaps);
    if (c->quantity == QUANTITY_ENERGY_J)
        counter_energy(c, s, a, b, &e);
    else if (c->quantity == QUANTITY_POWER_W)
        power_energy(c, s, a, b, &e);
    return e;
}

struct energy energy_add(struct energy x, struct energy y)
{
    return (struct energy){
        .joules = x.joules + y.joules,
        .low_j = x.low_j + y.low_j,
        .high_j = x.high_j + y.high_j,
        .ticks = x.ticks < y.ticks ? x.ticks : y.ticks,
        .coverage = fmin(x.coverage, y.coverage),
        .gaps = x.gaps + y.gaps,
    };
}
