/*
 * From the chart to a file's bytes: cairo draws on a surface that writes into a buf. Dates are left
 * out, so that the same data give the same bytes.
 */
#include "plot/chart_private.h"

#include "base/cleanup.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <errno.h>
#include <stdlib.h>

#define PNG_SCALE 2

static void surface_cleanup(cairo_surface_t **s)
{
    if (*s)
        cairo_surface_destroy(*s);
}

static cairo_status_t write_bytes(void *arg, const unsigned char *data, unsigned int n)
{
    return buf_add(arg, data, n) < 0 ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static cairo_surface_t *open_surface(const struct chart *c, enum plot_format format,
                                     struct buf *out)
{
    cairo_surface_t *s;

    switch (format) {
    case PLOT_SVG:
        s = cairo_svg_surface_create_for_stream(write_bytes, out, c->width, c->height);
        cairo_svg_surface_set_document_unit(s, CAIRO_SVG_UNIT_PX);
        return s;
    case PLOT_PDF:
        /* a CSS pixel is 0.75 points */
        s = cairo_pdf_surface_create_for_stream(write_bytes, out, c->width * 0.75,
                                                c->height * 0.75);
        cairo_pdf_surface_set_metadata(s, CAIRO_PDF_METADATA_CREATE_DATE, "");
        cairo_pdf_surface_set_metadata(s, CAIRO_PDF_METADATA_TITLE, c->title ? c->title : "");
        return s;
    case PLOT_PNG:
        break;
    }
    return cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(c->width * PNG_SCALE),
                                      (int)(c->height * PNG_SCALE));
}

static void draw(struct chart *c, cairo_surface_t *surface, double scale)
{
    cairo_font_options_t *options = cairo_font_options_create();

    /* letters are placed alike on every kind of surface */
    cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
    c->cr = cairo_create(surface);
    cairo_scale(c->cr, scale, scale);
    cairo_set_font_options(c->cr, options);
    cairo_font_options_destroy(options);
    range_find(c);
    layout_frame(c);
    marks_draw(c);
}

/* A vector surface has written its file when this returns. */
static int draw_on(struct chart *c, cairo_surface_t *surface, enum plot_format format,
                   struct err *err)
{
    cairo_status_t status;

    draw(c, surface, format == PLOT_PNG ? PNG_SCALE : format == PLOT_PDF ? 0.75 : 1);
    status = cairo_status(c->cr);
    cairo_destroy(c->cr);
    c->cr = NULL;
    if (format != PLOT_PNG)
        cairo_surface_finish(surface);
    if (status == CAIRO_STATUS_SUCCESS)
        status = cairo_surface_status(surface);
    if (status != CAIRO_STATUS_SUCCESS)
        return err_set(err, EIO, "cairo: %s", cairo_status_to_string(status));
    return 0;
}

int chart_render(struct chart *c, enum plot_format format, struct buf *ret, struct err *err)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN), file = BUF_INIT(BUF_MAX_OWN);
    __attribute__((cleanup(surface_cleanup))) cairo_surface_t *surface = NULL;
    const struct buf *whole = &file;
    int r;

    if (!c->n_items)
        return err_set(err, ENODATA, "nothing to draw");
    chart_forget_drawn(c);
    surface = open_surface(c, format, &out);
    r = draw_on(c, surface, format, err);
    if (r < 0)
        return r;
    if (format == PLOT_PNG)
        r = png_write(surface, &file, err);
    else if (format == PLOT_SVG)
        r = svg_finish(buf_str(&out), out.len, c->title ? c->title : "", &file, err);
    else
        whole = &out;
    if (r == 0 && buf_add(ret, whole->data, whole->len) < 0)
        r = err_set(err, EMSGSIZE, "the figure is larger than its limit");
    return r;
}
