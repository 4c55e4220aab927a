/*
 * The golden files cut off at every length, with every byte changed, and with random words replaced
 * by the numbers that break readers. Nothing here may crash, hang or grow; the sanitizers watch.
 */
#include "harness.h"

#include "arrow_rows.h"
#include "base/alloc.h"
#include "base/fs.h"

#include <errno.h>

#define HF FIXTURES "/hf/"

static const char *const small_files[] = {
    HF "input_basic/data-00000-of-00001.arrow",     HF "input_3shards/data-00001-of-00003.arrow",
    HF "input_ipw_shape/data-00000-of-00001.arrow", HF "input_zstd/data-00000-of-00001.arrow",
    HF "input_types/data-00000-of-00001.arrow",
};

static void read_file(const char *path, struct buf *out)
{
    struct err err = {0};

    assert_ok(fs_read_all(AT_FDCWD, path, out, &err), &err);
}

/* Rows of a copy that ends where its block ends. Every error has a place. */
static int rows_of(const char *data, size_t n, struct buf *rows)
{
    AUTO_FREE char *exact = n ? xmemdup(data, n) : NULL;
    struct err err = {0};
    int r = rows_of_memory(exact, n, rows, &err);

    assert_true(r == 0 || r == -EBADMSG || r == -ENOTSUP);
    if (r < 0 && !strstr(err.text, "test: byte "))
        fail_msg("no place in: %s", err.text);
    return r;
}

/* What can be read of a cut file is the beginning of what the whole file has. */
static void every_truncation(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(small_files) / sizeof(small_files[0]); i++) {
        AUTO(buf) struct buf file = BUF_INIT(1 << 20);
        AUTO(buf) struct buf whole = BUF_INIT(1 << 20);
        AUTO(buf) struct buf rows = BUF_INIT(1 << 20);
        int complete = 0;

        read_file(small_files[i], &file);
        assert_int_equal(rows_of(file.data, file.len, &whole), 0);
        for (size_t n = 0; n < file.len; n++) {
            buf_clear(&rows);
            if (rows_of(file.data, n, &rows) == 0)
                complete++;
            assert_true(rows.len <= whole.len);
            assert_memory_equal(buf_str(&rows), whole.data, rows.len);
        }
        /* good ends: behind the schema and behind each batch (the ZSTD file has 3) */
        assert_int_equal(complete, i == 3 ? 4 : 2);
    }
}

static void every_byte(void **state)
{
    static const uint8_t flips[] = {0xFF, 0x01, 0x80, 0x10};

    (void)state;
    for (size_t i = 0; i < sizeof(small_files) / sizeof(small_files[0]); i++) {
        AUTO(buf) struct buf file = BUF_INIT(1 << 20);
        AUTO(buf) struct buf rows = BUF_INIT(1 << 17);
        size_t n_flips = i < 4 ? 4 : 2;

        read_file(small_files[i], &file);
        for (size_t at = 0; at < file.len; at++) {
            for (size_t k = 0; k < n_flips; k++) {
                buf_clear(&rows);
                file.data[at] ^= (char)flips[k];
                rows_of(file.data, file.len, &rows);
                file.data[at] ^= (char)flips[k];
            }
        }
    }
}

static uint32_t next_random(uint32_t *x)
{
    *x = *x * 1664525 + 1013904223;
    return *x >> 8;
}

static void words_that_break_readers(void **state)
{
    static const char *const files[] = {HF "profile_seed/data-00000-of-00001.arrow",
                                        HF "input_types/data-00000-of-00001.arrow",
                                        HF "input_zstd/data-00000-of-00001.arrow"};
    static const int64_t words[] = {0,         1,         2,   4,     7,         8,
                                    16,        -1,        -2,  -8,    INT32_MAX, INT32_MIN,
                                    INT64_MAX, INT64_MIN, 255, 65536, 1 << 20,   INT64_C(1) << 40,
                                    0x7FFFFFF8};
    uint32_t x = 20240101;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        AUTO(buf) struct buf file = BUF_INIT(1 << 20);
        AUTO(buf) struct buf rows = BUF_INIT(1 << 17);

        read_file(files[i], &file);
        for (int round = 0; round < 3000; round++) {
            AUTO_FREE char *copy = xmemdup(file.data, file.len);
            uint32_t edits = 1 + next_random(&x) % 3;

            for (uint32_t k = 0; k < edits; k++) {
                size_t width = (size_t[]){2, 4, 8}[next_random(&x) % 3];
                size_t at = next_random(&x) % (file.len / 2) * 2;

                if (at + width <= file.len)
                    memcpy(copy + at, &words[next_random(&x) % (sizeof(words) / 8)], width);
            }
            buf_clear(&rows);
            rows_of(copy, file.len, &rows);
        }
    }
}

/* The larger files cut at every 8th byte: the metadata alone is 10 kilobytes. */
static void large_files_truncated(void **state)
{
    AUTO(buf) struct buf file = BUF_INIT(1 << 20);
    AUTO(buf) struct buf rows = BUF_INIT(1 << 20);

    (void)state;
    read_file(HF "profile_seed/data-00000-of-00001.arrow", &file);
    for (size_t n = 0; n + 8 < file.len; n += 8) {
        buf_clear(&rows);
        rows_of(file.data, n, &rows);
        assert_int_equal(rows.len, 0); /* there is one batch, and it is not whole */
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_truncation),
    cmocka_unit_test(every_byte),
    cmocka_unit_test(words_that_break_readers),
    cmocka_unit_test(large_files_truncated),
};
TEST_MAIN(tests)
