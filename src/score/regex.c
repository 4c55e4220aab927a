/*
 * POSIX extended regular expressions. The pattern is the argument, or the reference when there is
 * none; it must match somewhere in the answer (^ and $ are the answer's ends).
 *
 * Two things could make the system's matcher run away, and are refused: back-references, for which
 * it has to try everything, and repetitions of repetitions, ((a{99}){99}) or a++++++++, which it
 * writes out.
 */
#include "score/scorers.h"
#include "score/text.h"

#include <ctype.h>
#include <errno.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#define PATTERN_MAX     512
#define ANSWER_TEXT_MAX ((size_t)16 << 10)
#define COPIES_MAX      1000 /* atoms of a pattern with its repetitions written out */
#define GROUPS_MAX      32   /* within each other */

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

/* The size of a pattern once its repetitions are written out, in atoms; more than COPIES_MAX is too
 * much. Groups are kept on a stack: what they hold so far, and the last atom of it, which is what a
 * repetition repeats. */
static long written_out(const char *p)
{
    long sum[GROUPS_MAX + 1] = {0}, last[GROUPS_MAX + 1] = {0};
    int depth = 0;

    while (*p) {
        const char *end;
        long n = repetition(p, &end);

        if (n > 0) {
            sum[depth] += last[depth] * (n - 1);
            last[depth] *= n;
        } else if (*p == '(') {
            if (++depth > GROUPS_MAX)
                return COPIES_MAX + 1;
            sum[depth] = last[depth] = 0;
        } else if (*p == ')' && depth > 0) {
            depth--;
            last[depth] = sum[depth + 1] + 1;
            sum[depth] += last[depth];
        } else {
            end = *p == '[' ? skip_brackets(p) : p + 1 + (p[0] == '\\' && p[1]);
            last[depth] = 1;
            sum[depth]++;
        }
        if (sum[depth] > COPIES_MAX)
            return COPIES_MAX + 1;
        p = end;
    }
    return sum[0];
}

static int check_pattern(const char *pattern, struct err *err)
{
    if (strlen(pattern) > PATTERN_MAX)
        return err_set(err, EINVAL, "scorer regex: the pattern has more than %d bytes",
                       PATTERN_MAX);
    for (const char *p = pattern; (p = strchr(p, '\\')); p += p[1] ? 2 : 1)
        if (isdigit((unsigned char)p[1]))
            return err_set(err, EINVAL, "scorer regex: back-references are not supported");
    if (written_out(pattern) > COPIES_MAX)
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
