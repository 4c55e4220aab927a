#include "harness.h"

#include "core/response.h"

#include <errno.h>

static void begins_absent(void **state)
{
    struct response r;
    size_t n = 99;
    mono_ns *times;

    (void)state;
    response_init(&r, 100);
    assert_int_equal(r.sent, MONO_ABSENT);
    assert_int_equal(r.headers, MONO_ABSENT);
    assert_int_equal(r.first_token, MONO_ABSENT);
    assert_int_equal(r.end, MONO_ABSENT);
    assert_int_equal(r.usage.prompt_tokens, -1);
    assert_int_equal(r.usage.reasoning_tokens, -1);
    assert_int_equal(r.timings.load_ns, -1);
    assert_int_equal(r.retry_after_ns, -1);
    assert_int_equal(r.failure, FAILURE_NONE);
    times = response_times(&r, &n);
    assert_int_equal(n, 0);
    free(times);
    response_release(&r);
}

static void collects_deltas(void **state)
{
    struct response r;

    (void)state;
    response_init(&r, 100);
    assert_int_equal(response_delta(&r, DELTA_ANSWER, "", 0, 5), 0);
    assert_int_equal(r.deltas, 0);
    assert_int_equal(r.first_token, MONO_ABSENT);
    assert_int_equal(response_delta(&r, DELTA_REASONING, "hm", 2, 10), 0);
    assert_int_equal(response_delta(&r, DELTA_TOOL_CALL, "f()", 3, 20), 0);
    assert_int_equal(response_delta(&r, DELTA_ANSWER, "a\0b", 3, 30), 0);
    assert_int_equal(response_delta(&r, DELTA_ANSWER, "c", 1, 40), 0);
    assert_int_equal(r.deltas, 4);
    assert_int_equal(r.first_token, 10);
    assert_int_equal(r.first_answer, 30);
    assert_int_equal(r.last_token, 40);
    assert_int_equal(r.answer.len, 4);
    assert_memory_equal(r.answer.data, "a\0bc", 4);
    assert_string_equal(r.reasoning.data, "hm");
    response_release(&r);
}

static void keeps_times_exactly(void **state)
{
    static const mono_ns at[] = {1,
                                 1,
                                 128,
                                 129,
                                 16512,
                                 INT64_C(3000000000),
                                 INT64_C(3000000001),
                                 INT64_C(4611686018427387904),
                                 INT64_MAX};
    size_t n;
    mono_ns *times;
    struct response r;

    (void)state;
    response_init(&r, 100);
    for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
        assert_int_equal(response_delta(&r, DELTA_ANSWER, "x", 1, at[i]), 0);
    times = response_times(&r, &n);
    assert_int_equal(n, sizeof(at) / sizeof(at[0]));
    assert_memory_equal(times, at, sizeof(at));
    free(times);
    response_release(&r);
}

static void times_are_small(void **state)
{
    struct response r;

    (void)state;
    response_init(&r, 1000);
    for (int i = 0; i < 100; i++)
        response_delta(&r, DELTA_ANSWER, "x", 1, INT64_C(1000000000000) + i * 20 * NS_PER_MS);
    assert_true(r.times.len <= 10 + 99 * 4);
    response_release(&r);
}

static void limits_each_text(void **state)
{
    struct response r;

    (void)state;
    response_init(&r, 4);
    assert_int_equal(response_delta(&r, DELTA_ANSWER, "abcd", 4, 1), 0);
    assert_int_equal(response_delta(&r, DELTA_REASONING, "abcd", 4, 2), 0);
    assert_int_equal(response_delta(&r, DELTA_ANSWER, "e", 1, 3), -EMSGSIZE);
    assert_int_equal(response_delta(&r, DELTA_REASONING, "e", 1, 3), -EMSGSIZE);
    /* what was refused has left no trace */
    assert_int_equal(r.deltas, 2);
    assert_int_equal(r.last_token, 2);
    assert_string_equal(r.answer.data, "abcd");
    response_release(&r);
}

static void failures_have_names(void **state)
{
    (void)state;
    for (int f = 0; f < FAILURE_COUNT; f++)
        assert_non_null(failure_name((enum failure)f));
    assert_string_equal(failure_name(FAILURE_NONE), "none");
    assert_string_equal(failure_name(FAILURE_TOO_LARGE), "too_large");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(begins_absent),       cmocka_unit_test(collects_deltas),
    cmocka_unit_test(keeps_times_exactly), cmocka_unit_test(times_are_small),
    cmocka_unit_test(limits_each_text),    cmocka_unit_test(failures_have_names),
};
TEST_MAIN(tests)
