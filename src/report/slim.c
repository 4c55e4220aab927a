#include "report/slim.h"

#include "plot/chart.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define DECIMALS 2

struct slimming {
    const char *svg;
    size_t n;
    struct buf *out;
    struct chart_colours colours[CHART_COLOURS];
    bool styled; /* the style is written: what comes is drawing */
    bool path;   /* inside of d="..." */
};

static void add_style(struct slimming *s)
{
    for (int dark = 0; dark < 2; dark++) {
        buf_adds(s->out,
                 dark ? "@media screen and (prefers-color-scheme:dark){svg{" : "<style>svg{");
        for (int i = 0; i < CHART_COLOURS; i++)
            buf_addf(s->out, "--%c:#%06x;", 'a' + i,
                     dark ? s->colours[i].dark : s->colours[i].light);
        buf_adds(s->out, dark ? "}}</style>" : "}");
    }
    s->styled = true;
}

/* The colour "rgb(0%,44.705882%,69.803922%)" at p: its bytes; 0 = none that is known. */
static size_t known_colour(const struct slimming *s, const char *p, size_t n, int *ret)
{
    const char *at = p + 4, *end = memchr(p, ')', n < 64 ? n : 64);
    unsigned colour = 0;

    if (!end || n < 4 || memcmp(p, "rgb(", 4) != 0)
        return 0;
    for (int i = 0; i < 3; i++) {
        char *after;
        double percent;

        at += strspn(at, ", ");
        percent = strtod(at, &after);
        if (after == at || after >= end || *after != '%' || !(percent >= 0 && percent <= 100))
            return 0;
        colour = colour << 8 | (unsigned)lround(percent * 2.55);
        at = after + 1;
    }
    for (int i = 0; i < CHART_COLOURS; i++)
        if (s->colours[i].light == colour) {
            *ret = i;
            return at == end ? (size_t)(end + 1 - p) : 0;
        }
    return 0;
}

/* The digits behind a point that are kept; *ret_skip are all of them. */
static size_t decimals(const char *p, size_t n, size_t *ret_skip)
{
    size_t kept;

    *ret_skip = 0;
    while (*ret_skip < n && isdigit((unsigned char)p[*ret_skip]))
        ++*ret_skip;
    kept = *ret_skip < DECIMALS ? *ret_skip : DECIMALS;
    while (kept > 0 && p[kept - 1] == '0')
        kept--;
    return kept;
}

static bool needless_blank(const struct slimming *s, size_t i)
{
    return s->path && s->svg[i] == ' ' && i > 0 && i + 1 < s->n &&
           (isalpha((unsigned char)s->svg[i - 1]) || isalpha((unsigned char)s->svg[i + 1]) ||
            s->svg[i + 1] == '"');
}

/* Takes what is at i and returns how many bytes that were. */
static size_t step(struct slimming *s, size_t i)
{
    const char *p = s->svg + i;
    size_t left = s->n - i, skip;
    int colour;

    if (*p == 'r' && (skip = known_colour(s, p, left, &colour)) > 0) {
        buf_addf(s->out, "var(--%c)", 'a' + colour);
        return skip;
    }
    if (*p == '.' && s->styled && isdigit((unsigned char)p[-1])) {
        size_t kept = decimals(p + 1, left - 1, &skip);

        buf_add(s->out, p, kept ? kept + 1 : 0);
        return skip + 1;
    }
    if (*p == '"')
        s->path = !s->path && i >= 3 && memcmp(p - 3, " d=", 3) == 0;
    if (!needless_blank(s, i))
        buf_addc(s->out, *p);
    if (*p == '>' && !s->styled && memmem(s->svg, i, "<svg", 4))
        add_style(s);
    return 1;
}

void slim_svg(const char *svg, size_t n, struct buf *out)
{
    struct slimming s = {.svg = svg, .n = n, .out = out};

    chart_colours(s.colours);
    for (size_t i = 0; i < n;)
        i += step(&s, i);
}
