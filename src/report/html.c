#include "report/html.h"

#include "base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define THIN_SPACE "\xE2\x80\xAF" /* U+202F: narrow, and does not break */
#define DIGITS     4

/* Characters that order the text around them: marks, embeddings, overrides, isolates. */
static bool turns_text(uint32_t code)
{
    return code == 0x061C || code == 0x200E || code == 0x200F ||
           (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

static bool is_control(uint32_t code)
{
    return (code < 0x20 && code != '\t' && code != '\n') || (code >= 0x7F && code < 0xA0);
}

static const char *entity(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_text(struct buf *out, const char *text)
{
    size_t n = text ? strnlen(text, HTML_TEXT_MAX + 4) : 0, i = 0;

    if (!text)
        buf_adds(out, HTML_ABSENT);
    while (i < n && i < HTML_TEXT_MAX) {
        uint32_t code = 0xFFFD;
        size_t len = utf8_char(text + i, n - i, &code);

        if (len == 0)
            buf_adds(out, "\xEF\xBF\xBD");
        else if (len == 1 && entity(text[i]))
            buf_adds(out, entity(text[i]));
        else if (is_control(code) || turns_text(code))
            buf_addf(out, "[U+%04" PRIX32 "]", code);
        else
            buf_add(out, text + i, len);
        i += len ? len : 1;
    }
    if (i < n)
        buf_adds(out, " [cut: longer than a page can show]");
}

/* The bytes at p that must not stand in a script block as they are: how many, and their name. */
static size_t unsafe_in_script(const char *p, size_t n, const char **ret)
{
    switch (*p) {
    case '<':
        *ret = "\\u003c";
        return 1;
    case '>':
        *ret = "\\u003e";
        return 1;
    case '&':
        *ret = "\\u0026";
        return 1;
    case '\xE2':
        if (n < 3 || p[1] != '\x80' || (p[2] != '\xA8' && p[2] != '\xA9'))
            return 0;
        *ret = p[2] == '\xA8' ? "\\u2028" : "\\u2029";
        return 3;
    default:
        return 0;
    }
}

void html_json(struct buf *out, const char *json, size_t n)
{
    size_t start = 0, i = 0;

    while (i < n) {
        const char *name = NULL;
        size_t len = unsafe_in_script(json + i, n - i, &name);

        if (len == 0) {
            i++;
            continue;
        }
        buf_add(out, json + start, i - start);
        buf_adds(out, name);
        i += len;
        start = i;
    }
    buf_add(out, json + start, n - start);
}

/* How many decimals show DIGITS digits of the value. */
static int decimals_of(double value)
{
    int before;

    if (value == 0)
        return 0;
    before = (int)floor(log10(fabs(value))) + 1; /* digits in front of the point */
    return before >= DIGITS ? 0 : DIGITS - before;
}

static void add_grouped(struct buf *out, const char *number)
{
    size_t whole;

    if (*number == '-') {
        buf_adds(out, "\xE2\x88\x92"); /* the minus sign */
        number++;
    }
    whole = strspn(number, "0123456789");
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0 && whole > 4)
            buf_adds(out, THIN_SPACE);
        buf_addc(out, number[i]);
    }
    buf_adds(out, number + whole);
}

static void add_number(struct buf *out, double value, int decimals)
{
    char text[400]; /* the largest double has 309 digits */

    if (fabs(value) >= 1e12 || (value != 0 && fabs(value) < 1e-6))
        snprintf(text, sizeof(text), "%.*e", DIGITS - 1, value);
    else
        snprintf(text, sizeof(text), "%.*f", decimals, value);
    add_grouped(out, text);
}

/* A thousand times larger or smaller than the unit, so that the number is short. */
struct prefix {
    double factor;
    const char *name;
};

static struct prefix prefix_for(double value, const char *unit)
{
    static const struct prefix prefixes[] = {{1e-9, "n"}, {1e-6, "\xC2\xB5"}, {1e-3, "m"}};
    double size = fabs(value);

    if (!unit || !*unit || unit[1] || !strchr("JWs", *unit))
        return (struct prefix){1, ""};
    if (*unit != 's' && size >= 1e8)
        return (struct prefix){1e6, "M"};
    if (*unit != 's' && size >= 1e5)
        return (struct prefix){1e3, "k"};
    for (size_t i = 0; i < 3 && size > 0 && size < 0.1; i++)
        if (size < 1e3 * prefixes[i].factor)
            return prefixes[i];
    return (struct prefix){1, ""};
}

static void add_unit(struct buf *out, const struct prefix *p, const char *unit)
{
    if (unit && *unit) {
        buf_adds(out, "\xC2\xA0"); /* does not break */
        buf_adds(out, p->name);
        html_text(out, unit);
    }
}

void html_quantity(struct buf *out, double value, const char *unit)
{
    struct prefix p = prefix_for(value, unit);

    if (!isfinite(value)) {
        buf_adds(out, HTML_ABSENT);
        return;
    }
    value /= p.factor;
    add_number(out, value, value == floor(value) ? 0 : decimals_of(value));
    add_unit(out, &p, unit);
}

void html_bounded(struct buf *out, double value, double low, double high, const char *unit)
{
    struct prefix p = prefix_for(value, unit);
    int decimals;

    if (!isfinite(value) || !isfinite(low) || !isfinite(high)) {
        html_quantity(out, value, unit);
        return;
    }
    decimals = decimals_of(value / p.factor);
    add_number(out, value / p.factor, decimals);
    add_unit(out, &p, unit);
    buf_adds(out, " <span class=\"bounds\">(");
    add_number(out, low / p.factor, decimals);
    buf_adds(out, " to ");
    add_number(out, high / p.factor, decimals);
    buf_adds(out, ")</span>");
}

void html_count(struct buf *out, int64_t value)
{
    char text[32];

    if (value < 0) {
        buf_adds(out, HTML_ABSENT);
        return;
    }
    snprintf(text, sizeof(text), "%" PRId64, value);
    add_grouped(out, text);
}

void html_percent(struct buf *out, double part)
{
    if (!isfinite(part)) {
        buf_adds(out, HTML_ABSENT);
        return;
    }
    add_number(out, part * 100, 1);
    buf_adds(out, "\xC2\xA0%");
}
