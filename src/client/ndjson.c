#include "client/ndjson.h"

#include <errno.h>
#include <string.h>

void ndjson_init(struct ndjson *s, size_t max, ndjson_line_fn on_line, void *arg)
{
    *s = (struct ndjson){.on_line = on_line, .arg = arg, .line = BUF_INIT(max)};
}

void ndjson_release(struct ndjson *s)
{
    buf_release(&s->line);
}

static int take_line(struct ndjson *s, const char *line, size_t n)
{
    static const char blanks[] = " \t\r";

    while (n > 0 && memchr(blanks, line[n - 1], sizeof(blanks) - 1))
        n--;
    return n > 0 ? s->on_line(s->arg, line, n) : 0;
}

/* A line's last part is there: from the piece if it is all of it, else joined to its beginning. */
static int finish_line(struct ndjson *s, const char *p, size_t n)
{
    int r;

    if (s->line.len == 0) /* the limit counts here too: the pieces must not matter */
        return n > s->line.max ? -EMSGSIZE : take_line(s, p, n);
    r = buf_add(&s->line, p, n);
    if (r == 0)
        r = take_line(s, s->line.data, s->line.len);
    buf_clear(&s->line);
    return r;
}

int ndjson_feed(struct ndjson *s, const char *piece, size_t n)
{
    const char *p = piece, *end = piece + n;
    int r = 0;

    while (p < end && r == 0) {
        const char *lf = memchr(p, '\n', (size_t)(end - p));

        if (!lf)
            return buf_add(&s->line, p, (size_t)(end - p));
        r = finish_line(s, p, (size_t)(lf - p));
        p = lf + 1;
    }
    return r;
}

int ndjson_end(struct ndjson *s)
{
    return s->line.len > 0 ? finish_line(s, "", 0) : 0;
}
