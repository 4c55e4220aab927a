#include "harness.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>

static void grows_and_stays_terminated(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(1 << 20);

    (void)state;
    assert_string_equal(buf_str(&b), "");
    for (int i = 0; i < 1000; i++)
        assert_int_equal(buf_addf(&b, "%d,", i), 0);
    assert_int_equal(strlen(b.data), b.len);
    assert_memory_equal(b.data, "0,1,2,", 6);
    buf_consume(&b, 2);
    assert_memory_equal(b.data, "1,2,", 4);
    buf_consume(&b, 1 << 20);
    assert_int_equal(b.len, 0);
    assert_string_equal(buf_str(&b), "");
}

static void never_passes_its_limit(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(10);

    (void)state;
    assert_int_equal(buf_add(&b, "0123456789", 10), 0);
    assert_false(b.failed);
    assert_int_equal(buf_addc(&b, 'x'), -EMSGSIZE);
    assert_int_equal(buf_reserve(&b, SIZE_MAX), -EMSGSIZE);
    assert_int_equal(buf_addf(&b, "%300d", 1), -EMSGSIZE);
    assert_true(b.failed);
    assert_string_equal(b.data, "0123456789");
    buf_clear(&b);
    assert_false(b.failed);
    assert_int_equal(buf_add_zeros(&b, 10), 0);
    assert_int_equal(b.data[9], 0);
}

static void long_formats_are_whole(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(1 << 20);

    (void)state;
    assert_int_equal(buf_addf(&b, "%s%5000d|", "a", 7), 0);
    assert_int_equal(b.len, 5002);
    assert_string_equal(b.data + 5000, "7|");
}

static void take_moves_the_text(void **state)
{
    AUTO(buf) struct buf b = BUF_INIT(100);
    AUTO_FREE char *empty = buf_take(&b);
    AUTO_FREE char *text = NULL;

    (void)state;
    assert_string_equal(empty, "");
    buf_adds(&b, "abc");
    text = buf_take(&b);
    assert_string_equal(text, "abc");
    assert_int_equal(b.len, 0);
    assert_int_equal(b.max, 100);
}

static void arena_gives_aligned_memory_and_reuses_it(void **state)
{
    struct arena a = {0};
    char *first;

    (void)state;
    for (size_t i = 1; i < 3000; i += 7) {
        char *p = arena_alloc(&a, i);

        assert_int_equal((uintptr_t)p % 16, 0);
        memset(p, 0xAB, i); /* the sanitizer sees an overlap with a block's end */
    }
    arena_reset(&a);
    first = arena_alloc(&a, 8);
    arena_reset(&a);
    assert_ptr_equal(arena_alloc(&a, 8), first);
    assert_string_equal(arena_strndup(&a, "hello", 4), "hell");
    arena_release(&a);
    assert_null(a.blocks);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(grows_and_stays_terminated),
    cmocka_unit_test(never_passes_its_limit),
    cmocka_unit_test(long_formats_are_whole),
    cmocka_unit_test(take_moves_the_text),
    cmocka_unit_test(arena_gives_aligned_memory_and_reuses_it),
};
TEST_MAIN(tests)
