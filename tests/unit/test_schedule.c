#include "harness.h"

#include "run/schedule.h"

#include <errno.h>

#define START (5 * NS_PER_S)

static struct schedule *make(struct schedule_options o)
{
    struct schedule *s = NULL;
    struct err err = {0};

    if (o.burstiness == 0)
        o.burstiness = 1;
    o.start = START;
    assert_ok(schedule_new(&o, &s, &err), &err);
    return s;
}

/* Takes one that must be due, and returns its planned time. */
static mono_ns take(struct schedule *s, mono_ns now)
{
    mono_ns planned = MONO_ABSENT;

    assert_true(schedule_take(s, now, &planned));
    return planned;
}

static void assert_nothing_due(struct schedule *s, mono_ns now)
{
    mono_ns planned = 123;

    assert_false(schedule_take(s, now, &planned));
    assert_int_equal(planned, 123);
}

static void refuses(struct schedule_options o, const char *words)
{
    struct schedule *s = NULL;
    struct err err = {0};

    assert_fails(schedule_new(&o, &s, &err), EINVAL, &err, words);
    assert_null(s);
}

static void refuses_what_makes_no_plan(void **state)
{
    (void)state;
    refuses((struct schedule_options){.concurrency = 0, .total = 1}, "concurrency");
    refuses((struct schedule_options){.concurrency = 1000001, .total = 1}, "concurrency");
    refuses((struct schedule_options){.concurrency = 1, .total = -1}, "duration");
    refuses((struct schedule_options){.concurrency = 1, .total = -2}, "negative");
    refuses((struct schedule_options){.concurrency = 1, .total = 1, .duration_ns = -1}, "negative");
    refuses((struct schedule_options){.rate_per_s = -1, .burstiness = 1, .total = 1}, "rate");
    refuses((struct schedule_options){.rate_per_s = NAN, .burstiness = 1, .total = 1}, "rate");
    refuses((struct schedule_options){.rate_per_s = 2e6, .burstiness = 1, .total = 1}, "rate");
    refuses((struct schedule_options){.rate_per_s = 1, .burstiness = 0, .total = 1}, "burstiness");
    refuses((struct schedule_options){.rate_per_s = 1, .burstiness = NAN, .total = 1},
            "burstiness");
    refuses((struct schedule_options){.rate_per_s = 1, .burstiness = INFINITY, .total = 1},
            "burstiness");
    schedule_free(NULL);
}

static void closed_loop_keeps_n_in_flight(void **state)
{
    AUTO_PTR(schedule)
    struct schedule *s = make((struct schedule_options){.concurrency = 3, .total = 5});

    (void)state;
    assert_int_equal(schedule_next_due(s), START);
    assert_nothing_due(s, START - 1);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take(s, START + 2), START);
    assert_int_equal(schedule_next_due(s), MONO_NEVER);
    assert_nothing_due(s, START + NS_PER_S);
    assert_false(schedule_exhausted(s, START + NS_PER_S));
    schedule_done(s, START + 50);
    schedule_done(s, START + 70);
    assert_int_equal(schedule_next_due(s), START + 50);
    assert_int_equal(take(s, START + 80), START + 50);
    assert_int_equal(take(s, START + 80), START + 70);
    assert_int_equal(schedule_in_flight(s), 3);
    assert_true(schedule_exhausted(s, START + 80));
    assert_int_equal(schedule_next_due(s), MONO_NEVER);
    for (int i = 0; i < 3; i++) {
        assert_false(schedule_finished(s, START + 90));
        schedule_done(s, START + 90);
    }
    assert_true(schedule_finished(s, START + 90));
    assert_nothing_due(s, START + 100);
}

/* Random completions: the limit holds at every moment, and every place is used again at once. */
static void closed_loop_never_exceeds(void **state)
{
    AUTO_PTR(schedule)
    struct schedule *s = make((struct schedule_options){.concurrency = 7, .total = 5000});
    mono_ns now = START, planned;
    int64_t taken = 0, done = 0;
    unsigned random = 1;
    struct schedule_stats stats;

    (void)state;
    while (!schedule_finished(s, now)) {
        while (schedule_take(s, now, &planned)) {
            assert_true(planned <= now && planned >= START);
            taken++;
        }
        assert_true(schedule_in_flight(s) <= 7);
        if (taken < 5000)
            assert_int_equal(schedule_in_flight(s), 7);
        random = random * 1103515245u + 12345;
        now += 1000 + (random >> 16) % 1000;
        for (unsigned k = 0; k <= (random >> 20) % 7 && schedule_in_flight(s) > 0; k++) {
            schedule_done(s, now);
            done++;
        }
    }
    stats = schedule_stats(s, now);
    assert_int_equal(taken, 5000);
    assert_int_equal(done, 5000);
    assert_int_equal(stats.peak_in_flight, 7);
    assert_int_equal(stats.taken, 5000);
    assert_int_equal(stats.finished, 5000);
    assert_int_equal(stats.lateness_max_ns, 0);
    assert_false(stats.open_loop);
    assert_true(isnan(stats.requested_rate));
    assert_int_equal(stats.unsent, 0);
}

/* Takes the whole plan exactly on time; the caller frees the times. */
static mono_ns *play(struct schedule_options o, int64_t n)
{
    AUTO_PTR(schedule) struct schedule *s = NULL;
    mono_ns *times = calloc((size_t)n, sizeof(*times));

    o.total = n;
    s = make(o);
    for (int64_t i = 0; i < n; i++) {
        mono_ns due = schedule_next_due(s);

        assert_nothing_due(s, due - 1);
        times[i] = take(s, due);
        assert_int_equal(times[i], due);
        assert_true(times[i] >= (i ? times[i - 1] : START));
    }
    assert_true(schedule_exhausted(s, times[n - 1]));
    return times;
}

static void same_seed_same_plan(void **state)
{
    enum { N = 1000 };
    struct schedule_options o = {.rate_per_s = 50, .burstiness = 0.5, .seed = 1};
    AUTO_FREE mono_ns *a = play(o, N);
    AUTO_FREE mono_ns *b = play(o, N);
    AUTO_FREE mono_ns *other = NULL;

    (void)state;
    o.seed = 2;
    other = play(o, N);
    assert_memory_equal(a, b, N * sizeof(*a));
    assert_true(memcmp(a, other, N * sizeof(*a)) != 0);
}

/* The plan of seed 0 at one request per second, to the nanosecond, for ever. */
static void the_plan_is_fixed(void **state)
{
    static const mono_ns poisson[] = {13981503, 2097635100, 7004874959, 7069951562};
    static const mono_ns bursts[] = {6622043, 185873197, 2771175012, 3078508437};
    AUTO_FREE mono_ns *a = play((struct schedule_options){.rate_per_s = 1}, 4);
    AUTO_FREE mono_ns *b = play((struct schedule_options){.rate_per_s = 1, .burstiness = 0.5}, 4);

    (void)state;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(a[i] - START, poisson[i]);
        assert_int_equal(b[i] - START, bursts[i]);
    }
}

/* Gaps have the mean 1 / rate and the variance 1 / (rate^2 B). */
static void gaps_follow_rate_and_burstiness(void **state)
{
    enum { N = 50000 };
    static const double burstiness[] = {0.25, 1, 4};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        double b = burstiness[k], mean, variance = 0;
        AUTO_FREE mono_ns *t =
            play((struct schedule_options){.rate_per_s = 200, .burstiness = b, .seed = 3}, N);

        mean = ns_to_s(t[N - 1] - START) / N;
        for (int i = 0; i < N; i++) {
            double d = ns_to_s(t[i] - (i ? t[i - 1] : START)) - mean;

            variance += d * d / N;
        }
        assert_near(mean * 200, 1, 5 * sqrt(1 / b / N));
        assert_near(variance * 200 * 200 * b, 1, 5 * sqrt((2 + 6 / b) / N));
    }
}

/* A sender that is late does not move the plan, and its lateness is what was lost. */
static void lateness_is_accounted(void **state)
{
    struct schedule_options o = {.rate_per_s = 1000, .total = 100, .seed = 5};
    AUTO_FREE mono_ns *plan = play(o, 100);
    AUTO_PTR(schedule) struct schedule *s = make(o);
    struct schedule_stats stats;

    (void)state;
    for (int i = 0; i < 100; i++) {
        mono_ns now = plan[i] + (i + 1) * NS_PER_MS;

        assert_int_equal(take(s, now), plan[i]);
        schedule_done(s, now + NS_PER_MS);
    }
    stats = schedule_stats(s, plan[99] + NS_PER_S);
    assert_near((double)stats.lateness_median_ns, 50e6, 0.5e6);
    assert_near((double)stats.lateness_p99_ns, 99e6, 1e6);
    assert_true(stats.lateness_median_ns >= 50 * NS_PER_MS);
    assert_int_equal(stats.lateness_max_ns, 100 * NS_PER_MS);
    assert_true(stats.late);
    assert_int_equal(stats.held, 0);
    assert_near(stats.requested_rate, 1000, 0);
    assert_near(stats.planned_rate, 100 / ns_to_s(plan[99] - START), 1e-9);
    assert_near(stats.achieved_rate, 100 / ns_to_s(plan[99] + 100 * NS_PER_MS - START), 1e-9);
    assert_near(stats.finished_rate, 100 / ns_to_s(plan[99] + 101 * NS_PER_MS - START), 1e-9);
}

/* `late` requests of `n` are delayed; the rest is on time. */
static bool is_late(int n, int late, int64_t delay_ns)
{
    AUTO_PTR(schedule)
    struct schedule *s = make((struct schedule_options){.rate_per_s = 0.1, .total = n});

    for (int i = 0; i < n; i++)
        take(s, schedule_next_due(s) + (i < late ? delay_ns : 0));
    return schedule_stats(s, START).late;
}

static void the_verdict_is_exact(void **state)
{
    (void)state;
    assert_false(is_late(1000, 10, SCHEDULE_LATE_P99_NS + 1));
    assert_true(is_late(1000, 11, SCHEDULE_LATE_P99_NS + 1));
    assert_false(is_late(1000, 11, SCHEDULE_LATE_P99_NS));
    assert_false(is_late(1000, 500, SCHEDULE_LATE_MEDIAN_NS + 1));
    assert_true(is_late(1000, 501, SCHEDULE_LATE_MEDIAN_NS + 1));
    assert_false(is_late(1000, 501, SCHEDULE_LATE_MEDIAN_NS));
    assert_false(is_late(1, 0, 0));
}

/* Lateness of every size is given within 1 % and never too small. */
static void percentiles_are_close(void **state)
{
    (void)state;
    for (int64_t late = 0; late < INT64_MAX / 8; late = late + late / 3 + 1) {
        AUTO_PTR(schedule)
        struct schedule *s = make((struct schedule_options){.concurrency = 4, .total = 4});
        struct schedule_stats stats;

        for (int i = 0; i < 3; i++)
            take(s, START + late);
        take(s, START + late * 2);
        stats = schedule_stats(s, START);
        assert_true(stats.lateness_median_ns >= late);
        assert_near((double)stats.lateness_median_ns, (double)late, 0.01 * (double)late);
        assert_int_equal(stats.lateness_p99_ns, late * 2);
        assert_int_equal(stats.lateness_max_ns, late * 2);
    }
}

static void open_loop_limit_in_flight(void **state)
{
    struct schedule_options o = {.rate_per_s = 100, .total = 5, .seed = 8};
    AUTO_FREE mono_ns *plan = play(o, 5);
    AUTO_PTR(schedule) struct schedule *s = NULL;
    mono_ns end = plan[4] + NS_PER_S;
    struct schedule_stats stats;

    (void)state;
    o.concurrency = 2;
    s = make(o);
    take(s, plan[0]);
    take(s, plan[1]);
    assert_int_equal(schedule_next_due(s), MONO_NEVER);
    assert_nothing_due(s, end);
    assert_int_equal(schedule_stats(s, end).unsent, 3);
    assert_int_equal(schedule_stats(s, plan[3]).unsent, 1);
    schedule_done(s, end);
    /* still the time at which it should have gone */
    assert_int_equal(schedule_next_due(s), plan[2]);
    assert_int_equal(take(s, end + 10), plan[2]);
    schedule_done(s, end + 20);
    schedule_done(s, end + 30);
    assert_int_equal(take(s, end + 40), plan[3]);
    assert_int_equal(take(s, end + 40), plan[4]);
    stats = schedule_stats(s, end + 50);
    assert_int_equal(stats.held, 3);
    assert_int_equal(stats.unsent, 0);
    assert_int_equal(stats.peak_in_flight, 2);
    assert_int_equal(stats.lateness_max_ns, end + 10 - plan[2]);
    assert_true(stats.late);
}

static void open_loop_without_limit(void **state)
{
    AUTO_PTR(schedule)
    struct schedule *s = make((struct schedule_options){.rate_per_s = 1e5, .total = 20000});

    (void)state;
    for (int i = 0; i < 20000; i++)
        take(s, schedule_next_due(s));
    assert_int_equal(schedule_in_flight(s), 20000);
    assert_int_equal(schedule_stats(s, START).held, 0);
}

static void duration_ends_a_closed_loop(void **state)
{
    AUTO_PTR(schedule)
    struct schedule *s =
        make((struct schedule_options){.concurrency = 1, .total = -1, .duration_ns = NS_PER_S});
    mono_ns now = START;

    (void)state;
    for (int i = 0; i < 10; i++) {
        assert_false(schedule_exhausted(s, now));
        take(s, now);
        now += 100 * NS_PER_MS;
        schedule_done(s, now);
    }
    assert_int_equal(now, START + NS_PER_S);
    assert_nothing_due(s, now);
    assert_int_equal(schedule_next_due(s), MONO_NEVER);
    assert_true(schedule_finished(s, now));
    assert_near(schedule_stats(s, now).finished_rate, 10, 1e-9);
}

/* A place that was free in time but found too late is not used either. */
static void duration_counts_at_the_sending(void **state)
{
    AUTO_PTR(schedule)
    struct schedule *s =
        make((struct schedule_options){.concurrency = 2, .total = -1, .duration_ns = NS_PER_S});

    (void)state;
    take(s, START + NS_PER_S - 1);
    assert_nothing_due(s, START + NS_PER_S);
    assert_true(schedule_exhausted(s, START + NS_PER_S));
    assert_false(schedule_finished(s, START + NS_PER_S));
    schedule_done(s, START + 2 * NS_PER_S);
    assert_true(schedule_finished(s, START + 2 * NS_PER_S));
}

static void duration_ends_an_open_loop(void **state)
{
    enum { RATE = 500, SECONDS = 20 };
    AUTO_PTR(schedule)
    struct schedule *s = make((struct schedule_options){
        .rate_per_s = RATE, .total = -1, .duration_ns = SECONDS * NS_PER_S, .seed = 4});
    int64_t n = 0;
    mono_ns due;

    (void)state;
    for (; (due = schedule_next_due(s)) != MONO_NEVER; n++)
        assert_true(take(s, due) < START + SECONDS * NS_PER_S);
    assert_near((double)n, RATE * SECONDS, 5 * sqrt(RATE * SECONDS));
    assert_near(schedule_stats(s, START).achieved_rate, RATE, 5 * sqrt(RATE * SECONDS) / SECONDS);
    /* the plan is over before the time is */
    assert_true(schedule_exhausted(s, START));
    assert_int_equal(schedule_stats(s, MONO_NEVER).unsent, 0);
}

/* What the limit held back until the end was asked for and not sent: it is told. */
static void duration_tells_what_was_not_sent(void **state)
{
    struct schedule_options o = {.rate_per_s = 100, .seed = 6, .concurrency = 1};
    AUTO_PTR(schedule) struct schedule *s = NULL;
    AUTO_FREE mono_ns *plan = play((struct schedule_options){.rate_per_s = 100, .seed = 6}, 300);
    int64_t expected = 0;

    (void)state;
    o.total = -1;
    o.duration_ns = NS_PER_S;
    s = make(o);
    take(s, schedule_next_due(s));
    for (int i = 1; i < 300; i++)
        expected += plan[i] < START + NS_PER_S;
    assert_true(expected > 50);
    assert_int_equal(schedule_stats(s, START + 10 * NS_PER_S).unsent, expected);
    assert_true(schedule_exhausted(s, START + NS_PER_S));
}

static void nothing_taken_has_no_figures(void **state)
{
    AUTO_PTR(schedule)
    struct schedule *s = make((struct schedule_options){.concurrency = 1, .total = 0});
    struct schedule_stats stats = schedule_stats(s, START + NS_PER_S);

    (void)state;
    assert_true(schedule_finished(s, START));
    assert_nothing_due(s, START + NS_PER_S);
    assert_int_equal(stats.lateness_median_ns, MONO_ABSENT);
    assert_int_equal(stats.lateness_p99_ns, MONO_ABSENT);
    assert_int_equal(stats.lateness_max_ns, MONO_ABSENT);
    assert_true(isnan(stats.achieved_rate) && isnan(stats.finished_rate));
    assert_false(stats.late);
}

/* A rate so low that the plan passes the end of time. */
static void slow_rates_saturate(void **state)
{
    AUTO_PTR(schedule)
    struct schedule *s = make((struct schedule_options){.rate_per_s = 1e-300, .total = 3});

    (void)state;
    assert_int_equal(schedule_next_due(s), MONO_NEVER);
    assert_true(schedule_exhausted(s, START));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(refuses_what_makes_no_plan),
    cmocka_unit_test(closed_loop_keeps_n_in_flight),
    cmocka_unit_test(closed_loop_never_exceeds),
    cmocka_unit_test(same_seed_same_plan),
    cmocka_unit_test(the_plan_is_fixed),
    cmocka_unit_test(gaps_follow_rate_and_burstiness),
    cmocka_unit_test(lateness_is_accounted),
    cmocka_unit_test(the_verdict_is_exact),
    cmocka_unit_test(percentiles_are_close),
    cmocka_unit_test(open_loop_limit_in_flight),
    cmocka_unit_test(open_loop_without_limit),
    cmocka_unit_test(duration_ends_a_closed_loop),
    cmocka_unit_test(duration_counts_at_the_sending),
    cmocka_unit_test(duration_ends_an_open_loop),
    cmocka_unit_test(duration_tells_what_was_not_sent),
    cmocka_unit_test(nothing_taken_has_no_figures),
    cmocka_unit_test(slow_rates_saturate),
};
TEST_MAIN(tests)
