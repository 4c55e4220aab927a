#include "harness.h"

#include "base/rng.h"

/* The published generator: xoshiro256** from the state 1, 2, 3, 4. */
static void follows_the_publication(void **state)
{
    static const uint64_t expected[] = {11520,
                                        0,
                                        1509978240,
                                        UINT64_C(1215971899390074240),
                                        UINT64_C(1216172134540287360),
                                        UINT64_C(607988272756665600)};
    struct rng r = {{1, 2, 3, 4}};

    (void)state;
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(rng_u64(&r), expected[i]);
}

static void fills_as_it_draws(void **state)
{
    struct rng one = rng_seed(3, RNG_STREAM_BOOTSTRAP), many = one;
    uint64_t words[5];

    (void)state;
    rng_fill(&many, words, 0);
    for (int round = 0; round < 2; round++) {
        rng_fill(&many, words, 5);
        for (int i = 0; i < 5; i++)
            assert_int_equal(words[i], rng_u64(&one));
    }
}

/* Seeded by splitmix64, as most libraries do it for the seed 0. */
static void seeds_like_others(void **state)
{
    static const uint64_t expected[] = {UINT64_C(0x99EC5F36CB75F2B4), UINT64_C(0xBF6E1F784956452A),
                                        UINT64_C(0x1A5F849D4933E6E0), UINT64_C(0x6AA594F1262D2D2C)};
    struct rng r;

    (void)state;
    r = rng_seed(0, RNG_STREAM_PLAIN);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(rng_u64(&r), expected[i]);
}

static void streams_differ(void **state)
{
    struct rng a, b, c;

    (void)state;
    a = rng_seed(7, RNG_STREAM_SCHEDULE);
    b = rng_seed(7, RNG_STREAM_SHUFFLE);
    c = rng_seed(7, RNG_STREAM_SCHEDULE);
    for (int i = 0; i < 100; i++) {
        uint64_t x = rng_u64(&a);

        assert_int_not_equal(x, rng_u64(&b));
        assert_int_equal(x, rng_u64(&c));
    }
}

/* Bit for bit: a plan must be the same on every machine and with every compiler. */
static void deviates_are_fixed(void **state)
{
    struct rng r;

    (void)state;
    r = rng_seed(42, RNG_STREAM_SCHEDULE);
    assert_true(rng_uniform(&r) == 0x1.9465d4127fa72p-2);
    assert_true(rng_exponential(&r) == 0x1.743fb6727a536p+0);
    assert_true(rng_normal(&r) == 0x1.d2ca4a109d31ap-3);
    assert_true(rng_gamma(&r, 2.5) == 0x1.e90e922a8b717p-2);
    assert_true(rng_gamma(&r, 0.25) == 0x1.425cc4bd97179p-15);
    assert_int_equal(rng_below(&r, 1000), 137);
}

struct moments {
    double mean, variance, min, max;
};

static struct moments measure(double (*draw)(struct rng *, double), double shape, int n)
{
    struct moments m = {0, 0, INFINITY, -INFINITY};
    double squares = 0;
    struct rng r;

    r = rng_seed(1, RNG_STREAM_SAMPLE);
    for (int i = 1; i <= n; i++) {
        double x = draw(&r, shape), d = x - m.mean;

        m.mean += d / i;
        squares += d * (x - m.mean);
        m.min = fmin(m.min, x);
        m.max = fmax(m.max, x);
    }
    m.variance = squares / (n - 1);
    return m;
}

static double draw_uniform(struct rng *r, double unused)
{
    (void)unused;
    return rng_uniform(r);
}

static double draw_exponential(struct rng *r, double unused)
{
    (void)unused;
    return rng_exponential(r);
}

static double draw_normal(struct rng *r, double unused)
{
    (void)unused;
    return rng_normal(r);
}

enum { DRAWS = 200000 };

/* Five standard errors: the seed is fixed, so this holds always or never. */
static void assert_moments(struct moments m, double mean, double variance, double kurtosis)
{
    assert_near(m.mean, mean, 5 * sqrt(variance / DRAWS));
    assert_near(m.variance, variance, 5 * variance * sqrt((kurtosis - 1) / DRAWS));
}

static void has_the_right_moments(void **state)
{
    static const double shapes[] = {0.1, 0.5, 1, 1.5, 10, 1000};
    struct moments m;

    (void)state;
    m = measure(draw_uniform, 0, DRAWS);
    assert_moments(m, 0.5, 1.0 / 12, 1.8);
    assert_true(m.min >= 0 && m.min < 1e-4 && m.max < 1 && m.max > 1 - 1e-4);
    m = measure(draw_exponential, 0, DRAWS);
    assert_moments(m, 1, 1, 9);
    assert_true(m.min >= 0);
    m = measure(draw_normal, 0, DRAWS);
    assert_moments(m, 0, 1, 3);
    assert_true(m.min < -3.5 && m.max > 3.5);
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        m = measure(rng_gamma, shapes[i], DRAWS);
        assert_moments(m, shapes[i], shapes[i], 3 + 6 / shapes[i]);
        assert_true(m.min >= 0);
    }
}

/* The logarithm and exponential of our own against the C library's. */
static void agrees_with_libm(void **state)
{
    struct rng a, b;

    (void)state;
    a = rng_seed(3, RNG_STREAM_PLAIN);
    b = a;
    for (int i = 0; i < 10000; i++) {
        double expected = -log((double)((rng_u64(&b) >> 11) + 1) * 0x1p-53);

        assert_near(rng_exponential(&a), expected, 1e-15 * expected);
    }
    for (int i = 0; i < 10000; i++) {
        double shape = 0.05 + 0.9 * rng_uniform(&b), large, expected;

        a = b;
        large = rng_gamma(&b, shape + 1);
        expected = large * pow((double)((rng_u64(&b) >> 11) + 1) * 0x1p-53, 1 / shape);
        assert_near(rng_gamma(&a, shape), expected, 1e-13 * expected);
    }
}

static void tiny_shapes_underflow_to_zero(void **state)
{
    struct rng r;

    (void)state;
    r = rng_seed(5, RNG_STREAM_PLAIN);
    for (int i = 0; i < 1000; i++) {
        double x = rng_gamma(&r, 1e-6);

        assert_true(isfinite(x) && x >= 0);
    }
}

static void below_is_fair(void **state)
{
    int counts[6] = {0};
    struct rng r;

    (void)state;
    r = rng_seed(9, RNG_STREAM_PLAIN);
    for (int i = 0; i < 60000; i++)
        counts[rng_below(&r, 6)]++;
    for (int i = 0; i < 6; i++)
        assert_near(counts[i], 10000, 5 * sqrt(10000));
    assert_int_equal(rng_below(&r, 1), 0);
    /* two thirds of 2^64: without rejection the low half would come up twice as often */
    for (int i = 0, low = 0; i < 10000; i++) {
        low += rng_below(&r, UINT64_C(0xAAAAAAAAAAAAAAAA)) < UINT64_C(0x5555555555555555);
        if (i == 9999)
            assert_near(low, 5000, 5 * 50);
    }
}

static void shuffles_uniformly(void **state)
{
    int seen[3][3] = {{0}};
    size_t one[] = {4}, items[] = {0, 1, 2, 3, 4, 5, 6, 7};
    unsigned bits = 0;
    struct rng r;

    (void)state;
    r = rng_seed(11, RNG_STREAM_SHUFFLE);
    for (int i = 0; i < 9000; i++) {
        size_t three[] = {0, 1, 2};

        rng_shuffle(&r, three, 3);
        for (size_t k = 0; k < 3; k++)
            seen[three[k]][k]++;
    }
    for (int i = 0; i < 9; i++)
        assert_near(seen[i / 3][i % 3], 3000, 5 * sqrt(3000 * 2.0 / 3));
    rng_shuffle(&r, items, 8);
    for (size_t i = 0; i < 8; i++)
        bits |= 1u << items[i];
    assert_int_equal(bits, 0xFF);
    rng_shuffle(&r, one, 1);
    rng_shuffle(&r, one, 0);
    assert_int_equal(one[0], 4);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(follows_the_publication),
    cmocka_unit_test(fills_as_it_draws),
    cmocka_unit_test(seeds_like_others),
    cmocka_unit_test(streams_differ),
    cmocka_unit_test(deviates_are_fixed),
    cmocka_unit_test(has_the_right_moments),
    cmocka_unit_test(agrees_with_libm),
    cmocka_unit_test(below_is_fair),
    cmocka_unit_test(tiny_shapes_underflow_to_zero),
    cmocka_unit_test(shuffles_uniformly),
};
TEST_MAIN(tests)
