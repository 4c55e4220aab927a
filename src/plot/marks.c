/*
 * Ink for the items, areas first, then lines, then points, so that nothing small is hidden. What a
 * person could not tell apart is drawn once: of a line with more vertices than the paper has
 * columns, each column's first, lowest, highest and last; of points on one spot, a few. So a
 * million samples make a picture of some kilobytes that looks the same.
 */
#include "plot/chart_private.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdlib.h>

struct at {
    struct chart *c;
    const struct item *item;
    const struct panel_axis *x, *y;
    const struct panel *panel;
    uint32_t colour;
};

static struct at at_item(struct chart *c, const struct item *item)
{
    const struct panel *p = &c->panels[item->panel];

    return (struct at){c,
                       item,
                       &p->axes[CHART_X],
                       &p->axes[CHART_Y],
                       p,
                       theme_colour(c, &c->series[item->series])};
}

static struct chart_mark *record_mark(const struct at *at)
{
    struct chart *c = at->c;

    GROW(c->marks, c->n_marks, c->cap_marks);
    c->marks[c->n_marks] = (struct chart_mark){
        .kind = at->item->kind, .series = at->item->series, .panel = at->item->panel};
    return &c->marks[c->n_marks++];
}

static void record_box(const struct at *at, double x, double y, double x2, double y2)
{
    struct chart_mark *m = record_mark(at);

    m->x = x;
    m->y = y;
    m->x2 = x2;
    m->y2 = y2;
    m->px = axis_px(at->x, x);
    m->py = axis_px(at->y, y);
    m->px2 = axis_px(at->x, x2);
    m->py2 = axis_px(at->y, y2);
}

static void record_spot(const struct at *at, double x, double y, bool starts)
{
    struct chart_mark *m = record_mark(at);

    m->x = m->x2 = x;
    m->y = m->y2 = y;
    m->px = m->px2 = axis_px(at->x, x);
    m->py = m->py2 = axis_px(at->y, y);
    m->starts = starts;
}

static void clip(const struct at *at)
{
    const struct panel *p = at->panel;

    cairo_save(at->c->cr);
    cairo_rectangle(at->c->cr, p->left, p->top - 2, p->right - p->left, p->bottom - p->top + 3);
    cairo_clip(at->c->cr);
}

/* Puts pixel edges where the eye expects them and gives thin boxes a width. */
static void fill_box(cairo_t *cr, double x0, double y0, double x1, double y1)
{
    double left = fmin(x0, x1), top = fmin(y0, y1);

    cairo_rectangle(cr, left, top, fmax(fabs(x1 - x0), 0.75), fmax(fabs(y1 - y0), 0.75));
    cairo_fill(cr);
}

static bool band_is_at(const struct at *at, size_t i)
{
    return !isnan(axis_px(at->x, at->item->x[i])) && !isnan(axis_px(at->y, at->item->y[i])) &&
           !isnan(axis_px(at->y, at->item->y2[i]));
}

/* From gap to gap: along the upper edge, and back along the lower. */
static void draw_band(const struct at *at)
{
    cairo_t *cr = at->c->cr;
    const struct item *item = at->item;

    clip(at);
    for (size_t i = 0, end; i < item->n; i = end + 1) {
        for (end = i; end < item->n && band_is_at(at, end); end++) {
            cairo_line_to(cr, axis_px(at->x, item->x[end]), axis_px(at->y, item->y2[end]));
            record_box(at, item->x[end], item->y[end], item->x[end], item->y2[end]);
        }
        for (size_t k = end; k-- > i;)
            cairo_line_to(cr, axis_px(at->x, item->x[k]), axis_px(at->y, item->y[k]));
        if (end > i)
            cairo_close_path(cr);
        cairo_new_sub_path(cr);
    }
    theme_set(cr, at->colour, 0.25);
    cairo_fill(cr);
    cairo_restore(cr);
}

static void line_setup(const struct at *at)
{
    static const double dashes[] = {6, 4}, dots[] = {1.5, 3};
    cairo_t *cr = at->c->cr;
    enum chart_stroke stroke = at->c->series[at->item->series].stroke;

    theme_set(cr, at->colour, 1);
    cairo_set_line_width(cr, 1.6);
    cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
    if (stroke == CHART_SOLID)
        cairo_set_dash(cr, NULL, 0, 0);
    else
        cairo_set_dash(cr, stroke == CHART_DASHED ? dashes : dots, 2, 0);
}

static bool placed(const struct at *at, size_t i)
{
    return !isnan(axis_px(at->x, at->item->x[i])) && !isnan(axis_px(at->y, at->item->y[i]));
}

/* Draws vertex i; the first after a gap begins anew. */
static void put_vertex(const struct at *at, size_t i, bool *starts)
{
    const struct item *item = at->item;
    double x = axis_px(at->x, item->x[i]), y = axis_px(at->y, item->y[i]);

    if (*starts)
        cairo_move_to(at->c->cr, x, y);
    else
        cairo_line_to(at->c->cr, x, y);
    record_spot(at, item->x[i], item->y[i], *starts);
    *starts = false;
}

/* Of the vertices [from, to), all in one column, the first, lowest, highest and last. */
static void put_column(const struct at *at, size_t from, size_t to, bool *starts)
{
    size_t low = from, high = from, order[4];

    for (size_t i = from; i < to; i++) {
        low = at->item->y[i] < at->item->y[low] ? i : low;
        high = at->item->y[i] > at->item->y[high] ? i : high;
    }
    order[0] = from;
    order[1] = low < high ? low : high;
    order[2] = low < high ? high : low;
    order[3] = to - 1;
    for (size_t k = 0; k < 4; k++)
        if (k == 0 || order[k] > order[k - 1])
            put_vertex(at, order[k], starts);
}

static void draw_line(const struct at *at)
{
    const struct item *item = at->item;
    double columns_per_px = 2; /* a PNG has two to the pixel */
    bool starts = true, thin = item->n > 8 * (size_t)at->c->width;

    clip(at);
    line_setup(at);
    for (size_t i = 0; i < item->n;) {
        size_t end = i + 1;
        double column;

        if (!placed(at, i)) {
            starts = true;
            i++;
            continue;
        }
        column = floor(axis_px(at->x, item->x[i]) * columns_per_px);
        while (thin && end < item->n && placed(at, end) &&
               floor(axis_px(at->x, item->x[end]) * columns_per_px) == column)
            end++;
        put_column(at, i, end, &starts);
        i = end;
    }
    cairo_stroke(at->c->cr);
    cairo_set_dash(at->c->cr, NULL, 0, 0);
    cairo_restore(at->c->cr);
}

static void draw_whisker(const struct at *at)
{
    const struct item *item = at->item;
    bool flat = item->dim == CHART_X;
    double at_px = axis_px(flat ? at->y : at->x, item->at);
    double from = axis_px(flat ? at->x : at->y, item->from);
    double to = axis_px(flat ? at->x : at->y, item->to);
    cairo_t *cr = at->c->cr;

    if (isnan(at_px) || isnan(from) || isnan(to))
        return;
    line_setup(at);
    cairo_set_dash(cr, NULL, 0, 0);
    for (int end = 0; end < 2; end++) {
        double p = end ? to : from;

        cairo_move_to(cr, flat ? p : at_px - 4, flat ? at_px - 4 : p);
        cairo_line_to(cr, flat ? p : at_px + 4, flat ? at_px + 4 : p);
    }
    cairo_move_to(cr, flat ? from : at_px, flat ? at_px : from);
    cairo_line_to(cr, flat ? to : at_px, flat ? at_px : to);
    cairo_stroke(cr);
    if (flat)
        record_box(at, item->from, item->at, item->to, item->at);
    else
        record_box(at, item->at, item->from, item->at, item->to);
}

static void draw_rule(const struct at *at)
{
    const struct item *item = at->item;
    bool flat = item->dim == CHART_Y;
    const struct panel *p = at->panel;
    double px = axis_px(flat ? at->y : at->x, item->at);
    struct chart_mark *m;

    if (isnan(px))
        return;
    line_setup(at);
    cairo_set_line_width(at->c->cr, 1.2);
    cairo_move_to(at->c->cr, flat ? p->left : px, flat ? px : p->top);
    cairo_line_to(at->c->cr, flat ? p->right : px, flat ? px : p->bottom);
    cairo_stroke(at->c->cr);
    cairo_set_dash(at->c->cr, NULL, 0, 0);
    m = record_mark(at);
    *m = (struct chart_mark){.kind = MARK_RULE,
                             .series = item->series,
                             .panel = item->panel,
                             .x = flat ? NAN : item->at,
                             .y = flat ? item->at : NAN,
                             .x2 = flat ? NAN : item->at,
                             .y2 = flat ? item->at : NAN,
                             .px = flat ? p->left : px,
                             .py = flat ? px : p->top,
                             .px2 = flat ? p->right : px,
                             .py2 = flat ? px : p->bottom};
}

/* Spans narrower than this cannot be told apart. */
#define SPAN_PX 3.0

static double span_width(const struct at *at, const struct item *item)
{
    return axis_px(at->x, item->to) - axis_px(at->x, item->from);
}

/* The span after item i, when it is of the same kind. */
static const struct item *span_after(const struct chart *c, size_t i)
{
    const struct item *next = i + 1 < c->n_items ? &c->items[i + 1] : NULL;

    return next && next->kind == MARK_SPAN && next->panel == c->items[i].panel &&
                   next->series == c->items[i].series
               ? next
               : NULL;
}

/* One span, or as many narrow ones in a row as make one that can be seen. Between two wide ones
 * that do not touch a line is left free, however short the pause. */
static void draw_spans(struct chart *c, size_t *i)
{
    struct at at = at_item(c, &c->items[*i]);
    const struct item *next = span_after(c, *i);
    double from = at.item->from, to = at.item->to, ink = at.item->at * (to - from), left, right;

    while (next && axis_px(at.x, to) - axis_px(at.x, from) < SPAN_PX &&
           span_width(&at, next) < SPAN_PX && axis_px(at.x, next->from) <= axis_px(at.x, to) + 1) {
        to = fmax(to, next->to);
        ink += next->at * (next->to - next->from);
        next = span_after(c, ++*i);
    }
    left = axis_px(at.x, from);
    right = axis_px(at.x, to);
    if (isnan(left) || isnan(right))
        return;
    if (next && next->from > to && right - left >= SPAN_PX && span_width(&at, next) >= SPAN_PX)
        right = fmin(right, axis_px(at.x, next->from) - 1);
    theme_set(c->cr, at.colour, 0.25 * (to > from ? fmin(ink / (to - from), 1) : at.item->at));
    fill_box(c->cr, left, at.panel->top, right, at.panel->bottom);
    record_box(&at, from, at.y->ticks.lo, to, at.y->ticks.hi);
}

/* Points are drawn in so many layers: where they lie on each other the ink grows stronger. */
#define LAYERS 4

/* Strokes the dots put since as one path. A square or a ring, not a dot, where colours repeat. */
static void stroke_dots(const struct at *at, double radius, double alpha)
{
    cairo_t *cr = at->c->cr;
    enum chart_stroke look = at->c->series[at->item->series].stroke;

    theme_set(cr, at->colour, alpha);
    cairo_set_line_cap(cr, look == CHART_DASHED ? CAIRO_LINE_CAP_SQUARE : CAIRO_LINE_CAP_ROUND);
    cairo_set_line_width(cr, look == CHART_DASHED ? 1.8 * radius : 2 * radius);
    if (look == CHART_DOTTED) {
        cairo_stroke_preserve(cr);
        theme_set(cr, theme_of(at->c)->paper, 1);
        cairo_set_line_width(cr, radius);
    }
    cairo_stroke(cr);
    cairo_set_line_cap(cr, CAIRO_LINE_CAP_BUTT);
}

/* A line without length: its round ends are the dot. Square ends need a direction. */
static void put_dot(const struct at *at, size_t i)
{
    double x = axis_px(at->x, at->item->x[i]), y = axis_px(at->y, at->item->y[i]);
    double way = at->c->series[at->item->series].stroke == CHART_DASHED ? 0.02 : 0;

    cairo_move_to(at->c->cr, x, y);
    cairo_line_to(at->c->cr, x + way, y);
    record_spot(at, at->item->x[i], at->item->y[i], false);
}

/* Which layer every point is in, LAYERS = none: of those in one cell of the paper, one a layer. */
static unsigned char *sort_into_layers(const struct at *at)
{
    const struct item *item = at->item;
    const struct panel *p = at->panel;
    double cell_px = item->n <= 20000 ? 1 : 2;
    size_t columns = (size_t)((p->right - p->left) / cell_px) + 2;
    size_t rows = (size_t)((p->bottom - p->top) / cell_px) + 2;
    AUTO_FREE unsigned char *used = xcalloc(columns * rows, 1); /* layers, a bit each */
    unsigned char *layers = xmalloc(item->n);

    for (size_t i = 0; i < item->n; i++) {
        double x = (axis_px(at->x, item->x[i]) - p->left) / cell_px;
        double y = (axis_px(at->y, item->y[i]) - p->top) / cell_px;
        unsigned char *cell;

        layers[i] = LAYERS;
        /* half a cell outside is rounding */
        if (!(x >= -0.5 && y >= -0.5 && x < (double)columns && y < (double)rows))
            continue;
        cell = &used[(size_t)fmax(y, 0) * columns + (size_t)fmax(x, 0)];
        for (unsigned k = 0; k < LAYERS && layers[i] == LAYERS; k++)
            if (!(*cell & 1u << (i + k) % LAYERS))
                layers[i] = (unsigned char)((i + k) % LAYERS);
        *cell = (unsigned char)(*cell | 1u << layers[i]);
    }
    return layers;
}

static void draw_points(const struct at *at)
{
    AUTO_FREE unsigned char *layers = sort_into_layers(at);
    size_t n = at->item->n;
    double radius = n <= 300 ? 3.5 : n <= 3000 ? 2.5 : 1.8;

    for (unsigned layer = 0; layer < LAYERS; layer++) {
        for (size_t i = 0; i < n; i++)
            if (layers[i] == layer)
                put_dot(at, i);
        stroke_dots(at, radius, n <= 60 ? 0.9 : n <= 3000 ? 0.45 : 0.35);
    }
}

static void draw_kind(struct chart *c, enum mark_kind kind)
{
    for (size_t i = 0; i < c->n_items; i++) {
        struct at at = at_item(c, &c->items[i]);

        if (c->items[i].kind != kind)
            continue;
        switch (kind) {
        case MARK_SPAN:
            draw_spans(c, &i);
            break;
        case MARK_BAND:
            draw_band(&at);
            break;
        case MARK_VERTEX:
            draw_line(&at);
            break;
        case MARK_RULE:
            draw_rule(&at);
            break;
        case MARK_WHISKER:
            draw_whisker(&at);
            break;
        case MARK_POINT:
            draw_points(&at);
            break;
        }
    }
}

void marks_draw(struct chart *c)
{
    static const enum mark_kind order[] = {MARK_SPAN,   MARK_BAND, MARK_POINT,
                                           MARK_VERTEX, MARK_RULE, MARK_WHISKER};

    for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++)
        draw_kind(c, order[i]);
}
