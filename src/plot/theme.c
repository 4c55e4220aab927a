/*
 * Colours. The seven of the series are Okabe and Ito's, which people with any of the usual colour
 * deficiencies can tell apart, without their yellow, which is not seen on white; on dark paper each
 * is lighter.
 */
#include "plot/chart_private.h"

#include <assert.h>
#include <string.h>

static const struct theme light = {
    .paper = 0xffffff,
    .ink = 0x1f2328,
    .soft_ink = 0x59636e,
    .grid = 0xe4e7eb,
    .grey = 0x8c959f,
    .badge = 0xfff1c2,
    .badge_ink = 0x6b4a00,
    .series = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x5b4a8a},
};

static const struct theme dark = {
    .paper = 0x16191d,
    .ink = 0xe8eaed,
    .soft_ink = 0x9aa4af,
    .grid = 0x2d333b,
    .grey = 0x9aa4af,
    .badge = 0x4a3800,
    .badge_ink = 0xffdf80,
    .series = {0x4aa8e0, 0xff8a3d, 0x2fc79b, 0xe59cc4, 0xf2b631, 0x8fd0f7, 0xa594d9},
};

const struct theme *theme_of(const struct chart *c)
{
    return c->dark ? &dark : &light;
}

void theme_set(cairo_t *cr, uint32_t colour, double alpha)
{
    cairo_set_source_rgba(cr, (colour >> 16 & 255) / 255.0, (colour >> 8 & 255) / 255.0,
                          (colour & 255) / 255.0, alpha);
}

uint32_t theme_colour(const struct chart *c, const struct series_look *look)
{
    return look->colour < 0 ? theme_of(c)->grey : theme_of(c)->series[look->colour];
}

unsigned chart_colour(const struct chart *c, int series)
{
    return theme_colour(c, &c->series[series]);
}

static void list_colours(const struct theme *t, uint32_t ret[CHART_COLOURS])
{
    const uint32_t own[] = {t->paper, t->ink,   t->soft_ink, t->grid,
                            t->grey,  t->badge, t->badge_ink};

    static_assert(sizeof(own) + sizeof(t->series) == CHART_COLOURS * sizeof(uint32_t),
                  "every colour is listed");
    memcpy(ret, own, sizeof(own));
    memcpy(ret + sizeof(own) / sizeof(*own), t->series, sizeof(t->series));
}

void chart_colours(struct chart_colours ret[CHART_COLOURS])
{
    uint32_t on_light[CHART_COLOURS], on_dark[CHART_COLOURS];

    list_colours(&light, on_light);
    list_colours(&dark, on_dark);
    for (size_t i = 0; i < CHART_COLOURS; i++)
        ret[i] = (struct chart_colours){on_light[i], on_dark[i]};
}
