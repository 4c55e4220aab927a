/* The line that shows how a run is getting on: what it says, what it leaves out, how it is cut. */
#include "harness.h"

#include "cli/progress.h"

static const char *line(struct profile_progress p, int columns)
{
    static char text[256];

    memset(text, '#', sizeof(text));
    progress_format(&p, columns, text, sizeof(text));
    return text;
}

/* Nothing known but the number of questions. */
static struct profile_progress fresh(void)
{
    return (struct profile_progress){
        .total = 40, .duration_s = NAN, .watts = NAN, .joules_per_token = NAN, .eta_s = NAN};
}

static void what_is_not_known_is_left_out(void **state)
{
    (void)state;
    assert_string_equal(line(fresh(), 0), "0/40  0.00 q/s");
}

static void everything(void **state)
{
    struct profile_progress p = {.done = 12,
                                 .total = 40,
                                 .failed = 2,
                                 .in_flight = 8,
                                 .queries_per_s = 1.5,
                                 .tokens_per_s = 123.45,
                                 .watts = 250.06,
                                 .joules_per_token = 0.123456,
                                 .eta_s = 20};

    (void)state;
    assert_string_equal(line(p, 0), "12/40  2 FAILED  1.50 q/s  123.5 tok/s  250.1 W"
                                    "  0.1235 J/tok  8 in flight  ETA 20 s");
    p.estimated = true;
    p.in_flight = 1; /* one at a time goes without saying */
    p.failed = 0;
    assert_string_equal(line(p, 0), "12/40  1.50 q/s  123.5 tok/s  250.1 W (estimated)"
                                    "  0.1235 J/tok  ETA 20 s");
}

static void without_an_end_in_queries(void **state)
{
    struct profile_progress p = fresh();

    (void)state;
    p.total = -1;
    p.done = 7;
    p.eta_s = 90;
    assert_string_equal(line(p, 0), "7 done  0.00 q/s  ETA 90 s");
    p.eta_s = 0;
    assert_string_equal(line(p, 0), "7 done  0.00 q/s");
}

/* One column stays free: a cursor behind the last one would begin a new line. */
static void cut_to_the_screen(void **state)
{
    (void)state;
    assert_string_equal(line(fresh(), 10), "0/40  0.0");
    assert_string_equal(line(fresh(), 14), "0/40  0.00 q/");
    assert_string_equal(line(fresh(), 15), "0/40  0.00 q/s");
    assert_string_equal(line(fresh(), 1), "");
}

/* As much as there is room for, and never more. */
static void cut_to_the_buffer(void **state)
{
    struct profile_progress p = fresh();
    char text[16];

    (void)state;
    p.done = p.total = INT64_MAX;
    p.queries_per_s = 1e300;
    memset(text, '#', sizeof(text));
    progress_format(&p, 0, text, 8);
    assert_string_equal(text, "9223372");
    assert_true(text[8] == '#');
    progress_format(&p, 80, text, sizeof(text));
    assert_string_equal(text, "922337203685477");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(what_is_not_known_is_left_out),
    cmocka_unit_test(everything),
    cmocka_unit_test(without_an_end_in_queries),
    cmocka_unit_test(cut_to_the_screen),
    cmocka_unit_test(cut_to_the_buffer),
};
TEST_MAIN(tests)
