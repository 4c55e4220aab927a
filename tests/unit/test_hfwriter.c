/*
 * The dataset writer: what it makes, and that nothing is lost whatever ends it. The directories are
 * read back by hfdir, which shares no code with the writer.
 */
#include "harness.h"

#include "arrow/hfdir.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "store/hfwriter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char dir[64];
static int fd = -1;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(dir);
    fd = fs_open_dir(AT_FDCWD, dir, &err);
    return fd < 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(fd);
    return fs_remove_tree(AT_FDCWD, dir, &err);
}

static void small_schema(struct arrow_schema *s)
{
    arrow_schema_init(s);
    arrow_field_add(&s->root, "number", ARROW_INT64);
    arrow_field_add(&s->root, "text", ARROW_UTF8);
}

struct row {
    int64_t number;
    size_t text_len;
};

static void put(void *arg, struct arrow_builder *b)
{
    const struct row *r = arg;
    AUTO_FREE char *text = xmalloc(r->text_len + 1);

    memset(text, 'a' + (int)(r->number % 26), r->text_len + 1);
    arrow_put_i64(arrow_builder_column(b, 0), r->number);
    arrow_put_text(arrow_builder_column(b, 1), text, r->text_len);
}

static struct hfwriter *create(void)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    struct hfwriter *w = NULL;

    small_schema(&schema);
    assert_ok(hfwriter_create(fd, &schema, &w, &err), &err);
    return w;
}

static struct hfwriter *resume(void)
{
    struct hfwriter *w = NULL;

    assert_ok(hfwriter_resume(fd, NULL, NULL, &w, &err), &err);
    return w;
}

static void append(struct hfwriter *w, int64_t from, int64_t to, mono_ns now)
{
    for (int64_t i = from; i < to; i++) {
        struct row row = {.number = i, .text_len = (size_t)(i % 50)};

        assert_ok(hfwriter_append(w, put, &row, now, &err), &err);
    }
}

/* The set holds the numbers 0 to n-1 in order, each with its text, in batches of 1000. */
static void check_dataset(int64_t n)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch;
    int64_t next = 0;
    int r;

    assert_ok(hfdir_open(AT_FDCWD, dir, NULL, &h, &err), &err);
    assert_int_equal(hfdir_rows(h), n);
    while ((r = hfdir_next(h, &batch, &err)) > 0) {
        assert_true(batch->length == HFWRITER_BATCH_ROWS || next + batch->length == n);
        for (int64_t i = 0; i < batch->length; i++, next++) {
            const char *text;
            size_t len;

            assert_int_equal(arrow_i64(arrow_child(batch, "number"), i, -1), next);
            assert_true(arrow_text(arrow_child(batch, "text"), i, &text, &len));
            assert_int_equal(len, next % 50);
            assert_true(len == 0 || text[len - 1] == 'a' + next % 26);
        }
    }
    assert_int_equal(r, 0);
    assert_int_equal(next, n);
    assert_false(hfwriter_unfinished(fd));
}

static void writes_a_dataset(void **state)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);
    struct hfwriter *w = create();

    (void)state;
    append(w, 0, 2500, 0);
    assert_int_equal(hfwriter_rows(w), 2500);
    assert_false(fs_exists(fd, "state.json"));
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    check_dataset(2500);
    assert_ok(fs_read_all(fd, "dataset_info.json", &text, &err), &err);
    assert_string_equal(text.data,
                        "{\n  \"citation\": \"\",\n  \"description\": \"\",\n  \"features\": {\n"
                        "    \"number\": {\n      \"dtype\": \"int64\",\n"
                        "      \"_type\": \"Value\"\n    },\n"
                        "    \"text\": {\n      \"dtype\": \"string\",\n"
                        "      \"_type\": \"Value\"\n    }\n  },\n"
                        "  \"homepage\": \"\",\n  \"license\": \"\"\n}");
    buf_clear(&text);
    assert_ok(fs_read_all(fd, "state.json", &text, &err), &err);
    assert_non_null(strstr(text.data, "\"filename\": \"data-00000-of-00001.arrow\""));
    assert_false(fs_exists(fd, "part-00000.arrow"));
}

static void no_rows_are_a_dataset_too(void **state)
{
    struct hfwriter *w = create();

    (void)state;
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    check_dataset(0);
}

static void rows_reach_the_journal_in_time(void **state)
{
    struct hfwriter *w = create();
    struct stat before, after;

    (void)state;
    assert_true(hfwriter_due(w) == MONO_NEVER);
    fstatat(fd, "journal", &before, 0);
    append(w, 0, 3, 1000);
    assert_true(hfwriter_due(w) == 1000 + HFWRITER_FLUSH_NS);
    assert_ok(hfwriter_tick(w, 999 + HFWRITER_FLUSH_NS, &err), &err);
    fstatat(fd, "journal", &after, 0);
    assert_int_equal(before.st_size, after.st_size);
    assert_ok(hfwriter_tick(w, 1000 + HFWRITER_FLUSH_NS, &err), &err);
    fstatat(fd, "journal", &after, 0);
    assert_true(after.st_size > before.st_size);
    assert_true(hfwriter_due(w) == MONO_NEVER);
    hfwriter_free(w); /* as if killed */
    w = resume();
    assert_int_equal(hfwriter_rows(w), 3);
    append(w, 3, 5, 0);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    check_dataset(5);
}

static int count_rows(void *arg, const struct arrow_array *batch, struct err *e)
{
    (void)e;
    *(int64_t *)arg += batch->length;
    return 0;
}

static void finished_sets_can_be_continued(void **state)
{
    static const int64_t steps[] = {0, 700, 1000, 1001, 2999, 4200};
    int64_t seen = 0;
    struct hfwriter *w = create();

    (void)state;
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    for (size_t i = 1; i < sizeof(steps) / sizeof(*steps); i++) {
        seen = 0;
        assert_ok(hfwriter_resume(fd, count_rows, &seen, &w, &err), &err);
        assert_int_equal(seen, steps[i - 1]);
        assert_false(fs_exists(fd, "state.json"));
        append(w, steps[i - 1], steps[i], 0);
        assert_ok(hfwriter_finish(w, &err), &err);
        hfwriter_free(w);
        check_dataset(steps[i]);
    }
}

/* Copies the unfinished directory as it is now to `to`. */
static void snapshot(const char *to)
{
    AUTO_FREE char *command = xasprintf("rm -rf %s && cp -r %s %s", to, dir, to);

    assert_int_equal(system(command), 0);
}

static void restore(const char *from)
{
    AUTO_FREE char *command = xasprintf("rm -rf %s/* && cp -r %s/. %s", dir, from, dir);

    assert_int_equal(system(command), 0);
}

/* Whatever stretch at the journal's or the part's end did not reach the disk, what comes back is a
 * whole beginning of what was appended, and at least what was committed before that stretch. */
static void torn_ends_are_cut(void **state)
{
    char copy[80];
    struct hfwriter *w = create();
    struct stat part, journal;

    (void)state;
    snprintf(copy, sizeof(copy), "%s.copy", dir);
    append(w, 0, 2100, 0);
    for (int64_t i = 2100; i < 2110; i++) {
        append(w, i, i + 1, 0);
        assert_ok(hfwriter_sync(w, &err), &err);
    }
    hfwriter_free(w);
    snapshot(copy);
    fstatat(fd, "part-00000.arrow", &part, 0);
    fstatat(fd, "journal", &journal, 0);
    for (off_t cut = 1; cut < journal.st_size; cut += cut < 3000 ? 97 : 1009) {
        AUTO_FREE char *name = xasprintf("%s/journal", dir);
        int64_t rows;

        restore(copy);
        assert_int_equal(truncate(name, journal.st_size - cut), 0);
        if (hfwriter_resume(fd, NULL, NULL, &w, &err) < 0)
            break; /* nothing of the journal is left */
        rows = hfwriter_rows(w);
        assert_true(rows <= 2110);
        assert_true(cut > 40 || rows >= 2109);
        assert_ok(hfwriter_finish(w, &err), &err);
        hfwriter_free(w);
        check_dataset(rows);
    }
    for (off_t cut = 0; cut < part.st_size; cut += part.st_size / 23) {
        AUTO_FREE char *name = xasprintf("%s/part-00000.arrow", dir);

        restore(copy);
        /* the file system grew the file, but the bytes never came */
        assert_int_equal(truncate(name, part.st_size - cut), 0);
        assert_int_equal(truncate(name, part.st_size), 0);
        if (hfwriter_resume(fd, NULL, NULL, &w, &err) < 0)
            continue; /* not even the schema is whole: said so */
        assert_true(hfwriter_rows(w) % 1000 == 110 || cut > 0);
        assert_ok(hfwriter_finish(w, &err), &err);
        hfwriter_free(w);
    }
    assert_ok(fs_remove_tree(AT_FDCWD, copy, &err), &err);
}

static void interrupted_finishing_is_repeated(void **state)
{
    struct hfwriter *w = create();

    (void)state;
    append(w, 0, 1500, 0);
    assert_ok(hfwriter_sync(w, &err), &err);
    hfwriter_free(w);
    /* as if killed after renaming the part and writing the first of the two files */
    assert_int_equal(renameat(fd, "part-00000.arrow", fd, "data-00000-of-00001.arrow"), 0);
    assert_ok(fs_replace(fd, "dataset_info.json", "{}", 2, &err), &err);
    w = resume();
    assert_int_equal(hfwriter_rows(w), 1500);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    check_dataset(1500);
}

static void a_full_disk_keeps_what_was_written(void **state)
{
    struct rlimit unlimited, tight;
    struct hfwriter *w = create();
    int64_t n = 0;
    int r = 0;

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &unlimited);
    tight = unlimited;
    tight.rlim_cur = 100000;
    setrlimit(RLIMIT_FSIZE, &tight);
    for (; r == 0 && n < 100000; n++) {
        struct row row = {.number = n, .text_len = (size_t)(n % 50)};

        r = hfwriter_append(w, put, &row, n * HFWRITER_FLUSH_NS / 10, &err);
    }
    setrlimit(RLIMIT_FSIZE, &unlimited);
    assert_int_equal(r, -EFBIG);
    hfwriter_free(w);
    w = resume();
    n = hfwriter_rows(w);
    assert_true(n > 1000);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    check_dataset(n);
}

static void nothing_to_resume_is_said(void **state)
{
    struct hfwriter *w = NULL;

    (void)state;
    assert_true(hfwriter_resume(fd, NULL, NULL, &w, &err) < 0);
    assert_null(w);
    assert_ok(fs_replace(fd, "journal", "garbage", 7, &err), &err);
    assert_true(hfwriter_resume(fd, NULL, NULL, &w, &err) < 0);
}

/* The child appends rows as fast as it can and reports each number that is safe. */
static void write_until_killed(int report, int64_t from, bool again)
{
    struct hfwriter *w = again ? resume() : create();
    mono_ns now = 0;

    for (int64_t i = from;; i++) {
        struct row row = {.number = i, .text_len = (size_t)(i % 50)};

        if (hfwriter_append(w, put, &row, now, &err) < 0)
            _exit(1);
        now += HFWRITER_FLUSH_NS / 7;
        if (hfwriter_due(w) == MONO_NEVER) { /* all rows so far are in the journal or a batch */
            int64_t safe = i + 1;

            if (write(report, &safe, sizeof(safe)) != sizeof(safe))
                _exit(1);
        }
    }
}

#define KILLS 60

static void killed_at_random_nothing_finished_is_lost(void **state)
{
    int64_t safe = 0, rows = 0;
    unsigned seed = 12345;

    (void)state;
    for (int kill_no = 0; kill_no < KILLS; kill_no++) {
        struct hfwriter *w;
        int64_t value;
        int pipe_fds[2];
        pid_t child;

        assert_int_equal(pipe(pipe_fds), 0);
        child = fork();
        if (child == 0) {
            close(pipe_fds[0]);
            write_until_killed(pipe_fds[1], rows, kill_no > 0);
        }
        close(pipe_fds[1]);
        usleep((useconds_t)(rand_r(&seed) % 60000));
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        while (read(pipe_fds[0], &value, sizeof(value)) == sizeof(value))
            safe = value;
        close(pipe_fds[0]);
        if (!fs_exists(fd, "journal") && kill_no == 0 && rows == 0) { /* killed before it began */
            kill_no--;
            continue;
        }
        w = NULL;
        if (hfwriter_resume(fd, NULL, NULL, &w, &err) < 0) {
            /* only a set that was killed while it was being made has nothing to resume */
            assert_int_equal(safe, 0);
            assert_int_equal(kill_no, 0);
            fs_remove_tree(fd, "journal", NULL);
            fs_remove_tree(fd, "part-00000.arrow", NULL);
            kill_no--;
            continue;
        }
        rows = hfwriter_rows(w);
        assert_true(rows >= safe);
        if (kill_no % 10 == 9) { /* now and then the whole set is looked at */
            assert_ok(hfwriter_finish(w, &err), &err);
            check_dataset(rows);
        }
        hfwriter_free(w);
    }
    assert_true(rows > 1000);
}

#define FRESH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    FRESH(writes_a_dataset),
    FRESH(no_rows_are_a_dataset_too),
    FRESH(rows_reach_the_journal_in_time),
    FRESH(finished_sets_can_be_continued),
    FRESH(torn_ends_are_cut),
    FRESH(interrupted_finishing_is_repeated),
    FRESH(a_full_disk_keeps_what_was_written),
    FRESH(nothing_to_resume_is_said),
    FRESH(killed_at_random_nothing_finished_is_lost),
};
TEST_MAIN(tests)
