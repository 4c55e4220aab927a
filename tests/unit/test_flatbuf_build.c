#include "harness.h"

#include "arrow/flatbuf_build.h"
#include "base/cleanup.h"

static uint32_t u32_at(const struct buf *b, size_t at)
{
    uint32_t v;

    assert_true(at + 4 <= b->len);
    memcpy(&v, b->data + at, 4);
    return v;
}

/* A table of two strings, byte by byte. */
static void writes_exact_bytes(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(FLATBUF_MAX);
    struct flatbuf_slot kv[] = {FLATBUF_REF, FLATBUF_REF};
    static const unsigned char expected[] = {
        12,  0,   0,  0,             /* root: table at 12 */
        8,   0,   12, 0, 4, 0, 8, 0, /* vtable: 8 bytes, table of 12, fields at 4 and 8 */
        8,   0,   0,  0, 8, 0, 0, 0, /* table: vtable 8 back; key at 16 + 8 */
        12,  0,   0,  0, 1, 0, 0, 0, /* value at 20 + 12; "k": length */
        'k', 0,   0,  0, 2, 0, 0, 0, /* its NUL and padding; "vw": length */
        'v', 'w', 0,  0,             /* NUL, padding to 8 */
    };

    (void)state;
    flatbuf_begin(&out);
    flatbuf_link(&out, 0, flatbuf_table(&out, kv, 2));
    flatbuf_link(&out, kv[0].at, flatbuf_string(&out, "k", 1));
    flatbuf_link(&out, kv[1].at, flatbuf_string(&out, "vw", 2));
    flatbuf_end(&out);
    assert_false(out.failed);
    assert_int_equal(out.len, sizeof(expected));
    assert_memory_equal(out.data, expected, sizeof(expected));
}

static void empty_table_is_the_smallest(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(FLATBUF_MAX);

    (void)state;
    flatbuf_begin(&out);
    flatbuf_link(&out, 0, flatbuf_table(&out, NULL, 0));
    assert_int_equal(out.len, 12);
    assert_memory_equal(out.data, "\x08\0\0\0\x04\0\x04\0\x04\0\0\0", 12);
}

/* Absent fields at the end shorten the vtable, one in the middle is 0 there. */
static void absent_fields(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(FLATBUF_MAX);
    struct flatbuf_slot slots[] = {FLATBUF_U8(7), FLATBUF_ABSENT, FLATBUF_I16(-2), FLATBUF_ABSENT};
    size_t pos;

    (void)state;
    flatbuf_begin(&out);
    pos = flatbuf_table(&out, slots, 4);
    /* vtable of 10 bytes from 6 on: 10, 7 bytes of table, field 0 at 6, 1 absent, 2 at 4 */
    assert_int_equal(pos, 16);
    assert_memory_equal(out.data + 4, "\0\0\x0A\0\x07\0\x06\0\0\0\x04\0", 12);
    assert_memory_equal(out.data + 16, "\x0A\0\0\0\xFE\xFF\x07", 7);
    assert_int_equal(out.len, 23);
    assert_int_equal(slots[0].at, 22);
    assert_int_equal(slots[2].at, 20);
}

/* Whatever came before, every scalar is aligned to its size. */
static void aligns_scalars(void **state)
{
    (void)state;
    for (size_t before = 0; before < 16; before++) {
        AUTO(buf) struct buf out = BUF_INIT(FLATBUF_MAX);
        struct flatbuf_slot slots[] = {FLATBUF_U8(1),  FLATBUF_I64(INT64_MIN), FLATBUF_I16(2),
                                       FLATBUF_I32(3), FLATBUF_U8(4),          FLATBUF_I64(5)};
        static const size_t sizes[] = {1, 8, 2, 4, 1, 8};
        int64_t wide;
        size_t pos;

        flatbuf_begin(&out);
        buf_add_zeros(&out, before);
        pos = flatbuf_table(&out, slots, 6);
        assert_int_equal(pos % 4, 0);
        for (size_t i = 0; i < 6; i++)
            assert_int_equal(slots[i].at % sizes[i], 0);
        memcpy(&wide, out.data + slots[1].at, 8);
        assert_true(wide == INT64_MIN);
        assert_int_equal(out.data[slots[4].at], 4);
    }
}

static void aligns_vectors(void **state)
{
    static const int64_t words[] = {1, -1, INT64_MAX, 0};

    (void)state;
    for (size_t before = 0; before < 8; before++) {
        AUTO(buf) struct buf out = BUF_INIT(FLATBUF_MAX);
        size_t refs, pairs, empty, text;

        flatbuf_begin(&out);
        buf_add_zeros(&out, before);
        refs = flatbuf_refs(&out, 3);
        assert_int_equal(refs % 4, 0);
        assert_int_equal(u32_at(&out, refs), 3);
        assert_int_equal(out.len, refs + 16);
        text = flatbuf_string(&out, "a\0b", 3);
        assert_int_equal(u32_at(&out, text), 3);
        assert_memory_equal(out.data + text + 4, "a\0b\0", 4);
        pairs = flatbuf_pairs(&out, words, 2);
        assert_int_equal(pairs % 8, 4);
        assert_int_equal(u32_at(&out, pairs), 2);
        assert_memory_equal(out.data + pairs + 4, words, 32);
        empty = flatbuf_pairs(&out, words, 0);
        assert_int_equal(u32_at(&out, empty), 0);
        flatbuf_link(&out, refs + 8, pairs);
        assert_int_equal(u32_at(&out, refs + 8), pairs - (refs + 8));
        assert_int_equal(u32_at(&out, refs + 4), 0);
        flatbuf_end(&out);
        assert_int_equal(out.len % 8, 0);
    }
}

static void write_sample(struct buf *out)
{
    static const int64_t words[2];
    struct flatbuf_slot slots[] = {FLATBUF_REF, FLATBUF_I64(1), FLATBUF_REF};
    size_t refs;

    flatbuf_begin(out);
    flatbuf_link(out, 0, flatbuf_table(out, slots, 3));
    flatbuf_link(out, slots[0].at, flatbuf_string(out, "twenty bytes of text", 20));
    refs = flatbuf_refs(out, 5);
    flatbuf_link(out, slots[2].at, refs);
    flatbuf_link(out, refs + 4, flatbuf_table(out, NULL, 0));
    flatbuf_link(out, refs + 8, flatbuf_pairs(out, words, 1));
    flatbuf_end(out);
}

/* A buf that refuses stays refused, whatever is called then, and nothing is written out of it. */
static void remembers_a_full_buf(void **state)
{
    AUTO(buf) struct buf whole = BUF_INIT(FLATBUF_MAX);

    (void)state;
    write_sample(&whole);
    assert_false(whole.failed);
    for (size_t limit = 0; limit <= whole.len; limit++) {
        AUTO(buf) struct buf out = BUF_INIT(limit);

        write_sample(&out);
        assert_true(out.len <= limit);
        assert_int_equal(out.failed, limit < whole.len);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(writes_exact_bytes), cmocka_unit_test(empty_table_is_the_smallest),
    cmocka_unit_test(absent_fields),      cmocka_unit_test(aligns_scalars),
    cmocka_unit_test(aligns_vectors),     cmocka_unit_test(remembers_a_full_buf),
};
TEST_MAIN(tests)
