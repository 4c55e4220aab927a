#include "harness.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "plot/chart.h"
#include "report/slim.h"

/* What follows the style, which every result has behind its root. */
static const char *slimmed(const char *svg, struct buf *out)
{
    const char *end;

    buf_clear(out);
    slim_svg(svg, strlen(svg), out);
    end = strstr(buf_str(out), "</style>");
    return end ? end + strlen("</style>") : NULL;
}

static void numbers_and_blanks(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 16);

    (void)state;
    assert_string_equal(
        slimmed("<svg><path d=\"M 0.796875 2.0 L 12.999 -3.10 Z M 1 2 \"/></svg>", &out),
        "<path d=\"M0.79 2L12.99 -3.1ZM1 2\"/></svg>");
    /* only in paths */
    assert_string_equal(slimmed("<svg><g id=\"a b\" x=\"1.23456\"> a </g></svg>", &out),
                        "<g id=\"a b\" x=\"1.23\"> a </g></svg>");
    assert_string_equal(slimmed("<svg><a d=\"M 1 2\" e=\"a b\"/>", &out),
                        "<a d=\"M1 2\" e=\"a b\"/>");
}

/* Light ink becomes a variable that is dark ink on a dark screen; a strange colour stays. */
static void colours(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 16);
    struct chart_colours known[CHART_COLOURS];
    char svg[200], wanted[64];
    const char *body;

    (void)state;
    chart_colours(known);
    for (int i = 0; i < CHART_COLOURS; i++) {
        unsigned c = known[i].light;

        snprintf(svg, sizeof(svg), "<svg><g fill=\"rgb(%f%%,%f%%, %f%%)\"/>", (c >> 16) / 2.55,
                 (c >> 8 & 255) / 2.55, (c & 255) / 2.55);
        body = slimmed(svg, &out);
        snprintf(wanted, sizeof(wanted), "<g fill=\"var(--%c)\"/>", 'a' + i);
        assert_string_equal(body, wanted);
        snprintf(wanted, sizeof(wanted), "--%c:#%06x;", 'a' + i, known[i].light);
        assert_non_null(strstr(out.data, wanted));
        snprintf(wanted, sizeof(wanted), "--%c:#%06x;", 'a' + i, known[i].dark);
        assert_non_null(strstr(strstr(out.data, "dark"), wanted));
    }
    assert_string_equal(slimmed("<svg><g fill=\"rgb(1%,2%,3%)\"/>", &out),
                        "<g fill=\"rgb(1%,2%,3%)\"/>");
}

static void odd_documents(void **state)
{
    static const char *const odd[] = {
        "",
        "rgb(",
        "<svg",
        "<svg>",
        "<svg>rgb(1",
        "<svg>rgb(1%,2%",
        "<svg>rgb(a%,b%,c%)",
        "<svg>rgb(900%,0%,0%)",
        "<svg>.",
        "<svg>1.",
        "<svg d=\"",
        "<svg>\" d=\"M 1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
        AUTO(buf) struct buf out = BUF_INIT(1 << 16);
        AUTO_FREE char *copy = malloc(strlen(odd[i]) + 1); /* so that reading beyond is seen */

        memcpy(copy, odd[i], strlen(odd[i]) + 1);
        slim_svg(copy, strlen(copy), &out);
        assert_false(out.failed);
    }
}

/* The declaration in front is XML's, where 1.0 is not 1. */
static void the_declaration_stays(void **state)
{
    static const char head[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg>";
    AUTO(buf) struct buf out = BUF_INIT(1 << 16);

    (void)state;
    slim_svg(head, strlen(head), &out);
    assert_memory_equal(out.data, head, strlen(head));
}

/* A chart that was drawn on other paper before is the chart that a new one would be. */
static void restyled_is_new(void **state)
{
    static const double x[] = {1, 2, 3}, y[] = {5, 1, 4};
    AUTO(buf) struct buf again = BUF_INIT(1 << 20);
    AUTO(buf) struct buf fresh = BUF_INIT(1 << 20);
    struct chart *first = chart_new(620, 400, true), *other = chart_new(380, 400, false);
    struct chart *const both[] = {first, other};
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        chart_title(both[i], "Watts", "of a test");
        chart_line(both[i], chart_series(both[i], "gpu"), x, y, 3);
    }
    assert_ok(chart_render(first, PLOT_SVG, &again, &err), &err);
    buf_clear(&again);
    chart_restyle(first, 380, false);
    assert_ok(chart_render(first, PLOT_SVG, &again, &err), &err);
    assert_ok(chart_render(other, PLOT_SVG, &fresh, &err), &err);
    assert_string_equal(again.data, fresh.data);
    chart_free(first);
    chart_free(other);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_and_blanks), cmocka_unit_test(colours),
    cmocka_unit_test(odd_documents),      cmocka_unit_test(the_declaration_stays),
    cmocka_unit_test(restyled_is_new),
};
TEST_MAIN(tests)
