/*
 * harness: what every unit test needs, once.
 *
 *     #include "harness.h"
 *
 *     static void adds(void **state) { (void)state; assert_int_equal(1 + 1, 2); }
 *     static const struct CMUnitTest tests[] = {cmocka_unit_test(adds)};
 *     TEST_MAIN(tests)
 */
#ifndef IPW_TESTS_HARNESS_H
#define IPW_TESTS_HARNESS_H

/* cmocka's header needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A fallible call that must succeed; its words are shown when it does not. */
#define assert_ok(call, errp)                                    \
    do {                                                         \
        int result_ = (call);                                    \
        if (result_ < 0)                                         \
            fail_msg("%s: %d %s", #call, result_, (errp)->text); \
    } while (0)

/* A fallible call that must fail with this errno, and words that contain `part`. */
#define assert_fails(call, errno_, errp, part)                                \
    do {                                                                      \
        assert_int_equal((call), -(errno_));                                  \
        if (!strstr((errp)->text, (part)))                                    \
            fail_msg("\"%s\" does not contain \"%s\"", (errp)->text, (part)); \
    } while (0)

#define assert_near(actual, expected, tolerance)                                            \
    do {                                                                                    \
        double a_ = (actual), e_ = (expected);                                              \
        if (!(fabs(a_ - e_) <= (tolerance)))                                                \
            fail_msg("%s is %.17g, not %.17g +- %g", #actual, a_, e_, (double)(tolerance)); \
    } while (0)

/* A new empty directory below the build's or system's temporary folder; path has 64 bytes. */
static inline void make_temp_dir(char path[64])
{
    snprintf(path, 64, "/tmp/ipw-test-XXXXXX");
    if (!mkdtemp(path))
        fail_msg("mkdtemp failed");
}

#define TEST_MAIN(tests)                                  \
    int main(void)                                        \
    {                                                     \
        return cmocka_run_group_tests(tests, NULL, NULL); \
    }

#endif
