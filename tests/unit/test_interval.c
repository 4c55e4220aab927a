#include "harness.h"

#include "analysis/interval.h"

/* Worked out apart from this program. */
static void known_intervals(void **state)
{
    struct interval i = interval_wilson(84, 100);

    (void)state;
    assert_near(i.value, 0.84, 1e-15);
    assert_near(i.low, 0.755797, 5e-7);
    assert_near(i.high, 0.899047, 5e-7);
    i = interval_wilson(1, 2);
    assert_near(i.low, 1 - i.high, 1e-15); /* symmetric */
    assert_near(i.low, 0.094531, 5e-7);
}

static void the_ends_are_ends(void **state)
{
    struct interval i = interval_wilson(0, 10);

    (void)state;
    assert_near(i.low, 0, 0);
    assert_near(i.high, 0.277533, 5e-7); /* z^2 / (n + z^2) */
    i = interval_wilson(10, 10);
    assert_near(i.high, 1, 0);
    assert_near(i.low, 1 - 0.277533, 5e-7);
    i = interval_wilson(0, 0);
    assert_true(isnan(i.value) && isnan(i.low) && isnan(i.high));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(known_intervals),
    cmocka_unit_test(the_ends_are_ends),
};
TEST_MAIN(tests)
