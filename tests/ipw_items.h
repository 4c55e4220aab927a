/*
 * ipw_items: the bundled questions, each asked of a solver that knows only its text.
 *
 *     static bool solve(const char *problem, char *answer) ...     false: not understood
 *     check_subject("parity", solve);
 */
#ifndef IPW_TESTS_IPW_ITEMS_H
#define IPW_TESTS_IPW_ITEMS_H

#include "harness.h"

#include "dataset/dataset.h"

#include <ctype.h>
#include <stdbool.h>

#define ANSWER_MAX 128

/* Writes the answer in the form of the dataset's; `given` is the dataset's own, for what can only
 * be verified. */
typedef bool (*solver_fn)(const char *problem, const char *given, char answer[ANSWER_MAX]);

static inline bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* All whole numbers of a text, in order; a sign counts behind a blank only. Returns how many. */
static inline int numbers_in(const char *text, long *numbers, int max)
{
    int n = 0;

    for (const char *p = text; *p && n < max;) {
        bool minus = p > text + 1 && p[-1] == '-' && p[-2] == ' ';
        char *end;

        if (!isdigit((unsigned char)*p)) {
            p++;
            continue;
        }
        numbers[n++] = strtol(p, &end, 10) * (minus ? -1 : 1);
        p = end;
    }
    return n;
}

/* The i-th text between single quotes. */
static inline bool quoted(const char *text, int i, char part[64])
{
    const char *start = strchr(text, '\''), *end = start ? strchr(start + 1, '\'') : NULL;

    for (; end && i > 0; i--) {
        start = strchr(end + 1, '\'');
        end = start ? strchr(start + 1, '\'') : NULL;
    }
    if (!end || end - start > 63)
        return false;
    snprintf(part, 64, "%.*s", (int)(end - start - 1), start + 1);
    return true;
}

static inline bool say(char answer[ANSWER_MAX], long value)
{
    snprintf(answer, ANSWER_MAX, "%ld", value);
    return true;
}

/* Every item of the subject; returns how many there are. */
static inline int check_subject(const char *subject, solver_fn solve)
{
    struct kv_list params = {0};
    struct dataset *d = NULL;
    struct err err = {0};
    struct item item;
    int n = 0, wrong = 0, r;

    kv_add(&params, "subject", subject);
    assert_ok(dataset_open("ipw", &params, 0, &d, &err), &err);
    while ((r = dataset_next(d, &item, &err)) > 0) {
        char answer[ANSWER_MAX] = "";

        n++;
        if (!solve(item.problem, item.answer, answer)) {
            print_error("not understood: %s\n", item.problem);
            wrong++;
        } else if (strcmp(answer, item.answer) != 0) {
            print_error("%s\n    is %s, not %s\n", item.problem, answer, item.answer);
            wrong++;
        }
    }
    assert_int_equal(r, 0);
    assert_int_equal(wrong, 0);
    dataset_free(d);
    kv_list_release(&params);
    return n;
}

#endif
