/* Strict where it decides how many bytes belong to a request, tolerant elsewhere. */
#include "request.h"

#include "base/num.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* Bytes up to and with the blank line; 0 = not there yet. */
static size_t head_length(const char *data, size_t n)
{
    const char *end = memmem(data, n, "\r\n\r\n", 4);

    return end ? (size_t)(end - data) + 4 : 0;
}

/* Copies [p, end) if it fits. */
static bool copy(char *text, size_t size, const char *p, const char *end)
{
    size_t n = (size_t)(end - p);

    if (n >= size)
        return false;
    memcpy(text, p, n);
    text[n] = '\0';
    return true;
}

static int parse_request_line(const char *line, const char *end, struct request *r)
{
    const char *target = memchr(line, ' ', (size_t)(end - line)), *version, *query;

    if (!target || !copy(r->method, sizeof(r->method), line, target))
        return 400;
    target++;
    version = memchr(target, ' ', (size_t)(end - target));
    if (!version || *target != '/')
        return 400;
    if (end - version != 9 || memcmp(version, " HTTP/1.", 8) != 0)
        return 400;
    r->http10 = version[8] == '0';
    query = memchr(target, '?', (size_t)(version - target));
    if (query && !copy(r->query, sizeof(r->query), query + 1, version))
        return 400;
    return copy(r->path, sizeof(r->path), target, query ? query : version) ? 0 : 400;
}

static bool is_name(const char *line, const char *colon, const char *name)
{
    return (size_t)(colon - line) == strlen(name) && strncasecmp(line, name, strlen(name)) == 0;
}

static int parse_header(const char *line, const char *end, struct request *r)
{
    const char *colon = memchr(line, ':', (size_t)(end - line)), *value;
    char text[64];
    bool fits;

    if (!colon || colon == line)
        return 400;
    for (value = colon + 1; value < end && (*value == ' ' || *value == '\t'); value++)
        ;
    fits = copy(text, sizeof(text), value, end);
    if (is_name(line, colon, "Content-Length")) {
        if (!fits || r->body_bytes >= 0 || parse_i64(text, &r->body_bytes, NULL) < 0 ||
            r->body_bytes < 0)
            return 400;
    } else if (is_name(line, colon, "Transfer-Encoding")) {
        return 411;
    } else if (is_name(line, colon, "Connection") && fits) {
        r->close = r->close || strcasecmp(text, "close") == 0;
    } else if (is_name(line, colon, "Expect") && fits) {
        r->expect_100 = strcasecmp(text, "100-continue") == 0;
    } else if (is_name(line, colon, "Authorization")) {
        copy(r->authorization, sizeof(r->authorization), value, end);
    } else if (is_name(line, colon, "Content-Type")) {
        copy(r->content_type, sizeof(r->content_type), value, end);
    }
    return 0;
}

int request_parse(const char *data, size_t n, struct request *ret)
{
    struct request r = {.body_bytes = -1};
    const char *line = data, *end;
    int status;

    r.head_bytes = head_length(data, n);
    if (r.head_bytes == 0)
        return n > REQUEST_HEAD_MAX ? 431 : 1;
    if (r.head_bytes > REQUEST_HEAD_MAX)
        return 431;
    if (memchr(data, '\0', r.head_bytes))
        return 400;
    end = memmem(line, r.head_bytes, "\r\n", 2);
    status = parse_request_line(line, end, &r);
    for (line = end + 2; status == 0 && line < data + r.head_bytes - 2; line = end + 2) {
        end = memmem(line, (size_t)(data + r.head_bytes - line), "\r\n", 2);
        status = parse_header(line, end, &r);
    }
    if (status)
        return status;
    if (r.body_bytes > REQUEST_BODY_MAX)
        return 413;
    if (strcmp(r.method, "GET") != 0 && strcmp(r.method, "HEAD") != 0 &&
        strcmp(r.method, "POST") != 0)
        return 501;
    if (r.body_bytes < 0 && strcmp(r.method, "POST") == 0)
        return 411;
    r.body_bytes = r.body_bytes < 0 ? 0 : r.body_bytes;
    r.close = r.close || r.http10;
    *ret = r;
    return 0;
}
