#include "harness.h"

#include "base/cleanup.h"
#include "base/utf8.h"
#include "client/words.h"

static void said(const char *body, const char *words)
{
    AUTO(buf) struct buf out = BUF_INIT(WORDS_MAX);
    AUTO(json_doc) struct json_doc doc = {0};
    struct secrets none = {0};

    words_add_body(&out, &doc, body, strlen(body));
    words_clean(&out, &none);
    assert_string_equal(buf_str(&out), words);
}

static void finds_the_text_in_all_shapes(void **state)
{
    (void)state;
    said("{\"error\":{\"message\":\"File Not Found\",\"type\":\"not_found_error\",\"code\":404}}",
         "File Not Found");
    said("{\"error\":\"model 'x' not found\"}", "model 'x' not found");
    said("{\"object\":\"error\",\"message\":\"too long\",\"code\":400}", "too long");
    said("{\"detail\":\"Not Found\"}", "Not Found");
    said("{\"detail\":[{\"loc\":[\"body\",\"stream_options\",0],\"msg\":\"extra fields not "
         "permitted\"},{\"msg\":\"and more\"}]}",
         "body.stream_options.0: extra fields not permitted; and more");
    said("{\"error\":\"{\\\"error\\\":{\\\"code\\\":400,\\\"message\\\":\\\"exceeds the context "
         "size\\\"}}\"}",
         "exceeds the context size");
    said("{\"message\":\"plain\"}", "plain");
    said("404 page not found\n", "404 page not found");
    said("<html>\r\n<title>502 Bad Gateway</title>\r\n</html>",
         "<html> <title>502 Bad Gateway</title> </html>");
    said("{\"error\":{\"code\":7}}", "{\"code\":7}");
    said("{\"error\":null,\"x\":1}", "{\"error\":null,\"x\":1}");
    said("", "");
    said("null", "");
    said("[]", "[]");
    said("{\"error\":\"{broken\"}", "{broken");
}

static void makes_it_fit_to_be_shown(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(WORDS_MAX);
    struct secrets none = {0};

    (void)state;
    buf_add(&out, "  a\x1B[31m\0b\xFF\r\n\tc\x7F ", 17);
    words_clean(&out, &none);
    assert_string_equal(out.data, "a [31m b\xEF\xBF\xBD c");
}

/* Bytes that are no text grow when they are replaced; the limit still holds. */
static void stays_within_its_limit(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(1000);
    AUTO(json_doc) struct json_doc doc = {0};
    struct secrets none = {0};
    static char body[5000];

    (void)state;
    memset(body, 0xFF, sizeof(body));
    words_add_body(&out, &doc, body, sizeof(body));
    assert_int_equal(out.len, 1000);
    words_clean(&out, &none);
    assert_int_equal(out.len, 999);
    assert_true(utf8_valid(out.data, out.len));
}

static void hides_secrets(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(WORDS_MAX);
    struct secrets s = {0};

    (void)state;
    secrets_add(&s, NULL);
    secrets_add(&s, "abc"); /* too short to be one */
    secrets_add(&s, "sk-12345");
    secrets_add(&s, "hunter2");
    assert_int_equal(s.n, 2);
    buf_adds(&out, "key sk-12345 abc sk-1234 sk-12345sk-12345 hunter2");
    words_clean(&out, &s);
    assert_string_equal(out.data, "key *** abc sk-1234 ****** ***");
    secrets_release(&s);
    assert_int_equal(s.n, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(finds_the_text_in_all_shapes),
    cmocka_unit_test(makes_it_fit_to_be_shown),
    cmocka_unit_test(stays_within_its_limit),
    cmocka_unit_test(hides_secrets),
};
TEST_MAIN(tests)
