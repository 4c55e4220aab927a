#include "harness.h"

#include "analysis/contender.h"
#include "analysis/run.h"
#include "base/alloc.h"
#include "base/checksum.h"
#include "base/fs.h"
#include "makerun.h"

#include <errno.h>
#include <fcntl.h>

static char base[64];
static struct err err;

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(base);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, &err);
}

static struct record answered(const char *problem)
{
    struct record r;

    record_init(&r);
    r.problem = problem;
    r.response = "yes";
    r.request.status = "ok";
    r.measurement.energy_source = "measured";
    r.energy.basis = "gpu";
    return r;
}

static const struct question *question_called(const struct contender *c, const char *text)
{
    return contender_find(c, checksum64(text, strlen(text)));
}

static void a_question_counts_once_with_its_mean(void **state)
{
    AUTO_PTR(contender) struct contender *c = contender_new("d");
    struct record r = answered("q1");
    const struct question *q;

    (void)state;
    r.energy.gpu_j = 10;
    r.latency.total_s = 2;
    r.latency.ttft_s = 0.5;
    r.latency.throughput_tps = 40;
    r.tokens.output = 100;
    r.correct = 1;
    contender_add(c, &r);
    r.energy.gpu_j = 30;
    r.latency.total_s = 3;
    r.tokens.output = -1; /* not known: this answer's joules are not joules per token */
    r.correct = 0;
    contender_add(c, &r);
    r = answered("q2");
    contender_add(c, &r);
    assert_int_equal(c->n_questions, 2);
    assert_int_equal(c->records, 3);
    assert_int_equal(c->unscored, 1);
    q = question_called(c, "q1");
    assert_ptr_equal(q, &c->questions[0]);
    assert_true(question_mean(q, VALUE_CORRECT) == 0.5);
    assert_true(question_mean(q, VALUE_JOULES) == 20);
    assert_true(question_mean(q, VALUE_TOKEN_JOULES) == 10);
    assert_true(question_mean(q, VALUE_TOKENS) == 100);
    assert_true(question_mean(q, VALUE_SECONDS) == 2.5);
    assert_true(question_mean(q, VALUE_TTFT_S) == 0.5);
    assert_true(question_mean(q, VALUE_TOKENS_PER_S) == 40);
    assert_true(question_mean(q, VALUE_WATTS) == 7.5);
    q = question_called(c, "q2");
    for (int v = 0; v < VALUE_COUNT; v++)
        assert_true(isnan(question_mean(q, (enum contender_value)v)));
    assert_null(question_called(c, "q3"));
}

static void failures_are_counted_only(void **state)
{
    AUTO_PTR(contender) struct contender *c = contender_new("d");
    struct record r = answered("q");

    (void)state;
    r.energy.gpu_j = 10;
    r.correct = 0;
    r.request.status = "timeout";
    contender_add(c, &r);
    assert_int_equal(c->failed, 1);
    assert_int_equal(c->n_questions, 1);
    assert_true(isnan(question_mean(&c->questions[0], VALUE_JOULES)));
    assert_true(isnan(question_mean(&c->questions[0], VALUE_CORRECT)));
    assert_string_equal(contender_energy(c), "none");
}

static void questions_without_text_are_never_the_same(void **state)
{
    AUTO_PTR(contender) struct contender *c = contender_new("d");
    struct record r = answered(NULL);

    (void)state;
    contender_add(c, &r);
    r.problem = "";
    contender_add(c, &r);
    contender_add(c, &r);
    assert_int_equal(c->n_questions, 3);
    assert_false(c->questions[0].named || c->questions[1].named || c->questions[2].named);
    assert_null(contender_find(c, 0));
}

static void energy_of_invalid_records(void **state)
{
    AUTO_PTR(contender) struct contender *sound = contender_new("d");
    AUTO_PTR(contender) struct contender *invalid = contender_new("d");
    AUTO(json_doc) struct json_doc doc = {0};
    static const char summary[] = "{\"validity\": {\"verdict\": \"invalid\"}}";
    struct record r = answered("q");

    (void)state;
    assert_ok(json_doc_parse(&doc, summary, strlen(summary), &err), &err);
    contender_describe(invalid, "m", doc.root);
    r.energy.gpu_j = 10;
    r.latency.total_s = 1;
    r.measurement.validity = VALIDITY_INVALID;
    contender_add(sound, &r);
    contender_add(invalid, &r);
    assert_false(contender_invalid(sound));
    assert_true(contender_invalid(invalid));
    assert_true(isnan(question_mean(&sound->questions[0], VALUE_JOULES)));
    assert_true(question_mean(&sound->questions[0], VALUE_SECONDS) == 1);
    assert_true(question_mean(&invalid->questions[0], VALUE_JOULES) == 10);
    assert_int_equal(sound->invalid, 1);
    assert_int_equal(invalid->invalid, 1);
}

static void sources_and_bases(void **state)
{
    AUTO_PTR(contender) struct contender *c = contender_new("d");
    struct record r = answered("q");

    (void)state;
    assert_string_equal(contender_energy(c), "none");
    r.energy.gpu_j = r.energy.cpu_j = 10;
    r.measurement.energy_source = NULL;
    contender_add(c, &r);
    assert_string_equal(contender_energy(c), "unstated");
    r.measurement.energy_source = "measured";
    contender_add(c, &r);
    assert_string_equal(contender_energy(c), "measured");
    assert_string_equal(c->basis, "gpu");
    r.measurement.energy_source = "estimated";
    r.energy.basis = "cpu";
    contender_add(c, &r);
    assert_string_equal(contender_energy(c), "estimated");
    assert_string_equal(c->basis, "mixed");
    contender_add(c, &r);
    assert_string_equal(c->basis, "mixed");
}

static void describes_by_the_summary(void **state)
{
    AUTO_PTR(contender) struct contender *c = contender_new("d");
    AUTO(json_doc) struct json_doc doc = {0};
    static const char first[] =
        "{\"dataset\": \"jsonl\", \"dataset_name\": \"x.jsonl\", \"hardware_label\": \"H\","
        " \"gpu_info\": {\"name\": \"G\"}, \"system_info\": {\"cpu_brand\": \"C\"},"
        " \"load\": {\"mode\": \"open\", \"concurrency\": 4, \"requested_rate\": 2.5},"
        " \"validity\": {\"verdict\": \"degraded\"}}";
    static const char second[] =
        "{\"hardware_label\": \"other\", \"gpu_info\": null,"
        " \"load\": {\"mode\": 3}, \"validity\": {\"verdict\": \"valid\"}}";

    (void)state;
    assert_ok(json_doc_parse(&doc, first, strlen(first), &err), &err);
    contender_describe(c, "m", doc.root);
    assert_ok(json_doc_parse(&doc, second, strlen(second), &err), &err);
    contender_describe(c, "other", doc.root);
    assert_string_equal(c->model, "m");
    assert_string_equal(c->dataset, "jsonl (x.jsonl)");
    assert_string_equal(c->hardware, "H");
    assert_string_equal(c->gpu, "G");
    assert_string_equal(c->cpu, "C");
    assert_string_equal(c->load_mode, "open");
    assert_int_equal(c->concurrency, 4);
    assert_true(c->rate == 2.5);
    assert_string_equal(c->verdict, "degraded");
    assert_int_equal(c->n_runs, 2);
}

static void long_words_are_cut_between_characters(void **state)
{
    AUTO_PTR(contender) struct contender *c = contender_new("d");
    char name[303] = "";

    (void)state;
    for (int i = 0; i < 100; i++)
        memcpy(name + 1 + 3 * i, "\xE2\x82\xAC", 4); /* a, then euro signs */
    name[0] = 'a';
    contender_describe(c, name, NULL);
    assert_int_equal(strlen(c->model), 118);
    assert_memory_equal(c->model, name, 118);
}

static void many_questions_are_found_again(void **state)
{
    AUTO_PTR(contender) struct contender *c = contender_new("d");
    char text[32];

    (void)state;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 5000; i++) {
            struct record r;

            snprintf(text, sizeof(text), "question %d", i);
            r = answered(text);
            r.latency.total_s = i;
            contender_add(c, &r);
        }
    assert_int_equal(c->n_questions, 5000);
    for (int i = 0; i < 5000; i += 7) {
        snprintf(text, sizeof(text), "question %d", i);
        assert_true(question_mean(question_called(c, text), VALUE_SECONDS) == i);
    }
}

static void make(const char *name, uint64_t seed, int64_t records)
{
    AUTO_FREE char *dir = xasprintf("%s/%s", base, name);
    struct makerun m = makerun_default();

    m.seed = seed;
    m.records = records;
    m.telemetry_s = 0;
    assert_ok(makerun(&m, dir, NULL, &err), &err);
}

static void reads_a_run_and_its_repeats(void **state)
{
    AUTO_PTR(contender) struct contender *one = NULL;
    AUTO_PTR(contender) struct contender *all = NULL;
    AUTO_FREE char *dir = xasprintf("%s/run", base), *slash = xasprintf("%s/", dir);

    (void)state;
    make("run", 1, 20);
    make("run_r2", 2, 20);
    make("run_r3", 3, 20);
    make("run_r5", 5, 20); /* behind a hole: not of this family any more */
    assert_ok(contender_read(slash, false, &one, &err), &err);
    assert_int_equal(one->n_runs, 1);
    assert_int_equal(one->records, 20);
    assert_ok(contender_read(slash, true, &all, &err), &err);
    assert_int_equal(all->n_runs, 3);
    assert_int_equal(all->records, 60);
    assert_int_equal(all->n_questions, 20);
    assert_int_equal(all->questions[7].counts[VALUE_JOULES], 3);
}

static void refuses_what_is_no_run(void **state)
{
    AUTO_FREE char *empty = xasprintf("%s/empty", base), *dir = xasprintf("%s/x", base);
    AUTO_FREE char *repeat = xasprintf("%s/x_r2", base);
    struct contender *c = NULL;

    (void)state;
    assert_fails(contender_read(dir, false, &c, &err), ENOENT, &err, dir);
    make("empty", 1, 0);
    assert_fails(contender_read(empty, false, &c, &err), ENODATA, &err, "no records");
    make("x", 1, 3);
    assert_ok(fs_mkdirs(repeat, &err), &err);
    assert_true(contender_read(dir, true, &c, &err) < 0);
    assert_non_null(strstr(err.text, "x_r2"));
    assert_null(c);
}

#define with_dir(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_question_counts_once_with_its_mean),
    cmocka_unit_test(failures_are_counted_only),
    cmocka_unit_test(questions_without_text_are_never_the_same),
    cmocka_unit_test(energy_of_invalid_records),
    cmocka_unit_test(sources_and_bases),
    cmocka_unit_test(describes_by_the_summary),
    cmocka_unit_test(long_words_are_cut_between_characters),
    cmocka_unit_test(many_questions_are_found_again),
    with_dir(reads_a_run_and_its_repeats),
    with_dir(refuses_what_is_no_run),
};
TEST_MAIN(tests)
