#include "harness.h"

#include "base/checksum.h"

static void pieces_do_not_matter(void **state)
{
    unsigned char data[300];
    uint64_t whole;

    (void)state;
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (unsigned char)(i * 7 + 1);
    whole = checksum64(data, sizeof(data));
    for (size_t a = 0; a <= sizeof(data); a += 3) {
        for (size_t b = a; b <= sizeof(data); b += 17) {
            struct checksum c = {0};

            checksum_add(&c, data, a);
            checksum_add(&c, data + a, b - a);
            checksum_add(&c, data + b, sizeof(data) - b);
            assert_true(checksum_value(&c) == whole);
        }
    }
}

static void every_bit_and_the_length_count(void **state)
{
    unsigned char data[100] = {0};
    uint64_t zero = checksum64(data, sizeof(data));

    (void)state;
    assert_true(zero != checksum64(data, sizeof(data) - 1));
    for (size_t bit = 0; bit < 8 * sizeof(data); bit++) {
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(checksum64(data, sizeof(data)) != zero);
        data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(pieces_do_not_matter),
    cmocka_unit_test(every_bit_and_the_length_count),
};
TEST_MAIN(tests)
