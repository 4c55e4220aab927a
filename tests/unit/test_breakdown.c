#include "harness.h"

#include "analysis/breakdown.h"
#include "base/cleanup.h"

static struct err err;

static void write_it(struct breakdown *b, struct json_doc *doc)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_LINE);

    breakdown_write(b, &w, NULL);
    assert_ok(json_doc_parse(doc, text.data, text.len, &err), &err);
    breakdown_release(b);
}

static double of(const struct json_doc *doc, const char *name, const char *key)
{
    return json_real(json_path(doc->root, name, key), NAN);
}

static void each_name_has_its_own(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct breakdown b = {0};

    (void)state;
    breakdown_add(&b, "math", OUTCOME_CORRECT, 10);
    breakdown_add(&b, "algebra", OUTCOME_CORRECT, NAN);
    breakdown_add(&b, "math", OUTCOME_WRONG, 30);
    breakdown_add(&b, "math", OUTCOME_UNSCORABLE, NAN);
    breakdown_add(&b, "math", OUTCOME_UNSCORED, NAN);
    breakdown_add(&b, "math", OUTCOME_FAILED, 1000); /* enters no average */
    breakdown_add(&b, "math", OUTCOME_FAILED_EVALUATION, 50);
    write_it(&b, &doc);
    assert_string_equal(json_first(doc.root)->key, "algebra"); /* in order */
    assert_near(of(&doc, "math", "correct"), 1, 0);
    assert_near(of(&doc, "math", "incorrect"), 1, 0);
    assert_near(of(&doc, "math", "unevaluated"), 2, 0);
    assert_near(of(&doc, "math", "failed"), 2, 0);
    assert_near(of(&doc, "math", "total_scored"), 2, 0);
    assert_near(of(&doc, "math", "accuracy"), 0.5, 0);
    assert_near(of(&doc, "math", "accuracy_low"), 0.094531, 5e-7);
    assert_near(of(&doc, "math", "accuracy_high"), 0.905469, 5e-7);
    assert_near(of(&doc, "math", "avg_per_query_energy_joules"), 30, 1e-12);
    assert_near(of(&doc, "math", "intelligence_per_joule"), 0.5 / 30, 1e-12);
    assert_true(isnan(of(&doc, "algebra", "avg_per_query_energy_joules")));
    assert_true(isnan(of(&doc, "algebra", "intelligence_per_joule")));
}

/* A run whose subjects are all different does not fill the memory. */
static void too_many_names(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct breakdown b = {0};

    (void)state;
    for (int i = 0; i < 5000; i++) {
        char name[16];

        snprintf(name, sizeof(name), "s%d", i * 7919 % 5000);
        breakdown_add(&b, name, OUTCOME_CORRECT, 1);
    }
    assert_int_equal(b.n, BREAKDOWN_MAX + 1);
    write_it(&b, &doc);
    assert_near(of(&doc, BREAKDOWN_OTHERS, "correct"), 4000, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(each_name_has_its_own),
    cmocka_unit_test(too_many_names),
};
TEST_MAIN(tests)
