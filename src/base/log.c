#include "base/log.h"

#include "base/buf.h"
#include "base/cleanup.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static enum log_level max_level = LOG_LEVEL_INFO;
static void (*before_line)(void);

void log_set_level(enum log_level level)
{
    max_level = level;
}

enum log_level log_level(void)
{
    return max_level;
}

void log_set_before(void (*before)(void))
{
    before_line = before;
}

static void log_line(enum log_level level, const char *label, const char *fmt, va_list ap)
    __attribute__((format(printf, 3, 0)));

/* One write per line, so that lines of several threads or processes do not mix. */
static void log_line(enum log_level level, const char *label, const char *fmt, va_list ap)
{
    char words[4096];
    AUTO(buf) struct buf line = BUF_INIT(BUF_MAX_OWN);
    int n;

    if (level > max_level)
        return;
    n = vsnprintf(words, sizeof(words), fmt, ap);
    if (n < 0)
        return;
    buf_addf(&line, "ipw: %s", label);
    for (const char *p = words; *p; p++) {
        unsigned char c = (unsigned char)*p;

        if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7F)
            buf_addf(&line, "\\x%02x", c);
        else
            buf_addc(&line, *p);
    }
    buf_addc(&line, '\n');
    fflush(stdout);
    if (before_line)
        before_line();
    if (write(STDERR_FILENO, line.data, line.len) < 0)
        return; /* stderr is gone: nowhere left to say so */
}

void log_error(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_line(LOG_LEVEL_ERROR, "error: ", fmt, ap);
    va_end(ap);
}

void log_warning(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_line(LOG_LEVEL_WARNING, "warning: ", fmt, ap);
    va_end(ap);
}

void log_info(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    log_line(LOG_LEVEL_INFO, "", fmt, ap);
    va_end(ap);
}
