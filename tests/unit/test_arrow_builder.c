#include "harness.h"

#include "arrow/builder.h"
#include "base/cleanup.h"

#include <errno.h>
#include <sys/mman.h>

/* The columns of most tests, and their field numbers. */
enum {
    F_INT,
    F_REAL,
    F_FLAG,
    F_TEXT,
    F_REQUEST,
    F_INDEX,
    F_REASONS,
    F_REASON,
    F_NOTHING,
    N_FIELDS
};

static struct arrow_builder *make_builder(void)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    struct arrow_builder *b = NULL;
    struct arrow_field *req;
    struct err err = {0};

    arrow_schema_init(&s);
    arrow_field_add(&s.root, "int", ARROW_INT64);
    arrow_field_add(&s.root, "real", ARROW_FLOAT64);
    arrow_field_add(&s.root, "flag", ARROW_BOOL);
    arrow_field_add(&s.root, "text", ARROW_UTF8);
    req = arrow_field_add(&s.root, "request", ARROW_STRUCT);
    arrow_field_add(req, "index", ARROW_INT64);
    arrow_field_add(arrow_field_add(req, "reasons", ARROW_LIST), "item", ARROW_UTF8);
    arrow_field_add(&s.root, "nothing", ARROW_NULL);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    assert_int_equal(arrow_builder_count(b), N_FIELDS);
    return b;
}

static void put_row_with(struct arrow_builder *b, int64_t i, const char *text, size_t n)
{
    arrow_put_i64(arrow_builder_column(b, F_INT), i);
    arrow_put_f64(arrow_builder_column(b, F_REAL), (double)i / 4);
    arrow_put_bool(arrow_builder_column(b, F_FLAG), i % 3 == 0);
    arrow_put_text(arrow_builder_column(b, F_TEXT), text, n);
    arrow_put_struct(arrow_builder_column(b, F_REQUEST));
    arrow_put_i64(arrow_builder_column(b, F_INDEX), -i);
    arrow_put_list(arrow_builder_column(b, F_REASONS), (size_t)i % 3);
    for (int64_t k = 0; k < i % 3; k++)
        arrow_put_text(arrow_builder_column(b, F_REASON), text + k, 3);
    arrow_put_null(arrow_builder_column(b, F_NOTHING));
}

static void put_row(struct arrow_builder *b, int64_t i)
{
    char text[32];

    snprintf(text, sizeof(text), "text %d", (int)i);
    put_row_with(b, i, text, strlen(text));
}

static void put_nulls(struct arrow_builder *b)
{
    for (size_t i = 0; i < N_FIELDS; i++)
        if (i != F_INDEX && i != F_REASONS && i != F_REASON)
            arrow_put_null(arrow_builder_column(b, i));
}

/* All spans of a builder in one block: what must not change when a row is rolled back. */
static void snapshot(const struct arrow_builder *b, struct buf *out)
{
    const struct arrow_column *columns = arrow_builder_columns(b);

    buf_clear(out);
    for (size_t i = 0; i < arrow_builder_count(b); i++) {
        struct arrow_buffer spans[ARROW_SPANS_MAX];
        size_t n = arrow_column_spans(&columns[i], spans);

        buf_addf(out, "|%zu %zu %zu:", columns[i].len, arrow_column_nulls(&columns[i]),
                 columns[i].extent);
        for (size_t k = 0; k < n; k++)
            buf_add(out, spans[k].data, spans[k].bytes);
    }
}

static void holds_exact_bytes(void **state)
{
    AUTO_PTR(arrow_builder) struct arrow_builder *b = make_builder();
    const struct arrow_column *c = arrow_builder_columns(b);
    struct arrow_buffer s[ARROW_SPANS_MAX];
    struct err err = {0};

    (void)state;
    put_row(b, 0);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    put_nulls(b);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    put_row(b, 2);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    assert_int_equal(arrow_builder_rows(b), 3);

    assert_int_equal(arrow_column_spans(&c[F_INT], s), 2);
    assert_int_equal(s[0].bytes, 1);
    assert_memory_equal(s[0].data, "\x05", 1);
    assert_int_equal(s[1].bytes, 24);
    assert_memory_equal(s[1].data, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0", 24);
    assert_int_equal(arrow_column_spans(&c[F_REAL], s), 2);
    assert_memory_equal((const char *)s[1].data + 8, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xE0\x3F", 16);
    assert_int_equal(arrow_column_spans(&c[F_FLAG], s), 2);
    assert_int_equal(s[1].bytes, 1);
    assert_memory_equal(s[1].data, "\x01", 1);
    assert_int_equal(arrow_column_spans(&c[F_TEXT], s), 3);
    assert_int_equal(s[1].bytes, 16);
    assert_memory_equal(s[1].data, "\0\0\0\0\6\0\0\0\6\0\0\0\x0C\0\0\0", 16);
    assert_int_equal(s[2].bytes, 12);
    assert_memory_equal(s[2].data, "text 0text 2", 12);
    assert_int_equal(arrow_column_spans(&c[F_REQUEST], s), 1);
    assert_memory_equal(s[0].data, "\x05", 1);
    assert_int_equal(arrow_column_nulls(&c[F_INDEX]), 1);
    assert_int_equal(arrow_column_spans(&c[F_REASONS], s), 2);
    assert_memory_equal(s[1].data, "\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0", 16);
    assert_int_equal(c[F_REASON].len, 2);
    assert_int_equal(arrow_column_spans(&c[F_REASON], s), 3);
    assert_int_equal(s[0].bytes, 0); /* no null: no bitmap */
    assert_memory_equal(s[2].data, "texext", 6);
    assert_int_equal(arrow_column_spans(&c[F_NOTHING], s), 0);
    assert_int_equal(arrow_column_nulls(&c[F_NOTHING]), 3);
    /* int 32, real 32, flag 16, text 8+16+16, request 8, index 32, reasons 8+16, reason 16+8 */
    assert_int_equal(arrow_builder_bytes(b), 32 + 32 + 16 + 40 + 8 + 32 + 24 + 24);
}

/* The first null comes at any place of a byte, and later values are marked again. */
static void bitmap_begins_at_the_first_null(void **state)
{
    (void)state;
    for (int first = 0; first < 70; first++) {
        AUTO_PTR(arrow_builder) struct arrow_builder *b = make_builder();
        const struct arrow_column *c = arrow_builder_columns(b) + F_INT;
        struct arrow_buffer s[ARROW_SPANS_MAX];
        struct err err = {0};

        for (int i = 0; i < 75; i++) {
            if (i == first || i == 72)
                put_nulls(b);
            else
                put_row(b, i);
            assert_ok(arrow_builder_end_row(b, &err), &err);
        }
        assert_int_equal(arrow_column_nulls(c), 2);
        assert_int_equal(arrow_column_spans(c, s), 2);
        assert_int_equal(s[0].bytes, 10);
        for (int i = 0; i < 80; i++) {
            bool there = ((const uint8_t *)s[0].data)[i / 8] >> i % 8 & 1;

            assert_int_equal(there, i != first && i != 72 && i < 75);
        }
    }
}

static void refuses_unequal_rows(void **state)
{
    AUTO_PTR(arrow_builder) struct arrow_builder *b = make_builder();
    AUTO(buf) struct buf before = BUF_INIT(1 << 20), after = BUF_INIT(1 << 20);
    struct err err = {0};

    (void)state;
    for (int i = 0; i < 9; i++) {
        if (i == 4)
            put_nulls(b);
        else
            put_row(b, i);
        assert_ok(arrow_builder_end_row(b, &err), &err);
    }
    snapshot(b, &before);

    /* one value too few or too many, in each column */
    for (size_t f = 0; f < N_FIELDS; f++) {
        put_row(b, 2);
        if (arrow_builder_columns(b)[f].type == ARROW_STRUCT)
            arrow_put_struct(arrow_builder_column(b, f));
        else
            arrow_put_null(arrow_builder_column(b, f));
        assert_true(arrow_builder_in_row(b));
        assert_fails(arrow_builder_end_row(b, &err), EINVAL, &err, "values, not");
        assert_false(arrow_builder_in_row(b));
        snapshot(b, &after);
        assert_string_equal(buf_str(&before), buf_str(&after));
        assert_int_equal(before.len, after.len);
        assert_memory_equal(before.data, after.data, before.len);
    }
    assert_fails(arrow_builder_end_row(b, &err), EINVAL, &err, "column 'int' (field 0)");
    put_nulls(b);
    arrow_put_list(arrow_builder_column(b, F_REASONS), 1);
    assert_fails(arrow_builder_end_row(b, &err), EINVAL, &err, "'reasons' (field 6)");
    put_row(b, 1);
    arrow_put_text(arrow_builder_column(b, F_REASON), "one more", 8);
    assert_fails(arrow_builder_end_row(b, &err), EINVAL, &err, "'item' (field 7) has 10 values");
    snapshot(b, &after);
    assert_memory_equal(before.data, after.data, before.len);
    assert_int_equal(arrow_builder_rows(b), 9);

    /* and it goes on as if nothing had been */
    put_row(b, 9);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    assert_int_equal(arrow_builder_rows(b), 10);
    assert_int_equal(arrow_column_nulls(&arrow_builder_columns(b)[F_INT]), 1);
}

/* A null that is rolled back leaves a column without nulls, and the next one starts afresh. */
static void rolls_back_the_only_null(void **state)
{
    AUTO_PTR(arrow_builder) struct arrow_builder *b = make_builder();
    const struct arrow_column *c = arrow_builder_columns(b);
    struct arrow_buffer s[ARROW_SPANS_MAX];
    struct err err = {0};

    (void)state;
    put_row(b, 1);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    put_nulls(b);
    arrow_put_bool(arrow_builder_column(b, F_FLAG), true);
    assert_fails(arrow_builder_end_row(b, &err), EINVAL, &err, "flag");
    assert_int_equal(arrow_column_nulls(&c[F_INT]), 0);
    assert_int_equal(arrow_column_nulls(&c[F_NOTHING]), 1);
    assert_int_equal(c[F_FLAG].bits[0], 0);
    put_row(b, 2);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    put_nulls(b);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    arrow_column_spans(&c[F_INT], s);
    assert_memory_equal(s[0].data, "\x03", 1);
    assert_int_equal(arrow_column_nulls(&c[F_INDEX]), 1);
}

/* Text that no offset of 32 bits reaches. The pages behind it are never written, so never there. */
static void refuses_too_much_text(void **state)
{
    AUTO_PTR(arrow_builder) struct arrow_builder *b = make_builder();
    AUTO(buf) struct buf before = BUF_INIT(1 << 20), after = BUF_INIT(1 << 20);
    size_t size = (size_t)INT32_MAX + 1;
    char *huge = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    struct arrow_column *text = arrow_builder_column(b, F_TEXT);
    struct err err = {0};

    (void)state;
    assert_ptr_not_equal(huge, MAP_FAILED);
    put_row(b, 5);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    snapshot(b, &before);
    put_row_with(b, 2, huge, size - 6); /* with "text 5": one byte too many */
    assert_fails(arrow_builder_end_row(b, &err), EFBIG, &err, "'text'");
    snapshot(b, &after);
    assert_memory_equal(before.data, after.data, before.len);
    assert_int_equal(arrow_builder_rows(b), 1);
    assert_true(text->rest->text_cap < 4096); /* nothing was copied */

    /* alone it is too large too, however often; and in a list */
    arrow_builder_clear(b);
    for (int i = 0; i < 2; i++) {
        put_row_with(b, 1, huge, i ? size : SIZE_MAX);
        assert_fails(arrow_builder_end_row(b, &err), EFBIG, &err, "'text'");
    }
    put_row(b, 2);
    arrow_put_text(arrow_builder_column(b, F_REASON), huge, size);
    arrow_put_text(arrow_builder_column(b, F_REASON), huge, size);
    arrow_put_text(arrow_builder_column(b, F_REASON), "small", 5);
    assert_fails(arrow_builder_end_row(b, &err), EFBIG, &err, "'item'");
    put_row(b, 3);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    assert_memory_equal(text->rest->text, "text 3", 6);
    munmap(huge, size);
}

static void refuses_too_many_items(void **state)
{
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(arrow_schema) struct arrow_schema s = {0};
    struct arrow_column *list, *item;
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    arrow_field_add(arrow_field_add(&s.root, "many", ARROW_LIST), "item", ARROW_NULL);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    list = arrow_builder_column(b, 0);
    item = arrow_builder_column(b, 1);
    arrow_put_list(list, 2);
    arrow_put_null(item);
    arrow_put_null(item);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    arrow_put_list(list, INT32_MAX - 1); /* with the two before: one too many */
    assert_fails(arrow_builder_end_row(b, &err), EFBIG, &err, "'many'");
    arrow_put_list(list, SIZE_MAX);
    assert_fails(arrow_builder_end_row(b, &err), EFBIG, &err, "'many'");
    assert_int_equal(list->extent, 2);
    arrow_put_list(list, INT32_MAX - 2); /* fits, but its items did not come */
    assert_fails(arrow_builder_end_row(b, &err), EINVAL, &err, "'item' (field 1) has 2 values");
    assert_int_equal(item->len, 2);
    assert_int_equal(arrow_column_nulls(item), 2);
}

static void stores_valid_utf8_only(void **state)
{
    static const struct {
        const char *text, *stored;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"a long ASCII text with \x80 inside", "a long ASCII text with \xEF\xBF\xBD inside"},
        {"\xC3\xA9\xE4\xB8\x96\xF0\x9F\x98\x80", "\xC3\xA9\xE4\xB8\x96\xF0\x9F\x98\x80"},
        {"\xFF", "\xEF\xBF\xBD"},
        {"\xED\xA0\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"}, /* a lone surrogate */
        {"1234567\xC3", "1234567\xEF\xBF\xBD"},
        {"\xC3(", "\xEF\xBF\xBD("},
        {"\xC1\x81", "\xEF\xBF\xBD\xEF\xBF\xBD"}, /* overlong forms */
        {"\xE0\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xE0\xA4\x85\xEF\xBF\xBD\xED\x9F\xBF", "\xE0\xA4\x85\xEF\xBF\xBD\xED\x9F\xBF"},
        {"\xE4\xB8\x96\xE4\xB8", "\xE4\xB8\x96\xEF\xBF\xBD\xEF\xBF\xBD"},
        {"\xE4\xB8(", "\xEF\xBF\xBD\xEF\xBF\xBD("},
        {"\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"},
        {"\xF4\x90\x80\x80", "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"},
    };
    AUTO(arrow_schema) struct arrow_schema s = {0};

    (void)state;
    arrow_schema_init(&s);
    arrow_field_add(&s.root, "t", ARROW_UTF8);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
        struct arrow_column *c;
        struct err err = {0};

        assert_ok(arrow_builder_new(&s, &b, &err), &err);
        c = arrow_builder_column(b, 0);
        arrow_put_text(c, cases[i].text, strlen(cases[i].text));
        assert_ok(arrow_builder_end_row(b, &err), &err);
        assert_int_equal(c->extent, strlen(cases[i].stored));
        assert_int_equal(arrow_column_nulls(c), 0);
        if (c->extent)
            assert_memory_equal(c->rest->text, cases[i].stored, c->extent);
        arrow_put_text(c, "a\0b", 3); /* NUL is a character like any other */
        arrow_put_text(c, NULL, 9);
        assert_int_equal(c->extent, strlen(cases[i].stored) + 3);
        assert_int_equal(arrow_column_nulls(c), 1);
    }
}

static void clear_keeps_memory(void **state)
{
    AUTO_PTR(arrow_builder) struct arrow_builder *b = make_builder();
    AUTO(buf) struct buf first = BUF_INIT(1 << 20), again = BUF_INIT(1 << 20);
    const struct arrow_column *c = arrow_builder_columns(b);
    const void *values = NULL, *text = NULL;
    struct err err = {0};

    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            if (i % 7 == 3)
                put_nulls(b);
            else
                put_row(b, i);
            assert_ok(arrow_builder_end_row(b, &err), &err);
        }
        snapshot(b, round ? &again : &first);
        if (round) {
            assert_ptr_equal(values, c[F_INT].i64);
            assert_ptr_equal(text, c[F_TEXT].rest->text);
            assert_int_equal(first.len, again.len);
            assert_memory_equal(first.data, again.data, first.len);
        }
        values = c[F_INT].i64;
        text = c[F_TEXT].rest->text;
        put_row(b, 1); /* a row that was begun is forgotten too */
        arrow_builder_clear(b);
        assert_int_equal(arrow_builder_rows(b), 0);
        assert_false(arrow_builder_in_row(b));
        /* two columns of text, one of lists: one offset each */
        assert_int_equal(arrow_builder_bytes(b), 3 * 8);
    }
}

/* The bytes of a column's span, compared with what they must be. */
static void assert_span(const struct arrow_column *c, size_t k, const void *expected, size_t n)
{
    struct arrow_buffer s[ARROW_SPANS_MAX];

    assert_true(k < arrow_column_spans(c, s));
    assert_int_equal(s[k].bytes, n);
    assert_memory_equal(s[k].data, expected, n);
}

/* After any number of rows of nulls: what they are written as, and that a value finds its place. */
static void sleeps_while_there_are_only_nulls(void **state)
{
    static const int rows[] = {0, 1, 7, 8, 9, 31, 32, 33, 1000, 1023, 1024, 1025, 3000};
    static const char zeros[8 * 3001];

    (void)state;
    for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
        AUTO_PTR(arrow_builder) struct arrow_builder *b = make_builder();
        const struct arrow_column *c = arrow_builder_columns(b);
        char values[8 * 3001] = {0}, bits[376] = {0};
        size_t n = (size_t)rows[k];
        struct err err = {0};

        for (size_t i = 0; i < n; i++) {
            put_nulls(b);
            assert_ok(arrow_builder_end_row(b, &err), &err);
        }
        assert_span(&c[F_INT], 0, zeros, (n + 7) / 8);
        assert_span(&c[F_INT], 1, zeros, 8 * n);
        assert_span(&c[F_FLAG], 1, zeros, (n + 7) / 8);
        assert_span(&c[F_TEXT], 1, zeros, 4 * (n + 1));
        assert_span(&c[F_TEXT], 2, "", 0);
        assert_span(&c[F_REQUEST], 0, zeros, (n + 7) / 8);
        assert_span(&c[F_REASONS], 1, zeros, 4 * (n + 1));
        assert_int_equal(c[F_REASON].len, 0);
        put_row(b, 3); /* flag: true; an empty list */
        assert_ok(arrow_builder_end_row(b, &err), &err);
        values[8 * n] = 3;
        bits[n / 8] = (char)(1u << n % 8);
        assert_int_equal(arrow_column_nulls(&c[F_INT]), n);
        assert_int_equal(arrow_column_nulls(&c[F_INDEX]), n);
        assert_int_equal(arrow_column_nulls(&c[F_NOTHING]), n + 1);
        assert_span(&c[F_INT], 0, bits, n ? n / 8 + 1 : 0);
        assert_span(&c[F_INT], 1, values, 8 * (n + 1));
        assert_span(&c[F_FLAG], 1, bits, n / 8 + 1);
        assert_span(&c[F_TEXT], 2, "text 3", 6);
        assert_int_equal(c[F_TEXT].offsets[n], 0);
        assert_int_equal(c[F_TEXT].offsets[n + 1], 6);
    }
}

/* A child that was woken under a struct that still sleeps, by a row that was refused. */
static void a_refused_row_wakes_in_vain(void **state)
{
    AUTO_PTR(arrow_builder) struct arrow_builder *b = make_builder();
    const struct arrow_column *c = arrow_builder_columns(b);
    struct err err = {0};

    (void)state;
    put_nulls(b);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    arrow_put_i64(arrow_builder_column(b, F_INDEX), 5);
    assert_fails(arrow_builder_end_row(b, &err), EINVAL, &err, "int");
    put_nulls(b);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    put_row(b, 2);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    assert_int_equal(arrow_column_nulls(&c[F_INDEX]), 2);
    assert_span(&c[F_INDEX], 0, "\x04", 1);
    assert_span(&c[F_REQUEST], 0, "\x04", 1);
}

static void refuses_what_cannot_be_written(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    struct arrow_builder *b = NULL;
    struct arrow_field *f;
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    f = arrow_field_add(&s.root, "s", ARROW_STRUCT);
    arrow_field_add(f, "when", ARROW_TIMESTAMP);
    assert_fails(arrow_builder_new(&s, &b, &err), ENOTSUP, &err, "'when'");
    f->children[0].type = ARROW_LIST;
    assert_fails(arrow_builder_new(&s, &b, &err), EINVAL, &err, "'when'");
    f->children[0].type = ARROW_UTF8;
    f->children[0].is_dictionary = true;
    assert_fails(arrow_builder_new(&s, &b, &err), EINVAL, &err, "'when'");
    f->children[0].is_dictionary = false;
    arrow_field_add(&f->children[0], "below a text", ARROW_UTF8);
    assert_fails(arrow_builder_new(&s, &b, &err), EINVAL, &err, "'when'");
    assert_null(b);
}

static void limits_nesting(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL, *none = NULL;
    struct arrow_field *f;
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    f = &s.root;
    for (int i = 0; i < 63; i++)
        f = arrow_field_add(f, "level", i % 2 ? ARROW_LIST : ARROW_STRUCT);
    f = arrow_field_add(f, "leaf", ARROW_INT64);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    arrow_put_null(arrow_builder_column(b, 0));
    assert_ok(arrow_builder_end_row(b, &err), &err);
    f->type = ARROW_STRUCT;
    arrow_field_add(f, "leaf", ARROW_INT64);
    assert_fails(arrow_builder_new(&s, &none, &err), E2BIG, &err, "'leaf'");
}

static void works_without_columns(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    assert_int_equal(arrow_builder_rows(b), 1);
    assert_int_equal(arrow_builder_bytes(b), 0);
    arrow_builder_free(NULL);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(holds_exact_bytes),
    cmocka_unit_test(bitmap_begins_at_the_first_null),
    cmocka_unit_test(refuses_unequal_rows),
    cmocka_unit_test(rolls_back_the_only_null),
    cmocka_unit_test(refuses_too_much_text),
    cmocka_unit_test(refuses_too_many_items),
    cmocka_unit_test(stores_valid_utf8_only),
    cmocka_unit_test(clear_keeps_memory),
    cmocka_unit_test(sleeps_while_there_are_only_nulls),
    cmocka_unit_test(a_refused_row_wakes_in_vain),
    cmocka_unit_test(refuses_what_cannot_be_written),
    cmocka_unit_test(limits_nesting),
    cmocka_unit_test(works_without_columns),
};
TEST_MAIN(tests)
