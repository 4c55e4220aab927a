#include "report/figures.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "plot/chart.h"
#include "plot/plot.h"
#include "report/html.h"
#include "report/slim.h"

#include <errno.h>

/* An SVG beyond this is slower to show than its PNG. */
#define SVG_MAX ((size_t)1 << 20)
/* As wide as a phone: the letters keep their size. */
#define NARROW_PX 380
#define WIDE_PX   620
#define HEIGHT_PX 400
/* Of so many queries a figure is large and takes its time: one between the two serves both. */
#define MANY_QUERIES 4000
#define MIDDLE_PX    500
/* What is not image: tags and caption. */
#define AROUND 1024

struct album {
    struct buf *page;
    size_t left; /* bytes */
    bool many;   /* queries */
    struct buf omitted;
};

static void album_release(struct album *a)
{
    buf_release(&a->omitted);
}

/* One figure for one kind of screen. */
struct image {
    const char *media; /* NULL = for all that is left */
    const char *type;
    struct buf bytes;
};

#define IMAGES_MAX 2
struct images {
    struct image items[IMAGES_MAX];
    size_t n;
    size_t size; /* in the page */
};

static void images_release(struct images *im)
{
    for (size_t i = 0; i < im->n; i++)
        buf_release(&im->items[i].bytes);
}

static int add_image(struct images *im, struct chart *c, enum plot_format format, const char *media,
                     struct err *err)
{
    AUTO(buf) struct buf file = BUF_INIT(BUF_MAX_OWN);
    struct image *i = &im->items[im->n++];
    int r = chart_render(c, format, &file, err);

    *i = (struct image){media, format == PLOT_SVG ? "image/svg+xml" : "image/png",
                        BUF_INIT(BUF_MAX_OWN)};
    if (r < 0)
        return r;
    if (format == PLOT_SVG)
        slim_svg(file.data, file.len, &i->bytes);
    else
        buf_add(&i->bytes, file.data, file.len);
    im->size += i->bytes.len / 3 * 4 + 4;
    return 0;
}

/* An SVG knows light and dark itself; there is a narrow one for phones. */
static int make_svgs(struct images *im, struct chart *c, bool many, struct err *err)
{
    int r = 0;

    if (!many) {
        chart_restyle(c, NARROW_PX, false);
        r = add_image(im, c, PLOT_SVG, "screen and (max-width: 640px)", err);
    }
    if (r < 0)
        return r;
    chart_restyle(c, many ? MIDDLE_PX : WIDE_PX, false);
    return add_image(im, c, PLOT_SVG, NULL, err);
}

static int make_pngs(struct images *im, struct chart *c, struct err *err)
{
    int r;

    chart_restyle(c, WIDE_PX, true);
    r = add_image(im, c, PLOT_PNG, "screen and (prefers-color-scheme: dark)", err);
    if (r < 0)
        return r;
    chart_restyle(c, WIDE_PX, false);
    return add_image(im, c, PLOT_PNG, NULL, err);
}

/* The runs are read once, whatever is made of them. */
static int make_images(const struct plot_ops *p, struct run *const *runs, size_t n_runs, bool many,
                       struct images *ret, struct err *err)
{
    AUTO_PTR(chart) struct chart *c = chart_new(WIDE_PX, HEIGHT_PX, false);
    int r = p->draw(c, runs, n_runs, err);

    if (r < 0)
        return r;
    r = make_svgs(ret, c, many, err);
    if (r < 0 || ret->size <= SVG_MAX / 3 * 4)
        return r;
    images_release(ret);
    *ret = (struct images){0};
    return make_pngs(ret, c, err);
}

static void omit(struct buf *omitted, const struct plot_ops *p, const char *name, const char *why)
{
    buf_adds(omitted, "<li>");
    html_text(omitted, p->plugin.id);
    if (name) {
        buf_adds(omitted, " of <bdi>");
        html_text(omitted, name);
        buf_adds(omitted, "</bdi>");
    }
    buf_adds(omitted, ": ");
    html_text(omitted, why);
    buf_adds(omitted, "</li>\n");
}

static void add_pictures(struct buf *page, const struct plot_ops *p, const char *name,
                         const struct images *im)
{
    buf_adds(page, "<figure><picture>");
    for (size_t i = 0; i < im->n; i++) {
        const struct image *image = &im->items[i];

        if (image->media) {
            buf_addf(page, "<source media=\"%s\" srcset=\"", image->media);
        } else {
            buf_adds(page, "<img alt=\"Chart: ");
            html_text(page, p->plugin.help);
            buf_adds(page, "\" src=\"");
        }
        buf_addf(page, "data:%s;base64,", image->type);
        base64_add(page, image->bytes.data, image->bytes.len);
        buf_adds(page, "\">");
    }
    buf_adds(page, "</picture><figcaption>");
    html_text(page, p->plugin.help);
    if (name) {
        buf_adds(page, ": <bdi>");
        html_text(page, name);
        buf_adds(page, "</bdi>");
    }
    buf_adds(page, "</figcaption></figure>\n");
}

static void add_figure(struct album *a, const struct plot_ops *p, struct run *const *runs,
                       size_t n_runs, const char *name)
{
    AUTO(images) struct images im = {0};
    struct err err = {0};
    int r = make_images(p, runs, n_runs, a->many, &im, &err);

    if (r == 0 && im.size + AROUND > a->left)
        r = err_set(&err, EFBIG, "too large for the page; ipw plot makes it a file");
    if (r < 0) {
        omit(&a->omitted, p, name, err.text);
        return;
    }
    a->left -= im.size + AROUND;
    add_pictures(a->page, p, name, &im);
}

void figures_write(struct buf *page, const struct subject *s, size_t n, size_t max_bytes)
{
    AUTO(album)
    struct album a = {.page = page, .left = max_bytes, .omitted = BUF_INIT(BUF_MAX_OWN)};
    AUTO_FREE struct run **runs = xcalloc(n, sizeof(*runs));

    for (size_t i = 0; i < n; i++) {
        runs[i] = s[i].run;
        a.many |= s[i].survey.tally.records > MANY_QUERIES;
    }
    buf_adds(page, "<div class=\"charts\">\n");
    for (const struct plugin *const *item = plots.items; *item; item++) {
        /* plugin is the first member of every ops struct */
        const struct plot_ops *p = (const struct plot_ops *)*item;

        if (p->several)
            add_figure(&a, p, runs, n, NULL);
        for (size_t i = 0; !p->several && i < n; i++)
            add_figure(&a, p, &runs[i], 1, n > 1 ? s[i].name : NULL);
    }
    buf_adds(page, "</div>\n");
    if (a.omitted.len > 0) {
        buf_adds(page, "<p class=\"note\">Not shown:</p>\n<ul class=\"note\">\n");
        buf_add(page, a.omitted.data, a.omitted.len);
        buf_adds(page, "</ul>\n");
    }
}
