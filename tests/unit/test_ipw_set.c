/*
 * The bundled questions as a whole: enough of them, all complete, no two the same, none that gives
 * its answer away, and each scorer agrees with its own reference.
 */
#include "harness.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "dataset/dataset.h"
#include "score/scorer.h"

#include <ctype.h>
#include <strings.h>

#define ITEMS_MAX 2000

struct known {
    char *id, *problem, *answer, *subject, *scorer;
};

struct set {
    struct known items[ITEMS_MAX];
    int n;
};

static int load(void **state)
{
    struct set *set = xcalloc(1, sizeof(*set));
    struct dataset *d;
    struct err err = {0};
    struct item item;

    assert_ok(dataset_open("ipw", NULL, 0, &d, &err), &err);
    while (dataset_next(d, &item, &err) > 0) {
        assert_true(set->n < ITEMS_MAX);
        assert_int_equal(item.index, set->n);
        set->items[set->n++] = (struct known){
            .id = xstrdup(json_text(json_get(item.metadata, "id"), "")),
            .problem = xstrdup(item.problem),
            .answer = xstrdup(item.answer),
            .subject = xstrdup(item.subject),
            .scorer = xstrdup(item.scorer ? item.scorer : ""),
        };
        if (!strstr(" easy medium hard ", json_text(json_get(item.metadata, "difficulty"), "?")))
            fail_msg("difficulty of %s", item.problem);
    }
    assert_int_equal(set->n, dataset_size(d));
    assert_string_equal(d->title, "ipw");
    dataset_free(d);
    *state = set;
    return 0;
}

static int unload(void **state)
{
    struct set *set = *state;

    for (int i = 0; i < set->n; i++) {
        struct known *k = &set->items[i];

        free(k->id);
        free(k->problem);
        free(k->answer);
        free(k->subject);
        free(k->scorer);
    }
    free(set);
    return 0;
}

static int subjects_among(const struct set *set, int first)
{
    int subjects = 0;

    for (int i = 0; i < first; i++) {
        int k = 0;

        while (strcmp(set->items[k].subject, set->items[i].subject) != 0)
            k++;
        subjects += k == i;
    }
    return subjects;
}

static void is_large_and_mixed(void **state)
{
    const struct set *set = *state;

    assert_int_equal(set->n, 812);
    assert_int_equal(subjects_among(set, set->n), 18);
    /* Whoever asks only a few asks something of everything. */
    assert_true(subjects_among(set, 30) >= 17);
}

static void is_complete_and_distinct(void **state)
{
    const struct set *set = *state;

    for (int i = 0; i < set->n; i++) {
        const struct known *k = &set->items[i];

        assert_true(*k->id && strlen(k->problem) > 10 && *k->answer && *k->subject && *k->scorer);
        for (int other = 0; other < i; other++) {
            if (strcasecmp(k->problem, set->items[other].problem) == 0 ||
                strcmp(k->id, set->items[other].id) == 0)
                fail_msg("twice: %s %s", k->id, k->problem);
        }
    }
}

static bool stands_in(const char *problem, const char *answer)
{
    size_t n = strlen(answer);

    for (const char *p = problem; *p; p++)
        if (strncasecmp(p, answer, n) == 0 && (p == problem || !isalnum((unsigned char)p[-1])) &&
            !isalnum((unsigned char)p[n]))
            return true;
    return false;
}

/* A choice names its options, a comparison its numbers, a table its entries, a riddle its people.
 */
static bool must_show_answer(const struct known *k)
{
    static const char *const subjects[] = {"comparison", "parity", "logic", "tables"};

    for (size_t i = 0; i < sizeof(subjects) / sizeof(*subjects); i++)
        if (strcmp(k->subject, subjects[i]) == 0)
            return true;
    return strcmp(k->scorer, "choice") == 0;
}

static void gives_nothing_away(void **state)
{
    const struct set *set = *state;
    int shown = 0;

    for (int i = 0; i < set->n; i++) {
        const struct known *k = &set->items[i];

        if (must_show_answer(k))
            shown++;
        else if (stands_in(k->problem, k->answer))
            fail_msg("%s gives %s away: %s", k->id, k->answer, k->problem);
    }
    assert_true(shown < set->n / 4);
}

static void score_as(const struct known *k, const char *answer, enum verdict wanted)
{
    struct item item = {.problem = k->problem, .answer = k->answer, .scorer = k->scorer};
    struct score score;
    struct err err = {0};

    assert_ok(score_answer(k->scorer, &item, answer, &score, &err), &err);
    if (score.verdict != wanted)
        fail_msg("%s: %s scores '%s' as %d", k->id, k->scorer, answer, score.verdict);
}

static void scorers_fit(void **state)
{
    const struct set *set = *state;

    for (int i = 0; i < set->n; i++) {
        const struct known *k = &set->items[i];
        AUTO_FREE char *bold = xasprintf("**%s**", k->answer);
        AUTO_FREE char *sentence = xasprintf("Let me see.\n\nThe answer is %s.", k->answer);
        AUTO_FREE char *thought = xasprintf("<think>or 7?</think>\n%s\n", k->answer);
        /* Another item of the same subject has, mostly, another answer. */
        const struct known *other = &set->items[(i + 400) % set->n];

        score_as(k, k->answer, VERDICT_CORRECT);
        score_as(k, bold, VERDICT_CORRECT);
        score_as(k, sentence, VERDICT_CORRECT);
        score_as(k, thought, VERDICT_CORRECT);
        score_as(k, "", VERDICT_WRONG);
        score_as(k, "I am sorry, but I do not know.", VERDICT_WRONG);
        if (strcasecmp(other->answer, k->answer) != 0 && strcmp(other->scorer, "list") != 0)
            score_as(k, other->answer, VERDICT_WRONG);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(is_large_and_mixed, load, unload),
    cmocka_unit_test_setup_teardown(is_complete_and_distinct, load, unload),
    cmocka_unit_test_setup_teardown(gives_nothing_away, load, unload),
    cmocka_unit_test_setup_teardown(scorers_fit, load, unload),
};
TEST_MAIN(tests)
