#include "harness.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "report/html.h"

#define NNBSP "\xE2\x80\xAF"
#define NBSP  "\xC2\xA0"

static const char *const hostile[] = {
    "</script><script>alert(1)</script>",
    "<!-- <script>",
    "]]> <![CDATA[",
    "line\xE2\x80\xA8"
    "and\xE2\x80\xA9"
    "paragraph",
    "\"quotes\" and 'others' and `ticks`",
    "<img src=x onerror=alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "\xE2\x80\xAE"
    "gnp.exe\xE2\x81\xA6"
    "x\xE2\x81\xA9",
    "{{style}} ${x} \\u003c/script\\u003e",
    "\xFF\xC0\xAF broken \xED\xA0\x80",
    "\x01\x1B[31m\x7F",
    "<style>*{display:none}</style>",
    "&lt;/script&gt; &#60;",
};

static const char *text_of(struct buf *out, const char *text)
{
    buf_clear(out);
    html_text(out, text);
    return buf_str(out);
}

static void text_is_escaped(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 16);

    (void)state;
    assert_string_equal(text_of(&out, "a < b && c > \"d\" 'e'"),
                        "a &lt; b &amp;&amp; c &gt; &quot;d&quot; &#39;e&#39;");
    assert_string_equal(text_of(&out, "tab\tline\n"), "tab\tline\n");
    assert_string_equal(text_of(&out, "\x1B[31m\r"), "[U+001B][31m[U+000D]");
    assert_string_equal(text_of(&out, "a\xE2\x80\xAEz"), "a[U+202E]z");
    assert_string_equal(text_of(&out, "\xD8\x9C\xE2\x80\x8F\xE2\x81\xA9\xC2\x85"),
                        "[U+061C][U+200F][U+2069][U+0085]");
    assert_string_equal(text_of(&out, "x\xFFy"), "x\xEF\xBF\xBDy");
    assert_string_equal(text_of(&out, "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80"),
                        "gr\xC3\xBC\xC3\x9F \xF0\x9F\x98\x80");
    assert_string_equal(text_of(&out, NULL), HTML_ABSENT);
    assert_string_equal(text_of(&out, ""), "");
}

static void hostile_text_stays_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
        AUTO(buf) struct buf out = BUF_INIT(1 << 16);

        text_of(&out, hostile[i]);
        assert_null(strpbrk(out.data, "<>\"'"));
        assert_null(strstr(out.data, "\xE2\x80\xAE"));
    }
}

/* In a script block no byte is left that HTML or JavaScript would see, and a JSON parser still
 * reads the same text. */
static void hostile_json_stays_json(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
        AUTO(buf) struct buf json = BUF_INIT(1 << 16);
        AUTO(buf) struct buf out = BUF_INIT(1 << 16);
        AUTO(buf) struct buf clean = BUF_INIT(1 << 16);
        AUTO(json_doc) struct json_doc doc = {0};
        struct json_writer w = json_writer(&json, JSON_LINE);
        struct err err = {0};

        jw_text(&w, NULL, hostile[i]);
        html_json(&out, json.data, json.len);
        assert_null(strpbrk(out.data, "<>&"));
        assert_null(strstr(out.data, "\xE2\x80\xA8"));
        assert_null(strstr(out.data, "\xE2\x80\xA9"));
        assert_true(out.len <= HTML_JSON_GROWTH * json.len);
        assert_ok(json_doc_parse(&doc, out.data, out.len, &err), &err);
        for (const char *p = hostile[i]; *p; p++)
            if (doc.root->text[p - hostile[i]] != *p)
                break; /* what is not UTF-8 became U+FFFD */
            else
                buf_addc(&clean, *p);
        if (clean.len < strlen(hostile[i]))
            assert_memory_equal(doc.root->text + clean.len, "\xEF\xBF\xBD", 3);
        else
            assert_string_equal(doc.root->text, hostile[i]);
    }
}

static void json_at_the_end_of_its_bytes(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(64);

    (void)state;
    html_json(&out, "a\xE2\x80\xA8", 3); /* the character is cut: not read beyond */
    assert_memory_equal(out.data, "a\xE2\x80", 4);
    buf_clear(&out);
    html_json(&out, "", 0);
    assert_int_equal(out.len, 0);
}

static void check_quantity(double value, const char *unit, const char *wanted)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 10);

    html_quantity(&out, value, unit);
    assert_string_equal(buf_str(&out), wanted);
}

static void quantities(void **state)
{
    (void)state;
    check_quantity(12.3456, "J", "12.35" NBSP "J");
    check_quantity(0.0123456, "J", "12.35" NBSP "mJ");
    check_quantity(0.0123456, "/W", "0.01235" NBSP "/W");
    check_quantity(0.00002, "s", "20.00" NBSP "\xC2\xB5s");
    check_quantity(0.2065, "s", "0.2065" NBSP "s");
    check_quantity(123456, "J", "123.5" NBSP "kJ");
    check_quantity(123456, "s", "123" NNBSP "456" NBSP "s");
    check_quantity(1234.5, "W", "1234" NBSP "W");
    check_quantity(1234567, "ms", "1" NNBSP "234" NNBSP "567" NBSP "ms");
    check_quantity(123456789, "J", "123.5" NBSP "MJ");
    check_quantity(12, NULL, "12");
    check_quantity(0, "J", "0" NBSP "J");
    check_quantity(-3.25,
                   "\xC2\xB0"
                   "C",
                   "\xE2\x88\x92"
                   "3.250" NBSP "\xC2\xB0"
                   "C");
    check_quantity(1e-9, "", "1.000e-09");
    check_quantity(1e-9, "J", "1" NBSP "nJ");
    check_quantity(1e300, "J", "1.000e+294" NBSP "MJ");
    check_quantity(NAN, "J", HTML_ABSENT);
    check_quantity(INFINITY, "J", HTML_ABSENT);
    check_quantity(1.5, "<b>", "1.500" NBSP "&lt;b&gt;");
}

static void bounds(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 10);

    (void)state;
    html_bounded(&out, 12.345, 12.1, 12.61, "J");
    assert_string_equal(buf_str(&out),
                        "12.35" NBSP "J <span class=\"bounds\">(12.10 to 12.61)</span>");
    buf_clear(&out);
    html_bounded(&out, 12.345, NAN, 12.61, "J");
    assert_string_equal(buf_str(&out), "12.35" NBSP "J");
    buf_clear(&out);
    html_bounded(&out, NAN, 1, 2, "J");
    assert_string_equal(buf_str(&out), HTML_ABSENT);
}

static void counts_and_parts(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 10);

    (void)state;
    html_count(&out, -1);
    html_count(&out, 10000);
    html_percent(&out, 0.953);
    html_percent(&out, NAN);
    assert_string_equal(buf_str(&out), HTML_ABSENT "10" NNBSP "000"
                                                   "95.3" NBSP "%" HTML_ABSENT);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(text_is_escaped),
    cmocka_unit_test(hostile_text_stays_text),
    cmocka_unit_test(hostile_json_stays_json),
    cmocka_unit_test(json_at_the_end_of_its_bytes),
    cmocka_unit_test(quantities),
    cmocka_unit_test(bounds),
    cmocka_unit_test(counts_and_parts),
};
TEST_MAIN(tests)
