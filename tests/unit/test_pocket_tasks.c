/*
 * The embedded model's questions: that what is held out stays out of training, whatever the
 * wording, and that what the model is taught to say is right by the scorers.
 */
#include "harness.h"

#include "answer.h"
#include "tasks.h"

#include "dataset/dataset.h"

#include <ctype.h>

static int hold_out(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(task_hold_out_bundled(&err), 368);
    return 0;
}

static void keys_are_of_content(void **state)
{
    static const struct {
        const char *problem, *key;
    } cases[] = {
        {"What is 25 + 17? Answer with the number only.", "add 17 25"},
        {"Add 17 and 25.", "add 17 25"},
        {"Calculate the sum of 17 and 25.", "add 17 25"},
        {"17 plus 25 equals what?", "add 17 25"},
        {"17 + 25 =", "add 17 25"},
        {"What is 50 - 8?", "subtract 50 8"},
        {"Subtract 8 from 50.", "subtract 50 8"},
        {"50 minus 8 equals what?", "subtract 50 8"},
        {"How much is left when 8 is taken away from 50?", "subtract 50 8"},
        {"Multiply 12 by 7.", "multiply 7 12"},
        {"7 times 12 equals what?", "multiply 7 12"},
        {"Calculate the product of 12 and 7.", "multiply 7 12"},
        {"Which number is larger: 35 or 33?", "compare 33 35"},
        {"Pick the lesser of the two numbers 33 and 35.", "compare 33 35"},
        {"Which is the largest of the numbers 9, 7 and 8?", "compare 7 8 9"},
        {"Is 18 even or odd?", "parity 18"},
        {"Is the sum of 8 and 18 even or odd?", "parity 8 18"},
        {"Is 18 + 8 even or odd?", "parity 8 18"},
        {"Count the letter 'e' in 'tree'.", "count tree"},
        {"How often is 't' used when you spell 'tree'?", "count tree"},
        {"How many letters does the word 'tree' have?", "letters tree"},
        {"How many vowels (a, e, i, o, u) are in the word 'tree'?", "vowels tree"},
        {"Spell 'tree' from its last letter to its first.", "reverse tree"},
        {"Turn the letters of 'tree' around.", "reverse tree"},
        {"Sort the characters of the string 'tree' from a to z.", "sort tree"},
        {"Sort these numbers from largest to smallest: 3, 1, 2.", "order 1 2 3"},
        {"If today is Sunday, what day was it 3 days ago?", "day 7 - 3"},
        {"What day of the week comes 3 days before Sunday?", "day 7 - 3"},
        {"It is May now. Which month will it be in 4 months?", "month 5 + 4"},
        {"Which month comes 4 months after May?", "month 5 + 4"},
    };
    char key[64];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(task_key(cases[i].problem, key));
        assert_string_equal(key, cases[i].key);
    }
    assert_false(task_key("What is the capital of France?", key));
    assert_false(task_key("12 divided by 4 equals what?", key));
}

static void bundled_questions_are_held_out(void **state)
{
    struct kv_list none = {0};
    struct dataset *d = NULL;
    struct err err = {0};
    struct item item;
    int n = 0;

    (void)state;
    assert_ok(dataset_open("ipw", &none, 0, &d, &err), &err);
    while (dataset_next(d, &item, &err) > 0) {
        char key[64];

        if (!task_knows_subject(item.subject))
            continue;
        assert_true(task_key(item.problem, key));
        assert_true(task_is_held_out(key));
        n++;
    }
    assert_int_equal(n, 368);
    dataset_free(d);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* The subject, the numbers and the quoted words of a question, sorted: the content, read here
 * without task_key. */
static void digest(const char *subject, const char *problem, char out[128])
{
    char parts[16][32];
    int n = 0;

    for (const char *p = problem; *p && n < 16;) {
        size_t len = 0;

        if (isdigit((unsigned char)*p))
            len = strspn(p, "0123456789");
        else if (*p == '\'')
            len = strcspn(p + 1, "'") + 2;
        if (len)
            snprintf(parts[n++], 32, "%.*s", (int)len, p);
        p += len ? len : 1;
    }
    qsort(parts, (size_t)n, sizeof(parts[0]), by_text);
    snprintf(out, 128, "%s", subject);
    for (int i = 0; i < n; i++)
        snprintf(out + strlen(out), 128 - strlen(out), " %s", parts[i]);
}

/* Subjects in which the same numbers and words always make the same question. */
static bool is_plain(const char *subject)
{
    return strcmp(subject, "comparison") == 0 || strcmp(subject, "parity") == 0 ||
           strcmp(subject, "reversal") == 0 || strcmp(subject, "sorting") == 0;
}

/* The training stream, as the trainer draws it. */
static void nothing_held_out_is_trained(void **state)
{
    static char bundled[256][128];
    struct rng rng = rng_seed(1, 1);
    struct kv_list none = {0};
    struct dataset *d = NULL;
    struct err err = {0};
    struct item item;
    size_t n = 0;

    (void)state;
    assert_ok(dataset_open("ipw", &none, 0, &d, &err), &err);
    while (dataset_next(d, &item, &err) > 0)
        if (is_plain(item.subject))
            digest(item.subject, item.problem, bundled[n++]);
    dataset_free(d);
    assert_int_equal(n, 156);
    qsort(bundled, n, sizeof(bundled[0]), by_text);
    for (int i = 0; i < 60000; i++) {
        enum task_kind kind = task_draw_kind(&rng);
        struct task t;
        char key[64], content[128];

        task_draw(&rng, kind, TASK_TRAINING, &t);
        assert_true(task_key(t.problem, key));
        assert_false(task_is_held_out(key));
        digest(task_subjects[kind], t.problem, content);
        if (is_plain(task_subjects[kind]) &&
            bsearch(content, bundled, n, sizeof(bundled[0]), by_text))
            fail_msg("trained: %s", t.problem);
    }
}

static void a_tenth_is_held_out(void **state)
{
    int held = 0;

    (void)state;
    for (int a = 0; a < 100; a++)
        for (int b = 100; b < 200; b++) {
            char key[64];

            snprintf(key, sizeof(key), "subtract %d %d", b, a);
            held += task_is_held_out(key);
        }
    assert_in_range(held, 900, 1100);
}

static void what_is_taught_is_right(void **state)
{
    struct rng rng = rng_seed(3, 3);

    (void)state;
    for (int kind = 0; kind < TASK_KINDS; kind++)
        for (int i = 0; i < 1000; i++) {
            struct task t;

            task_draw(&rng, (enum task_kind)kind, i % 2 ? TASK_TRAINING : TASK_HELD_OUT, &t);
            assert_int_equal(task_is_held_out(t.key), i % 2 == 0);
            if (!answer_is_right(t.problem, t.answer, t.scorer, t.text))
                fail_msg("%s: %s is not %s", t.problem, t.text, t.answer);
        }
}

/* Sums by another way than the columns of the work. */
static void sums_are_right(void **state)
{
    struct rng rng = rng_seed(4, 3);

    (void)state;
    for (int i = 0; i < 3000; i++) {
        enum task_kind kind = (enum task_kind)(i % 3);
        struct task t;
        int a, b;
        char word[16];

        task_draw(&rng, kind, TASK_TRAINING, &t);
        assert_int_equal(sscanf(t.key, "%15s %d %d", word, &a, &b), 3);
        assert_int_equal(strtol(t.answer, NULL, 10), kind == TASK_ADDITION      ? a + b
                                                     : kind == TASK_SUBTRACTION ? a - b
                                                                                : a * b);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(keys_are_of_content),         cmocka_unit_test(bundled_questions_are_held_out),
    cmocka_unit_test(nothing_held_out_is_trained), cmocka_unit_test(a_tenth_is_held_out),
    cmocka_unit_test(what_is_taught_is_right),     cmocka_unit_test(sums_are_right),
};

int main(void)
{
    return cmocka_run_group_tests(tests, hold_out, NULL);
}
