#include "harness.h"

#include "arrow/array.h"
#include "arrow/array_check.h"
#include "arrow/bytes.h"
#include "base/cleanup.h"

/* An array over the values of a C array. */
#define ARRAY(fieldp, data)                                                                      \
    {                                                                                            \
        .field = (fieldp), .storage = (fieldp)->type,                                            \
        .length = (int64_t)(sizeof(data) / sizeof((data)[0])), .values = (const uint8_t *)(data) \
    }

static char name[] = "c";

static void integers_of_all_widths(void **state)
{
    static const int8_t i8[] = {-128, 127};
    static const uint8_t u8[] = {0, 255};
    static const int16_t i16[] = {-32768, 32767};
    static const uint16_t u16[] = {0, 65535};
    static const int32_t i32[] = {INT32_MIN, INT32_MAX};
    static const uint32_t u32[] = {0, UINT32_MAX};
    static const int64_t i64[] = {INT64_MIN, INT64_MAX};
    static const uint64_t u64[] = {(uint64_t)INT64_MAX, UINT64_MAX};
    static const struct {
        enum arrow_type type;
        const void *values;
        int64_t first, second;
    } cases[] = {
        {ARROW_INT8, i8, -128, 127},
        {ARROW_UINT8, u8, 0, 255},
        {ARROW_INT16, i16, -32768, 32767},
        {ARROW_UINT16, u16, 0, 65535},
        {ARROW_INT32, i32, INT32_MIN, INT32_MAX},
        {ARROW_UINT32, u32, 0, UINT32_MAX},
        {ARROW_INT64, i64, INT64_MIN, INT64_MAX},
        {ARROW_UINT64, u64, INT64_MAX, -5}, /* does not fit: the fallback */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arrow_field f = {.name = name, .type = cases[i].type};
        struct arrow_array a = {
            .field = &f, .storage = f.type, .length = 2, .values = cases[i].values};

        assert_true(arrow_i64(&a, 0, -5) == cases[i].first);
        assert_true(arrow_i64(&a, 1, -5) == cases[i].second);
        assert_true(arrow_f64(&a, 0) == (double)cases[i].first);
        if (f.type != ARROW_UINT64)
            assert_true(arrow_f64(&a, 1) == (double)cases[i].second);
    }
    struct arrow_field f = {.name = name, .type = ARROW_UINT64};
    struct arrow_array a = ARRAY(&f, u64);
    assert_true(arrow_f64(&a, 1) == 0x1p64);
}

static void floats(void **state)
{
    static const uint16_t f16[] = {0x3C00, 0xC000, 0x0001, 0x7BFF, 0x7C00, 0xFC00, 0x7E00, 0x8000};
    static const float f32[] = {0.1f, -1.5f};
    static const double f64[] = {1e300, 3.0, 0.5, NAN, 0x1p63};
    struct arrow_field h = {.name = name, .type = ARROW_FLOAT16};
    struct arrow_field s = {.name = name, .type = ARROW_FLOAT32};
    struct arrow_field d = {.name = name, .type = ARROW_FLOAT64};
    struct arrow_array half = ARRAY(&h, f16), single = ARRAY(&s, f32), full = ARRAY(&d, f64);

    (void)state;
    assert_true(arrow_f64(&half, 0) == 1.0);
    assert_true(arrow_f64(&half, 1) == -2.0);
    assert_true(arrow_f64(&half, 2) == 0x1p-24);
    assert_true(arrow_f64(&half, 3) == 65504.0);
    assert_true(arrow_f64(&half, 4) == INFINITY);
    assert_true(arrow_f64(&half, 5) == -INFINITY);
    assert_true(isnan(arrow_f64(&half, 6)));
    assert_true(arrow_f64(&half, 7) == 0 && signbit(arrow_f64(&half, 7)));
    assert_true(arrow_f64(&single, 0) == (double)0.1f);
    assert_true(arrow_f64(&single, 1) == -1.5);
    assert_true(arrow_f64(&full, 0) == 1e300);
    /* as whole numbers, where they are */
    assert_int_equal(arrow_i64(&full, 1, -5), 3);
    assert_int_equal(arrow_i64(&full, 2, -5), -5);
    assert_int_equal(arrow_i64(&full, 3, -5), -5);
    assert_int_equal(arrow_i64(&full, 4, -5), -5);
    assert_int_equal(arrow_i64(&full, 0, -5), -5);
}

/* NULL, out of range, another type: null or the fallback, never a crash. */
static void forgiving(void **state)
{
    static const int64_t i64[] = {1, 2};
    struct arrow_field f = {.name = name, .type = ARROW_INT64};
    struct arrow_array a = ARRAY(&f, i64);
    const char *text;
    size_t n;
    int64_t start = 9, count = 9;
    char formatted[ARROW_TEXT_MAX];

    (void)state;
    assert_true(arrow_is_null(NULL, 0));
    assert_true(arrow_is_null(&a, -1));
    assert_true(arrow_is_null(&a, 2));
    assert_false(arrow_is_null(&a, 1));
    assert_int_equal(arrow_i64(NULL, 0, -5), -5);
    assert_int_equal(arrow_i64(&a, 2, -5), -5);
    assert_true(isnan(arrow_f64(NULL, 0)));
    assert_true(arrow_bool(&a, 0, true));
    assert_false(arrow_bool(NULL, 0, false));
    assert_false(arrow_text(NULL, 0, &text, &n));
    assert_false(arrow_text(&a, 0, &text, &n));
    assert_false(arrow_bytes(&a, 0, &text, &n));
    arrow_list(&a, 0, &start, &count);
    assert_int_equal(start, 0);
    assert_int_equal(count, 0);
    assert_null(arrow_child(NULL, "x"));
    assert_null(arrow_child(&a, "x"));
    assert_null(arrow_child(arrow_child(arrow_child(&a, "x"), "y"), "z"));
    assert_int_equal(arrow_format(&a, 0, formatted), 0);
    assert_int_equal(arrow_format(NULL, 0, formatted), 0);
}

/* A child is null where any struct around it is. */
static void structs_mask(void **state)
{
    static const int64_t i64[] = {10, 11, 12, 13};
    static const uint8_t outer_bits[] = {0x0E}, inner_bits[] = {0x0D}, leaf_bits[] = {0x07};
    struct arrow_field fl = {.name = name, .type = ARROW_INT64};
    struct arrow_field fs = {.name = name, .type = ARROW_STRUCT};
    struct arrow_array outer = {
        .field = &fs, .storage = ARROW_STRUCT, .length = 4, .validity = outer_bits};
    struct arrow_array plain = {
        .field = &fs, .storage = ARROW_STRUCT, .length = 4, .parent = &outer, .mask = &outer};
    struct arrow_array inner = plain;
    struct arrow_array leaf = ARRAY(&fl, i64);

    (void)state;
    inner.parent = &plain;
    inner.validity = inner_bits;
    leaf.validity = leaf_bits;
    leaf.parent = &inner;
    leaf.mask = &inner;
    assert_int_equal(arrow_i64(&leaf, 0, -5), -5); /* outer */
    assert_int_equal(arrow_i64(&leaf, 1, -5), -5); /* inner */
    assert_int_equal(arrow_i64(&leaf, 2, -5), 12);
    assert_int_equal(arrow_i64(&leaf, 3, -5), -5); /* its own */
    assert_true(arrow_is_null(&plain, 0));
    assert_false(arrow_is_null(&plain, 1));
    inner.children = &leaf;
    inner.n_children = 1;
    assert_ptr_equal(arrow_child(&inner, "c"), &leaf);
    assert_null(arrow_child(&inner, "d"));
}

static const char *format(struct arrow_field *f, const void *value)
{
    static char text[ARROW_TEXT_MAX];
    struct arrow_array a = {.field = f, .storage = f->type, .length = 1, .values = value};
    size_t n;

    f->name = name;
    n = arrow_format(&a, 0, text);
    assert_int_equal(n, strlen(text));
    return text;
}

static void dates(void **state)
{
    static const struct {
        int32_t day;
        const char *text;
    } cases[] = {
        {0, "1970-01-01"},
        {-1, "1969-12-31"},
        {59, "1970-03-01"},
        {789, "1972-02-29"},
        {790, "1972-03-01"},
        {11016, "2000-02-29"},
        {11322, "2000-12-31"},
        {11323, "2001-01-01"},
        {47540, "2100-02-28"},
        {47541, "2100-03-01"},
        {2932896, "9999-12-31"},
        {2932897, "+10000-01-01"},
        {-719162, "0001-01-01"},
        {-719163, "0000-12-31"},
        {-719528, "0000-01-01"},
        {-719529, "-0001-12-31"},
        {INT32_MAX, "+5881580-07-11"},
        {INT32_MIN, "-5877641-06-23"},
    };
    struct arrow_field f = {.type = ARROW_DATE32};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(format(&f, &cases[i].day), cases[i].text);
    f.type = ARROW_DATE64;
    assert_string_equal(format(&f, &(int64_t){86400000}), "1970-01-02");
    assert_string_equal(format(&f, &(int64_t){86399999}), "1970-01-01");
    assert_string_equal(format(&f, &(int64_t){-1}), "1969-12-31");
}

static void timestamps(void **state)
{
    static char utc[] = "UTC", zero[] = "+00:00", tokyo[] = "Asia/Tokyo", none[] = "";
    struct arrow_field f = {.type = ARROW_TIMESTAMP, .unit = ARROW_SECOND};

    (void)state;
    assert_string_equal(format(&f, &(int64_t){1704164645}), "2024-01-02T03:04:05");
    assert_string_equal(format(&f, &(int64_t){-1}), "1969-12-31T23:59:59");
    assert_string_equal(format(&f, &(int64_t){INT64_MAX}), "+292277026596-12-04T15:30:07");
    assert_string_equal(format(&f, &(int64_t){INT64_MIN}), "-292277022657-01-27T08:29:52");
    f.unit = ARROW_MILLI;
    assert_string_equal(format(&f, &(int64_t){-1}), "1969-12-31T23:59:59.999");
    f.unit = ARROW_MICRO;
    f.timezone = utc;
    assert_string_equal(format(&f, &(int64_t){1704164645000001}), "2024-01-02T03:04:05.000001Z");
    f.timezone = zero;
    assert_string_equal(format(&f, &(int64_t){0}), "1970-01-01T00:00:00.000000Z");
    f.unit = ARROW_NANO;
    f.timezone = tokyo;
    assert_string_equal(format(&f, &(int64_t){INT64_MIN}),
                        "1677-09-21T00:12:43.145224192Z[Asia/Tokyo]");
    f.timezone = none;
    assert_string_equal(format(&f, &(int64_t){INT64_MAX}), "2262-04-11T23:47:16.854775807");
}

static void times_and_durations(void **state)
{
    struct arrow_field t32 = {.type = ARROW_TIME32, .unit = ARROW_SECOND};
    struct arrow_field t64 = {.type = ARROW_TIME64, .unit = ARROW_NANO};
    struct arrow_field d = {.type = ARROW_DURATION, .unit = ARROW_MILLI};

    (void)state;
    assert_string_equal(format(&t32, &(int32_t){86399}), "23:59:59");
    t32.unit = ARROW_MILLI;
    assert_string_equal(format(&t32, &(int32_t){1}), "00:00:00.001");
    assert_string_equal(format(&t32, &(int32_t){-1}), "-00:00:00.001");
    assert_string_equal(format(&t64, &(int64_t){3723000000001}), "01:02:03.000000001");
    assert_string_equal(format(&t64, &(int64_t){INT64_MIN}), "-2562047:47:16.854775808");
    assert_string_equal(format(&d, &(int64_t){90500}), "PT90.500S");
    assert_string_equal(format(&d, &(int64_t){-1}), "-PT0.001S");
    d.unit = ARROW_SECOND;
    assert_string_equal(format(&d, &(int64_t){INT64_MIN}), "-PT9223372036854775808S");
    d.unit = ARROW_NANO;
    assert_string_equal(format(&d, &(int64_t){1}), "PT0.000000001S");
}

static void decimals(void **state)
{
    struct arrow_field f = {.type = ARROW_DECIMAL, .param = 16, .scale = 2};
    int64_t small[2] = {-1250, -1};
    uint8_t huge[32];
    struct arrow_array a = {
        .field = &f, .storage = ARROW_DECIMAL, .length = 1, .values = (const uint8_t *)small};

    (void)state;
    assert_string_equal(format(&f, small), "-12.50");
    assert_true(arrow_f64(&a, 0) == -12.5);
    f.scale = 0;
    assert_string_equal(format(&f, small), "-1250");
    f.scale = 4;
    assert_string_equal(format(&f, small), "-0.1250");
    f.scale = 5;
    assert_string_equal(format(&f, small), "-0.01250");
    f.scale = -3;
    assert_string_equal(format(&f, small), "-1250E+3");
    assert_true(arrow_f64(&a, 0) == -1250e3);
    f.scale = 1;
    assert_string_equal(format(&f, (int64_t[]){0, 0}), "0.0");
    f.param = 4;
    assert_string_equal(format(&f, &(int32_t){INT32_MIN}), "-214748364.8");
    f.param = 8;
    f.scale = 18;
    assert_string_equal(format(&f, &(int64_t){INT64_MAX}), "9.223372036854775807");
    f.param = 16;
    f.scale = 0;
    assert_string_equal(format(&f, (int64_t[]){-1, INT64_MAX}),
                        "170141183460469231731687303715884105727");
    assert_string_equal(format(&f, (int64_t[]){0, INT64_MIN}),
                        "-170141183460469231731687303715884105728");
    memset(huge, 0, sizeof(huge));
    huge[31] = 0x80;
    f.param = 32;
    f.scale = ARROW_SCALE_MAX;
    assert_string_equal(
        format(&f, huge),
        "-0.00000000000000000000000000000000000000000000000000057896044618658097711785492504343953"
        "926634992332820282019728792003956564819968");
}

static void text_of_all_kinds(void **state)
{
    static const int32_t offsets[] = {3, 3, 8};
    static const int64_t wide[] = {3, 3, 8};
    struct arrow_field f = {.name = name, .type = ARROW_UTF8};
    struct arrow_array a = {.field = &f,
                            .storage = ARROW_UTF8,
                            .length = 2,
                            .offsets = (const uint8_t *)offsets,
                            .values = (const uint8_t *)"xxxhello"};
    const char *text;
    size_t n;

    (void)state;
    assert_true(arrow_text(&a, 0, &text, &n));
    assert_int_equal(n, 0);
    assert_true(arrow_text(&a, 1, &text, &n));
    assert_int_equal(n, 5);
    assert_memory_equal(text, "hello", 5);
    f.type = a.storage = ARROW_LARGE_UTF8;
    a.offsets = (const uint8_t *)wide;
    assert_true(arrow_text(&a, 1, &text, &n));
    assert_int_equal(n, 5);
    assert_memory_equal(text, "hello", 5);
    f.type = a.storage = ARROW_LARGE_BINARY;
    assert_false(arrow_text(&a, 1, &text, &n));
    assert_true(arrow_bytes(&a, 1, &text, &n));
    f.type = a.storage = ARROW_FIXED_BINARY;
    f.param = 4;
    assert_true(arrow_bytes(&a, 1, &text, &n));
    assert_int_equal(n, 4);
    assert_memory_equal(text, "ello", 4);
}

/* Two parts, the second a delta; a null in the dictionary; indexes of one byte. */
static void dictionary_of_parts(void **state)
{
    static const int64_t first[] = {100, 101}, second[] = {102};
    static const uint8_t indexes[] = {2, 0, 1, 2}, second_bits[] = {0}, bits[] = {0x0E};
    struct arrow_field f = {.name = name, .type = ARROW_INT64, .is_dictionary = true};
    struct arrow_array part0 = ARRAY(&f, first), part1 = ARRAY(&f, second);
    struct arrow_array *parts[] = {&part0, &part1};
    int64_t starts[] = {0, 2};
    struct arrow_dictionary d = {parts, starts, 2, 3};
    struct arrow_array a = {
        .field = &f, .storage = ARROW_UINT8, .length = 4, .values = indexes, .dictionary = &d};

    (void)state;
    assert_int_equal(arrow_i64(&a, 0, -5), 102);
    assert_int_equal(arrow_i64(&a, 1, -5), 100);
    assert_int_equal(arrow_i64(&a, 2, -5), 101);
    part1.validity = second_bits;
    assert_true(arrow_is_null(&a, 3));
    assert_false(arrow_is_null(&a, 1));
    a.validity = bits;
    assert_true(arrow_is_null(&a, 0));
}

static const char *to_json(const struct arrow_array *a, int64_t i, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    buf_clear(out);
    arrow_value_json(a, i, &w, NULL);
    return buf_str(out);
}

static void values_as_json(void **state)
{
    static const double f64[] = {NAN, INFINITY, 0.1, 2};
    static const uint64_t u64[] = {UINT64_MAX, 0};
    static const uint8_t bits[] = {2};
    static const int32_t offsets[] = {0, 0, 1, 3, 6, 10};
    struct arrow_field f = {.name = name, .type = ARROW_FLOAT64};
    struct arrow_array a = ARRAY(&f, f64);
    AUTO(buf) struct buf out = BUF_INIT(1000);

    (void)state;
    assert_string_equal(to_json(&a, 0, &out), "null");
    assert_string_equal(to_json(&a, 1, &out), "null");
    assert_string_equal(to_json(&a, 2, &out), "0.1");
    assert_string_equal(to_json(&a, 3, &out), "2.0");
    f.type = a.storage = ARROW_UINT64;
    a.values = (const uint8_t *)u64;
    assert_string_equal(to_json(&a, 0, &out), "18446744073709551615");
    f.type = a.storage = ARROW_BOOL;
    a.values = bits;
    assert_string_equal(to_json(&a, 0, &out), "false");
    assert_string_equal(to_json(&a, 1, &out), "true");
    f.type = a.storage = ARROW_BINARY;
    a.length = 5;
    a.offsets = (const uint8_t *)offsets;
    a.values = (const uint8_t *)"f\xFF\xFE"
                                "barfoo!";
    assert_string_equal(to_json(&a, 0, &out), "\"\"");
    assert_string_equal(to_json(&a, 1, &out), "\"Zg==\"");
    assert_string_equal(to_json(&a, 2, &out), "\"//4=\"");
    assert_string_equal(to_json(&a, 3, &out), "\"YmFy\"");
    assert_string_equal(to_json(&a, 4, &out), "\"Zm9vIQ==\"");
    f.type = a.storage = ARROW_UTF8;
    a.values = (const uint8_t *)"\"\n\t\\\0"
                                "abcde";
    assert_string_equal(to_json(&a, 3, &out), "\"\\\\\\u0000a\"");
}

/* Values of types that have no accessor of their own, through a dictionary. */
static void dictionary_values_as_json(void **state)
{
    static const int64_t ticks[] = {0, -1};
    static const uint64_t big[] = {1, UINT64_MAX};
    static const uint8_t indexes[] = {1};
    struct arrow_field f = {.name = name, .type = ARROW_TIMESTAMP, .unit = ARROW_MILLI};
    struct arrow_array part = ARRAY(&f, ticks);
    struct arrow_array *parts[] = {&part};
    int64_t starts[] = {0};
    struct arrow_dictionary d = {parts, starts, 1, 2};
    struct arrow_array a = {
        .field = &f, .storage = ARROW_UINT8, .length = 1, .values = indexes, .dictionary = &d};
    AUTO(buf) struct buf out = BUF_INIT(1000);

    (void)state;
    assert_string_equal(to_json(&a, 0, &out), "\"1969-12-31T23:59:59.999\"");
    f.type = part.storage = ARROW_UINT64;
    part.values = (const uint8_t *)big;
    assert_string_equal(to_json(&a, 0, &out), "18446744073709551615");
}

/* A writer whose buf is full is not fed for ever. */
static void full_buffer_stops(void **state)
{
    static const int32_t offsets[] = {0, 1000000};
    struct arrow_field item = {.name = name, .type = ARROW_NULL};
    struct arrow_field f = {.name = name, .type = ARROW_LIST, .children = &item, .n_children = 1};
    struct arrow_array child = {
        .field = &item, .storage = ARROW_NULL, .length = 1000000, .all_null = true};
    struct arrow_array a = {.field = &f,
                            .storage = ARROW_LIST,
                            .length = 1,
                            .offsets = (const uint8_t *)offsets,
                            .children = &child,
                            .n_children = 1};
    AUTO(buf) struct buf out = BUF_INIT(100);

    (void)state;
    to_json(&a, 0, &out);
    assert_true(out.failed);
    assert_true(out.len <= 100);
    /* nor is much binary encoded for a small one */
    f.type = a.storage = ARROW_FIXED_BINARY;
    f.param = 1000000;
    AUTO_FREE uint8_t *bytes = calloc(1, 1000000);
    a.values = bytes;
    to_json(&a, 0, &out);
    assert_true(out.failed);
    assert_true(out.len <= 100);
}

static void offsets_are_checked(void **state)
{
    static const int32_t good[] = {1, 1, 5}, negative[] = {-1, 0, 0}, falls[] = {0, 5, 4};
    static const int64_t wide[] = {0, INT64_MAX, INT64_MAX}, wide_falls[] = {0, -1, 0};

    (void)state;
    assert_int_equal(check_offsets((const uint8_t *)good, 2, 4), -1);
    assert_int_equal(check_offsets((const uint8_t *)negative, 2, 4), 0);
    assert_int_equal(check_offsets((const uint8_t *)falls, 2, 4), 2);
    assert_int_equal(check_offsets((const uint8_t *)wide, 2, 8), -1);
    assert_int_equal(check_offsets((const uint8_t *)wide_falls, 2, 8), 1);
}

/* Text that is valid as a whole can still be cut in the middle of a character. */
static void utf8_is_checked(void **state)
{
    static const struct {
        int32_t offsets[4];
        const char *text;
        uint8_t valid;
        int64_t bad;
    } cases[] = {
        {{0, 2, 4, 6}, "abcdef", 7, -1},
        {{0, 2, 4, 6},
         "ab\xC3\xA9"
         "ef",
         7,
         -1},
        {{0, 3, 4, 6},
         "ab\xC3\xA9"
         "ef",
         7,
         0}, /* cut between the bytes of é */
        {{0, 3, 4, 6},
         "ab\xC3\xA9"
         "ef",
         4,
         -1}, /* but both halves are null */
        {{0, 3, 4, 6},
         "ab\xC3\xA9"
         "ef",
         6,
         1}, /* one is */
        {{0, 2, 4, 6},
         "ab\xFF\xFE"
         "ef",
         7,
         1},
        {{0, 2, 4, 6},
         "ab\xFF\xFE"
         "ef",
         5,
         -1},                             /* hidden under a null */
        {{0, 2, 4, 5}, "abcd\xC3", 7, 2}, /* cut at the end */
        {{2, 2, 4, 4},
         "\xFF\xFF"
         "cd\xFF",
         7,
         -1}, /* nobody looks there */
        {{0, 0, 0, 0}, "\xFF", 7, -1},
    };
    struct arrow_field f = {.name = name, .type = ARROW_UTF8};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct arrow_array a = {.field = &f,
                                .storage = ARROW_UTF8,
                                .length = 3,
                                .validity = &cases[i].valid,
                                .offsets = (const uint8_t *)cases[i].offsets,
                                .values = (const uint8_t *)cases[i].text};

        if (check_utf8(&a) != cases[i].bad)
            fail_msg("case %zu: %lld", i, (long long)check_utf8(&a));
    }
}

/* The block-wise look for bytes beyond ASCII finds one anywhere. */
static void utf8_in_long_text(void **state)
{
    static uint8_t text[1000];
    struct arrow_field f = {.name = name, .type = ARROW_UTF8};
    int32_t offsets[] = {0, 1000};
    struct arrow_array a = {.field = &f,
                            .storage = ARROW_UTF8,
                            .length = 1,
                            .offsets = (const uint8_t *)offsets,
                            .values = text};

    (void)state;
    memset(text, 'x', sizeof(text));
    assert_int_equal(check_utf8(&a), -1);
    for (size_t at = 0; at < sizeof(text); at++) {
        text[at] = 0x80;
        assert_int_equal(check_utf8(&a), 0);
        text[at] = 'x';
    }
}

static void put_view(uint8_t *view, int32_t n, const char *prefix, int32_t buffer, int32_t offset)
{
    memcpy(view, &n, 4);
    memset(view + 4, 0, 12);
    memcpy(view + 4, prefix, strlen(prefix));
    if (n > 12 || n < 0) {
        memcpy(view + 8, &buffer, 4);
        memcpy(view + 12, &offset, 4);
    }
}

static void views_are_checked(void **state)
{
    static const char long_text[] = "abcdefghijklmnop\xC3\xA9xyz";
    struct arrow_span spans[] = {{(const uint8_t *)long_text, sizeof(long_text) - 1}};
    struct arrow_field f = {.name = name, .type = ARROW_UTF8_VIEW};
    uint8_t views[48], valid = 7;
    struct arrow_array a = {.field = &f,
                            .storage = ARROW_UTF8_VIEW,
                            .length = 3,
                            .validity = &valid,
                            .values = views,
                            .view_buffers = spans};
    size_t needs[1];
    int64_t allowance = 1000;
    const char *text;
    size_t n;

    (void)state;
    put_view(views, 2, "hi", 0, 0);
    put_view(views + 16, 13, "abcd", 0, 3);
    put_view(views + 32, 12, "abcdefghijkl", 0, 0);
    assert_int_equal(check_views(&a, 1, needs), -1);
    assert_int_equal(needs[0], 16);
    assert_int_equal(check_view_utf8(&a, 1, &allowance), -1);
    assert_int_equal(allowance, 1000); /* the buffer as a whole is valid: nothing looked at twice */
    assert_true(arrow_text(&a, 1, &text, &n));
    assert_int_equal(n, 13);
    assert_memory_equal(text, "defghijklmnop", 13);
    assert_true(arrow_text(&a, 2, &text, &n));
    assert_memory_equal(text, "abcdefghijkl", 12);

    put_view(views + 16, 13, "abcd", 0, 4); /* ends inside é */
    assert_int_equal(check_view_utf8(&a, 1, &allowance), 1);
    put_view(views + 16, 13, "abcd", 1, 0); /* no such buffer */
    assert_int_equal(check_views(&a, 1, needs), 1);
    valid = 5;
    assert_int_equal(check_views(&a, 1, needs), -1); /* null: nobody follows it */
    valid = 7;
    put_view(views + 16, -1, "", 0, 0);
    assert_int_equal(check_views(&a, 1, needs), 1);
    put_view(views + 16, 13, "", 0, -1);
    assert_int_equal(check_views(&a, 1, needs), 1);
    put_view(views + 16, INT32_MAX, "", 0, INT32_MAX);
    assert_int_equal(check_views(&a, 1, needs), -1);
    assert_true(needs[0] == (size_t)INT32_MAX * 2);
    put_view(views + 16, 3,
             "a\xFF"
             "b",
             0, 0);
    assert_int_equal(check_view_utf8(&a, 1, &allowance), 1);
}

/* A view that ends where its buffer ends: no byte behind it is looked at. */
static void view_to_the_end(void **state)
{
    AUTO_FREE uint8_t *data = malloc(13);
    struct arrow_span spans[] = {{data, 13}};
    struct arrow_field f = {.name = name, .type = ARROW_UTF8_VIEW};
    uint8_t view[16];
    struct arrow_array a = {.field = &f,
                            .storage = ARROW_UTF8_VIEW,
                            .length = 1,
                            .values = view,
                            .view_buffers = spans};
    int64_t allowance = 0;

    (void)state;
    memset(data, 'x', 13);
    put_view(view, 13, "xxxx", 0, 0);
    assert_int_equal(check_view_utf8(&a, 1, &allowance), -1);
}

/* Many views of one invalid buffer would be looked at one by one: the allowance ends that. */
static void overlapping_views_run_out(void **state)
{
    static uint8_t data[1001], views[100 * 16];
    struct arrow_span spans[] = {{data, sizeof(data)}};
    struct arrow_field f = {.name = name, .type = ARROW_UTF8_VIEW};
    struct arrow_array a = {.field = &f,
                            .storage = ARROW_UTF8_VIEW,
                            .length = 100,
                            .values = views,
                            .view_buffers = spans};
    int64_t allowance = 50000;

    (void)state;
    memset(data, 'x', 1000);
    data[1000] = 0xFF; /* never used, but it spoils the whole */
    for (int i = 0; i < 100; i++)
        put_view(views + 16 * i, 1000, "xxxx", 0, 0);
    assert_int_equal(check_view_utf8(&a, 1, &allowance), -2);
    allowance = 100000;
    assert_int_equal(check_view_utf8(&a, 1, &allowance), -1);
    assert_int_equal(allowance, 0);
}

static void indexes_are_checked(void **state)
{
    static const int8_t values[] = {0, 2, -1, 3};
    struct arrow_field f = {.name = name, .type = ARROW_UTF8, .is_dictionary = true};
    uint8_t valid = 0x0F;
    struct arrow_array a = {.field = &f,
                            .storage = ARROW_INT8,
                            .length = 4,
                            .validity = &valid,
                            .values = (const uint8_t *)values};

    (void)state;
    assert_int_equal(check_indexes(&a, 4), 2);
    assert_int_equal(check_indexes(&a, 2), 1);
    valid = 0x0B; /* -1 is null */
    assert_int_equal(check_indexes(&a, 4), -1);
    assert_int_equal(check_indexes(&a, 3), 3);
    valid = 0x03;
    assert_int_equal(check_indexes(&a, 3), -1);
    valid = 0;
    assert_int_equal(check_indexes(&a, 0), -1);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(integers_of_all_widths),
    cmocka_unit_test(floats),
    cmocka_unit_test(forgiving),
    cmocka_unit_test(structs_mask),
    cmocka_unit_test(dates),
    cmocka_unit_test(timestamps),
    cmocka_unit_test(times_and_durations),
    cmocka_unit_test(decimals),
    cmocka_unit_test(text_of_all_kinds),
    cmocka_unit_test(dictionary_of_parts),
    cmocka_unit_test(values_as_json),
    cmocka_unit_test(dictionary_values_as_json),
    cmocka_unit_test(full_buffer_stops),
    cmocka_unit_test(offsets_are_checked),
    cmocka_unit_test(utf8_is_checked),
    cmocka_unit_test(utf8_in_long_text),
    cmocka_unit_test(views_are_checked),
    cmocka_unit_test(view_to_the_end),
    cmocka_unit_test(overlapping_views_run_out),
    cmocka_unit_test(indexes_are_checked),
};
TEST_MAIN(tests)
