/*
 * Strings are most of a message, so they are passed over eight bytes at a time. The rules are those
 * of RFC 8259; where the full parser is laxer or does more, this one declines.
 */
#include "client/skim.h"

#include "base/utf8.h"

#include <stdint.h>

#define SKIM_DEPTH_MAX  8
#define SKIM_NUMBER_MAX 32 /* digits; a number this long cannot overflow a double */

static bool decline(struct skim *s)
{
    s->p = NULL;
    return false;
}

/* The next byte that is not blank, 0 at the end. */
static char peek(struct skim *s)
{
    if (!s->p)
        return 0;
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\n' || *s->p == '\t' || *s->p == '\r'))
        s->p++;
    return s->p < s->end ? *s->p : 0;
}

bool skim_open(struct skim *s, char bracket)
{
    if (peek(s) != bracket)
        return decline(s);
    s->p++;
    s->fresh = true;
    return true;
}

/* Does one of the eight bytes end a run of plain text: a control character, a quote, a backslash,
 * or something beyond ASCII? The tests may also fire for a byte above one that ends the run. */
static bool ends_run(uint64_t word)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), tops = UINT64_C(0x8080808080808080);
    uint64_t quote = word ^ (ones * '"'), backslash = word ^ (ones * '\\');

    return ((word | (word - ones * 0x20) | (quote - ones) | (backslash - ones)) & tops) != 0;
}

static const char *skip_plain(const char *p, const char *end)
{
    uint64_t word;

    for (; end - p >= 8; p += 8) {
        memcpy(&word, p, 8);
        if (ends_run(word))
            break;
    }
    while (p < end && (unsigned char)*p >= 0x20 && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return p;
}

/* The length of the escape at p, 0 when it is not ordinary. Surrogates are not. */
static size_t escape_length(const char *p, const char *end)
{
    if (end - p < 2)
        return 0;
    if (p[1] != 'u')
        return p[1] && strchr("\"\\/bfnrt", p[1]) ? 2 : 0;
    if (end - p < 6 || ((p[2] == 'd' || p[2] == 'D') && !(p[3] >= '0' && p[3] <= '7')))
        return 0;
    for (int i = 2; i < 6; i++)
        if (!p[i] || !strchr("0123456789abcdefABCDEF", p[i]))
            return 0;
    return 6;
}

bool skim_string(struct skim *s, struct skim_text *ret)
{
    struct skim_text text = {0};

    if (peek(s) != '"')
        return decline(s);
    text.p = ++s->p;
    for (;;) {
        size_t n;

        s->p = skip_plain(s->p, s->end);
        if (s->p == s->end)
            return decline(s);
        if (*s->p == '"')
            break;
        text.escaped = text.escaped || *s->p == '\\';
        if (*s->p == '\\')
            n = escape_length(s->p, s->end);
        else /* a control character is valid UTF-8, but not JSON */
            n = *s->p & 0x80 ? utf8_char(s->p, (size_t)(s->end - s->p), NULL) : 0;
        if (n == 0)
            return decline(s);
        s->p += n;
    }
    text.n = (size_t)(s->p - text.p);
    s->p++;
    *ret = text;
    return true;
}

/* Between elements: the closing bracket, or a comma unless this is the first. */
static bool another(struct skim *s, char close)
{
    bool fresh = s->fresh;
    char c = peek(s);

    s->fresh = false;
    if (c == close) {
        s->p++;
        return false;
    }
    if (fresh)
        return c || decline(s);
    if (c != ',')
        return decline(s);
    s->p++; /* what follows must be an element: a bracket is none */
    return true;
}

bool skim_member(struct skim *s, struct skim_text *ret_key)
{
    if (!another(s, '}') || !skim_string(s, ret_key))
        return false;
    if (ret_key->escaped || peek(s) != ':')
        return decline(s);
    s->p++;
    return true;
}

bool skim_element(struct skim *s)
{
    return another(s, ']');
}

bool skim_literal(struct skim *s, const char *literal)
{
    size_t n = strlen(literal);

    if (peek(s) != *literal || (size_t)(s->end - s->p) < n || memcmp(s->p, literal, n) != 0)
        return false;
    /* "0" must not be the beginning of "0.5" */
    if ((size_t)(s->end - s->p) > n && !strchr(",]} \t\r\n", s->p[n]))
        return false;
    s->p += n;
    return true;
}

static const char *skip_digits(const char *p, const char *end)
{
    while (p < end && *p >= '0' && *p <= '9')
        p++;
    return p;
}

static bool skip_number(struct skim *s)
{
    const char *p = s->p + (*s->p == '-');
    const char *whole = p;

    p = skip_digits(p, s->end);
    if (p == whole || (*whole == '0' && p - whole > 1))
        return decline(s);
    if (p < s->end && *p == '.') {
        const char *fraction = ++p;

        p = skip_digits(p, s->end);
        if (p == fraction)
            return decline(s);
    }
    if (p - s->p > SKIM_NUMBER_MAX || (p < s->end && (*p == 'e' || *p == 'E')))
        return decline(s);
    s->p = p;
    return true;
}

static bool skip_value(struct skim *s, int depth)
{
    struct skim_text ignored;

    if (depth > SKIM_DEPTH_MAX)
        return decline(s);
    switch (peek(s)) {
    case '"':
        return skim_string(s, &ignored);
    case '{':
        skim_open(s, '{');
        while (skim_member(s, &ignored))
            if (!skip_value(s, depth + 1))
                return false;
        return s->p != NULL;
    case '[':
        skim_open(s, '[');
        while (skim_element(s))
            if (!skip_value(s, depth + 1))
                return false;
        return s->p != NULL;
    case 't':
        return skim_literal(s, "true") || decline(s);
    case 'f':
        return skim_literal(s, "false") || decline(s);
    case 'n':
        return skim_literal(s, "null") || decline(s);
    case 0:
        return decline(s);
    default:
        return skip_number(s);
    }
}

bool skim_skip(struct skim *s)
{
    return skip_value(s, 0);
}

bool skim_done(struct skim *s)
{
    peek(s);
    return s->p == s->end;
}

/* Appends the character of the escape at p; returns the escape's length. */
static size_t add_escape(struct buf *out, const char *p)
{
    static const char letters[] = "bfnrt\"\\/", codes[] = "\b\f\n\r\t\"\\/";
    unsigned code = 0;

    if (p[1] != 'u') {
        buf_addc(out, codes[strchr(letters, p[1]) - letters]);
        return 2;
    }
    for (int i = 2; i < 6; i++)
        code = code << 4 | (unsigned)(p[i] <= '9' ? p[i] - '0' : (p[i] | 0x20) - 'a' + 10);
    if (code < 0x80) {
        buf_addc(out, (char)code);
    } else if (code < 0x800) {
        buf_addc(out, (char)(0xC0 | code >> 6));
        buf_addc(out, (char)(0x80 | (code & 0x3F)));
    } else {
        buf_addc(out, (char)(0xE0 | code >> 12));
        buf_addc(out, (char)(0x80 | (code >> 6 & 0x3F)));
        buf_addc(out, (char)(0x80 | (code & 0x3F)));
    }
    return 6;
}

bool skim_unescape(struct skim_text text, struct buf *out, struct skim_text *ret)
{
    const char *p = text.p, *end = text.p + text.n;
    size_t start = out->len;

    if (!text.escaped) {
        *ret = text;
        return true;
    }
    while (p < end) {
        const char *backslash = memchr(p, '\\', (size_t)(end - p));
        const char *stop = backslash ? backslash : end;

        buf_add(out, p, (size_t)(stop - p));
        p = backslash ? stop + add_escape(out, stop) : end;
    }
    *ret = (struct skim_text){.p = out->data + start, .n = out->len - start};
    return !out->failed;
}
