/*
 * POSIX extended regular expressions. The pattern is the argument, or the reference when there is
 * none; it must match somewhere in the answer (^ and $ are the answer's ends).
 *
 * Two things could make the system's matcher run away, and are refused: back-references, for which
 * it has to try everything, and many repetitions of repetitions, ((a{99}){99}) or a+*+++++, which
 * it writes out or follows into every branch.
 */
#include "score/scorers.h"
#include "score/text.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX     512
#define ANSWER_TEXT_MAX ((size_t)16 << 10)
#define COPIES_MAX      1000 /* atoms of a pattern with its repetitions written out */
#define GROUPS_MAX      32   /* within each other */
#define REPEATS_MAX     3 /* repetitions of repetitions of ... : each level multiplies the time */

/* How many times the atom before p is written out: "+" twice, {m,n} as often as the larger says,
 * "*" and "?" once; 0 if p is none of these. *ret_end is behind it. */
static long repetition(const char *p, const char **ret_end)
{
    char *end;
    long m, n;

    *ret_end = p + 1;
    if (*p == '+')
        return 2;
    if (*p == '*' || *p == '?')
        return 1;
    if (*p != '{' || !isdigit((unsigned char)p[1]))
        return 0;
    m = n = strtol(p + 1, &end, 10);
    if (*end == ',')
        n = isdigit((unsigned char)end[1]) ? strtol(end + 1, &end, 10) : m + 1;
    n = n > m ? n : m;
    *ret_end = *end == '}' ? end + 1 : end;
    return n < 1 ? 1 : n > COPIES_MAX ? COPIES_MAX + 1 : n;
}

/* Behind the bracket expression at p. A "]" at its start is a member; so is one in [:alpha:]. */
static const char *skip_brackets(const char *p)
{
    p += 1 + (p[1] == '^');
    p += *p == ']';
    for (; *p && *p != ']'; p++) {
        if (p[0] == '[' && p[1] && strchr(":.=", p[1])) {
            const char *end = strchr(p + 2, ']');

            if (!end)
                return p + strlen(p);
            p = end;
        }
    }
    return p + (*p == ']');
}

/* What stands in a group so far. */
struct group {
    long sum;        /* its size once repetitions are written out, in atoms */
    long last;       /* the same of its last atom, which is what a repetition repeats */
    int nested;      /* repetitions within each other, at the most */
    int last_nested; /* in the last atom */
};

static bool repeat(struct group *g, long times)
{
    g->sum += g->last * (times - 1);
    g->last *= times;
    g->last_nested++;
    if (g->nested < g->last_nested)
        g->nested = g->last_nested;
    return g->sum <= COPIES_MAX && g->nested <= REPEATS_MAX;
}

static bool add_atom(struct group *g, long size, int nested)
{
    g->last = size;
    g->last_nested = nested;
    g->sum += size;
    if (g->nested < nested)
        g->nested = nested;
    return g->sum <= COPIES_MAX;
}

/* Whether the matcher can take it: not too large once its repetitions are written out, and not too
 * many of them within each other. Groups are kept on a stack. */
static bool is_tame(const char *p)
{
    struct group groups[GROUPS_MAX + 1] = {{0}};
    bool tame = true;
    int depth = 0;

    while (tame && *p) {
        const char *end;
        long times = repetition(p, &end);

        if (times > 0) {
            tame = repeat(&groups[depth], times);
        } else if (*p == '(') {
            if (++depth > GROUPS_MAX)
                return false;
            groups[depth] = (struct group){0};
        } else if (*p == ')' && depth > 0) {
            depth--;
            tame = add_atom(&groups[depth], groups[depth + 1].sum + 1, groups[depth + 1].nested);
        } else {
            end = *p == '[' ? skip_brackets(p) : p + 1 + (p[0] == '\\' && p[1]);
            tame = add_atom(&groups[depth], 1, 0);
        }
        p = end;
    }
    return tame;
}

static int check_pattern(const char *pattern, struct err *err)
{
    if (strlen(pattern) > PATTERN_MAX)
        return err_set(err, EINVAL, "scorer regex: the pattern has more than %d bytes",
                       PATTERN_MAX);
    for (const char *p = pattern; (p = strchr(p, '\\')); p += p[1] ? 2 : 1)
        if (isdigit((unsigned char)p[1]))
            return err_set(err, EINVAL, "scorer regex: back-references are not supported");
    if (!is_tame(pattern))
        return err_set(err, EINVAL, "scorer regex: too many repetitions in '%.60s'", pattern);
    return 0;
}

static int compile(const char *pattern, regex_t *ret, struct err *err)
{
    char why[80];
    int r = check_pattern(pattern, err), code;

    if (r < 0)
        return r;
    code = regcomp(ret, pattern, REG_EXTENDED);
    if (code == 0)
        return 0;
    regerror(code, ret, why, sizeof(why));
    return err_set(err, EINVAL, "scorer regex: '%.60s': %s", pattern, why);
}

static void match(const regex_t *regex, struct span text, struct score *ret)
{
    /* A match is wanted as a whole only: finding the parts is what takes time. */
    regmatch_t at = {.rm_so = 0, .rm_eo = (regoff_t)text.n};
    int code;

    if (text.n > ANSWER_TEXT_MAX) {
        score_set(ret, VERDICT_UNSCORABLE, span_of(""), "the answer is too long for this scorer");
        return;
    }
    code = regexec(regex, text.p, 1, &at, REG_STARTEND);
    if (code == 0)
        score_set(ret, VERDICT_CORRECT,
                  (struct span){text.p + at.rm_so, (size_t)(at.rm_eo - at.rm_so)}, "");
    else if (code == REG_NOMATCH)
        score_set(ret, VERDICT_WRONG, span_of(""), text.n ? "no match" : "empty answer");
    else
        score_set(ret, VERDICT_UNSCORABLE, span_of(""), "the match ran out of memory");
}

static int regex_score(const char *args, const struct item *item, const char *answer,
                       struct score *ret, struct err *err)
{
    const char *pattern = *args || !item->answer ? args : item->answer;
    regex_t regex;
    int r;

    if (!*pattern) {
        score_set(ret, VERDICT_UNSCORABLE, span_of(""), "no pattern and no reference answer");
        return 0;
    }
    r = compile(pattern, &regex, err);
    if (r < 0)
        return r;
    match(&regex, answer_text(answer ? answer : ""), ret);
    regfree(&regex);
    return 0;
}

const struct scorer_ops scorer_regex_ops = {
    .plugin = {.id = "regex",
               .help = "regex:PATTERN (POSIX extended) matches in the answer; without a pattern "
                       "the reference is it"},
    .score = regex_score,
};
