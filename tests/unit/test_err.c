#include "harness.h"

#include "base/utf8.h"

#include <errno.h>

static void words_and_code_are_kept(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(err_set(&err, EINVAL, "bad %s", "thing"), -EINVAL);
    assert_int_equal(err.code, -EINVAL);
    assert_string_equal(err.text, "bad thing");
    assert_int_equal(err_prefix(&err, "file %d", 3), -EINVAL);
    assert_string_equal(err.text, "file 3: bad thing");
    assert_int_equal(err_sys(&err, ENOENT, "cannot open %s", "x"), -ENOENT);
    assert_string_equal(err.text, "cannot open x: No such file or directory");
}

static void null_is_allowed(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, EPERM, "x"), -EPERM);
    assert_int_equal(err_sys(NULL, EPERM, "x"), -EPERM);
    assert_int_equal(err_prefix(NULL, "x"), -EIO);
}

static void long_words_are_cut_at_a_character(void **state)
{
    char words[600];
    struct err err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(words) - 1; i++)
        words[i] = "\xC3\xA9"[i % 2];
    words[sizeof(words) - 1] = '\0';
    for (int pad = 0; pad < 2; pad++) { /* the cut falls on either half of a character */
        err_set(&err, EINVAL, "%s%s", pad ? "x" : "", words);
        assert_true(strlen(err.text) < ERR_TEXT_MAX);
        assert_true(utf8_valid(err.text, strlen(err.text)));
        assert_string_equal(err.text + strlen(err.text) - 3, "...");
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(words_and_code_are_kept),
    cmocka_unit_test(null_is_allowed),
    cmocka_unit_test(long_words_are_cut_at_a_character),
};
TEST_MAIN(tests)
