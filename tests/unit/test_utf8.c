#include "harness.h"

#include "base/cleanup.h"
#include "base/utf8.h"

static void valid_and_invalid(void **state)
{
    static const struct {
        const char *text;
        size_t n;
        bool valid;
    } cases[] = {
        {"", 0, true},
        {"plain ascii, longer than eight", 30, true},
        {"\xC3\xA9", 2, true},
        {"\xE2\x82\xAC", 3, true},
        {"\xF0\x9F\x98\x80", 4, true},
        {"\xF4\x8F\xBF\xBF", 4, true},
        {"\xF4\x90\x80\x80", 4, false}, /* beyond U+10FFFF */
        {"\xED\xA0\x80", 3, false},     /* a surrogate */
        {"\xC0\x80", 2, false},         /* overlong */
        {"\xE0\x80\x80", 3, false},
        {"\xF0\x80\x80\x80", 4, false},
        {"\xC3", 1, false}, /* cut */
        {"\xE2\x82", 2, false},
        {"\x80", 1, false},
        {"\xFF", 1, false},
        {"12345678\xC3(", 10, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_int_equal(utf8_valid(cases[i].text, cases[i].n), cases[i].valid);
}

static void code_points(void **state)
{
    uint32_t code = 0;

    (void)state;
    assert_int_equal(utf8_char("\xF0\x9F\x98\x80", 4, &code), 4);
    assert_int_equal(code, 0x1F600);
    assert_int_equal(utf8_char("\xF0\x9F\x98\x80", 3, &code), 0);
}

static void bad_bytes_become_replacement_characters(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(100);

    (void)state;
    assert_int_equal(utf8_sanitize(&out, "a\xFF\xC3\xA9\xE2\x82", 6), 0);
    assert_string_equal(out.data, "a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD");
    assert_true(utf8_valid(out.data, out.len));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(valid_and_invalid),
    cmocka_unit_test(code_points),
    cmocka_unit_test(bad_bytes_become_replacement_characters),
};
TEST_MAIN(tests)
