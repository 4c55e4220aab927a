/* Stamps are used only as far as they can be trusted: what is put, to the nanosecond, for each kind
 * of stamp. */
#include "harness.h"

#include "telemetry/stamp.h"

#define MS     NS_PER_MS
#define MARGIN STAMP_MARGIN_NS

static struct {
    struct sample_sink sink; /* first */
    mono_ns before[8], after[8];
    double value[8];
    int n;
} caught;

static void keep(struct sample_sink *self, size_t channel, mono_ns before, mono_ns after,
                 double value)
{
    (void)self;
    assert_int_equal(channel, 5);
    assert_true(caught.n < 8);
    assert_true(before <= after);
    caught.before[caught.n] = before;
    caught.after[caught.n] = after;
    caught.value[caught.n++] = value;
}

static void reset(void)
{
    memset(&caught, 0, sizeof(caught));
    caught.sink.put = keep;
}

static void put(struct stamp_counter *c, mono_ns before, mono_ns after, mono_ns stamp, double value)
{
    reset();
    stamp_put(
        c, &caught.sink, 5,
        &(struct stamp_reading){.before = before, .after = after, .stamp = stamp, .value = value});
}

#define assert_put(i, before_, after_, value_)       \
    do {                                             \
        assert_true(caught.n > (i));                 \
        assert_int_equal(caught.before[i], before_); \
        assert_int_equal(caught.after[i], after_);   \
        assert_near(caught.value[i], value_, 0);     \
    } while (0)

static void without_a_stamp(void **state)
{
    struct stamp_counter c = {0};

    (void)state;
    put(&c, 1000 * MS, 1001 * MS, MONO_ABSENT, 7);
    assert_int_equal(caught.n, 1);
    assert_put(0, 1000 * MS, 1001 * MS, 7);
    put(&c, 1020 * MS, 1021 * MS, MONO_ABSENT, 8);
    assert_int_equal(caught.n, 1);
    assert_put(0, 1020 * MS, 1021 * MS, 8);
}

static void a_stamp_within_the_read_narrows_it(void **state)
{
    struct stamp_counter c = {0};

    (void)state;
    put(&c, 1000 * MS, 1004 * MS, 1002 * MS, 7);
    assert_int_equal(caught.n, 1);
    assert_put(0, 1002 * MS - MARGIN, 1002 * MS + MARGIN, 7);
    /* never wider than the read */
    put(&c, 1020 * MS, 1024 * MS, 1020 * MS, 8);
    assert_put(0, 1020 * MS, 1020 * MS + MARGIN, 8);
    put(&c, 1040 * MS, 1044 * MS, 1044 * MS, 9);
    assert_put(0, 1044 * MS - MARGIN, 1044 * MS, 9);
    /* the driver began to fetch it a millisecond before */
    reset();
    stamp_put(&c, &caught.sink, 5,
              &(struct stamp_reading){.before = 1060 * MS,
                                      .after = 1064 * MS,
                                      .stamp = 1063 * MS,
                                      .latency = MS,
                                      .value = 10});
    assert_put(0, 1062 * MS - MARGIN, 1063 * MS + MARGIN, 10);
}

/* Read every 20 ms (1 ms each), renewed every 100 ms at x37 ms and stamped so. */
static void renewals(struct stamp_counter *c, mono_ns from, int n)
{
    for (int i = 0; i < n; i++) {
        mono_ns t = from + i * 20 * MS;
        int64_t k = (t - 37 * MS) / (100 * MS);

        put(c, t, t + MS, 37 * MS + k * 100 * MS, (double)k);
    }
}

static void stamps_of_renewal_are_believed_in_time(void **state)
{
    struct stamp_counter c = {0};

    (void)state;
    /* 1037, 1137, 1237: the first three changes are put by the clock of the read */
    renewals(&c, 1000 * MS, 13);
    assert_int_equal(c.renewals, STAMP_RENEWALS);
    assert_int_equal(caught.n, 1);
    assert_put(0, 1240 * MS, 1241 * MS, 12);
    /* unchanged: still by the clock */
    renewals(&c, 1260 * MS, 4);
    assert_int_equal(caught.n, 1);
    assert_put(0, 1320 * MS, 1321 * MS, 12);
    /* the fourth: at 1337, seen at 1340 */
    renewals(&c, 1340 * MS, 1);
    assert_int_equal(caught.n, 2);
    assert_put(0, 1337 * MS - MARGIN, 1337 * MS - MARGIN, 12);
    assert_put(1, 1337 * MS + MARGIN, 1337 * MS + MARGIN, 13);
}

static void a_renewal_just_before_the_read_is_not_put_after_it(void **state)
{
    struct stamp_counter c = {0};

    (void)state;
    renewals(&c, 1000 * MS, 17);
    put(&c, 1337 * MS + 10, 1337 * MS + 20, 1337 * MS, 13);
    assert_int_equal(caught.n, 2);
    assert_put(0, 1337 * MS - MARGIN, 1337 * MS - MARGIN, 12);
    assert_put(1, 1337 * MS + 20, 1337 * MS + 20, 13);
}

static void a_stamp_that_moves_alone_tells_of_reads(void **state)
{
    struct stamp_counter c = {0};

    (void)state;
    renewals(&c, 1000 * MS, 17);
    put(&c, 1330 * MS, 1331 * MS, 1325 * MS, 12); /* same value, new stamp */
    assert_true(c.marks_reads);
    put(&c, 1340 * MS, 1341 * MS, 1337 * MS, 13);
    assert_int_equal(caught.n, 1);
    assert_put(0, 1340 * MS, 1341 * MS, 13);
}

static void a_stamp_that_wavers_within_the_margin_is_the_same(void **state)
{
    struct stamp_counter c = {0};

    (void)state;
    renewals(&c, 1000 * MS, 17);
    put(&c, 1330 * MS, 1331 * MS, 1237 * MS + 2000, 12);
    assert_false(c.marks_reads);
    put(&c, 1340 * MS, 1341 * MS, 1337 * MS, 13);
    assert_int_equal(caught.n, 2);
}

static void stamps_that_do_not_fit_are_ignored(void **state)
{
    static const mono_ns wrong[] = {
        1500 * MS, /* in the future */
        1310 * MS, /* before the previous read, which still showed the old value */
        1321 * MS, /* at the end of it */
        MONO_ABSENT, 5,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct stamp_counter c = {0};

        renewals(&c, 1000 * MS, 17); /* the last read ended at 1321 */
        put(&c, 1340 * MS, 1341 * MS, wrong[i], 13);
        assert_int_equal(caught.n, 1);
        assert_put(0, 1340 * MS, 1341 * MS, 13);
    }
}

static void trust_is_lost_by_one_misfit(void **state)
{
    struct stamp_counter c = {0};

    (void)state;
    renewals(&c, 1000 * MS, 17);
    put(&c, 1340 * MS, 1341 * MS, 1310 * MS, 13);
    assert_int_equal(c.renewals, 0);
    put(&c, 1440 * MS, 1441 * MS, 1437 * MS, 14);
    assert_int_equal(caught.n, 1);
    assert_put(0, 1440 * MS, 1441 * MS, 14);
}

static void fetched(void **state)
{
    static const struct {
        mono_ns stamp, before, after;
    } cases[] = {
        {999 * MS, 999 * MS, 999 * MS},        /* from a cache */
        {1001 * MS, 1001 * MS, 1001 * MS},     /* as the read ended */
        {1001 * MS + 1, 1000 * MS, 1001 * MS}, /* in the future */
        {900 * MS, 900 * MS, 900 * MS},        /* as old as it may be */
        {900 * MS - 1, 1000 * MS, 1001 * MS},  /* too old */
        {MONO_ABSENT, 1000 * MS, 1001 * MS},
    };
    struct stamp_counter c = {0};
    struct stamp_reading r = {.before = 1000 * MS, .after = 1001 * MS, .value = 7};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        c = (struct stamp_counter){0};
        reset();
        r.stamp = cases[i].stamp;
        stamp_put_fetched(&c, &caught.sink, 5, &r);
        assert_int_equal(caught.n, 1);
        assert_put(0, cases[i].before, cases[i].after, 7);
    }
    /* never backwards */
    c = (struct stamp_counter){.put = 999 * MS};
    reset();
    r.stamp = 998 * MS;
    stamp_put_fetched(&c, &caught.sink, 5, &r);
    assert_put(0, 1000 * MS, 1001 * MS, 7);
}

static void wall_times_become_monotonic(void **state)
{
    const int64_t wall = INT64_C(1700000000) * NS_PER_S;
    struct stamp_anchor a = {0};

    (void)state;
    stamp_anchor_add(&a, 5000 * NS_PER_S, wall, 5000 * NS_PER_S + 2 * MS);
    /* the middle of what is possible: read at 5000.001 */
    assert_int_equal(stamp_from_wall_us(&a, wall / 1000), 5000 * NS_PER_S + MS);
    /* a better reading narrows it */
    stamp_anchor_add(&a, 5010 * NS_PER_S, wall + 10 * NS_PER_S - 500 * NS_PER_US,
                     5010 * NS_PER_S + 200);
    assert_int_equal(a.high - a.low, 200);
    assert_int_equal(stamp_from_wall_us(&a, wall / 1000), 5000 * NS_PER_S + 500 * NS_PER_US + 100);
    /* a worse one does not widen it */
    stamp_anchor_add(&a, 5020 * NS_PER_S, wall + 20 * NS_PER_S, 5020 * NS_PER_S + 9 * MS);
    assert_int_equal(a.high - a.low, 200);
    /* the clock is set ten minutes back */
    stamp_anchor_add(&a, 5030 * NS_PER_S, wall - 570 * NS_PER_S, 5030 * NS_PER_S + 400);
    assert_int_equal(a.high - a.low, 400);
    assert_int_equal(stamp_from_wall_us(&a, (wall - 570 * NS_PER_S) / 1000), 5030 * NS_PER_S + 200);
}

static void senseless_stamps_are_none(void **state)
{
    const int64_t wall_us = INT64_C(1700000000) * 1000000;
    struct stamp_anchor a = {0};

    (void)state;
    stamp_anchor_add(&a, 5000 * NS_PER_S, wall_us * 1000, 5000 * NS_PER_S);
    assert_int_equal(stamp_from_wall_us(&a, 0), MONO_ABSENT);
    assert_int_equal(stamp_from_wall_us(&a, -5), MONO_ABSENT);
    assert_int_equal(stamp_from_wall_us(&a, INT64_MAX), MONO_ABSENT);
    assert_int_equal(stamp_from_wall_us(&a, 123456), MONO_ABSENT); /* since boot, not since 1970 */
    assert_int_equal(stamp_from_wall_us(&a, wall_us + 4000 * INT64_C(1000000)), MONO_ABSENT);
    assert_int_equal(stamp_from_wall_us(&a, wall_us - 4000 * INT64_C(1000000)), MONO_ABSENT);

    assert_int_equal(stamp_from_boot_ns(0, 0, 5000), MONO_ABSENT);
    assert_int_equal(stamp_from_boot_ns(UINT64_MAX, 0, 5000), MONO_ABSENT);
    assert_int_equal(stamp_from_boot_ns(5000, 10000, 5000), MONO_ABSENT);
    assert_int_equal(stamp_from_boot_ns(7000, 3000, 5000), 4000);
    assert_int_equal(stamp_from_boot_ns(1700000000ull * 1000000000ull, 0, 5000), MONO_ABSENT);
}

static void the_clocks_of_this_machine(void **state)
{
    struct stamp_anchor a = {0};
    struct clock_anchor now;
    mono_ns t;

    (void)state;
    for (int i = 0; i < 20; i++)
        stamp_anchor_refresh(&a);
    assert_true(a.high >= a.low);
    now = clock_anchor_now();
    t = stamp_from_wall_us(&a, now.wall_ns / 1000);
    assert_true(llabs(t - now.mono) < NS_PER_S); /* a busy machine may stop between two clocks */
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(without_a_stamp),
    cmocka_unit_test(a_stamp_within_the_read_narrows_it),
    cmocka_unit_test(stamps_of_renewal_are_believed_in_time),
    cmocka_unit_test(a_renewal_just_before_the_read_is_not_put_after_it),
    cmocka_unit_test(a_stamp_that_moves_alone_tells_of_reads),
    cmocka_unit_test(a_stamp_that_wavers_within_the_margin_is_the_same),
    cmocka_unit_test(stamps_that_do_not_fit_are_ignored),
    cmocka_unit_test(trust_is_lost_by_one_misfit),
    cmocka_unit_test(fetched),
    cmocka_unit_test(wall_times_become_monotonic),
    cmocka_unit_test(senseless_stamps_are_none),
    cmocka_unit_test(the_clocks_of_this_machine),
};
TEST_MAIN(tests)
