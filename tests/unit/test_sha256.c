#include "harness.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sha256.h"

static void check(const void *data, size_t n, const char *wanted)
{
    uint8_t digest[SHA256_SIZE];
    char hex[2 * SHA256_SIZE + 1];

    sha256(data, n, digest);
    for (size_t i = 0; i < SHA256_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, wanted);
}

/* The vectors of FIPS 180-4, and lengths around the block's end (checked with sha256sum). */
static void known_digests(void **state)
{
    char a[1000];

    (void)state;
    memset(a, 'a', sizeof(a));
    check("", 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check(NULL, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
          "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    check(a, 55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    check(a, 64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
    check(a, 1000, "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3");
}

static void in_base64(void **state)
{
    char text[SHA256_BASE64_SIZE];

    (void)state;
    sha256_base64("", 0, text);
    assert_string_equal(text, "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
}

static void base64_vectors(void **state)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
        {"\xFF\xFE\xFD", "//79"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
        AUTO(buf) struct buf out = BUF_INIT(64);

        assert_int_equal(base64_add(&out, pairs[i][0], strlen(pairs[i][0])), 0);
        assert_string_equal(buf_str(&out), pairs[i][1]);
    }
}

static void base64_respects_the_limit(void **state)
{
    AUTO(buf) struct buf out = BUF_INIT(6);

    (void)state;
    buf_adds(&out, "ab");
    assert_true(base64_add(&out, "foob", 4) < 0);
    assert_string_equal(buf_str(&out), "ab");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(known_digests),
    cmocka_unit_test(in_base64),
    cmocka_unit_test(base64_vectors),
    cmocka_unit_test(base64_respects_the_limit),
};
TEST_MAIN(tests)
