#include "base/base64.h"

#include <stdint.h>

int base64_add(struct buf *out, const void *data, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const uint8_t *p = data;
    int r = buf_reserve(out, (n + 2) / 3 * 4);
    char *to;

    if (r < 0)
        return r;
    to = out->data + out->len;
    for (; n >= 3; n -= 3, p += 3) {
        *to++ = digits[p[0] >> 2];
        *to++ = digits[(p[0] & 3) << 4 | p[1] >> 4];
        *to++ = digits[(p[1] & 15) << 2 | p[2] >> 6];
        *to++ = digits[p[2] & 63];
    }
    if (n > 0) {
        *to++ = digits[p[0] >> 2];
        *to++ = digits[(p[0] & 3) << 4 | (n == 2 ? p[1] >> 4 : 0)];
        *to++ = n == 2 ? digits[(p[1] & 15) << 2] : '=';
        *to++ = '=';
    }
    *to = 0;
    out->len = (size_t)(to - out->data);
    return 0;
}
