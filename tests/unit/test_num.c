#include "harness.h"

#include "base/clock.h"
#include "base/num.h"

#include <errno.h>
#include <float.h>

static void whole_numbers(void **state)
{
    static const char *const bad[] = {"", " 1", "1 ", "0x10", "1.0", "1e3", "--1", "+", "-", "1a"};
    int64_t v = 5;
    uint64_t u = 5;

    (void)state;
    assert_int_equal(parse_i64("-9223372036854775808", &v, NULL), 0);
    assert_true(v == INT64_MIN);
    assert_int_equal(parse_i64("+12", &v, NULL), 0);
    assert_int_equal(v, 12);
    assert_int_equal(parse_i64("9223372036854775808", &v, NULL), -ERANGE);
    assert_int_equal(parse_u64("18446744073709551615", &u, NULL), 0);
    assert_true(u == UINT64_MAX);
    assert_int_equal(parse_u64("18446744073709551616", &u, NULL), -ERANGE);
    assert_int_equal(parse_u64("-1", &u, NULL), -EINVAL);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(parse_i64(bad[i], &v, NULL), -EINVAL);
        assert_int_equal(parse_u64(bad[i], &u, NULL), -EINVAL);
    }
    assert_int_equal(v, 12); /* untouched by failures */
}

static void real_numbers(void **state)
{
    static const char *const bad[] = {"",    ".",     "e5",  "1e", "nan",
                                      "inf", "0x1p3", "1,5", " 1", "1f"};
    double v = 5;

    (void)state;
    assert_int_equal(parse_f64("-1.25e-3", &v, NULL), 0);
    assert_true(v == -0.00125);
    assert_int_equal(parse_f64(".5", &v, NULL), 0);
    assert_true(v == 0.5);
    assert_int_equal(parse_f64("1e999", &v, NULL), -ERANGE);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        assert_int_equal(parse_f64(bad[i], &v, NULL), -EINVAL);
    assert_true(v == 0.5);
}

static void times_and_sizes(void **state)
{
    struct err err = {0};
    int64_t v;

    (void)state;
    assert_int_equal(parse_duration("20ms", &v, NULL), 0);
    assert_int_equal(v, 20 * NS_PER_MS);
    assert_int_equal(parse_duration("1.5", &v, NULL), 0);
    assert_int_equal(v, 1500 * NS_PER_MS);
    assert_int_equal(parse_duration("2m", &v, NULL), 0);
    assert_int_equal(v, 120 * NS_PER_S);
    assert_int_equal(parse_duration("1e1h", &v, NULL), 0);
    assert_int_equal(v, 36000 * NS_PER_S);
    assert_int_equal(parse_duration("250us", &v, NULL), 0);
    assert_int_equal(v, 250000);
    assert_fails(parse_duration("-1s", &v, &err), ERANGE, &err, "'-1s' is not a time");
    assert_fails(parse_duration("20 ms", &v, &err), EINVAL, &err, "not a time");
    assert_int_equal(parse_duration("1e300h", &v, NULL), -ERANGE);
    assert_int_equal(parse_size("1.5GiB", &v, NULL), 0);
    assert_int_equal(v, 1610612736);
    assert_int_equal(parse_size("2MB", &v, NULL), 0);
    assert_int_equal(v, 2000000);
    assert_int_equal(parse_size("512", &v, NULL), 0);
    assert_int_equal(v, 512);
    assert_int_equal(parse_size("1 GB", &v, NULL), -EINVAL);
    assert_int_equal(parse_size("9000000TiB", &v, NULL), -ERANGE);
}

static void doubles_round_trip(void **state)
{
    static const double values[] = {0.1, 1.0 / 3, 5e-324, DBL_MAX, -0.0, 123456789012345680.0, 1};
    char text[32];

    (void)state;
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
        size_t n = format_f64(values[i], text);

        assert_int_equal(n, strlen(text));
        assert_true(strtod(text, NULL) == values[i]);
    }
    format_f64(0.1, text);
    assert_string_equal(text, "0.1");
    format_f64(NAN, text);
    assert_string_equal(text, "nan");
    format_f64(-INFINITY, text);
    assert_string_equal(text, "-inf");
}

static void times_for_people(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {{999, "999 ns"},         {1500, "1.5 us"},           {20 * NS_PER_MS, "20 ms"},
                 {90 * NS_PER_S, "90 s"}, {600 * NS_PER_S, "10 min"}, {7200 * NS_PER_S, "2 h"}};
    char text[32];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        format_duration(cases[i].ns, text, sizeof(text));
        assert_string_equal(text, cases[i].text);
    }
}

static void clocks(void **state)
{
    struct clock_anchor anchor = clock_anchor_now();
    mono_ns start = mono_now();
    char text[32];

    (void)state;
    assert_true(start >= anchor.mono);
    assert_int_equal(mono_sleep_until(start + 2 * NS_PER_MS), 0);
    assert_true(mono_now() >= start + 2 * NS_PER_MS);
    clock_format_utc(INT64_C(1700000000123456789), text, sizeof(text));
    assert_string_equal(text, "2023-11-14T22:13:20.123Z");
    clock_format_utc(-1, text, sizeof(text));
    assert_string_equal(text, "1969-12-31T23:59:59.999Z");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(whole_numbers),    cmocka_unit_test(real_numbers),
    cmocka_unit_test(times_and_sizes),  cmocka_unit_test(doubles_round_trip),
    cmocka_unit_test(times_for_people), cmocka_unit_test(clocks),
};
TEST_MAIN(tests)
