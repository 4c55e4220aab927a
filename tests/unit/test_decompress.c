#include "harness.h"

#include "arrow/decompress.h"
#include "arrow_make.h"
#include "base/cleanup.h"

#include <errno.h>

/* A buffer as it lies in a file: length, frame. */
static void pack(struct buf *out, enum arrow_codec codec, const void *data, size_t n, int64_t says)
{
    struct mk_batch b = mk_batch(0);

    b.codec = (int)codec;
    mk_compressed(&b, data, n, says);
    b.body.len = (size_t)b.buffers[0][1];
    *out = b.body;
}

static const enum arrow_codec codecs[] = {ARROW_LZ4, ARROW_ZSTD};

static int unpack(const struct buf *packed, enum arrow_codec codec, size_t need, struct buf *out,
                  struct err *err)
{
    AUTO(decompressor) struct decompressor d = {0};
    AUTO_FREE uint8_t *exact = malloc(packed->len + 1);

    memcpy(exact + 1, packed->data, packed->len); /* its end is the block's, and not aligned */
    return decompress(&d, codec, exact + 1, packed->len, need, out, err);
}

/* Text that compresses to about half, too long for one step. */
static void fill(struct buf *text, size_t n)
{
    uint32_t x = 12345;

    while (text->len < n) {
        x = x * 1664525 + 1013904223;
        buf_addf(text, "%u,", x >> 20);
    }
    text->len = n;
}

static void whole_and_prefix(void **state)
{
    static const size_t sizes[] = {1, 7, 8, 4096, 65536, 65537, 1000000};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            AUTO(buf) struct buf text = BUF_INIT(2000000);
            AUTO(buf) struct buf packed = BUF_INIT(2000000);
            AUTO(buf) struct buf out = BUF_INIT(sizes[i]);
            struct err err = {0};

            fill(&text, sizes[i]);
            pack(&packed, codecs[c], text.data, text.len, (int64_t)text.len);
            assert_ok(unpack(&packed, codecs[c], sizes[i], &out, &err), &err);
            assert_int_equal(out.len, sizes[i]);
            assert_memory_equal(out.data, text.data, sizes[i]);
            buf_clear(&out);
            assert_ok(unpack(&packed, codecs[c], sizes[i] / 3, &out, &err), &err);
            assert_int_equal(out.len, sizes[i] / 3);
            assert_memory_equal(out.data, text.data, sizes[i] / 3);
        }
    }
}

static void stored_raw(void **state)
{
    AUTO(buf) struct buf packed = BUF_INIT(100);
    AUTO(buf) struct buf out = BUF_INIT(100);
    struct err err = {0};
    const uint8_t *data;
    size_t n;

    (void)state;
    buf_add(&packed, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFhello", 13);
    assert_ok(unpack(&packed, ARROW_ZSTD, 5, &out, &err), &err);
    assert_string_equal(out.data, "hello");
    buf_clear(&out);
    assert_fails(unpack(&packed, ARROW_ZSTD, 6, &out, &err), EBADMSG, &err,
                 "buffer has 5 bytes, 6 are needed");
    assert_true(decompress_is_raw((uint8_t *)packed.data, packed.len, &data, &n));
    assert_int_equal(n, 5);
    assert_ptr_equal(data, packed.data + 8);
    assert_false(decompress_is_raw((uint8_t *)packed.data, 7, &data, &n));
}

static void wrong_lengths(void **state)
{
    (void)state;
    for (size_t c = 0; c < 2; c++) {
        AUTO(buf) struct buf packed = BUF_INIT(1000);
        AUTO(buf) struct buf out = BUF_INIT(1000);
        struct err err = {0};
        int64_t says;

        pack(&packed, codecs[c], "hello, hello, hello", 19, 19);
        assert_fails(unpack(&packed, codecs[c], 20, &out, &err), EBADMSG, &err,
                     "buffer says it has 19 bytes, 20 are needed");
        says = 1000; /* it says more than the frame has */
        memcpy(packed.data, &says, 8);
        assert_fails(unpack(&packed, codecs[c], 20, &out, &err), EBADMSG, &err,
                     "compressed data ends before 20 bytes");
        buf_clear(&out);
        says = 18; /* or less: then all of it is needed, and the frame must end there */
        memcpy(packed.data, &says, 8);
        assert_fails(unpack(&packed, codecs[c], 18, &out, &err), EBADMSG, &err,
                     "compressed data goes on after 18 bytes");
        says = -2;
        memcpy(packed.data, &says, 8);
        assert_fails(unpack(&packed, codecs[c], 1, &out, &err), EBADMSG, &err, "-2 bytes");
        packed.len = 7;
        assert_fails(unpack(&packed, codecs[c], 1, &out, &err), EBADMSG, &err, "has no length");
        packed.len = 8;
        says = 5;
        memcpy(packed.data, &says, 8);
        buf_clear(&out);
        assert_fails(unpack(&packed, codecs[c], 5, &out, &err), EBADMSG, &err, "ends before 5");
    }
}

/* Every cut and every changed byte: an error or the right length, nothing else. */
static void damage_is_contained(void **state)
{
    AUTO(buf) struct buf text = BUF_INIT(2000);

    (void)state;
    fill(&text, 300);
    for (size_t c = 0; c < 2; c++) {
        AUTO(buf) struct buf packed = BUF_INIT(2000);
        size_t whole;

        pack(&packed, codecs[c], text.data, text.len, (int64_t)text.len);
        whole = packed.len;
        for (size_t n = 0; n < whole; n++) {
            AUTO(buf) struct buf out = BUF_INIT(300);

            packed.len = n;
            assert_int_equal(unpack(&packed, codecs[c], 300, &out, NULL), -EBADMSG);
        }
        packed.len = whole;
        for (size_t at = 0; at < whole; at++) {
            for (int bit = 0; bit < 8; bit++) {
                AUTO(buf) struct buf out = BUF_INIT(300);

                packed.data[at] ^= (char)(1 << bit);
                if (unpack(&packed, codecs[c], 300, &out, NULL) == 0)
                    assert_int_equal(out.len, 300);
                packed.data[at] ^= (char)(1 << bit);
            }
        }
    }
}

/* 64 MiB of zeros in a few kilobytes: the prefix that is needed costs what it is. */
static void bomb_costs_what_is_needed(void **state)
{
    AUTO(buf) struct buf packed = BUF_INIT(1 << 20);
    AUTO(buf) struct buf out = BUF_INIT(1000);
    size_t n = (size_t)64 << 20;
    AUTO_FREE char *zeros = calloc(1, n);
    struct err err = {0};

    (void)state;
    pack(&packed, ARROW_ZSTD, zeros, n, (int64_t)n);
    assert_true(packed.len < 10000);
    assert_ok(unpack(&packed, ARROW_ZSTD, 1000, &out, &err), &err);
    assert_int_equal(out.len, 1000);
    assert_true(out.cap <= 1024);
}

/* A promise that is not kept takes no memory: the frame has 10 bytes, a terabyte is needed. */
static void promise_costs_nothing(void **state)
{
    AUTO(buf) struct buf packed = BUF_INIT(1 << 20);
    AUTO(buf) struct buf out = BUF_INIT((size_t)1 << 40);
    struct err err = {0};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        buf_release(&packed);
        pack(&packed, codecs[c], "0123456789", 10, INT64_C(1) << 40);
        buf_clear(&out);
        assert_fails(unpack(&packed, codecs[c], (size_t)1 << 40, &out, &err), EBADMSG, &err,
                     "compressed data ends before 1099511627776 bytes");
        assert_true(out.cap <= 1 << 17);
    }
}

/* A buf that may not hold what is needed says so. */
static void output_is_bounded(void **state)
{
    AUTO(buf) struct buf raw = BUF_INIT(100);
    struct err err = {0};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        AUTO(buf) struct buf packed = BUF_INIT(1000);
        AUTO(buf) struct buf out = BUF_INIT(18);

        pack(&packed, codecs[c], "hello, hello, hello", 19, 19);
        assert_fails(unpack(&packed, codecs[c], 19, &out, &err), EMSGSIZE, &err,
                     "more than 18 bytes");
    }
    AUTO(buf) struct buf out = BUF_INIT(4);
    buf_add(&raw, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFhello", 13);
    assert_fails(unpack(&raw, ARROW_LZ4, 5, &out, &err), EMSGSIZE, &err, "more than 4 bytes");
}

/* One decompressor serves buffer after buffer, also after one that failed. */
static void contexts_are_reused(void **state)
{
    AUTO(decompressor) struct decompressor d = {0};

    (void)state;
    for (size_t c = 0; c < 2; c++) {
        AUTO(buf) struct buf packed = BUF_INIT(1000);

        pack(&packed, codecs[c], "hello, hello, hello", 19, 19);
        for (int i = 0; i < 3; i++) {
            AUTO(buf) struct buf out = BUF_INIT(19);
            struct err err = {0};
            const uint8_t *data = (const uint8_t *)packed.data;

            assert_int_equal(decompress(&d, codecs[c], data, packed.len - 4, 19, &out, &err),
                             -EBADMSG);
            buf_clear(&out);
            assert_ok(decompress(&d, codecs[c], data, packed.len, 19, &out, &err), &err);
            assert_string_equal(out.data, "hello, hello, hello");
        }
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(whole_and_prefix),
    cmocka_unit_test(stored_raw),
    cmocka_unit_test(wrong_lengths),
    cmocka_unit_test(damage_is_contained),
    cmocka_unit_test(bomb_costs_what_is_needed),
    cmocka_unit_test(promise_costs_nothing),
    cmocka_unit_test(output_is_bounded),
    cmocka_unit_test(contexts_are_reused),
};
TEST_MAIN(tests)
