#include "report/figures.h"

#include "base/alloc.h"
#include "base/base64.h"
#include "base/cleanup.h"
#include "plot/plot.h"
#include "report/html.h"

#include <errno.h>

/* An SVG beyond this is slower to show than its PNG. */
#define SVG_MAX ((size_t)600 << 10)
/* What is neither image: tags and caption. */
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

struct image {
    const char *type;
    struct buf bytes;
};

static void image_release(struct image *i)
{
    buf_release(&i->bytes);
}

static int render(const struct plot_ops *p, struct run *const *runs, size_t n, bool dark,
                  struct image *ret, struct err *err)
{
    struct plot_options options = {.format = PLOT_SVG, .dark = dark};
    int r = plot_render(p, runs, n, &options, &ret->bytes, err);

    ret->type = "image/svg+xml";
    if (r < 0 || ret->bytes.len <= SVG_MAX)
        return r;
    buf_clear(&ret->bytes);
    options.format = PLOT_PNG;
    ret->type = "image/png";
    return plot_render(p, runs, n, &options, &ret->bytes, err);
}

static void add_image(struct buf *page, const struct image *i)
{
    buf_addf(page, "data:%s;base64,", i->type);
    base64_add(page, i->bytes.data, i->bytes.len);
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
                         const struct image *light, const struct image *dark)
{
    buf_adds(page, "<figure><picture><source media=\"screen and (prefers-color-scheme: dark)\" "
                   "srcset=\"");
    add_image(page, dark);
    buf_adds(page, "\"><img alt=\"Chart: ");
    html_text(page, p->plugin.help);
    buf_adds(page, "\" src=\"");
    add_image(page, light);
    buf_adds(page, "\"></picture><figcaption>");
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
    AUTO(image) struct image light = {.bytes = BUF_INIT(BUF_MAX_OWN)};
    AUTO(image) struct image dark = {.bytes = BUF_INIT(BUF_MAX_OWN)};
    struct err err = {0};
    size_t need;
    int r = render(p, runs, n_runs, false, &light, &err);

    if (r == 0)
        r = render(p, runs, n_runs, true, &dark, &err);
    need = (light.bytes.len + dark.bytes.len) / 3 * 4 + AROUND;
    if (r == 0 && need > a->left)
        r = err_set(&err, EFBIG, "too large for the page; ipw plot makes it a file");
    if (r < 0) {
        omit(&a->omitted, p, name, err.text);
        return;
    }
    a->left -= need;
    add_pictures(a->page, p, name, &light, &dark);
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
