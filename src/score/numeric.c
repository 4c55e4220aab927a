/*
 * Which of the numbers in a text is its answer? What the text marks comes first; the last number is
 * the last resort. Two numbers with "or" between them are no answer.
 */
#include "base/num.h"
#include "score/number.h"
#include "score/scorers.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* The byte behind the last "=" (or its kin) that a number follows; 0 = there is none. */
static size_t behind_equals(struct span s, bool between_numbers)
{
    static const char *const signs[] = {"=", "\xE2\x89\x88", "\\approx"};
    size_t found = 0;

    for (size_t i = 0; i < s.n; i++) {
        for (size_t k = 0; k < sizeof(signs) / sizeof(*signs); k++) {
            size_t n = strlen(signs[k]), before = i;
            struct number x;

            if (s.n - i < n || memcmp(s.p + i, signs[k], n) != 0)
                continue;
            while (before > 0 && s.p[before - 1] == ' ')
                before--;
            if (between_numbers && !(before > 0 && (isdigit((unsigned char)s.p[before - 1]) ||
                                                    strchr(")%", s.p[before - 1]))))
                continue;
            /* Looking a few bytes ahead keeps this linear. */
            if (number_next((struct span){s.p + i + n, s.n - i - n < 64 ? s.n - i - n : 64}, 0, &x))
                found = i + n;
        }
    }
    return found;
}

/* "5 or 6": the answer is both, so it is neither. */
static bool is_undecided(struct span s, const struct number *chosen)
{
    struct number before = {0}, x;

    for (size_t at = 0; number_next(s, at, &x); at = x.end) {
        struct span between = {s.p + before.end, x.start - before.end};

        if ((x.start == chosen->start || (before.end && before.start == chosen->start)) &&
            span_equal_nocase(span_trim(between), span_of("or")) && x.value != before.value)
            return true;
        before = x;
    }
    return false;
}

static bool first_number(struct span s, struct number *ret)
{
    for (size_t at = 0; number_next(s, at, ret); at = ret->end)
        if (!ret->negated)
            return true;
    return false;
}

static bool last_number(struct span s, struct number *ret)
{
    struct number x;
    bool found = false;

    for (size_t at = 0; number_next(s, at, &x); at = x.end) {
        if (!x.negated) {
            *ret = x;
            found = true;
        }
    }
    return found;
}

/* Letters and signs of a unit, at most three words. */
static bool is_unit(struct span s)
{
    int words = 1;

    s = span_trim(s);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == ' ')
            words++;
        else if (strchr(".:;,!?*()=+-\n", s.p[i]))
            return false;
    }
    return words <= 3;
}

/* A number with nothing but a unit beside it, and perhaps "=" before it. */
static bool is_lone_number(struct span s, struct number *ret)
{
    struct span bare = span_bare(s);
    struct number x, second;

    if (bare.n && bare.p[0] == '=')
        bare = span_trim(span_from(bare, 1));
    if (bare.n > 48 || !number_next(bare, 0, &x) || x.start != 0 ||
        number_next(bare, x.end, &second) || !is_unit(span_from(bare, x.end)))
        return false;
    x.start += (size_t)(bare.p - s.p);
    x.end += (size_t)(bare.p - s.p);
    *ret = x;
    return true;
}

static struct span first_line(struct span s)
{
    const char *end = memchr(s.p, '\n', s.n);

    return (struct span){s.p, end ? (size_t)(end - s.p) : s.n};
}

static int word_value(struct span word)
{
    static const char *const small[] = {"zero",    "one",     "two",       "three",    "four",
                                        "five",    "six",     "seven",     "eight",    "nine",
                                        "ten",     "eleven",  "twelve",    "thirteen", "fourteen",
                                        "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
    static const char *const tens[] = {"twenty", "thirty",  "forty",  "fifty",
                                       "sixty",  "seventy", "eighty", "ninety"};

    for (int i = 0; i < 20; i++)
        if (span_equal_nocase(word, span_of(small[i])))
            return i;
    for (int i = 0; i < 8; i++)
        if (span_equal_nocase(word, span_of(tens[i])))
            return 10 * (i + 2);
    return -1;
}

/* "seven", "twenty-three": the last number word of the text, 0 to 99. */
static bool number_word(struct span text, struct number *ret)
{
    struct number x = {0};
    bool found = false;
    int last = -1;

    for (size_t i = 0, n; i < text.n; i += n ? n : 1) {
        int value;

        for (n = 0; i + n < text.n && isalpha((unsigned char)text.p[i + n]);)
            n++;
        if (!n)
            continue;
        value = word_value((struct span){text.p + i, n});
        if (value > 0 && value < 10 && last >= 20 && i == x.end + 1)
            x = (struct number){.value = last + value, .start = x.start, .end = i + n};
        else if (value >= 0)
            x = (struct number){.value = value, .start = i, .end = i + n};
        found = found || value >= 0;
        last = value;
    }
    if (found)
        *ret = x;
    return found;
}

/* The last number that stands alone in bold. */
static bool bold_number(struct span s, struct number *ret)
{
    struct span inside;
    struct number x;
    bool found = false;

    for (size_t at = 0; next_bold(s, &at, &inside);) {
        bool word = number_word(inside, &x) && x.start == 0 && x.end == inside.n;

        /* "**1.**" counts a list */
        if (word ||
            (inside.n && !strchr(".):", inside.p[inside.n - 1]) && is_lone_number(inside, &x))) {
            *ret = x;
            ret->start += (size_t)(inside.p - s.p);
            ret->end += (size_t)(inside.p - s.p);
            found = true;
        }
    }
    return found;
}

/* The part of s from the start of the sentence in which byte `at` is. */
static struct span sentence_around(struct span s, size_t at)
{
    size_t start = at;
    struct span sentence;

    while (start > 0 && s.p[start - 1] != '\n' &&
           !(isspace((unsigned char)s.p[start - 1]) && start >= 2 && strchr(".!?", s.p[start - 2])))
        start--;
    sentence = span_from(s, start);
    sentence = first_sentence((struct span){sentence.p, sentence.n});
    return sentence.n > at - start ? sentence : span_from(s, start);
}

/* In text that marks nothing. */
static bool unmarked_number(struct span s, struct number *ret, struct span *ret_in)
{
    struct span sentence;
    size_t equals;

    *ret_in = last_line(s);
    if (is_lone_number(*ret_in, ret))
        return true;
    *ret_in = first_line(s);
    if (is_lone_number(*ret_in, ret))
        return true;
    *ret_in = s;
    if (bold_number(s, ret))
        return true;
    if (!last_number(s, ret))
        return false;
    sentence = sentence_around(s, ret->start);
    equals = behind_equals(sentence, true);
    if (equals) {
        *ret_in = span_from(sentence, equals);
        return first_number(*ret_in, ret);
    }
    return true;
}

static bool announced_number(struct span line, struct number *ret, struct span *ret_in)
{
    struct span sentence = first_sentence((struct span){line.p, line.n < 500 ? line.n : 500});
    struct span in = span_from(sentence, behind_equals(sentence, false));

    if (!first_number(in, ret))
        return false;
    *ret_in = in;
    return true;
}

/* Behind the last "the answer is" that a number follows. */
static bool cued_number(struct span text, struct number *ret, struct span *ret_in)
{
    struct span line;
    bool found = false;

    for (size_t at = 0; next_cue(text, answer_words, &at, &line);)
        found = announced_number(line, ret, ret_in) || found;
    return found;
}

/* "one" is a word like any other in a sentence, so it must stand alone. */
static bool spelled_number(struct span text, struct number *ret, struct span *ret_in)
{
    if (find_boxed(text, ret_in) || find_cue(text, ret_in)) {
        *ret_in = first_sentence(*ret_in);
        return number_word(*ret_in, ret);
    }
    *ret_in = span_bare(text);
    return ret_in->n <= 40 && number_word(*ret_in, ret) &&
           (ret->value != 1 || ret->end - ret->start == ret_in->n);
}

bool number_of_answer(struct span text, struct number *ret, const char **ret_reason)
{
    struct span marked, in = text;
    struct number x;
    bool found = find_boxed(text, &marked) && announced_number(marked, &x, &in);

    if (!found)
        found = cued_number(text, &x, &in);
    if (!found)
        found = unmarked_number(text, &x, &in);
    if (!found)
        found = spelled_number(text, &x, &in);
    *ret_reason = "no number in the answer";
    if (found && is_undecided(in, &x)) {
        *ret_reason = "two numbers with 'or' between them";
        return false;
    }
    if (!found)
        return false;
    x.start += (size_t)(in.p - text.p);
    x.end += (size_t)(in.p - text.p);
    *ret = x;
    return true;
}

/* "0.01" is absolute, "1%" relative to the reference. */
static int parse_tolerance(const char *args, struct tolerance *ret, struct err *err)
{
    char text[64];
    size_t n = strlen(args);
    bool relative = n > 0 && args[n - 1] == '%';
    double value = 0;
    int r;

    if (n >= sizeof(text))
        return err_set(err, EINVAL, "scorer numeric: '%.60s' is not a tolerance", args);
    snprintf(text, sizeof(text), "%.*s", (int)(n - relative), args);
    r = n ? parse_f64(text, &value, err) : 0;
    if (r < 0 || value < 0)
        return err_set(err, EINVAL, "scorer numeric: '%.60s' is not a tolerance (0.01, 1%%)", args);
    *ret = (struct tolerance){.absolute = relative ? 0 : value,
                              .relative = relative ? value / 100 : 0};
    return 0;
}

static int numeric_score(const char *args, const struct item *item, const char *answer,
                         struct score *ret, struct err *err)
{
    struct number given, wanted;
    struct tolerance tolerance;
    struct span text, extracted;
    const char *reason;
    bool right;
    int r = parse_tolerance(args, &tolerance, err);

    if (r < 0)
        return r;
    if (score_trivial(item, answer, &text, ret))
        return 0;
    if (!number_of_answer(span_of(item->answer), &wanted, &reason)) {
        score_set(ret, VERDICT_UNSCORABLE, span_of(""), "the reference is not a number");
        return 0;
    }
    if (!number_of_answer(text, &given, &reason)) {
        score_set(ret, VERDICT_WRONG, span_of(""), reason);
        return 0;
    }
    right = number_equal(&given, &wanted, tolerance);
    extracted = (struct span){text.p + given.start, given.end - given.start};
    score_set(ret, right ? VERDICT_CORRECT : VERDICT_WRONG, extracted, "");
    return 0;
}

const struct scorer_ops scorer_numeric_ops = {
    .plugin = {.id = "numeric",
               .help = "the same number, however it is written; numeric:0.01 allows a difference, "
                       "numeric:1% a relative one"},
    .score = numeric_score,
};
