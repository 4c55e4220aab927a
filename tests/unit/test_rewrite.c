#include "harness.h"

#include "arrow/hfdir.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/rng.h"
#include "store/hfwriter.h"
#include "store/rewrite.h"
#include "store/rundir.h"
#include "store/schema.h"
#include "store/validate.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#define CONFIG "{\"model\":\"m\"}"

static char base[64];
static char path[96];
static struct err err;

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(base);
    snprintf(path, sizeof(path), "%s/run", base);
    return 0;
}

/* A kill is no loss of power: what was written is there even where nothing reaches a disk, and
 * hundreds of rewrites are then a matter of seconds. */
static int set_up_in_memory(void **state)
{
    static const char memory[] = "/dev/shm/ipw-test-XXXXXX";

    memcpy(base, memory, sizeof(memory));
    if (!mkdtemp(base))
        return set_up(state);
    snprintf(path, sizeof(path), "%s/run", base);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, &err);
}

static void append(struct hfwriter *w, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++) {
        struct record r;
        char text[32];

        record_init(&r);
        snprintf(text, sizeof(text), "p%lld", (long long)i);
        r.problem = text;
        r.response = i % 7 ? "an answer" : NULL;
        r.energy.gpu_j = (double)i;
        r.request.index = i;
        r.request.status = "ok";
        assert_ok(hfwriter_append(w, record_put, &r, 0, &err), &err);
    }
}

static void make_run(int64_t rows)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    struct rundir *d = NULL;
    struct hfwriter *w = NULL;

    assert_ok(rundir_create(path, false, CONFIG, &d, &err), &err);
    record_schema("m", NULL, &schema);
    assert_ok(hfwriter_create(rundir_fd(d), &schema, &w, &err), &err);
    append(w, 0, rows);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    rundir_close(d);
}

/* A run as the Python tool wrote it: it has no evaluation. */
static void copy_fixture(const char *name)
{
    static const char *const files[] = {"data-00000-of-00001.arrow", "dataset_info.json",
                                        "state.json"};

    assert_ok(fs_remove_tree(AT_FDCWD, path, &err), &err);
    assert_ok(fs_mkdirs(path, &err), &err);
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        AUTO_FREE char *from = xasprintf(FIXTURES "/hf/%s/%s", name, files[i]);
        AUTO_FREE char *to = xasprintf("%s/%s", path, files[i]);
        AUTO(buf) struct buf data = BUF_INIT(1 << 24);
        AUTO_FD int copy = -1;

        assert_ok(fs_read_all(AT_FDCWD, from, &data, &err), &err);
        copy = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        assert_ok(fs_write_full(copy, data.data, data.len, &err), &err);
    }
}

/* A value without the members that a rewrite changes. */
static void write_bare(struct json_writer *w, const char *key, const struct json *v)
{
    if (!json_is(v, JSON_OBJECT)) {
        jw_value(w, key, v);
        return;
    }
    jw_begin_object(w, key);
    JSON_FOREACH (member, v)
        if (strcmp(member->key, "evaluation") != 0 && strcmp(member->key, "lm_correctness") != 0)
            write_bare(w, member->key, member);
    jw_end_object(w);
}

/* Every row as JSON, a line each. */
static char *all_rows(bool bare)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    const struct arrow_array *batch;
    int more;

    assert_ok(hfdir_open(AT_FDCWD, path, NULL, &h, &err), &err);
    while ((more = hfdir_next(h, &batch, &err)) > 0) {
        for (int64_t i = 0; i < batch->length; i++) {
            AUTO(buf) struct buf row = BUF_INIT(BUF_MAX_OWN);
            AUTO(json_doc) struct json_doc doc = {0};
            struct json_writer w = json_writer(&row, JSON_LINE);

            arrow_value_json(batch, i, &w, NULL);
            assert_ok(json_doc_parse(&doc, row.data, row.len, &err), &err);
            w = json_writer(&out, JSON_LINE);
            if (bare)
                write_bare(&w, NULL, doc.root);
            else
                jw_value(&w, NULL, doc.root);
            buf_addc(&out, '\n');
        }
    }
    assert_ok(more, &err);
    return buf_take(&out);
}

static const struct arrow_array *column(const struct arrow_array *batch, const char *name)
{
    const struct arrow_array *model = &arrow_child(batch, "model_metrics")->children[0];

    return arrow_child(model, name);
}

static bool text_is(const struct arrow_array *a, int64_t i, const char *expected)
{
    const char *text;
    size_t n;

    if (!arrow_text(a, i, &text, &n))
        return !expected;
    return expected && strlen(expected) == n && memcmp(text, expected, n) == 0;
}

/* Without .link files, folders of a rewrite or old shards. */
static void assert_files(int shards)
{
    AUTO_FD int fd = fs_open_dir(AT_FDCWD, path, &err);
    DIR *dir = fdopendir(fd);
    struct dirent *e;
    int arrows = 0;

    assert_non_null(dir);
    fd = -1;
    while ((e = readdir(dir))) {
        assert_null(strstr(e->d_name, "rewrite"));
        assert_null(strstr(e->d_name, ".link"));
        arrows += strstr(e->d_name, ".arrow") != NULL;
    }
    closedir(dir);
    assert_int_equal(arrows, shards);
}

static void assert_sound(void)
{
    struct validation v;

    validate_run(path, &v);
    for (size_t i = 0; i < v.n; i++)
        if (v.findings[i].fatal && !strstr(v.findings[i].text, "no summary.json"))
            fail_msg("not sound: %s", v.findings[i].text);
    validation_release(&v);
}

static void verdicts_reach_their_rows(void **state)
{
    static const struct evaluation verdicts[] = {
        {1, "exact", "{\"extracted\":\"4\"}"}, {0, "numeric:0.1", NULL}, {-1, "math", "{}"}};
    AUTO_PTR(rewrite) struct rewrite *w = NULL;
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    AUTO_FREE char *before = NULL, *after = NULL, *info = xasprintf("%s/dataset_info.json", path);
    const struct arrow_array *batch;
    struct stat was, is;
    int64_t i = 0;

    (void)state;
    make_run(2500);
    before = all_rows(true);
    assert_int_equal(stat(info, &was), 0);
    assert_ok(rewrite_open(path, "m", &w, &err), &err);
    for (int64_t k = 0; k < 2000; k++) /* the rest is left to the commit */
        assert_ok(rewrite_row(w, k >= 1100 && k % 4 < 3 ? &verdicts[k % 4] : NULL, &err), &err);
    assert_ok(rewrite_commit(w, &err), &err);
    rewrite_close(STEAL(w));
    assert_files(1);
    assert_int_equal(stat(info, &is), 0);
    assert_int_equal(was.st_ino, is.st_ino); /* the columns are the same: not written again */

    after = all_rows(true);
    assert_string_equal(before, after);
    assert_ok(hfdir_open(AT_FDCWD, path, NULL, &h, &err), &err);
    while (hfdir_next(h, &batch, &err) > 0) {
        const struct arrow_array *evaluation = column(batch, "evaluation");

        for (int64_t k = 0; k < batch->length; k++, i++) {
            const struct evaluation *v =
                i >= 1100 && i < 2000 && i % 4 < 3 ? &verdicts[i % 4] : NULL;
            int correct = v ? v->correct : -1;

            assert_int_equal(arrow_is_null(column(batch, "lm_correctness"), k), correct < 0);
            assert_int_equal(arrow_bool(column(batch, "lm_correctness"), k, false), correct == 1);
            assert_int_equal(arrow_bool(arrow_child(evaluation, "is_correct"), k, true),
                             correct != 0);
            assert_true(text_is(arrow_child(evaluation, "scorer"), k, v ? v->scorer : NULL));
            assert_true(text_is(arrow_child(evaluation, "metadata"), k, v ? v->metadata : NULL));
        }
    }
    assert_int_equal(i, 2500);
    assert_sound();
}

static void nothing_changed_nothing_written(void **state)
{
    AUTO_PTR(rewrite) struct rewrite *w = NULL;
    AUTO_FREE char *name = xasprintf("%s/state.json", path);
    struct stat was, is;

    (void)state;
    make_run(5);
    assert_int_equal(stat(name, &was), 0);
    assert_ok(rewrite_open(path, "m", &w, &err), &err);
    for (int i = 0; i < 5; i++)
        assert_ok(rewrite_row(w, NULL, &err), &err);
    assert_ok(rewrite_commit(w, &err), &err);
    rewrite_close(STEAL(w));
    assert_int_equal(stat(name, &is), 0);
    assert_int_equal(was.st_ino, is.st_ino);
    assert_files(1);
}

static void without_commit_the_run_stays(void **state)
{
    AUTO_PTR(rewrite) struct rewrite *w = NULL;
    AUTO_FREE char *before = NULL, *after = NULL;

    (void)state;
    make_run(5);
    before = all_rows(false);
    assert_ok(rewrite_open(path, "m", &w, &err), &err);
    assert_ok(rewrite_row(w, &(struct evaluation){1, "exact", NULL}, &err), &err);
    rewrite_close(STEAL(w));
    after = all_rows(false);
    assert_string_equal(before, after);
    assert_files(1);
}

static void rows_that_are_not_there(void **state)
{
    AUTO_PTR(rewrite) struct rewrite *w = NULL;

    (void)state;
    make_run(2);
    assert_ok(rewrite_open(path, "m", &w, &err), &err);
    for (int i = 0; i < 2; i++)
        assert_ok(rewrite_row(w, &(struct evaluation){1, "exact", NULL}, &err), &err);
    assert_fails(rewrite_row(w, NULL, &err), EINVAL, &err, "only 2 rows");
}

static void rewrite_all(const char *model, const struct evaluation *e, int rows)
{
    AUTO_PTR(rewrite) struct rewrite *w = NULL;

    assert_ok(rewrite_open(path, model, &w, &err), &err);
    for (int i = 0; i < rows; i++)
        assert_ok(rewrite_row(w, e, &err), &err);
    assert_ok(rewrite_commit(w, &err), &err);
}

/* Its lm_correctness is there, evaluation is not: it is added, to the features too. */
static void columns_are_added_to_a_run_of_the_python_tool(void **state)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    AUTO_FREE char *before = NULL, *after = NULL, *model = NULL;
    AUTO_FREE char *info_path = xasprintf("%s/dataset_info.json", path);
    AUTO(buf) struct buf info = BUF_INIT(1 << 24);
    AUTO(json_doc) struct json_doc doc = {0};
    const struct arrow_array *batch;
    int64_t rows;

    (void)state;
    copy_fixture("profile_seed");
    before = all_rows(true);
    assert_ok(hfdir_open(AT_FDCWD, path, NULL, &h, &err), &err);
    rows = hfdir_rows(h);
    model = xstrdup(arrow_field_child(&hfdir_schema(h)->root, "model_metrics")->children[0].name);
    hfdir_close(STEAL(h));
    rewrite_all(model, &(struct evaluation){1, "exact", "{\"a\":\"b\"}"}, 1);
    after = all_rows(true);
    assert_string_equal(before, after);
    assert_ok(hfdir_open(AT_FDCWD, path, NULL, &h, &err), &err);
    assert_int_equal(hfdir_rows(h), rows);
    assert_int_equal(hfdir_next(h, &batch, &err), 1);
    assert_true(arrow_bool(column(batch, "lm_correctness"), 0, false));
    assert_true(text_is(arrow_child(column(batch, "evaluation"), "metadata"), 0, "{\"a\":\"b\"}"));
    for (int64_t i = 1; i < batch->length; i++)
        assert_true(arrow_is_null(column(batch, "evaluation"), i));
    assert_sound();
    assert_files(1);
    assert_ok(fs_read_all(AT_FDCWD, info_path, &info, &err), &err);
    assert_ok(json_doc_parse(&doc, info.data, info.len, &err), &err);
    assert_string_equal(json_text(json_path(doc.root, "features", "model_metrics", model,
                                            "evaluation", "scorer", "dtype"),
                                  ""),
                        "string");
    assert_true(json_is(json_get(doc.root, "citation"), JSON_STRING));
}

static void columns_of_another_type_are_refused(void **state)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO_PTR(rewrite) struct rewrite *w = NULL;
    AUTO_FREE char *before = NULL, *after = NULL;
    AUTO_FD int fd = -1;
    struct hfwriter *writer = NULL;
    struct arrow_field *f;

    (void)state;
    assert_ok(fs_mkdirs(path, &err), &err);
    fd = fs_open_dir(AT_FDCWD, path, &err);
    arrow_schema_init(&schema);
    f = arrow_field_add(arrow_field_add(&schema.root, "model_metrics", ARROW_STRUCT), "m",
                        ARROW_STRUCT);
    arrow_field_add(f, "lm_correctness", ARROW_UTF8);
    assert_ok(hfwriter_create(fd, &schema, &writer, &err), &err);
    assert_ok(hfwriter_finish(writer, &err), &err);
    hfwriter_free(writer);
    before = all_rows(false);
    assert_ok(rewrite_open(path, "m", &w, &err), &err);
    assert_fails(rewrite_row(w, &(struct evaluation){1, NULL, NULL}, &err), ENOTSUP, &err,
                 "lm_correctness is string");
    rewrite_close(STEAL(w));
    assert_ok(rewrite_open(path, "other", &w, &err), &err);
    assert_fails(rewrite_row(w, &(struct evaluation){1, NULL, NULL}, &err), EINVAL, &err,
                 "model_metrics of other");
    rewrite_close(STEAL(w));
    after = all_rows(false);
    assert_string_equal(before, after);
}

static void one_writer_at_a_time_readers_go_on(void **state)
{
    AUTO_PTR(rewrite) struct rewrite *w = NULL, *other = NULL;
    AUTO_FREE char *rows = NULL;

    (void)state;
    make_run(3);
    assert_ok(rewrite_open(path, "m", &w, &err), &err);
    assert_ok(rewrite_row(w, &(struct evaluation){1, "exact", NULL}, &err), &err);
    assert_fails(rewrite_open(path, "m", &other, &err), EBUSY, &err, "another ipw");
    assert_ok(rundir_recover(path, &err), &err); /* does not disturb it */
    rows = all_rows(false);
    assert_non_null(strstr(rows, "\"lm_correctness\":null"));
    assert_ok(rewrite_commit(w, &err), &err);
    rewrite_close(STEAL(w));
    assert_ok(rewrite_open(path, "m", &other, &err), &err);
}

/* --resume finds all rows and verdicts, and shards under the names it knows. */
static void a_rewritten_run_can_be_resumed(void **state)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    AUTO_FREE char *rows = NULL;
    struct rundir *d = NULL;
    struct hfwriter *w = NULL;

    (void)state;
    make_run(1500);
    rewrite_all("m", &(struct evaluation){0, "exact", NULL}, 1500);
    assert_ok(rundir_resume(path, CONFIG, &d, &err), &err);
    assert_ok(hfwriter_resume(rundir_fd(d), NULL, NULL, &w, &err), &err);
    append(w, 1500, 1600);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    rundir_close(d);
    assert_ok(hfdir_open(AT_FDCWD, path, NULL, &h, &err), &err);
    assert_int_equal(hfdir_rows(h), 1600);
    rows = all_rows(false);
    assert_non_null(strstr(rows, "\"scorer\":\"exact\""));
    assert_sound();
}

/* A file system without hard links: killed after the shards were moved, before state.json. */
static void moved_shards_are_not_lost(void **state)
{
    AUTO_FD int fd = -1;
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);
    AUTO_FREE char *before = NULL, *after = NULL;
    static const char shard[] = "\"data-";

    (void)state;
    make_run(3);
    before = all_rows(false);
    fd = fs_open_dir(AT_FDCWD, path, &err);
    assert_int_equal(mkdirat(fd, ".ipw-rewrite", 0777), 0);
    assert_ok(fs_read_all(fd, "state.json", &text, &err), &err);
    assert_ok(fs_replace(fd, ".ipw-rewrite/replaced-state.json", text.data, text.len, &err), &err);
    {
        char *at = strstr(text.data, shard);
        AUTO_FREE char *named = NULL;

        assert_non_null(at);
        named = xasprintf("%.*s\".ipw-rewrite/%s", (int)(at - text.data), text.data, at + 1);
        assert_ok(fs_replace(fd, "state.json", named, strlen(named), &err), &err);
    }
    assert_ok(rundir_recover(path, &err), &err);
    after = all_rows(false);
    assert_string_equal(before, after);
    assert_files(1);
}

/* Shards that another program named or cut otherwise go when the new ones are there. */
static void old_shards_of_other_names_go(void **state)
{
    static const char named[] = "{\"_data_files\":[{\"filename\":\"mine.arrow\"}],"
                                "\"_fingerprint\":\"1\",\"_split\":\"train\"}";
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);
    AUTO_FREE char *before = NULL, *after = NULL;
    AUTO_FD int fd = -1;

    (void)state;
    make_run(3);
    fd = fs_open_dir(AT_FDCWD, path, &err);
    assert_int_equal(renameat(fd, "data-00000-of-00001.arrow", fd, "mine.arrow"), 0);
    assert_ok(fs_replace(fd, "state.json", named, strlen(named), &err), &err);
    before = all_rows(true);
    rewrite_all("m", &(struct evaluation){1, "exact", NULL}, 3);
    after = all_rows(true);
    assert_string_equal(before, after);
    assert_files(1);
    assert_ok(fs_read_all(fd, "state.json", &text, &err), &err);
    assert_non_null(strstr(text.data, "\"_split\": \"train\""));
    assert_null(strstr(text.data, "\"_fingerprint\": \"1\"")); /* it is other data now */
}

/* A state.json from elsewhere must not lead out of the directory. */
static void a_hostile_state_moves_nothing(void **state)
{
    static const char hostile[] =
        "{\"_data_files\":[{\"filename\":\".ipw-rewrite/../../precious\"}]}";
    AUTO_FREE char *precious = xasprintf("%s/precious", base);
    AUTO_FD int fd = -1;

    (void)state;
    make_run(1);
    fd = fs_open_dir(AT_FDCWD, path, &err);
    assert_ok(fs_replace(AT_FDCWD, precious, "x", 1, &err), &err);
    assert_int_equal(mkdirat(fd, ".ipw-rewrite", 0777), 0);
    assert_ok(fs_replace(fd, "state.json", hostile, strlen(hostile), &err), &err);
    assert_fails(rundir_recover(path, &err), EBADMSG, &err, "state.json");
    assert_true(fs_exists(AT_FDCWD, precious));
}

/*
 * Killed.
 */

/* As it is, without recovery: all rows of one generation, and that the last one or this. */
static int generation_of(int rows, int last, int now)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch;
    int seen = 0, found = -1;

    assert_ok(hfdir_open(AT_FDCWD, path, NULL, &h, &err), &err);
    while (hfdir_next(h, &batch, &err) > 0) {
        const struct arrow_array *metadata = arrow_child(column(batch, "evaluation"), "metadata");

        for (int64_t i = 0; i < batch->length; i++, seen++) {
            const char *text;
            size_t n;
            char number[16] = "0";
            int generation;

            if (arrow_text(metadata, i, &text, &n))
                snprintf(number, sizeof(number), "%.*s", (int)n, text);
            generation = (int)strtol(number, NULL, 10);

            assert_true(found == -1 || found == generation);
            found = generation;
        }
    }
    assert_int_equal(seen, rows);
    assert_true(found == last || found == now);
    return found;
}

static void child_rewrite(const char *model, int rows, int generation)
{
    struct rewrite *w = NULL;
    char text[16];
    int r;

    snprintf(text, sizeof(text), "%d", generation);
    r = rewrite_open(path, model, &w, NULL);
    for (int i = 0; r == 0 && i < rows; i++)
        r = rewrite_row(w, &(struct evaluation){1, "exact", text}, NULL);
    if (r == 0)
        r = rewrite_commit(w, NULL);
    rewrite_close(w);
    _exit(r < 0);
}

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* 60 kills at random instants, for a run whose copying takes longest and for one whose exchange
 * does. Settled only now and then, so that one interruption is met by the next. */
static void killed_at_any_instant(void **state)
{
    static const int sizes[] = {4000, 1};
    struct rng r = rng_seed(11, 0);
    int64_t whole_ns;

    (void)state;
    for (size_t s = 0; s < 2; s++) {
        int last = 0, committed = 0;

        assert_ok(fs_remove_tree(AT_FDCWD, path, &err), &err);
        make_run(sizes[s]);
        whole_ns = now_ns();
        rewrite_all("m", &(struct evaluation){-1, NULL, "0"}, sizes[s]);
        whole_ns = now_ns() - whole_ns;
        for (int now = 1; now <= 30; now++) {
            struct timespec wait = {0};
            double part = rng_uniform(&r) * 1.3 * (double)whole_ns;
            pid_t pid = fork();
            int status, found;

            if (pid == 0)
                child_rewrite("m", sizes[s], now);
            wait.tv_sec = (time_t)(part / 1e9);
            wait.tv_nsec = (long)(part - 1e9 * (double)wait.tv_sec);
            nanosleep(&wait, NULL);
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            found = generation_of(sizes[s], last, now);
            committed += found == now;
            last = found;
            if (now % 5 == 0) {
                assert_sound(); /* recovers */
                assert_int_equal(generation_of(sizes[s], last, last), last);
                assert_files(1);
            }
        }
        print_message("%d rows: %d of 30 were committed\n", sizes[s], committed);
    }
}

/* Whether the features, where given, fit the columns, as the library demands. */
static void assert_loadable(void)
{
    AUTO_FREE char *name = xasprintf("%s/dataset_info.json", path);
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    AUTO(buf) struct buf text = BUF_INIT(1 << 24);
    AUTO(json_doc) struct json_doc doc = {0};
    const struct arrow_field *model;
    const struct json *features;

    assert_ok(fs_read_all(AT_FDCWD, name, &text, &err), &err);
    assert_ok(json_doc_parse(&doc, text.data, text.len, &err), &err);
    assert_ok(hfdir_open(AT_FDCWD, path, NULL, &h, &err), &err);
    model = &arrow_field_child(&hfdir_schema(h)->root, "model_metrics")->children[0];
    features = json_get(doc.root, "features");
    if (features)
        assert_int_equal(json_path(features, "model_metrics", model->name, "evaluation") != NULL,
                         arrow_field_child(model, "evaluation") != NULL);
}

/* Lets the child run up to its system call number n and kills it there. false: it ended before. */
static bool kill_at_call(pid_t pid, int n)
{
    int status;

    waitpid(pid, &status, 0);         /* it stops itself */
    for (int i = 0; i < 2 * n; i++) { /* at the entry and the exit of each */
        if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) < 0 || waitpid(pid, &status, 0) != pid ||
            WIFEXITED(status) || WIFSIGNALED(status))
            return false;
    }
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    return true;
}

/* Not at random: between any two system calls of a rewrite that adds columns. */
static void killed_at_every_system_call(void **state)
{
    static const char model[] = "llama3.2:1b";
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    int rows, kills = 0, committed = 0;

    (void)state;
    copy_fixture("profile_seed");
    assert_ok(hfdir_open(AT_FDCWD, path, NULL, &h, &err), &err);
    rows = (int)hfdir_rows(h);
    for (int n = 1;; n++) {
        pid_t pid;

        copy_fixture("profile_seed");
        pid = fork();
        if (pid == 0) {
            if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
                _exit(77);
            raise(SIGSTOP);
            child_rewrite(model, rows, 1);
        }
        if (!kill_at_call(pid, n))
            break;
        kills++;
        assert_loadable();
        committed += generation_of(rows, 0, 1);
        assert_sound();
        assert_loadable();
        assert_files(1);
    }
    if (kills == 0)
        print_message("processes cannot be traced here\n");
    else
        assert_true(kills > 50 && committed > 10 && committed < kills);
    print_message("%d kills, %d of them after the commit\n", kills, committed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    TEST(verdicts_reach_their_rows),
    TEST(nothing_changed_nothing_written),
    TEST(without_commit_the_run_stays),
    TEST(rows_that_are_not_there),
    TEST(columns_are_added_to_a_run_of_the_python_tool),
    TEST(columns_of_another_type_are_refused),
    TEST(one_writer_at_a_time_readers_go_on),
    TEST(a_rewritten_run_can_be_resumed),
    TEST(moved_shards_are_not_lost),
    TEST(old_shards_of_other_names_go),
    TEST(a_hostile_state_moves_nothing),
    cmocka_unit_test_setup_teardown(killed_at_any_instant, set_up_in_memory, tear_down),
    cmocka_unit_test_setup_teardown(killed_at_every_system_call, set_up_in_memory, tear_down),
};
TEST_MAIN(tests)
