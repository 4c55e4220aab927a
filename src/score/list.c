/*
 * The elements of a list lie between semicolons or line breaks if it has any, else between commas;
 * "and" before the last one separates too. Bullets, numbers ("1."), brackets and quotes around them
 * do not count. Two elements are the same as in exact, or as numbers. Without ":ordered" the order
 * does not matter, but how often an element occurs does.
 *
 * Compared is what the answer marks (\boxed{}, "the answer is"); else the whole answer, what stands
 * behind its last colon, or its last line, whichever fits.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "score/number.h"
#include "score/scorers.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

#define ELEMENTS_MAX 1000

struct list {
    char **items; /* folded */
    size_t n;
    size_t cap;
};

static void list_release(struct list *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->items[i]);
    free(l->items);
    *l = (struct list){0};
}

/* "- x", "* x", "1. x", "1) x" at the start of a line. */
static struct span without_bullet(struct span s)
{
    size_t digits = 0;

    s = span_trim(s);
    if (s.n > 2 && (s.p[0] == '-' || s.p[0] == '*') && s.p[1] == ' ')
        return span_trim(span_from(s, 2));
    while (digits < s.n && isdigit((unsigned char)s.p[digits]))
        digits++;
    if (digits && digits + 1 < s.n && (s.p[digits] == '.' || s.p[digits] == ')') &&
        s.p[digits + 1] == ' ')
        return span_trim(span_from(s, digits + 2));
    return s;
}

static void add_element(struct list *l, struct span s)
{
    AUTO(buf) struct buf folded = BUF_INIT(BUF_MAX_OWN);

    fold_text(s, &folded);
    if (!folded.len)
        return;
    GROW(l->items, l->n, l->cap);
    l->items[l->n++] = buf_take(&folded);
}

/* An element, or two with "and" between them. */
static void add_elements(struct list *l, struct span s)
{
    size_t and;

    s = without_bullet(s);
    if (span_starts_nocase(s, "and "))
        s = span_from(s, 4);
    while ((and = span_find_word(s, 0, "and")) != (size_t)-1 && l->n <= ELEMENTS_MAX) {
        add_element(l, (struct span){s.p, and});
        s = span_from(s, and+3);
    }
    add_element(l, s);
}

static struct span without_brackets(struct span s)
{
    s = span_trim(s);
    if (s.n >= 2 && s.p[s.n - 1] == '.')
        s.n--;
    if (s.n >= 2 &&
        ((s.p[0] == '[' && s.p[s.n - 1] == ']') || (s.p[0] == '{' && s.p[s.n - 1] == '}') ||
         (s.p[0] == '(' && s.p[s.n - 1] == ')')))
        return (struct span){s.p + 1, s.n - 2};
    return s;
}

static void parse_list(struct span s, struct list *l)
{
    const char *separators;
    size_t start = 0;

    s = without_brackets(span_bare(s));
    separators = memchr(s.p, ';', s.n) || memchr(s.p, '\n', s.n) ? ";\n" : ",";
    for (size_t i = 0; i <= s.n && l->n <= ELEMENTS_MAX; i++) {
        if (i == s.n || strchr(separators, s.p[i])) {
            add_elements(l, (struct span){s.p + start, i - start});
            start = i + 1;
        }
    }
}

/* The whole text is a number? */
static bool as_number(const char *text, struct number *ret)
{
    struct span s = span_of(text);

    return number_next(s, 0, ret) && ret->start == 0 && ret->end == s.n;
}

static bool same_element(const char *a, const char *b)
{
    struct number x, y;

    if (strcmp(a, b) == 0)
        return true;
    return as_number(a, &x) && as_number(b, &y) && number_equal(&x, &y, (struct tolerance){0});
}

static bool same_list(struct span text, const struct list *wanted, bool ordered)
{
    AUTO(list) struct list given = {0};
    AUTO_FREE bool *used = xcalloc(wanted->n + 1, sizeof(*used));

    parse_list(text, &given);
    if (given.n != wanted->n)
        return false;
    for (size_t i = 0; i < given.n; i++) {
        size_t k = ordered ? i : 0;

        while (k < wanted->n && (used[k] || !same_element(given.items[i], wanted->items[k])))
            k = ordered ? wanted->n : k + 1;
        if (k == wanted->n)
            return false;
        used[k] = true;
    }
    return true;
}

static struct span behind_colon(struct span s)
{
    for (size_t i = s.n; i-- > 0;)
        if (s.p[i] == ':')
            return span_from(s, i + 1);
    return s;
}

static bool find_list(struct span text, const struct list *wanted, bool ordered,
                      struct span *ret_chosen)
{
    struct span tries[3] = {text, behind_colon(text), last_line(text)};

    if (find_boxed(text, ret_chosen) || find_cue(text, ret_chosen))
        return same_list(*ret_chosen, wanted, ordered) ||
               same_list(first_sentence(*ret_chosen), wanted, ordered) ||
               same_list(text, wanted, ordered);
    for (size_t i = 0; i < 3; i++) {
        *ret_chosen = tries[i];
        if (same_list(tries[i], wanted, ordered))
            return true;
    }
    return false;
}

static int list_score(const char *args, const struct item *item, const char *answer,
                      struct score *ret, struct err *err)
{
    AUTO(list) struct list wanted = {0};
    bool ordered = strcmp(args, "ordered") == 0;
    struct span text, chosen;
    bool right;

    if (*args && !ordered)
        return err_set(err, EINVAL, "scorer list: '%.60s' is not 'ordered'", args);
    if (score_trivial(item, answer, &text, ret))
        return 0;
    parse_list(span_of(item->answer), &wanted);
    if (!wanted.n || wanted.n > ELEMENTS_MAX) {
        score_set(ret, VERDICT_UNSCORABLE, span_of(""),
                  wanted.n ? "the reference has too many elements" : "the reference is no list");
        return 0;
    }
    right = find_list(text, &wanted, ordered, &chosen);
    score_set(ret, right ? VERDICT_CORRECT : VERDICT_WRONG, span_trim(chosen), "");
    return 0;
}

const struct scorer_ops scorer_list_ops = {
    .plugin = {.id = "list", .help = "the same elements in any order; list:ordered in this order"},
    .score = list_score,
};
