#include "base/json.h"

#include "base/num.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct json_writer json_writer(struct buf *out, enum json_style style)
{
    return (struct json_writer){.out = out, .style = style, .first = true};
}

static void new_line(struct json_writer *w)
{
    buf_addc(w->out, '\n');
    for (int i = 0; i < w->depth; i++)
        buf_add(w->out, "  ", 2);
}

/* \uXXXX, as a pair beyond the basic plane. */
static void add_escape(struct buf *out, uint32_t code)
{
    if (code < 0x10000) {
        buf_addf(out, "\\u%04" PRIx32, code);
    } else {
        code -= 0x10000;
        buf_addf(out, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + (code >> 10),
                 0xDC00 + (code & 0x3FF));
    }
}

static void add_special(struct buf *out, uint32_t code)
{
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    const char *p = code < 0x80 && code ? strchr(letters, (int)code) : NULL;

    /* letters pairs a character with the one that stands for it: it must be the pair's first */
    if (p && (p - letters) % 2 == 0) {
        buf_addc(out, '\\');
        buf_addc(out, p[1]);
    } else {
        add_escape(out, code);
    }
}

static bool needs_escape(const struct json_writer *w, uint32_t code)
{
    return code < 0x20 || code == '"' || code == '\\' || code == 0x7F || (w->ascii && code > 0x7E);
}

static void add_quoted(struct json_writer *w, const char *text, size_t n)
{
    size_t start = 0, i = 0;

    buf_addc(w->out, '"');
    while (i < n) {
        uint32_t code = 0xFFFD;
        size_t len = utf8_char(text + i, n - i, &code);

        if (len && !needs_escape(w, code)) {
            i += len;
            continue;
        }
        buf_add(w->out, text + start, i - start);
        if (len || w->ascii)
            add_special(w->out, code);
        else
            buf_adds(w->out, "\xEF\xBF\xBD");
        i += len ? len : 1;
        start = i;
    }
    buf_add(w->out, text + start, n - start);
    buf_addc(w->out, '"');
}

/* What stands before a value: comma, line break, key. */
static void lead_in(struct json_writer *w, const char *key)
{
    if (!w->first)
        buf_addc(w->out, ',');
    if (w->style == JSON_PRETTY && w->depth > 0)
        new_line(w);
    else if (w->style == JSON_SPACED && !w->first)
        buf_addc(w->out, ' ');
    w->first = false;
    if (key) {
        add_quoted(w, key, strlen(key));
        buf_adds(w->out, w->style == JSON_LINE ? ":" : ": ");
    }
}

static void begin(struct json_writer *w, const char *key, char bracket)
{
    lead_in(w, key);
    buf_addc(w->out, bracket);
    w->depth++;
    w->first = true;
}

static void end(struct json_writer *w, char bracket)
{
    w->depth--;
    if (w->style == JSON_PRETTY && !w->first)
        new_line(w);
    buf_addc(w->out, bracket);
    w->first = false;
}

void jw_begin_object(struct json_writer *w, const char *key)
{
    begin(w, key, '{');
}

void jw_end_object(struct json_writer *w)
{
    end(w, '}');
}

void jw_begin_array(struct json_writer *w, const char *key)
{
    begin(w, key, '[');
}

void jw_end_array(struct json_writer *w)
{
    end(w, ']');
}

void jw_null(struct json_writer *w, const char *key)
{
    lead_in(w, key);
    buf_adds(w->out, "null");
}

void jw_bool(struct json_writer *w, const char *key, bool value)
{
    lead_in(w, key);
    buf_adds(w->out, value ? "true" : "false");
}

void jw_int(struct json_writer *w, const char *key, int64_t value)
{
    lead_in(w, key);
    buf_addf(w->out, "%" PRId64, value);
}

void jw_uint(struct json_writer *w, const char *key, uint64_t value)
{
    lead_in(w, key);
    buf_addf(w->out, "%" PRIu64, value);
}

void jw_real(struct json_writer *w, const char *key, double value)
{
    char text[32];

    if (!isfinite(value)) {
        jw_null(w, key);
        return;
    }
    format_f64(value, text);
    lead_in(w, key);
    buf_adds(w->out, text);
    if (!strpbrk(text, ".e")) /* a real stays a real for the next reader */
        buf_adds(w->out, ".0");
}

void jw_textn(struct json_writer *w, const char *key, const char *text, size_t n)
{
    if (!text) {
        jw_null(w, key);
        return;
    }
    lead_in(w, key);
    add_quoted(w, text, n);
}

void jw_text(struct json_writer *w, const char *key, const char *text)
{
    jw_textn(w, key, text, text ? strlen(text) : 0);
}

void jw_value(struct json_writer *w, const char *key, const struct json *v)
{
    switch (v ? v->type : JSON_NULL) {
    case JSON_NULL:
        jw_null(w, key);
        break;
    case JSON_BOOL:
        jw_bool(w, key, v->boolean);
        break;
    case JSON_INT:
        jw_int(w, key, v->integer);
        break;
    case JSON_REAL:
        jw_real(w, key, v->real);
        break;
    case JSON_STRING:
        jw_textn(w, key, v->text, v->len);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        begin(w, key, v->type == JSON_ARRAY ? '[' : '{');
        JSON_FOREACH (item, v)
            jw_value(w, item->key, item);
        end(w, v->type == JSON_ARRAY ? ']' : '}');
        break;
    }
}
