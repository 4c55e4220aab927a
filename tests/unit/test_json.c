#include "harness.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/utf8.h"

#include <errno.h>

static struct json_doc doc;
static struct err err;

static const struct json *parse(const char *text)
{
    assert_ok(json_doc_parse(&doc, text, strlen(text), &err), &err);
    return doc.root;
}

static void numbers_are_exact(void **state)
{
    const struct json *v = parse("[9223372036854775807, -9223372036854775808, 9223372036854775808,"
                                 " 0.1, 1e3, 12, 2.5, -0.0]");
    const struct json *item[8];
    size_t n = 0;

    (void)state;
    JSON_FOREACH (i, v)
        item[n++] = i;
    assert_int_equal(v->len, 8);
    assert_true(json_int(item[0], 0) == INT64_MAX);
    assert_true(json_int(item[1], 0) == INT64_MIN);
    assert_int_equal(item[2]->type, JSON_REAL);
    assert_int_equal(json_int(item[2], -7), -7); /* does not fit: not guessed */
    assert_true(json_real(item[3], 0) == 0.1);
    assert_int_equal(json_int(item[4], 0), 1000);
    assert_true(json_real(item[5], 0) == 12.0);
    assert_int_equal(json_int(item[6], -7), -7); /* has a fraction */
    assert_true(signbit(json_real(item[7], 1)));
}

static void lookups_never_fail(void **state)
{
    const struct json *v = parse("{\"usage\":{\"details\":{\"cached\":3}},\"text\":\"x\","
                                 "\"twice\":1,\"twice\":2,\"no\":null,\"yes\":true}");

    (void)state;
    assert_int_equal(json_int(json_path(v, "usage", "details", "cached"), -1), 3);
    assert_int_equal(json_int(json_path(v, "usage", "absent", "cached"), -1), -1);
    assert_int_equal(json_int(json_path(v, "text", "cached"), -1), -1);
    assert_int_equal(json_int(json_get(v, "twice"), -1), 2);
    assert_string_equal(json_text(json_get(v, "text"), ""), "x");
    assert_string_equal(json_text(json_get(v, "no"), "fallback"), "fallback");
    assert_true(json_bool(json_get(v, "yes"), false));
    assert_null(json_get(NULL, "a"));
    assert_null(json_first(json_get(v, "text")));
}

static void text_is_valid_utf8(void **state)
{
    const struct json *v = parse("\"\\u00e9\\ud83d\\ude00\\u0000|\"");

    (void)state;
    assert_int_equal(v->len, 8);
    assert_memory_equal(v->text, "\xC3\xA9\xF0\x9F\x98\x80\0|", 8);
    /* halves of pairs, alone or with the wrong company; an escaped backslash begins nothing */
    v = parse("\"a\\udc00b\\ud800\\u0041\\ud800\\ud83d\\ude00c\\\\ud800\\ud800\"");
    assert_string_equal(v->text, "a\xEF\xBF\xBD"
                                 "b\xEF\xBF\xBD"
                                 "A\xEF\xBF\xBD\xF0\x9F\x98\x80"
                                 "c\\ud800\xEF\xBF\xBD");
    assert_true(utf8_valid(v->text, v->len));
    assert_int_equal(json_doc_parse(&doc, "\"\xFF\"", 3, &err), -EINVAL);
    assert_int_equal(json_doc_parse(&doc, "\"\xC0\x80\"", 4, &err), -EINVAL);
    assert_int_equal(json_doc_parse(&doc, "[\"\xED\xA0\x80\"]", 7, &err), -EINVAL);
    assert_int_equal(json_doc_parse(&doc, "{\"\xED\xA0\x80\":1}", 9, &err), -EINVAL);
}

static void what_is_not_json_is_refused(void **state)
{
    static const char *const bad[] = {"",    "{",        "[1,",   "{\"a\"}",   "[1] 2",
                                      "nul", "'a'",      "[1,]",  "01",        "1e999",
                                      "NaN", "[\"\n\"]", "{a:1}", "\"\\x41\"", "\"abc"};
    char deep[2 * JSON_DEPTH_MAX + 3];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        if (json_doc_parse(&doc, bad[i], strlen(bad[i]), &err) != -EINVAL)
            fail_msg("'%s' was accepted", bad[i]);
        assert_null(doc.root);
        assert_true(strstr(err.text, "JSON"));
    }
    memset(deep, '[', JSON_DEPTH_MAX + 1);
    memset(deep + JSON_DEPTH_MAX + 1, ']', JSON_DEPTH_MAX + 1);
    deep[2 * JSON_DEPTH_MAX + 2] = '\0';
    assert_fails(json_doc_parse(&doc, deep, strlen(deep), &err), EINVAL, &err, "nested too deeply");
    assert_ok(json_doc_parse(&doc, deep + 1, strlen(deep) - 2, &err), &err);
}

static void three_styles(void **state)
{
    static const struct {
        enum json_style style;
        const char *text;
    } cases[] = {
        {JSON_LINE, "{\"a\":1,\"b\":[2.0,null,\"x\"],\"c\":{},\"d\":[],\"e\":true}"},
        {JSON_SPACED, "{\"a\": 1, \"b\": [2.0, null, \"x\"], \"c\": {}, \"d\": [], \"e\": true}"},
        {JSON_PRETTY, "{\n  \"a\": 1,\n  \"b\": [\n    2.0,\n    null,\n    \"x\"\n  ],\n"
                      "  \"c\": {},\n  \"d\": [],\n  \"e\": true\n}"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        AUTO(buf) struct buf out = BUF_INIT(4096);
        struct json_writer w = json_writer(&out, cases[i].style);

        jw_begin_object(&w, NULL);
        jw_int(&w, "a", 1);
        jw_begin_array(&w, "b");
        jw_real(&w, NULL, 2);
        jw_real(&w, NULL, NAN);
        jw_text(&w, NULL, "x");
        jw_end_array(&w);
        jw_begin_object(&w, "c");
        jw_end_object(&w);
        jw_begin_array(&w, "d");
        jw_end_array(&w);
        jw_bool(&w, "e", true);
        jw_end_object(&w);
        assert_string_equal(out.data, cases[i].text);
    }
}

static void escapes(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(4096);
    struct json_writer w = json_writer(&out, JSON_LINE);

    (void)state;
    jw_textn(&w, NULL, "\"\\\b\f\n\r\t\x01/bfnrt\xC3\xA9\xFF", 17);
    assert_string_equal(out.data, "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001/bfnrt\xC3\xA9\xEF\xBF\xBD\"");
    buf_clear(&out);
    w = json_writer(&out, JSON_LINE);
    w.ascii = true;
    jw_text(&w, NULL, "\xC3\xA9\xF0\x9F\x98\x80\xFF\x7F");
    assert_string_equal(out.data, "\"\\u00e9\\ud83d\\ude00\\ufffd\\u007f\"");
}

static void documents_round_trip(void **state)
{
    static const char text[] = "{\"s\":\"x\\ny\",\"i\":-12,\"r\":0.1,\"e\":1e+300,\"n\":null,"
                               "\"b\":false,\"a\":[[],{},[1,[2]]],\"\":{\"k\":\"\"}}";
    AUTO(buf) struct buf out = BUF_INIT(4096);
    struct json_writer w = json_writer(&out, JSON_LINE);

    (void)state;
    jw_value(&w, NULL, parse(text));
    assert_string_equal(out.data, text);
}

static int release(void **state)
{
    (void)state;
    json_doc_release(&doc);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_are_exact),
    cmocka_unit_test(lookups_never_fail),
    cmocka_unit_test(text_is_valid_utf8),
    cmocka_unit_test(what_is_not_json_is_refused),
    cmocka_unit_test(three_styles),
    cmocka_unit_test(escapes),
    cmocka_unit_test_teardown(documents_round_trip, release),
};
TEST_MAIN(tests)
