/*
 * figure_check: what must hold of every figure: its marks are ink at the places that they claim,
 * and no text leaves the paper or hides another.
 */
#ifndef IPW_TESTS_FIGURE_CHECK_H
#define IPW_TESTS_FIGURE_CHECK_H

#include "harness.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "plot/chart.h"

#include <ctype.h>

struct svg_spot {
    double x, y;
    unsigned colour;
    bool starts; /* a move, not a line, leads here */
};

/* Every coordinate pair of every path outside <defs>, with the path's colour. */
struct svg_spots {
    struct svg_spot *items;
    size_t n, cap;
};

/* The number before each % of rgb(a%,b%,c%). */
static inline unsigned svg_colour(const char *style, const char *end)
{
    const char *rgb = memmem(style, (size_t)(end - style), "rgb(", 4);
    unsigned colour = 0;
    char *p;

    if (!rgb)
        return ~0u;
    p = (char *)(uintptr_t)(rgb + 4);
    for (int i = 0; i < 3; i++, p += 2)
        colour = colour << 8 | (unsigned)lrint(strtod(p, &p) * 2.55);
    return colour;
}

static inline void svg_add_path(struct svg_spots *s, const char *path, const char *end)
{
    const char *d = memmem(path, (size_t)(end - path), " d=\"", 4);
    unsigned colour = svg_colour(path, end);
    bool starts = true;
    size_t first = s->n;

    if (!d)
        return;
    for (char *p = (char *)(uintptr_t)(d + 4); p < end && *p != '"';) {
        starts |= *p == 'M';
        if (*p == 'Z' && s->n > first) { /* a line back to where it began */
            GROW(s->items, s->n, s->cap);
            s->items[s->n] = s->items[first];
            s->items[s->n++].starts = false;
        }
        if (!isdigit((unsigned char)*p) && *p != '-' && *p != '.') {
            p++;
            continue;
        }
        GROW(s->items, s->n, s->cap);
        s->items[s->n].colour = colour;
        s->items[s->n].starts = starts;
        first = starts ? s->n : first;
        starts = false;
        s->items[s->n].x = strtod(p, &p);
        s->items[s->n++].y = strtod(p, &p);
    }
}

static inline struct svg_spots svg_read(const struct buf *svg)
{
    struct svg_spots s = {0};
    const char *end = svg->data + svg->len, *p = strstr(svg->data, "</defs>");

    for (p = p ? p : svg->data; (p = strstr(p, "<path ")) != NULL; p++) {
        const char *close = strstr(p, "/>");

        svg_add_path(&s, p, close ? close : end);
    }
    return s;
}

static inline double spot_distance(const struct svg_spot *a, const struct svg_spot *b, double x,
                                   double y)
{
    double dx = b->x - a->x, dy = b->y - a->y, length2 = dx * dx + dy * dy;
    double part = length2 > 0 ? ((x - a->x) * dx + (y - a->y) * dy) / length2 : 0;

    part = part < 0 ? 0 : part > 1 ? 1 : part;
    return hypot(a->x + part * dx - x, a->y + part * dy - y);
}

/* Some path of the colour goes through the place: cairo leaves out a vertex on a straight line. */
static inline bool svg_has(const struct svg_spots *s, double x, double y, unsigned colour)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct svg_spot *before = s->items[i].starts ? &s->items[i] : &s->items[i - 1];

        if (s->items[i].colour == colour && spot_distance(before, &s->items[i], x, y) < 0.02)
            return true;
    }
    return false;
}

static inline void check_marks(const struct chart *c, const struct buf *svg, size_t most)
{
    struct svg_spots s = svg_read(svg);
    const struct chart_mark *marks;
    size_t n = chart_marks(c, &marks), every = n > most ? n / most : 1;

    assert_true(s.n > 0 && n > 0);
    for (size_t i = 0; i < n; i += every) {
        const struct chart_mark *m = &marks[i];

        if (m->kind == MARK_SPAN) /* its right end makes room for the next */
            continue;
        if (!svg_has(&s, m->px, m->py, chart_colour(c, m->series)) ||
            !svg_has(&s, m->px2, m->py2, chart_colour(c, m->series)))
            fail_msg("mark %zu (%g, %g) is not at %g, %g", i, m->x, m->y, m->px, m->py);
    }
    free(s.items);
}

static inline void check_texts(const struct chart *c, double width, double height)
{
    const struct chart_text *t;
    size_t n = chart_texts(c, &t);

    for (size_t i = 0; i < n; i++) {
        if (t[i].x < 0 || t[i].y < 0 || t[i].x + t[i].width > width ||
            t[i].y + t[i].height > height)
            fail_msg("\"%s\" leaves the paper: %g, %g, %g wide", t[i].text, t[i].x, t[i].y,
                     t[i].width);
        for (size_t k = 0; k < i; k++)
            if (t[i].x < t[k].x + t[k].width && t[k].x < t[i].x + t[i].width &&
                t[i].y < t[k].y + t[k].height && t[k].y < t[i].y + t[i].height)
                fail_msg("\"%s\" hides \"%s\"", t[i].text, t[k].text);
    }
}

static inline bool has_text(const struct chart *c, const char *part)
{
    const struct chart_text *t;
    size_t n = chart_texts(c, &t);

    for (size_t i = 0; i < n; i++)
        if (strstr(t[i].text, part))
            return true;
    return false;
}

static inline size_t count_marks(const struct chart *c, enum mark_kind kind, int series)
{
    const struct chart_mark *m;
    size_t n = chart_marks(c, &m), count = 0;

    for (size_t i = 0; i < n; i++)
        count += m[i].kind == kind && (series < 0 || m[i].series == series);
    return count;
}

/* The k-th mark of its kind in the series (-1 = any). */
static inline const struct chart_mark *mark_of(const struct chart *c, enum mark_kind kind,
                                               int series, size_t k)
{
    const struct chart_mark *m;
    size_t n = chart_marks(c, &m);

    for (size_t i = 0; i < n; i++)
        if (m[i].kind == kind && (series < 0 || m[i].series == series) && k-- == 0)
            return &m[i];
    fail_msg("there is no such mark");
    return NULL;
}

#endif
