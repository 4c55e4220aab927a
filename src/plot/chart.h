/*
 * chart: paper, axes and marks. What a figure draws on.
 *
 *     chart_title(c, "Latency", subtitle);
 *     chart_axis(c, CHART_X, &(struct axis){.label = "latency", .unit = "s", .si = true});
 *     chart_axis(c, CHART_Y, &(struct axis){.label = "queries", .percent = true, .lo = 0, .hi =
 * 1}); s = chart_series(c, "total"); chart_line(c, s, x, y, n);
 *
 * A figure says what is where in its own units; ranges, ticks, prefixes, margins, legend and
 * colours are the chart's business. Nothing is drawn before chart_render, so that the order of the
 * calls does not matter. Texts may come from anywhere: what is not valid UTF-8 or would move the
 * pen is replaced, what is too long for its place is cut with an ellipsis. Numbers that are not
 * finite, or not positive on a log axis, have no mark.
 *
 * What was drawn can be asked for afterwards (chart_marks, chart_texts): a mark with the place it
 * has in the data and on the paper. Everything given is copied. For one thread at a time.
 */
#ifndef IPW_PLOT_CHART_H
#define IPW_PLOT_CHART_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "plot/plot.h"

#include <stdbool.h>
#include <stddef.h>

enum chart_dim { CHART_X, CHART_Y };

struct axis {
    const char *label;
    const char *unit; /* NULL = a plain number */
    bool si;          /* the unit takes prefixes: ms, kJ */
    bool log;
    bool percent;   /* 0.5 is written 50 % */
    bool from_zero; /* 0 belongs to the axis */
    bool whole;     /* only whole numbers make sense: no ticks between them */
    double lo, hi;  /* both 0: by the data; one NAN: that end by the data */
    /* CHART_Y only: rows instead of numbers; the i-th from the top is at i. Each may have a remark,
     * shown at the far side. */
    const char *const *rows;
    const char *const *remarks;
    size_t n_rows;
};

enum chart_stroke { CHART_SOLID, CHART_DASHED, CHART_DOTTED };

/* The paper in CSS pixels: a PNG has twice as many each way. */
struct chart *chart_new(double width_px, double height_px, bool dark);
void chart_free(struct chart *c);
DEFINE_AUTO_PTR(chart, chart_free);

/* Before another chart_render of the same data: other paper. Its height stays. */
void chart_restyle(struct chart *c, double width_px, bool dark);

/* Every colour of light paper (0xRRGGBB) with the one that stands for it on dark paper: for whoever
 * makes a figure that follows its reader's screen. No two light ones are equal. */
#define CHART_COLOURS 14
struct chart_colours {
    unsigned light, dark;
};
void chart_colours(struct chart_colours ret[CHART_COLOURS]);

/* A figure may ask for another height than the usual; ignored after chart_keep_height. */
void chart_want_height(struct chart *c, double height_px);
void chart_keep_height(struct chart *c);
void chart_title(struct chart *c, const char *title, const char *subtitle);
/* The energy in the figure is modelled, not measured: said on the figure, not to be overlooked. */
void chart_estimated(struct chart *c);
/* A line of small print below the figure; at most 4. */
void chart_note(struct chart *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The axes and marks that follow are on a new panel below; at most 3. The first is there. */
void chart_panel(struct chart *c);
void chart_axis(struct chart *c, enum chart_dim dim, const struct axis *axis);

/* A new series in the next colour, in grey, or in the colour of another one. A name puts it in the
 * legend; NULL does not. Series belong to all panels. */
int chart_series(struct chart *c, const char *name);
int chart_series_grey(struct chart *c, const char *name, enum chart_stroke stroke);
int chart_series_like(struct chart *c, int series, const char *name, enum chart_stroke stroke);

void chart_points(struct chart *c, int series, const double *x, const double *y, size_t n);
/* A NAN in x or y is a gap. Of more vertices than pixels those are drawn that one would see. */
void chart_line(struct chart *c, int series, const double *x, const double *y, size_t n);
/* Between lo and hi; a NAN is a gap. Does not stretch the axes. */
void chart_band(struct chart *c, int series, const double *x, const double *lo, const double *hi,
                size_t n);
/* An interval lo..hi along dim, at `at` on the other axis. */
void chart_whisker(struct chart *c, int series, enum chart_dim dim, double at, double lo,
                   double hi);
/* A line across the panel at `at` on dim. */
void chart_rule(struct chart *c, int series, enum chart_dim dim, double at);
/* Shades the whole height from x0 to x1, behind everything, by a strength of 0..1. Given in order
 * of x0 and not overlapping. Where spans are too narrow to be told apart, they are drawn as one of
 * their mean strength. */
void chart_span(struct chart *c, int series, double x0, double x1, double strength);

enum mark_kind { MARK_POINT, MARK_VERTEX, MARK_BAND, MARK_WHISKER, MARK_RULE, MARK_SPAN };

/* One thing drawn: a point or vertex at (x, y); else from (x, y) to (x2, y2). A gap in a line is
 * told by `starts` at the vertex after it. */
struct chart_mark {
    enum mark_kind kind;
    int series;
    int panel;
    bool starts;
    double x, y, x2, y2;     /* data */
    double px, py, px2, py2; /* paper */
};

/* One text with its box on the paper. */
struct chart_text {
    char *text;
    double x, y, width, height; /* the upper left corner */
};

/* Draws and appends the file. -ENODATA when nothing was given to draw. */
int chart_render(struct chart *c, enum plot_format format, struct buf *ret, struct err *err);

/* Of the last chart_render; the chart's. */
size_t chart_marks(const struct chart *c, const struct chart_mark **ret);
size_t chart_texts(const struct chart *c, const struct chart_text **ret);
/* The colour of a series as 0xRRGGBB. */
unsigned chart_colour(const struct chart *c, int series);

#endif
