#include "harness.h"

#include "telemetry/visible.h"

static void all(void **state)
{
    (void)state;
    assert_true(visible_all(NULL));
    assert_true(visible_all("all"));
    assert_true(visible_all(" ALL "));
    assert_false(visible_all(""));
    assert_false(visible_all("0"));
    assert_false(visible_all("allegro"));
    assert_false(visible_all("none"));
}

static void lists(void **state)
{
    static const struct {
        const char *text;
        const char *entries; /* joined by | */
    } cases[] = {
        {"", ""},
        {" ", ""},
        {"0", "0"},
        {"2,0,1", "2|0|1"},
        {" 2 ,\t0 ", "2|0"},
        {"GPU-1234,MIG-5", "GPU-1234|MIG-5"},
        {"none", ""},
        {"void", ""},
        {"NoDevFiles", ""},
        {"0,none,1", "0"},
        {"0,,1", "0"},
        {",0", ""},
        {"0,", "0"},
        {"-1", "-1"},
        {"12345678901234567890", "?"},
        {"1234567890123456", "?"},
        {"123456789012345", "123456789012345"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *text = cases[i].text;
        char entry[16], joined[256] = "";
        size_t len = 0;

        while (visible_next(&text, entry, sizeof(entry)))
            len +=
                (size_t)snprintf(joined + len, sizeof(joined) - len, "%s%s", len ? "|" : "", entry);
        assert_string_equal(joined, cases[i].entries);
    }
}

static void indices(void **state)
{
    (void)state;
    assert_int_equal(visible_index("0", 2), 0);
    assert_int_equal(visible_index("1", 2), 1);
    assert_int_equal(visible_index("2", 2), -1);
    assert_int_equal(visible_index("-1", 2), -1);
    assert_int_equal(visible_index("1x", 2), -1);
    assert_int_equal(visible_index("", 2), -1);
    assert_int_equal(visible_index("0", 0), -1);
    assert_int_equal(visible_index("99999999999999999999", 2), -1);
    assert_int_equal(visible_index("GPU-0", 2), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(all),
    cmocka_unit_test(lists),
    cmocka_unit_test(indices),
};
TEST_MAIN(tests)
