/*
 * summary.json: the Python tool's keys in its order, ours behind them; and a whole run directory,
 * killed or finished, as ipw validate sees it.
 */
#include "harness.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "store/hfwriter.h"
#include "store/rundir.h"
#include "store/schema.h"
#include "store/summary.h"
#include "store/validate.h"

#include <fcntl.h>

static struct err err;
static char dir[64], path[96];

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(dir);
    snprintf(path, sizeof(path), "%s/run", dir);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, dir, &err);
}

static void add_validity(void *arg, struct json_writer *w)
{
    jw_begin_object(w, "validity");
    jw_text(w, "verdict", arg);
    jw_begin_array(w, "reasons");
    jw_begin_object(w, NULL);
    jw_text(w, "code", "gap");
    jw_text(w, "text", "a sensor was not read");
    jw_end_object(w);
    jw_end_array(w);
    jw_end_object(w);
}

static void keys_come_in_order(void **state)
{
    static const char *const keys[] = {
        "model",          "profiler_config", "dataset",       "dataset_name",
        "hardware_label", "generated_at",    "total_queries", "system_info",
        "gpu_info",       "output_dir",      "versions",      "schema_version",
        "command_line",   "started_at",      "finished_at",   "validity"};
    struct summary s = {.model = "m",
                        .config = "{\"seed\":3}",
                        .total_queries = 7,
                        .generated_wall_ns = INT64_C(1700000000500000000)};
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_FD int fd = fs_open_dir(AT_FDCWD, dir, &err);
    char verdict[] = "valid";
    size_t i = 0;

    (void)state;
    assert_ok(summary_write(fd, &s, add_validity, verdict, &err), &err);
    assert_ok(fs_read_all(fd, "summary.json", &text, &err), &err);
    assert_ok(json_doc_parse(&doc, text.data, text.len, &err), &err);
    JSON_FOREACH (member, doc.root)
        assert_string_equal(member->key, keys[i++]);
    assert_int_equal(i, sizeof(keys) / sizeof(*keys));
    assert_int_equal(json_int(json_path(doc.root, "profiler_config", "seed"), 0), 3);
    assert_true(json_real(json_get(doc.root, "generated_at"), 0) == 1700000000.5);
    assert_true(json_is(json_get(doc.root, "gpu_info"), JSON_NULL));
}

/* A run of n records; finished, or left as a kill would leave it. */
static void make_run(int64_t n, bool finish, const char *verdict, int64_t told)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    struct summary s = {.model = "m", .total_queries = told};
    struct rundir *d = NULL;
    struct hfwriter *w = NULL;
    char word[16];

    assert_ok(rundir_create(path, false, "{}", &d, &err), &err);
    record_schema("m", NULL, &schema);
    assert_ok(hfwriter_create(rundir_fd(d), &schema, &w, &err), &err);
    for (int64_t i = 0; i < n; i++) {
        struct record r;

        record_init(&r);
        r.problem = "p";
        r.request.index =
            i % 50 == 49 ? i - 1 : i; /* every fiftieth twice, should there be so many */
        r.request.status = i % 10 == 9 ? "error" : "ok";
        r.measurement.validity = i % 4 == 3 ? VALIDITY_DEGRADED : VALIDITY_VALID;
        assert_ok(hfwriter_append(w, record_put, &r, 0, &err), &err);
    }
    assert_ok(finish ? hfwriter_finish(w, &err) : hfwriter_sync(w, &err), &err);
    hfwriter_free(w);
    snprintf(word, sizeof(word), "%s", verdict);
    if (finish)
        assert_ok(summary_write(rundir_fd(d), &s, add_validity, word, &err), &err);
    rundir_close(d);
}

static void a_finished_run_is_sound(void **state)
{
    struct validation v;

    (void)state;
    make_run(40, true, "degraded", 40);
    validate_run(path, &v);
    assert_true(v.sound);
    assert_int_equal(v.rows, 40);
    assert_int_equal(v.failed, 4);
    assert_int_equal(v.valid, 30);
    assert_int_equal(v.degraded, 10);
    assert_string_equal(v.verdict, "degraded");
    assert_int_equal(v.n, 1);
    assert_string_equal(v.findings[0].text, "gap: a sensor was not read");
    validation_release(&v);
}

static void what_is_wrong_is_found(void **state)
{
    struct validation v;

    (void)state;
    make_run(60, true, "invalid", 61);
    validate_run(path, &v);
    assert_false(v.sound);
    assert_int_equal(v.n, 4);
    assert_string_equal(v.findings[0].text, "row 49: query 48 is there twice");
    assert_string_equal(v.findings[1].text, "summary.json says 61 queries, there are 60 records");
    assert_string_equal(v.findings[3].text, "the run's own verdict is invalid");
    validation_release(&v);
}

static void a_killed_run_is_recovered_and_called_interrupted(void **state)
{
    struct validation v;

    (void)state;
    make_run(30, false, "", 0);
    assert_int_equal(rundir_state(path), RUNDIR_UNFINISHED);
    validate_run(path, &v);
    assert_int_equal(rundir_state(path), RUNDIR_FINISHED);
    assert_int_equal(v.rows, 30);
    assert_false(v.sound);
    assert_non_null(strstr(v.findings[0].text, "the run was interrupted"));
    validation_release(&v);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    FRESH(keys_come_in_order),
    FRESH(a_finished_run_is_sound),
    FRESH(what_is_wrong_is_found),
    FRESH(a_killed_run_is_recovered_and_called_interrupted),
};
TEST_MAIN(tests)
