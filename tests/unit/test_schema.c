#include "harness.h"

#include "arrow/schema.h"
#include "base/cleanup.h"

/* The schema of the header's sketch, with a leaf of every spelling. */
static void make(struct arrow_schema *s)
{
    struct arrow_field *f;

    arrow_schema_init(s);
    f = arrow_field_add(&s->root, "request", ARROW_STRUCT);
    arrow_field_add(f, "index", ARROW_INT64);
    arrow_field_add(arrow_field_add(f, "reasons", ARROW_LIST), "item", ARROW_UTF8);
    arrow_field_add(&s->root, "empty", ARROW_STRUCT);
    f = arrow_field_add(&s->root, "when", ARROW_TIMESTAMP);
    f->unit = ARROW_MICRO;
    f->timezone = strdup("UTC");
}

static void features(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};

    (void)state;
    make(&s);
    arrow_schema_describe(&s);
    assert_string_equal(
        s.huggingface,
        "{\"info\": {\"features\": {\"request\": {\"index\": {\"dtype\": \"int64\", \"_type\": "
        "\"Value\"}, \"reasons\": [{\"dtype\": \"string\", \"_type\": \"Value\"}]}, \"empty\": {}, "
        "\"when\": {\"dtype\": \"timestamp[us, tz=UTC]\", \"_type\": \"Value\"}}}}");
    arrow_schema_describe(&s); /* again: the old text is replaced */
    assert_int_equal(arrow_field_count(&s.root), 7);
}

static void type_names(void **state)
{
    static const struct {
        struct arrow_field field;
        const char *text;
    } cases[] = {
        {{.type = ARROW_NULL}, "null"},
        {{.type = ARROW_UTF8_VIEW}, "string_view"},
        {{.type = ARROW_LARGE_BINARY}, "large_binary"},
        {{.type = ARROW_TIME32, .unit = ARROW_SECOND}, "time32[s]"},
        {{.type = ARROW_TIME64, .unit = ARROW_NANO}, "time64[ns]"},
        {{.type = ARROW_TIMESTAMP, .unit = ARROW_MILLI}, "timestamp[ms]"},
        {{.type = ARROW_DURATION, .unit = ARROW_MICRO}, "duration[us]"},
        {{.type = ARROW_DECIMAL, .param = 16, .precision = 10, .scale = 2}, "decimal128(10, 2)"},
        {{.type = ARROW_FIXED_BINARY, .param = 4}, "fixed_size_binary[4]"},
        {{.type = ARROW_FIXED_LIST, .param = 3}, "fixed_size_list[3]"},
        {{.type = ARROW_LARGE_LIST}, "large_list"},
        {{.type = ARROW_STRUCT}, "struct"},
    };
    char text[ARROW_TYPE_NAME_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(arrow_type_name(&cases[i].field, text), cases[i].text);
    for (int type = ARROW_NULL; type <= ARROW_FIXED_LIST; type++) {
        struct arrow_field f = {.type = (enum arrow_type)type};

        assert_non_null(arrow_type_name(&f, text));
    }
}

static void copies_are_equal(void **state)
{
    AUTO(arrow_schema) struct arrow_schema a = {0};
    AUTO(arrow_schema) struct arrow_schema b = {0};
    struct arrow_field *copy;

    (void)state;
    make(&a);
    arrow_schema_init(&b);
    for (size_t i = 0; i < a.root.n_children; i++)
        arrow_field_copy(&b.root, &a.root.children[i]);
    assert_true(arrow_field_equal(&a.root, &b.root));
    copy = &b.root.children[2];
    copy->timezone[0] = 'X';
    assert_false(arrow_field_equal(&a.root, &b.root));
    copy->timezone[0] = 'U';
    copy->precision = 3;
    assert_false(arrow_field_equal(&a.root, &b.root));
    copy->precision = 0;
    b.root.children[0].children[1].children[0].type = ARROW_BINARY;
    assert_false(arrow_field_equal(&a.root, &b.root));
    assert_string_equal(arrow_field_child(&a.root, "empty")->name, "empty");
    assert_null(arrow_field_child(&a.root, "nothing"));
}

/* Room is made ahead of need: every child is there, and none is written outside. */
static void many_children(void **state)
{
    AUTO(arrow_schema) struct arrow_schema s = {0};
    char name[16];

    (void)state;
    arrow_schema_init(&s);
    for (int i = 0; i < 1000; i++) {
        snprintf(name, sizeof(name), "c%d", i);
        arrow_field_add(&s.root, name, ARROW_INT64);
    }
    assert_int_equal(s.root.n_children, 1000);
    assert_ptr_equal(arrow_field_child(&s.root, "c999"), &s.root.children[999]);
    assert_ptr_equal(arrow_field_child(&s.root, "c0"), &s.root.children[0]);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(features),
    cmocka_unit_test(type_names),
    cmocka_unit_test(copies_are_equal),
    cmocka_unit_test(many_children),
};
TEST_MAIN(tests)
