/*
 * A piece is cut into lines; a line is looked at once it is whole. In the usual case (a data line
 * and a blank line in one piece) the event's data is a slice of the piece; it is copied only when
 * the piece ends before the event does, or when a second data line joins it.
 */
#include "client/sse.h"

#include <errno.h>
#include <string.h>

void sse_init(struct sse *s, size_t max, sse_event_fn on_event, void *arg)
{
    *s = (struct sse){
        .on_event = on_event, .arg = arg, .line = BUF_INIT(max), .joined = BUF_INIT(max)};
}

void sse_release(struct sse *s)
{
    buf_release(&s->line);
    buf_release(&s->joined);
}

/* Moves data that lies in the piece to memory of our own. */
static int settle(struct sse *s)
{
    if (s->place != SSE_IN_PIECE)
        return 0;
    s->place = SSE_JOINED;
    buf_clear(&s->joined);
    return buf_add(&s->joined, s->data, s->data_len);
}

static int add_data(struct sse *s, const char *value, size_t n, bool in_piece)
{
    int r;

    if (s->place == SSE_NO_DATA) {
        s->place = SSE_IN_PIECE;
        s->data = value;
        s->data_len = n;
        return in_piece ? 0 : settle(s);
    }
    r = settle(s);
    if (r == 0)
        r = buf_addc(&s->joined, '\n');
    return r < 0 ? r : buf_add(&s->joined, value, n);
}

static void set_type(struct sse *s, const char *value, size_t n)
{
    if (n >= sizeof(s->type))
        n = sizeof(s->type) - 1;
    memcpy(s->type, value, n);
    s->type[n] = '\0';
}

/* The blank line. An event without data is none. */
static int dispatch(struct sse *s)
{
    int r = 0;

    if (s->place == SSE_IN_PIECE)
        r = s->on_event(s->arg, s->type, s->data, s->data_len);
    else if (s->place == SSE_JOINED)
        r = s->on_event(s->arg, s->type, buf_str(&s->joined), s->joined.len);
    s->place = SSE_NO_DATA;
    s->type[0] = '\0';
    return r;
}

static bool is_field(const char *name, size_t n, const char *field)
{
    return n == strlen(field) && memcmp(name, field, n) == 0;
}

static int take_line(struct sse *s, const char *line, size_t n, bool in_piece)
{
    const char *colon, *value;
    size_t name_len;

    if (!s->begun && n >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) {
        line += 3;
        n -= 3;
    }
    s->begun = true;
    if (n == 0)
        return dispatch(s);
    colon = memchr(line, ':', n);
    if (colon == line)
        return 0; /* a comment */
    name_len = colon ? (size_t)(colon - line) : n;
    value = colon ? colon + 1 : line + n;
    if (value < line + n && *value == ' ')
        value++;
    n = (size_t)(line + n - value);
    if (is_field(line, name_len, "data"))
        return add_data(s, value, n, in_piece);
    if (is_field(line, name_len, "event"))
        set_type(s, value, n);
    else if (!is_field(line, name_len, "id") && !is_field(line, name_len, "retry"))
        s->junk_lines++;
    return 0;
}

/* A line's last part is there: from the piece if it is all of it, else joined to its beginning. */
static int finish_line(struct sse *s, const char *p, size_t n)
{
    int r;

    if (s->line.len == 0) /* the limit counts here too: the pieces must not matter */
        return n > s->line.max ? -EMSGSIZE : take_line(s, p, n, true);
    r = buf_add(&s->line, p, n);
    if (r == 0)
        r = take_line(s, s->line.data, s->line.len, false);
    buf_clear(&s->line);
    return r;
}

int sse_feed(struct sse *s, const char *piece, size_t n)
{
    const char *p = piece, *end = piece + n, *lf = NULL;
    int r = 0;

    while (p < end && r == 0) {
        const char *eol;

        if (s->after_cr && *p == '\n') {
            s->after_cr = false;
            p++;
            continue;
        }
        s->after_cr = false;
        /* kept over the lines that end in CR, else a piece full of those would be searched for its
         * next LF again and again */
        if (!lf || lf < p) {
            lf = memchr(p, '\n', (size_t)(end - p));
            lf = lf ? lf : end;
        }
        eol = memchr(p, '\r', (size_t)(lf - p));
        eol = eol ? eol : lf;
        if (eol == end) {
            r = buf_add(&s->line, p, (size_t)(end - p));
            break;
        }
        s->after_cr = *eol == '\r';
        r = finish_line(s, p, (size_t)(eol - p));
        p = eol + 1;
    }
    return r != 0 ? r : settle(s);
}

int sse_end(struct sse *s)
{
    int r = 0;

    if (s->line.len > 0)
        r = finish_line(s, "", 0);
    return r != 0 ? r : dispatch(s);
}
