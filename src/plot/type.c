/*
 * Words on the paper, by cairo's own font interface: one sans-serif face in three sizes. Where no
 * font is installed at all, cairo draws its built-in one. Cairo refuses a text that is not valid
 * UTF-8 and with it the whole picture, so nothing gets here that type_clean has not seen.
 */
#include "plot/chart_private.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

#define ELLIPSIS "…"

/* Control characters, and those that turn the writing direction or are not seen. */
static bool is_unseen(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c ||
           (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff || code >= 0xe0000;
}

char *type_clean(const char *text, size_t max)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    size_t n = text ? strlen(text) : 0, chars = 0;

    for (size_t i = 0; i < n; chars++) {
        uint32_t code = 0;
        size_t len = utf8_char(text + i, n - i, &code);

        if (chars == max) {
            buf_adds(&out, ELLIPSIS);
            break;
        }
        if (!len)
            buf_adds(&out, "\xef\xbf\xbd"); /* U+FFFD */
        else if (is_unseen(code))
            buf_addc(&out, ' ');
        else
            buf_add(&out, text + i, len);
        i += len ? len : 1;
    }
    return buf_take(&out);
}

static double points_of(enum type_size size)
{
    return size == TYPE_TITLE ? 16 : size == TYPE_TEXT ? 12 : 11;
}

double type_height(enum type_size size)
{
    return ceil(points_of(size) * 1.25);
}

static void choose(struct chart *c, enum type_size size)
{
    cairo_select_font_face(c->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           size == TYPE_TITLE ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(c->cr, points_of(size));
}

double type_width(struct chart *c, const char *text, enum type_size size)
{
    cairo_text_extents_t e;

    choose(c, size);
    cairo_text_extents(c->cr, text, &e);
    return fmax(e.x_advance, e.x_bearing + e.width);
}

/* The start of the character that holds byte n, blanks in front of it left out. */
static size_t cut_before(const char *text, size_t n)
{
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    while (n && text[n - 1] == ' ')
        n--;
    return n;
}

char *type_fit(struct chart *c, const char *text, enum type_size size, double width)
{
    size_t fits = 0, too_long = strlen(text);

    if (type_width(c, text, size) <= width)
        return xstrdup(text);
    while (fits + 1 < too_long) {
        size_t middle = fits + (too_long - fits) / 2;
        AUTO_FREE char *cut = xasprintf("%.*s" ELLIPSIS, (int)cut_before(text, middle), text);

        if (type_width(c, cut, size) <= width)
            fits = middle;
        else
            too_long = middle;
    }
    return xasprintf("%.*s" ELLIPSIS, (int)cut_before(text, fits), text);
}

void type_put(struct chart *c, const char *text, enum type_size size, double x, double y,
              double align, uint32_t colour)
{
    double width, left;

    if (!*text)
        return;
    width = type_width(c, text, size);
    left = x - align * width;
    theme_set(c->cr, colour, 1);
    cairo_move_to(c->cr, left, y + points_of(size) * 0.95);
    cairo_show_text(c->cr, text);
    cairo_new_path(c->cr); /* the pen stands behind the text: nothing is to begin there */
    GROW(c->texts, c->n_texts, c->cap_texts);
    c->texts[c->n_texts++] =
        (struct chart_text){xstrdup(text), left, y, width, points_of(size) * 1.2};
}
