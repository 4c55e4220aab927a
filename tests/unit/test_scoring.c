/*
 * Every line of fixtures/scoring.jsonl: a scorer, a reference, an answer and the verdict people
 * would give.
 */
#include "harness.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "score/scorer.h"

#include <errno.h>
#include <fcntl.h>

static const char *const verdicts[] = {
    [VERDICT_WRONG] = "wrong", [VERDICT_CORRECT] = "correct", [VERDICT_UNSCORABLE] = "unscorable"};

static bool case_holds(const struct json *c)
{
    struct item item = {
        .problem = json_text(json_get(c, "problem"), "?"),
        .answer = json_text(json_get(c, "reference"), NULL),
        .metadata = c,
    };
    const char *spec = json_text(json_get(c, "scorer"), NULL);
    const char *answer = json_text(json_get(c, "answer"), NULL);
    const char *wanted = json_text(json_get(c, "verdict"), NULL);
    const char *extracted = json_text(json_get(c, "extracted"), NULL);
    struct score score;
    struct err err = {0};
    int r = score_answer(spec, &item, answer, &score, &err);

    if (r == 0 && strcmp(verdicts[score.verdict], wanted) == 0 &&
        (!extracted || strcmp(extracted, score.extracted) == 0))
        return true;
    print_error("%s: reference \"%s\", answer \"%s\": %s \"%s\" %s%s, not %s \"%s\"\n", spec,
                item.answer, answer, r ? "error" : verdicts[score.verdict], score.extracted,
                r ? "" : score.reason, err.text, wanted, extracted ? extracted : "*");
    return false;
}

static void table_of_cases(void **state)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);
    AUTO(json_doc) struct json_doc doc = {0};
    struct err err = {0};
    int n = 0, failed = 0;

    (void)state;
    assert_ok(fs_read_all(AT_FDCWD, FIXTURES "/scoring.jsonl", &text, &err), &err);
    for (char *line = text.data, *end; (end = strchr(line, '\n')); line = end + 1) {
        assert_ok(json_doc_parse(&doc, line, (size_t)(end - line), &err), &err);
        failed += !case_holds(doc.root);
        n++;
    }
    assert_true(n >= 400);
    assert_int_equal(failed, 0);
}

static int score(const char *spec, const char *reference, const char *answer, struct score *ret,
                 struct err *err)
{
    struct item item = {.problem = "?", .answer = reference};

    return score_answer(spec, &item, answer, ret, err);
}

static void bad_specs_are_refused(void **state)
{
    struct score s = {.reason = "untouched"};
    struct err err = {0};

    (void)state;
    assert_fails(score("nummeric", "1", "1", &s, &err), ENOENT, &err, "did you mean 'numeric'");
    assert_fails(score("exact:x", "1", "1", &s, &err), EINVAL, &err, "takes no arguments");
    assert_fails(score("contains:x", "1", "1", &s, &err), EINVAL, &err, "takes no arguments");
    assert_fails(score("choice:x", "1", "1", &s, &err), EINVAL, &err, "takes no arguments");
    assert_fails(score("math:x", "1", "1", &s, &err), EINVAL, &err, "takes no arguments");
    assert_fails(score("numeric:x", "1", "1", &s, &err), EINVAL, &err, "not a tolerance");
    assert_fails(score("numeric:-1", "1", "1", &s, &err), EINVAL, &err, "not a tolerance");
    assert_fails(score("numeric:%", "1", "1", &s, &err), EINVAL, &err, "not a tolerance");
    assert_fails(score("list:sorted", "1", "1", &s, &err), EINVAL, &err, "not 'ordered'");
    assert_fails(score("regex:(", "1", "1", &s, &err), EINVAL, &err, "regex");
    assert_fails(score("regex:(a)\\1", "1", "1", &s, &err), EINVAL, &err, "back-references");
    assert_fails(score("regex:((a{99}){99}){99}", "1", "1", &s, &err), EINVAL, &err,
                 "too many repetitions");
    assert_fails(score("regex:a{99999999999999999999}", "1", "1", &s, &err), EINVAL, &err,
                 "too many repetitions");
    assert_fails(score("regex:^4++++++++++++++++++++++++", "1", "1", &s, &err), EINVAL, &err,
                 "too many repetitions");
    assert_fails(score("regex:(((((((((((a+)+)+)+)+)+)+)+)+)+)+", "1", "1", &s, &err), EINVAL, &err,
                 "too many repetitions");
    assert_fails(score("judge:mth", "1", "1", &s, &err), EINVAL, &err, "did you mean 'judge:math'");
    assert_fails(score("judge:", "1", "1", &s, &err), ENOTSUP, &err, "--judge-model");
    assert_fails(score("judge:simpleqa", "1", "1", &s, &err), ENOTSUP, &err, "needs a judge; ");
    /* not even this can be scored without one: empty answers alone would make it 0 of n */
    assert_fails(score("judge", "1", "", &s, &err), ENOTSUP, &err, "needs a judge; ");
    assert_string_equal(s.reason, "untouched");
}

static void reasons_are_given(void **state)
{
    struct score s;
    struct err err = {0};

    (void)state;
    assert_ok(score("numeric", "", "1", &s, &err), &err);
    assert_string_equal(s.reason, "no reference answer");
    assert_ok(score("numeric", NULL, "1", &s, &err), &err);
    assert_string_equal(s.reason, "no reference answer");
    assert_ok(score("numeric", "1", NULL, &s, &err), &err);
    assert_int_equal(s.verdict, VERDICT_WRONG);
    assert_string_equal(s.reason, "empty answer");
    assert_ok(score("numeric", "1", "no idea", &s, &err), &err);
    assert_string_equal(s.reason, "no number in the answer");
    assert_ok(score("numeric", "1", "1 or 2", &s, &err), &err);
    assert_string_equal(s.reason, "two numbers with 'or' between them");
    assert_ok(score("choice", "B", "A, B", &s, &err), &err);
    assert_string_equal(s.reason, "more than one letter, none of them marked as the answer");
    assert_ok(score("choice", "B", "dunno", &s, &err), &err);
    assert_string_equal(s.reason, "no letter in the answer");
    assert_ok(score("regex:x", "B", "y", &s, &err), &err);
    assert_string_equal(s.reason, "no match");
}

/* An answer of many megabytes takes a moment, not minutes, and cuts cleanly. */
static void long_answers(void **state)
{
    static const char *const specs[] = {"exact", "contains", "numeric", "choice",
                                        "math",  "list",     "regex:x"};
    static const char *const pieces[] = {"the answer is a ", "\\boxed{", "B = 1,",
                                         "é**1**",           "((",       "<think>x</think>",
                                         "option A and ",    "\n"};
    static const char *const references[] = {"zz", "zz", "77", "J", "77", "zz", "zz"};
    AUTO(buf) struct buf answer = BUF_INIT(16 << 20);

    (void)state;
    for (size_t p = 0; p < sizeof(pieces) / sizeof(*pieces); p++) {
        buf_clear(&answer);
        while (answer.len < (3 << 20))
            buf_adds(&answer, pieces[p]);
        for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
            struct score s;
            struct err err = {0};

            assert_ok(score(specs[i], references[i], answer.data, &s, &err), &err);
            assert_int_not_equal(s.verdict, VERDICT_CORRECT);
            assert_true(strlen(s.extracted) < sizeof(s.extracted));
        }
    }
}

static void registry_is_sound(void **state)
{
    struct err err = {0};

    (void)state;
    for (const struct plugin *const *p = scorers.items; *p; p++) {
        const struct scorer_ops *ops = (const struct scorer_ops *)*p;

        assert_ptr_equal(registry_find(&scorers, (*p)->id, &err), *p);
        assert_non_null((*p)->help);
        assert_true(ops->needs_judge ? ops->check && !ops->score : ops->score != NULL);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(table_of_cases),    cmocka_unit_test(bad_specs_are_refused),
    cmocka_unit_test(reasons_are_given), cmocka_unit_test(long_answers),
    cmocka_unit_test(registry_is_sound),
};
TEST_MAIN(tests)
