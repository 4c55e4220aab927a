#include "dataset/table.h"

#include "base/num.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *scalar_text(struct mapping *m, const struct json *v)
{
    char number[32];

    switch (v->type) {
    case JSON_STRING:
        return v->text;
    case JSON_BOOL:
        return v->boolean ? "true" : "false";
    case JSON_INT:
        snprintf(number, sizeof(number), "%" PRId64, v->integer);
        return arena_strndup(&m->arena, number, strlen(number));
    case JSON_REAL:
        return arena_strndup(&m->arena, number, format_f64(v->real, number));
    default:
        return NULL;
    }
}

int column_text(struct mapping *m, const struct json *row, const char *key, const char **ret,
                struct err *err)
{
    const struct json *v = json_get(row, key);
    const char *text;

    if (!v || v->type == JSON_NULL || (v->type == JSON_STRING && v->len == 0)) {
        *ret = NULL;
        return 0;
    }
    text = scalar_text(m, v);
    if (!text)
        return err_set(err, EINVAL, "'%.60s' is not text", key);
    if (v->type == JSON_STRING && strlen(text) != v->len)
        return err_set(err, EINVAL, "'%.60s' contains a zero byte", key);
    *ret = text;
    return 0;
}

/* The named column, which must be there, or the first of the usual ones. NULL = none. */
static int find_text(struct mapping *m, const struct json *row, const char *named,
                     const char *const *usual, const char **ret, struct err *err)
{
    const char *text = NULL;
    int r = 0;

    if (named) {
        if (!json_get(row, named))
            return err_set(err, EINVAL, "no column '%.60s'", named);
        r = column_text(m, row, named, &text, err);
    }
    for (; !named && *usual && !text && r == 0; usual++)
        r = column_text(m, row, *usual, &text, err);
    if (r == 0)
        *ret = text;
    return r;
}

int map_columns(struct mapping *m, const struct json *row, int64_t number, struct item *ret,
                struct err *err)
{
    static const char *const problems[] = {"problem", "prompt", "question", NULL};
    static const char *const answers[] = {"answer", "expected_answer", NULL};
    static const char *const subjects[] = {"subject", "category", NULL};
    static const char *const scorers[] = {"scorer", NULL};
    const char *problem = NULL, *answer = NULL, *subject = NULL, *scorer = NULL;

    (void)number;
    if (find_text(m, row, m->problem, problems, &problem, err) < 0 ||
        find_text(m, row, m->answer, answers, &answer, err) < 0 ||
        find_text(m, row, m->subject, subjects, &subject, err) < 0 ||
        find_text(m, row, m->scorer, scorers, &scorer, err) < 0)
        return -EINVAL;
    if (!problem)
        return err_set(err, EINVAL, "no problem");
    ret->problem = problem;
    ret->answer = answer ? answer : "";
    ret->subject = subject ? subject : "general";
    ret->scorer = scorer;
    return 0;
}
