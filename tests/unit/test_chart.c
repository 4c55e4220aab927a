/*
 * The chart layer: marks are where the data says, in the series' colour; texts neither overlap nor
 * leave the paper, whatever they are; the same chart is the same file.
 */
#include "harness.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "figure_check.h"
#include "plot/chart.h"

#include <cairo.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

static struct err err;

static void render(struct chart *c, struct buf *out)
{
    assert_ok(chart_render(c, PLOT_SVG, out, &err), &err);
}

static struct chart *simple(void)
{
    static const double x[] = {0, 5, 10}, y[] = {0, 50, 100};
    struct chart *c = chart_new(800, 500, false);

    chart_title(c, "A title", "below it");
    chart_axis(c, CHART_X, &(struct axis){.label = "x", .lo = 0, .hi = 10});
    chart_axis(c, CHART_Y, &(struct axis){.label = "y", .unit = "W", .lo = 0, .hi = 100});
    chart_points(c, chart_series(c, "points"), x, y, 3);
    return c;
}

/* In a child, before this process has looked for fonts. */
static void works_without_fonts(void **state)
{
    char dir[64], path[96];
    int status = -1;
    pid_t pid;

    (void)state;
    make_temp_dir(dir);
    snprintf(path, sizeof(path), "%s/fonts.conf", dir);
    assert_ok(fs_replace(AT_FDCWD, path, "<fontconfig></fontconfig>\n", 26, &err), &err);
    pid = fork();
    if (pid == 0) {
        AUTO_PTR(chart) struct chart *c = simple();
        AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
        bool good = true;

        setenv("FONTCONFIG_FILE", path, 1);
        for (int format = PLOT_PNG; format <= PLOT_PDF; format++)
            good &= chart_render(c, (enum plot_format)format, &out, &err) == 0;
        _exit(good && out.len > 1000 ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    fs_remove_tree(AT_FDCWD, dir, NULL);
}

static void points_are_in_place(void **state)
{
    AUTO_PTR(chart) struct chart *c = simple();
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    const struct chart_mark *m;

    (void)state;
    render(c, &svg);
    check_marks(c, &svg, 100);
    check_texts(c, 800, 500);
    assert_int_equal(chart_marks(c, &m), 3);
    /* the second, in the order of layers, wherever it is: halfway between the others */
    assert_near(mark_of(c, MARK_POINT, 0, 1)->x, 5, 0);
    assert_near(m[1].px, (m[0].px + m[2].px) / 2, 1e-9);
    assert_near(m[1].py, (m[0].py + m[2].py) / 2, 1e-9);
    assert_true(m[2].px > m[0].px && m[2].py < m[0].py);
    assert_int_equal(chart_colour(c, 0), 0x0072b2);
    assert_true(has_text(c, "A title") && has_text(c, "below it") && has_text(c, "points"));
    assert_true(has_text(c, "y (W)") && has_text(c, "100"));
}

static void log_axis(void **state)
{
    static const double x[] = {1, 10, 100, 0, -5, NAN, INFINITY}, y[] = {1, 1, 1, 1, 1, 1, 1};
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    const struct chart_mark *m;

    (void)state;
    /* the axis may be said after the marks */
    chart_points(c, chart_series(c, NULL), x, y, 7);
    chart_axis(
        c, CHART_X,
        &(struct axis){.label = "t", .unit = "s", .si = true, .log = true, .from_zero = true});
    render(c, &svg);
    assert_int_equal(chart_marks(c, &m), 3); /* what has no logarithm has no mark */
    assert_near(m[1].px - m[0].px, m[2].px - m[1].px, 1e-9);
    check_marks(c, &svg, 100);
    assert_true(has_text(c, "10 s"));
}

static void units_take_prefixes(void **state)
{
    static const double x[] = {0, 0.02}, y[] = {0, 4.5e6};
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);

    (void)state;
    chart_axis(c, CHART_X, &(struct axis){.label = "latency", .unit = "s", .si = true});
    chart_axis(c, CHART_Y, &(struct axis){.label = "energy", .unit = "J", .si = true});
    chart_points(c, chart_series(c, NULL), x, y, 2);
    render(c, &svg);
    assert_true(has_text(c, "latency (ms)") && has_text(c, "energy (MJ)"));
    assert_true(has_text(c, "20") && has_text(c, "4"));
}

static void gaps_stay_open(void **state)
{
    static const double x[] = {0, 1, 2, 3, 4}, y[] = {1, 2, NAN, 2, 1}, lo[] = {0, 1, NAN, 1, 0};
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    int series = chart_series(c, "s");

    (void)state;
    chart_line(c, series, x, y, 5);
    chart_band(c, series, x, lo, y, 5);
    render(c, &svg);
    check_marks(c, &svg, 100);
    assert_int_equal(count_marks(c, MARK_VERTEX, series), 4);
    assert_true(mark_of(c, MARK_VERTEX, series, 0)->starts);
    assert_false(mark_of(c, MARK_VERTEX, series, 1)->starts);
    assert_true(mark_of(c, MARK_VERTEX, series, 2)->starts); /* after the gap */
    assert_false(mark_of(c, MARK_VERTEX, series, 3)->starts);
    assert_int_equal(count_marks(c, MARK_BAND, series), 4);
}

/* A million vertices: few are drawn, and the one that stands out is among them. */
static void long_lines_are_thinned(void **state)
{
    size_t n = 1000000;
    AUTO_FREE double *x = xcalloc(n, sizeof(*x)), *y = xcalloc(n, sizeof(*y));
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    bool peak = false, hole = false;
    const struct chart_mark *m;
    size_t n_marks;

    (void)state;
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)i;
        y[i] = (double)(i % 7);
    }
    y[543210] = 100;
    y[123456] = -50;
    chart_line(c, chart_series(c, NULL), x, y, n);
    render(c, &svg);
    n_marks = chart_marks(c, &m);
    assert_true(n_marks < 800 * 2 * 4);
    for (size_t i = 0; i < n_marks; i++) {
        peak |= m[i].y == 100 && m[i].x == 543210;
        hole |= m[i].y == -50 && m[i].x == 123456;
    }
    assert_true(peak && hole);
    assert_near(m[0].x, 0, 0);
    assert_near(m[n_marks - 1].x, 999999, 0);
    assert_true(svg.len < 1 << 20);
    check_marks(c, &svg, 50);
}

static void many_points_are_thinned(void **state)
{
    size_t n = 300000;
    AUTO_FREE double *x = xcalloc(n, sizeof(*x)), *y = xcalloc(n, sizeof(*y));
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);

    (void)state;
    for (size_t i = 0; i < n; i++) {
        x[i] = (double)(i % 100);
        y[i] = (double)(i / 100 % 30);
    }
    x[7] = 200; /* alone */
    chart_points(c, chart_series(c, NULL), x, y, n);
    render(c, &svg);
    /* at most four of those on one spot */
    assert_in_range(count_marks(c, MARK_POINT, -1), 3001, 4 * 3001);
    check_marks(c, &svg, 50);
}

static void spans_whiskers_rules(void **state)
{
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, true);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    int grey = chart_series_grey(c, "spans", CHART_SOLID), s = chart_series(c, "s");
    const struct chart_mark *m;

    (void)state;
    chart_axis(c, CHART_X, &(struct axis){.lo = 0, .hi = 100});
    chart_axis(c, CHART_Y, &(struct axis){.lo = 0, .hi = 10});
    chart_span(c, grey, 10, 30, 1);
    chart_span(c, grey, 30.01, 50, 0.5);
    for (int i = 0; i < 1000; i++) /* narrower than can be told apart */
        chart_span(c, grey, 60 + i * 0.01, 60 + i * 0.01 + 0.009, 1);
    chart_whisker(c, s, CHART_X, 5, 20, 40);
    chart_whisker(c, s, CHART_Y, 50, 2, 3);
    chart_rule(c, s, CHART_Y, 7);
    chart_rule(c, s, CHART_X, 70);
    render(c, &svg);
    check_marks(c, &svg, 1000);
    assert_in_range(count_marks(c, MARK_SPAN, grey), 3, 60);
    m = mark_of(c, MARK_SPAN, grey, 0);
    assert_near(m->x, 10, 0);
    assert_near(m->x2, 30, 0);
    m = mark_of(c, MARK_WHISKER, s, 0);
    assert_true(m->x == 20 && m->x2 == 40 && m->y == 5 && m->y2 == 5 && m->py == m->py2);
    m = mark_of(c, MARK_WHISKER, s, 1);
    assert_true(m->x == 50 && m->y == 2 && m->y2 == 3 && m->px == m->px2 && m->py > m->py2);
    m = mark_of(c, MARK_RULE, s, 0);
    assert_true(m->y == 7 && m->py == m->py2 && m->px < m->px2);
    assert_non_null(strstr(svg.data, "rgb(8.627451%,9.803922%,11.372549%)")); /* dark paper */
}

static const char *const hostile[] = {
    "plain",
    "",
    "two\nlines\r\tand a bell\a and \x1b[31mred",
    "\xff\xfe invalid \xc3( \xed\xa0\x80",
    "\xE2\x80\xAEright to left\xE2\x80\xAC \xD7\xA9\xD7\x9C\xD7\x95\xD7\x9D",
    "</svg><script>alert(1)</script>&amp;\"'",
    "%s %n ${x}",
    "wordwithoutendwordwithoutendwordwithoutendwordwithoutendwordwithoutendwordwithoutend",
    "\xE6\xBC\xA2\xE5\xAD\x97 \xF0\x9F\x98\x80 e\xCC\x81",
};
#define N_HOSTILE (sizeof(hostile) / sizeof(*hostile))

/* Any text anywhere, on papers from tiny to large. */
static void texts_fit(void **state)
{
    static const double sizes[][2] = {{240, 160}, {320, 300}, {800, 500}, {2000, 1200}};
    double x[N_HOSTILE], y[N_HOSTILE];

    (void)state;
    for (size_t i = 0; i < N_HOSTILE; i++)
        x[i] = 1e7 * (double)i, y[i] = (double)i;
    for (size_t size = 0; size < 4; size++)
        for (size_t t = 0; t < N_HOSTILE; t++) {
            AUTO_PTR(chart)
            struct chart *c = chart_new(sizes[size][0], sizes[size][1], t % 2);
            AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
            const struct chart_text *texts;
            bool rows = size >= 2;

            chart_title(c, hostile[t], hostile[(t + 1) % N_HOSTILE]);
            chart_estimated(c);
            if (size >= 2)
                chart_note(c, "%s", hostile[t]);
            chart_axis(c, CHART_X,
                       &(struct axis){.label = hostile[t], .unit = hostile[(t + 2) % N_HOSTILE]});
            chart_axis(c, CHART_Y,
                       &(struct axis){.label = hostile[t],
                                      .rows = hostile,
                                      .remarks = hostile,
                                      .n_rows = rows ? N_HOSTILE : 0});
            for (size_t i = 0; i < (rows ? N_HOSTILE : 2); i++)
                chart_points(c, chart_series(c, hostile[(t + i) % N_HOSTILE]), x + i, y + i, 1);
            render(c, &svg);
            if (size > 0) /* the smallest has no room for all, but must not fail */
                check_texts(c, sizes[size][0], sizes[size][1]);
            for (size_t i = chart_texts(c, &texts); i-- > 0;) {
                assert_true(utf8_valid(texts[i].text, strlen(texts[i].text)));
                assert_null(strpbrk(texts[i].text, "\n\r\t\a\x1b\x7f"));
                assert_null(strstr(texts[i].text, "\xE2\x80\xAE"));
            }
            assert_true(utf8_valid(svg.data, svg.len));
            assert_null(strstr(svg.data, "<script"));
            assert_null(strstr(svg.data, "</svg><"));
        }
}

/* Many series: colours repeat, looks do not; the legend stops before the figure has no room. */
static void many_series(void **state)
{
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    double x[] = {0, 1}, y[] = {0, 1};
    char name[32];

    (void)state;
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "series number %d", i);
        y[1] = i;
        chart_line(c, chart_series(c, name), x, y, 2);
    }
    render(c, &svg);
    check_texts(c, 800, 500);
    check_marks(c, &svg, 200);
    assert_true(has_text(c, "series number 23") && !has_text(c, "series number 24"));
    assert_true(has_text(c, "16 more series are not in the legend"));
    assert_int_equal(chart_colour(c, 0), chart_colour(c, 7));
}

static void panels_share_the_x_axis(void **state)
{
    static const double x[] = {1, 2}, small[] = {1, 2}, large[] = {1e5, 2e5};
    AUTO_PTR(chart) struct chart *c = chart_new(800, 640, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    int s = chart_series(c, "s");

    (void)state;
    chart_axis(c, CHART_Y, &(struct axis){.label = "upper"});
    chart_points(c, s, x, small, 2);
    chart_panel(c);
    chart_axis(c, CHART_X, &(struct axis){.label = "x of both"});
    chart_axis(c, CHART_Y, &(struct axis){.label = "lower"});
    chart_points(c, s, x, large, 2);
    render(c, &svg);
    check_texts(c, 800, 640);
    check_marks(c, &svg, 100);
    assert_near(mark_of(c, MARK_POINT, s, 0)->px, mark_of(c, MARK_POINT, s, 2)->px, 1e-9);
    assert_true(mark_of(c, MARK_POINT, s, 0)->py < mark_of(c, MARK_POINT, s, 3)->py);
    assert_int_equal(mark_of(c, MARK_POINT, s, 3)->panel, 1);
    assert_true(has_text(c, "upper") && has_text(c, "lower") && has_text(c, "200,000"));
}

/* The same data, the same bytes; and nothing that another figure in the same page has too. */
static void files_are_reproducible(void **state)
{
    (void)state;
    for (int format = PLOT_PNG; format <= PLOT_PDF; format++) {
        AUTO_PTR(chart) struct chart *a = simple(), *b = simple();
        AUTO(buf) struct buf one = BUF_INIT(BUF_MAX_OWN), two = BUF_INIT(BUF_MAX_OWN);

        assert_ok(chart_render(a, (enum plot_format)format, &one, &err), &err);
        assert_ok(chart_render(a, (enum plot_format)format, &two, &err), &err);
        assert_int_equal(one.len, two.len);
        assert_memory_equal(one.data, two.data, one.len);
        buf_clear(&two);
        assert_ok(chart_render(b, (enum plot_format)format, &two, &err), &err);
        assert_int_equal(one.len, two.len);
        assert_memory_equal(one.data, two.data, one.len);
    }
}

static void names_are_the_figures_own(void **state)
{
    AUTO_PTR(chart) struct chart *a = simple(), *b = simple();
    AUTO(buf) struct buf one = BUF_INIT(BUF_MAX_OWN), two = BUF_INIT(BUF_MAX_OWN);
    char own[16];

    (void)state;
    chart_title(b, "Another <title> & \"more\"", NULL);
    render(a, &one);
    render(b, &two);
    assert_non_null(
        strstr(two.data, "aria-label=\"Another &lt;title&gt; &amp; &quot;more&quot;\""));
    memcpy(own, strstr(one.data, " id=\"") + 5, 10);
    own[10] = '\0';
    assert_null(strstr(two.data, own));
    for (const char *p = one.data; (p = strstr(p, " id=\"")) != NULL; p++)
        assert_memory_equal(p + 5, own, 10);
    for (const char *p = one.data; (p = strstr(p, "href=\"#")) != NULL; p++)
        assert_memory_equal(p + 7, own, 10);
}

static void formats(void **state)
{
    AUTO_PTR(chart) struct chart *c = simple();
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);

    (void)state;
    assert_ok(chart_render(c, PLOT_PNG, &out, &err), &err);
    assert_memory_equal(out.data, "\x89PNG\r\n\x1a\n", 8);
    /* width and height of IHDR: twice the paper's */
    assert_memory_equal(out.data + 16, "\x00\x00\x06\x40\x00\x00\x03\xe8", 8);
    buf_clear(&out);
    assert_ok(chart_render(c, PLOT_PDF, &out, &err), &err);
    assert_memory_equal(out.data, "%PDF-", 5);
    assert_null(memmem(out.data, out.len, "CreationDate", 12));
    buf_clear(&out);
    assert_ok(chart_render(c, PLOT_SVG, &out, &err), &err);
    assert_memory_equal(out.data, "<?xml", 5);
    assert_non_null(strstr(out.data, "width=\"800px\" height=\"500px\""));
    assert_memory_equal(out.data + out.len - 7, "</svg>\n", 7);
}

struct reading {
    const struct buf *from;
    size_t at;
};

static cairo_status_t read_bytes(void *arg, unsigned char *data, unsigned int n)
{
    struct reading *r = arg;

    if (r->from->len - r->at < n)
        return CAIRO_STATUS_READ_ERROR;
    memcpy(data, r->from->data + r->at, n);
    r->at += n;
    return CAIRO_STATUS_SUCCESS;
}

/* Another reader sees the paper, and the point where it is. */
static void png_is_readable(void **state)
{
    AUTO_PTR(chart) struct chart *c = simple();
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    struct reading reading = {.from = &out};
    const struct chart_mark *m;
    cairo_surface_t *s;
    const unsigned char *data;
    int stride;

    (void)state;
    assert_ok(chart_render(c, PLOT_PNG, &out, &err), &err);
    s = cairo_image_surface_create_from_png_stream(read_bytes, &reading);
    assert_int_equal(cairo_surface_status(s), CAIRO_STATUS_SUCCESS);
    assert_int_equal(cairo_image_surface_get_width(s), 1600);
    assert_int_equal(cairo_image_surface_get_height(s), 1000);
    data = cairo_image_surface_get_data(s);
    stride = cairo_image_surface_get_stride(s);
    m = mark_of(c, MARK_POINT, 0, 1);
    assert_int_equal(data[5 * stride + 5 * 4 + 1], 255);
    /* nine tenths of 0x72 green on white */
    assert_in_range(data[(int)(m->py * 2) * stride + (int)(m->px * 2) * 4 + 1], 0x72, 0x85);
    cairo_surface_destroy(s);
}

static void nothing_is_an_error(void **state)
{
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false), *d = simple();
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN), small = BUF_INIT(100);

    (void)state;
    assert_fails(chart_render(c, PLOT_SVG, &out, &err), ENODATA, &err, "nothing to draw");
    assert_int_equal(out.len, 0);
    for (int format = PLOT_PNG; format <= PLOT_PDF; format++) {
        assert_fails(chart_render(d, (enum plot_format)format, &small, &err), EMSGSIZE, &err,
                     "larger than its limit");
        assert_int_equal(small.len, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(works_without_fonts), /* first: before a font was looked for */
    cmocka_unit_test(points_are_in_place),
    cmocka_unit_test(log_axis),
    cmocka_unit_test(units_take_prefixes),
    cmocka_unit_test(gaps_stay_open),
    cmocka_unit_test(long_lines_are_thinned),
    cmocka_unit_test(many_points_are_thinned),
    cmocka_unit_test(spans_whiskers_rules),
    cmocka_unit_test(texts_fit),
    cmocka_unit_test(many_series),
    cmocka_unit_test(panels_share_the_x_axis),
    cmocka_unit_test(files_are_reproducible),
    cmocka_unit_test(names_are_the_figures_own),
    cmocka_unit_test(formats),
    cmocka_unit_test(png_is_readable),
    cmocka_unit_test(nothing_is_an_error),
};
TEST_MAIN(tests)
