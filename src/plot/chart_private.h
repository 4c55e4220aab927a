/*
 * chart_private: what a chart is made of; for the chart's own files.
 */
#ifndef IPW_PLOT_CHART_PRIVATE_H
#define IPW_PLOT_CHART_PRIVATE_H

#include "plot/chart.h"
#include "plot/ticks.h"

#include <cairo.h>
#include <stdint.h>

#define CHART_PANELS_MAX 3
#define CHART_NOTES_MAX  4
#define CHART_LEGEND_MAX 24 /* entries; more would leave no room for the figure */

/* Texts are set in one of these. */
enum type_size { TYPE_TITLE, TYPE_TEXT, TYPE_TICK };

/* What a figure asked for, in its order. */
struct item {
    enum mark_kind kind;
    enum chart_dim dim;
    int series;
    int panel;
    size_t n;
    double *x, *y, *y2; /* n each; NULL where the kind has none */
    double from, to, at;
};

struct series_look {
    char *name; /* NULL = not in the legend */
    int colour; /* index in the palette; -1 = grey */
    enum chart_stroke stroke;
    bool has_line, has_point, has_area;
};

/* An axis as asked for and, once laid out, where it is. */
struct panel_axis {
    struct axis asked;
    char *label, *unit;
    char **rows, **remarks;
    size_t n_rows;
    double lo, hi; /* of the data; NAN = none */
    struct ticks ticks;
    int exponent;
    double from_px, to_px; /* the places of ticks.lo and ticks.hi */
};

struct panel {
    struct panel_axis axes[2];
    double left, top, right, bottom;
    double top_label_y; /* of the y axis' label */
};

struct chart {
    double width, height;
    bool dark, height_chosen, estimated;
    char *title, *subtitle;
    char *notes[CHART_NOTES_MAX];
    size_t n_notes;
    struct panel panels[CHART_PANELS_MAX];
    int n_panels;
    struct series_look *series;
    size_t n_series, cap_series;
    int n_colours; /* handed out */
    struct item *items;
    size_t n_items, cap_items;

    /* while and after rendering */
    cairo_t *cr;
    double x, y; /* where layout has come to: below is free */
    double bottom;
    struct chart_mark *marks;
    size_t n_marks, cap_marks;
    struct chart_text *texts;
    size_t n_texts, cap_texts;
};

void chart_forget_drawn(struct chart *c);

/* The theme: colours as 0xRRGGBB. */
struct theme {
    uint32_t paper, ink, soft_ink, grid, grey, badge, badge_ink;
    uint32_t series[7];
};
#define THEME_COLOURS 7
const struct theme *theme_of(const struct chart *c);
uint32_t theme_colour(const struct chart *c, const struct series_look *look);
void theme_set(cairo_t *cr, uint32_t colour, double alpha);

/* text: words on the paper. */

/* Valid UTF-8 without anything that is not seen (control and direction characters become spaces),
 * of at most max characters, cut with an ellipsis. NULL gives "". The caller frees. */
char *type_clean(const char *text, size_t max);
double type_width(struct chart *c, const char *text, enum type_size size);
double type_height(enum type_size size);
/* The text cut so that it is not wider; the caller frees. */
char *type_fit(struct chart *c, const char *text, enum type_size size, double width);
/* With its left (align 0), middle (0.5) or right (1) end at x and the upper edge at y. It is
 * recorded for chart_texts. */
void type_put(struct chart *c, const char *text, enum type_size size, double x, double y,
              double align, uint32_t colour);
/* range: finds the data's ends on every axis. */
void range_find(struct chart *c);

/* layout: gives every panel and axis its place. Draws title, legend, axes. */
void layout_frame(struct chart *c);
/* The place of a value on an axis; NAN when it has none. */
double axis_px(const struct panel_axis *a, double value);

/* marks: draws the items. */
void marks_draw(struct chart *c);

/* png: appends an RGB24 picture as a file. */
int png_write(cairo_surface_t *s, struct buf *ret, struct err *err);

/* svg: makes cairo's document the same each time and safe to put beside others in one page.
 * Appends it to ret. */
int svg_finish(const char *document, size_t n, const char *title, struct buf *ret, struct err *err);

#endif
