/*
 * What a figure asks for is only written down here; range.c, layout.c and marks.c turn it into ink
 * when everything is known.
 */
#include "plot/chart_private.h"

#include "base/alloc.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Longer texts than this cannot be read on any paper. */
#define TEXT_CHARS_MAX 400

void chart_restyle(struct chart *c, double width_px, bool dark)
{
    c->width = fmin(fmax(width_px, 240), 8000);
    c->dark = dark;
}

struct chart *chart_new(double width_px, double height_px, bool dark)
{
    struct chart *c = xcalloc(1, sizeof(*c));

    chart_restyle(c, width_px, dark);
    c->height = fmin(fmax(height_px, 160), 8000);
    c->n_panels = 1;
    for (int p = 0; p < CHART_PANELS_MAX; p++)
        for (int d = 0; d < 2; d++) {
            c->panels[p].axes[d].label = xstrdup("");
            c->panels[p].axes[d].unit = xstrdup("");
        }
    return c;
}

static void release_rows(struct panel_axis *a)
{
    for (size_t i = 0; i < a->n_rows; i++) {
        free(a->rows[i]);
        free(a->remarks[i]);
    }
    free(a->rows);
    free(a->remarks);
    a->rows = a->remarks = NULL;
    a->n_rows = 0;
}

static void release_axis(struct panel_axis *a)
{
    release_rows(a);
    free(a->label);
    free(a->unit);
    a->label = a->unit = NULL;
}

void chart_forget_drawn(struct chart *c)
{
    for (size_t i = 0; i < c->n_texts; i++)
        free(c->texts[i].text);
    c->n_texts = c->n_marks = 0;
}

void chart_free(struct chart *c)
{
    if (!c)
        return;
    chart_forget_drawn(c);
    free(c->texts);
    free(c->marks);
    free(c->title);
    free(c->subtitle);
    for (size_t i = 0; i < c->n_notes; i++)
        free(c->notes[i]);
    for (int p = 0; p < CHART_PANELS_MAX; p++)
        for (int d = 0; d < 2; d++)
            release_axis(&c->panels[p].axes[d]);
    for (size_t i = 0; i < c->n_series; i++)
        free(c->series[i].name);
    free(c->series);
    for (size_t i = 0; i < c->n_items; i++) {
        free(c->items[i].x);
        free(c->items[i].y);
        free(c->items[i].y2);
    }
    free(c->items);
    free(c);
}

void chart_want_height(struct chart *c, double height_px)
{
    if (!c->height_chosen)
        c->height = fmin(fmax(height_px, 160), 8000);
}

void chart_keep_height(struct chart *c)
{
    c->height_chosen = true;
}

void chart_title(struct chart *c, const char *title, const char *subtitle)
{
    free(c->title);
    free(c->subtitle);
    c->title = type_clean(title, TEXT_CHARS_MAX);
    c->subtitle = type_clean(subtitle, TEXT_CHARS_MAX);
}

void chart_estimated(struct chart *c)
{
    c->estimated = true;
}

void chart_note(struct chart *c, const char *fmt, ...)
{
    char text[512];
    va_list ap;

    if (c->n_notes == CHART_NOTES_MAX)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    c->notes[c->n_notes++] = type_clean(text, TEXT_CHARS_MAX);
}

void chart_panel(struct chart *c)
{
    if (c->n_panels < CHART_PANELS_MAX)
        c->n_panels++;
}

void chart_axis(struct chart *c, enum chart_dim dim, const struct axis *axis)
{
    struct panel_axis *a = &c->panels[c->n_panels - 1].axes[dim];

    release_axis(a);
    a->asked = *axis;
    a->label = type_clean(axis->label, TEXT_CHARS_MAX);
    a->unit = type_clean(axis->unit, 40);
    if (axis->n_rows) {
        a->rows = xcalloc(axis->n_rows, sizeof(*a->rows));
        a->remarks = xcalloc(axis->n_rows, sizeof(*a->remarks));
    }
    for (size_t i = 0; i < axis->n_rows; i++) {
        a->rows[i] = type_clean(axis->rows[i], TEXT_CHARS_MAX);
        a->remarks[i] = type_clean(axis->remarks ? axis->remarks[i] : NULL, 40);
    }
    a->n_rows = axis->n_rows;
}

static int new_series(struct chart *c, const char *name, int colour, enum chart_stroke stroke)
{
    GROW(c->series, c->n_series, c->cap_series);
    c->series[c->n_series] = (struct series_look){
        .name = name ? type_clean(name, TEXT_CHARS_MAX) : NULL, .colour = colour, .stroke = stroke};
    return (int)c->n_series++;
}

int chart_series(struct chart *c, const char *name)
{
    int n = c->n_colours++;

    /* once round the palette, lines are told apart by their stroke */
    return new_series(c, name, n % THEME_COLOURS, (enum chart_stroke)(n / THEME_COLOURS % 3));
}

int chart_series_grey(struct chart *c, const char *name, enum chart_stroke stroke)
{
    return new_series(c, name, -1, stroke);
}

int chart_series_like(struct chart *c, int series, const char *name, enum chart_stroke stroke)
{
    return new_series(c, name, c->series[series].colour, stroke);
}

static struct item *add_item(struct chart *c, enum mark_kind kind, int series)
{
    struct series_look *look = &c->series[series];

    look->has_line |= kind == MARK_VERTEX || kind == MARK_RULE || kind == MARK_WHISKER;
    look->has_point |= kind == MARK_POINT;
    look->has_area |= kind == MARK_BAND || kind == MARK_SPAN;
    GROW(c->items, c->n_items, c->cap_items);
    c->items[c->n_items] = (struct item){.kind = kind, .series = series, .panel = c->n_panels - 1};
    return &c->items[c->n_items++];
}

void chart_points(struct chart *c, int series, const double *x, const double *y, size_t n)
{
    struct item *item;

    if (!n)
        return;
    item = add_item(c, MARK_POINT, series);
    item->n = n;
    item->x = xmemdup(x, n * sizeof(*x));
    item->y = xmemdup(y, n * sizeof(*y));
}

void chart_line(struct chart *c, int series, const double *x, const double *y, size_t n)
{
    struct item *item;

    if (!n)
        return;
    item = add_item(c, MARK_VERTEX, series);
    item->n = n;
    item->x = xmemdup(x, n * sizeof(*x));
    item->y = xmemdup(y, n * sizeof(*y));
}

void chart_band(struct chart *c, int series, const double *x, const double *lo, const double *hi,
                size_t n)
{
    struct item *item;

    if (!n)
        return;
    item = add_item(c, MARK_BAND, series);
    item->n = n;
    item->x = xmemdup(x, n * sizeof(*x));
    item->y = xmemdup(lo, n * sizeof(*lo));
    item->y2 = xmemdup(hi, n * sizeof(*hi));
}

void chart_whisker(struct chart *c, int series, enum chart_dim dim, double at, double lo, double hi)
{
    struct item *item = add_item(c, MARK_WHISKER, series);

    item->dim = dim;
    item->at = at;
    item->from = lo;
    item->to = hi;
}

void chart_rule(struct chart *c, int series, enum chart_dim dim, double at)
{
    struct item *item = add_item(c, MARK_RULE, series);

    item->dim = dim;
    item->at = at;
}

void chart_span(struct chart *c, int series, double x0, double x1, double strength)
{
    struct item *item = add_item(c, MARK_SPAN, series);

    item->from = x0;
    item->to = x1;
    item->at = strength;
}

size_t chart_marks(const struct chart *c, const struct chart_mark **ret)
{
    *ret = c->marks;
    return c->n_marks;
}

size_t chart_texts(const struct chart *c, const struct chart_text **ret)
{
    *ret = c->texts;
    return c->n_texts;
}
