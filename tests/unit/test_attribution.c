#include "harness.h"

#include "base/alloc.h"
#include "record/attribution.h"
#include "record/stretch.h"
#include "simbatch.h"

#define MS NS_PER_MS
#define T0 (INT64_C(1000000) * NS_PER_S)

static const enum rail gpu_only[] = {RAIL_GPU};

/* 100 W from T0 on; the CPU 10 W. */
static double steady(void *ctx, enum rail rail, mono_ns t, int64_t *ret_epoch)
{
    (void)ctx;
    (void)ret_epoch;
    return (rail == RAIL_GPU ? 100 : 10) * ns_to_s(t - T0);
}

/* A response with deltas at these ms after T0. */
static struct response replied(int64_t prompt, int64_t output, mono_ns end_ms, const int *at_ms,
                               size_t n)
{
    struct response r;

    response_init(&r, 1 << 20);
    for (size_t i = 0; i < n; i++)
        response_delta(&r, DELTA_ANSWER, "x", 1, T0 + at_ms[i] * MS);
    r.end = T0 + end_ms * MS;
    r.usage.prompt_tokens = prompt;
    r.usage.completion_tokens = output;
    return r;
}

static void fly(struct attribution *a, mono_ns start_ms, struct response r, void *query)
{
    attribution_close(a, attribution_open(a, T0 + start_ms * MS, query), &r);
    response_release(&r);
}

static struct attributed landed(struct attribution *a)
{
    struct attributed x;

    assert_true(attribution_take(a, &x));
    return x;
}

static void stretches_follow_the_tokens(void **state)
{
    const int at[] = {200, 220, 260, 310, 400, 405, 520};
    struct response r = replied(110, 14, 600, at, 7);
    size_t n;
    struct stretch *s;

    (void)state;
    r.usage.cached_prompt_tokens = 10;
    s = stretches_of(&r, T0, &n);
    assert_int_equal(n, 4);
    /* 100 uncached and the 2 of the first delta in 200 ms */
    assert_int_equal(s[0].weight, 510 * STRETCH_WEIGHT_PER_TPS);
    assert_true(s[0].prefill && s[0].until == T0 + 200 * MS);
    /* 6 tokens until 310, the first delta at least 100 ms later */
    assert_true(!s[1].prefill && s[1].until == T0 + 310 * MS);
    assert_int_equal(s[1].weight, 54545455);
    /* no cut before 410, and none so near the end after it */
    assert_true(!s[2].prefill && s[2].until == T0 + 520 * MS);
    assert_int_equal(s[2].weight, 28571429);
    assert_true(s[3].until == T0 + 600 * MS && s[3].weight == 0 && !s[3].prefill);
    free(s);
    r.timings.prefill_ns = 50 * MS;
    s = stretches_of(&r, T0, &n);
    assert_true(s[0].prefill && s[0].until == T0 + 150 * MS && s[0].weight == 0);
    assert_true(s[1].prefill && s[1].until == T0 + 200 * MS);
    assert_int_equal(s[1].weight, 2040 * STRETCH_WEIGHT_PER_TPS);
    free(s);
    response_release(&r);
}

static void stretches_of_odd_replies(void **state)
{
    const int once[] = {500, 500, 500};
    struct response r = replied(20, 30, 500, once, 3);
    size_t n;
    struct stretch *s = stretches_of(&r, T0, &n);

    (void)state;
    assert_int_equal(n, 1); /* in one piece: everything was made before it */
    assert_int_equal(s[0].weight, 100 * STRETCH_WEIGHT_PER_TPS);
    free(s);
    r.usage.prompt_tokens = -1;
    s = stretches_of(&r, T0, &n);
    assert_int_equal(s[0].weight, STRETCH_UNKNOWN);
    free(s);
    r.usage = (struct usage){INT64_MAX, INT64_MAX, INT64_MAX, -1};
    s = stretches_of(&r, T0 + 500 * MS - 1, &n);
    assert_int_equal(n, 1);
    assert_int_equal(s[0].weight, STRETCH_WEIGHT_MAX);
    free(s);
    s = stretches_of(&r, T0 + 500 * MS, &n);
    assert_int_equal(n, 0);
    assert_null(s);
    s = stretches_of(&r, T0 + 501 * MS, &n); /* ends before it starts */
    assert_int_equal(n, 0);
    response_release(&r);
    r = replied(20, -1, 900, NULL, 0);
    s = stretches_of(&r, T0, &n);
    assert_true(n == 1 && s[0].prefill && s[0].until == T0 + 900 * MS);
    free(s);
    response_release(&r);
}

/* Each delta is one token where the server told none. */
static void deltas_stand_for_tokens(void **state)
{
    const int at[] = {100, 150, 200, 250, 300};
    struct response r = replied(-1, -1, 300, at, 5);
    size_t n;
    struct stretch *s = stretches_of(&r, T0, &n);

    (void)state;
    assert_int_equal(n, 3);
    assert_int_equal(s[0].weight, STRETCH_UNKNOWN);
    assert_int_equal(s[1].weight, 20 * STRETCH_WEIGHT_PER_TPS);
    assert_int_equal(s[2].weight, 20 * STRETCH_WEIGHT_PER_TPS);
    free(s);
    response_release(&r);
}

static void alone_is_exclusive(void **state)
{
    const enum rail rails[] = {RAIL_GPU, RAIL_CPU};
    const int at[] = {1500, 1750, 2000};
    struct attribution *a = attribution_new(rails, 2, NULL, T0);
    struct attributed x;
    int query;

    (void)state;
    fly(a, 1000, replied(50, 10, 2000, at, 3), &query);
    assert_int_equal(attribution_pending(a), 1);
    attribution_advance(a, T0 + 5000 * MS, steady, NULL);
    x = landed(a);
    assert_ptr_equal(x.query, &query);
    assert_true(x.exclusive);
    assert_near(x.rails[RAIL_GPU].tokens_j, 100, 1e-10);
    assert_near(x.rails[RAIL_GPU].equal_j, 100, 1e-10);
    assert_near(x.rails[RAIL_GPU].prefill_j, 50, 1e-10);
    assert_near(x.rails[RAIL_GPU].decode_j, 50, 1e-10);
    assert_near(x.rails[RAIL_CPU].tokens_j, 10, 1e-10);
    assert_near(x.held_s, 1, 1e-12);
    assert_true(isnan(x.rails[RAIL_DRAM].tokens_j));
    assert_near(attribution_totals(a, RAIL_GPU).idle_j, 400, 1e-9);
    assert_near(attribution_totals(a, RAIL_GPU).meter_j, 500, 1e-9);
    assert_near(attribution_totals(a, RAIL_GPU).queries_j, 100, 1e-9);
    assert_near(attribution_totals(a, RAIL_DRAM).meter_j, 0, 0);
    assert_true(attribution_imbalance(a) < 1e-12);
    assert_false(attribution_take(a, &x));
    assert_int_equal(attribution_pending(a), 0);
    attribution_free(a);
}

/* Both prefill for one second, one three times as much. */
static void shares_by_tokens(void **state)
{
    struct attribution *a = attribution_new(gpu_only, 1, NULL, T0);
    struct attributed x;
    int small, large;

    (void)state;
    fly(a, 0, replied(100, 0, 1000, NULL, 0), &small);
    fly(a, 0, replied(300, 0, 1000, NULL, 0), &large);
    attribution_advance(a, T0 + 1000 * MS, steady, NULL);
    for (int i = 0; i < 2; i++) {
        x = landed(a);
        assert_false(x.exclusive);
        assert_near(x.held_s, 0.5, 1e-12);
        assert_near(x.rails[RAIL_GPU].tokens_j, x.query == &small ? 25 : 75, 1e-9);
        assert_near(x.rails[RAIL_GPU].equal_j, 50, 1e-9);
    }
    attribution_free(a);
}

static void the_idle_power_is_nobodys(void **state)
{
    double base_w[RAIL_COUNT] = {[RAIL_GPU] = 60};
    struct attribution *a = attribution_new(gpu_only, 1, base_w, T0);
    int small, large;

    (void)state;
    fly(a, 0, replied(100, 0, 1000, NULL, 0), &small);
    fly(a, 0, replied(300, 0, 1000, NULL, 0), &large);
    attribution_advance(a, T0 + 1000 * MS, steady, NULL);
    for (int i = 0; i < 2; i++) {
        struct attributed x = landed(a);

        assert_near(x.rails[RAIL_GPU].tokens_j, x.query == &small ? 40 : 60, 1e-9);
    }
    attribution_free(a);
    base_w[RAIL_GPU] = 250; /* more than there is: all of it is shared equally */
    a = attribution_new(gpu_only, 1, base_w, T0);
    fly(a, 0, replied(100, 0, 1000, NULL, 0), &small);
    fly(a, 0, replied(300, 0, 1000, NULL, 0), &large);
    attribution_advance(a, T0 + 1000 * MS, steady, NULL);
    assert_near(landed(a).rails[RAIL_GPU].tokens_j, 50, 1e-9);
    attribution_free(a);
}

/* One of three told nothing: a third is its; the others share the rest 1:3. */
static void an_unknown_rate_takes_its_head(void **state)
{
    struct attribution *a = attribution_new(gpu_only, 1, NULL, T0);
    int unknown, small, large;
    double sum = 0;

    (void)state;
    fly(a, 0, replied(100, 0, 1200, NULL, 0), &small);
    fly(a, 0, replied(300, 0, 1200, NULL, 0), &large);
    fly(a, 0, replied(-1, -1, 1200, NULL, 0), &unknown);
    attribution_advance(a, T0 + 1200 * MS, steady, NULL);
    for (int i = 0; i < 3; i++) {
        struct attributed x = landed(a);
        double expected = x.query == &unknown ? 40 : x.query == &small ? 20 : 60;

        assert_near(x.rails[RAIL_GPU].tokens_j, expected, 1e-6);
        sum += x.rails[RAIL_GPU].tokens_j;
    }
    assert_near(sum, 120, 1e-10);
    attribution_free(a);
}

/* Stalled after the last token: no work, unless nobody has any. */
static void a_stalled_query_has_no_weight(void **state)
{
    const int at[] = {100, 200}, busy_at[] = {100, 1000};
    struct attribution *a = attribution_new(gpu_only, 1, NULL, T0);
    struct attributed x;
    int stalled, busy;

    (void)state;
    fly(a, 0, replied(10, 10, 3000, at, 2), &stalled);
    fly(a, 0, replied(10, 10, 1000, busy_at, 2), &busy);
    attribution_advance(a, T0 + 4000 * MS, steady, NULL);
    x = landed(a);
    assert_ptr_equal(x.query, &busy);
    /* 5 each; of 10 the parts 5 / 0.1 s and 5 / 0.9 s; 80 alone */
    assert_near(x.rails[RAIL_GPU].tokens_j, 5 + 1 + 80, 1e-6);
    x = landed(a);
    assert_near(x.rails[RAIL_GPU].tokens_j, 5 + 9 + 200, 1e-6);
    assert_near(x.rails[RAIL_GPU].prefill_j, 5, 1e-9);
    attribution_free(a);
}

/* Known but for a stretch of time, and across a reset. */
static double broken(void *ctx, enum rail rail, mono_ns t, int64_t *ret_epoch)
{
    double s = ns_to_s(t - T0);

    (void)ctx;
    (void)rail;
    *ret_epoch = s >= 7;
    if (s > 2.5 && s < 3.5)
        return NAN;
    return s < 7 ? 100 * s : 100 * (s - 7);
}

static void nothing_is_guessed(void **state)
{
    struct attribution *a = attribution_new(gpu_only, 1, NULL, T0);
    struct attributed x[4];
    struct attribution_totals t;

    (void)state;
    fly(a, 0, replied(1, 0, 1000, NULL, 0), NULL);
    fly(a, 1500, replied(1, 0, 3000, NULL, 0), NULL); /* ends where nothing is known */
    fly(a, 3200, replied(1, 0, 4500, NULL, 0), NULL); /* begins there */
    fly(a, 6000, replied(1, 0, 8000, NULL, 0), NULL); /* a reset inside */
    attribution_advance(a, T0 + 10000 * MS, broken, NULL);
    for (int i = 0; i < 4; i++)
        x[i] = landed(a);
    assert_near(x[0].rails[RAIL_GPU].tokens_j, 100, 1e-10);
    for (int i = 1; i < 4; i++)
        assert_true(isnan(x[i].rails[RAIL_GPU].tokens_j) && isnan(x[i].rails[RAIL_GPU].equal_j));
    t = attribution_totals(a, RAIL_GPU);
    /* 0..6 s in epoch 0 and 8..10 s in epoch 1; 1500..4500 in the dark, as a sum */
    assert_near(t.meter_j, 800, 1e-9);
    assert_near(t.queries_j, 100, 1e-9);
    assert_near(t.idle_j, 50 + 150 + 200, 1e-9);
    assert_near(t.unattributed_j, 300, 1e-9);
    assert_true(attribution_imbalance(a) < 1e-12);
    attribution_free(a);
}

static double dark(void *ctx, enum rail rail, mono_ns t, int64_t *ret_epoch)
{
    (void)ctx;
    (void)rail;
    (void)t;
    (void)ret_epoch;
    return NAN;
}

static void no_meter_no_joules(void **state)
{
    struct attribution *a = attribution_new(gpu_only, 1, NULL, T0);

    (void)state;
    fly(a, 0, replied(1, 0, 1000, NULL, 0), NULL);
    attribution_advance(a, T0 + 2000 * MS, dark, NULL);
    assert_true(isnan(landed(a).rails[RAIL_GPU].tokens_j));
    assert_near(attribution_imbalance(a), 0, 0);
    attribution_free(a);
}

/* Nothing is ready while one that may overlap it is open. */
static void waits_for_the_oldest(void **state)
{
    struct attribution *a = attribution_new(gpu_only, 1, NULL, T0);
    struct response r = replied(1, 0, 5000, NULL, 0);
    struct flight *slow = attribution_open(a, T0 + 100 * MS, &r);
    struct attributed x;

    (void)state;
    fly(a, 0, replied(1, 0, 50, NULL, 0), NULL);
    fly(a, 200, replied(1, 0, 300, NULL, 0), NULL);
    attribution_advance(a, T0 + 4000 * MS, steady, NULL);
    assert_near(landed(a).rails[RAIL_GPU].tokens_j, 5, 1e-10);
    assert_false(attribution_take(a, &x));
    attribution_close(a, slow, &r);
    attribution_advance(a, T0 + 4000 * MS, steady, NULL);
    assert_ptr_equal(landed(a).query, NULL);
    assert_false(attribution_take(a, &x));
    attribution_advance(a, T0 + 5000 * MS, steady, NULL);
    assert_ptr_equal(landed(a).query, &r);
    /* and one that is never closed is freed with the rest */
    attribution_open(a, T0 + 5000 * MS, NULL);
    fly(a, 6000, replied(1, 0, 7000, NULL, 0), NULL);
    attribution_free(a);
    response_release(&r);
}

/* Random queries, whatever they look like. */

static uint64_t next_random(uint64_t *seed)
{
    uint64_t z = *seed += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static int64_t up_to(uint64_t *seed, int64_t n)
{
    return (int64_t)(next_random(seed) % (uint64_t)n);
}

static double wavy(void *ctx, enum rail rail, mono_ns t, int64_t *ret_epoch)
{
    double s = ns_to_s(t - T0);

    (void)ctx;
    (void)ret_epoch;
    /* never falls; a large reading, as counters since boot have */
    return 1e6 + (rail == RAIL_GPU ? 200 * s + 30 * sin(5 * s) : 40 * s + floor(s * 10));
}

static struct response any_response(uint64_t *seed, mono_ns start)
{
    struct response r;
    int64_t n = up_to(seed, 4) ? up_to(seed, 60) : 0;
    mono_ns t = start + up_to(seed, 800 * MS);

    response_init(&r, 1 << 20);
    for (int64_t i = 0; i < n; i++) {
        response_delta(&r, DELTA_ANSWER, "x", 1, t);
        t += up_to(seed, 3) ? up_to(seed, 80 * MS) : 0;
    }
    r.end = n ? r.last_token + (up_to(seed, 4) ? 0 : up_to(seed, NS_PER_S)) : t;
    r.failure = up_to(seed, 5) ? FAILURE_NONE : FAILURE_CUT;
    if (up_to(seed, 4))
        r.usage.prompt_tokens = up_to(seed, 4000);
    if (up_to(seed, 4))
        r.usage.completion_tokens = up_to(seed, 3 * n + 1);
    if (!up_to(seed, 4))
        r.usage.cached_prompt_tokens = up_to(seed, 5000);
    if (!up_to(seed, 4))
        r.timings.prefill_ns = up_to(seed, 300 * MS);
    return r;
}

enum { QUERIES = 400 };

struct plan {
    mono_ns start[QUERIES];
    struct response r[QUERIES];
    double joules[2][QUERIES];
};

/* Runs the plan as it would happen, looking every `every` ns; 0 = once at the end. */
static void run_plan(struct plan *p, mono_ns every, mono_ns end, const double *base_w,
                     double *joules)
{
    const enum rail rails[] = {RAIL_GPU, RAIL_CPU};
    struct attribution *a = attribution_new(rails, 2, base_w, T0);
    struct flight *flights[QUERIES] = {NULL};
    struct attributed x;
    double sum[2] = {0, 0};
    size_t landed_n = 0, most = 0;

    for (mono_ns t = every ? T0 : end;; t += every) {
        t = t > end ? end : t;
        for (size_t i = 0; i < QUERIES; i++)
            if (!flights[i] && p->start[i] <= t)
                flights[i] = attribution_open(a, p->start[i], &p->r[i]);
        for (size_t i = 0; i < QUERIES; i++)
            if (flights[i] && flights[i] != (void *)p && p->r[i].end <= t) {
                attribution_close(a, flights[i], &p->r[i]);
                flights[i] = (void *)p;
            }
        attribution_advance(a, t, wavy, NULL);
        while (attribution_take(a, &x)) {
            size_t i = (size_t)((struct response *)x.query - p->r);

            assert_true(x.rails[RAIL_GPU].tokens_j >= 0 && x.rails[RAIL_CPU].tokens_j >= 0);
            joules[i] = x.rails[RAIL_GPU].tokens_j;
            sum[0] += x.rails[RAIL_GPU].tokens_j;
            sum[1] += x.rails[RAIL_CPU].equal_j;
            landed_n++;
        }
        most = attribution_pending(a) > most ? attribution_pending(a) : most;
        if (t == end)
            break;
    }
    assert_int_equal(landed_n, QUERIES);
    assert_true(every == 0 || most < QUERIES / 2); /* forgotten on the way */
    assert_true(attribution_imbalance(a) < 1e-12);
    for (int i = 0; i < 2; i++) {
        struct attribution_totals t = attribution_totals(a, rails[i]);
        double meter_j = wavy(NULL, rails[i], end, NULL) - wavy(NULL, rails[i], T0, NULL);

        assert_near(t.meter_j / meter_j, 1, 1e-12);
        assert_near((sum[i] + t.idle_j) / meter_j, 1, 1e-9);
    }
    attribution_free(a);
}

static void parts_add_up_to_the_meter(void **state)
{
    const double base_w[RAIL_COUNT] = {[RAIL_GPU] = 80, [RAIL_CPU] = 500};
    struct plan *p = xcalloc(1, sizeof(*p));

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t s = seed;
        mono_ns t = T0 + 500 * MS, end = T0;

        for (size_t i = 0; i < QUERIES; i++) {
            p->start[i] = t;
            p->r[i] = any_response(&s, t);
            end = p->r[i].end > end ? p->r[i].end : end;
            t += up_to(&s, (int64_t)(seed % 4 + 1) * 100 * MS);
        }
        end += NS_PER_S;
        run_plan(p, 0, end, seed % 2 ? base_w : NULL, p->joules[0]);
        run_plan(p, 170 * MS, end, seed % 2 ? base_w : NULL, p->joules[1]);
        for (size_t i = 0; i < QUERIES; i++) {
            /* Looking more often changes nothing but the rounding. */
            assert_near(p->joules[0][i], p->joules[1][i], 1e-6);
            response_release(&p->r[i]);
        }
    }
    free(p);
}

static void eight_streams_with_a_known_truth(void **state)
{
    static const double cost_j[] = {0.05, 0.2, 0.6};
    struct simbatch_errors e;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        simbatch_compare(120, cost_j[i], true, 7 + i, &e);
        print_message("%.2f J a token, idle known:   median %.2f %%, p95 %.2f %%; equal %.2f %%\n",
                      cost_j[i], e.median_pct, e.p95_pct, e.equal_pct);
        assert_true(e.median_pct <= 5);
        assert_true(e.imbalance < 1e-12);
        simbatch_compare(120, cost_j[i], false, 7 + i, &e);
        print_message("%.2f J a token, idle unknown: median %.2f %%, p95 %.2f %%\n", cost_j[i],
                      e.median_pct, e.p95_pct);
        assert_true(e.imbalance < 1e-12);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(stretches_follow_the_tokens),
    cmocka_unit_test(stretches_of_odd_replies),
    cmocka_unit_test(deltas_stand_for_tokens),
    cmocka_unit_test(alone_is_exclusive),
    cmocka_unit_test(shares_by_tokens),
    cmocka_unit_test(the_idle_power_is_nobodys),
    cmocka_unit_test(an_unknown_rate_takes_its_head),
    cmocka_unit_test(a_stalled_query_has_no_weight),
    cmocka_unit_test(nothing_is_guessed),
    cmocka_unit_test(no_meter_no_joules),
    cmocka_unit_test(waits_for_the_oldest),
    cmocka_unit_test(parts_add_up_to_the_meter),
    cmocka_unit_test(eight_streams_with_a_known_truth),
};
TEST_MAIN(tests)
