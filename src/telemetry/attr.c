/*
 * The sampled path is attr_read: one pread and a loop over the digits. The files are opened without
 * blocking, so that a pipe where a file should be cannot hang a collector.
 */
#include "telemetry/attr.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int attr_open(int dirfd, const char *path)
{
    int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    return fd < 0 ? -errno : fd;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static int parse_whole(const char *p, const char *end, int64_t *ret)
{
    bool negative = p < end && *p == '-';
    uint64_t value = 0;

    p += negative;
    if (p == end || !is_digit(*p))
        return -EINVAL;
    for (; p < end && is_digit(*p); p++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
            return -ERANGE;
    while (p < end && is_blank(*p))
        p++;
    if (p != end)
        return -EINVAL;
    if (value > INT64_MAX)
        return -ERANGE;
    *ret = negative ? -(int64_t)value : (int64_t)value;
    return 0;
}

static ssize_t pread_retry(int fd, void *p, size_t n)
{
    ssize_t got;

    do
        got = pread(fd, p, n, 0);
    while (got < 0 && errno == EINTR);
    return got;
}

int attr_read(int fd, int64_t *ret)
{
    char text[64];
    ssize_t got = pread_retry(fd, text, sizeof(text));

    if (got < 0)
        return -errno;
    if (got == 0)
        return -ENODATA;
    if ((size_t)got == sizeof(text))
        return -EINVAL;
    return parse_whole(text, text + got, ret);
}

int attr_read_at(int dirfd, const char *path, int64_t *ret)
{
    AUTO_FD int fd = attr_open(dirfd, path);

    return fd < 0 ? fd : attr_read(fd, ret);
}

int attr_text(int dirfd, const char *path, char *ret, size_t size)
{
    AUTO_FD int fd = attr_open(dirfd, path);
    char text[512];
    ssize_t got;

    ret[0] = '\0';
    if (fd < 0)
        return fd;
    got = pread_retry(fd, text, sizeof(text));
    if (got < 0)
        return -errno;
    return (int)text_clean(ret, size, text, strnlen(text, (size_t)got));
}

size_t text_clean(char *ret, size_t size, const char *text, size_t n)
{
    size_t len = 0;

    while (n > 0 && is_blank(*text))
        text++, n--;
    while (n > 0 && is_blank(text[n - 1]))
        n--;
    while (n > 0) {
        uint32_t code = 0;
        size_t width = utf8_char(text, n, &code);
        bool shown = width > 0 && code >= 0x20 && code != 0x7F && !(code >= 0x80 && code < 0xA0);

        if (len + (shown ? width : 1) >= size)
            break;
        if (shown)
            memcpy(ret + len, text, width);
        else
            ret[len] = '?';
        len += shown ? width : 1;
        text += width ? width : 1;
        n -= width ? width : 1;
    }
    ret[len] = '\0';
    return len;
}

int text_take_index(const char **p)
{
    const char *c = *p;
    int value = 0;

    if (!is_digit(*c) || (c[0] == '0' && is_digit(c[1])))
        return -1;
    for (; is_digit(*c); c++) {
        value = value * 10 + (*c - '0');
        if (value > ATTR_INDEX_MAX)
            return -1;
    }
    *p = c;
    return value;
}

/* The N of <prefix>N<suffix>, -1 when the name is not of that form. */
static int index_in_name(const char *name, const char *prefix, const char *suffix)
{
    size_t skip = strlen(prefix);
    int index;

    if (strncmp(name, prefix, skip) != 0)
        return -1;
    name += skip;
    index = text_take_index(&name);
    return strcmp(name, suffix) == 0 ? index : -1;
}

static int by_value(const void *a, const void *b)
{
    int x = *(const int *)a, y = *(const int *)b;

    return (x > y) - (x < y);
}

size_t attr_indices(int dirfd, const char *prefix, const char *suffix, int **ret)
{
    /* A descriptor of its own: readdir moves the position of the one it is given. */
    int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    size_t n = 0, cap = 0, seen = 0;
    struct dirent *e;

    *ret = NULL;
    if (!dir) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    while (seen++ < ATTR_ENTRIES_MAX && (e = readdir(dir))) {
        int index = index_in_name(e->d_name, prefix, suffix);

        if (index < 0)
            continue;
        GROW(*ret, n, cap);
        (*ret)[n++] = index;
    }
    closedir(dir);
    if (n > 1)
        qsort(*ret, n, sizeof(**ret), by_value);
    return n;
}
