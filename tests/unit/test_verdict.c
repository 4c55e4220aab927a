#include "harness.h"

#include "record/verdict.h"

/* Names are stored in runs: none may change. */
static void names_are_stable(void **state)
{
    static const char *const names[] = {
        "no_energy",
        "counter_reset",
        "suspended",
        "conservation",
        "estimated",
        "coverage_below_95",
        "gap",
        "too_few_ticks",
        "throttled",
        "power_limit_changed",
        "foreign_process",
        "on_battery",
        "late_sender",
        "no_idle",
        "query_failed",
    };

    (void)state;
    assert_int_equal(sizeof(names) / sizeof(*names), REASON_COUNT);
    for (size_t i = 0; i < REASON_COUNT; i++) {
        assert_string_equal(reason_table[i].name, names[i]);
        assert_int_equal(reason_find(names[i]), i);
        assert_true(reason_table[i].severity != VALIDITY_VALID);
        assert_true(strlen(reason_table[i].text) > 10);
    }
    assert_int_equal(reason_find("gapp"), REASON_COUNT);
    assert_int_equal(reason_find(""), REASON_COUNT);
    assert_int_equal(reason_find(NULL), REASON_COUNT);
}

static void a_record_is_as_good_as_its_worst_reason(void **state)
{
    struct record r;

    (void)state;
    record_init(&r);
    assert_int_equal(r.measurement.validity, VALIDITY_VALID);
    verdict_add(&r, REASON_GAP);
    assert_int_equal(r.measurement.validity, VALIDITY_DEGRADED);
    verdict_add(&r, REASON_COUNTER_RESET);
    verdict_add(&r, REASON_GAP);
    assert_int_equal(r.measurement.validity, VALIDITY_INVALID);
    verdict_add(&r, REASON_THROTTLED);
    assert_int_equal(r.measurement.validity, VALIDITY_INVALID);
    assert_int_equal(r.measurement.n_reasons, 3);
    assert_string_equal(r.measurement.reasons[0], "gap");
    assert_string_equal(r.measurement.reasons[1], "counter_reset");
    assert_true(verdict_has(&r, REASON_THROTTLED));
    assert_false(verdict_has(&r, REASON_ESTIMATED));
    for (size_t i = 0; i < REASON_COUNT; i++)
        verdict_add(&r, (enum reason)i);
    assert_int_equal(r.measurement.n_reasons, REASON_COUNT);
}

static void a_run_is_judged_by_its_records_and_itself(void **state)
{
    struct run_verdict v = {0};
    struct record good, doubtful, bad;

    (void)state;
    record_init(&good);
    record_init(&doubtful);
    record_init(&bad);
    verdict_add(&doubtful, REASON_ESTIMATED);
    verdict_add(&bad, REASON_NO_ENERGY);
    assert_int_equal(verdict_of(&v), VALIDITY_VALID);
    verdict_count(&v, &bad);
    assert_int_equal(verdict_of(&v), VALIDITY_INVALID); /* all of them */
    verdict_count(&v, &good);
    assert_int_equal(verdict_of(&v), VALIDITY_DEGRADED);
    verdict_count(&v, &doubtful);
    assert_int_equal(verdict_of(&v), VALIDITY_DEGRADED);
    assert_int_equal(v.records, 3);
    assert_int_equal(v.invalid, 1);
    assert_int_equal(v.degraded, 1);
    assert_int_equal(v.counts[REASON_ESTIMATED], 1);
    assert_int_equal(v.counts[REASON_NO_ENERGY], 1);
    assert_int_equal(v.counts[REASON_GAP], 0);
    v = (struct run_verdict){0};
    verdict_count(&v, &good);
    assert_int_equal(verdict_of(&v), VALIDITY_VALID);
    verdict_note(&v, REASON_NO_IDLE);
    assert_int_equal(verdict_of(&v), VALIDITY_DEGRADED);
    verdict_note(&v, REASON_CONSERVATION);
    assert_int_equal(verdict_of(&v), VALIDITY_INVALID);
}

/* A record read back from a newer version's run may have others. */
static void unknown_reasons_are_passed_over(void **state)
{
    struct run_verdict v = {0};
    struct record r;

    (void)state;
    record_init(&r);
    r.measurement.reasons[0] = "from_the_future";
    r.measurement.n_reasons = 1;
    r.measurement.validity = VALIDITY_DEGRADED;
    verdict_count(&v, &r);
    assert_int_equal(verdict_of(&v), VALIDITY_DEGRADED);
    verdict_add(&r, REASON_GAP);
    assert_int_equal(r.measurement.n_reasons, 2);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(names_are_stable),
    cmocka_unit_test(a_record_is_as_good_as_its_worst_reason),
    cmocka_unit_test(a_run_is_judged_by_its_records_and_itself),
    cmocka_unit_test(unknown_reasons_are_passed_over),
};
TEST_MAIN(tests)
