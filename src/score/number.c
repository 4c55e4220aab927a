/*
 * A number is read from left to right: sign and currency, figures with their groups and fraction,
 * then what may follow (a denominator, a power of ten, an exponent, a word such as "million", a
 * percent sign). Each step looks at a few bytes and either takes them or leaves them, so a text is
 * passed once.
 */
#include "score/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 320 /* more than a double can hold */

struct reader {
    struct span text;
    size_t i;
};

static bool digit_at(struct span s, size_t i)
{
    return i < s.n && isdigit((unsigned char)s.p[i]);
}

static bool take(struct reader *r, const char *literal)
{
    size_t n = strlen(literal);

    if (r->text.n - r->i < n || memcmp(r->text.p + r->i, literal, n) != 0)
        return false;
    r->i += n;
    return true;
}

static bool take_any(struct reader *r, const char *const *literals)
{
    for (; *literals; literals++)
        if (take(r, *literals))
            return true;
    return false;
}

static void skip_blanks(struct reader *r)
{
    while (r->i < r->text.n && (r->text.p[r->i] == ' ' || r->text.p[r->i] == '\t'))
        r->i++;
}

/* How many digits stand at i. */
static size_t digit_run(struct span s, size_t i)
{
    size_t n = 0;

    while (digit_at(s, i + n))
        n++;
    return n;
}

/* The mark between groups of three digits at i: its length, 0 if there is none. */
static size_t group_mark(struct span s, size_t i)
{
    static const char *const marks[] = {
        ",", " ", "'", "_", "\xC2\xA0", "\xE2\x80\x89", "\xE2\x80\xAF", "\\,", "{,}", "\\ "};

    for (size_t m = 0; m < sizeof(marks) / sizeof(*marks); m++) {
        size_t n = strlen(marks[m]);

        if (s.n - i >= n && memcmp(s.p + i, marks[m], n) == 0)
            return n;
    }
    return 0;
}

/* Appends the digits at r->i to the text of a number. */
static bool keep_digits(struct reader *r, size_t n, char *digits, size_t *len)
{
    if (n > DIGITS_MAX - *len)
        return false;
    memcpy(digits + *len, r->text.p + r->i, n);
    *len += n;
    r->i += n;
    return true;
}

/* Groups behind the first one, all with the same mark. */
static bool take_groups(struct reader *r, size_t mark, char *digits, size_t *len)
{
    struct span s = r->text;
    size_t first = r->i;

    while (r->i + mark <= s.n && memcmp(s.p + r->i, s.p + first, mark) == 0 &&
           digit_run(s, r->i + mark) == 3) {
        r->i += mark;
        if (!keep_digits(r, 3, digits, len))
            return false;
    }
    return true;
}

/* d.ddd.ddd,d: the length of its whole part, 0 if it is not of this form. */
static size_t european_length(struct span s, size_t i, size_t first)
{
    size_t n = first;

    while (i + n < s.n && s.p[i + n] == '.' && digit_run(s, i + n + 1) == 3)
        n += 4;
    return n > first && i + n < s.n && s.p[i + n] == ',' && digit_at(s, i + n + 1) ? n : 0;
}

static bool take_european(struct reader *r, size_t whole, char *digits, size_t *len)
{
    size_t end = r->i + whole;

    while (r->i < end) {
        if (!keep_digits(r, digit_run(r->text, r->i), digits, len))
            return false;
        r->i++; /* the point, or at the end the comma */
    }
    digits[(*len)++] = '.';
    return keep_digits(r, digit_run(r->text, r->i), digits, len);
}

/* Figures, their groups and decimals, as text for strtod. *ret_plain: nothing but digits. */
static bool take_decimal(struct reader *r, double *ret, bool *ret_plain)
{
    char digits[DIGITS_MAX + 8];
    size_t len = 0, first = digit_run(r->text, r->i);
    size_t european = first && first <= 3 ? european_length(r->text, r->i, first) : 0;
    bool lead_zero = first && r->text.p[r->i] == '0';
    size_t start = r->i, mark;

    if (european) {
        if (!take_european(r, european, digits, &len))
            return false;
    } else {
        if (!keep_digits(r, first, digits, &len))
            return false;
        mark = first && first <= 3 && !lead_zero ? group_mark(r->text, r->i) : 0;
        if (mark && !take_groups(r, mark, digits, &len))
            return false;
        if (r->i < r->text.n && r->text.p[r->i] == '.' && digit_at(r->text, r->i + 1)) {
            digits[len++] = '.';
            r->i++;
            if (!keep_digits(r, digit_run(r->text, r->i), digits, &len))
                return false;
        }
    }
    digits[len] = '\0';
    *ret = strtod(digits, NULL);
    *ret_plain = r->i - start == first;
    return len > 0;
}

struct glyph {
    const char *text;
    double value;
};

static const struct glyph fractions[] = {
    {"\xC2\xBD", 1.0 / 2},     {"\xC2\xBC", 1.0 / 4},     {"\xC2\xBE", 3.0 / 4},
    {"\xE2\x85\x93", 1.0 / 3}, {"\xE2\x85\x94", 2.0 / 3}, {"\xE2\x85\x95", 1.0 / 5},
    {"\xE2\x85\x96", 2.0 / 5}, {"\xE2\x85\x97", 3.0 / 5}, {"\xE2\x85\x98", 4.0 / 5},
    {"\xE2\x85\x99", 1.0 / 6}, {"\xE2\x85\x9A", 5.0 / 6}, {"\xE2\x85\x9B", 1.0 / 8},
    {"\xE2\x85\x9C", 3.0 / 8}, {"\xE2\x85\x9D", 5.0 / 8}, {"\xE2\x85\x9E", 7.0 / 8},
};

static const struct glyph superscripts[] = {
    {"\xE2\x81\xB0", 0}, {"\xC2\xB9", 1},     {"\xC2\xB2", 2},     {"\xC2\xB3", 3},
    {"\xE2\x81\xB4", 4}, {"\xE2\x81\xB5", 5}, {"\xE2\x81\xB6", 6}, {"\xE2\x81\xB7", 7},
    {"\xE2\x81\xB8", 8}, {"\xE2\x81\xB9", 9},
};

static bool take_glyph(struct reader *r, const struct glyph *glyphs, size_t n, double *ret)
{
    for (size_t i = 0; i < n; i++) {
        if (take(r, glyphs[i].text)) {
            *ret = glyphs[i].value;
            return true;
        }
    }
    return false;
}

#define TAKE_GLYPH(r, glyphs, ret) \
    take_glyph((r), (glyphs), sizeof(glyphs) / sizeof(*(glyphs)), (ret))

/* \frac{3}{4}, and its kin. */
static bool take_latex_fraction(struct reader *r, double *ret)
{
    static const char *const names[] = {"\\frac{", "\\dfrac{", "\\tfrac{", NULL};
    struct reader copy = *r;
    double above, below;
    bool plain, minus;

    if (!take_any(&copy, names))
        return false;
    minus = take(&copy, "-");
    if (!take_decimal(&copy, &above, &plain) || !take(&copy, "}{") ||
        !take_decimal(&copy, &below, &plain) || !take(&copy, "}") || below == 0)
        return false;
    *r = copy;
    *ret = (minus ? -above : above) / below;
    return true;
}

/* "/ 4" behind 3; not in 3/4/2024, and not by zero. */
static bool take_denominator(struct reader *r, double *ret)
{
    struct reader copy = *r;
    bool plain;

    skip_blanks(&copy);
    if (!take(&copy, "/"))
        return false;
    skip_blanks(&copy);
    if (!digit_at(copy.text, copy.i) || !take_decimal(&copy, ret, &plain) || *ret == 0)
        return false;
    if (copy.i + 1 < copy.text.n && copy.text.p[copy.i] == '/' && digit_at(copy.text, copy.i + 1))
        return false;
    *r = copy;
    return true;
}

/* " 1/2" behind 2: the fraction of a mixed number. */
static bool take_mixed(struct reader *r, double *ret)
{
    struct reader copy = *r;
    double above, below;
    bool plain;

    if (TAKE_GLYPH(r, fractions, ret) || take_latex_fraction(r, ret))
        return true;
    skip_blanks(&copy);
    if (copy.i == r->i)
        return false;
    if (TAKE_GLYPH(&copy, fractions, ret) || take_latex_fraction(&copy, ret)) {
        *r = copy;
        return true;
    }
    if (!digit_at(copy.text, copy.i) || !take_decimal(&copy, &above, &plain) || !plain ||
        !take_denominator(&copy, &below) || above >= below)
        return false;
    *r = copy;
    *ret = above / below;
    return true;
}

/* A whole exponent: 3, -3, {3}, {-3}, or superscripts. */
static bool take_exponent(struct reader *r, double *ret)
{
    struct reader copy = *r;
    bool braces = take(&copy, "{");
    bool minus = take(&copy, "-") || take(&copy, "\xE2\x88\x92");
    size_t n = digit_run(copy.text, copy.i);
    double value = 0;

    if (n == 0 || n > 4)
        return false;
    for (; n > 0; n--)
        value = value * 10 + (copy.text.p[copy.i++] - '0');
    if (braces && !take(&copy, "}"))
        return false;
    *r = copy;
    *ret = minus ? -value : value;
    return true;
}

static bool take_superscript(struct reader *r, double *ret)
{
    struct reader copy = *r;
    bool minus = take(&copy, "\xE2\x81\xBB");
    double value = 0, d;
    int n = 0;

    for (; n < 4 && TAKE_GLYPH(&copy, superscripts, &d); n++)
        value = value * 10 + d;
    if (n == 0)
        return false;
    *r = copy;
    *ret = minus ? -value : value;
    return true;
}

/* The power behind a base: ^10, ^{10}, ¹⁰. */
static bool take_power(struct reader *r, double *ret)
{
    struct reader copy = *r;

    if (take_superscript(r, ret))
        return true;
    if (!take(&copy, "^") || !take_exponent(&copy, ret))
        return false;
    *r = copy;
    return true;
}

/* "x 10^3" behind 1.5, or "e3". */
static bool take_scale(struct reader *r, double *ret)
{
    static const char *const times[] = {"x",        "X",       "*",      "\xC3\x97",
                                        "\xC2\xB7", "\\times", "\\cdot", NULL};
    static const char *const e[] = {"e", "E", NULL};
    struct reader copy = *r;
    double power;

    if (take_any(&copy, e)) {
        take(&copy, "+");
        if (!take_exponent(&copy, &power) || word_at(copy.text, copy.i))
            return false;
    } else {
        skip_blanks(&copy);
        if (!take_any(&copy, times))
            return false;
        skip_blanks(&copy);
        if (!take(&copy, "10") || !take_power(&copy, &power))
            return false;
    }
    *r = copy;
    *ret = pow(10, power);
    return true;
}

static double take_multiplier(struct reader *r)
{
    static const struct glyph words[] = {
        {"thousand", 1e3}, {"million", 1e6}, {"billion", 1e9}, {"trillion", 1e12}};
    struct reader copy = *r;

    skip_blanks(&copy);
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        size_t n = strlen(words[i].text);
        struct span rest = span_from(copy.text, copy.i);

        if (span_has_word(rest, 0, words[i].text)) {
            r->i = copy.i + n;
            return words[i].value;
        }
    }
    return 1;
}

static bool take_percent(struct reader *r)
{
    static const char *const signs[] = {"%", "\\%", "percent", "per cent", NULL};
    struct reader copy = *r;

    skip_blanks(&copy);
    if (!take_any(&copy, signs))
        return false;
    *r = copy;
    return true;
}

/* What stands behind the first figures and belongs to them. */
static double take_rest(struct reader *r, double value, bool plain)
{
    double x;

    if (take_denominator(r, &x))
        return value / x;
    if (plain && take_mixed(r, &x))
        return value + x;
    if (take_power(r, &x))
        return pow(value, x);
    if (take_scale(r, &x))
        return value * x;
    return value * take_multiplier(r);
}

static bool take_minus(struct reader *r)
{
    static const char *const signs[] = {"-", "\xE2\x88\x92", "\xE2\x80\x93", NULL};

    if (word_before(r->text, r->i) || (r->i > 0 && r->text.p[r->i - 1] == ')'))
        return false;
    return take_any(r, signs);
}

static bool take_number(struct reader *r, struct number *ret)
{
    static const char *const currencies[] = {"$", "\\$", "\xE2\x82\xAC", "\xC2\xA3", NULL};
    struct reader copy = *r;
    bool minus = take_minus(&copy), plain;
    double value;

    if (!minus)
        take(&copy, "+");
    if (take_any(&copy, currencies) && !minus)
        minus = take(&copy, "-");
    if (!TAKE_GLYPH(&copy, fractions, &value) && !take_latex_fraction(&copy, &value)) {
        if (!digit_at(copy.text, copy.i) &&
            !(digit_at(copy.text, copy.i + 1) && copy.text.p[copy.i] == '.'))
            return false;
        if (!take_decimal(&copy, &value, &plain))
            return false;
        value = take_rest(&copy, value, plain);
    }
    if (!isfinite(value))
        return false;
    *ret = (struct number){.value = minus ? -value : value, .start = r->i};
    ret->percent = take_percent(&copy);
    ret->end = copy.i;
    *r = copy;
    return true;
}

/* Behind a letter, digits are part of a name; behind a power sign, of something else's exponent. */
static bool may_begin(struct span s, size_t i)
{
    char before = i ? s.p[i - 1] : ' ';

    if (isdigit((unsigned char)s.p[i]) && word_before(s, i))
        return false;
    if (before == '^' || before == '_' || (s.p[i] == '.' && isdigit((unsigned char)before)))
        return false;
    return !(before == '{' && i >= 2 && (s.p[i - 2] == '^' || s.p[i - 2] == '_'));
}

static bool is_negated(struct span s, size_t start)
{
    while (start > 0 && s.p[start - 1] && strchr(" *_$(\t", s.p[start - 1]))
        start--;
    return (start >= 3 &&
            span_find_word((struct span){s.p, start}, start - 3, "not") != (size_t)-1) ||
           (start >= 3 && span_starts_nocase((struct span){s.p + start - 3, 3}, "n't"));
}

bool number_next(struct span text, size_t from, struct number *ret)
{
    struct reader r = {text, from};

    while (r.i < text.n) {
        char c = text.p[r.i];

        if (isdigit((unsigned char)c) && !may_begin(text, r.i)) {
            r.i += digit_run(text, r.i);
            continue;
        }
        /* Quickly past what no number begins with. */
        if ((isdigit((unsigned char)c) || (unsigned char)c >= 0x80 || (c && strchr("-+.$\\", c))) &&
            may_begin(text, r.i) && take_number(&r, ret)) {
            ret->negated = is_negated(text, ret->start);
            return true;
        }
        r.i++;
    }
    return false;
}

bool number_equal(const struct number *answer, const struct number *reference,
                  struct tolerance tolerance)
{
    double a = answer->value, b = reference->value;
    double scale = fmax(fabs(a), fabs(b)), apart;

    if (answer->percent != reference->percent) {
        struct number hundredth = answer->percent ? *answer : *reference;
        struct number number = hundredth;

        hundredth.value /= 100;
        hundredth.percent = number.percent = false;
        if (answer->percent)
            return number_equal(&number, reference, tolerance) ||
                   number_equal(&hundredth, reference, tolerance);
        return number_equal(answer, &number, tolerance) ||
               number_equal(answer, &hundredth, tolerance);
    }
    apart = fabs(a - b);
    if (apart <= tolerance.absolute || apart <= tolerance.relative * fabs(b))
        return true;
    if (a == floor(a) && b == floor(b))
        return a == b;
    return apart <= 1e-9 * scale;
}
