/* The stand-ins' power functions are the truth of many tests, so they are checked against values
 * worked out by hand and against a fine sum of their own watts. */
#include "harness.h"

#include "support/simpower.h"

#include <errno.h>

#define S NS_PER_S

static struct simpower parsed(const char *text)
{
    struct err err = {0};
    struct simpower p = {0};

    assert_ok(simpower_parse(text, &p, &err), &err);
    return p;
}

static void constant(void **state)
{
    struct simpower p = parsed("constant:150");

    (void)state;
    assert_near(simpower_watts(&p, 12345), 150, 0);
    assert_near(simpower_joules(&p, 7 * S, 9 * S), 300, 0);
    assert_near(simpower_joules(&p, 9 * S, 7 * S), -300, 0);
    assert_near(simpower_joules(&p, 5, 5), 0, 0);
}

static void square(void **state)
{
    struct simpower p = parsed("square:100:300:0.5");

    (void)state;
    assert_near(simpower_watts(&p, 0), 100, 0);
    assert_near(simpower_watts(&p, S / 4 - 1), 100, 0);
    assert_near(simpower_watts(&p, S / 4), 300, 0);
    assert_near(simpower_watts(&p, S / 2), 100, 0);
    assert_near(simpower_joules(&p, 0, S / 4), 25, 1e-12);
    assert_near(simpower_joules(&p, 0, S / 2), 100, 1e-12);
    assert_near(simpower_joules(&p, S / 4, S / 2), 75, 1e-12);
    /* 0.1 s at 100 W, 0.25 s at 300 W, 0.25 s at 100 W, 0.05 s at 300 W */
    assert_near(simpower_joules(&p, S * 15 / 100, S * 80 / 100), 10 + 75 + 25 + 15, 1e-12);
}

static void sine(void **state)
{
    struct simpower p = parsed("sine:100:300:2");

    (void)state;
    assert_near(simpower_watts(&p, 0), 200, 1e-12);
    assert_near(simpower_watts(&p, S / 2), 300, 1e-12);
    assert_near(simpower_watts(&p, 3 * S / 2), 100, 1e-12);
    assert_near(simpower_joules(&p, 0, 2 * S), 400, 1e-12);
    /* 200 W * 1 s + 100 W * 2 s / (2 pi) * 2 */
    assert_near(simpower_joules(&p, 0, S), 200 + 63.661977236758134, 1e-12);
}

static void ramp(void **state)
{
    struct simpower p = parsed("ramp:0:100:4");

    (void)state;
    assert_near(simpower_watts(&p, S), 25, 1e-12);
    assert_near(simpower_watts(&p, 4 * S), 0, 1e-12);
    assert_near(simpower_joules(&p, 0, S), 12.5, 1e-12);
    assert_near(simpower_joules(&p, S, 5 * S), 200, 1e-12);
}

static void steps(void **state)
{
    struct simpower p = parsed("steps:50:450:0.1:7");
    struct simpower other = parsed("steps:50:450:0.1:8");
    double sum_j = 0;

    (void)state;
    for (int64_t i = 0; i < 1000; i++) {
        double watts = simpower_watts(&p, i * S / 10);

        assert_true(watts >= 50 && watts < 450);
        assert_near(watts, simpower_watts(&p, i * S / 10 + S / 10 - 1), 0);
        sum_j += watts * 0.1;
    }
    assert_near(simpower_joules(&p, 0, 100 * S), sum_j, 1e-8);
    /* a uniform level: the mean of 1000 is within six standard errors of the middle */
    assert_near(sum_j / 100, 250, 6 * 400 / 3.4641 / 31.6228);
    assert_true(simpower_watts(&p, 0) != simpower_watts(&other, 0));
    assert_true(simpower_watts(&p, 0) != simpower_watts(&p, S / 10));
}

static void integral_is_the_sum_of_the_watts(void **state)
{
    static const char *const texts[] = {"constant:150", "square:100:300:0.5", "sine:20:400:0.7",
                                        "ramp:10:90:0.3", "steps:50:450:0.1:3"};
    const mono_ns a = 86400 * S + 12345678, step = S / 10000;

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct simpower p = parsed(texts[i]);
        double sum_j = 0;

        for (int k = 0; k < 13000; k++)
            sum_j += simpower_watts(&p, a + k * step + step / 2) * 1e-4;
        assert_near(simpower_joules(&p, a, a + 13000 * step), sum_j, 0.15);
    }
}

static void adds_up_far_from_zero(void **state)
{
    static const char *const texts[] = {"square:100:300:0.5", "sine:20:400:0.7", "ramp:10:90:0.3",
                                        "steps:50:450:0.1:3"};
    const mono_ns a = INT64_C(9000000) * S + 987654321; /* a hundred days up */

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct simpower p = parsed(texts[i]);
        mono_ns b = a + 3 * S + 1, c = b + 77777;

        assert_near(simpower_joules(&p, a, b) + simpower_joules(&p, b, c),
                    simpower_joules(&p, a, c), 1e-9);
    }
}

static void before_the_clock_began(void **state)
{
    struct simpower p = parsed("square:100:300:0.5");

    (void)state;
    assert_near(simpower_watts(&p, -1), 300, 0);
    assert_near(simpower_joules(&p, -S / 4, S / 4), 100, 1e-12);
}

static void refuses(void **state)
{
    static const char *const texts[] = {"",
                                        "constant",
                                        "constant:",
                                        "constant:-1",
                                        "constant:nan",
                                        "constant:1:2",
                                        "square:1:2",
                                        "square:1:2:0",
                                        "square:1:2:-1",
                                        "square:1:2:x",
                                        "steps:1:2:1",
                                        "steps:1:2:1:-4",
                                        "steps:1:2:1:4:5",
                                        "saw:1:2:3"};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct simpower p = {.base_w = 42};
        struct err err = {0};

        if (simpower_parse(texts[i], &p, &err) >= 0)
            fail_msg("accepted \"%s\"", texts[i]);
        assert_true(err.text[0]);
        assert_near(p.base_w, 42, 0);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(constant),
    cmocka_unit_test(square),
    cmocka_unit_test(sine),
    cmocka_unit_test(ramp),
    cmocka_unit_test(steps),
    cmocka_unit_test(integral_is_the_sum_of_the_watts),
    cmocka_unit_test(adds_up_far_from_zero),
    cmocka_unit_test(before_the_clock_began),
    cmocka_unit_test(refuses),
};
TEST_MAIN(tests)
