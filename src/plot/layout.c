/*
 * Where things go. From the top: title, subtitle, the badge of estimated energy, the legend in as
 * many lines as it needs; from the bottom: small print. What is left is shared by the panels, which
 * have one left and one right margin so that their x axes stand above each other. The y axis' label
 * stands above its axis, not turned beside it: it can be read, and cannot be too long for the
 * panel's height. Every width is measured; what does not fit is cut, and an axis gets fewer ticks
 * until their texts stand apart.
 */
#include "plot/chart_private.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAD           16.0
#define KEY_PX        22.0 /* the sample of a series in the legend */
#define AXIS_TEXT_MAX 64

static void head(struct chart *c)
{
    const struct theme *t = theme_of(c);
    AUTO_FREE char *title = type_fit(c, c->title ? c->title : "", TYPE_TITLE, c->width - 2 * PAD);
    AUTO_FREE char *sub =
        type_fit(c, c->subtitle ? c->subtitle : "", TYPE_TEXT, c->width - 2 * PAD);

    c->y = PAD;
    if (*title) {
        type_put(c, title, TYPE_TITLE, PAD, c->y, 0, t->ink);
        c->y += type_height(TYPE_TITLE) + 2;
    }
    if (*sub) {
        type_put(c, sub, TYPE_TEXT, PAD, c->y, 0, t->soft_ink);
        c->y += type_height(TYPE_TEXT) + 4;
    }
}

static void badge(struct chart *c)
{
    static const char words[] = "ESTIMATED energy: modelled, not measured";
    const struct theme *t = theme_of(c);
    AUTO_FREE char *text = NULL;

    if (!c->estimated)
        return;
    text = type_fit(c, words, TYPE_TEXT, c->width - 2 * PAD - 16);
    theme_set(c->cr, t->badge, 1);
    cairo_rectangle(c->cr, PAD, c->y, type_width(c, text, TYPE_TEXT) + 16,
                    type_height(TYPE_TEXT) + 6);
    cairo_fill(c->cr);
    type_put(c, text, TYPE_TEXT, PAD + 8, c->y + 3, 0, t->badge_ink);
    c->y += type_height(TYPE_TEXT) + 12;
}

static void set_dash(cairo_t *cr, enum chart_stroke stroke)
{
    static const double dashes[] = {6, 4}, dots[] = {1.5, 3};

    if (stroke == CHART_SOLID)
        cairo_set_dash(cr, NULL, 0, 0);
    else
        cairo_set_dash(cr, stroke == CHART_DASHED ? dashes : dots, 2, 0);
}

static void legend_dot(struct chart *c, const struct series_look *look, double x, double y)
{
    if (look->stroke == CHART_DASHED)
        cairo_rectangle(c->cr, x - 3.2, y - 3.2, 6.4, 6.4);
    else
        cairo_arc(c->cr, x, y, 3.5, 0, 2 * M_PI);
    cairo_fill(c->cr);
    if (look->stroke != CHART_DOTTED)
        return;
    theme_set(c->cr, theme_of(c)->paper, 1);
    cairo_arc(c->cr, x, y, 1.75, 0, 2 * M_PI);
    cairo_fill(c->cr);
}

static void legend_key(struct chart *c, const struct series_look *look, double x, double y)
{
    uint32_t colour = theme_colour(c, look);

    if (look->has_area) {
        theme_set(c->cr, colour, look->has_line || look->has_point ? 0.2 : 0.45);
        cairo_rectangle(c->cr, x, y - 5, KEY_PX - 6, 10);
        cairo_fill(c->cr);
    }
    theme_set(c->cr, colour, 1);
    if (look->has_line) {
        set_dash(c->cr, look->stroke);
        cairo_set_line_width(c->cr, 2);
        cairo_move_to(c->cr, x, y);
        cairo_line_to(c->cr, x + KEY_PX - 6, y);
        cairo_stroke(c->cr);
        set_dash(c->cr, CHART_SOLID);
    }
    if (look->has_point)
        legend_dot(c, look, x + (KEY_PX - 6) / 2, y);
}

static bool in_legend(const struct series_look *look)
{
    return look->name && *look->name && (look->has_line || look->has_point || look->has_area);
}

static void legend(struct chart *c)
{
    double room = c->width - 2 * PAD, x = PAD, line = type_height(TYPE_TEXT) + 4;
    size_t shown = 0, left_out = 0;

    for (size_t i = 0; i < c->n_series; i++) {
        AUTO_FREE char *name = NULL;
        double width;

        if (!in_legend(&c->series[i]))
            continue;
        if (shown++ >= CHART_LEGEND_MAX) {
            left_out++;
            continue;
        }
        name = type_fit(c, c->series[i].name, TYPE_TEXT, fmax(room * 0.45, 100) - KEY_PX);
        width = KEY_PX + type_width(c, name, TYPE_TEXT);
        if (x > PAD && x + width > PAD + room) {
            x = PAD;
            c->y += line;
        }
        legend_key(c, &c->series[i], x, c->y + line / 2 - 2);
        type_put(c, name, TYPE_TEXT, x + KEY_PX, c->y, 0, theme_of(c)->ink);
        x += width + 18;
    }
    if (left_out)
        chart_note(c, "%zu more series are not in the legend", left_out);
    if (shown)
        c->y += line + 4;
}

static void notes(struct chart *c)
{
    double line = type_height(TYPE_TICK);

    c->bottom = c->height - PAD + 4 - line * (double)c->n_notes;
    for (size_t i = 0; i < c->n_notes; i++) {
        AUTO_FREE char *text = type_fit(c, c->notes[i], TYPE_TICK, c->width - 2 * PAD);

        type_put(c, text, TYPE_TICK, PAD, c->bottom + line * (double)i, 0, theme_of(c)->soft_ink);
    }
}

/* From the data's range to the axis' ends. */
static void settle_range(struct panel_axis *a)
{
    const struct axis *asked = &a->asked;
    bool by_data = asked->lo == 0 && asked->hi == 0;
    double lo = by_data || isnan(asked->lo) ? a->lo : asked->lo;
    double hi = by_data || isnan(asked->hi) ? a->hi : asked->hi;
    bool free_lo = by_data || isnan(asked->lo), free_hi = by_data || isnan(asked->hi);

    if (a->n_rows) {
        a->ticks = (struct ticks){.lo = -0.5, .hi = (double)a->n_rows - 0.5};
        return;
    }
    if (isnan(lo) || isnan(hi))
        lo = asked->log ? 1 : 0, hi = asked->log ? 10 : 1;
    if (asked->log) {
        double by = pow(fmax(hi / lo, 1), 0.03);

        lo = free_lo ? lo / by : lo;
        hi = free_hi ? hi * by : hi;
        ticks_log(lo, hi, 6, &a->ticks);
        return;
    }
    if (asked->from_zero && lo > 0 && free_lo)
        lo = 0;
    ticks_linear(lo, hi, 6, &a->ticks);
    lo = a->ticks.lo;
    hi = a->ticks.hi;
    if (free_hi)
        a->ticks.hi = hi + (hi - lo) * 0.04;
    if (free_lo && !(asked->from_zero && lo >= 0))
        a->ticks.lo = lo - (hi - lo) * 0.04;
}

static void settle_ticks(struct panel_axis *a, int about)
{
    double lo = a->ticks.lo, hi = a->ticks.hi;

    if (a->n_rows)
        return;
    if (a->asked.log)
        ticks_log(lo, hi, about, &a->ticks);
    else
        ticks_linear(lo, hi, about, &a->ticks);
    if (a->asked.whole && a->ticks.step > 0 && a->ticks.step < 1)
        ticks_linear(lo, hi, (int)fmax(1, floor(hi - lo)), &a->ticks);
    a->ticks.lo = lo;
    a->ticks.hi = hi;
    a->exponent = tick_exponent(fmax(fabs(lo), fabs(hi)));
    if (a->asked.percent || (!a->asked.si && a->exponent < 6))
        a->exponent = 0;
    if (a->asked.si && a->exponent > 0 && strcmp(a->unit, "s") == 0)
        a->exponent = 0; /* nobody says kiloseconds */
}

static void axis_text(const struct panel_axis *a, double value, char text[AXIS_TEXT_MAX])
{
    char number[TICK_TEXT_MAX];

    if (a->asked.percent) {
        tick_text(value * 100, a->ticks.step * 100, 0, number);
        snprintf(text, AXIS_TEXT_MAX, "%s %%", number);
    } else if (a->asked.log) {
        int exponent = tick_exponent(value);

        if (strcmp(a->unit, "s") == 0)
            exponent = exponent > 0 ? 0 : exponent;
        else if (!a->asked.si && exponent < 0)
            exponent = 0;
        tick_text(value, 0, exponent, number);
        if (a->asked.si)
            snprintf(text, AXIS_TEXT_MAX, "%s %s%s", number, tick_prefix(exponent), a->unit);
        else
            snprintf(text, AXIS_TEXT_MAX, "%s%s", number, tick_prefix(exponent));
    } else {
        tick_text(value, a->ticks.step, a->exponent, number);
        snprintf(text, AXIS_TEXT_MAX, "%s%s", number,
                 a->asked.si || value == 0 ? "" : tick_prefix(a->exponent));
    }
}

/* "latency (ms)"; on a log axis the ticks carry the unit. */
static char *axis_label(const struct panel_axis *a)
{
    bool in_ticks = a->asked.log && a->asked.si;

    if (!*a->unit || in_ticks)
        return xstrdup(a->label);
    return xasprintf("%s (%s%s)", a->label, a->asked.si ? tick_prefix(a->exponent) : "", a->unit);
}

double axis_px(const struct panel_axis *a, double value)
{
    double part;

    if (!isfinite(value) || (a->asked.log && value <= 0))
        return NAN;
    if (a->asked.log)
        part = log(value / a->ticks.lo) / log(a->ticks.hi / a->ticks.lo);
    else
        part = (value - a->ticks.lo) / (a->ticks.hi - a->ticks.lo);
    return a->from_px + part * (a->to_px - a->from_px);
}

/* How much room the texts beside the panels take. */
static void side_widths(struct chart *c, double *ret_left, double *ret_right)
{
    double left = 0, right = 0;

    for (int p = 0; p < c->n_panels; p++) {
        const struct panel_axis *a = &c->panels[p].axes[CHART_Y];
        char text[AXIS_TEXT_MAX];

        for (size_t i = 0; i < a->n_rows; i++) {
            left = fmax(left, type_width(c, a->rows[i], TYPE_TICK));
            right = fmax(right, type_width(c, a->remarks[i], TYPE_TICK));
        }
        for (size_t i = 0; !a->n_rows && i < a->ticks.n; i++) {
            axis_text(a, a->ticks.at[i], text);
            left = fmax(left, type_width(c, text, TYPE_TICK));
        }
    }
    *ret_left = fmin(left, c->width * 0.35) + 8;
    *ret_right = right > 0 ? fmin(right, c->width * 0.2) + 8 : 0;
}

/* Fewer and fewer ticks, until no two texts touch. */
static void fit_x_ticks(struct chart *c, struct panel_axis *a)
{
    for (int about = (int)fmax(2, (a->to_px - a->from_px) / 75); about >= 2; about--) {
        double end = -INFINITY;
        bool apart = true;
        char text[AXIS_TEXT_MAX];

        settle_ticks(a, about);
        for (size_t i = 0; i < a->ticks.n; i++) {
            double width, middle = axis_px(a, a->ticks.at[i]);

            axis_text(a, a->ticks.at[i], text);
            width = type_width(c, text, TYPE_TICK);
            apart &= middle - width / 2 > end + 10;
            end = middle + width / 2;
        }
        if (apart)
            return;
    }
}

static void grid_line(struct chart *c, double x0, double y0, double x1, double y1, uint32_t colour)
{
    theme_set(c->cr, colour, 1);
    cairo_set_line_width(c->cr, 1);
    cairo_move_to(c->cr, x0, y0);
    cairo_line_to(c->cr, x1, y1);
    cairo_stroke(c->cr);
}

static void draw_x_axis(struct chart *c, const struct panel *p, bool labelled)
{
    const struct panel_axis *a = &p->axes[CHART_X];
    const struct theme *t = theme_of(c);
    char text[AXIS_TEXT_MAX];

    for (size_t i = 0; i < a->ticks.n; i++) {
        double x = axis_px(a, a->ticks.at[i]), width, middle;

        axis_text(a, a->ticks.at[i], text);
        width = type_width(c, text, TYPE_TICK);
        /* the last text may stand inwards rather than beyond the paper */
        middle = fmin(fmax(x, 2 + width / 2), c->width - 2 - width / 2);
        grid_line(c, x, p->top, x, p->bottom + 4, t->grid);
        type_put(c, text, TYPE_TICK, middle, p->bottom + 6, 0.5, t->soft_ink);
    }
    grid_line(c, p->left, p->bottom, p->right, p->bottom, t->soft_ink);
    if (labelled) {
        AUTO_FREE char *whole = axis_label(a);
        AUTO_FREE char *label = type_fit(c, whole, TYPE_TEXT, p->right - p->left);

        type_put(c, label, TYPE_TEXT, (p->left + p->right) / 2,
                 p->bottom + 8 + type_height(TYPE_TICK), 0.5, t->ink);
    }
}

static void draw_rows(struct chart *c, const struct panel *p)
{
    const struct panel_axis *a = &p->axes[CHART_Y];
    const struct theme *t = theme_of(c);

    for (size_t i = 0; i < a->n_rows; i++) {
        double y = axis_px(a, (double)i);
        AUTO_FREE char *name = type_fit(c, a->rows[i], TYPE_TICK, p->left - PAD - 6);
        AUTO_FREE char *remark =
            type_fit(c, a->remarks[i], TYPE_TICK, fmax(0, c->width - PAD - p->right - 8));

        grid_line(c, p->left, y, p->right, y, t->grid);
        type_put(c, name, TYPE_TICK, p->left - 8, y - 7, 1, t->ink);
        type_put(c, remark, TYPE_TICK, p->right + 8, y - 7, 0, t->soft_ink);
    }
}

static void draw_y_axis(struct chart *c, const struct panel *p)
{
    const struct panel_axis *a = &p->axes[CHART_Y];
    const struct theme *t = theme_of(c);
    AUTO_FREE char *whole = axis_label(a);
    AUTO_FREE char *label = type_fit(c, whole, TYPE_TEXT, c->width - 2 * PAD);
    char text[AXIS_TEXT_MAX];

    type_put(c, label, TYPE_TEXT, PAD, p->top_label_y, 0, t->ink);
    if (a->n_rows) {
        draw_rows(c, p);
        return;
    }
    for (size_t i = 0; i < a->ticks.n; i++) {
        double y = axis_px(a, a->ticks.at[i]);

        axis_text(a, a->ticks.at[i], text);
        grid_line(c, p->left, y, p->right, y, t->grid);
        type_put(c, text, TYPE_TICK, p->left - 6, y - 7, 1, t->soft_ink);
    }
}

static void place_panel(struct panel *p, double top, double bottom, bool last)
{
    struct panel_axis *x = &p->axes[CHART_X], *y = &p->axes[CHART_Y];

    p->top_label_y = top;
    p->top = top + (*y->label ? type_height(TYPE_TEXT) + 12 : 8);
    p->bottom = bottom - type_height(TYPE_TICK) - 8 - (last ? type_height(TYPE_TEXT) + 4 : 4);
    p->bottom = fmax(p->bottom, p->top + 20);
    x->from_px = p->left;
    x->to_px = p->right;
    y->from_px = y->n_rows ? p->top : p->bottom;
    y->to_px = y->n_rows ? p->bottom : p->top;
    if (!y->n_rows)
        settle_ticks(y, (int)fmax(2, (p->bottom - p->top) / 45));
}

void layout_frame(struct chart *c)
{
    double left, right, each;

    theme_set(c->cr, theme_of(c)->paper, 1);
    cairo_paint(c->cr);
    for (int i = 0; i < c->n_panels; i++)
        for (int d = 0; d < 2; d++)
            settle_range(&c->panels[i].axes[d]);
    head(c);
    badge(c);
    legend(c);
    notes(c);
    each = (c->bottom - c->y) / c->n_panels;
    for (int i = 0; i < c->n_panels; i++)
        place_panel(&c->panels[i], c->y + each * i, c->y + each * (i + 1), i + 1 == c->n_panels);
    side_widths(c, &left, &right);
    for (int i = 0; i < c->n_panels; i++) {
        struct panel *p = &c->panels[i];

        p->left = p->axes[CHART_X].from_px = PAD + left;
        p->right = p->axes[CHART_X].to_px = c->width - PAD - right;
        fit_x_ticks(c, &p->axes[CHART_X]);
        draw_y_axis(c, p);
        draw_x_axis(c, p, i + 1 == c->n_panels);
    }
}
