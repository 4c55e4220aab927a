#include "analysis_runs.h"

#include "base/rng.h"

#include <errno.h>

static struct record records[300];

/* Queries that differ, with 0.02 J a prompt token, 0.5 J an output token and 30 W beside them. */
static void make_records(double noise_j, bool tied)
{
    struct rng r = rng_seed(5, 0);

    for (int i = 0; i < 300; i++) {
        struct record *q = &records[i];
        int64_t cached = i % 3 == 0 ? 40 : 0;
        double output = 1 + (double)rng_below(&r, 200);

        *q = query("?", "", "x");
        q->tokens.input = 100 + (int64_t)rng_below(&r, 900);
        q->tokens.output = (int64_t)output;
        q->request.cached_tokens = cached;
        q->latency.total_s = tied ? output * 0.02 : output * 0.02 + rng_uniform(&r);
        q->energy.basis = "gpu";
        q->measurement.energy_source = "measured";
        q->energy.gpu_j = 0.02 * (double)(q->tokens.input - cached) + 0.5 * output +
                          30 * q->latency.total_s + noise_j * rng_normal(&r);
    }
}

static double term(const struct json_doc *doc, const char *name, const char *key)
{
    return json_real(json_path(doc->root, "data", "coefficients", name, key), NAN);
}

static void shares_are_found(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    make_records(1, false);
    records[7].request.status = "error"; /* enters nothing */
    records[7].energy.gpu_j = 1e6;
    records[8].tokens.output = -1;
    write_run(records, 300, NULL);
    analyze("phases", NULL, &doc);
    assert_near(number(&doc, "total_samples"), 298, 0);
    assert_true(warns(&doc, "1 queries are left out"));
    assert_near(term(&doc, "prefill_joules_per_token", "estimate"), 0.02,
                3 * term(&doc, "prefill_joules_per_token", "se"));
    assert_near(term(&doc, "prefill_joules_per_token", "se"), 0.00015, 0.0001);
    assert_near(term(&doc, "decode_joules_per_token", "estimate"), 0.5,
                3 * term(&doc, "decode_joules_per_token", "se"));
    assert_near(term(&doc, "static_watts", "estimate"), 30, 3 * term(&doc, "static_watts", "se"));
    assert_near(json_real(json_path(doc.root, "data", "residual_sd_joules"), 0), 1, 0.15);
    assert_near(number(&doc, "prefill_share") + number(&doc, "decode_share") +
                    number(&doc, "static_share"),
                1, 1e-3);
    assert_true(number(&doc, "r2") > 0.99);
}

static void what_cannot_be_told_apart_is_refused(void **state)
{
    const struct analysis_options o = {0};
    struct analysis_result result;
    AUTO_FREE char *artifact = xasprintf("%s/analysis/phases.json", path);

    (void)state;
    make_records(1, true); /* time follows from the output tokens */
    write_run(records, 300, NULL);
    assert_fails(analysis_run("phases", path, &o, &result, &err), EDOM, &err,
                 "output tokens and time rise and fall together");
    assert_false(fs_exists(AT_FDCWD, artifact));
    write_run(records, 5, NULL);
    assert_fails(analysis_run("phases", path, &o, &result, &err), EDOM, &err, "too few");
    for (int i = 0; i < 300; i++)
        records[i].energy.gpu_j = NAN;
    write_run(records, 300, NULL);
    assert_fails(analysis_run("phases", path, &o, &result, &err), ENODATA, &err,
                 "no query has tokens, time and energy");
}

static void nothing_is_negative(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    make_records(0, false);
    for (int i = 0; i < 300; i++) { /* as if a second saved energy */
        records[i].energy.gpu_j -= 31 * records[i].latency.total_s;
        records[i].measurement.energy_source = "estimated";
    }
    write_run(records, 300, NULL);
    analyze("phases", NULL, &doc);
    assert_near(term(&doc, "static_watts", "estimate"), 0, 0);
    assert_true(isnan(term(&doc, "static_watts", "se")));
    assert_true(
        json_bool(json_path(doc.root, "data", "coefficients", "static_watts", "at_bound"), false));
    assert_true(warns(&doc, "time: no share above 0"));
    assert_true(warns(&doc, "estimated, not measured, for 300 of 300"));
}

static const struct CMUnitTest tests[] = {
    TEST(shares_are_found),
    TEST(what_cannot_be_told_apart_is_refused),
    TEST(nothing_is_negative),
};
TEST_MAIN(tests)
