/*
 * The text is fixed-size so that an error needs no memory and no release. Words from outside
 * (a server's body, a file's content) may be long: what does not fit is cut at a character
 * boundary and ends in "...".
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void cut_to_fit(char *text, int wanted)
{
    static const char dots[] = "...";
    size_t end = ERR_TEXT_MAX - sizeof(dots);

    if (wanted < ERR_TEXT_MAX)
        return;
    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, dots, sizeof(dots));
}

int err_set(struct err *err, int code, const char *fmt, ...)
{
    va_list ap;

    if (err) {
        err->code = -code;
        va_start(ap, fmt);
        cut_to_fit(err->text, vsnprintf(err->text, sizeof(err->text), fmt, ap));
        va_end(ap);
    }
    return -code;
}

int err_sys(struct err *err, int code, const char *fmt, ...)
{
    char words[ERR_TEXT_MAX], reason[128];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    return err_set(err, code, "%s: %s", words, strerror_r(code, reason, sizeof(reason)));
}

int err_prefix(struct err *err, const char *fmt, ...)
{
    char words[ERR_TEXT_MAX], old[ERR_TEXT_MAX];
    va_list ap;

    if (!err)
        return -EIO;
    memcpy(old, err->text, sizeof(old));
    va_start(ap, fmt);
    vsnprintf(words, sizeof(words), fmt, ap);
    va_end(ap);
    return err_set(err, -err->code, "%s: %s", words, old);
}
