#include "harness.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "client/skim.h"

/* Steps over the whole text, if it is ordinary. */
static bool skims(const char *text, size_t n)
{
    struct skim s = {.p = text, .end = text + n};

    return skim_skip(&s) && skim_done(&s);
}

static void accepts_ordinary_json(void **state)
{
    static const char *const texts[] = {
        "{}",
        "[]",
        " [ ] ",
        "\t{\"a\" : [1, -2.5, 0, true, false, null]}\n",
        "\"\"",
        "12",
        "-0.5",
        "{\"a\":{\"b\":[{\"c\":\"d\"},{}]}}",
        "\"plain text of more than sixteen bytes, with \\\" and \\\\ and \\u00e9 and \xC3\xA9\"",
        "[[[[[[[[]]]]]]]]",
        "[\"\\b\\f\\n\\r\\t\\/\"]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        AUTO(json_doc) struct json_doc doc = {0};

        if (!skims(texts[i], strlen(texts[i])))
            fail_msg("declined: %s", texts[i]);
        assert_int_equal(json_doc_parse(&doc, texts[i], strlen(texts[i]), NULL), 0);
        /* none of its beginnings is whole */
        for (size_t n = 0; n < strlen(texts[i]); n++)
            if (skims(texts[i], n) && json_doc_parse(&doc, texts[i], n, NULL) < 0)
                fail_msg("accepted the first %zu bytes of %s", n, texts[i]);
    }
}

static void declines_the_rest(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "}",
        "{]",
        "[}",
        "[1,]",
        "{\"a\":1,}",
        "{,}",
        "[,1]",
        "[1 2]",
        "{\"a\" 1}",
        "{\"a\":}",
        "{a:1}",
        "'a'",
        "01",
        "1.",
        ".5",
        "-",
        "+1",
        "1e5",
        "1E5",
        "nul",
        "nulll",
        "truefalse",
        "[1]]",
        "{} {}",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u12g4\"",
        "\"\\ud83d\\ude00\"",
        "\"\\uDC00\"",
        "\"tab\there\"",
        "\"\x7F\xC0\x80\"",
        "\"\xED\xA0\x80\"",
        "\"\xFF\"",
        "{\"a\\n\":1}",
        "[[[[[[[[[[]]]]]]]]]]",
        "123456789012345678901234567890123",
        "{\"a\":1 \"b\":2}",
        "[null,nul]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (skims(texts[i], strlen(texts[i])))
            fail_msg("accepted: %s", texts[i]);
    assert_false(skims("[\0]", 3));
    assert_false(skims("\"\0\"", 3));
    assert_false(skims("null\0", 5));
}

/* Every position of a special byte within and around a word of eight. */
static void finds_the_end_of_strings(void **state)
{
    static const char specials[] = {'"', '\\', '\x1F', '\0', '\x80', '\xFF'};

    (void)state;
    for (size_t at = 0; at < 40; at++)
        for (size_t i = 0; i < sizeof(specials); i++) {
            char text[64];
            struct skim s = {.p = text, .end = text + 42};
            struct skim_text got;

            memset(text, '~', sizeof(text));
            text[0] = '"';
            text[41] = '"';
            text[1 + at] = specials[i];
            if (specials[i] == '\\') /* an escape of two bytes; the last would hide the quote */
                text[2 + at] = '"';
            assert_int_equal(skim_string(&s, &got),
                             specials[i] == '"' || (specials[i] == '\\' && at < 39));
            if (specials[i] == '"')
                assert_int_equal(got.n, at);
        }
}

static void unescapes(void **state)
{
    static const char text[] =
        "\"a\\n\\\"\\\\\\/\\b\\f\\r\\t\\u0041\\u00e9\\u20AC\\u0000z\xE2\x82\xAC\"";
    static const char plain[] = "a\n\"\\/\b\f\r\tA\xC3\xA9\xE2\x82\xAC\0z\xE2\x82\xAC";
    AUTO(buf) struct buf out = BUF_INIT(100);
    AUTO(buf) struct buf small = BUF_INIT(5);
    AUTO(json_doc) struct json_doc doc = {0};
    struct skim s = {.p = text, .end = text + sizeof(text) - 1};
    struct skim_text got, got_plain;

    (void)state;
    assert_true(skim_string(&s, &got));
    assert_true(got.escaped);
    assert_true(skim_unescape(got, &out, &got_plain));
    assert_int_equal(got_plain.n, sizeof(plain) - 1);
    assert_memory_equal(got_plain.p, plain, sizeof(plain) - 1);
    assert_false(skim_unescape(got, &small, &got_plain));
    /* the full parser agrees */
    assert_int_equal(json_doc_parse(&doc, text, sizeof(text) - 1, NULL), 0);
    assert_int_equal(doc.root->len, sizeof(plain) - 1);
    assert_memory_equal(doc.root->text, plain, sizeof(plain) - 1);
    /* without escapes it stays where it is */
    s = (struct skim){.p = "\"abc\"", .end = s.p};
    s.end = s.p + 5;
    assert_true(skim_string(&s, &got));
    assert_true(skim_unescape(got, &out, &got_plain));
    assert_ptr_equal(got.p, got_plain.p);
}

static void walks_members(void **state)
{
    static const char text[] = "{\"a\":\"x\",\"b\":[10,20],\"c\":null,\"d\":0.5,\"e\":0}";
    struct skim s = {.p = text, .end = text + sizeof(text) - 1};
    struct skim_text key, value;
    int elements = 0;

    (void)state;
    assert_true(skim_open(&s, '{'));
    assert_true(skim_member(&s, &key) && skim_is(key, "a"));
    assert_false(skim_is(key, "ab"));
    assert_true(skim_string(&s, &value) && skim_is(value, "x"));
    assert_true(skim_member(&s, &key) && skim_is(key, "b") && skim_open(&s, '['));
    while (skim_element(&s))
        elements += skim_skip(&s);
    assert_int_equal(elements, 2);
    assert_true(skim_member(&s, &key) && skim_is(key, "c"));
    assert_false(skim_literal(&s, "0"));
    assert_true(skim_literal(&s, "null"));
    assert_true(skim_member(&s, &key) && skim_is(key, "d"));
    assert_false(skim_literal(&s, "0")); /* it is 0.5 */
    assert_true(skim_skip(&s));
    assert_true(skim_member(&s, &key) && skim_literal(&s, "0"));
    assert_false(skim_member(&s, &key));
    assert_true(skim_done(&s));
    /* once it has declined, nothing succeeds */
    s = (struct skim){.p = text, .end = text + 1};
    assert_false(skim_open(&s, '['));
    assert_null(s.p);
    assert_false(skim_open(&s, '{') || skim_member(&s, &key) || skim_element(&s) ||
                 skim_string(&s, &value) || skim_literal(&s, "null") || skim_skip(&s) ||
                 skim_done(&s));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(accepts_ordinary_json),
    cmocka_unit_test(declines_the_rest),
    cmocka_unit_test(finds_the_end_of_strings),
    cmocka_unit_test(unescapes),
    cmocka_unit_test(walks_members),
};
TEST_MAIN(tests)
