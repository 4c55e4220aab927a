#include "score/text.h"

#include "base/utf8.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NOWHERE ((size_t)-1)

struct span span_of(const char *text)
{
    return (struct span){text, strlen(text)};
}

struct span span_from(struct span s, size_t from)
{
    return (struct span){s.p + from, s.n - from};
}

struct span span_trim(struct span s)
{
    while (s.n && isspace((unsigned char)s.p[0])) {
        s.p++;
        s.n--;
    }
    while (s.n && isspace((unsigned char)s.p[s.n - 1]))
        s.n--;
    return s;
}

/* The length of a mark at the start of s that says nothing about the answer, 0 if there is none.
 * Typographic quotes are U+2018 to U+201F, and the guillemets. */
static size_t mark_length(struct span s)
{
    if (s.n && s.p[0] && (isspace((unsigned char)s.p[0]) || strchr("*_`\"'.,;:!?", s.p[0])))
        return 1;
    if (s.n >= 3 && memcmp(s.p, "\xE2\x80", 2) == 0 && (unsigned char)s.p[2] >= 0x98 &&
        (unsigned char)s.p[2] <= 0x9F)
        return 3;
    if (s.n >= 2 && (memcmp(s.p, "\xC2\xAB", 2) == 0 || memcmp(s.p, "\xC2\xBB", 2) == 0))
        return 2;
    return 0;
}

/* A point before a digit belongs to the number (.5). */
static bool begins_number(struct span s)
{
    return s.n >= 2 && s.p[0] == '.' && isdigit((unsigned char)s.p[1]);
}

struct span span_bare(struct span s)
{
    size_t n;

    while (!begins_number(s) && (n = mark_length(s)) > 0)
        s = span_from(s, n);
    for (bool more = true; more && s.n;) {
        more = false;
        for (n = 1; n <= 3 && n <= s.n && !more; n++) {
            more = mark_length(span_from(s, s.n - n)) == n;
            if (more)
                s.n -= n;
        }
    }
    return s;
}

bool span_is(struct span s, const char *text)
{
    return s.n == strlen(text) && memcmp(s.p, text, s.n) == 0;
}

bool span_starts_nocase(struct span s, const char *word)
{
    size_t n = strlen(word);

    return s.n >= n && strncasecmp(s.p, word, n) == 0;
}

bool span_equal_nocase(struct span a, struct span b)
{
    return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

static bool is_word_code(uint32_t code)
{
    if (code < 0x80)
        return isalnum((int)code);
    return code >= 0xC0 && code < 0x2000 && code != 0xD7 && code != 0xF7;
}

bool word_at(struct span s, size_t i)
{
    uint32_t code;

    return i < s.n && utf8_char(s.p + i, s.n - i, &code) && is_word_code(code);
}

bool word_before(struct span s, size_t i)
{
    for (size_t back = 1; back <= 4 && back <= i; back++)
        if (((unsigned char)s.p[i - back] & 0xC0) != 0x80)
            return word_at((struct span){s.p, i}, i - back);
    return false;
}

bool span_has_word(struct span s, size_t i, const char *word)
{
    return i <= s.n && span_starts_nocase(span_from(s, i), word) && !word_at(s, i + strlen(word));
}

size_t span_find_word(struct span s, size_t from, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = from; i + n <= s.n; i++)
        if (strncasecmp(s.p + i, word, n) == 0 && !word_before(s, i) && !word_at(s, i + n))
            return i;
    return NOWHERE;
}

static const char *const think_tags[] = {"think>", "thinking>", "reasoning>"};
#define N_TAGS (sizeof(think_tags) / sizeof(*think_tags))

/* "<think>" or "</think>" (by lead, "<" or "</") at the start of s: its length, else 0. */
static size_t tag_length(struct span s, const char *lead)
{
    size_t n = strlen(lead);

    if (s.n < n || memcmp(s.p, lead, n) != 0)
        return 0;
    for (size_t i = 0; i < N_TAGS; i++)
        if (span_starts_nocase(span_from(s, n), think_tags[i]))
            return n + strlen(think_tags[i]);
    return 0;
}

struct span answer_text(const char *answer)
{
    struct span s = span_of(answer);
    size_t begin = 0;

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '<' && tag_length(span_from(s, i), "</"))
            begin = i + tag_length(span_from(s, i), "</");
    s = span_from(s, begin);
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '<' && tag_length(span_from(s, i), "<"))
            s.n = i;
    if (s.n > ANSWER_MAX)
        s = span_from(s, s.n - ANSWER_MAX);
    return span_trim(s);
}

/* The length of a group in braces that begins at s, without the braces; NOWHERE if it has no end.
 */
static size_t braced_length(struct span s)
{
    size_t depth = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '\\')
            i++;
        else if (s.p[i] == '{')
            depth++;
        else if (s.p[i] == '}' && --depth == 0)
            return i - 1;
    }
    return NOWHERE;
}

bool find_boxed(struct span text, struct span *ret)
{
    static const char lead[] = "\\boxed{";
    size_t n = sizeof(lead) - 1;
    /* Backwards, and each only as far as the one behind it: linear however many have no end. */
    size_t limit = text.n;

    for (size_t i = text.n; i-- > 0;) {
        struct span s = {text.p + i, limit - i};
        size_t len;

        if (s.n < n || memcmp(s.p, lead, n) != 0)
            continue;
        s = span_from(s, n - 1);
        len = braced_length(s);
        if (len != NOWHERE) {
            *ret = (struct span){s.p + 1, len};
            return true;
        }
        limit = i;
    }
    return false;
}

static size_t skip_marks(struct span s, size_t i)
{
    while (i < s.n && strchr(" \t*_`\"')", s.p[i]) && s.p[i])
        i++;
    return i;
}

/* Behind "answer": the end of what leads to its content, NOWHERE if it is not a cue. */
static size_t connector_end(struct span s)
{
    static const char *const words[] = {"is",        "are",       "was",        "would be",
                                        "should be", "must be",   "will be",    "equals",
                                        "comes to",  "has to be", "can only be"};
    size_t i = skip_marks(s, 0);

    if (i < s.n && (s.p[i] == ':' || s.p[i] == '='))
        return i + 1;
    for (size_t w = 0; w < sizeof(words) / sizeof(*words); w++) {
        size_t n = strlen(words[w]);

        if (span_has_word(s, i, words[w]))
            return i + n;
    }
    return NOWHERE;
}

/* As connector_end, and allows "answer to the question is". */
static size_t cue_end(struct span s)
{
    static const char *const links[] = {"to", "for", "of", "here", "choice", "option", "letter"};
    size_t end = connector_end(s), i = skip_marks(s, 0), is;
    struct span near = {s.p, s.n < 120 ? s.n : 120};

    if (end != NOWHERE)
        return end;
    for (size_t w = 0; w < sizeof(links) / sizeof(*links); w++) {
        if (span_find_word(near, i, links[w]) != i)
            continue;
        near = first_sentence(near);
        is = span_find_word(near, i, "is");
        if (is != NOWHERE)
            return is + 2;
        for (size_t k = i; k < near.n; k++)
            if (near.p[k] == ':')
                return k + 1;
    }
    return NOWHERE;
}

const char *const answer_words[] = {"answer", "result", NULL};

/* The length of the cue at the start of s, up to what it announces; NOWHERE if there is none. */
static size_t cue_length(struct span s, const char *const *words)
{
    if (s.n > 4 && memcmp(s.p, "####", 4) == 0 && s.p[4] == ' ')
        return 5;
    for (; *words; words++) {
        size_t n = strlen(*words), end;

        if (((*words)[0] | 0x20) != (s.p[0] | 0x20) || !span_has_word(s, 0, *words))
            continue;
        end = cue_end(span_from(s, n));
        if (end != NOWHERE)
            return n + end;
    }
    return NOWHERE;
}

static struct span line_behind(struct span text, size_t from)
{
    struct span rest = span_from(text, from);
    const char *end;

    while (rest.n && (isspace((unsigned char)rest.p[0]) || strchr("*_`:=", rest.p[0])) && rest.p[0])
        rest = span_from(rest, 1);
    if (rest.n > CUE_MAX)
        rest.n = CUE_MAX;
    end = memchr(rest.p, '\n', rest.n);
    if (end)
        rest.n = (size_t)(end - rest.p);
    return span_trim(rest);
}

bool next_cue(struct span text, const char *const *words, size_t *at, struct span *ret)
{
    for (size_t i = *at; i < text.n; i++) {
        size_t n;

        n = cue_length(span_from(text, i), words);
        if (n != NOWHERE && !word_before(text, i)) {
            *ret = line_behind(text, i + n);
            *at = i + n;
            return true;
        }
    }
    return false;
}

bool find_cue(struct span text, struct span *ret)
{
    bool found = false;

    for (size_t at = 0; next_cue(text, answer_words, &at, ret);)
        found = true;
    return found;
}

static size_t find_stars(struct span s, size_t from)
{
    for (size_t i = from; i + 1 < s.n; i++)
        if (s.p[i] == '*' && s.p[i + 1] == '*')
            return i;
    return NOWHERE;
}

bool next_bold(struct span text, size_t *at, struct span *ret)
{
    size_t open = find_stars(text, *at);
    size_t close = open == NOWHERE ? NOWHERE : find_stars(text, open + 2);

    if (close == NOWHERE)
        return false;
    *ret = (struct span){text.p + open + 2, close - open - 2};
    *at = close + 2;
    return true;
}

struct span last_line(struct span text)
{
    text = span_trim(text);
    for (size_t i = text.n; i-- > 0;)
        if (text.p[i] == '\n')
            return span_trim(span_from(text, i + 1));
    return text;
}

struct span first_sentence(struct span text)
{
    for (size_t i = 0; i < text.n; i++) {
        bool stop = strchr(".!?", text.p[i]) && text.p[i];

        if (text.p[i] == '\n' ||
            (stop && (i + 1 == text.n || isspace((unsigned char)text.p[i + 1])))) {
            text.n = i;
            break;
        }
    }
    return text;
}

void fold_text(struct span s, struct buf *ret)
{
    bool blank = false;

    s = span_bare(s);
    for (size_t i = 0; i < s.n; i++) {
        if (isspace((unsigned char)s.p[i])) {
            blank = true;
            continue;
        }
        if (blank)
            buf_addc(ret, ' ');
        blank = false;
        buf_addc(ret, (char)tolower((unsigned char)s.p[i]));
    }
}

void score_set(struct score *ret, enum verdict verdict, struct span extracted, const char *reason)
{
    size_t n = extracted.n;

    *ret = (struct score){.verdict = verdict};
    if (n >= sizeof(ret->extracted)) {
        n = sizeof(ret->extracted) - 1;
        while (n > 0 && ((unsigned char)extracted.p[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(ret->extracted, extracted.p, n);
    snprintf(ret->reason, sizeof(ret->reason), "%s", reason);
}

bool score_trivial(const struct item *item, const char *answer, struct span *ret_text,
                   struct score *ret)
{
    struct span text = answer_text(answer ? answer : "");

    *ret_text = text;
    if (!item->answer || !span_trim(span_of(item->answer)).n)
        score_set(ret, VERDICT_UNSCORABLE, span_of(""), "no reference answer");
    else if (!text.n)
        score_set(ret, VERDICT_WRONG, span_of(""), "empty answer");
    else
        return false;
    return true;
}
