#include "harness.h"

#include "base/cleanup.h"
#include "report/thin.h"

#define ROOM 64

static struct thin new_thin(size_t max)
{
    struct thin t;

    thin_init(&t, max);
    return t;
}

static void what_fits_is_kept(void **state)
{
    AUTO(thin) struct thin t = new_thin(ROOM);
    AUTO_FREE struct thin_point *p = NULL;

    (void)state;
    thin_add(&t, 1.0, 10, 0.5, true);
    thin_add(&t, 2.0, 30, 1.0, false);
    thin_add(&t, 3.0, 20, 2.0, false);
    assert_int_equal(thin_points(&t, &p), 4);
    assert_near(p[0].time_s, 0.5, 0);
    assert_true(isnan(p[0].value));
    assert_near(p[1].time_s, 1, 0);
    assert_near(p[1].value, 10, 0);
    assert_near(p[2].value, 30, 0);
    assert_near(p[3].value, 20, 0);
    assert_int_equal(t.samples, 3);
}

static void nothing_is_nothing(void **state)
{
    AUTO(thin) struct thin t = new_thin(ROOM);
    AUTO_FREE struct thin_point *p = NULL;

    (void)state;
    thin_coarsen(&t);
    assert_int_equal(thin_points(&t, &p), 0);
}

/* One sample in 100 000 is a peak, one a dip: both are there, at their own times. */
static void peaks_survive(void **state)
{
    AUTO(thin) struct thin t = new_thin(ROOM);
    AUTO_FREE struct thin_point *p = NULL;
    size_t n;
    int peaks = 0, dips = 0;

    (void)state;
    for (int i = 0; i < 100000; i++) {
        double value = i == 54321 ? 900 : i == 77777 ? -5 : 100 + i % 7;

        thin_add(&t, i * 0.02, value, i * 0.02, i == 0);
    }
    assert_true(t.n <= ROOM);
    assert_true(t.n > ROOM / 4);
    n = thin_points(&t, &p);
    assert_true(n <= 3 * ROOM);
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            assert_true(p[i].time_s >= p[i - 1].time_s);
        if (p[i].value == 900) {
            assert_near(p[i].time_s, 54321 * 0.02, 1e-9);
            peaks++;
        } else if (p[i].value == -5) {
            assert_near(p[i].time_s, 77777 * 0.02, 1e-9);
            dips++;
        } else if (!isnan(p[i].value)) {
            assert_in_range((int)p[i].value, 100, 106);
        }
    }
    assert_int_equal(peaks, 1);
    assert_int_equal(dips, 1);
    assert_int_equal(t.samples, 100000);
}

/* Every bucket's lowest and highest are those of the samples in its stretch of time. */
static void the_envelope_is_exact(void **state)
{
    AUTO(thin) struct thin t = new_thin(16);
    double value[1000];

    (void)state;
    for (int i = 0; i < 1000; i++) {
        value[i] = (i * 7919) % 1000;
        thin_add(&t, i, value[i], i, false);
    }
    for (size_t b = 0; b < t.n; b++) {
        double k = floor(fmin(t.buckets[b].min_s, t.buckets[b].max_s) / t.width_s);
        double low = INFINITY, high = -INFINITY;

        for (int i = 0; i < 1000; i++) {
            if (floor(i / t.width_s) != k)
                continue;
            low = fmin(low, value[i]);
            high = fmax(high, value[i]);
        }
        assert_near(t.buckets[b].min, low, 0);
        assert_near(t.buckets[b].max, high, 0);
    }
}

static void gaps_stay_gaps(void **state)
{
    AUTO(thin) struct thin t = new_thin(ROOM);
    AUTO_FREE struct thin_point *p = NULL;
    size_t n, breaks = 0;

    (void)state;
    for (int i = 0; i < 10000; i++)
        thin_add(&t, i < 5000 ? i : i + 4000, 1, i, i == 0 || i == 5000);
    n = thin_points(&t, &p);
    for (size_t i = 0; i < n; i++)
        breaks += isnan(p[i].value);
    assert_int_equal(breaks, 2);
}

static void hostile_samples(void **state)
{
    static const double bad[] = {NAN, INFINITY, -INFINITY, 1e300, -1e300};
    AUTO(thin) struct thin t = new_thin(4);
    AUTO_FREE struct thin_point *p = NULL;
    size_t n;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
        thin_add(&t, bad[i], 1, 0, false);
    assert_int_equal(t.n, 0);
    thin_add(&t, 5, 1, NAN, false); /* after what was dropped: a new stretch */
    thin_add(&t, 4, 2, 4, false);   /* back in time */
    thin_add(&t, 6, NAN, 5, false);
    thin_add(&t, 7, 3, 2, false); /* held since before the last one: not longer than that */
    n = thin_points(&t, &p);
    assert_int_equal(n, 4);
    assert_true(isnan(p[0].value));
    assert_near(p[0].time_s, 5, 0);
    assert_near(p[1].value, 1, 0);
    assert_true(isnan(p[2].value));
    assert_near(p[2].time_s, 5, 0);
    assert_near(p[3].value, 3, 0);
}

/* All at one time, and on both sides of zero: the least that buckets can do. */
static void degenerate_times(void **state)
{
    AUTO(thin) struct thin same = new_thin(4);
    AUTO(thin) struct thin both = new_thin(4);

    (void)state;
    for (int i = 0; i < 1000; i++)
        thin_add(&same, 3, i, 3, false);
    assert_true(same.n <= 4);
    assert_near(same.buckets[0].min, 0, 0);
    assert_near(same.buckets[0].max, 999, 0);
    for (int i = -500; i < 500; i++)
        thin_add(&both, i * 1e6, i, i * 1e6, false);
    assert_true(both.n <= 4);
    assert_near(both.buckets[0].min, -500, 0);
    assert_near(both.buckets[both.n - 1].max, 499, 0);
}

static void coarser_by_half(void **state)
{
    AUTO(thin) struct thin t = new_thin(1000);

    (void)state;
    for (int i = 0; i < 1000; i++)
        thin_add(&t, i, i, i, false);
    assert_int_equal(t.n, 1000);
    thin_coarsen(&t);
    assert_true(t.n <= 501);
    thin_coarsen(&t);
    assert_true(t.n <= 251);
    assert_near(t.buckets[0].min, 0, 0);
    assert_near(t.buckets[t.n - 1].max, 999, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_fits_is_kept), cmocka_unit_test(nothing_is_nothing),
    cmocka_unit_test(peaks_survive),     cmocka_unit_test(the_envelope_is_exact),
    cmocka_unit_test(gaps_stay_gaps),    cmocka_unit_test(hostile_samples),
    cmocka_unit_test(degenerate_times),  cmocka_unit_test(coarser_by_half),
};
TEST_MAIN(tests)
