#include "harness.h"

#include "base/buf.h"
#include "client/sse.h"

#include <errno.h>

/* Writes events down as "type|data\x1e". */
static int write_down(void *arg, const char *type, const char *data, size_t n)
{
    struct buf *out = arg;

    buf_adds(out, type);
    buf_addc(out, '|');
    buf_add(out, data, n);
    buf_addc(out, '\x1e');
    return 0;
}

/* Feeds the text in two pieces, cut at `at`, or byte by byte (at = SIZE_MAX). */
static void parse(const char *text, size_t n, size_t at, struct buf *out)
{
    struct sse s;

    sse_init(&s, 1 << 20, write_down, out);
    if (at == SIZE_MAX) {
        for (size_t i = 0; i < n; i++)
            assert_int_equal(sse_feed(&s, text + i, 1), 0);
    } else {
        assert_int_equal(sse_feed(&s, text, at), 0);
        assert_int_equal(sse_feed(&s, text + at, n - at), 0);
    }
    assert_int_equal(sse_end(&s), 0);
    sse_release(&s);
}

static void check(const char *text, const char *events)
{
    size_t n = strlen(text);
    struct buf out = BUF_INIT(1 << 20);

    for (size_t at = 0; at <= n + 1; at++) {
        buf_clear(&out);
        parse(text, n, at <= n ? at : SIZE_MAX, &out);
        if (strcmp(buf_str(&out), events) != 0)
            fail_msg("cut at %zu: \"%s\" gave \"%s\", not \"%s\"", at, text, buf_str(&out), events);
    }
    buf_release(&out);
}

static void line_ends(void **state)
{
    (void)state;
    check("data: a\n\ndata: b\n\n", "|a\x1e|b\x1e");
    check("data: a\r\n\r\ndata: b\r\n\r\n", "|a\x1e|b\x1e");
    check("data: a\r\rdata: b\r\r", "|a\x1e|b\x1e");
    check("data: a\r\n\ndata: b\n\r\n", "|a\x1e|b\x1e");
    check("data: a\n\rdata: b\r\r", "|a\x1e|b\x1e");
    /* CR and CRLF make one line end each: no blank line between the two data lines */
    check("data: a\rdata: b\r\n\r\n", "|a\nb\x1e");
    check("event: x\r\ndata: a\r\ndata: b\r\n\r\n", "x|a\nb\x1e");
    check("data: a\ndata: b\n\n", "|a\nb\x1e");
}

static void fields(void **state)
{
    (void)state;
    check("data:a\n\n", "|a\x1e");
    check("data:  a\n\n", "| a\x1e");
    check("data: a\ndata: b\ndata:c\n\n", "|a\nb\nc\x1e");
    check("data\n\n", "|\x1e");
    check("data:\n\n", "|\x1e");
    check("data:\ndata\n\n", "|\n\x1e");
    check("event: error\ndata: x\n\n", "error|x\x1e");
    check("data: x\nevent:error\n\ndata: y\n\n", "error|x\x1e|y\x1e");
    check("event: gone\n\ndata: y\n\n", "|y\x1e");
    check("id: 7\nretry: 3000\ndata: x\n\n", "|x\x1e");
    check("data: {\"a\": \"b:c\"}\n\n", "|{\"a\": \"b:c\"}\x1e");
    check("event: 0123456789012345678901234567890123456789\ndata: x\n\n",
          "0123456789012345678901234567890|x\x1e");
}

static void comments_and_blanks(void **state)
{
    (void)state;
    check(":\n\n:\n\n", "");
    check(": OPENROUTER PROCESSING\n\ndata: x\n\n", "|x\x1e");
    check(": ping - 2026-01-01\r\n\r\ndata: x\r\n\r\n", "|x\x1e");
    check("\n\n\ndata: x\n\n\n\n", "|x\x1e");
    check("data: a\n: in between\ndata: b\n\n", "|a\nb\x1e");
    check("", "");
}

static void byte_order_mark(void **state)
{
    (void)state;
    check("\xEF\xBB\xBF"
          "data: x\n\n",
          "|x\x1e");
    check("\xEF\xBB\xBF\n\ndata: x\n\n", "|x\x1e");
    /* only at the very beginning */
    check("data: x\n\n\xEF\xBB\xBF"
          "data: y\n\n",
          "|x\x1e");
}

static void last_event_without_blank_line(void **state)
{
    (void)state;
    check("data: a\n\ndata: b\n", "|a\x1e|b\x1e");
    check("data: a\n\ndata: b", "|a\x1e|b\x1e");
    check("data: a\n\ndata: b\r", "|a\x1e|b\x1e");
    check("data: a\n\nevent: x", "|a\x1e");
}

static void counts_junk(void **state)
{
    static const char text[] = "<html>\n<p>no events</p>\ndatum: x\ndata: a\n\nid: 1\n";
    struct buf out = BUF_INIT(1 << 20);
    struct sse s;

    (void)state;
    sse_init(&s, 1 << 20, write_down, &out);
    assert_int_equal(sse_feed(&s, text, sizeof(text) - 1), 0);
    assert_int_equal(sse_end(&s), 0);
    assert_int_equal(s.junk_lines, 3);
    assert_string_equal(out.data, "|a\x1e");
    sse_release(&s);
    buf_release(&out);
}

static int measure(void *arg, const char *type, const char *data, size_t n)
{
    size_t *total = arg;

    (void)type;
    assert_true(n == 0 || data[n - 1] == 'x');
    *total += n;
    return 0;
}

static void long_lines(void **state)
{
    static char piece[4096];
    size_t total = 0;
    struct sse s;

    (void)state;
    memset(piece, 'x', sizeof(piece));
    sse_init(&s, (8 << 20) + 5, measure, &total);
    assert_int_equal(sse_feed(&s, "data:", 5), 0);
    for (int i = 0; i < (8 << 20) / 4096; i++)
        assert_int_equal(sse_feed(&s, piece, sizeof(piece)), 0);
    assert_int_equal(sse_feed(&s, "\n\n", 2), 0);
    assert_int_equal(total, 8 << 20);
    /* one byte more than the limit */
    assert_int_equal(sse_feed(&s, "data:x", 6), 0);
    for (int i = 0; i < (8 << 20) / 4096 - 1; i++)
        assert_int_equal(sse_feed(&s, piece, sizeof(piece)), 0);
    assert_int_equal(sse_feed(&s, piece, sizeof(piece)), -EMSGSIZE);
    sse_release(&s);
}

/* The limit is the same however the bytes are cut, for a line and for the joined data. */
static void limits(void **state)
{
    static const struct {
        const char *text;
        int result;
    } cases[] = {
        {"data:xxx\n\n", 0},
        {"data:xxxx\n\n", -EMSGSIZE},
        {": comment\n\n", -EMSGSIZE},
        {"data:xx\ndata:xx\ndata:xx\n\n", 0},
        {"data:xx\ndata:xx\ndata:xxx\n\n", -EMSGSIZE},
    };

    (void)state;
    for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
        size_t n = strlen(cases[c].text);

        for (size_t at = 0; at <= n; at++) {
            size_t total = 0;
            struct sse s;
            int r;

            sse_init(&s, 8, measure, &total);
            r = sse_feed(&s, cases[c].text, at);
            if (r == 0)
                r = sse_feed(&s, cases[c].text + at, n - at);
            assert_int_equal(r, cases[c].result);
            sse_release(&s);
        }
    }
}

static int stop_at_b(void *arg, const char *type, const char *data, size_t n)
{
    (void)type;
    ++*(int *)arg;
    return n == 1 && *data == 'b' ? 42 : 0;
}

static void handler_stops_it(void **state)
{
    int calls = 0;
    struct sse s;

    (void)state;
    sse_init(&s, 64, stop_at_b, &calls);
    assert_int_equal(sse_feed(&s, "data: a\n\ndata: b\n\ndata: c\n\n", 27), 42);
    assert_int_equal(calls, 2);
    sse_release(&s);
    sse_init(&s, 64, stop_at_b, &calls);
    assert_int_equal(sse_feed(&s, "data: b", 7), 0);
    assert_int_equal(sse_end(&s), 42);
    sse_release(&s);
}

/* Lines that end in CR do not make a big piece slow: this would take minutes if each of them
 * searched the rest of the piece for an LF. */
static void many_carriage_returns(void **state)
{
    size_t n = 4 << 20, total = 0;
    char *text = malloc(n);
    struct sse s;

    (void)state;
    memset(text, '\r', n);
    sse_init(&s, 64, measure, &total);
    assert_int_equal(sse_feed(&s, text, n), 0);
    assert_int_equal(sse_end(&s), 0);
    sse_release(&s);
    free(text);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(line_ends),
    cmocka_unit_test(fields),
    cmocka_unit_test(comments_and_blanks),
    cmocka_unit_test(byte_order_mark),
    cmocka_unit_test(last_event_without_blank_line),
    cmocka_unit_test(counts_junk),
    cmocka_unit_test(long_lines),
    cmocka_unit_test(limits),
    cmocka_unit_test(handler_stops_it),
    cmocka_unit_test(many_carriage_returns),
};
TEST_MAIN(tests)
