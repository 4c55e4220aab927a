#include "harness.h"

#include "arrow/infer.h"
#include "arrow/writer.h"
#include "arrow_verify.h"
#include "base/cleanup.h"

#include <errno.h>

/* The types of a tree, in a line: "i" int64, "f" float64, "t" utf8, "b" bool, "n" null,
 * {key:type,...} struct, [type] list. */
static void describe(const struct arrow_field *f, struct buf *out)
{
    static const char letters[] = {
        [ARROW_NULL] = 'n',    [ARROW_BOOL] = 'b', [ARROW_INT64] = 'i',
        [ARROW_FLOAT64] = 'f', [ARROW_UTF8] = 't',
    };

    assert_true(f->nullable || !*f->name);
    if (f->type != ARROW_STRUCT && f->type != ARROW_LIST) {
        assert_int_equal(f->n_children, 0);
        buf_addc(out, letters[f->type]);
        return;
    }
    buf_addc(out, f->type == ARROW_STRUCT ? '{' : '[');
    for (size_t i = 0; i < f->n_children; i++) {
        if (f->type == ARROW_STRUCT)
            buf_addf(out, "%s%s:", i ? "," : "", f->children[i].name);
        else
            assert_string_equal(f->children[i].name, "item");
        describe(&f->children[i], out);
    }
    buf_addc(out, f->type == ARROW_STRUCT ? '}' : ']');
}

/* Calls `act` for each line. */
static void each_row(const char *lines, void (*act)(void *, const struct json *), void *ctx)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct err err = {0};

    while (*lines) {
        size_t n = strcspn(lines, "\n");

        assert_ok(json_doc_parse(&doc, lines, n, &err), &err);
        act(ctx, doc.root);
        lines += n + (lines[n] == '\n');
    }
}

static void infer_row(void *ctx, const struct json *row)
{
    struct arrow_schema *s = ctx;
    struct err err = {0};

    assert_ok(arrow_infer_add(&s->root, row, &err), &err);
}

static void put_row(void *ctx, const struct json *row)
{
    struct arrow_builder *b = ctx;
    struct err err = {0};

    assert_true(arrow_put_json_row(b, row)); /* the types found hold every value */
    assert_ok(arrow_builder_end_row(b, &err), &err);
}

/* Writes the rows with these types and reads them back as JSON lines. */
static void round_trip(const struct arrow_schema *s, const char *lines, struct buf *rows)
{
    static struct arrow_stream stream;
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(buf) struct buf bytes = BUF_INIT(1 << 24);
    struct arrow_sink sink = arrow_sink_buf(&bytes);
    const char *why;
    struct err err = {0};

    assert_ok(arrow_builder_new(s, &b, &err), &err);
    each_row(lines, put_row, b);
    assert_ok(arrow_write_schema(&sink, s, &err), &err);
    assert_ok(arrow_write_batch(&sink, b, &err), &err);
    assert_ok(arrow_write_end(&sink, &err), &err);
    memset(&stream, 0, sizeof(stream));
    stream.p = (const uint8_t *)bytes.data;
    stream.n = bytes.len;
    stream.rows = rows;
    why = arrow_verify(&stream);
    if (why)
        fail_msg("%s", why);
}

/* The table of what HuggingFace's library infers, then what it refuses and we keep as text. rows
 * NULL: they come back as they are. */
static const struct {
    const char *lines, *types, *rows;
} cases[] = {
    {"{\"a\":null}\n{\"a\":null}\n", "{a:n}", NULL},
    {"{\"a\":\"x\"}\n{\"a\":null}\n{\"a\":\"\"}\n", "{a:t}", NULL},
    {"{\"a\":true}\n{\"a\":false}\n{\"a\":null}\n", "{a:b}", NULL},
    {"{\"a\":1}\n{\"a\":-9223372036854775808}\n{\"a\":9007199254740993}\n", "{a:i}", NULL},
    {"{\"a\":0.5}\n{\"a\":null}\n{\"a\":1e+300}\n", "{a:f}", NULL},
    /* numbers mixed, in both orders */
    {"{\"a\":1}\n{\"a\":0.5}\n", "{a:f}", "{\"a\":1.0}\n{\"a\":0.5}\n"},
    {"{\"a\":0.5}\n{\"a\":1}\n", "{a:f}", "{\"a\":0.5}\n{\"a\":1.0}\n"},
    {"{\"a\":9223372036854775808}\n", "{a:f}", "{\"a\":9.223372036854776e+18}\n"},
    /* structs: union of keys in first-seen order, missing is null */
    {"{\"s\":{\"x\":1}}\n{\"s\":{\"y\":\"b\",\"x\":2}}\n{}\n", "{s:{x:i,y:t}}",
     "{\"s\":{\"x\":1,\"y\":null}}\n{\"s\":{\"x\":2,\"y\":\"b\"}}\n{\"s\":null}\n"},
    {"{\"b\":1}\n{\"a\":2}\n{\"c\":3,\"a\":4,\"b\":5}\n", "{b:i,a:i,c:i}",
     "{\"b\":1,\"a\":null,\"c\":null}\n{\"b\":null,\"a\":2,\"c\":null}\n"
     "{\"b\":5,\"a\":4,\"c\":3}\n"},
    {"{\"e\":{}}\n{\"e\":{}}\n", "{e:{}}", NULL},
    {"{\"e\":{}}\n{\"e\":null}\n", "{e:{}}", NULL},
    {"{\"s\":{\"k\":null,\"d\":{\"k\":null}}}\n", "{s:{k:n,d:{k:n}}}", NULL},
    {"{\"s\":null}\n{\"s\":{\"x\":1.5}}\n", "{s:{x:f}}", NULL},
    {"{}\n{}\n", "{}", NULL},
    /* lists */
    {"{\"l\":[]}\n{\"l\":[]}\n", "{l:[n]}", NULL},
    {"{\"l\":[null]}\n", "{l:[n]}", NULL},
    {"{\"l\":[]}\n{\"l\":[1]}\n{\"l\":null}\n{\"l\":[null,2]}\n", "{l:[i]}", NULL},
    {"{\"l\":[1,0.5]}\n", "{l:[f]}", "{\"l\":[1.0,0.5]}\n"},
    {"{\"l\":[{\"a\":1},{\"b\":\"x\"},null]}\n", "{l:[{a:i,b:t}]}",
     "{\"l\":[{\"a\":1,\"b\":null},{\"a\":null,\"b\":\"x\"},null]}\n"},
    {"{\"l\":[[1],[],null,[2,3]]}\n", "{l:[[i]]}", NULL},
    /* names are anything; of equal keys the last counts */
    {"{\"llama3.2:1b\":1,\"a.b\":2,\"\":3,\"\xC3\xA9\":4}\n", "{llama3.2:1b:i,a.b:i,:i,\xC3\xA9:i}",
     NULL},
    {"{\"a\":1,\"b\":2,\"a\":3}\n", "{a:i,b:i}", "{\"a\":3,\"b\":2}\n"},
    {"{\"a\\u0000x\":1}\n", "{a:i}", "{\"a\":1}\n"},
    /* what does not go together is text */
    {"{\"a\":\"x\"}\n{\"a\":1}\n{\"a\":null}\n", "{a:t}",
     "{\"a\":\"x\"}\n{\"a\":\"1\"}\n{\"a\":null}\n"},
    {"{\"a\":1}\n{\"a\":\"1\"}\n{\"a\":0.5}\n", "{a:t}",
     "{\"a\":\"1\"}\n{\"a\":\"1\"}\n{\"a\":\"0.5\"}\n"},
    {"{\"a\":true}\n{\"a\":1}\n", "{a:t}", "{\"a\":\"true\"}\n{\"a\":\"1\"}\n"},
    {"{\"a\":0.5}\n{\"a\":false}\n", "{a:t}", "{\"a\":\"0.5\"}\n{\"a\":\"false\"}\n"},
    {"{\"a\":{\"x\":[1,{\"y\":\"\\\"\"}]}}\n{\"a\":2}\n", "{a:t}",
     "{\"a\":\"{\\\"x\\\":[1,{\\\"y\\\":\\\"\\\\\\\"\\\"}]}\"}\n{\"a\":\"2\"}\n"},
    {"{\"a\":[1]}\n{\"a\":{}}\n{\"a\":[]}\n", "{a:t}",
     "{\"a\":\"[1]\"}\n{\"a\":\"{}\"}\n{\"a\":\"[]\"}\n"},
    {"{\"a\":1}\n{\"a\":[1]}\n", "{a:t}", "{\"a\":\"1\"}\n{\"a\":\"[1]\"}\n"},
    {"{\"l\":[\"a\",1,null,[]]}\n", "{l:[t]}", "{\"l\":[\"a\",\"1\",null,\"[]\"]}\n"},
    {"{\"s\":{\"x\":{\"y\":1}}}\n{\"s\":{\"x\":2,\"z\":true}}\n", "{s:{x:t,z:b}}",
     "{\"s\":{\"x\":\"{\\\"y\\\":1}\",\"z\":null}}\n{\"s\":{\"x\":\"2\",\"z\":true}}\n"},
};

static void infers_and_keeps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        AUTO(arrow_schema) struct arrow_schema s = {0};
        AUTO(buf) struct buf types = BUF_INIT(1 << 20), rows = BUF_INIT(1 << 20);

        arrow_schema_init(&s);
        each_row(cases[i].lines, infer_row, &s);
        describe(&s.root, &types);
        assert_string_equal(buf_str(&types), cases[i].types);
        round_trip(&s, cases[i].lines, &rows);
        assert_string_equal(buf_str(&rows), cases[i].rows ? cases[i].rows : cases[i].lines);
    }
}

/* Types are found for a struct somewhere in a schema, as dataset_metadata is. */
static void infers_below_a_field(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO(buf) struct buf types = BUF_INIT(1 << 20);
    struct arrow_field *metadata;
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    arrow_field_add(&s.root, "problem", ARROW_UTF8);
    metadata = arrow_field_add(&s.root, "dataset_metadata", ARROW_STRUCT);
    assert_ok(json_doc_parse(&doc, "{\"level\": 3}", 12, &err), &err);
    assert_ok(arrow_infer_add(metadata, doc.root, &err), &err);
    describe(&s.root, &types);
    assert_string_equal(buf_str(&types), "{problem:t,dataset_metadata:{level:i}}");
    assert_fails(arrow_infer_add(metadata, json_get(doc.root, "level"), &err), EINVAL, &err,
                 "not a JSON object");
    assert_fails(arrow_infer_add(metadata, NULL, &err), EINVAL, &err, "not a JSON object");
}

/* What the column cannot hold is a null, and said. */
static void tells_what_does_not_fit(void **state)
{
    static const struct {
        const char *row, *kept;
        bool whole;
    } rows[] = {
        {"{\"i\":1,\"b\":true,\"n\":null,\"s\":{\"x\":2},\"l\":[3]}",
         "{\"i\":1,\"b\":true,\"n\":null,\"s\":{\"x\":2},\"l\":[3]}\n", true},
        {"{}", "{\"i\":null,\"b\":null,\"n\":null,\"s\":null,\"l\":null}\n", true},
        {"{\"i\":1.5}", "{\"i\":null,\"b\":null,\"n\":null,\"s\":null,\"l\":null}\n", false},
        {"{\"b\":1}", "{\"i\":null,\"b\":null,\"n\":null,\"s\":null,\"l\":null}\n", false},
        {"{\"n\":1}", "{\"i\":null,\"b\":null,\"n\":null,\"s\":null,\"l\":null}\n", false},
        {"{\"more\":1,\"i\":2}", "{\"i\":2,\"b\":null,\"n\":null,\"s\":null,\"l\":null}\n", false},
        {"{\"s\":[1],\"i\":3}", "{\"i\":3,\"b\":null,\"n\":null,\"s\":null,\"l\":null}\n", false},
        {"{\"s\":{\"x\":\"t\"}}",
         "{\"i\":null,\"b\":null,\"n\":null,\"s\":{\"x\":null},\"l\":null}\n", false},
        {"{\"l\":[1,\"t\",3]}", "{\"i\":null,\"b\":null,\"n\":null,\"s\":null,\"l\":[1,null,3]}\n",
         false},
        {"[1]", "{\"i\":null,\"b\":null,\"n\":null,\"s\":null,\"l\":null}\n", false},
    };
    static struct arrow_stream stream;
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO(buf) struct buf bytes = BUF_INIT(1 << 20), expected = BUF_INIT(1 << 20);
    AUTO(buf) struct buf kept = BUF_INIT(1 << 20);
    struct arrow_sink sink = arrow_sink_buf(&bytes);
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    each_row(rows[0].row, infer_row, &s);
    assert_ok(arrow_builder_new(&s, &b, &err), &err);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_ok(json_doc_parse(&doc, rows[i].row, strlen(rows[i].row), &err), &err);
        assert_int_equal(arrow_put_json_row(b, doc.root), rows[i].whole);
        assert_ok(arrow_builder_end_row(b, &err), &err);
        buf_adds(&expected, rows[i].kept);
    }
    assert_ok(arrow_write_schema(&sink, &s, &err), &err);
    assert_ok(arrow_write_batch(&sink, b, &err), &err);
    assert_ok(arrow_write_end(&sink, &err), &err);
    memset(&stream, 0, sizeof(stream));
    stream.p = (const uint8_t *)bytes.data;
    stream.n = bytes.len;
    stream.rows = &kept;
    assert_null(arrow_verify(&stream));
    assert_string_equal(buf_str(&kept), buf_str(&expected));
}

/* {"a":{"a":{...1...}}} with so many levels, and a list at the bottom. */
static void nested_row(struct buf *out, int levels)
{
    for (int i = 0; i < levels; i++)
        buf_adds(out, "{\"a\":");
    buf_adds(out, "[1]");
    for (int i = 0; i < levels; i++)
        buf_addc(out, '}');
    buf_addc(out, '\n');
}

static void deep_values_are_text(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO(buf) struct buf line = BUF_INIT(1 << 20), rows = BUF_INIT(1 << 20);
    const struct arrow_field *f;

    (void)state;
    arrow_schema_init(&s);
    nested_row(&line, 100);
    each_row(line.data, infer_row, &s);
    assert_int_equal(arrow_field_count(&s.root), ARROW_INFER_DEPTH_MAX + 1);
    f = &s.root;
    for (int i = 0; i < ARROW_INFER_DEPTH_MAX; i++)
        f = &f->children[0];
    assert_int_equal(f->type, ARROW_UTF8);
    round_trip(&s, line.data, &rows);
    assert_non_null(strstr(rows.data, "{\"a\":\"{\\\"a\\\":{"));
    /* a list at the last level that may be one */
    buf_clear(&line);
    nested_row(&line, ARROW_INFER_DEPTH_MAX);
    arrow_schema_release(&s);
    arrow_schema_init(&s);
    each_row(line.data, infer_row, &s);
    assert_int_equal(arrow_field_count(&s.root), ARROW_INFER_DEPTH_MAX + 1);
    buf_clear(&line);
    nested_row(&line, ARROW_INFER_DEPTH_MAX - 1);
    arrow_schema_release(&s);
    arrow_schema_init(&s);
    each_row(line.data, infer_row, &s);
    assert_int_equal(arrow_field_count(&s.root), ARROW_INFER_DEPTH_MAX + 1);
    buf_clear(&rows);
    round_trip(&s, line.data, &rows);
    assert_string_equal(buf_str(&rows), buf_str(&line));
}

/* A map with a new key in every row ends as text; the other columns stay what they were. */
static void endless_keys_are_text(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO(buf) struct buf lines = BUF_INIT(1 << 20), types = BUF_INIT(1 << 20);
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20), last = BUF_INIT(1 << 10);

    (void)state;
    arrow_schema_init(&s);
    for (int i = 0; i < ARROW_INFER_FIELDS_MAX - 2; i++)
        buf_addf(&lines, "{\"id\":%d,\"map\":{\"k%d\":1}}\n", i, i);
    each_row(lines.data, infer_row, &s);
    assert_int_equal(arrow_field_count(&s.root), ARROW_INFER_FIELDS_MAX + 1);
    buf_adds(&last, "{\"id\":7,\"map\":{\"one more\":[2]}}\n");
    each_row(last.data, infer_row, &s);
    describe(&s.root, &types);
    assert_string_equal(buf_str(&types), "{id:i,map:t}");
    buf_adds(&lines, last.data);
    round_trip(&s, lines.data, &rows);
    assert_non_null(strstr(rows.data, "{\"id\":0,\"map\":\"{\\\"k0\\\":1}\"}\n"));
    assert_non_null(strstr(rows.data, "{\"id\":7,\"map\":\"{\\\"one more\\\":[2]}\"}\n"));
}

static void too_many_columns_are_refused(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO(buf) struct buf line = BUF_INIT(1 << 20);
    AUTO(json_doc) struct json_doc doc = {0};
    struct err err = {0};

    (void)state;
    arrow_schema_init(&s);
    buf_addc(&line, '{');
    for (int i = 0; i < ARROW_INFER_FIELDS_MAX; i++)
        buf_addf(&line, "\"k%d\":%d,", i, i);
    buf_adds(&line, "\"l\":[]}");
    assert_ok(json_doc_parse(&doc, line.data, line.len, &err), &err);
    assert_fails(arrow_infer_add(&s.root, doc.root, &err), E2BIG, &err, "more than 1024 fields");
    assert_int_equal(s.root.n_children, ARROW_INFER_FIELDS_MAX);
    /* a known column still merges, a list in it becomes text: there is no room for its item */
    assert_ok(json_doc_parse(&doc, "{\"k3\":[1]}", 10, &err), &err);
    s.root.children[3].type = ARROW_NULL;
    assert_ok(arrow_infer_add(&s.root, doc.root, &err), &err);
    assert_int_equal(s.root.children[3].type, ARROW_UTF8);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(infers_and_keeps),        cmocka_unit_test(infers_below_a_field),
    cmocka_unit_test(tells_what_does_not_fit), cmocka_unit_test(deep_values_are_text),
    cmocka_unit_test(endless_keys_are_text),   cmocka_unit_test(too_many_columns_are_refused),
};
TEST_MAIN(tests)
