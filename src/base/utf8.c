/*
 * Most text is ASCII and is passed over eight bytes at a time. Text in other scripts is checked in
 * blocks: that every byte continues a character exactly where one before it asks for that is a
 * comparison with its three neighbours, which vector instructions do for sixteen bytes at once.
 * What is left at the edges goes character by character.
 */
#include "base/utf8.h"

#include <string.h>

/* Sixteen bytes; comparisons give 0xFF or 0 for each. Every compiler we use knows these. */
typedef uint8_t bytes16 __attribute__((vector_size(16)));

#define BLOCK_BYTES 256

size_t utf8_char(const char *text, size_t n, uint32_t *ret_code)
{
    const unsigned char *p = (const unsigned char *)text;
    uint32_t code;
    size_t len;

    if (n == 0)
        return 0;
    if (p[0] < 0x80) {
        if (ret_code)
            *ret_code = p[0];
        return 1;
    }
    len = p[0] >= 0xF0 ? 4 : p[0] >= 0xE0 ? 3 : 2;
    if (p[0] < 0xC2 || p[0] > 0xF4 || len > n)
        return 0;
    code = p[0] & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xC0) != 0x80)
            return 0;
        code = code << 6 | (p[i] & 0x3F);
    }
    if ((len == 3 && code < 0x800) || (len == 4 && (code < 0x10000 || code > 0x10FFFF)) ||
        (code >= 0xD800 && code <= 0xDFFF))
        return 0;
    if (ret_code)
        *ret_code = code;
    return len;
}

/* How many of the first n bytes are certainly ASCII, eight at a time. */
static size_t ascii_run(const char *p, size_t n)
{
    size_t i = 0;
    uint64_t word;

    for (; i + 8 <= n; i += 8) {
        memcpy(&word, p + i, 8);
        if (word & UINT64_C(0x8080808080808080))
            break;
    }
    return i;
}

static bytes16 load16(const unsigned char *p)
{
    bytes16 v;

    memcpy(&v, p, sizeof(v));
    return v;
}

static bool any16(bytes16 v)
{
    uint64_t half[2];

    memcpy(half, &v, sizeof(half));
    return half[0] | half[1];
}

/* Bytes that must not be in a character at all, or not after certain first bytes: overlong forms,
 * surrogates, code points beyond U+10FFFF. */
static bool block_has_bad_values(const unsigned char *p)
{
    bytes16 bad = {0};

    for (size_t i = 0; i < BLOCK_BYTES; i += 16) {
        bytes16 c = load16(p + i), before = load16(p + i - 1);
        bytes16 from_a0 = (bytes16)(c >= 0xA0), from_90 = (bytes16)(c >= 0x90);

        bad |= (bytes16)((before & 0xFE) == 0xC0) | (bytes16)(before >= 0xF5);
        bad |= ((bytes16)(before == 0xE0) & ~from_a0) | ((bytes16)(before == 0xED) & from_a0);
        bad |= ((bytes16)(before == 0xF0) & ~from_90) | ((bytes16)(before == 0xF4) & from_90);
    }
    return any16(bad);
}

/* Whether a block, of which the three bytes before it can be looked at too, is good as far as its
 * bytes go: its last character may still want more. A block of ASCII is not worth this. */
static bool block_is_good(const unsigned char *p, bool *ret_is_ascii)
{
    bytes16 bad = {0}, rare = {0}, all = {0};

    for (size_t i = 0; i < BLOCK_BYTES; i += 16) {
        bytes16 c = load16(p + i), c1 = load16(p + i - 1);
        bytes16 c2 = load16(p + i - 2), c3 = load16(p + i - 3);
        bytes16 wanted = (bytes16)(c1 >= 0xC0) | (bytes16)(c2 >= 0xE0) | (bytes16)(c3 >= 0xF0);

        bad |= wanted ^ (bytes16)((c & 0xC0) == 0x80);
        rare |= (bytes16)(c1 >= 0xF0) | (bytes16)(c1 == 0xE0) | (bytes16)(c1 == 0xED) |
                (bytes16)((c1 & 0xFE) == 0xC0);
        all |= c;
    }
    *ret_is_ascii = !any16(all & 0x80);
    return !any16(bad) && (!any16(rare) || !block_has_bad_values(p));
}

/* How many of the n bytes from p on, where a character starts and three bytes lie before it, are
 * certainly good characters, found by blocks. */
static size_t block_run(const unsigned char *p, size_t n)
{
    bool is_ascii = false;
    size_t i = 0;

    while (n - i >= BLOCK_BYTES && !is_ascii && block_is_good(p + i, &is_ascii))
        i += BLOCK_BYTES;
    if (i == 0)
        return 0;
    do /* the last one may not be complete: it is looked at again */
        i--;
    while ((p[i] & 0xC0) == 0x80);
    return i;
}

bool utf8_valid(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n) {
        size_t len = ascii_run(p + i, n - i);

        if (!len && i >= 3)
            len = block_run((const unsigned char *)p + i, n - i);
        if (!len)
            len = utf8_char(p + i, n - i, NULL);
        if (!len)
            return false;
        i += len;
    }
    return true;
}

int utf8_sanitize(struct buf *out, const char *p, size_t n)
{
    size_t start = 0, i = 0;
    int r = 0;

    while (i < n && r == 0) {
        size_t len = utf8_char(p + i, n - i, NULL);

        if (len) {
            i += len;
            continue;
        }
        r = buf_add(out, p + start, i - start);
        if (r == 0)
            r = buf_adds(out, "\xEF\xBF\xBD");
        start = ++i;
    }
    return r < 0 ? r : buf_add(out, p + start, n - start);
}
