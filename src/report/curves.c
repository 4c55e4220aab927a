#include "report/curves.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Ticks of a counter closer than this are taken together: the error of their times would be the
 * larger part of the slope. */
#define SLOPE_MIN_S 0.01

/* What a channel has shown so far. */
struct source {
    struct curve *line; /* NULL = not a curve of power */
    bool known;         /* the line has been decided */
    bool started;
    double last_s, last_j; /* counters: where the next slope begins */
};

struct reading {
    struct run *run;
    struct curves *curves;
    struct source *sources;
    size_t n_sources;
};

static void reading_release(struct reading *r)
{
    free(r->sources);
}

void curves_release(struct curves *t)
{
    for (size_t i = 0; i < t->n; i++)
        thin_release(&t->lines[i].thin);
    free(t->lines);
    *t = (struct curves){0};
}

static struct curve *new_line(struct curves *t, const struct sampled_channel *c)
{
    struct curve *line;

    if (t->n == CURVES_MAX) {
        t->left_out++;
        return NULL;
    }
    line = &t->lines[t->n++];
    snprintf(line->name, sizeof(line->name), "%s", c->name ? c->name : "");
    snprintf(line->device, sizeof(line->device), "%s", c->device ? c->device : "");
    line->device_number = c->device_number;
    line->rail = c->rail;
    line->counter = c->quantity == QUANTITY_ENERGY_J;
    line->estimated = c->estimated;
    thin_init(&line->thin, CURVE_BUCKETS);
    return line;
}

static struct source *source_of(struct reading *r, size_t channel)
{
    const struct sampled_channel *channels;
    struct source *s;

    if (channel >= r->n_sources) {
        size_t n = channel * 2 + 16;

        r->sources = xreallocarray(r->sources, n, sizeof(*r->sources));
        memset(r->sources + r->n_sources, 0, (n - r->n_sources) * sizeof(*r->sources));
        r->n_sources = n;
    }
    s = &r->sources[channel];
    if (!s->known && channel < run_channels(r->run, &channels)) {
        const struct sampled_channel *c = &channels[channel];

        s->known = true;
        if (c->quantity == QUANTITY_ENERGY_J || c->quantity == QUANTITY_POWER_W)
            s->line = new_line(r->curves, c);
    }
    return s;
}

static void add_tick(struct source *s, const struct sample *x)
{
    double elapsed_s = x->time_s - s->last_s;
    bool first = !s->started;

    if (x->is_break || first || !isfinite(x->value)) {
        s->started = isfinite(x->value);
        s->last_s = x->time_s;
        s->last_j = x->value;
        s->line->thin.pending_break = true;
        return;
    }
    if (elapsed_s < SLOPE_MIN_S)
        return;
    thin_add(&s->line->thin, x->time_s, (x->value - s->last_j) / elapsed_s, s->last_s, false);
    s->last_s = x->time_s;
    s->last_j = x->value;
}

static int add_sample(void *arg, const struct sample *x)
{
    struct reading *r = arg;
    struct source *s = source_of(r, x->channel);

    if (!s->line)
        return 0;
    r->curves->samples++;
    if (s->line->counter)
        add_tick(s, x);
    else
        thin_add(&s->line->thin, x->time_s, x->value, x->time_s, x->is_break);
    return 0;
}

/* Is `other` the better curve of the same thing, or the same kind and earlier? */
static bool outshines(const struct curve *other, const struct curve *line)
{
    if (other->rail != line->rail || other->device_number != line->device_number ||
        strcmp(other->device, line->device) != 0)
        return false;
    if (other->counter != line->counter)
        return other->counter;
    return other < line && strcmp(other->name, line->name) == 0;
}

static void choose_shown(struct curves *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct curve *line = &t->lines[i];

        line->shown = line->rail != RAIL_CORE && line->rail != RAIL_UNCORE &&
                      line->rail != RAIL_OTHER && line->rail != RAIL_NONE;
        for (size_t k = 0; k < t->n && line->shown; k++)
            line->shown = k == i || t->lines[k].thin.n == 0 || !outshines(&t->lines[k], line);
    }
}

int curves_read(struct run *run, struct curves *ret, struct err *err)
{
    AUTO(curves) struct curves t = {.lines = xcalloc(CURVES_MAX, sizeof(*t.lines))};
    AUTO(reading) struct reading reading = {.run = run, .curves = &t};
    int r = run_samples(run, add_sample, &reading, err);

    if (r < 0)
        return r;
    choose_shown(&t);
    *ret = t;
    t = (struct curves){0};
    return 0;
}

size_t curves_points(const struct curves *t)
{
    size_t points = 0;

    for (size_t i = 0; i < t->n; i++)
        points += 2 * t->lines[i].thin.n;
    return points;
}

void curves_fit(struct curves *t, size_t max_points)
{
    while (curves_points(t) > max_points) {
        struct thin *longest = &t->lines[0].thin;

        for (size_t i = 1; i < t->n; i++)
            if (t->lines[i].thin.n > longest->n)
                longest = &t->lines[i].thin;
        if (longest->n < 4)
            return;
        thin_coarsen(longest);
    }
}

static void write_points(const struct thin *thin, struct json_writer *w)
{
    AUTO_FREE struct thin_point *points = NULL;
    size_t n = thin_points(thin, &points);
    int64_t before = 0;

    jw_begin_array(w, "t");
    for (size_t i = 0; i < n; i++) {
        int64_t at = llround(points[i].time_s * 1e4);

        jw_int(w, NULL, at - before);
        before = at;
    }
    jw_end_array(w);
    jw_begin_array(w, "mw");
    for (size_t i = 0; i < n; i++) {
        if (fabs(points[i].value) < 1e12)
            jw_int(w, NULL, llround(points[i].value * 1e3));
        else
            jw_null(w, NULL);
    }
    jw_end_array(w);
}

void curves_json(const struct curves *t, struct json_writer *w, const char *key)
{
    jw_begin_array(w, key);
    for (size_t i = 0; i < t->n; i++) {
        const struct curve *line = &t->lines[i];

        if (line->thin.n == 0)
            continue;
        jw_begin_object(w, NULL);
        jw_text(w, "name", line->name);
        jw_text(w, "device", line->device);
        jw_text(w, "rail", rail_name(line->rail));
        jw_bool(w, "estimated", line->estimated);
        jw_bool(w, "step", line->counter);
        jw_bool(w, "shown", line->shown);
        write_points(&line->thin, w);
        jw_end_object(w);
    }
    jw_end_array(w);
}
