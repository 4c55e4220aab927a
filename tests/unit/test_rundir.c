#include "harness.h"

#include "arrow/hfdir.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "store/hfwriter.h"
#include "store/rundir.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#define CONFIG "{\"model\":\"m\",\"seed\":0,\"params\":{\"k\":\"v\"}}"

static char base[64];
static char path[96];
static struct err err;

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(base);
    snprintf(path, sizeof(path), "%s/runs/profile_X_m_d", base);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, &err);
}

static void append_records(struct hfwriter *w, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        struct record r;

        record_init(&r);
        r.problem = "p";
        r.request.index = i;
        assert_ok(hfwriter_append(w, record_put, &r, 0, &err), &err);
    }
}

static struct hfwriter *writer_of(struct rundir *d)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    struct hfwriter *w = NULL;

    record_schema("m", NULL, &schema);
    assert_ok(hfwriter_create(rundir_fd(d), &schema, &w, &err), &err);
    return w;
}

static void write_run(struct rundir *d, int64_t records, bool finish)
{
    struct hfwriter *w = writer_of(d);

    append_records(w, 0, records);
    assert_ok(finish ? hfwriter_finish(w, &err) : hfwriter_sync(w, &err), &err);
    hfwriter_free(w);
}

static int64_t rows_at(const char *where)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;

    assert_ok(hfdir_open(AT_FDCWD, where, NULL, &h, &err), &err);
    return hfdir_rows(h);
}

static void new_run(void **state)
{
    struct rundir *d = NULL;

    (void)state;
    assert_int_equal(rundir_state(path), RUNDIR_ABSENT);
    assert_ok(rundir_create(path, false, CONFIG, &d, &err), &err);
    assert_string_equal(rundir_path(d), path);
    assert_int_equal(rundir_state(path), RUNDIR_UNFINISHED);
    write_run(d, 3, true);
    assert_ok(rundir_publish(d, &err), &err);
    assert_true(rundir_telemetry_fd(d, &err) >= 0);
    rundir_close(d);
    assert_int_equal(rundir_state(path), RUNDIR_FINISHED);
    assert_int_equal(rows_at(path), 3);
    assert_fails(rundir_create(path, false, CONFIG, &d, &err), EEXIST, &err, "--overwrite");
}

static void two_processes_cannot_write_one_run(void **state)
{
    struct rundir *d = NULL, *other = NULL;

    (void)state;
    assert_ok(rundir_create(path, false, CONFIG, &d, &err), &err);
    write_run(d, 1, false);
    assert_fails(rundir_resume(path, CONFIG, &other, &err), EBUSY, &err, "another ipw");
    assert_fails(rundir_create(path, true, CONFIG, &other, &err), EBUSY, &err, "another ipw");
    assert_fails(rundir_recover(path, &err), EBUSY, &err, "another ipw");
    rundir_close(d);
    assert_ok(rundir_resume(path, CONFIG, &other, &err), &err);
    rundir_close(other);
}

static void the_old_run_stays_until_the_new_one_has_records(void **state)
{
    AUTO_FREE char *beside = xasprintf("%s.new", path);
    struct rundir *d = NULL;

    (void)state;
    assert_ok(rundir_create(path, false, CONFIG, &d, &err), &err);
    write_run(d, 5, true);
    rundir_close(d);
    /* a new run that comes to nothing */
    assert_ok(rundir_create(path, true, CONFIG, &d, &err), &err);
    assert_int_equal(rows_at(path), 5);
    rundir_close(d);
    assert_int_equal(rows_at(path), 5);
    assert_false(fs_exists(AT_FDCWD, beside));
    /* one that was killed before it had records */
    if (fork() == 0) {
        rundir_create(path, true, CONFIG, &d, NULL);
        _exit(0);
    }
    wait(NULL);
    assert_int_equal(rows_at(path), 5);
    assert_true(fs_exists(AT_FDCWD, beside));
    /* one that succeeds */
    assert_ok(rundir_create(path, true, CONFIG, &d, &err), &err);
    write_run(d, 2, true);
    assert_int_equal(rows_at(path), 5);
    assert_ok(rundir_publish(d, &err), &err);
    assert_int_equal(rows_at(path), 2);
    rundir_close(d);
    assert_int_equal(rows_at(path), 2);
    assert_false(fs_exists(AT_FDCWD, beside));
}

static void what_is_not_a_run_is_never_touched(void **state)
{
    AUTO_FREE char *file = xasprintf("%s/precious", path);
    struct rundir *d = NULL;

    (void)state;
    assert_ok(fs_mkdirs(path, &err), &err);
    assert_int_equal(rundir_state(path), RUNDIR_ABSENT); /* empty */
    assert_ok(fs_replace(AT_FDCWD, file, "x", 1, &err), &err);
    assert_int_equal(rundir_state(path), RUNDIR_FOREIGN);
    assert_fails(rundir_create(path, true, CONFIG, &d, &err), ENOTEMPTY, &err, "not a run of ipw");
    assert_fails(rundir_resume(path, CONFIG, &d, &err), ENOENT, &err, "no run to resume");
    assert_true(fs_exists(AT_FDCWD, file));
    assert_int_equal(rundir_state(file), RUNDIR_FOREIGN);
}

static void resume_wants_the_same_configuration(void **state)
{
    static const struct {
        const char *config, *words;
    } cases[] = {
        {"{\"model\":\"m\",\"seed\":1,\"params\":{\"k\":\"v\"}}", "seed was 0 and is now 1"},
        {"{\"model\":\"m\",\"seed\":0,\"params\":{\"k\":\"w\"}}", "params was {\"k\":\"v\"}"},
        {"{\"model\":\"m\",\"seed\":0}", "params was {\"k\":\"v\"} and is now null"},
        {"{\"model\":\"m\",\"seed\":0,\"params\":{\"k\":\"v\"},\"rate\":2}",
         "rate was null and is now 2"},
    };
    struct rundir *d = NULL;

    (void)state;
    assert_ok(rundir_create(path, false, CONFIG, &d, &err), &err);
    write_run(d, 3, false);
    rundir_close(d);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        assert_fails(rundir_resume(path, cases[i].config, &d, &err), EINVAL, &err, cases[i].words);
    assert_ok(rundir_resume(path, CONFIG, &d, &err), &err);
    rundir_close(d);
}

static void interrupted_runs_are_recovered_for_readers(void **state)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    struct rundir *d = NULL;
    struct hfwriter *w = NULL;

    (void)state;
    assert_ok(rundir_create(path, false, CONFIG, &d, &err), &err);
    telemetry_schema(&schema);
    assert_ok(hfwriter_create(rundir_telemetry_fd(d, &err), &schema, &w, &err), &err);
    hfwriter_free(w);
    write_run(d, 1234, false);
    rundir_close(d);
    assert_int_equal(rundir_state(path), RUNDIR_UNFINISHED);
    assert_ok(rundir_recover(path, &err), &err);
    assert_int_equal(rundir_state(path), RUNDIR_FINISHED);
    assert_int_equal(rows_at(path), 1234);
    snprintf(path + strlen(path), sizeof(path) - strlen(path), "/telemetry");
    assert_int_equal(rows_at(path), 0);
    assert_ok(rundir_recover("/nonexistent", &err), &err);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    FRESH(new_run),
    FRESH(two_processes_cannot_write_one_run),
    FRESH(the_old_run_stays_until_the_new_one_has_records),
    FRESH(what_is_not_a_run_is_never_touched),
    FRESH(resume_wants_the_same_configuration),
    FRESH(interrupted_runs_are_recovered_for_readers),
};
TEST_MAIN(tests)
