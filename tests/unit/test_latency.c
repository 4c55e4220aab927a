#include "harness.h"

#include "record/latency.h"

#define MS NS_PER_MS
#define T0 (INT64_C(86400) * 365 * NS_PER_S) /* a year up: doubles of seconds would show here */

/* Sent at T0, first delta after first_ms, then n - 1 more, gap_ms apart. */
static struct response streamed(mono_ns first_ms, mono_ns gap_ms, int n)
{
    struct response r;

    response_init(&r, 1 << 20);
    r.sent = T0;
    for (int i = 0; i < n; i++)
        assert_int_equal(
            response_delta(&r, DELTA_ANSWER, "x", 1, T0 + (first_ms + i * gap_ms) * MS), 0);
    r.end = n > 0 ? r.last_token : T0 + first_ms * MS;
    return r;
}

static void eleven_deltas_ten_ms_apart(void **state)
{
    struct response r = streamed(500, 10, 11);
    struct record rec;

    (void)state;
    r.headers = T0 + 20 * MS;
    r.usage = (struct usage){10, 11, 4, 3};
    record_init(&rec);
    latency_fill(&rec, &r);
    assert_near(rec.latency.ttft_s, 0.5, 0);
    assert_near(rec.latency.ttfo_s, 0.5, 0);
    assert_near(rec.latency.headers_s, 0.02, 0);
    assert_near(rec.latency.total_s, 0.6, 0);
    assert_near(rec.latency.tpot_s, 0.01, 1e-18);
    assert_near(rec.latency.itl_median_ms, 10, 0);
    assert_near(rec.latency.itl_p90_ms, 10, 0);
    assert_near(rec.latency.itl_p95_ms, 10, 0);
    assert_near(rec.latency.itl_p99_ms, 10, 0);
    assert_near(rec.latency.itl_std_ms, 0, 0);
    assert_int_equal(rec.tokens.input, 10);
    assert_int_equal(rec.tokens.output, 11);
    assert_int_equal(rec.tokens.total, 21);
    assert_int_equal(rec.request.cached_tokens, 4);
    assert_int_equal(rec.request.reasoning_tokens, 3);
    response_release(&r);
}

static void ten_tokens_in_one_second(void **state)
{
    struct response r = streamed(1000, 0, 1);
    struct record rec;

    (void)state;
    r.usage.completion_tokens = 10;
    latency_fill(&rec, &r);
    assert_near(rec.latency.throughput_tps, 10, 0);
    assert_near(rec.latency.per_token_ms, 100, 0);
    /* One delta with all of them says nothing about the time between tokens. */
    assert_true(isnan(rec.latency.tpot_s));
    assert_true(isnan(rec.latency.itl_median_ms) && isnan(rec.latency.itl_std_ms));
    assert_int_equal(rec.tokens.input, -1);
    assert_int_equal(rec.tokens.total, -1);
    response_release(&r);
}

static void uneven_gaps(void **state)
{
    struct response r = streamed(100, 0, 0);
    const mono_ns at_ms[] = {100, 110, 130, 170, 180}; /* gaps 10 20 40 10 */
    struct record rec;

    (void)state;
    for (size_t i = 0; i < 5; i++)
        response_delta(&r, i < 2 ? DELTA_REASONING : DELTA_ANSWER, "x", 1, T0 + at_ms[i] * MS);
    r.end = r.last_token;
    r.usage.completion_tokens = 9;
    latency_fill(&rec, &r);
    assert_near(rec.latency.ttft_s, 0.1, 0);
    assert_near(rec.latency.ttfo_s, 0.13, 0);
    assert_near(rec.latency.tpot_s, 0.01, 1e-18);
    assert_near(rec.latency.itl_median_ms, 15, 1e-12);
    assert_near(rec.latency.itl_p90_ms, 34, 1e-12);
    assert_near(rec.latency.itl_p95_ms, 37, 1e-12);
    assert_near(rec.latency.itl_p99_ms, 39.4, 1e-12);
    assert_near(rec.latency.itl_std_ms, 14.142135623730951, 1e-12);
    response_release(&r);
}

static void two_deltas_are_one_gap(void **state)
{
    struct response r = streamed(5, 25, 2);
    struct record rec;

    (void)state;
    latency_fill(&rec, &r);
    assert_near(rec.latency.itl_p99_ms, 25, 0);
    assert_near(rec.latency.itl_std_ms, 0, 0);
    assert_true(isnan(rec.latency.tpot_s) && isnan(rec.latency.per_token_ms));
    response_release(&r);
}

static void no_text_at_all(void **state)
{
    struct response r = streamed(300, 0, 0);
    struct record rec;

    (void)state;
    r.usage.prompt_tokens = 7;
    r.usage.completion_tokens = 0;
    latency_fill(&rec, &r);
    assert_near(rec.latency.total_s, 0.3, 0);
    assert_true(isnan(rec.latency.ttft_s) && isnan(rec.latency.ttfo_s));
    assert_true(isnan(rec.latency.headers_s));
    assert_true(isnan(rec.latency.per_token_ms) && isnan(rec.latency.throughput_tps));
    assert_int_equal(rec.tokens.output, 0);
    assert_int_equal(rec.tokens.total, 7);
    response_release(&r);
}

static void no_time_passed(void **state)
{
    struct response r = streamed(0, 0, 3);
    struct record rec;

    (void)state;
    r.usage.completion_tokens = 3;
    latency_fill(&rec, &r);
    assert_near(rec.latency.total_s, 0, 0);
    assert_near(rec.latency.ttft_s, 0, 0);
    assert_true(isnan(rec.latency.throughput_tps) && isnan(rec.latency.per_token_ms));
    assert_true(isnan(rec.latency.tpot_s));
    assert_near(rec.latency.itl_median_ms, 0, 0);
    response_release(&r);
}

/* It had tokens and times; none may enter an average. */
static void a_failed_query_has_neither(void **state)
{
    struct response r = streamed(100, 10, 5);
    struct record rec;

    (void)state;
    r.headers = T0 + MS;
    r.usage = (struct usage){10, 5, 0, 0};
    r.failure = FAILURE_CUT;
    record_init(&rec);
    rec.latency.ttft_s = 9; /* left from an attempt before */
    rec.tokens.input = 9;
    latency_fill(&rec, &r);
    assert_true(isnan(rec.latency.ttft_s) && isnan(rec.latency.ttfo_s));
    assert_true(isnan(rec.latency.total_s) && isnan(rec.latency.headers_s));
    assert_true(isnan(rec.latency.itl_median_ms) && isnan(rec.latency.tpot_s));
    assert_true(isnan(rec.latency.throughput_tps) && isnan(rec.latency.per_token_ms));
    assert_int_equal(rec.tokens.input, -1);
    assert_int_equal(rec.tokens.output, -1);
    assert_int_equal(rec.tokens.total, -1);
    assert_int_equal(rec.request.cached_tokens, -1);
    response_release(&r);
}

static void what_a_server_may_claim(void **state)
{
    struct response r = streamed(100, 10, 2);
    struct record rec;

    (void)state;
    r.usage = (struct usage){INT64_MAX, INT64_MAX, -5, -7};
    latency_fill(&rec, &r);
    assert_int_equal(rec.tokens.total, -1);
    assert_int_equal(rec.request.cached_tokens, -1);
    assert_int_equal(rec.request.reasoning_tokens, -1);
    r.usage = (struct usage){-2, 3, -1, -1};
    latency_fill(&rec, &r);
    assert_int_equal(rec.tokens.input, -1);
    assert_int_equal(rec.tokens.total, -1);
    r.end = MONO_ABSENT;
    latency_fill(&rec, &r);
    assert_true(isnan(rec.latency.total_s));
    r.end = T0 - 1;
    latency_fill(&rec, &r);
    assert_true(isnan(rec.latency.total_s) && isnan(rec.latency.throughput_tps));
    response_release(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(eleven_deltas_ten_ms_apart),
    cmocka_unit_test(ten_tokens_in_one_second),
    cmocka_unit_test(uneven_gaps),
    cmocka_unit_test(two_deltas_are_one_gap),
    cmocka_unit_test(no_text_at_all),
    cmocka_unit_test(no_time_passed),
    cmocka_unit_test(a_failed_query_has_neither),
    cmocka_unit_test(what_a_server_may_claim),
};
TEST_MAIN(tests)
