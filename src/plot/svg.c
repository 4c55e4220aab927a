/*
 * Cairo numbers the parts of an SVG by a counter of the process and calls the letters of every
 * document by the same names, so that two figures in one page would show each other's letters. Here
 * every name gets a prefix made of the document's own bytes (the counter left out): the same
 * figure is the same file each time, and different figures have different names. The root also gets
 * what a screen reader says.
 */
#include "plot/chart_private.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* Names are what follows id=" (a definition) and #  (a use). */
static bool name_follows(const char *p, size_t n, size_t *ret_skip)
{
    static const char *const marks[] = {" id=\"", "href=\"#", "url(#"};

    for (size_t i = 0; i < 3; i++) {
        size_t len = strlen(marks[i]);

        if (n > len && memcmp(p, marks[i], len) == 0) {
            *ret_skip = len;
            return true;
        }
    }
    return false;
}

/* "surface12" -> 7: the number is the process' counter. 0 = another name. */
static size_t surface_name(const char *p, size_t n)
{
    return n > 7 && memcmp(p, "surface", 7) == 0 ? 7 : 0;
}

static uint32_t hash_add(uint32_t hash, char byte)
{
    return (hash ^ (unsigned char)byte) * 16777619u;
}

static size_t digits(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && isdigit((unsigned char)p[i]))
        i++;
    return i;
}

/* The document without its counters, byte by byte. */
static uint32_t hash_of(const char *p, size_t n)
{
    uint32_t hash = 2166136261u;

    for (size_t i = 0; i < n;) {
        size_t fixed = surface_name(p + i, n - i);

        hash = hash_add(hash, p[i]);
        i += fixed ? fixed + digits(p + i + fixed, n - i - fixed) : 1;
    }
    return hash;
}

static void add_escaped(struct buf *out, const char *text)
{
    for (; *text; text++)
        switch (*text) {
        case '&':
            buf_adds(out, "&amp;");
            break;
        case '<':
            buf_adds(out, "&lt;");
            break;
        case '>':
            buf_adds(out, "&gt;");
            break;
        case '"':
            buf_adds(out, "&quot;");
            break;
        default:
            buf_addc(out, *text);
        }
}

int svg_finish(const char *document, size_t n, const char *title, struct buf *ret, struct err *err)
{
    uint32_t hash = hash_of(document, n);
    const char *root = memmem(document, n, "<svg ", 5);
    size_t surfaces = 0;

    if (!root)
        return err_set(err, EIO, "cairo made no SVG");
    for (size_t i = 0; i < n;) {
        size_t skip = 0, fixed;

        if (document + i == root) {
            buf_adds(ret, "<svg role=\"img\" aria-label=\"");
            add_escaped(ret, title);
            buf_adds(ret, "\" ");
            i += 5;
            continue;
        }
        if (!name_follows(document + i, n - i, &skip)) {
            buf_addc(ret, document[i++]);
            continue;
        }
        buf_add(ret, document + i, skip);
        buf_addf(ret, "f%08x-", hash);
        i += skip;
        fixed = surface_name(document + i, n - i);
        if (fixed) {
            buf_addf(ret, "surface%zu", surfaces++);
            i += fixed + digits(document + i + fixed, n - i - fixed);
        }
    }
    return ret->failed ? err_set(err, EMSGSIZE, "the figure is too large") : 0;
}
