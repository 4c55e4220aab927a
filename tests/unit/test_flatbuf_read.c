#include "harness.h"

#include "arrow/flatbuf_read.h"
#include "arrow_make.h"
#include "base/cleanup.h"

/* root{0: i16 -2, 1: text "hey", 2: table{0: i64}, 3: vector of 2 tables, 4: u8 vector, 5: bool} */
static void make(struct buf *b)
{
    size_t root, child, items;
    uint32_t at;

    buf_add_zeros(b, 8);
    root = mk_table(b, 7);
    at = (uint32_t)root;
    memcpy(b->data, &at, 4);
    mk_number(b, root, 0, 2, -2);
    mk_text(b, root, 1, "hey");
    child = mk_table_in(b, root, 2, 1);
    mk_number(b, child, 0, 8, INT64_MIN);
    items = mk_vector(b, root, 3, 2, 4);
    for (int i = 0; i < 2; i++)
        mk_number(b, mk_item_table(b, items + 4 * (size_t)i, 1), 0, 4, 70 + i);
    items = mk_vector(b, root, 4, 3, 1);
    memcpy(b->data + items, "\x01\x02\xFF", 3);
    mk_number(b, root, 5, 1, 1);
}

static void reads_what_is_there(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(4096);
    struct fb fb;
    struct fb_table root, child;
    struct fb_vector v;
    const char *text;
    size_t n = 0;

    (void)state;
    make(&b);
    fb = (struct fb){.data = (const uint8_t *)b.data, .size = b.len};
    root = fb_root(&fb);
    assert_int_equal(fb_int(&root, 0, 2, 9), -2);
    assert_int_equal(fb_int(&root, 0, 1, 9), -2); /* its low byte */
    text = fb_string(&root, 1, &n);
    assert_int_equal(n, 3);
    assert_memory_equal(text, "hey", 3);
    child = fb_table(&root, 2);
    assert_true(fb_int(&child, 0, 8, 9) == INT64_MIN);
    v = fb_vector(&root, 3, 4);
    assert_int_equal(v.count, 2);
    child = fb_item_table(&v, 1);
    assert_int_equal(fb_int(&child, 0, 4, 9), 71);
    v = fb_vector(&root, 4, 1);
    assert_int_equal(v.count, 3);
    assert_int_equal(fb_item(&v, 2)[0], 0xFF);
    assert_true(fb_bool(&root, 5, false));
    assert_null(fb.problem);
}

static void absent_is_the_fallback(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(4096);
    struct fb fb;
    struct fb_table root, none = {0};
    size_t n;

    (void)state;
    make(&b);
    fb = (struct fb){.data = (const uint8_t *)b.data, .size = b.len};
    root = fb_root(&fb);
    assert_int_equal(fb_int(&root, 6, 8, 9), 9);  /* in the vtable, empty */
    assert_int_equal(fb_int(&root, 99, 8, 9), 9); /* beyond the vtable */
    assert_true(fb_bool(&root, 6, true));
    assert_null(fb_string(&root, 6, &n));
    assert_null(fb_table(&root, 6).fb);
    assert_int_equal(fb_vector(&root, 6, 4).count, 0);
    assert_int_equal(fb_int(&none, 0, 8, 9), 9);
    assert_null(fb_table(&none, 0).fb);
    assert_null(fb.problem);
}

/* Everything in the buffer, however damaged. */
static void walk(struct fb *fb)
{
    struct fb_table root = fb_root(fb), child = fb_table(&root, 2);
    struct fb_vector tables = fb_vector(&root, 3, 4), bytes = fb_vector(&root, 4, 1);
    size_t n = 0;
    const char *text = fb_string(&root, 1, &n);
    unsigned sum = 0;

    for (size_t i = 0; text && i < n; i++)
        sum += (unsigned char)text[i];
    for (uint32_t i = 0; i < tables.count; i++) {
        struct fb_table t = fb_item_table(&tables, i);

        sum += (unsigned)fb_int(&t, 0, 4, 0);
    }
    for (uint32_t i = 0; i < bytes.count; i++)
        sum += fb_item(&bytes, i)[0];
    sum += (unsigned)fb_int(&root, 0, 2, 0) + (unsigned)fb_int(&child, 0, 8, 0);
    if (fb->problem)
        assert_true(fb->where <= fb->size);
    (void)sum;
}

/* Cut anywhere, any byte changed to anything: never outside the buffer (the sanitizer looks). */
static void damage_is_contained(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(4096);

    (void)state;
    make(&b);
    for (size_t n = 0; n <= b.len; n++) {
        AUTO_FREE uint8_t *copy = malloc(n + 1);
        uint8_t *exact = copy + 1; /* ends where the block ends, and is not aligned */
        struct fb fb = {.data = exact, .size = n};

        memcpy(exact, b.data, n);
        walk(&fb);
    }
    for (size_t at = 0; at < b.len; at++) {
        for (int value = 0; value < 256; value++) {
            AUTO_FREE uint8_t *copy = malloc(b.len);
            struct fb fb = {.data = copy, .size = b.len};

            memcpy(copy, b.data, b.len);
            copy[at] = (uint8_t)value;
            walk(&fb);
        }
    }
}

struct edit {
    size_t at;
    uint32_t value;
    unsigned width;
    const char *problem;
};

static void names_what_is_wrong(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(4096);
    size_t root, vtable;
    int32_t back;
    uint32_t word;

    (void)state;
    make(&b);
    memcpy(&word, b.data, 4);
    root = word;
    memcpy(&back, b.data + root, 4);
    vtable = root - (size_t)back;
    const struct edit edits[] = {
        {0, 0, 4, "a reference leads to itself"},
        {0, 0xFFFFFFF0, 4, "a reference leads outside the metadata"},
        {root, 0x7FFFFFFF, 4, "a vtable lies outside the metadata"},
        {root, 0x80000000, 4, "a vtable lies outside the metadata"},
        {vtable, 2, 2, "a vtable is too short"},
        {vtable, 0xFFFF, 2, "a vtable lies outside the metadata"},
        {vtable + 2, 0xFFFF, 2, "a table lies outside the metadata"},
        {vtable + 4, 0xFFF0, 2, "a field lies outside its table"},
        {vtable + 4, 2, 2, "a field lies outside its table"},
        {vtable + 4, 63, 2, "a field lies outside its table"}, /* half of it does */
        {mk_slot(root, 1), 0, 4, "a reference leads to itself"},
        {mk_slot(root, 1), 3, 4, "a reference leads to itself"},
        {mk_slot(root, 2), 0xFFFFFFFF, 4, "a reference leads outside the metadata"},
    };
    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        AUTO_FREE uint8_t *copy = malloc(b.len);
        struct fb fb = {.data = copy, .size = b.len};

        memcpy(copy, b.data, b.len);
        memcpy(copy + edits[i].at, &edits[i].value, edits[i].width);
        walk(&fb);
        assert_non_null(fb.problem);
        assert_string_equal(fb.problem, edits[i].problem);
    }
}

/* A count that does not fit is refused, not multiplied. */
static void vector_too_long(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(4096);
    struct fb fb;
    struct fb_table root;
    struct fb_vector v;
    uint32_t count = 0x80000001;

    (void)state;
    make(&b);
    fb = (struct fb){.data = (const uint8_t *)b.data, .size = b.len};
    root = fb_root(&fb);
    v = fb_vector(&root, 3, 4);
    memcpy(b.data + v.pos - 4, &count, 4);
    assert_int_equal(fb_vector(&root, 3, 8).count, 0);
    count = (uint32_t)((b.len - v.pos) / 16); /* as many as there is room for */
    memcpy(b.data + v.pos - 4, &count, 4);
    fb.problem = NULL;
    assert_int_equal(fb_vector(&root, 3, 16).count, count);
    count++; /* and one more */
    memcpy(b.data + v.pos - 4, &count, 4);
    assert_int_equal(fb_vector(&root, 3, 16).count, 0);
    assert_string_equal(fb.problem, "a vector is longer than the metadata");
    assert_int_equal(fb.where, v.pos - 4);
    /* from then on everything is absent */
    assert_int_equal(fb_int(&root, 0, 2, 9), 9);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_what_is_there), cmocka_unit_test(absent_is_the_fallback),
    cmocka_unit_test(damage_is_contained), cmocka_unit_test(names_what_is_wrong),
    cmocka_unit_test(vector_too_long),
};
TEST_MAIN(tests)
