/*
 * Whatever the schema, what is written is read back: random nested schemas, random values, several
 * batches, by a writer and a reader that share no code.
 */
#include "harness.h"

#include "arrow/reader.h"
#include "arrow/writer.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/rng.h"

#define SCHEMAS     400
#define DEPTH_MAX   6
#define COLUMNS_MAX 6
#define ROWS_MAX    40

static struct err err;
static struct rng rng;

static size_t pick(size_t n)
{
    return (size_t)rng_below(&rng, n);
}

static void random_fields(struct arrow_field *parent, size_t n, int depth)
{
    static const enum arrow_type types[] = {ARROW_NULL, ARROW_BOOL,   ARROW_INT64, ARROW_FLOAT64,
                                            ARROW_UTF8, ARROW_STRUCT, ARROW_LIST};

    for (size_t i = 0; i < n; i++) {
        enum arrow_type type = types[pick(depth < DEPTH_MAX ? 7 : 5)];
        struct arrow_field *f;
        char name[40];

        snprintf(name, sizeof(name), "%s%zu", pick(4) ? "f" : "\xC3\xA9.\"", i);
        f = arrow_field_add(parent, name, type);
        if (type == ARROW_STRUCT)
            random_fields(f, pick(4), depth + 1);
        else if (type == ARROW_LIST)
            random_fields(f, 1, depth + 1);
    }
}

static void put_random_text(struct arrow_column *c, struct json_writer *w, const char *key)
{
    static const char *const pieces[] = {"",
                                         "a",
                                         "\xC3\xA9",
                                         "\xE4\xB8\x96",
                                         "\"\\\n",
                                         "\xF0\x9F\x98\x80",
                                         "long text beyond twelve bytes"};
    char text[256] = "";
    size_t used = 0;

    for (size_t n = pick(6); n > 0; n--)
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s", pieces[pick(7)]);
    arrow_put_text(c, text, used);
    jw_text(w, key, text);
}

static void put_random_number(struct arrow_column *c, struct json_writer *w, const char *key)
{
    uint64_t bits = pick(3) ? rng_u64(&rng) : pick(10);
    double real;

    if (c->type == ARROW_INT64) {
        arrow_put_i64(c, (int64_t)bits);
        jw_int(w, key, (int64_t)bits);
        return;
    }
    memcpy(&real, &bits, sizeof(real));
    if (!isfinite(real)) /* JSON cannot say it: see array.h */
        real = 0.5;
    arrow_put_f64(c, real);
    jw_real(w, key, real);
}

/* Puts a random value into the column and writes it as JSON. */
static void put_random(struct arrow_column *c, const struct arrow_field *f, struct json_writer *w,
                       const char *key)
{
    struct arrow_column *child = arrow_column_child(c);
    size_t items;

    if (f->type == ARROW_NULL || pick(4) == 0) {
        arrow_put_null(c);
        jw_null(w, key);
        return;
    }
    switch (f->type) {
    case ARROW_BOOL:
        items = pick(2);
        arrow_put_bool(c, items);
        jw_bool(w, key, items);
        break;
    case ARROW_UTF8:
        put_random_text(c, w, key);
        break;
    case ARROW_STRUCT:
        arrow_put_struct(c);
        jw_begin_object(w, key);
        for (size_t i = 0; i < f->n_children; i++, child = arrow_column_sibling(child))
            put_random(child, &f->children[i], w, f->children[i].name);
        jw_end_object(w);
        break;
    case ARROW_LIST:
        items = pick(4);
        arrow_put_list(c, items);
        jw_begin_array(w, key);
        for (size_t i = 0; i < items; i++)
            put_random(child, &f->children[0], w, NULL);
        jw_end_array(w);
        break;
    default:
        put_random_number(c, w, key);
        break;
    }
}

/* Writes batches of random rows and what they are, a JSON line each. */
static void write_random(const struct arrow_schema *schema, struct buf *stream, struct buf *lines)
{
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    struct arrow_sink sink = arrow_sink_buf(stream);

    assert_ok(arrow_builder_new(schema, &b, &err), &err);
    assert_ok(arrow_write_schema(&sink, schema, &err), &err);
    for (size_t batches = pick(4); batches > 0; batches--) {
        for (size_t rows = pick(ROWS_MAX); rows > 0; rows--) {
            struct json_writer w = json_writer(lines, JSON_LINE);
            struct arrow_column *c = arrow_builder_column(b, 0);

            jw_begin_object(&w, NULL);
            for (size_t i = 0; i < schema->root.n_children; i++, c = arrow_column_sibling(c))
                put_random(c, &schema->root.children[i], &w, schema->root.children[i].name);
            jw_end_object(&w);
            buf_addc(lines, '\n');
            assert_ok(arrow_builder_end_row(b, &err), &err);
        }
        assert_ok(arrow_write_batch(&sink, b, &err), &err);
        arrow_builder_clear(b);
    }
    if (pick(2))
        assert_ok(arrow_write_end(&sink, &err), &err);
}

static void read_lines(const struct arrow_schema *schema, const struct buf *stream,
                       struct buf *lines)
{
    AUTO_PTR(arrow_reader) struct arrow_reader *reader = NULL;
    const struct arrow_array *batch;
    int more;

    assert_ok(arrow_reader_open_memory(stream->data, stream->len, "test", &reader, &err), &err);
    assert_true(arrow_field_equal(&schema->root, &arrow_reader_schema(reader)->root));
    while ((more = arrow_reader_next(reader, &batch, &err)) > 0) {
        for (int64_t i = 0; i < batch->length; i++) {
            struct json_writer w = json_writer(lines, JSON_LINE);

            arrow_value_json(batch, i, &w, NULL);
            buf_addc(lines, '\n');
        }
    }
    assert_ok(more, &err);
}

static void what_is_written_is_read(void **state)
{
    size_t bytes = 0;

    (void)state;
    for (uint64_t seed = 0; seed < SCHEMAS; seed++) {
        AUTO(buf)
        struct buf stream = BUF_INIT(BUF_MAX_OWN), wrote = BUF_INIT(BUF_MAX_OWN),
                   got = BUF_INIT(BUF_MAX_OWN);
        AUTO(arrow_schema) struct arrow_schema schema = {0};

        rng = rng_seed(seed, 0);
        arrow_schema_init(&schema);
        random_fields(&schema.root, 1 + pick(COLUMNS_MAX), 1);
        arrow_schema_describe(&schema);
        write_random(&schema, &stream, &wrote);
        read_lines(&schema, &stream, &got);
        if (strcmp(buf_str(&wrote), buf_str(&got)) != 0)
            fail_msg("seed %d: wrote\n%s\nread\n%s", (int)seed, buf_str(&wrote), buf_str(&got));
        bytes += wrote.len;
    }
    assert_true(bytes > 100000); /* the test did something */
}

static const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read)};
TEST_MAIN(tests)
