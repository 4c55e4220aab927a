/*
 * The check in blocks against the check character by character: they must agree on everything.
 */
#include "harness.h"

#include "base/cleanup.h"
#include "base/utf8.h"

static bool valid_by_characters(const char *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        size_t len = utf8_char(p + i, n - i, NULL);

        if (!len)
            return false;
        i += len;
    }
    return true;
}

/* A copy in a block of its own size, so that the sanitizer sees a read outside of it. */
static void compare(const char *text, size_t n)
{
    AUTO_FREE char *exact = malloc(n ? n : 1);

    memcpy(exact, text, n);
    if (utf8_valid(exact, n) != valid_by_characters(exact, n))
        fail_msg("%zu bytes: %d in blocks", n, utf8_valid(exact, n));
}

static const char *const scripts[] = {
    "a", "\xC3\xA9", "\xE4\xB8\x96", "\xED\x80\x80", "\xE0\xA4\x85", "\xF0\x9F\x98\x80"};

static void fill(char *text, size_t size, const char *character)
{
    size_t n = strlen(character);

    for (size_t i = 0; i < size; i++)
        text[i] = character[i % n];
}

/* Every text of one script at every length: whole, and cut inside a character. */
static void every_length(void **state)
{
    char text[800];

    (void)state;
    for (size_t k = 0; k < 6; k++) {
        fill(text, sizeof(text), scripts[k]);
        for (size_t n = 0; n <= sizeof(text); n++)
            compare(text, n);
    }
}

/* Every pair of bytes, and third and fourth bytes that matter, put over text of every script at
 * places around the ends of blocks. */
static void every_sequence(void **state)
{
    static const uint8_t thirds[] = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xFF};
    static const size_t places[] = {0, 3, 100, 258, 259, 260, 515, 700};
    char text[704];

    (void)state;
    for (size_t k = 0; k < 6; k++) {
        for (unsigned pair = 0; pair < 0x10000; pair += k == 2 ? 1 : 7) {
            for (size_t t = 0; t < sizeof(thirds); t++) {
                size_t at = places[(pair + t) % 8];
                bool expected;

                fill(text, sizeof(text), scripts[k]);
                text[at] = (char)(pair >> 8);
                text[at + 1] = (char)pair;
                text[at + 2] = (char)thirds[t];
                text[at + 3] = (char)thirds[(t + pair) % sizeof(thirds)];
                expected = valid_by_characters(text, sizeof(text));
                if (utf8_valid(text, sizeof(text)) != expected)
                    fail_msg("script %zu, %04x %02x at %zu: not %d", k, pair, thirds[t], at,
                             expected);
            }
        }
    }
}

/* One byte of a long valid text changed to any other. */
static void every_change(void **state)
{
    char text[700];

    (void)state;
    for (size_t i = 0; i + 21 <= sizeof(text); i += 21)
        memcpy(text + i,
               "a\xC3\xA9\xE4\xB8\x96\xF0\x9F\x98\x80\xED\x9E\xA3\xE0\xA4\x85"
               "bcdef",
               21);
    memset(text + sizeof(text) / 21 * 21, 'x', sizeof(text) % 21);
    assert_true(utf8_valid(text, sizeof(text)));
    for (size_t at = 0; at < sizeof(text); at++) {
        char old = text[at];

        for (int value = 0; value < 256; value += 1 + (int)(at % 5)) {
            text[at] = (char)value;
            compare(text, sizeof(text));
        }
        text[at] = old;
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(every_length),
    cmocka_unit_test(every_sequence),
    cmocka_unit_test(every_change),
};
TEST_MAIN(tests)
