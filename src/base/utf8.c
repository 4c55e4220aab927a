#include "base/utf8.h"

#include <string.h>

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

/* Most text beyond ASCII has two or three bytes a character, and its first byte leaves nothing to
 * ask but whether the others continue it. 0: look closer. */
static size_t plain_char(const char *text, size_t n)
{
    const unsigned char *p = (const unsigned char *)text;

    if (p[0] >= 0xC2 && p[0] < 0xE0 && n >= 2 && (p[1] & 0xC0) == 0x80)
        return 2;
    if (p[0] > 0xE0 && p[0] < 0xF0 && p[0] != 0xED && n >= 3 && (p[1] & 0xC0) == 0x80 &&
        (p[2] & 0xC0) == 0x80)
        return 3;
    return 0;
}

bool utf8_valid(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n) {
        size_t len = p[i] & 0x80 ? plain_char(p + i, n - i) : ascii_run(p + i, n - i);

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
