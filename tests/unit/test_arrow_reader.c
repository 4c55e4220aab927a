/*
 * Streams made by hand: what the golden files do not have, and what no honest file has.
 */
#include "harness.h"

#include "arrow_make.h"
#include "arrow_rows.h"
#include "base/alloc.h"
#include "base/fs.h"

#include <errno.h>
#include <sys/stat.h>

#define GOLDEN(name) FIXTURES "/hf/" name "/data-00000-of-00001.arrow"

static int reset(void **state)
{
    (void)state;
    mk_version = 4;
    mk_is_legacy = false;
    mk_endianness = 0;
    mk_meta_key = mk_meta_text = NULL;
    return 0;
}

/* Releases the stream. */
static void expect_rows(struct buf *stream, const char *expected)
{
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    AUTO_FREE char *exact = xmemdup(stream->data, stream->len);
    struct err err = {0};

    assert_ok(rows_of_memory(exact, stream->len, &rows, &err), &err);
    assert_string_equal(buf_str(&rows), expected);
    buf_release(stream);
}

static void expect_error(struct buf *stream, int code, const char *part)
{
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
    AUTO_FREE char *exact = xmemdup(buf_str(stream), stream->len);
    struct err err = {0};

    assert_fails(rows_of_memory(exact, stream->len, &rows, &err), code, &err, part);
    assert_non_null(strstr(err.text, "test: byte "));
    assert_int_equal(err.code, -code);
    /* nobody has to want the words */
    assert_int_equal(rows_of_memory(exact, stream->len, &rows, NULL), -code);
    buf_release(stream);
}

/* One column of one batch; the batch is released. */
static void one_column(struct buf *stream, const struct mk_field *field, struct mk_batch *b)
{
    buf_init(stream, 1 << 28);
    mk_schema(stream, field, 1);
    mk_record(stream, b);
}

/* int32 values, with nulls where `valid` has no bit. */
static struct mk_batch int32_batch(const int32_t *values, int64_t n, const char *valid)
{
    struct mk_batch b = mk_batch(n);

    mk_node(&b, n, valid ? 1 : 0);
    mk_buffer(&b, valid, valid ? 1 : 0);
    mk_buffer(&b, values, 4 * (size_t)n);
    return b;
}

static const struct mk_field int32_field = {.name = "x", MK_INT(32, true)};

static void framings(void **state)
{
    static const int32_t v[] = {1, 2, 3};
    struct buf stream;
    struct mk_batch b;

    (void)state;
    for (int version = 3; version <= 4; version++) {
        for (int legacy = 0; legacy < 2; legacy++) {
            for (int end = 0; end < 3; end++) {
                mk_version = version;
                mk_is_legacy = legacy;
                b = int32_batch(v, 3, "\x05");
                one_column(&stream, &int32_field, &b);
                b = int32_batch(v, 1, NULL);
                mk_record(&stream, &b);
                if (end > 0)
                    mk_end(&stream);
                if (end > 1) /* whatever follows the end is not looked at */
                    buf_adds(&stream, "garbage \xFF\xFF\xFF\xFF that is no message");
                expect_rows(&stream, "{\"x\":1}\n{\"x\":null}\n{\"x\":3}\n{\"x\":1}\n");
            }
        }
    }
    /* a plain zero ends the newer framing too */
    reset(NULL);
    b = int32_batch(v, 1, NULL);
    one_column(&stream, &int32_field, &b);
    buf_add_zeros(&stream, 4);
    expect_rows(&stream, "{\"x\":1}\n");
}

static void versions_and_byte_order(void **state)
{
    struct mk_batch b = int32_batch((int32_t[]){1}, 1, NULL);
    struct buf stream;

    (void)state;
    mk_version = 2;
    one_column(&stream, &int32_field, &b);
    expect_error(&stream, EBADMSG, "metadata version V3 is not read");
    mk_version = 5;
    b = int32_batch((int32_t[]){1}, 1, NULL);
    one_column(&stream, &int32_field, &b);
    expect_error(&stream, EBADMSG, "metadata version V6 is not read");
    reset(NULL);
    mk_endianness = 1;
    b = int32_batch((int32_t[]){1}, 1, NULL);
    one_column(&stream, &int32_field, &b);
    expect_error(&stream, EBADMSG, "big-endian data is not read");
}

static void schema_of_a_stream(void **state)
{
    const struct mk_field fields[] = {
        {.name = "", MK_INT(32, true)},
        {.name = "t", MK_TIMESTAMP(2), .zone = "Europe/Paris"},
        {.name = "d", MK_DECIMAL(10, 2, 256)},
        {.name = "l", MK_LIST, MK_CHILDREN({.name = "i", MK_FIXED_BINARY(7)})},
        {.name = "c", MK_UTF8, MK_DICTIONARY(9, 0, false)}};
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    AUTO(buf) struct buf stream = BUF_INIT(1 << 20);
    const struct arrow_field *f;
    const struct arrow_array *batch;
    struct err err = {0};
    char text[ARROW_TYPE_NAME_MAX];

    (void)state;
    mk_meta_key = "huggingface";
    mk_meta_text = "{\"info\": 1}";
    mk_schema(&stream, fields, 5);
    assert_ok(arrow_reader_open_memory(stream.data, stream.len, "test", &r, &err), &err);
    assert_string_equal(arrow_reader_schema(r)->huggingface, "{\"info\": 1}");
    f = arrow_reader_schema(r)->root.children;
    assert_int_equal(arrow_reader_schema(r)->root.n_children, 5);
    assert_string_equal(f[0].name, "");
    assert_string_equal(arrow_type_name(&f[0], text), "int32");
    assert_string_equal(arrow_type_name(&f[1], text), "timestamp[us, tz=Europe/Paris]");
    assert_string_equal(arrow_type_name(&f[2], text), "decimal256(10, 2)");
    assert_string_equal(arrow_type_name(&f[3], text), "list");
    assert_string_equal(arrow_type_name(&f[3].children[0], text), "fixed_size_binary[7]");
    assert_true(f[4].is_dictionary);
    assert_int_equal(f[4].index_type, ARROW_INT32);
    assert_int_equal(f[4].dictionary_id, 9);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 0);
}

/* Every fixed-width and bit type that the golden files lack. */
static void fixed_types(void **state)
{
    static const struct {
        struct mk_field field;
        const char *bytes;
        size_t n;
        const char *json;
    } cases[] = {
        {{.name = "x", MK_FIXED_BINARY(3)}, "abcdef", 6, "\"YWJj\" \"ZGVm\""},
        {{.name = "x", MK_FIXED_BINARY(0)}, "", 0, "\"\" \"\""},
        {{.name = "x", MK_DECIMAL(5, 1, 32)}, "\x0C\0\0\0\xFF\xFF\xFF\xFF", 8, "\"1.2\" \"-0.1\""},
        {{.name = "x", MK_DECIMAL(9, 0, 64)},
         "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0",
         16,
         "\"1\" \"2\""},
        {{.name = "x", MK_TIME(1, 32)}, "\1\0\0\0\2\0\0\0", 8, "\"00:00:00.001\" \"00:00:00.002\""},
        {{.name = "x", MK_TIME(3, 64)},
         "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0",
         16,
         "\"00:00:00.000000001\" \"00:00:00.000000002\""},
        {{.name = "x", MK_DURATION(0)},
         "\1\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0",
         16,
         "\"PT1S\" \"PT2S\""},
        {{.name = "x", MK_DATE(0)}, "\1\0\0\0\2\0\0\0", 8, "\"1970-01-02\" \"1970-01-03\""},
        {{.name = "x", MK_FLOAT(0)}, "\0\x3C\0\xC0", 4, "1.0 -2.0"},
        {{.name = "x", MK_INT(8, false)}, "\xFF\1", 2, "255 1"},
        {{.name = "x", MK_BOOL}, "\x02", 1, "false true"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk_batch b = mk_batch(2);
        struct buf stream;
        AUTO_FREE char *expected = NULL;
        size_t space = strcspn(cases[i].json, " ");

        mk_node(&b, 2, 0);
        mk_buffer(&b, NULL, 0);
        mk_buffer(&b, cases[i].bytes, cases[i].n);
        one_column(&stream, &cases[i].field, &b);
        expected = xasprintf("{\"x\":%.*s}\n{\"x\":%s}\n", (int)space, cases[i].json,
                             cases[i].json + space + 1);
        expect_rows(&stream, expected);
    }
}

/* The same rows through every way to store a body. */
static void compressed_bodies(void **state)
{
    static const struct mk_field fields[] = {{.name = "a", MK_UTF8},
                                             {.name = "b", MK_INT(64, true)}};
    static const int codecs[] = {MK_RAW, MK_LZ4, MK_ZSTD, MK_STORED};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct buf stream = BUF_INIT(1 << 20);
        struct mk_batch b = mk_batch(3);

        b.codec = codecs[i];
        mk_schema(&stream, fields, 2);
        mk_texts(&b, (const char *const[]){"one", "", "three"}, 3);
        mk_node(&b, 3, 1);
        mk_buffer(&b, "\x03", 1);
        mk_buffer(&b, (int64_t[]){INT64_MAX, INT64_MIN, 0}, 24);
        mk_record(&stream, &b);
        b = mk_batch(0);
        b.codec = codecs[i];
        mk_texts(&b, NULL, 0);
        mk_node(&b, 0, 0);
        mk_buffer(&b, NULL, 0);
        mk_buffer(&b, NULL, 0);
        mk_record(&stream, &b);
        expect_rows(&stream, "{\"a\":\"one\",\"b\":9223372036854775807}\n"
                             "{\"a\":\"\",\"b\":-9223372036854775808}\n"
                             "{\"a\":\"three\",\"b\":null}\n");
    }
}

/* Bodies whose buffers hold more than the rows need: the rest is not decompressed. */
static void compressed_slack(void **state)
{
    struct mk_batch b = mk_batch(1);
    struct buf stream;

    (void)state;
    b.codec = MK_ZSTD;
    mk_node(&b, 1, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, (int32_t[]){7, 8, 9, 10}, 16);
    one_column(&stream, &int32_field, &b);
    expect_rows(&stream, "{\"x\":7}\n");
}

static struct mk_batch color_batch(const char *indexes, size_t n)
{
    struct mk_batch b = mk_batch((int64_t)n);

    mk_node(&b, (int64_t)n, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, indexes, n);
    return b;
}

static void add_colors(struct buf *stream, const char *const *colors, size_t n, bool is_delta)
{
    struct mk_batch b = mk_batch((int64_t)n);

    mk_texts(&b, colors, n);
    mk_dictionary(stream, &b, 5, is_delta);
}

static const struct mk_field color_field = {.name = "c", MK_UTF8, MK_DICTIONARY(5, 8, true)};

static void dictionaries(void **state)
{
    struct buf stream = BUF_INIT(1 << 20);
    struct mk_batch b;

    (void)state;
    mk_schema(&stream, &color_field, 1);
    add_colors(&stream, (const char *const[]){"red", "green"}, 2, false);
    b = color_batch("\1\0", 2);
    mk_record(&stream, &b);
    add_colors(&stream, (const char *const[]){"blue"}, 1, true); /* more of it */
    add_colors(&stream, NULL, 0, true);
    add_colors(&stream, (const char *const[]){"cyan", "pink"}, 2, true);
    b = color_batch("\2\4\0\3\1", 5);
    mk_record(&stream, &b);
    add_colors(&stream, (const char *const[]){"black"}, 1, false); /* another one instead */
    b = color_batch("\0", 1);
    mk_record(&stream, &b);
    expect_rows(&stream, "{\"c\":\"green\"}\n{\"c\":\"red\"}\n"
                         "{\"c\":\"blue\"}\n{\"c\":\"pink\"}\n{\"c\":\"red\"}\n{\"c\":\"cyan\"}\n"
                         "{\"c\":\"green\"}\n{\"c\":\"black\"}\n");
}

/* Every index type; the dictionary compressed; two columns that share it; null indexes; a null in
 * the dictionary. */
static void dictionary_indexes(void **state)
{
    static const int bits[] = {8, 16, 32, 64};

    (void)state;
    for (int i = 0; i < 8; i++) {
        const struct mk_field fields[] = {
            {.name = "a", MK_INT(64, true), MK_DICTIONARY(1, bits[i / 2], i % 2)},
            {.name = "b", MK_INT(64, true), MK_DICTIONARY(1, 32, true)}};
        size_t width = (size_t)bits[i / 2] / 8;
        struct buf stream = BUF_INIT(1 << 20);
        struct mk_batch b = mk_batch(3);
        uint8_t indexes[24] = {0};

        indexes[0] = 2;
        indexes[width] = 1;
        memset(indexes + 2 * width, 0xFF, width); /* null, so nobody minds */
        mk_schema(&stream, fields, 2);
        b.codec = MK_LZ4;
        mk_node(&b, 3, 1);
        mk_buffer(&b, "\x05", 1);
        mk_buffer(&b, (int64_t[]){70, 71, 72}, 24);
        mk_dictionary(&stream, &b, 1, false);
        b = mk_batch(3);
        mk_node(&b, 3, 1);
        mk_buffer(&b, "\x03", 1);
        mk_buffer(&b, indexes, 3 * width);
        mk_node(&b, 3, 0);
        mk_buffer(&b, NULL, 0);
        mk_buffer(&b, (int32_t[]){0, 0, 2}, 12);
        mk_record(&stream, &b);
        expect_rows(&stream, "{\"a\":72,\"b\":70}\n{\"a\":null,\"b\":70}\n{\"a\":null,\"b\":72}\n");
    }
}

static void dictionary_errors(void **state)
{
    const struct mk_field two_types[] = {{.name = "a", MK_UTF8, MK_DICTIONARY(1, 8, true)},
                                         {.name = "b", MK_BINARY, MK_DICTIONARY(1, 8, true)}};
    const struct mk_field nested = {
        .name = "a", MK_STRUCT, MK_DICTIONARY(1, 8, true), MK_CHILDREN({.name = "b", MK_UTF8})};
    struct buf stream = BUF_INIT(1 << 20);
    struct mk_batch b = color_batch("\0", 1);

    (void)state;
    mk_schema(&stream, &color_field, 1);
    mk_record(&stream, &b);
    expect_error(&stream, EBADMSG, "column 'c': dictionary 5 is missing");

    mk_schema(&stream, &color_field, 1);
    add_colors(&stream, (const char *const[]){"red", "green"}, 2, false);
    b = color_batch("\1\2", 2);
    mk_record(&stream, &b);
    expect_error(&stream, EBADMSG, "value 1 has index 2 in a dictionary of 2");

    mk_schema(&stream, &color_field, 1);
    add_colors(&stream, (const char *const[]){"red", "green"}, 2, false);
    b = color_batch("\xFF", 1);
    mk_record(&stream, &b);
    expect_error(&stream, EBADMSG, "value 0 has index -1 in a dictionary of 2");

    mk_schema(&stream, &color_field, 1);
    add_colors(&stream, (const char *const[]){"red"}, 1, true);
    expect_error(&stream, EBADMSG, "more of dictionary 5, of which there is nothing yet");

    mk_schema(&stream, &int32_field, 1);
    add_colors(&stream, (const char *const[]){"red"}, 1, false);
    expect_error(&stream, EBADMSG, "dictionary 5 is not in the schema");

    mk_schema(&stream, &color_field, 1);
    b = mk_batch(3);
    mk_texts(&b, (const char *const[]){"red", "green"}, 2);
    mk_dictionary(&stream, &b, 5, false);
    expect_error(&stream, EBADMSG, "column 'c': 2 values in a dictionary of 3");

    mk_schema(&stream, &color_field, 1); /* a bad one in place of a good one */
    add_colors(&stream, (const char *const[]){"red"}, 1, false);
    add_colors(&stream, (const char *const[]){"\xFF"}, 1, false);
    expect_error(&stream, EBADMSG, "column 'c': value 0 is not valid UTF-8");

    mk_schema(&stream, two_types, 2);
    expect_error(&stream, EBADMSG, "one dictionary is used for two types");
    mk_schema(&stream, &nested, 1);
    expect_error(&stream, ENOTSUP, "column 'a': a dictionary of structs or lists is not read");
}

/* All indexes null needs no dictionary. */
static void dictionary_not_needed(void **state)
{
    struct buf stream = BUF_INIT(1 << 20);
    struct mk_batch b = mk_batch(1);

    (void)state;
    mk_schema(&stream, &color_field, 1);
    mk_node(&b, 1, 1);
    mk_buffer(&b, "\0", 1);
    mk_buffer(&b, "\7", 1);
    mk_record(&stream, &b);
    expect_rows(&stream, "{\"c\":null}\n");
}

static void views(void **state)
{
    const struct mk_field fields[] = {{.name = "u", MK_UTF8_VIEW}, {.name = "b", MK_BINARY_VIEW}};
    static const uint8_t table[4][16] = {{5, 0, 0, 0, 's', 'h', 'o', 'r', 't'},
                                         {13, 0, 0, 0, 'a', 'b', 'c', 'd', 1, 0, 0, 0, 2, 0, 0, 0},
                                         {0xFF, 0xFF, 0xFF, 0xFF}, /* under a null */
                                         {14, 0, 0, 0, 'x', 'x', 'x', 'x', 0, 0, 0, 0, 0, 0, 0, 0}};
    static const int codecs[] = {MK_RAW, MK_LZ4};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct buf stream = BUF_INIT(1 << 20);
        struct mk_batch b = mk_batch(4);

        b.codec = codecs[i];
        mk_schema(&stream, fields, 2);
        for (int column = 0; column < 2; column++) {
            mk_node(&b, 4, 1);
            mk_buffer(&b, "\x0B", 1);
            mk_buffer(&b, table, 64);
            mk_buffer(&b, "xxxxxxxxxxxxxx\xC3", 15); /* its last byte is not used */
            mk_buffer(&b, "..abcdefghijklm..", 17);
            b.variadic[b.n_variadic++] = 2;
        }
        mk_record(&stream, &b);
        expect_rows(&stream, "{\"u\":\"short\",\"b\":\"c2hvcnQ=\"}\n"
                             "{\"u\":\"abcdefghijklm\",\"b\":\"YWJjZGVmZ2hpamtsbQ==\"}\n"
                             "{\"u\":null,\"b\":null}\n"
                             "{\"u\":\"xxxxxxxxxxxxxx\",\"b\":\"eHh4eHh4eHh4eHh4eHg=\"}\n");
    }
}

static void view_errors(void **state)
{
    static const struct mk_field field = {.name = "u", MK_UTF8_VIEW};
    static const struct {
        uint8_t view[16];
        int64_t n_buffers;
        const char *part;
    } cases[] = {
        {{13, 0, 0, 0, 0, 0, 0, 0, 1}, 1, "view 0 leads nowhere"},
        {{13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4}, 1, "16 bytes where 17 are needed"},
        {{13, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3}, 1, "value 0 is not valid UTF-8"},
        {{2, 0, 0, 0, 'a', 0xFF}, 1, "value 0 is not valid UTF-8"},
        {{1}, 2, "2 buffers for views, 1 are left"},
        {{1}, -1, "-1 buffers for views"},
        {{1}, 0, "a batch has 1 nodes and 3 buffers, its schema 1 and 2"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf stream = BUF_INIT(1 << 20);
        struct mk_batch b = mk_batch(1);

        mk_node(&b, 1, 0);
        mk_buffer(&b, NULL, 0);
        mk_buffer(&b, cases[i].view, 16);
        mk_buffer(&b, "abcdefghijklmno\xFF", 16);
        b.variadic[b.n_variadic++] = cases[i].n_buffers;
        one_column(&stream, &field, &b);
        expect_error(&stream, EBADMSG, cases[i].part);
    }
    struct mk_batch b = mk_batch(0);
    struct buf stream;

    mk_node(&b, 0, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, NULL, 0);
    one_column(&stream, &field, &b);
    expect_error(&stream, EBADMSG, "does not say how many buffers");
}

/* list<struct<a: fixed_list<int8>[2]>> with nulls at each level; offsets that start late. */
static void nested_lists(void **state)
{
    const struct mk_field field = {
        .name = "l",
        MK_LARGE_LIST,
        MK_CHILDREN({.name = "item",
                     MK_STRUCT,
                     MK_CHILDREN({.name = "a",
                                  MK_FIXED_LIST(2),
                                  MK_CHILDREN({.name = "item", MK_INT(8, true)})})})};
    struct mk_batch b = mk_batch(3);
    struct buf stream;

    (void)state;
    mk_node(&b, 3, 1);
    mk_buffer(&b, "\x05", 1);
    mk_buffer(&b, (int64_t[]){1, 2, 2, 4}, 32);
    mk_node(&b, 4, 1);
    mk_buffer(&b, "\x0B", 1); /* struct 2 is null */
    mk_node(&b, 4, 0);
    mk_buffer(&b, NULL, 0);
    mk_node(&b, 8, 1);
    mk_buffer(&b, "\x7F", 1);
    mk_buffer(&b, "\0\1\2\3\4\5\6\7", 8);
    one_column(&stream, &field, &b);
    expect_rows(&stream,
                "{\"l\":[{\"a\":[2,3]}]}\n{\"l\":null}\n{\"l\":[null,{\"a\":[6,null]}]}\n");
}

/* A null struct hides its children, also where a batch writes values under it. */
static void null_struct_masks(void **state)
{
    const struct mk_field field = {
        .name = "s",
        MK_STRUCT,
        MK_CHILDREN({.name = "i", MK_INT(32, true)},
                    {.name = "d", MK_STRUCT, MK_CHILDREN({.name = "t", MK_UTF8})},
                    {.name = "e", MK_STRUCT})};
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    struct mk_batch b = mk_batch(2);
    const struct arrow_array *batch, *t;
    struct buf stream;
    struct err err = {0};
    const char *text;
    size_t n;

    (void)state;
    mk_node(&b, 2, 1);
    mk_buffer(&b, "\x02", 1);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, (int32_t[]){8, 9}, 8);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_texts(&b, (const char *const[]){"hidden", "seen"}, 2);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    one_column(&stream, &field, &b);
    assert_ok(arrow_reader_open_memory(stream.data, stream.len, "test", &r, &err), &err);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 1);
    t = arrow_child(arrow_child(arrow_child(batch, "s"), "d"), "t");
    assert_true(arrow_is_null(t, 0));
    assert_false(arrow_text(t, 0, &text, &n));
    assert_true(arrow_text(t, 1, &text, &n));
    assert_int_equal(n, 4);
    assert_int_equal(arrow_i64(arrow_child(arrow_child(batch, "s"), "i"), 0, -5), -5);
    assert_int_equal(arrow_i64(arrow_child(arrow_child(batch, "s"), "i"), 1, -5), 9);
    assert_int_equal(arrow_child(batch, "s")->null_count, 1);
    expect_rows(&stream, "{\"s\":null}\n{\"s\":{\"i\":9,\"d\":{\"t\":\"seen\"},\"e\":{}}}\n");
}

static void unread_types_are_named(void **state)
{
    static const struct {
        int type;
        const char *part;
    } cases[] = {{11, "interval"},        {14, "union"},     {17, "map"},
                 {22, "run_end_encoded"}, {25, "list_view"}, {26, "large_list_view"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct mk_field field = {
            .name = "outer", MK_LIST, MK_CHILDREN({.name = "inner", .type = cases[i].type})};
        struct buf stream = BUF_INIT(1 << 20);
        char part[80];

        snprintf(part, sizeof(part), "column 'outer.inner': type %s is not read", cases[i].part);
        mk_schema(&stream, &field, 1);
        expect_error(&stream, ENOTSUP, part);
    }
    for (int type = 27; type < 30; type++) {
        const struct mk_field field = {.name = "x", .type = type};
        struct buf stream = BUF_INIT(1 << 20);

        mk_schema(&stream, &field, 1);
        expect_error(&stream, ENOTSUP, "is unknown");
    }
}

static void schema_errors(void **state)
{
    static const struct {
        struct mk_field field;
        const char *part;
    } cases[] = {
        {{.name = "x", MK_INT(24, true)}, "an integer of impossible width"},
        {{.name = "x", MK_FLOAT(3)}, "a float of impossible width"},
        {{.name = "x", MK_FLOAT(-1)}, "a float of impossible width"},
        {{.name = "x", MK_DECIMAL(3, 0, 96)}, "a decimal of impossible width"},
        {{.name = "x", MK_DECIMAL(3, 129, 128)}, "a decimal of impossible"},
        {{.name = "x", MK_DECIMAL(3, INT32_MIN, 128)}, "a decimal of impossible"},
        {{.name = "x", MK_TIME(0, 64)}, "a time of impossible width"},
        {{.name = "x", MK_TIME(3, 32)}, "a time of impossible width"},
        {{.name = "x", MK_TIMESTAMP(4)}, "an unknown unit of time"},
        {{.name = "x", MK_DURATION(-1)}, "an unknown unit of time"},
        {{.name = "x", MK_DATE(2)}, "an unknown unit of dates"},
        {{.name = "x", MK_FIXED_BINARY(-1)}, "a negative size"},
        {{.name = "x", MK_FIXED_LIST(-2)}, "a negative size"},
        {{.name = "x", MK_LIST}, "a wrong number of children"},
        {{.name = "a\xFF", MK_UTF8}, "not UTF-8"},
        {{.name = "x", MK_TIMESTAMP(0), .zone = "\xC3"}, "not UTF-8"},
        {{.name = "x", MK_UTF8, MK_DICTIONARY(1, 7, true)}, "an integer of impossible width"},
        {{.name = "x",
          MK_TIMESTAMP(0),
          .zone = "Planet/0123456789012345678901234567890123456789012345678901234567890"},
         "a time zone with too long a name"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct buf stream = BUF_INIT(1 << 20);

        mk_schema(&stream, &cases[i].field, 1);
        expect_error(&stream, EBADMSG, cases[i].part);
    }
    const struct mk_field two = {
        .name = "x", MK_LIST, MK_CHILDREN({.name = "a", MK_UTF8}, {.name = "b", MK_UTF8})};
    const struct mk_field leaf = {.name = "x", MK_UTF8, MK_CHILDREN({.name = "a", MK_UTF8})};
    struct buf stream = BUF_INIT(1 << 20);

    mk_schema(&stream, &two, 1);
    expect_error(&stream, EBADMSG, "a wrong number of children");
    mk_schema(&stream, &leaf, 1);
    expect_error(&stream, EBADMSG, "a wrong number of children");
}

static void depth_is_bounded(void **state)
{
    struct mk_field fields[ARROW_DEPTH_MAX + 1];

    (void)state;
    for (int levels = ARROW_DEPTH_MAX; levels <= ARROW_DEPTH_MAX + 1; levels++) {
        struct buf stream = BUF_INIT(1 << 20);

        for (int i = 0; i < levels; i++)
            fields[i] = (struct mk_field){.name = "s", MK_STRUCT};
        for (int i = 0; i + 1 < levels; i++) {
            fields[i].children = &fields[i + 1];
            fields[i].n_children = 1;
        }
        mk_schema(&stream, fields, 1);
        if (levels == ARROW_DEPTH_MAX)
            expect_rows(&stream, "");
        else
            expect_error(&stream, ENOTSUP, "nested deeper than 64 levels");
    }
}

/* Fields that share their tables: 2 children each, 60 levels, in 3 kilobytes of metadata. */
static void shared_tables_do_not_explode(void **state)
{
    struct buf meta = BUF_INIT(1 << 20), stream = BUF_INIT(1 << 20);
    size_t schema = mk_header(&meta, 1, 4, 0), items = mk_vector(&meta, schema, 1, 1, 4);
    size_t second = 0;

    (void)state;
    for (int level = 0; level < 60; level++) {
        size_t field = mk_item_table(&meta, items, 7);

        if (second) {
            uint32_t distance = (uint32_t)(field - second);

            memcpy(meta.data + second, &distance, 4);
        }
        mk_number(&meta, field, 2, 1, 13);
        if (level < 59) {
            items = mk_vector(&meta, field, 5, 2, 4);
            second = items + 4;
        }
    }
    mk_frame(&stream, &meta, NULL, 0);
    expect_error(&stream, EBADMSG, "more fields than the schema has room for");
}

/* One long name for many fields: no more text than the schema deserves. */
static void shared_names_do_not_explode(void **state)
{
    struct buf meta = BUF_INIT(1 << 20), stream = BUF_INIT(1 << 20);
    size_t schema = mk_header(&meta, 1, 4, 0), items = mk_vector(&meta, schema, 1, 100, 4);
    size_t slots[100];
    AUTO_FREE char *name = xcalloc(1, 10001);
    uint32_t n = 10000;

    (void)state;
    memset(name, 'n', 10000);
    for (size_t i = 0; i < 100; i++) {
        size_t field = mk_item_table(&meta, items + 4 * i, 7);

        mk_number(&meta, field, 2, 1, 5);
        mk_mark(&meta, field, 0);
        slots[i] = mk_slot(field, 0);
    }
    for (size_t i = 0; i < 100; i++) {
        uint32_t distance = (uint32_t)(meta.len - slots[i]);

        memcpy(meta.data + slots[i], &distance, 4);
    }
    buf_add(&meta, &n, 4);
    buf_add(&meta, name, 10001);
    mk_frame(&stream, &meta, NULL, 0);
    expect_error(&stream, EBADMSG, "the schema's names are longer than the schema");
}

static void file_format_and_empty(void **state)
{
    struct buf stream = BUF_INIT(1 << 20);

    (void)state;
    buf_add(&stream, "ARROW1\0\0\xFF\xFF\xFF\xFF", 12);
    expect_error(&stream, EBADMSG, "this is the Arrow file format");
    expect_error(&stream, EBADMSG, "the file is empty");
    buf_add_zeros(&stream, 8);
    expect_error(&stream, EBADMSG, "the stream does not start with a schema");
    buf_adds(&stream, "this is only text, and not much of it");
    expect_error(&stream, EBADMSG, "the file ends inside a message of 1936287860 bytes");
    buf_add(&stream, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
    expect_error(&stream, EBADMSG, "a negative length");
    buf_add(&stream, "\xFF\xFF\xFF\xFF\x10", 5);
    expect_error(&stream, EBADMSG, "ends inside the length");
}

static void order_of_messages(void **state)
{
    struct mk_batch b = int32_batch((int32_t[]){1}, 1, NULL);
    struct buf stream = BUF_INIT(1 << 20);
    struct buf meta = BUF_INIT(1 << 20);

    (void)state;
    mk_record(&stream, &b);
    expect_error(&stream, EBADMSG, "the stream does not start with a schema");
    mk_schema(&stream, &int32_field, 1);
    mk_schema(&stream, &int32_field, 1);
    expect_error(&stream, EBADMSG, "a second schema in the stream");
    mk_schema(&stream, &int32_field, 1);
    mk_header(&meta, 4, 1, 0);
    mk_frame(&stream, &meta, NULL, 0);
    expect_error(&stream, EBADMSG, "a message of type 4 is not read");
    mk_schema(&stream, &int32_field, 1);
    mk_header(&meta, 3, 1, INT64_C(1) << 40);
    mk_frame(&stream, &meta, NULL, 0);
    expect_error(&stream, EBADMSG, "the file ends inside a body of 1099511627776 bytes");
    mk_schema(&stream, &int32_field, 1);
    mk_header(&meta, 3, 1, -1);
    mk_frame(&stream, &meta, NULL, 0);
    expect_error(&stream, EBADMSG, "the file ends inside a body of -1 bytes");
}

/* Nodes and buffers that do not fit the schema, the body or each other. */
static void batch_errors(void **state)
{
    static const struct {
        int64_t rows, length, nulls, offset, size;
        const char *part;
    } cases[] = {
        {2, 2, 0, 0, 7, "a buffer has 7 bytes where 8 are needed"},
        {2, 2, 0, 0, 0, "a buffer has 0 bytes where 8 are needed"},
        {2, 2, 0, 8, 1, "a buffer (1 bytes from 8 on) lies outside the body of 8"},
        {2, 2, 0, -8, 8, "lies outside the body"},
        {2, 2, 0, 0, -8, "lies outside the body"},
        {2, 2, 0, INT64_MAX, 8, "lies outside the body"},
        {2, 2, 0, 8, INT64_MAX, "lies outside the body"},
        {2, -2, 0, 0, 8, "0 nulls in -2 values"},
        {2, 2, 3, 0, 8, "3 nulls in 2 values"},
        {2, 2, -2, 0, 8, "-2 nulls in 2 values"},
        {1, 2, 0, 0, 8, "2 values in a batch of 1 rows"},
        {-1, 2, 0, 0, 8, "a batch of -1 rows"},
        {INT64_MAX, INT64_MAX, 0, 0, 8, "bytes where"},
        {INT64_C(1) << 62, INT64_C(1) << 62, 0, 0, 8, "bytes where"},
        {2, 2, 1, 0, 8, "column 'x': a buffer has 0 bytes where 1 are needed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct mk_batch b = mk_batch(cases[i].rows);
        struct buf stream;

        mk_node(&b, cases[i].length, cases[i].nulls);
        mk_buffer_entry(&b, 0, 0);
        mk_buffer_entry(&b, cases[i].offset, cases[i].size);
        buf_add_zeros(&b.body, 8);
        one_column(&stream, &int32_field, &b);
        expect_error(&stream, EBADMSG, cases[i].part);
    }
}

static void wrong_counts(void **state)
{
    struct mk_batch b = mk_batch(0);
    struct buf stream;

    (void)state;
    one_column(&stream, &int32_field, &b);
    expect_error(&stream, EBADMSG, "the batch has only 0 nodes");
    b = mk_batch(0);
    mk_node(&b, 0, 0);
    mk_buffer(&b, NULL, 0);
    one_column(&stream, &int32_field, &b);
    expect_error(&stream, EBADMSG, "the batch has only 1 buffers");
    b = int32_batch((int32_t[]){1}, 1, NULL);
    mk_node(&b, 0, 0);
    one_column(&stream, &int32_field, &b);
    expect_error(&stream, EBADMSG, "a batch has 2 nodes and 2 buffers, its schema 1 and 2");
    b = int32_batch((int32_t[]){1}, 1, NULL);
    b.codec = 7;
    one_column(&stream, &int32_field, &b);
    expect_error(&stream, EBADMSG, "compression 7 is not read");
}

/* A null count of -1 means that nobody counted. */
static void unknown_null_count(void **state)
{
    struct mk_batch b = mk_batch(2);
    struct buf stream;

    (void)state;
    mk_node(&b, 2, -1);
    mk_buffer(&b, "\x02", 1);
    mk_buffer(&b, (int32_t[]){1, 2}, 8);
    one_column(&stream, &int32_field, &b);
    expect_rows(&stream, "{\"x\":null}\n{\"x\":2}\n");
    b = mk_batch(2);
    mk_node(&b, 2, -1);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, (int32_t[]){1, 2}, 8);
    one_column(&stream, &int32_field, &b);
    expect_rows(&stream, "{\"x\":1}\n{\"x\":2}\n");
    b = mk_batch(2); /* and 0 that the bits do not count */
    mk_node(&b, 2, 0);
    mk_buffer(&b, "\x00", 1);
    mk_buffer(&b, (int32_t[]){1, 2}, 8);
    one_column(&stream, &int32_field, &b);
    expect_rows(&stream, "{\"x\":1}\n{\"x\":2}\n");
}

/* Nulls are counted by words of 64 bits and the rest. */
static void nulls_are_counted(void **state)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    static const struct mk_field field = {.name = "x", MK_INT(8, false)};
    const struct arrow_array *batch, *x;
    uint8_t valid[25], values[200];
    struct mk_batch b = mk_batch(197);
    AUTO(buf) struct buf stream = BUF_INIT(0);
    struct err err = {0};
    int64_t nulls = 0;

    (void)state;
    for (int i = 0; i < 200; i++) {
        values[i] = (uint8_t)i;
        if (i % 8 == 0)
            valid[i / 8] = (uint8_t)(i * 37 + 11);
    }
    mk_node(&b, 197, 77); /* not their number: ours counts */
    mk_buffer(&b, valid, 25);
    mk_buffer(&b, values, 197);
    one_column(&stream, &field, &b);
    assert_ok(arrow_reader_open_memory(stream.data, stream.len, "test", &r, &err), &err);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 1);
    x = arrow_child(batch, "x");
    for (int64_t i = 0; i < 197; i++) {
        bool is_null = !(valid[i / 8] >> (i % 8) & 1);

        nulls += is_null;
        assert_int_equal(arrow_is_null(x, i), is_null);
        assert_int_equal(arrow_i64(x, i, -5), is_null ? -5 : i);
    }
    assert_int_equal(x->null_count, nulls);
}

static void absurd_row_counts(void **state)
{
    struct err err = {0};
    int64_t rows = 0;

    (void)state;
    for (int i = 0; i < 2; i++) {
        AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
        AUTO(buf) struct buf stream = BUF_INIT(1 << 20);
        struct mk_batch b;

        mk_schema(&stream, &int32_field, 1);
        for (int k = 0; k < 2; k++) {
            b = mk_batch(i ? INT64_MAX : -1);
            mk_record(&stream, &b);
        }
        assert_ok(arrow_reader_open_memory(stream.data, stream.len, "test", &r, &err), &err);
        assert_fails(arrow_reader_rows(r, &rows, &err), EBADMSG, &err,
                     i ? "more rows than can be counted" : "a batch of -1 rows");
    }
}

/* Views of one megabyte, all the same, in a buffer that is not valid as a whole: each must be
 * looked at. A few may; hundreds would be more work than the file deserves. */
static void overlapping_views(void **state)
{
    static const struct mk_field field = {.name = "u", MK_UTF8_VIEW};
    const int32_t n = 1 << 20;
    AUTO_FREE char *text = xcalloc(1, (size_t)n + 1);
    AUTO_FREE int32_t *table = xcalloc(1000, 16);

    (void)state;
    text[0] = (char)0xFF;
    for (size_t i = 0; i < 1000; i++) {
        table[4 * i] = n;
        table[4 * i + 3] = 1;
    }
    for (int64_t rows = 10; rows <= 1000; rows *= 100) {
        AUTO(buf) struct buf out = BUF_INIT(100);
        struct mk_batch b = mk_batch(rows);
        struct err err = {0};
        struct buf stream;

        mk_node(&b, rows, 0);
        mk_buffer(&b, NULL, 0);
        mk_buffer(&b, table, 16 * (size_t)rows);
        mk_buffer(&b, text, (size_t)n + 1);
        b.variadic[b.n_variadic++] = 1;
        one_column(&stream, &field, &b);
        if (rows == 10) {
            assert_ok(rows_of_memory(stream.data, stream.len, &out, &err), &err);
            buf_release(&stream);
        } else {
            expect_error(&stream, EBADMSG, "column 'u': views overlap too much");
        }
    }
}

static void bad_text(void **state)
{
    static const struct mk_field utf8 = {.name = "t", MK_UTF8},
                                 large = {.name = "t", MK_LARGE_UTF8};
    static const struct {
        int32_t offsets[3];
        const char *text, *part;
    } cases[] = {
        {{0, 2, 4}, "ab\xC3z", "column 't': value 1 is not valid UTF-8"},
        {{0, 3, 2}, "abcd", "offset 2 of 3 falls"},
        {{-1, 2, 4}, "abcd", "offset 0 of 3 falls"},
        {{0, 2, 5}, "abcd", "a buffer has 4 bytes where 5 are needed"},
        {{0, 0, INT32_MAX}, "abcd", "a buffer has 4 bytes where 2147483647 are needed"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        for (int is_large = 0; is_large < 2; is_large++) {
            struct mk_batch b = mk_batch(2);
            struct buf stream;
            int64_t wide[3];

            for (int k = 0; k < 3; k++)
                wide[k] = cases[i].offsets[k];
            mk_node(&b, 2, 0);
            mk_buffer(&b, NULL, 0);
            mk_buffer(&b, is_large ? (const void *)wide : cases[i].offsets, is_large ? 24 : 12);
            mk_buffer(&b, cases[i].text, 4);
            one_column(&stream, is_large ? &large : &utf8, &b);
            expect_error(&stream, EBADMSG, cases[i].part);
        }
    }
}

static void bad_lists(void **state)
{
    const struct mk_field list = {
        .name = "l", MK_LIST, MK_CHILDREN({.name = "item", MK_INT(8, true)})};
    const struct mk_field fixed = {
        .name = "l", MK_FIXED_LIST(3), MK_CHILDREN({.name = "item", MK_INT(8, true)})};
    const struct mk_field record = {
        .name = "s", MK_STRUCT, MK_CHILDREN({.name = "a", MK_INT(8, true)})};
    struct mk_batch b = mk_batch(1);
    struct buf stream;

    (void)state;
    mk_node(&b, 1, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, (int32_t[]){0, 3}, 8);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, "ab", 2);
    one_column(&stream, &list, &b);
    expect_error(&stream, EBADMSG, "column 'l': its lists need 3 items and have 2");
    b = mk_batch(1);
    mk_node(&b, 1, 0);
    mk_buffer(&b, NULL, 0);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, "ab", 2);
    one_column(&stream, &fixed, &b);
    expect_error(&stream, EBADMSG, "column 'l': its lists need 3 items and have 2");
    b = mk_batch(INT64_MAX / 2);
    mk_node(&b, INT64_MAX / 2, 1);
    mk_buffer_entry(&b, 0, 8);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, "ab", 2);
    one_column(&stream, &fixed, &b);
    expect_error(&stream, EBADMSG, "column 'l': a buffer has 8 bytes where");
    b = mk_batch(2);
    mk_node(&b, 2, 0);
    mk_buffer(&b, NULL, 0);
    mk_node(&b, 1, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, "a", 1);
    one_column(&stream, &record, &b);
    expect_error(&stream, EBADMSG, "column 's.a': 1 values in a struct of 2");
}

/* Rows that cost the file nothing: columns of nulls, empty structs, lists of them, no columns. */
static void rows_from_nothing(void **state)
{
    const struct mk_field null = {.name = "n", MK_NULL}, empty = {.name = "e", MK_STRUCT};
    const struct mk_field list = {
        .name = "l", MK_LARGE_LIST, MK_CHILDREN({.name = "item", MK_NULL})};
    const struct mk_field fixed = {
        .name = "f", MK_FIXED_LIST(0), MK_CHILDREN({.name = "item", MK_NULL})};
    const int64_t absurd = INT64_C(1) << 60;
    struct mk_batch b = mk_batch(absurd);
    struct buf stream = BUF_INIT(1 << 20);

    (void)state;
    mk_node(&b, absurd, absurd);
    one_column(&stream, &null, &b);
    expect_error(&stream, EBADMSG, "column 'n': more values (1152921504606846976) than a file");
    b = mk_batch(absurd);
    mk_node(&b, absurd, 0);
    mk_buffer(&b, NULL, 0);
    one_column(&stream, &empty, &b);
    expect_error(&stream, EBADMSG, "more values");
    b = mk_batch(1);
    mk_node(&b, 1, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, (int64_t[]){0, absurd}, 16);
    mk_node(&b, absurd, absurd);
    one_column(&stream, &list, &b);
    expect_error(&stream, EBADMSG, "column 'l.item': more values");
    b = mk_batch(absurd);
    mk_node(&b, absurd, 0);
    mk_buffer(&b, NULL, 0);
    mk_node(&b, 0, 0);
    one_column(&stream, &fixed, &b);
    expect_error(&stream, EBADMSG, "more values");
    buf_init(&stream, 1 << 20);
    mk_schema(&stream, NULL, 0);
    b = mk_batch(absurd);
    mk_record(&stream, &b);
    expect_error(&stream, EBADMSG, "more values");
    /* a modest number is fine */
    b = mk_batch(3);
    mk_node(&b, 3, 3);
    one_column(&stream, &null, &b);
    expect_rows(&stream, "{\"n\":null}\n{\"n\":null}\n{\"n\":null}\n");
}

/* Compressed bombs: what rows need is bounded by what the file has, whatever a frame could make. */
static void compressed_bombs(void **state)
{
    static const struct mk_field bytes = {.name = "x", MK_INT(8, true)};
    size_t n = (size_t)256 << 20;
    AUTO_FREE char *zeros = xcalloc(1, n);
    struct mk_batch b = mk_batch((int64_t)n);
    struct buf stream;
    int64_t many = INT64_C(1) << 50;

    (void)state;
    b.codec = MK_ZSTD;
    mk_node(&b, (int64_t)n, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, zeros, n);
    one_column(&stream, &bytes, &b);
    assert_true(stream.len < 50000);
    expect_error(&stream, EBADMSG, "column 'x': more values");
    b = mk_batch(many);
    b.codec = MK_LZ4;
    mk_node(&b, many, 0);
    mk_buffer(&b, NULL, 0);
    mk_compressed(&b, "abc", 3, many);
    one_column(&stream, &bytes, &b);
    expect_error(&stream, EBADMSG, "column 'x': more values");
    b = mk_batch(1 << 20); /* a promise within bounds, but not kept */
    b.codec = MK_LZ4;
    mk_node(&b, 1 << 20, 0);
    mk_buffer(&b, NULL, 0);
    mk_compressed(&b, "abc", 3, 1 << 20);
    one_column(&stream, &bytes, &b);
    expect_error(&stream, EBADMSG, "column 'x': compressed data ends before 1048576 bytes");
}

/* Columns over the same bytes: a few may be a way to save space, hundreds are an attack. */
static void shared_buffers_are_paid_for(void **state)
{
    enum { N = 400 };
    AUTO_FREE struct mk_field *fields = xcalloc(N, sizeof(*fields));
    size_t n = (size_t)4 << 20;

    (void)state;
    for (size_t i = 0; i < N; i++)
        fields[i] = (struct mk_field){.name = "x", MK_INT(8, true)};
    for (uint32_t columns = 40; columns <= N; columns *= 10) {
        AUTO(buf) struct buf rows = BUF_INIT(100);
        AUTO(buf) struct buf stream = BUF_INIT(1 << 28);
        struct mk_batch b = mk_batch((int64_t)n);
        struct err err = {0};

        mk_schema(&stream, fields, columns);
        for (uint32_t i = 0; i < columns; i++) {
            mk_node(&b, (int64_t)n, 0);
            mk_buffer_entry(&b, 0, 0);
            mk_buffer_entry(&b, 0, (int64_t)n);
        }
        buf_add_zeros(&b.body, n);
        mk_record(&stream, &b);
        if (columns == 40)
            assert_ok(rows_of_memory(stream.data, stream.len, &rows, &err), &err);
        else
            expect_error(&stream, EBADMSG, "column 'x': more values");
    }
}

/* One large batch, compressed as well as such data is: its own bytes pay for it. */
static void large_compressed_batch(void **state)
{
    static const struct mk_field field = {.name = "x", MK_INT(64, true)};
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    const int64_t n = 18 << 20; /* 144 MiB */
    AUTO_FREE int64_t *values = xcalloc((size_t)n, 8);
    AUTO(buf) struct buf stream = BUF_INIT(0);
    struct mk_batch b = mk_batch(n);
    const struct arrow_array *batch;
    struct err err = {0};

    (void)state;
    for (int64_t i = 0; i < n; i++)
        values[i] = i / 16;
    b.codec = MK_LZ4;
    mk_node(&b, n, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, values, (size_t)n * 8);
    one_column(&stream, &field, &b);
    assert_true(stream.len < (size_t)n);
    assert_ok(arrow_reader_open_memory(stream.data, stream.len, "test", &r, &err), &err);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 1);
    assert_int_equal(arrow_i64(&batch->children[0], n - 1, -5), (n - 1) / 16);
}

/* The position is behind the last good message; the end marker does not count. */
static void position(void **state)
{
    AUTO(buf) struct buf stream = BUF_INIT(1 << 20);
    struct mk_batch b = int32_batch((int32_t[]){1}, 1, NULL);
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    const struct arrow_array *batch;
    struct err err = {0};
    size_t after_schema, after_first, after_second;
    int64_t rows = -1;

    (void)state;
    mk_schema(&stream, &int32_field, 1);
    after_schema = stream.len;
    mk_record(&stream, &b);
    after_first = stream.len;
    b = int32_batch((int32_t[]){2, 3}, 2, NULL);
    mk_record(&stream, &b);
    after_second = stream.len;
    mk_end(&stream);
    assert_ok(arrow_reader_open_memory(stream.data, stream.len, "test", &r, &err), &err);
    assert_int_equal(arrow_reader_position(r), after_schema);
    assert_ok(arrow_reader_rows(r, &rows, &err), &err);
    assert_int_equal(rows, 3);
    assert_int_equal(arrow_reader_position(r), after_schema);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 1);
    assert_int_equal(arrow_reader_position(r), after_first);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 1);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 0);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 0);
    assert_int_equal(arrow_reader_position(r), after_second);
    /* torn anywhere in the second batch: what came before stays good, the error repeats */
    for (size_t n = after_first + 1; n < after_second; n++) {
        AUTO_FREE char *torn = xmemdup(stream.data, n);

        arrow_reader_close(STEAL(r));
        assert_ok(arrow_reader_open_memory(torn, n, "test", &r, &err), &err);
        assert_int_equal(arrow_reader_rows(r, &rows, &err), -EBADMSG);
        assert_int_equal(arrow_reader_next(r, &batch, &err), 1);
        assert_int_equal(arrow_reader_next(r, &batch, &err), -EBADMSG);
        assert_int_equal(arrow_reader_next(r, &batch, &err), -EBADMSG);
        assert_int_equal(arrow_reader_position(r), after_first);
        arrow_reader_close(STEAL(r));
    }
}

static void files(void **state)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    const struct arrow_array *batch;
    struct err err = {0};
    char dir[64];
    AUTO_FREE char *path = NULL;
    const char *text;
    size_t n;

    (void)state;
    assert_ok(arrow_reader_open(AT_FDCWD, GOLDEN("input_basic"), &r, &err), &err);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 1);
    assert_int_equal(batch->length, 10);
    assert_true(arrow_text(arrow_child(batch, "answer"), 9, &text, &n));
    assert_memory_equal(text, "81", 2);
    assert_int_equal(arrow_reader_next(r, &batch, &err), 0);
    arrow_reader_close(STEAL(r));

    make_temp_dir(dir);
    assert_fails(arrow_reader_open(AT_FDCWD, dir, &r, &err), EINVAL, &err, "is not a regular file");
    path = xasprintf("%s/x", dir);
    assert_fails(arrow_reader_open(AT_FDCWD, path, &r, &err), ENOENT, &err, "cannot open");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_fails(arrow_reader_open(AT_FDCWD, path, &r, &err), EINVAL, &err,
                 "is not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mknod(path, S_IFREG | 0600, 0), 0);
    assert_fails(arrow_reader_open(AT_FDCWD, path, &r, &err), EBADMSG, &err,
                 "byte 0: the file is empty");
    assert_null(r);
    arrow_reader_close(NULL);
    assert_ok(fs_remove_tree(AT_FDCWD, dir, &err), &err);
}

/* However long names and paths are, the words and the byte are in the message. */
static void long_names_in_errors(void **state)
{
    AUTO_FREE char *name = xcalloc(1, 501);
    struct mk_field leaf = {.name = name, MK_INT(32, true)};
    struct mk_field outer = {.name = "outer", MK_STRUCT, .children = &leaf, .n_children = 1};
    AUTO_PTR(arrow_reader) struct arrow_reader *r = NULL;
    struct mk_batch b = mk_batch(1);
    AUTO(buf) struct buf stream = BUF_INIT(0);
    const struct arrow_array *batch;
    struct err err = {0};

    (void)state;
    memset(name, 'n', 500);
    mk_node(&b, 1, 0);
    mk_buffer(&b, NULL, 0);
    mk_node(&b, 1, 0);
    mk_buffer(&b, NULL, 0);
    mk_buffer(&b, "abc", 3);
    one_column(&stream, &outer, &b);
    assert_ok(arrow_reader_open_memory(stream.data, stream.len, name, &r, &err), &err);
    assert_fails(arrow_reader_next(r, &batch, &err), EBADMSG, &err,
                 "column '...': a buffer has 3 bytes where 4 are needed");
    assert_non_null(strstr(err.text, "nnn: byte "));
    leaf.type = 17;
    buf_clear(&stream);
    mk_schema(&stream, &outer, 1);
    assert_fails(rows_of_memory(stream.data, stream.len, NULL, &err), ENOTSUP, &err,
                 "nnn...': type map is not read");
}

#define TEST(name) cmocka_unit_test_setup(name, reset)

static const struct CMUnitTest tests[] = {
    TEST(framings),
    TEST(versions_and_byte_order),
    TEST(schema_of_a_stream),
    TEST(fixed_types),
    TEST(compressed_bodies),
    TEST(compressed_slack),
    TEST(dictionaries),
    TEST(dictionary_indexes),
    TEST(dictionary_errors),
    TEST(dictionary_not_needed),
    TEST(views),
    TEST(view_errors),
    TEST(nested_lists),
    TEST(null_struct_masks),
    TEST(unread_types_are_named),
    TEST(schema_errors),
    TEST(depth_is_bounded),
    TEST(shared_tables_do_not_explode),
    TEST(shared_names_do_not_explode),
    TEST(file_format_and_empty),
    TEST(order_of_messages),
    TEST(batch_errors),
    TEST(wrong_counts),
    TEST(unknown_null_count),
    TEST(nulls_are_counted),
    TEST(absurd_row_counts),
    TEST(overlapping_views),
    TEST(bad_text),
    TEST(bad_lists),
    TEST(rows_from_nothing),
    TEST(compressed_bombs),
    TEST(shared_buffers_are_paid_for),
    TEST(large_compressed_batch),
    TEST(position),
    TEST(files),
    TEST(long_names_in_errors),
};
TEST_MAIN(tests)
