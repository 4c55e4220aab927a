/*
 * How far the axes must reach: over everything that has a place on them. Bands do not count, or a
 * fit's confidence far from its points would press the points together.
 */
#include "plot/chart_private.h"

#include <math.h>

static void reach(struct panel_axis *a, double value)
{
    if (!isfinite(value) || (a->asked.log && value <= 0))
        return;
    a->lo = fmin(a->lo, value); /* fmin of a NAN and a number is the number */
    a->hi = fmax(a->hi, value);
}

static void reach_all(struct panel_axis *a, const double *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        reach(a, values[i]);
}

static void reach_item(struct panel *p, const struct item *item)
{
    struct panel_axis *x = &p->axes[CHART_X], *y = &p->axes[CHART_Y];
    struct panel_axis *along = &p->axes[item->dim], *across = item->dim == CHART_X ? y : x;

    switch (item->kind) {
    case MARK_POINT:
    case MARK_VERTEX:
        reach_all(x, item->x, item->n);
        reach_all(y, item->y, item->n);
        break;
    case MARK_WHISKER:
        reach(along, item->from);
        reach(along, item->to);
        reach(across, item->at);
        break;
    case MARK_RULE:
        reach(along, item->at);
        break;
    case MARK_SPAN:
        reach(x, item->from);
        reach(x, item->to);
        break;
    case MARK_BAND:
        break;
    }
}

void range_find(struct chart *c)
{
    for (int p = 0; p < c->n_panels; p++)
        for (int d = 0; d < 2; d++)
            c->panels[p].axes[d].lo = c->panels[p].axes[d].hi = NAN;
    for (size_t i = 0; i < c->n_items; i++)
        reach_item(&c->panels[c->items[i].panel], &c->items[i]);
}
