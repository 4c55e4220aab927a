#include "analysis_runs.h"

#include <errno.h>

static struct record asked(int64_t input, int64_t output, double ttft_s, double total_s, double j,
                           double w)
{
    struct record r = query("?", "", "x");

    r.tokens.input = input;
    r.tokens.output = output;
    r.tokens.total = input < 0 || output < 0 ? -1 : input + output;
    r.latency.ttft_s = ttft_s;
    r.latency.total_s = total_s;
    r.energy.gpu_j = j;
    r.gpu_w.avg = w;
    return r;
}

static double line(const struct json_doc *doc, const char *name, const char *key)
{
    return json_real(json_path(doc->root, "data", "regressions", name, key), NAN);
}

static void five_lines(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct record records[4];
    const struct json *lines;

    (void)state;
    for (int i = 0; i < 4; i++) /* 100..400 in, as many out */
        records[i] = asked(100 * (i + 1), 100 * (i + 1), 0.5 + 0.001 * 100 * (i + 1), 2 + i,
                           10 + 0.05 * 200 * (i + 1), 50 + 7 * log(200 * (i + 1)));
    write_run(records, 4, NULL);
    analyze("regression", NULL, &doc);
    lines = json_path(doc.root, "data", "regressions");
    assert_int_equal(lines->len, 5);
    assert_string_equal(lines->child->key, "input_tokens_vs_ttft");
    assert_near(number(&doc, "total_samples"), 4, 0);
    assert_near(line(&doc, "input_tokens_vs_ttft", "slope"), 0.001, 1e-12);
    assert_near(line(&doc, "input_tokens_vs_ttft", "intercept"), 0.5, 1e-12);
    assert_near(line(&doc, "total_tokens_vs_energy", "slope"), 0.05, 1e-12);
    assert_near(line(&doc, "total_tokens_vs_energy", "avg_y"), 35, 1e-12);
    assert_near(line(&doc, "total_tokens_vs_latency", "slope"), 1 / 200.0, 1e-12);
    assert_near(line(&doc, "total_tokens_vs_power_log", "slope"), 7, 1e-9);
    assert_near(line(&doc, "total_tokens_vs_power_log", "intercept"), 50, 1e-9);
    assert_near(line(&doc, "total_tokens_vs_power_log", "r2"), 1, 1e-9);
    assert_true(line(&doc, "total_tokens_vs_power", "r2") < 0.99);
    assert_true(line(&doc, "total_tokens_vs_power", "slope_se") > 0);
    assert_near(line(&doc, "total_tokens_vs_power", "count"), 4, 0);
    assert_null(json_first(json_get(doc.root, "warnings")));
}

static void zeros_are_counted(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct record records[3];

    (void)state;
    records[0] = asked(10, 10, 0.1, 1, 0, 0);
    records[1] = asked(20, 0, 0.2, 2, 5, 7);
    records[2] = asked(0, 0, 0, 0, 0, 9);
    write_run(records, 3, NULL);
    analyze("regression", NULL, &doc);
    assert_true(warns(&doc, "encountered 2 per-query energy samples equal to 0.0 in dataset"));
    assert_true(warns(&doc, "encountered 1 per-query power samples"));
    assert_true(warns(&doc, "encountered 1 TTFT samples"));
    assert_true(warns(&doc, "encountered 1 latency samples"));
    assert_true(warns(&doc, "encountered 2 completion-token samples"));
    assert_true(warns(&doc, "encountered 1 prompt-token samples"));
    assert_true(warns(&doc, "encountered 1 total-token samples"));
    /* a power of 0 is no sample, an energy of 0 is; ln(0) is not taken */
    assert_near(line(&doc, "total_tokens_vs_power", "count"), 2, 0);
    assert_near(line(&doc, "total_tokens_vs_power", "avg_y"), 8, 0);
    assert_near(line(&doc, "total_tokens_vs_energy", "count"), 3, 0);
    assert_near(line(&doc, "total_tokens_vs_power_log", "count"), 1, 0);
}

static void a_missing_side_counts_nothing(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct record records[3];

    (void)state;
    records[0] = asked(100, -1, NAN, 1, 5, NAN);
    records[1] = asked(-1, 50, NAN, 2, 10, NAN);
    records[2] = asked(-1, -1, NAN, 3, 15, NAN);
    write_run(records, 3, NULL);
    analyze("regression", NULL, &doc);
    assert_near(line(&doc, "total_tokens_vs_energy", "count"), 2, 0);
    assert_near(line(&doc, "total_tokens_vs_energy", "slope"), -0.1, 1e-12);
    /* without a power sensor it is energy over time */
    assert_near(line(&doc, "total_tokens_vs_power", "count"), 2, 0);
    assert_near(line(&doc, "total_tokens_vs_power", "avg_y"), 5, 0);
    assert_near(number(&doc, "total_samples"), 3, 0);
}

static void one_record(void **state)
{
    static const char *const yes[] = {"true", "1", "YES"}, *const no[] = {"false", "0", "off"};
    AUTO(json_doc) struct json_doc doc = {0};
    struct record r = asked(100, 50, 0.5, 2, 10, 5);

    (void)state;
    write_run(&r, 1, NULL);
    analyze("regression", NULL, &doc);
    assert_near(number(&doc, "total_samples"), 1, 0);
    assert_near(line(&doc, "total_tokens_vs_energy", "count"), 1, 0);
    assert_true(isnan(line(&doc, "total_tokens_vs_energy", "slope")));
    assert_near(line(&doc, "total_tokens_vs_energy", "avg_y"), 10, 0);
    for (int i = 0; i < 6; i++) {
        AUTO(kv_list) struct kv_list params = {0};
        const struct analysis_options o = {.params = &params};

        kv_add(&params, "skip_zeroes", i < 3 ? yes[i] : no[i - 3]);
        analyze("regression", &o, &doc);
        assert_int_equal(json_path(doc.root, "data", "regressions")->len, i < 3 ? 0 : 5);
    }
}

static void failed_queries_are_no_points(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct analysis_result result;
    const struct analysis_options o = {0};
    struct record records[2];

    (void)state;
    records[0] = asked(100, 50, 0.5, 2, 10, 5);
    records[1] = asked(100, 50, 0.5, 2, 10, 5);
    records[1].request.status = "timeout";
    write_run(records, 2, NULL);
    analyze("regression", NULL, &doc);
    assert_near(number(&doc, "total_samples"), 1, 0);
    records[0].request.status = "error";
    write_run(records, 2, NULL);
    assert_fails(analysis_run("regression", path, &o, &result, &err), ENODATA, &err,
                 "No usable metrics");
}

static const struct CMUnitTest tests[] = {
    TEST(five_lines),
    TEST(zeros_are_counted),
    TEST(a_missing_side_counts_nothing),
    TEST(one_record),
    TEST(failed_queries_are_no_points),
};
TEST_MAIN(tests)
