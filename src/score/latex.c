/*
 * A pass from left to right that knows a few dozen commands and copies the rest. A command's
 * argument is a group in braces or a single sign and is normalised by itself, which is the only
 * recursion; it is bounded.
 */
#include "score/latex.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <string.h>

#define DEPTH_MAX 24

struct rewriter {
    struct span text;
    size_t i;
    struct buf *out;
    int depth;
    bool failed;
};

struct replacement {
    const char *from;
    const char *to;
};

/* Commands without arguments, by name. */
static const struct replacement commands[] = {
    {"left", ""},     {"right", ""},   {"big", ""},     {"Big", ""},          {"bigl", ""},
    {"bigr", ""},     {"quad", ""},    {"qquad", ""},   {"displaystyle", ""}, {"cdot", "*"},
    {"times", "*"},   {"div", "/"},    {"pi", "\x01"},  {"infty", "\x02"},    {"pm", "\x03"},
    {"in", "\x08"},   {"cup", "\x09"}, {"le", "<="},    {"leq", "<="},        {"ge", ">="},
    {"geq", ">="},    {"ne", "!="},    {"neq", "!="},   {"lt", "<"},          {"gt", ">"},
    {"circ", ""},     {"degree", ""},  {"sin", "\x0E"}, {"cos", "\x0F"},      {"tan", "\x10"},
    {"ln", "\x11"},   {"log", "\x12"}, {"exp", "\x13"}, {"approx", "\x14"},   {"lbrace", "{"},
    {"rbrace", "}"},  {"lvert", "|"},  {"rvert", "|"},  {"ldots", "..."},     {"dots", "..."},
    {"cdots", "..."},
};

/* Signs beyond ASCII. */
static const struct replacement signs[] = {
    {"\xCF\x80", "\x01"},      {"\xE2\x89\x88", "\x14"},  {"\xE2\x88\x9E", "\x02"},
    {"\xC2\xB1", "\x03"},      {"\xE2\x88\x9A", "\x04"},  {"\xC3\x97", "*"},
    {"\xC2\xB7", "*"},         {"\xE2\x8B\x85", "*"},     {"\xC3\xB7", "/"},
    {"\xE2\x88\x92", "-"},     {"\xE2\x80\x93", "-"},     {"\xE2\x89\xA4", "<="},
    {"\xE2\x89\xA5", ">="},    {"\xE2\x89\xA0", "!="},    {"\xE2\x88\x88", "\x08"},
    {"\xE2\x88\xAA", "\x09"},  {"\xC2\xB0", ""},          {"\xC2\xB2", "^2"},
    {"\xC2\xB3", "^3"},        {"\xC2\xA0", ""},          {"\xE2\x80\x89", ""},
    {"\xE2\x80\xAF", ""},      {"\xC2\xBD", "((1)/(2))"}, {"\xC2\xBC", "((1)/(4))"},
    {"\xC2\xBE", "((3)/(4))"},
};

static void put(struct rewriter *w, const char *text)
{
    buf_adds(w->out, text);
}

static char at(const struct rewriter *w, size_t ahead)
{
    return w->i + ahead < w->text.n ? w->text.p[w->i + ahead] : '\0';
}

static char last_put(const struct rewriter *w)
{
    return w->out->len ? w->out->data[w->out->len - 1] : '\0';
}

static void skip_blanks(struct rewriter *w)
{
    while (isspace((unsigned char)at(w, 0)))
        w->i++;
}

/* The bytes of the argument at w->i: a group without its braces, or a sign or command. */
static struct span take_argument(struct rewriter *w)
{
    struct span arg;
    size_t start, depth = 0;

    skip_blanks(w);
    start = w->i;
    if (at(w, 0) != '{') {
        if (at(w, 0) == '\\')
            w->i++;
        do
            w->i += w->i < w->text.n;
        while (w->text.p[start] == '\\' && isalpha((unsigned char)at(w, 0)));
        arg = (struct span){w->text.p + start, w->i - start};
        return arg;
    }
    do {
        if (at(w, 0) == '\\')
            w->i++;
        else if (at(w, 0) == '{')
            depth++;
        else if (at(w, 0) == '}')
            depth--;
        w->i += w->i < w->text.n;
    } while (depth && w->i < w->text.n);
    if (depth)
        w->failed = true;
    arg = (struct span){w->text.p + start + 1, w->i - start - 1};
    arg.n -= arg.n > 0 && !depth;
    return arg;
}

static void rewrite(struct rewriter *w);

static void put_normalised(struct rewriter *w, struct span text)
{
    struct rewriter inner = {.text = text, .out = w->out, .depth = w->depth + 1};

    if (inner.depth > DEPTH_MAX)
        inner.failed = true;
    else
        rewrite(&inner);
    w->failed = w->failed || inner.failed;
}

static void put_group(struct rewriter *w, struct span text)
{
    put(w, "(");
    put_normalised(w, text);
    put(w, ")");
}

static bool all_digits(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isdigit((unsigned char)s.p[i]))
            return false;
    return s.n > 0;
}

static void put_fraction(struct rewriter *w)
{
    struct span above = take_argument(w);
    struct span below = take_argument(w);
    char mixed[2] = {MATH_MIXED, '\0'};

    if (isdigit((unsigned char)last_put(w)) && all_digits(above) && all_digits(below))
        put(w, mixed);
    put(w, "(");
    put_group(w, above);
    put(w, "/");
    put_group(w, below);
    put(w, ")");
}

static void put_root(struct rewriter *w)
{
    char sign[2] = {MATH_SQRT, '\0'};
    size_t end;

    skip_blanks(w);
    if (at(w, 0) == '[') {
        for (end = w->i; end < w->text.n && w->text.p[end] != ']';)
            end++;
        sign[0] = MATH_ROOT;
        put(w, sign);
        put_group(w, (struct span){w->text.p + w->i + 1, end - w->i - 1});
        w->i = end + (end < w->text.n);
    } else {
        put(w, sign);
    }
    put_group(w, take_argument(w));
}

static void put_text(struct rewriter *w)
{
    struct span text = take_argument(w);
    char mark[2] = {MATH_TEXT, '\0'};

    /* "x = 1 \text{ or } x = 2" is a list */
    if (span_equal_nocase(span_trim(text), span_of("and")) ||
        span_equal_nocase(span_trim(text), span_of("or"))) {
        put(w, ",");
        return;
    }
    put(w, mark);
    put_normalised(w, text);
    put(w, mark);
}

/* \begin{pmatrix} and the like; what lies between is told apart by & and \\ anyway. */
static void put_environment(struct rewriter *w, bool begins)
{
    struct span name = take_argument(w);
    bool matrix = name.n >= 6 && memcmp(name.p + name.n - 6, "matrix", 6) == 0;

    if (matrix)
        put(w, begins ? "((" : "))");
}

static bool is_name(struct span name, const char *const *names)
{
    for (; *names; names++)
        if (span_is(name, *names))
            return true;
    return false;
}

static void put_command(struct rewriter *w, struct span name)
{
    static const char *const fractions[] = {"frac", "dfrac", "tfrac", "cfrac", NULL};
    static const char *const texts[] = {"text",   "textbf", "textit",       "mathrm", "mathbf",
                                        "mathit", "mbox",   "operatorname", "rm",     NULL};

    if (is_name(name, fractions)) {
        put_fraction(w);
    } else if (span_is(name, "sqrt")) {
        put_root(w);
    } else if (is_name(name, texts)) {
        put_text(w);
    } else if (span_is(name, "boxed")) {
        put_group(w, take_argument(w));
    } else if (span_is(name, "begin") || span_is(name, "end")) {
        put_environment(w, name.p[0] == 'b');
    } else {
        for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
            if (span_is(name, commands[i].from)) {
                put(w, commands[i].to);
                return;
            }
        }
        put(w, "\\");
        buf_add(w->out, name.p, name.n);
        buf_addc(w->out, MATH_NAME_END);
    }
}

/* Behind a backslash. */
static void take_command(struct rewriter *w)
{
    struct span name = {w->text.p + w->i + 1, 0};

    while (w->i + 1 + name.n < w->text.n && isalpha((unsigned char)name.p[name.n]))
        name.n++;
    w->i += 1 + (name.n ? name.n : 1);
    if (w->i > w->text.n)
        w->i = w->text.n;
    if (name.n) {
        put_command(w, name);
    } else if (name.p < w->text.p + w->text.n) {
        if (name.p[0] == '\\')
            put(w, "),(");
        else if (strchr("{}%", name.p[0]))
            buf_addc(w->out, name.p[0]);
        /* else spacing: \, \! \; and \( \) \[ \] \$ */
    }
}

/* ^ and _: their argument as a group, unless it is a degree sign. Plain text has no braces: there
 * all digits belong to it. */
static void put_script(struct rewriter *w, char script)
{
    char mark[2] = {script, '\0'};
    struct span arg;

    w->i++;
    skip_blanks(w);
    if (isdigit((unsigned char)at(w, 0))) {
        arg = (struct span){w->text.p + w->i, 0};
        while (isdigit((unsigned char)at(w, 0))) {
            arg.n++;
            w->i++;
        }
        put(w, mark);
        buf_add(w->out, arg.p, arg.n);
        return;
    }
    if (at(w, 0) == '-' || at(w, 0) == '(') { /* x^-2, x^(1/2) as plain text has them */
        put(w, mark);
        return;
    }
    arg = span_trim(take_argument(w));
    if (span_is(arg, "\\circ") || span_is(arg, "\\degree"))
        return;
    put(w, mark);
    if (all_digits(arg))
        buf_add(w->out, arg.p, arg.n);
    else
        put_group(w, arg);
}

/* "and" and "or" between elements. */
static bool take_joint(struct rewriter *w)
{
    static const char *const joints[] = {"and", "or"};

    if (word_before(w->text, w->i))
        return false;
    for (size_t i = 0; i < 2; i++) {
        if (span_has_word(w->text, w->i, joints[i])) {
            w->i += strlen(joints[i]);
            if (last_put(w) != ',')
                put(w, ",");
            return true;
        }
    }
    return false;
}

static bool take_sign(struct rewriter *w)
{
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++) {
        size_t n = strlen(signs[i].from);

        if (w->text.n - w->i >= n && memcmp(w->text.p + w->i, signs[i].from, n) == 0) {
            w->i += n;
            put(w, signs[i].to);
            return true;
        }
    }
    return false;
}

/* A blank between digits keeps "3 1/2" from becoming 31/2; between thousands it goes. */
static void take_blank(struct rewriter *w)
{
    char mixed[2] = {MATH_MIXED, '\0'};

    skip_blanks(w);
    if (isdigit((unsigned char)last_put(w)) && isdigit((unsigned char)at(w, 0)) &&
        !(isdigit((unsigned char)at(w, 1)) && isdigit((unsigned char)at(w, 2)) &&
          !isdigit((unsigned char)at(w, 3))))
        put(w, mixed);
}

static void take_plain(struct rewriter *w)
{
    char c = at(w, 0);

    if (c == '{' && at(w, 1) == ',' && at(w, 2) == '}') { /* 1{,}234 */
        w->i += 3;
        return;
    }
    w->i++;
    if (c == '{' || c == '}')
        buf_addc(w->out, c == '{' ? '(' : ')');
    else if (c == '&')
        put(w, ",");
    else if (c == '*' && at(w, 0) == '*') /* bold */
        w->i++;
    else if ((unsigned char)c >= 0x20 && c != '$' && c != '~' && c != '`')
        buf_addc(w->out, c);
}

static void rewrite(struct rewriter *w)
{
    while (w->i < w->text.n && !w->failed) {
        char c = at(w, 0);

        if (isspace((unsigned char)c))
            take_blank(w);
        else if (c == '\\')
            take_command(w);
        else if (c == '^' || c == '_')
            put_script(w, c);
        else if (!((c == 'a' || c == 'o') && take_joint(w)) &&
                 !((unsigned char)c >= 0x80 && take_sign(w)))
            take_plain(w);
    }
}

bool latex_normalise(struct span text, struct buf *ret)
{
    struct rewriter w = {.text = text, .out = ret};

    if (text.n > LATEX_MAX)
        return false;
    rewrite(&w);
    return !w.failed && !ret->failed;
}
