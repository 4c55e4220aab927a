#include "harness.h"

#include "base/buf.h"
#include "client/ndjson.h"

#include <errno.h>

static int write_down(void *arg, const char *line, size_t n)
{
    struct buf *out = arg;

    buf_add(out, line, n);
    buf_addc(out, '|');
    return 0;
}

static void check(const char *text, size_t n, const char *lines)
{
    struct buf out = BUF_INIT(1 << 20);

    for (size_t at = 0; at <= n; at++) {
        struct ndjson s;

        buf_clear(&out);
        ndjson_init(&s, 1 << 20, write_down, &out);
        assert_int_equal(ndjson_feed(&s, text, at), 0);
        assert_int_equal(ndjson_feed(&s, text + at, n - at), 0);
        assert_int_equal(ndjson_end(&s), 0);
        assert_string_equal(buf_str(&out), lines);
        ndjson_release(&s);
    }
    buf_release(&out);
}

#define CHECK(text, lines) check(text, sizeof(text) - 1, lines)

static void cuts_lines(void **state)
{
    (void)state;
    CHECK("", "");
    CHECK("{\"a\":1}\n{\"b\":2}\n", "{\"a\":1}|{\"b\":2}|");
    CHECK("{\"a\":1}\r\n{\"b\":2}\r\n", "{\"a\":1}|{\"b\":2}|");
    CHECK("{\"a\":1}\n{\"b\":2}", "{\"a\":1}|{\"b\":2}|");
    CHECK("{\"a\":1}\n\n \n\t\r\n{\"b\":2}\n\n", "{\"a\":1}|{\"b\":2}|");
    CHECK("a  \nb", "a|b|");
    CHECK("\r\n\r\n\r", "");
}

static int measure(void *arg, const char *line, size_t n)
{
    (void)line;
    *(size_t *)arg += n;
    return 0;
}

static void long_lines(void **state)
{
    static char piece[4096];
    size_t total = 0;
    struct ndjson s;

    (void)state;
    memset(piece, 'x', sizeof(piece));
    ndjson_init(&s, 8 << 20, measure, &total);
    for (int i = 0; i < (8 << 20) / 4096; i++)
        assert_int_equal(ndjson_feed(&s, piece, sizeof(piece)), 0);
    assert_int_equal(ndjson_feed(&s, "\n", 1), 0);
    assert_int_equal(total, 8 << 20);
    for (int i = 0; i < (8 << 20) / 4096; i++)
        assert_int_equal(ndjson_feed(&s, piece, sizeof(piece)), 0);
    assert_int_equal(ndjson_feed(&s, "x", 1), -EMSGSIZE);
    ndjson_release(&s);
}

static void limit_ignores_the_cut(void **state)
{
    (void)state;
    for (size_t at = 0; at <= 6; at++) {
        size_t total = 0;
        struct ndjson s;
        int r;

        ndjson_init(&s, 5, measure, &total);
        r = ndjson_feed(&s, "12345\n", at);
        if (r == 0)
            r = ndjson_feed(&s, &"12345\n"[at], 6 - at);
        assert_int_equal(r, 0);
        assert_int_equal(total, 5);
        ndjson_release(&s);
        ndjson_init(&s, 4, measure, &total);
        r = ndjson_feed(&s, "12345\n", at);
        if (r == 0)
            r = ndjson_feed(&s, &"12345\n"[at], 6 - at);
        assert_int_equal(r, -EMSGSIZE);
        ndjson_release(&s);
    }
}

static int stop_at_b(void *arg, const char *line, size_t n)
{
    ++*(int *)arg;
    return n == 1 && *line == 'b' ? -1 : 0;
}

static void handler_stops_it(void **state)
{
    int calls = 0;
    struct ndjson s;

    (void)state;
    ndjson_init(&s, 64, stop_at_b, &calls);
    assert_int_equal(ndjson_feed(&s, "a\nb\nc\n", 6), -1);
    assert_int_equal(calls, 2);
    ndjson_release(&s);
    ndjson_init(&s, 64, stop_at_b, &calls);
    assert_int_equal(ndjson_feed(&s, "b", 1), 0);
    assert_int_equal(ndjson_end(&s), -1);
    ndjson_release(&s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cuts_lines),
    cmocka_unit_test(long_lines),
    cmocka_unit_test(limit_ignores_the_cut),
    cmocka_unit_test(handler_stops_it),
};
TEST_MAIN(tests)
