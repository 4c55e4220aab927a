#include "analysis_runs.h"

#include "analysis/tally.h"
#include "makerun.h"
#include "store/validate.h"

#include <errno.h>
#include <sys/stat.h>

static const char *text_of(const struct json_doc *doc, const char *key)
{
    return json_text(json_path(doc->root, "summary", key), "");
}

static double deep(const struct json_doc *doc, const char *a, const char *b, const char *c)
{
    return json_real(json_path(doc->root, "data", a, b, c), NAN);
}

static double energy_figure(const struct json_doc *doc, const char *kind, const char *key)
{
    return json_real(json_path(doc->root, "data", "efficiency", "m", kind, key), NAN);
}

/*
 * What the Python tool's tests ask for.
 */

static void known_figures(void **state)
{
    static const char *const known[] = {"model",
                                        "correct",
                                        "incorrect",
                                        "unevaluated",
                                        "failed",
                                        "total_scored",
                                        "accuracy",
                                        "intelligence_per_joule",
                                        "intelligence_per_watt",
                                        "avg_per_query_energy_joules",
                                        "avg_per_query_power_watts",
                                        "energy_sample_count",
                                        "power_sample_count",
                                        "energy_basis"};
    struct record records[] = {measured(1, 10, 2), measured(0, 20, 4)};
    AUTO(json_doc) struct json_doc doc = {0};
    const struct json *member;

    (void)state;
    write_run(records, 2, NULL);
    analyze("accuracy", NULL, &doc);
    member = json_first(json_get(doc.root, "summary"));
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++, member = member->next)
        assert_string_equal(member->key, known[i]);
    assert_string_equal(text_of(&doc, "model"), "m");
    assert_near(number(&doc, "accuracy"), 0.5, 0);
    assert_near(number(&doc, "intelligence_per_joule"), 1 / 30.0, 1e-15);
    assert_near(number(&doc, "intelligence_per_watt"), 0.1, 1e-15);
    assert_near(number(&doc, "avg_per_query_energy_joules"), 15, 0);
    assert_near(number(&doc, "avg_per_query_power_watts"), 5, 0);
    assert_near(number(&doc, "joules_per_correct"), 30, 0);
    assert_near(number(&doc, "energy_sample_count"), 2, 0);
    assert_string_equal(text_of(&doc, "energy_basis"), "gpu");
    assert_near(energy_figure(&doc, "power", "derived_power_samples"), 2, 0);
    assert_near(energy_figure(&doc, "power", "power_metric_samples"), 0, 0);
    assert_near(energy_figure(&doc, "energy", "median"), 15, 0);
    assert_near(energy_figure(&doc, "energy", "total"), 30, 0);
    assert_near(energy_figure(&doc, "energy", "accuracy"), 0.5, 0);
    assert_near(deep(&doc, "per_model", "m", "accuracy"), 0.5, 0);
    assert_near(number(&doc, "newly_scored"), 0, 0);
}

static void power_without_energy(void **state)
{
    struct record records[] = {measured(1, NAN, 2), measured(0, NAN, 4)};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    records[0].gpu_w.avg = records[1].gpu_w.avg = 5;
    write_run(records, 2, NULL);
    analyze("accuracy", NULL, &doc);
    assert_true(isnan(number(&doc, "intelligence_per_joule")));
    assert_true(isnan(number(&doc, "joules_per_correct")));
    assert_near(number(&doc, "energy_sample_count"), 0, 0);
    assert_near(number(&doc, "intelligence_per_watt"), 0.1, 1e-15);
    assert_near(energy_figure(&doc, "power", "power_metric_samples"), 2, 0);
    assert_true(warns(&doc, "No per-query energy measurements"));
    assert_string_equal(text_of(&doc, "energy_source"), "none");
}

static void some_rows_without_energy(void **state)
{
    struct record records[] = {measured(1, 10, 2), measured(0, NAN, NAN)};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    write_run(records, 2, NULL);
    analyze("accuracy", NULL, &doc);
    assert_near(number(&doc, "intelligence_per_joule"), 0.5 / 10, 1e-15);
    assert_near(number(&doc, "intelligence_per_watt"), 0.5 / 5, 1e-15);
    assert_true(warns(&doc, "Energy is known for only 1 of 2 queries"));
}

static void zero_energy_is_imputed(void **state)
{
    struct record records[] = {measured(1, 0, 2), measured(0, 10, 2)};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    records[0].gpu_w.avg = 4;
    write_run(records, 2, NULL);
    analyze("accuracy", NULL, &doc);
    assert_near(number(&doc, "avg_per_query_energy_joules"), 9, 0);
    assert_near(number(&doc, "intelligence_per_joule"), 0.5 / 9, 1e-15);
    assert_near(number(&doc, "intelligence_per_watt"), 0.5 / 4.5, 1e-15);
    assert_near(energy_figure(&doc, "energy", "imputed_from_power"), 8, 0);
    assert_near(energy_figure(&doc, "energy", "imputed_count"), 1, 0);
    assert_near(energy_figure(&doc, "energy", "zero_values"), 1, 0);
    assert_true(warns(&doc, "Imputed energy"));
    records[0].gpu_w.avg = NAN;
    write_run(records, 2, NULL);
    analyze("accuracy", NULL, &doc);
    assert_true(warns(&doc, "Ignored 1 energies of 0 J"));
    assert_near(number(&doc, "intelligence_per_joule"), 0.05, 1e-15);
}

static void rails_that_differ(void **state)
{
    struct record records[] = {measured(1, 10, 2), measured(1, 12, 2)};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    records[1].energy.basis = "soc";
    records[1].energy.soc_j = 240;
    records[1].soc_w.avg = 120;
    write_run(records, 2, NULL);
    analyze("accuracy", NULL, &doc);
    assert_string_equal(text_of(&doc, "energy_basis"), "mixed");
    assert_near(number(&doc, "avg_per_query_energy_joules"), 125, 0);
    assert_true(warns(&doc, "different rails"));
}

/* The audit of runs whose telemetry was cut off. */
static void energy_far_below_power_times_time(void **state)
{
    struct record records[] = {measured(1, 3000, 120), measured(1, 3000, 30)};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    records[0].gpu_w.avg = records[1].gpu_w.avg = 100;
    write_run(records, 2, NULL);
    analyze("accuracy", NULL, &doc);
    assert_true(warns(&doc, "1 queries have less than half the energy"));
}

/*
 * Ours.
 */

static void failed_and_unscorable_are_counted_apart(void **state)
{
    struct record records[] = {measured(1, 10, 2),  measured(0, 10, 2),  measured(-1, 10, 2),
                               measured(-1, 10, 2), measured(-1, 60, 2), measured(-1, 10, 2)};
    AUTO(json_doc) struct json_doc doc = {0};

    (void)state;
    records[2].evaluation.metadata = "{\"unscorable\":true}"; /* found so */
    records[2].evaluation.scorer = "exact";
    records[3].evaluation.metadata =
        "{\"evaluation_failed\":true,\"evaluation_attempts\":3,\"scorer\":\"judge\"}";
    records[4].request.status = "error";
    records[4].response = NULL;
    write_run(records, 6, NULL); /* the last one names no scorer */
    analyze("accuracy", NULL, &doc);
    assert_near(number(&doc, "total_queries"), 6, 0);
    assert_near(number(&doc, "total_scored"), 2, 0);
    assert_near(number(&doc, "accuracy"), 0.5, 0);
    assert_near(number(&doc, "unevaluated"), 2, 0);
    assert_near(number(&doc, "unscorable"), 1, 0);
    assert_near(number(&doc, "unscored"), 1, 0);
    assert_near(number(&doc, "failed"), 2, 0);
    assert_near(number(&doc, "failed_queries"), 1, 0);
    assert_near(number(&doc, "failed_evaluations"), 1, 0);
    /* the failed query's 60 J are in no average, but they were spent */
    assert_near(number(&doc, "avg_per_query_energy_joules"), 10, 0);
    assert_near(number(&doc, "intelligence_per_joule"), 0.05, 1e-15);
    assert_near(number(&doc, "joules_per_correct"), 110, 0);
    assert_near(number(&doc, "failed_query_joules"), 60, 0);
    assert_true(warns(&doc, "1 answers are not scored: nothing says how (--scorer"));
    assert_true(warns(&doc, "1 answers cannot be scored"));
    assert_true(warns(&doc, "1 evaluations failed"));
    assert_true(warns(&doc, "1 of 6 queries failed"));
}

/* The scorer of the question, of the record, of the run, of the command line. */
static void scored_as_the_records_say(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0}, own = {0}, level = {0};
    struct record records[] = {query("1", "4", "It is 4."), query("2", "4", "5"),
                               query("3", "yes", "Yes"),    query("4", "4", NULL),
                               query("5", "", "4"),         query("6", "4.01", "4")};
    struct analysis_options o = {0};
    struct validation v;

    (void)state;
    set_metadata(&records[0], &own, "{\"scorer\":\"numeric\",\"difficulty\":\"easy\"}");
    set_metadata(&records[1], &level, "{\"level\":3}");
    records[2].evaluation.scorer = "exact";
    records[5].evaluation.scorer = "numeric:0.1";
    records[0].subject = "arithmetic";
    write_run(records, 6, "{\"profiler_config\":{\"scorer\":\"numeric\"}}");
    analyze("accuracy", NULL, &doc);
    assert_near(number(&doc, "correct"), 3, 0);
    assert_near(number(&doc, "incorrect"), 2, 0); /* silence is wrong */
    assert_near(number(&doc, "unscorable"), 1, 0);
    assert_near(number(&doc, "newly_scored"), 6, 0);
    assert_near(deep(&doc, "by_subject", "arithmetic", "correct"), 1, 0);
    assert_near(deep(&doc, "by_subject", "general", "total_scored"), 4, 0);
    assert_near(deep(&doc, "by_difficulty", "easy", "accuracy"), 1, 0);
    assert_near(deep(&doc, "by_difficulty", "3", "accuracy"), 0, 0);

    /* it is in the records now, and not done again: not even what is unscorable */
    analyze("accuracy", NULL, &doc);
    assert_near(number(&doc, "newly_scored"), 0, 0);
    assert_near(number(&doc, "correct"), 3, 0);
    assert_near(number(&doc, "unscorable"), 1, 0);
    validate_run(path, &v);
    for (size_t i = 0; i < v.n; i++)
        if (v.findings[i].fatal)
            assert_non_null(strstr(v.findings[i].text, "summary.json"));
    validation_release(&v);

    /* another scorer for all */
    o = (struct analysis_options){.scorer = "contains", .rescore = true};
    analyze("accuracy", &o, &doc);
    assert_near(number(&doc, "correct"), 2, 0); /* the first, and "Yes"; 4.01 is not in 4 */
    o.scorer = "nummeric";
    {
        struct analysis_result result;

        assert_fails(analysis_run("accuracy", path, &o, &result, &err), ENOENT, &err, "numeric");
    }
}

static void the_stored_evaluation(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_PTR(run) struct run *run = NULL;
    struct record records[] = {query("1", "4", "It is 4."), query("2", "", "5")};
    const struct analysis_options o = {.scorer = "numeric"};
    const struct record *r;

    (void)state;
    write_run(records, 2, NULL);
    analyze("accuracy", &o, &doc);
    assert_ok(run_open(path, &run, &err), &err);
    assert_int_equal(run_next(run, &r, &err), 1);
    assert_int_equal(r->correct, 1);
    assert_string_equal(r->evaluation.scorer, "numeric");
    assert_string_equal(r->evaluation.metadata, "{\"extracted\":\"4\",\"unscorable\":false}");
    assert_int_equal(run_next(run, &r, &err), 1);
    assert_int_equal(r->correct, -1);
    assert_string_equal(r->evaluation.scorer, "numeric");
    assert_non_null(strstr(r->evaluation.metadata, "\"unscorable\":true"));
    /* and as it is listed */
    assert_string_equal(
        json_text(json_get(json_path(doc.root, "data", "records", "m")->child, "reference_answer"),
                  ""),
        "4");
}

/* Nothing new: the files are not touched. */
static void scoring_again_changes_nothing(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_FREE char *shard = xasprintf("%s/data-00000-of-00001.arrow", path);
    struct record records[] = {query("1", "4", "4"), query("2", "4", "5")};
    const struct analysis_options o = {.scorer = "numeric", .rescore = true};
    struct stat was, is;

    (void)state;
    write_run(records, 2, NULL);
    analyze("accuracy", &o, &doc);
    assert_int_equal(stat(shard, &was), 0);
    analyze("accuracy", &o, &doc);
    assert_near(number(&doc, "newly_scored"), 0, 0);
    assert_near(number(&doc, "correct"), 1, 0);
    assert_int_equal(stat(shard, &is), 0);
    assert_int_equal(was.st_ino, is.st_ino);
}

static void scorers_that_are_not_there(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct record records[] = {query("1", "4", "4"), query("2", "4", "4")};

    (void)state;
    records[0].evaluation.scorer = "of-the-future";
    records[1].evaluation.scorer = "numeric:x";
    write_run(records, 2, NULL);
    analyze("accuracy", NULL, &doc);
    assert_near(number(&doc, "unscored"), 2, 0);
    assert_true(warns(&doc, "2 answers are not scored: unknown scorer 'of-the-future'"));
}

/* A hfwriter_put_fn. */
static void put_json(void *row, struct arrow_builder *b)
{
    arrow_put_json_row(b, row);
}

/* A run of two equal rows that ours would never have written. */
static void write_foreign(const char *row)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO(json_doc) struct json_doc doc = {0};
    struct hfwriter *w = NULL;
    AUTO_FD int fd = -1;

    assert_ok(json_doc_parse(&doc, row, strlen(row), &err), &err);
    arrow_schema_init(&schema);
    assert_ok(arrow_infer_add(&schema.root, doc.root, &err), &err);
    assert_ok(fs_mkdirs(path, &err), &err);
    fd = fs_open_dir(AT_FDCWD, path, &err);
    assert_ok(hfwriter_create(fd, &schema, &w, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(hfwriter_append(w, put_json, doc.root, 0, &err), &err);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
}

/* Where the run cannot be changed, its answers are scored all the same. */
static void a_run_that_cannot_be_written(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    const struct analysis_options o = {.scorer = "numeric"};

    (void)state;
    write_foreign("{\"problem\":\"?\",\"answer\":\"4\",\"model_metrics\":{\"m\":{\"lm_correctness\""
                  ":\"as text\",\"lm_response\":\"It is 4.\"}}}");
    for (int i = 0; i < 2; i++) {
        analyze("accuracy", &o, &doc);
        assert_near(number(&doc, "accuracy"), 1, 0);
        assert_near(number(&doc, "newly_scored"), 2, 0);
        assert_true(warns(&doc, "could not be written back: column lm_correctness is string"));
    }
}

static void another_process_is_at_it(void **state)
{
    struct record r = query("1", "4", "4");
    const struct analysis_options o = {.scorer = "numeric"};
    struct analysis_result result;
    int fd;

    (void)state;
    write_run(&r, 1, NULL);
    fd = rundir_lock(path, &err);
    assert_true(fd >= 0);
    assert_fails(analysis_run("accuracy", path, &o, &result, &err), EBUSY, &err, "another ipw");
    close(fd);
}

/* The same figures as the run's own summary, by the one definition. */
static void agrees_with_the_tally(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_PTR(run) struct run *run = NULL;
    struct makerun m = makerun_default();
    struct makerun_truth truth;
    struct tally_efficiency e;
    struct tally t = {0};
    const struct record *r;
    const struct json *interval;

    (void)state;
    m.records = 400;
    m.unscorable_fraction = 0.1;
    m.failed_fraction = 0.1;
    assert_ok(makerun(&m, path, &truth, &err), &err);
    analyze("accuracy", NULL, &doc);
    assert_ok(run_open(path, &run, &err), &err);
    while (run_next(run, &r, &err) > 0)
        tally_add(&t, r);
    tally_efficiency(&t, &e);
    assert_near(number(&doc, "accuracy"), e.accuracy, 0);
    assert_near(number(&doc, "intelligence_per_joule"), e.ipj, 1e-12 * e.ipj);
    assert_near(number(&doc, "intelligence_per_watt"), e.ipw, 1e-12 * e.ipw);
    assert_near(number(&doc, "joules_per_correct"), e.j_per_correct, 1e-12 * e.j_per_correct);
    assert_near(number(&doc, "avg_per_query_energy_joules"), truth.mean_j, 1e-9);
    assert_near(number(&doc, "avg_per_query_power_watts"), truth.mean_w, 1e-9);
    assert_near(number(&doc, "correct"), (double)truth.correct, 0);
    assert_near(number(&doc, "failed_queries"), (double)truth.failed, 0);
    assert_string_equal(text_of(&doc, "energy_basis"), "gpu+cpu");
    assert_string_equal(text_of(&doc, "energy_source"), "measured");
    interval = json_path(doc.root, "summary", "intelligence_per_joule_interval");
    assert_true(json_real(interval->child, 0) < e.ipj);
    assert_true(json_real(interval->child->next, 0) > e.ipj);
    interval = json_path(doc.root, "summary", "accuracy_interval");
    assert_near(json_real(interval->child, 0), e.accuracy, 0.06);
    assert_true(json_real(interval->child, 0) < e.accuracy);
    tally_release(&t);
}

static void estimated_is_said(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct makerun m = makerun_default();

    (void)state;
    m.records = 20;
    m.energy_source = "estimated";
    assert_ok(makerun(&m, path, NULL, &err), &err);
    analyze("accuracy", NULL, &doc);
    assert_string_equal(text_of(&doc, "energy_source"), "estimated");
    assert_true(warns(&doc, "Energy is estimated, not measured, for 20 of 20"));
}

/* The first are listed, the rest is counted; a question asked again is no new evidence. */
static void long_runs(void **state)
{
    enum { N = 2500 };
    AUTO(json_doc) struct json_doc doc = {0};
    struct record *records = xcalloc(N, sizeof(*records));
    const struct json *list;

    (void)state;
    for (int i = 0; i < N; i++) {
        records[i] = measured(i % 5 < 3, 10 + i % 5, 2);
        records[i].problem = i % 5 == 0 ? "a" : i % 5 == 1 ? "b" : i % 5 == 2 ? "c" : "d";
    }
    write_run(records, N, NULL);
    free(records);
    analyze("accuracy", NULL, &doc);
    list = json_path(doc.root, "data", "records", "m");
    assert_int_equal(list->len, 1000);
    assert_near(json_real(json_path(doc.root, "data", "records_left_out"), 0), N - 1000, 0);
    assert_near(number(&doc, "accuracy"), 0.6, 0);
    assert_true(warns(&doc, "2496 queries repeat a question"));
    assert_true(warns(&doc, "4 questions are few"));
}

static void hostile_texts(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct makerun m = makerun_default();

    (void)state;
    m.records = 50;
    m.accuracy = NAN;
    makerun_set_hostile(&m);
    assert_ok(makerun(&m, path, NULL, &err), &err);
    analyze("accuracy", &(struct analysis_options){.scorer = "exact"}, &doc);
    assert_near(number(&doc, "total_queries"), 50, 0);
    assert_near(number(&doc, "newly_scored"), 50, 0);
}

/*
 * Options and runs that are not what they should be.
 */

static void options_are_checked(void **state)
{
    struct record r = measured(1, 10, 2);
    AUTO(json_doc) struct json_doc doc = {0};
    struct analysis_result result;

    (void)state;
    write_run(&r, 1, NULL);
    {
        AUTO(kv_list) struct kv_list params = {0};
        const struct analysis_options o = {.params = &params};

        kv_add(&params, "model", "m");
        analyze("accuracy", &o, &doc);
        kv_add(&params, "model", "x");
        assert_fails(analysis_run("accuracy", path, &o, &result, &err), EINVAL, &err,
                     "model 'x' is not in");
        assert_non_null(strstr(err.text, "there are: m"));
        kv_add(&params, "modle", "x");
        assert_fails(analysis_run("accuracy", path, &o, &result, &err), EINVAL, &err,
                     "did you mean 'model'?");
    }
    {
        AUTO(kv_list) struct kv_list params = {0};
        const struct analysis_options o = {.params = &params};

        kv_add(&params, "model", "m,skip_zeroes=true"); /* as the Python tool takes them */
        analyze("regression", &o, &doc);
        assert_int_equal(json_path(doc.root, "data", "regressions")->len, 0);
        kv_add(&params, "skip_zeroes", "maybe");
        assert_fails(analysis_run("regression", path, &o, &result, &err), EINVAL, &err, "maybe");
    }
    assert_fails(analysis_run("acuracy", path, &(struct analysis_options){0}, &result, &err),
                 ENOENT, &err, "did you mean 'accuracy'?");
    assert_int_equal(
        analysis_run("accuracy", "/nonexistent", &(struct analysis_options){0}, &result, &err),
        -ENOENT);
    write_run(&r, 0, NULL);
    assert_fails(analysis_run("accuracy", path, &(struct analysis_options){0}, &result, &err),
                 ENODATA, &err, "no records");
}

static void several_models(void **state)
{
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO(kv_list) struct kv_list params = {0};
    const struct analysis_options o = {.params = &params};
    struct analysis_result result;

    (void)state;
    write_foreign(
        "{\"problem\":\"?\",\"model_metrics\":{\"a\":{\"token_metrics\":{\"total\":5}},"
        "\"b\":{\"token_metrics\":{\"total\":7},\"latency_metrics\":{\"total_query_seconds\":2},"
        "\"lm_response\":\"x\"}}}");
    assert_fails(analysis_run("regression", path, &o, &result, &err), EINVAL, &err,
                 "several models (a, b)");
    kv_add(&params, "model", "b");
    analyze("regression", &o, &doc);
    assert_near(number(&doc, "total_samples"), 2, 0);
    assert_near(
        json_real(json_path(doc.root, "data", "regressions", "total_tokens_vs_latency", "avg_y"),
                  0),
        2, 0);
}

static const struct CMUnitTest tests[] = {
    TEST(known_figures),
    TEST(power_without_energy),
    TEST(some_rows_without_energy),
    TEST(zero_energy_is_imputed),
    TEST(rails_that_differ),
    TEST(energy_far_below_power_times_time),
    TEST(failed_and_unscorable_are_counted_apart),
    TEST(scored_as_the_records_say),
    TEST(the_stored_evaluation),
    TEST(scoring_again_changes_nothing),
    TEST(scorers_that_are_not_there),
    TEST(a_run_that_cannot_be_written),
    TEST(another_process_is_at_it),
    TEST(agrees_with_the_tally),
    TEST(estimated_is_said),
    TEST(long_runs),
    TEST(hostile_texts),
    TEST(options_are_checked),
    TEST(several_models),
};
TEST_MAIN(tests)
