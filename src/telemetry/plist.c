/*
 * Byte by byte: a byte belongs to text, to a tag or to a comment. Tags are known by the first
 * letters of their names, their attributes are passed over. "<" cannot be in a tag, not even in
 * quotes, and NUL cannot be in a document: both bring a parser that lost its way back, at the
 * latest with the next document.
 */
#include "telemetry/plist.h"

#include "base/num.h"

#include <string.h>

enum { IN_TEXT, IN_TAG, IN_COMMENT };

enum element {
    ELEMENT_NONE,
    ELEMENT_PLIST,
    ELEMENT_DICT,
    ELEMENT_ARRAY,
    ELEMENT_KEY,
    ELEMENT_INTEGER,
    ELEMENT_REAL,
    ELEMENT_OTHER_LEAF, /* a string, date, data: text nobody wants */
    ELEMENT_BOOL,
};

static const struct {
    const char *name;
    enum element element;
} elements[] = {
    {"plist", ELEMENT_PLIST},       {"dict", ELEMENT_DICT},       {"array", ELEMENT_ARRAY},
    {"key", ELEMENT_KEY},           {"integer", ELEMENT_INTEGER}, {"real", ELEMENT_REAL},
    {"string", ELEMENT_OTHER_LEAF}, {"date", ELEMENT_OTHER_LEAF}, {"data", ELEMENT_OTHER_LEAF},
    {"true", ELEMENT_BOOL},         {"false", ELEMENT_BOOL},
};

void plist_init(struct plist *p, plist_number_fn number, plist_end_fn end, void *ctx)
{
    memset(p, 0, sizeof(*p));
    p->number = number;
    p->end = end;
    p->ctx = ctx;
}

static void break_document(struct plist *p)
{
    if (p->in_document && !p->broken) {
        p->broken = true;
        p->end(p->ctx, false);
    }
}

static void leave_document(struct plist *p)
{
    p->in_document = false;
    p->broken = false;
    p->leaf = ELEMENT_NONE;
}

static void begin_document(struct plist *p)
{
    leave_document(p);
    p->in_document = true;
    p->root_done = false;
    p->depth = 0;
    p->path_len = 0;
    p->silent = false;
}

static enum element element_of(const char *name)
{
    for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++)
        if (strcmp(name, elements[i].name) == 0)
            return elements[i].element;
    return ELEMENT_NONE;
}

/* Sets the path of the next value: that of its container, "/", and part. */
static void extend_path(struct plist *p, const char *part)
{
    size_t base = p->stack[p->depth - 1].path_len, n = strlen(part);

    p->silent = p->stack[p->depth - 1].silent || n == 0 || strchr(part, '/') ||
                base + n + 2 > sizeof(p->path);
    if (p->silent)
        return;
    p->path_len = base;
    if (base > 0)
        p->path[p->path_len++] = '/';
    memcpy(p->path + p->path_len, part, n);
    p->path_len += n;
}

/* A value may begin here; its path is set. */
static bool begin_value(struct plist *p)
{
    if (p->depth == 0) {
        if (p->root_done)
            return false;
        p->root_done = true;
        p->path_len = 0;
        /* a root that is a number has no name */
        p->silent = false;
        return true;
    }
    if (!p->stack[p->depth - 1].is_dict) {
        extend_path(p, "*");
        return true;
    }
    if (!p->stack[p->depth - 1].has_key)
        return false;
    p->stack[p->depth - 1].has_key = false;
    return true;
}

static bool open_container(struct plist *p, bool is_dict)
{
    if (!begin_value(p) || p->depth == PLIST_DEPTH_MAX)
        return false;
    p->stack[p->depth].is_dict = is_dict;
    p->stack[p->depth].has_key = false;
    p->stack[p->depth].silent = p->silent;
    p->stack[p->depth].path_len = p->path_len;
    p->depth++;
    return true;
}

static bool close_container(struct plist *p, bool is_dict)
{
    if (p->depth == 0 || p->stack[p->depth - 1].is_dict != is_dict ||
        p->stack[p->depth - 1].has_key)
        return false;
    p->depth--;
    return true;
}

static bool open_leaf(struct plist *p, enum element e)
{
    if (e == ELEMENT_KEY) {
        if (p->depth == 0 || !p->stack[p->depth - 1].is_dict || p->stack[p->depth - 1].has_key)
            return false;
    } else if (!begin_value(p)) {
        return false;
    }
    p->leaf = (int)e;
    p->text_len = 0;
    p->text_cut = false;
    return true;
}

static bool close_leaf(struct plist *p, enum element e)
{
    double value;

    if (p->leaf != (int)e)
        return false;
    p->leaf = ELEMENT_NONE;
    p->text[p->text_len] = '\0';
    if (e == ELEMENT_KEY) {
        extend_path(p, p->text_cut ? "" : p->text);
        p->stack[p->depth - 1].has_key = true;
    } else if ((e == ELEMENT_INTEGER || e == ELEMENT_REAL) && !p->text_cut && !p->silent &&
               p->depth > 0 && parse_f64(p->text, &value, NULL) == 0) {
        /* what is no number ("nan") is an absent one, not the end of the document */
        p->path[p->path_len] = '\0';
        p->number(p->ctx, p->path, value);
    }
    return true;
}

/* "<name>", or "<name/>" when it is empty. */
static bool open_element(struct plist *p, enum element e, bool empty)
{
    switch (e) {
    case ELEMENT_DICT:
    case ELEMENT_ARRAY:
        return open_container(p, e == ELEMENT_DICT) &&
               (!empty || close_container(p, e == ELEMENT_DICT));
    case ELEMENT_KEY:
    case ELEMENT_INTEGER:
    case ELEMENT_REAL:
    case ELEMENT_OTHER_LEAF:
        return open_leaf(p, e) && (!empty || close_leaf(p, e));
    case ELEMENT_BOOL:
        return empty && begin_value(p);
    default:
        return false;
    }
}

static bool close_element(struct plist *p, enum element e)
{
    if (e == ELEMENT_DICT || e == ELEMENT_ARRAY)
        return close_container(p, e == ELEMENT_DICT);
    return e != ELEMENT_NONE && e != ELEMENT_BOOL && close_leaf(p, e);
}

static void end_document(struct plist *p)
{
    if (p->depth > 0 || !p->root_done || p->leaf)
        break_document(p);
    else if (!p->broken)
        p->end(p->ctx, true);
    leave_document(p);
}

/* The tag in p->name is complete. */
static void end_tag(struct plist *p)
{
    bool closes, empty;
    enum element e;

    p->name[p->name_len] = '\0';
    closes = p->name[0] == '/';
    empty = !closes && p->last == '/';
    e = element_of(p->name + closes);
    if (p->name[0] == '?' || (e == ELEMENT_PLIST && !closes)) {
        /* a new document, whatever became of the one before */
        break_document(p);
        leave_document(p);
        if (e == ELEMENT_PLIST && !empty)
            begin_document(p);
    } else if (!p->in_document || p->name[0] == '!') {
        return;
    } else if (e == ELEMENT_PLIST) {
        end_document(p);
    } else if (!p->broken) {
        bool fits = closes    ? close_element(p, e)
                    : p->leaf ? false /* nothing is inside a number */
                              : open_element(p, e, empty);

        if (!fits)
            break_document(p);
    }
}

static void tag_byte(struct plist *p, char c)
{
    if (c == '<') {
        break_document(p);
        p->name_len = 0;
        p->name_done = false;
        p->quote = p->last = 0;
    } else if (p->quote) {
        if (c == p->quote)
            p->quote = 0;
        p->last = c;
    } else if (c == '>') {
        p->state = IN_TEXT;
        end_tag(p);
    } else {
        if (c == '"' || c == '\'')
            p->quote = c;
        p->name_done |= c == ' ' || c == '\t' || c == '\n' || c == '\r' ||
                        (c == '/' && p->name_len > 0) || p->quote;
        if (!p->name_done && p->name_len < sizeof(p->name) - 1)
            p->name[p->name_len++] = c;
        else if (!p->name_done) /* longer than any we know */
            p->name[0] = '-';
        p->last = c;
        if (p->name_len == 3 && memcmp(p->name, "!--", 3) == 0) {
            p->state = IN_COMMENT;
            p->name_len = 0; /* counts the dashes now */
        }
    }
}

static void comment_byte(struct plist *p, char c)
{
    if (c == '>' && p->name_len >= 2)
        p->state = IN_TEXT;
    else
        p->name_len = c == '-' ? p->name_len + (p->name_len < 2) : 0;
}

static void text_byte(struct plist *p, char c)
{
    if (c == '<') {
        p->state = IN_TAG;
        p->name_len = 0;
        p->name_done = false;
        p->quote = p->last = 0;
    } else if (p->leaf) {
        if (p->text_len < PLIST_TEXT_MAX)
            p->text[p->text_len++] = c;
        else
            p->text_cut = true;
    } else if (!strchr(" \t\r\n", c)) {
        break_document(p);
    }
}

void plist_push(struct plist *p, const char *data, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char c = data[i];

        if (c == '\0') {
            break_document(p);
            leave_document(p);
            p->state = IN_TEXT;
        } else if (p->state == IN_TAG) {
            tag_byte(p, c);
        } else if (p->state == IN_COMMENT) {
            comment_byte(p, c);
        } else {
            text_byte(p, c);
        }
    }
}
