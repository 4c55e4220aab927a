#include "harness.h"

#include "analysis/bootstrap.h"
#include "analysis/cluster.h"

static void equal_questions_share_a_row(void **state)
{
    struct clusters c = {0};

    (void)state;
    assert_int_equal(cluster_of(&c, "a"), 0);
    assert_int_equal(cluster_of(&c, "b"), 1);
    assert_int_equal(cluster_of(&c, NULL), 2);
    assert_int_equal(cluster_of(&c, "a"), 0);
    assert_int_equal(cluster_of(&c, NULL), 3);
    assert_int_equal(cluster_of(&c, ""), 4);
    assert_int_equal(cluster_of(&c, "b"), 1);
    assert_int_equal(c.repeats, 2);
    clusters_release(&c);
}

/* Beyond the rows there are, questions share them, evenly, and equal ones still meet. */
static void more_questions_than_rows(void **state)
{
    static int load[BOOTSTRAP_ROWS_MAX];
    struct clusters c = {0}, again = {0};
    int most = 0;

    (void)state;
    for (int i = 0; i < 5 * BOOTSTRAP_ROWS_MAX; i++) {
        char text[16];
        size_t row;

        snprintf(text, sizeof(text), "q%d", i);
        row = cluster_of(&c, text);
        assert_true(row < BOOTSTRAP_ROWS_MAX);
        if (i < BOOTSTRAP_ROWS_MAX)
            assert_int_equal(row, i);
        assert_int_equal(cluster_of(&again, text), row); /* whatever the table's key is */
        load[row]++;
    }
    for (size_t i = 0; i < BOOTSTRAP_ROWS_MAX; i++)
        most = load[i] > most ? load[i] : most;
    assert_true(most < 25); /* 5 on average */
    assert_int_equal(c.repeats, 0);
    assert_true(cluster_of(&c, "q70000") == cluster_of(&c, "q70000"));
    assert_true(cluster_of(&c, NULL) < BOOTSTRAP_ROWS_MAX);
    clusters_release(&c);
    clusters_release(&again);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(equal_questions_share_a_row),
    cmocka_unit_test(more_questions_than_rows),
};
TEST_MAIN(tests)
