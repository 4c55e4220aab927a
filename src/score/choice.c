/*
 * Which letter does a text choose? A capital letter at the start of a sentence is no choice, and a
 * text that reasons names many. So the places where a choice is said are tried from the surest to
 * the weakest, and the first that gives a letter decides:
 *
 *   1. the whole text is a letter: "B", "(B)", "**B.**"
 *   2. the last \boxed{B}
 *   3. behind the last "answer is", "correct option:", ... that a letter follows
 *   4. the last "B is correct", "B is the right one", "only B"
 *   5. the last "I choose B", "going with (B)"
 *   6. the last line, or the first, is a letter, or begins like an option: "B. Paris", if no other
 *      line begins with another letter
 *   7. the one letter that is named at all, as "option B", "(B)" or alone
 *   8. the one option whose text is in the answer, when the row has options
 *
 * A letter behind "not" (or before "is wrong") never counts. "A" before a small word is an article,
 * "I" a pronoun. Two letters joined by "and" or "or" are no choice.
 */
#include "base/cleanup.h"
#include "score/scorers.h"
#include "score/text.h"

#include <ctype.h>
#include <string.h>

#define NONE    (-1)
#define SEVERAL (-2)

#define OPTIONS_MAX     26
#define OPTIONS_DEFAULT 10 /* A to J */

struct options {
    int n;
    const struct json *texts; /* NULL = unknown */
};

static bool in(char c, const char *set)
{
    return c && strchr(set, c);
}

/* Behind "A" or "I": does the sentence go on as if it was a word? */
static bool reads_as_word(struct span s, size_t i)
{
    static const char *const after_letter[] = {"is",    "was",   "because", "since", "as",
                                               "and",   "or",    "but",     "would", "must",
                                               "seems", "works", "fits",    "since", "for"};

    if (!in(s.p[i], "AI") || i + 2 >= s.n || s.p[i + 1] != ' ' ||
        !islower((unsigned char)s.p[i + 2]))
        return false;
    for (size_t w = 0; w < sizeof(after_letter) / sizeof(*after_letter); w++)
        if (span_has_word(s, i + 2, after_letter[w]))
            return false;
    return true;
}

/* The option whose capital letter stands at i as a word of its own, else NONE. */
static int letter_at(struct span s, size_t i, const struct options *o)
{
    int option = s.p[i] - 'A';
    char before = i ? s.p[i - 1] : ' ', after = i + 1 < s.n ? s.p[i + 1] : ' ';

    if (option < 0 || option >= o->n || word_before(s, i) || word_at(s, i + 1) ||
        in(before, "'\\-") || in(after, "'+#&"))
        return NONE;
    if (after == '-' && word_at(s, i + 2))
        return NONE;
    return reads_as_word(s, i) ? NONE : option;
}

static size_t skip_set(struct span s, size_t i, const char *set)
{
    while (i < s.n && in(s.p[i], set))
        i++;
    return i;
}

/* Past blanks, marks, brackets and LaTeX around a letter. */
static size_t skip_wrapping(struct span s, size_t i)
{
    static const char *const commands[] = {"\\text{",   "\\textbf{", "\\mathrm{",
                                           "\\mathbf{", "\\boxed{",  "\\("};

    for (size_t c = 0; c < sizeof(commands) / sizeof(*commands);) {
        i = skip_set(s, i, " \t\n*_`\"'([{$:=");
        if (span_starts_nocase(span_from(s, i), commands[c])) {
            i += strlen(commands[c]);
            c = 0;
        } else {
            c++;
        }
    }
    return i;
}

/* A text that is nothing but a letter, small or capital. */
static int lone_letter(struct span s, const struct options *o)
{
    size_t i = skip_wrapping(s, 0);
    int option;

    if (i == s.n)
        return NONE;
    option = toupper((unsigned char)s.p[i]) - 'A';
    i = skip_set(s, i + 1, " \t\n*_`\"')]}$.:,;!\\");
    return i == s.n && option >= 0 && option < o->n ? option : NONE;
}

/* A line that begins like an option: "B. Paris", "(B) Paris", "**B**: Paris", "B - Paris". */
static int leading_letter(struct span s, const struct options *o)
{
    size_t i = skip_wrapping(s, 0);
    int option;

    if (i == s.n)
        return NONE;
    option = letter_at(s, i, o);
    if (option < 0 && i + 1 < s.n && s.p[i + 1] == ')') /* "b) Paris" */
        option = lone_letter((struct span){s.p + i, 1}, o);
    if (option < 0 || i + 1 == s.n)
        return option;
    if (in(s.p[i + 1], ".):]*_`}$\n"))
        return option;
    return i + 2 < s.n && s.p[i + 1] == ' ' && (s.p[i + 2] == '-' || (s.p[i + 2] & 0x80)) ? option
                                                                                          : NONE;
}

/* "B and C", "B or C", "B, C": more than one. */
static bool is_joined(struct span s, size_t i, const struct options *o)
{
    static const char *const joints[] = {"and", "or", "&", ",", "/"};
    size_t k = skip_set(s, i + 1, " )*_`]");

    for (size_t j = 0; j < sizeof(joints) / sizeof(*joints); j++) {
        size_t n = strlen(joints[j]), next;

        if (!span_starts_nocase(span_from(s, k), joints[j]))
            continue;
        next = skip_set(s, k + n, " (*_`[");
        return next < s.n && letter_at(s, next, o) >= 0 && letter_at(s, next, o) != s.p[i] - 'A';
    }
    return false;
}

/* Is the letter at i named only to be turned down? */
static bool is_turned_down(struct span s, size_t i)
{
    static const char *const before[] = {"not",        "n't",         "never",    "except",
                                         "eliminate",  "exclude",     "rule out", "ruled out",
                                         "ruling out", "rather than", "reject",   "instead of",
                                         "unlike",     "nor",         "neither"};
    static const char *const after[] = {"is wrong",      "is incorrect", "is not",    "isn't",
                                        "is false",      "cannot",       "can't",     "is out",
                                        "is also wrong", "is ruled out", "are wrong", "fails",
                                        "is excluded",   "doesn't",      "does not"};
    size_t k = skip_set(s, i + 1, " )*_`]\"");
    size_t b = i;

    for (size_t w = 0; w < sizeof(after) / sizeof(*after); w++)
        if (span_has_word(s, k, after[w]))
            return true;
    while (b > 0 && in(s.p[b - 1], " (*_`[\""))
        b--;
    if (b >= 6 && span_starts_nocase((struct span){s.p + b - 6, 6}, "option"))
        b = b > 6 ? b - 7 : 0;
    for (size_t w = 0; w < sizeof(before) / sizeof(*before); w++) {
        size_t n = strlen(before[w]);

        if (b >= n && span_starts_nocase((struct span){s.p + b - n, n}, before[w]) &&
            (before[w][1] == '\'' || !word_before(s, b - n)))
            return true;
    }
    return false;
}

/* Behind "the answer is": the letter, past words that add nothing. */
static int announced_letter(struct span s, const struct options *o)
{
    static const char *const fillers[] = {
        "option",    "choice",   "letter", "the",      "clearly", "most",   "likely",
        "indeed",    "probably", "thus",   "actually", "answer",  "number", "therefore",
        "certainly", "simply",   "only",   "just",     "still",   "then",   "definitely"};
    size_t i;
    int option;

    s.n = s.n < 200 ? s.n : 200; /* a letter is said soon, or not at all */
    i = skip_wrapping(s, 0);
    for (size_t w = 0; w < sizeof(fillers) / sizeof(*fillers);) {
        if (span_has_word(s, i, fillers[w])) {
            i = skip_wrapping(s, i + strlen(fillers[w]));
            w = 0;
        } else {
            w++;
        }
    }
    if (i >= s.n)
        return NONE;
    option = letter_at(s, i, o);
    if (option < 0 && islower((unsigned char)s.p[i])) /* "the answer is b." */
        option = lone_letter(first_sentence(span_from(s, i)), o);
    if (option >= 0 && is_turned_down(s, i))
        return NONE;
    return option >= 0 && is_joined(s, i, o) ? SEVERAL : option;
}

static int cued_letter(struct span s, const struct options *o)
{
    static const char *const words[] = {"answer", "option", "choice", "letter", NULL};
    struct span line;
    int found = NONE;

    for (size_t at = 0; next_cue(s, words, &at, &line);) {
        int option = announced_letter(line, o);

        if (option != NONE)
            found = option;
    }
    return found;
}

/* The last "B is correct". */
static int praised_letter(struct span s, const struct options *o)
{
    static const char *const praise[] = {"is correct",      "is the correct",
                                         "is right",        "is the right",
                                         "is the answer",   "is the best",
                                         "is the only",     "is true",
                                         "must be correct", "must be right",
                                         "seems correct",   "seems right",
                                         "works",           "fits"};
    int found = NONE;

    for (size_t i = 0; i < s.n; i++) {
        int option = letter_at(s, i, o);
        size_t k;

        if (option < 0 || is_turned_down(s, i))
            continue;
        if (i >= 5 && span_find_word((struct span){s.p, i - 1}, i - 5, "only") == i - 5)
            found = option;
        k = skip_set(s, i + 1, " )*_`]\".:");
        for (size_t w = 0; w < sizeof(praise) / sizeof(*praise); w++)
            if (span_has_word(s, k, praise[w]))
                found = option;
    }
    return found;
}

/* The last "I choose B". */
static int picked_letter(struct span s, const struct options *o)
{
    static const char *const verbs[] = {"choose",  "pick",    "select",     "chose",   "picked",
                                        "go with", "opt for", "going with", "selected"};
    int found = NONE;
    size_t found_at = 0;

    for (size_t w = 0; w < sizeof(verbs) / sizeof(*verbs); w++) {
        for (size_t i = 0; (i = span_find_word(s, i, verbs[w])) != (size_t)-1; i++) {
            int option = announced_letter(span_from(s, i + strlen(verbs[w])), o);

            if (option != NONE && i >= found_at) {
                found = option;
                found_at = i;
            }
        }
    }
    return found;
}

static struct span take_line(struct span *s)
{
    const char *end = memchr(s->p, '\n', s->n);
    struct span line = {s->p, end ? (size_t)(end - s->p) : s->n};

    *s = span_from(*s, line.n + (end != NULL));
    return span_trim(line);
}

static int line_letter(struct span text, const struct options *o)
{
    struct span rest = text, first = {"", 0};
    int found = lone_letter(last_line(text), o), option;

    if (found >= 0)
        return found;
    first = take_line(&rest);
    found = lone_letter(first, o);
    if (found >= 0)
        return found;
    for (rest = text; rest.n;) {
        struct span line = take_line(&rest);

        option = leading_letter(line, o);
        if (option >= 0 && found >= 0 && option != found)
            return NONE;
        if (option >= 0)
            found = option;
    }
    /* What begins in the middle may be a quoted option. */
    return found >= 0 && (leading_letter(first, o) == found ||
                          leading_letter(last_line(text), o) == found)
               ? found
               : NONE;
}

/* The one letter that is named and not turned down. */
static int named_letter(struct span s, const struct options *o)
{
    int found = NONE;

    for (size_t i = 0; i < s.n; i++) {
        int option = letter_at(s, i, o);

        if (option < 0 || is_turned_down(s, i))
            continue;
        if (found != NONE && found != option)
            return SEVERAL;
        found = option;
    }
    return found;
}

/* The one option whose text the answer contains; the whole answer before a part of it. */
static int quoted_option(struct span s, const struct options *o)
{
    AUTO(buf) struct buf answer = BUF_INIT(BUF_MAX_OWN);
    int found = NONE, option = 0;

    fold_text(s, &answer);
    JSON_FOREACH (text, o->texts) {
        AUTO(buf) struct buf folded = BUF_INIT(BUF_MAX_OWN);
        struct span whole = span_of(buf_str(&answer));

        fold_text(span_of(json_text(text, "")), &folded);
        if (folded.len && span_is(whole, folded.data))
            return option;
        if (folded.len && span_find_word(whole, 0, folded.data) != (size_t)-1)
            found = found == NONE ? option : SEVERAL;
        option++;
    }
    return found;
}

static int find_choice(struct span text, const struct options *o)
{
    static int (*const tries[])(struct span, const struct options *) = {
        cued_letter, praised_letter, picked_letter, line_letter, named_letter};
    struct span boxed;
    int option = lone_letter(text, o);

    if (option == NONE && find_boxed(text, &boxed)) {
        option = lone_letter(boxed, o);
        if (option == NONE)
            option = leading_letter(boxed, o);
    }
    for (size_t i = 0; option == NONE && i < sizeof(tries) / sizeof(*tries); i++)
        option = tries[i](text, o);
    if (option == NONE && o->texts)
        option = quoted_option(text, o);
    return option;
}

/* How many lines of the question begin with the next letter: "A. ...", "(B) ...", "C) ...". */
static int count_lettered_lines(const char *problem)
{
    struct span rest = span_of(problem);
    int n = 0;

    while (rest.n && n < OPTIONS_MAX) {
        struct span line = take_line(&rest);
        size_t i = skip_set(line, 0, " (*");

        if (i + 1 < line.n && line.p[i] == 'A' + n && in(line.p[i + 1], ".):"))
            n++;
    }
    return n;
}

static struct options options_of(const struct item *item)
{
    const struct json *texts = json_get(item->metadata, "options");
    struct options o = {.n = OPTIONS_DEFAULT};
    int lines;

    if (json_is(texts, JSON_ARRAY) && texts->len >= 2 && texts->len <= OPTIONS_MAX) {
        o.n = (int)texts->len;
        o.texts = texts;
    } else if ((lines = count_lettered_lines(item->problem ? item->problem : "")) >= 2) {
        o.n = lines;
    }
    return o;
}

static int reference_option(const char *reference, const struct options *o)
{
    struct span s = span_trim(span_of(reference));
    int option = lone_letter(s, o);

    if (option == NONE)
        option = leading_letter(s, o);
    if (option == NONE && o->texts)
        option = quoted_option(s, o);
    return option;
}

static int choice_score(const char *args, const struct item *item, const char *answer,
                        struct score *ret, struct err *err)
{
    struct options o = options_of(item);
    char letter[2] = "";
    struct span text;
    int given, wanted, r = score_no_arguments(args, "choice", err);

    if (r < 0)
        return r;
    if (score_trivial(item, answer, &text, ret))
        return 0;
    wanted = reference_option(item->answer, &o);
    given = find_choice(text, &o);
    if (given >= 0)
        letter[0] = (char)('A' + given);
    if (wanted < 0)
        score_set(ret, VERDICT_UNSCORABLE, span_of(letter), "the reference is none of the options");
    else if (given < 0)
        score_set(ret, VERDICT_WRONG, span_of(""),
                  given == SEVERAL ? "more than one letter, none of them marked as the answer"
                                   : "no letter in the answer");
    else
        score_set(ret, given == wanted ? VERDICT_CORRECT : VERDICT_WRONG, span_of(letter), "");
    return 0;
}

const struct scorer_ops scorer_choice_ops = {
    .plugin = {.id = "choice", .help = "the same letter, in any usual phrasing"},
    .score = choice_score,
};
