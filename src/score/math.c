/*
 * Two mathematical texts are the same when their normal forms (latex.h) are, when they are lists,
 * tuples, intervals or sets whose elements are, or when they have the same value for several values
 * of their variables. What surrounds the value does not count: "x =" before it, a unit or a degree
 * sign behind it. Sets, lists and the two values of a plus-minus sign have no order; tuples and
 * intervals do, and their brackets matter.
 *
 * Which part of an answer is compared: the last \boxed{}; else behind "the answer is", and there
 * the last formula between dollar signs if there is one; else the last formula of the last line;
 * else that line, behind its last "=".
 */
#include "base/cleanup.h"
#include "score/latex.h"
#include "score/number.h"
#include "score/scorers.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#define PARTS_MAX 64
#define DEPTH_MAX 8

static bool same(struct span a, struct span b, int depth);

/* Is the first bracket closed by the last? */
static bool is_enclosed(struct span s)
{
    int depth = 0;

    if (s.n < 2 || !strchr("([{", s.p[0]) || !strchr(")]}", s.p[s.n - 1]))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        depth += strchr("([{", s.p[i]) != NULL;
        depth -= strchr(")]}", s.p[i]) != NULL;
        if (depth == 0 && i + 1 < s.n)
            return false;
    }
    return depth == 0;
}

static struct span inside(struct span s)
{
    return (struct span){s.p + 1, s.n - 2};
}

/* Cuts at the separator outside of brackets. Returns how many parts there are; more than PARTS_MAX
 * are not told apart. */
static size_t split(struct span s, char separator, struct span *parts)
{
    size_t n = 0, start = 0;
    int depth = 0;

    for (size_t i = 0; i < s.n; i++) {
        depth += strchr("([{", s.p[i]) != NULL;
        depth -= strchr(")]}", s.p[i]) != NULL;
        if (s.p[i] == separator && depth == 0 && n + 1 < PARTS_MAX) {
            parts[n++] = (struct span){s.p + start, i - start};
            start = i + 1;
        }
    }
    parts[n++] = span_from(s, start);
    return n;
}

static bool same_parts(const struct span *a, const struct span *b, size_t n, bool ordered,
                       int depth)
{
    bool used[PARTS_MAX] = {false};

    for (size_t i = 0; i < n; i++) {
        size_t k = ordered ? i : 0;

        while (k < n && (used[k] || !same(a[i], b[k], depth + 1)))
            k = ordered ? n : k + 1;
        if (k == n)
            return false;
        used[k] = true;
    }
    return true;
}

/* 1 = both have several parts and they are the same, 0 = they are not, -1 = one has just one. */
static int compare_split(struct span a, struct span b, char separator, bool ordered, int depth)
{
    struct span parts_a[PARTS_MAX], parts_b[PARTS_MAX];
    size_t na = split(a, separator, parts_a), nb = split(b, separator, parts_b);

    if (na == 1 || nb == 1)
        return -1;
    return na == nb && same_parts(parts_a, parts_b, na, ordered, depth);
}

/* Tuples, intervals, sets; a set may be written without braces. */
static int compare_lists(struct span a, struct span b, int depth)
{
    bool in_a = is_enclosed(a), in_b = is_enclosed(b);
    int r = compare_split(a, b, MATH_UNION, false, depth);

    if (r < 0)
        r = compare_split(a, b, ',', false, depth);
    if (r < 0 && in_a && in_b) {
        bool same_brackets = a.p[0] == b.p[0] && a.p[a.n - 1] == b.p[b.n - 1];

        r = compare_split(inside(a), inside(b), ',', a.p[0] != '{', depth);
        return r > 0 ? same_brackets : r;
    }
    if (r < 0 && in_a && a.p[0] == '{')
        r = compare_split(inside(a), b, ',', false, depth);
    if (r < 0 && in_b && b.p[0] == '{')
        r = compare_split(a, inside(b), ',', false, depth);
    return r;
}

/* 1,234,567: the commas are no separators. */
static bool is_grouped(struct span s)
{
    size_t i = s.n && s.p[0] == '-', digits = 0;
    bool groups = false;

    for (; i < s.n && (isdigit((unsigned char)s.p[i]) || s.p[i] == ','); i++) {
        if (s.p[i] == ',') {
            if (groups ? digits != 3 : digits == 0 || digits > 3)
                return false;
            groups = true;
            digits = 0;
        } else {
            digits++;
        }
    }
    return groups && digits == 3 && (i == s.n || s.p[i] == '.');
}

static struct span ungrouped(struct span s, struct buf *storage)
{
    if (!is_grouped(s))
        return s;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != ',')
            buf_addc(storage, s.p[i]);
    return span_of(buf_str(storage));
}

/* Letters next to each other may be a word or a product. A form without anything but letters is
 * taken for a word, which has no value. */
static bool is_word(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isalpha((unsigned char)s.p[i]) && s.p[i] != MATH_TEXT)
            return false;
    return s.n > 1;
}

static bool whole_digits(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!isdigit((unsigned char)s.p[i]))
            return false;
    return s.n > 0;
}

static bool close_values(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fmax(fmax(fabs(a), fabs(b)), 1e-300);
}

/* Each value of `a` is that of `b` times `factor`. */
static bool same_values(struct span a, struct span b, double factor)
{
    int equal = 0;

    for (unsigned sample = 1; sample <= 4; sample++) {
        bool variables_a, variables_b;
        double va, vb;

        if (!expression_value(a, sample, &va, &variables_a) ||
            !expression_value(b, sample, &vb, &variables_b))
            return false;
        if (!isfinite(va) || !isfinite(vb))
            continue;
        if (!close_values(va, vb * factor))
            return false;
        equal++;
    }
    return equal > 0;
}

static bool strip_percent(struct span *s)
{
    bool percent = s->n && s->p[s->n - 1] == '%';

    s->n -= percent;
    return percent;
}

static bool same_expression(struct span a, struct span b)
{
    AUTO(buf) struct buf storage_a = BUF_INIT(LATEX_MAX), storage_b = BUF_INIT(LATEX_MAX);
    bool percent_a = strip_percent(&a), percent_b = strip_percent(&b);

    if (is_word(a) || is_word(b))
        return false;
    a = ungrouped(a, &storage_a);
    b = ungrouped(b, &storage_b);
    if (whole_digits(a) && whole_digits(b)) { /* exactly, however long */
        while (a.n > 1 && a.p[0] == '0')
            a = span_from(a, 1);
        while (b.n > 1 && b.p[0] == '0')
            b = span_from(b, 1);
        if (percent_a == percent_b || span_equal_nocase(a, b))
            return span_equal_nocase(a, b);
    }
    return same_values(a, b, 1) || (percent_a && !percent_b && same_values(a, b, 100)) ||
           (percent_b && !percent_a && same_values(a, b, 0.01));
}

/* Letters without case, without the marks around \text{} and a lone letter's parentheses. */
static void put_words(struct span s, struct buf *ret)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] != MATH_TEXT)
            buf_addc(ret, (char)tolower((unsigned char)s.p[i]));
    if (ret->len == 3 && ret->data[0] == '(' && ret->data[2] == ')') {
        buf_consume(ret, 1);
        ret->len = 1;
    }
}

static bool same_words(struct span a, struct span b)
{
    AUTO(buf) struct buf words_a = BUF_INIT(4 * LATEX_MAX), words_b = BUF_INIT(4 * LATEX_MAX);

    put_words(a, &words_a);
    put_words(b, &words_b);
    return words_a.len && words_a.len == words_b.len &&
           memcmp(words_a.data, words_b.data, words_a.len) == 0;
}

/* Without the final stop, and without parentheses around everything that are no tuple. */
static struct span tidy(struct span s)
{
    struct span parts[PARTS_MAX];

    for (;;) {
        s = span_trim(s);
        if (s.n && strchr(".;:", s.p[s.n - 1]))
            s.n--;
        else if (is_enclosed(s) && s.p[0] == '(' && s.p[s.n - 1] == ')' && s.n > 3 &&
                 split(inside(s), ',', parts) == 1)
            s = inside(s);
        else
            return s;
    }
}

/* Behind the last "=" or sign of membership outside of brackets. */
static struct span right_side(struct span s)
{
    struct span parts[PARTS_MAX];
    size_t n = split(s, MATH_IN, parts);

    s = parts[n - 1];
    for (size_t i = 0; i + 1 < s.n; i++) /* <=, >= and != are no equations */
        if (s.p[i + 1] == '=' && strchr("<>!", s.p[i]))
            return s;
    n = split(s, '=', parts);
    return parts[n - 1];
}

/* Without the unit: \text{} at the end with its power, when something stands before it. */
static struct span without_unit(struct span s)
{
    size_t end = s.n;

    while (end > 0 && (isdigit((unsigned char)s.p[end - 1]) || strchr("^()", s.p[end - 1])))
        end--;
    if (end < 2 || s.p[end - 1] != MATH_TEXT)
        end = s.n;
    if (end >= 2 && s.p[end - 1] == MATH_TEXT) {
        size_t start = end - 1;

        while (start > 0 && s.p[start - 1] != MATH_TEXT)
            start--;
        if (start > 1)
            return (struct span){s.p, start - 1};
    }
    return s;
}

/* The two values of a form with a plus-minus sign, as a list. */
static bool expand_plus_minus(struct span s, struct buf *ret)
{
    if (!s.n || !memchr(s.p, MATH_PLUS_MINUS, s.n))
        return false;
    for (int minus = 0; minus < 2; minus++) {
        if (minus)
            buf_addc(ret, ',');
        for (size_t i = 0; i < s.n; i++)
            buf_addc(ret, s.p[i] != MATH_PLUS_MINUS ? s.p[i] : minus ? '-' : '+');
    }
    return true;
}

static bool same_expanded(struct span a, struct span b, int depth)
{
    AUTO(buf) struct buf list_a = BUF_INIT(4 * LATEX_MAX), list_b = BUF_INIT(4 * LATEX_MAX);
    bool more = expand_plus_minus(a, &list_a);

    more = expand_plus_minus(b, &list_b) || more;
    return more && same(list_a.len ? span_of(list_a.data) : a,
                        list_b.len ? span_of(list_b.data) : b, depth + 1);
}

static bool same(struct span a, struct span b, int depth)
{
    int r;

    if (depth > DEPTH_MAX)
        return false;
    a = tidy(a);
    b = tidy(b);
    if (!a.n || !b.n)
        return false;
    if (same_words(a, b))
        return true;
    r = compare_lists(a, b, depth);
    if (r >= 0)
        return r;
    if (same_expanded(a, b, depth))
        return true;
    a = tidy(without_unit(right_side(a)));
    b = tidy(without_unit(right_side(b)));
    r = compare_lists(a, b, depth);
    return r >= 0 ? r : same_words(a, b) || same_expression(a, b);
}

/* "12 square units" for 12: a number and words, where the reference is a number. */
static bool same_with_words(struct span candidate, struct span reference)
{
    AUTO(buf) struct buf plain = BUF_INIT(2 * LATEX_MAX);
    struct number x, second, wanted = {0};
    bool variables;

    candidate = span_bare(candidate);
    if (!number_next(candidate, 0, &x) || x.start != 0 || number_next(candidate, x.end, &second))
        return false;
    for (size_t i = x.end; i < candidate.n; i++)
        if (strchr("+*/=^\\(){}[]<>,", candidate.p[i]))
            return false;
    if (!latex_normalise(reference, &plain) ||
        !expression_value(span_of(buf_str(&plain)), 1, &wanted.value, &variables) || variables)
        return false;
    return number_equal(&x, &wanted, (struct tolerance){0});
}

static bool same_math(struct span candidate, struct span reference)
{
    AUTO(buf) struct buf a = BUF_INIT(2 * LATEX_MAX), b = BUF_INIT(2 * LATEX_MAX);

    if (latex_normalise(candidate, &a) && latex_normalise(reference, &b)) {
        struct span parts[PARTS_MAX];

        /* "4/3, about 1.33": either side may be what was asked for */
        for (size_t n = split(span_of(buf_str(&a)), MATH_ABOUT, parts); n-- > 0;)
            if (same(parts[n], span_of(buf_str(&b)), 0))
                return true;
    }
    return same_with_words(candidate, reference);
}

/* The last formula between dollar signs or \( and \). */
static bool find_formula(struct span s, struct span *ret)
{
    size_t open = (size_t)-1;
    bool found = false;

    for (size_t i = 0; i < s.n; i++) {
        bool opens = i + 1 < s.n && s.p[i] == '\\' && strchr("([", s.p[i + 1]);
        bool closes = i + 1 < s.n && s.p[i] == '\\' && strchr(")]", s.p[i + 1]);
        bool dollar = s.p[i] == '$';

        if (open != (size_t)-1 && (closes || dollar)) {
            if (i > open) {
                *ret = (struct span){s.p + open, i - open};
                found = true;
            }
            open = (size_t)-1;
            i += closes;
        } else if (opens || dollar) {
            open = i + (opens ? 2 : 1);
            i += opens;
        } else if (s.p[i] == '\\') {
            i++; /* \$ */
        }
    }
    return found;
}

static struct span candidate_of(struct span text)
{
    struct span part;

    if (find_boxed(text, &part))
        return part;
    if (find_cue(text, &part)) {
        part = first_sentence(part);
        find_formula(part, &part);
        return span_trim(part);
    }
    text = last_line(text);
    return find_formula(text, &part) ? part : text;
}

static int math_score(const char *args, const struct item *item, const char *answer,
                      struct score *ret, struct err *err)
{
    struct span text, candidate, reference = span_trim(span_of(item->answer ? item->answer : ""));
    int r = score_no_arguments(args, "math", err);
    bool right;

    if (r < 0)
        return r;
    if (score_trivial(item, answer, &text, ret))
        return 0;
    candidate = candidate_of(text);
    right = same_math(candidate, reference) || same_math(text, reference);
    score_set(ret, right ? VERDICT_CORRECT : VERDICT_WRONG, span_trim(candidate), "");
    return 0;
}

const struct scorer_ops scorer_math_ops = {
    .plugin = {.id = "math",
               .help = "the same value or expression: LaTeX, fractions, roots, intervals, lists"},
    .score = math_score,
};
