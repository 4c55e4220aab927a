#include "report/figures.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "plot/plot.h"
#include "report/html.h"

#include <errno.h>

/* An SVG beyond this is slower to show than its PNG. */
#define SVG_MAX ((size_t)600 << 10)
/* As wide as a phone: the letters keep their size. */
#define NARROW_PX 380
/* What is not image: tags and caption. */
#define AROUND 1024

struct album {
    struct buf *page;
    size_t left; /* bytes */
    struct buf omitted;
};

static void album_release(struct album *a)
{
    buf_release(&a->omitted);
}

/* The ways in which a browser may want it; the last is what it shows when no other fits. */
static const struct look {
    const char *media;
    bool dark;
    double width_px;
} looks[] = {
    {"screen and (max-width: 640px) and (prefers-color-scheme: dark)", true, NARROW_PX},
    {"screen and (max-width: 640px)", false, NARROW_PX},
    {"screen and (prefers-color-scheme: dark)", true, 0},
    {NULL, false, 0},
};
#define LOOKS (sizeof(looks) / sizeof(*looks))

struct images {
    const char *type[LOOKS];
    struct buf bytes[LOOKS];
};

static void images_release(struct images *im)
{
    for (size_t i = 0; i < LOOKS; i++)
        buf_release(&im->bytes[i]);
}

static int render(const struct plot_ops *p, struct run *const *runs, size_t n,
                  const struct look *look, struct buf *ret, const char **ret_type, struct err *err)
{
    struct plot_options options = {
        .format = PLOT_SVG, .dark = look->dark, .width_px = look->width_px};
    int r = plot_render(p, runs, n, &options, ret, err);

    *ret_type = "image/svg+xml";
    if (r < 0 || ret->len <= SVG_MAX)
        return r;
    buf_clear(ret);
    options.format = PLOT_PNG;
    *ret_type = "image/png";
    return plot_render(p, runs, n, &options, ret, err);
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
    for (size_t i = 0; i < LOOKS; i++) {
        if (looks[i].media) {
            buf_addf(page, "<source media=\"%s\" srcset=\"", looks[i].media);
        } else {
            buf_adds(page, "<img alt=\"Chart: ");
            html_text(page, p->plugin.help);
            buf_adds(page, "\" src=\"");
        }
        buf_addf(page, "data:%s;base64,", im->type[i]);
        base64_add(page, im->bytes[i].data, im->bytes[i].len);
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
    size_t need = AROUND;
    int r = 0;

    for (size_t i = 0; i < LOOKS && r == 0; i++) {
        buf_init(&im.bytes[i], BUF_MAX_OWN);
        r = render(p, runs, n_runs, &looks[i], &im.bytes[i], &im.type[i], &err);
        need += im.bytes[i].len / 3 * 4 + 4;
    }
    if (r == 0 && need > a->left)
        r = err_set(&err, EFBIG, "too large for the page; ipw plot makes it a file");
    if (r < 0) {
        omit(&a->omitted, p, name, err.text);
        return;
    }
    a->left -= need;
    add_pictures(a->page, p, name, &im);
}

void figures_write(struct buf *page, const struct subject *s, size_t n, size_t max_bytes)
{
    AUTO(album) struct album a = {page, max_bytes, BUF_INIT(BUF_MAX_OWN)};
    AUTO_FREE struct run **runs = xcalloc(n, sizeof(*runs));

    for (size_t i = 0; i < n; i++)
        runs[i] = s[i].run;
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
