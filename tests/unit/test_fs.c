#include "harness.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

static void put(const char *name, const char *text)
{
    assert_ok(fs_replace(fd, name, text, strlen(text), &err), &err);
}

static void small_files(void **state)
{
    char text[16];
    int64_t v = 0;

    (void)state;
    put("a", "42 \n");
    assert_int_equal(fs_read_text(fd, "a", text, sizeof(text), &err), 2);
    assert_string_equal(text, "42");
    assert_ok(fs_read_i64(fd, "a", &v, &err), &err);
    assert_int_equal(v, 42);
    put("b", "12345678901234567890");
    assert_fails(fs_read_text(fd, "b", text, sizeof(text), &err), EFBIG, &err, "more than 15");
    put("c", "x\n");
    assert_fails(fs_read_i64(fd, "c", &v, &err), EINVAL, &err, "c: 'x' is not a whole number");
    put("d", "");
    assert_int_equal(fs_read_text(fd, "d", text, sizeof(text), &err), 0);
    assert_int_equal(fs_read_i64(fd, "d", &v, NULL), -EINVAL);
    assert_int_equal(v, 42);
    assert_fails(fs_read_i64(fd, "absent", &v, &err), ENOENT, &err, "cannot open absent");
    assert_fails(fs_read_text(fd, ".", text, sizeof(text), &err), EISDIR, &err, "cannot read");
}

static void whole_files_are_bounded(void **state)
{
    AUTO(buf) struct buf small = BUF_INIT(4), exact = BUF_INIT(5), large = BUF_INIT(1 << 20);

    (void)state;
    put("e", "hello");
    assert_fails(fs_read_all(fd, "e", &small, &err), EMSGSIZE, &err, "larger than 4 bytes");
    assert_ok(fs_read_all(fd, "e", &exact, &err), &err);
    assert_string_equal(exact.data, "hello");
    assert_ok(fs_read_all(fd, "e", &large, &err), &err);
    assert_ok(fs_read_all(fd, "e", &large, &err), &err);
    assert_string_equal(large.data, "hellohello");
    put("empty", "");
    buf_clear(&large);
    assert_ok(fs_read_all(fd, "empty", &large, &err), &err);
    assert_int_equal(large.len, 0);
    buf_clear(&large);
    /* a file whose size is not told */
    assert_ok(fs_read_all(AT_FDCWD, "/proc/self/status", &large, &err), &err);
    assert_non_null(strstr(large.data, "VmPeak"));
    assert_int_equal(fs_read_all(fd, ".", &large, NULL), -EISDIR);
}

static void replace_keeps_the_old_file_on_failure(void **state)
{
    struct rlimit unlimited, tight;
    char text[64];

    (void)state;
    put("f", "old");
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &unlimited);
    tight = unlimited;
    tight.rlim_cur = 4;
    setrlimit(RLIMIT_FSIZE, &tight); /* stands in for a full disk */
    assert_int_equal(fs_replace(fd, "f", "much too long", 13, &err), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &unlimited);
    assert_true(fs_read_text(fd, "f", text, sizeof(text), &err) > 0);
    assert_string_equal(text, "old");
    assert_false(fs_exists(fd, "f.tmp"));
    put("f", "new");
    fs_read_text(fd, "f", text, sizeof(text), &err);
    assert_string_equal(text, "new");
    assert_fails(fs_replace(fd, "no/such/dir", "x", 1, &err), ENOENT, &err, "cannot create");
}

static void trees_are_made_and_removed(void **state)
{
    AUTO_FREE char *path = xasprintf("%s/t/u/v", dir);
    AUTO_FREE char *file = xasprintf("%s/t/file", dir);

    (void)state;
    assert_ok(fs_mkdirs(path, &err), &err);
    assert_ok(fs_mkdirs(path, &err), &err);
    put("t/file", "x");
    put("outside", "x");
    assert_int_equal(symlinkat("../outside", fd, "t/link"), 0);
    assert_int_equal(symlinkat("/", fd, "t/root"), 0);
    assert_int_equal(fs_mkdirs(file, &err), -EEXIST);
    assert_ok(fs_remove_tree(fd, "t", &err), &err);
    assert_false(fs_exists(fd, "t"));
    assert_true(fs_exists(fd, "outside"));
    assert_ok(fs_remove_tree(fd, "t", &err), &err);
}

/* What is not a file is written to: as root a rename would replace even a device. */
static void special_files_are_not_replaced(void **state)
{
    char got[8] = "";
    struct stat st;
    int reader;

    (void)state;
    assert_int_equal(mkfifoat(fd, "pipe", 0600), 0);
    assert_int_equal(symlinkat("pipe", fd, "link"), 0);
    reader = openat(fd, "pipe", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    put("pipe", "abc");
    put("link", "def");
    assert_int_equal(read(reader, got, sizeof(got)), 6);
    assert_string_equal(got, "abcdef");
    close(reader);
    assert_int_equal(fstatat(fd, "pipe", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISFIFO(st.st_mode));
    assert_int_equal(fstatat(fd, "link", &st, AT_SYMLINK_NOFOLLOW), 0);
    assert_true(S_ISLNK(st.st_mode));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(special_files_are_not_replaced),
    cmocka_unit_test(small_files),
    cmocka_unit_test(whole_files_are_bounded),
    cmocka_unit_test(replace_keeps_the_old_file_on_failure),
    cmocka_unit_test(trees_are_made_and_removed),
};

int main(void)
{
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
