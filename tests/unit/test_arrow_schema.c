#include "harness.h"

#include "arrow/schema.h"
#include "base/buf.h"
#include "base/cleanup.h"

static void counts_and_finds(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    struct arrow_field *req;

    (void)state;
    arrow_schema_init(&s);
    req = arrow_field_add(&s.root, "request", ARROW_STRUCT);
    arrow_field_add(req, "index", ARROW_INT64);
    arrow_field_add(arrow_field_add(req, "reasons", ARROW_LIST), "item", ARROW_UTF8);
    arrow_field_add(&s.root, "answer", ARROW_UTF8);
    assert_int_equal(arrow_field_count(&s.root), 6); /* root counts itself */
    assert_true(s.root.children[0].nullable);
    assert_string_equal(arrow_field_child(&s.root.children[0], "reasons")->children[0].name,
                        "item");
    assert_null(arrow_field_child(&s.root, "index"));
    arrow_field_drop_children(&s.root.children[0]);
    assert_int_equal(arrow_field_count(&s.root), 3);
}

static void copies_deeply(void **state)
{
    AUTO(arrow_schema) struct arrow_schema a = {0}, b = {0};
    struct arrow_field *list;

    (void)state;
    arrow_schema_init(&a);
    arrow_schema_init(&b);
    list = arrow_field_add(&a.root, "when", ARROW_LIST);
    *arrow_field_add(list, "item", ARROW_TIMESTAMP) = (struct arrow_field){
        .name = list->children[0].name,
        .type = ARROW_TIMESTAMP,
        .unit = ARROW_MICRO,
        .timezone = strdup("UTC"),
    };
    arrow_field_copy(&b.root, list);
    assert_true(arrow_field_equal(&a.root, &b.root));
    assert_ptr_not_equal(a.root.children[0].children, b.root.children[0].children);
    assert_false(b.root.children[0].children[0].nullable);
    b.root.children[0].children[0].timezone[0] = 'u';
    assert_false(arrow_field_equal(&a.root, &b.root));
    b.root.children[0].children[0].timezone[0] = 'U';
    arrow_field_add(&b.root, "more", ARROW_NULL);
    assert_false(arrow_field_equal(&a.root, &b.root));
}

/* One line of Python's json.dumps: order kept, ASCII only, lists in the old spelling. */
static void describes_features(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    struct arrow_field *st;

    (void)state;
    arrow_schema_init(&s);
    st = arrow_field_add(&s.root, "caf\xC3\xA9 \"x\"", ARROW_STRUCT);
    arrow_field_add(st, "b", ARROW_BOOL);
    arrow_field_add(arrow_field_add(st, "l", ARROW_LIST), "item", ARROW_FLOAT64);
    arrow_field_add(&s.root, "e", ARROW_STRUCT);
    arrow_field_add(&s.root, "i", ARROW_INT64);
    arrow_field_add(&s.root, "n", ARROW_NULL);
    arrow_field_add(&s.root, "t", ARROW_UTF8);
    arrow_field_add(&s.root, "w", ARROW_TIMESTAMP)->unit = ARROW_NANO;
    arrow_schema_describe(&s);
    arrow_schema_describe(&s); /* replaces, does not leak */
    assert_string_equal(s.huggingface,
                        "{\"info\": {\"features\": {\"caf\\u00e9 \\\"x\\\"\": "
                        "{\"b\": {\"dtype\": \"bool\", \"_type\": \"Value\"}, "
                        "\"l\": [{\"dtype\": \"float64\", \"_type\": \"Value\"}]}, \"e\": {}, "
                        "\"i\": {\"dtype\": \"int64\", \"_type\": \"Value\"}, "
                        "\"n\": {\"dtype\": \"null\", \"_type\": \"Value\"}, "
                        "\"t\": {\"dtype\": \"string\", \"_type\": \"Value\"}, "
                        "\"w\": {\"dtype\": \"timestamp[ns]\", \"_type\": \"Value\"}}}}");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(counts_and_finds),
    cmocka_unit_test(copies_deeply),
    cmocka_unit_test(describes_features),
};
TEST_MAIN(tests)
