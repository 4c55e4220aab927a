#include "base/fs.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/num.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int fs_open_dir(int dirfd, const char *path, struct err *err)
{
    int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return fd < 0 ? err_sys(err, errno, "cannot open directory %s", path) : fd;
}

static ssize_t read_retry(int fd, void *p, size_t n)
{
    ssize_t got;

    do
        got = read(fd, p, n);
    while (got < 0 && errno == EINTR);
    return got;
}

int fs_read_text(int dirfd, const char *path, char *text, size_t size, struct err *err)
{
    AUTO_FD int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    size_t len = 0;
    ssize_t got = 0;

    if (fd < 0)
        return err_sys(err, errno, "cannot open %s", path);
    while (len < size && (got = read_retry(fd, text + len, size - len)) > 0)
        len += (size_t)got;
    if (got < 0)
        return err_sys(err, errno, "cannot read %s", path);
    if (len == size)
        return err_set(err, EFBIG, "%s holds more than %zu bytes", path, size - 1);
    while (len > 0 && strchr(" \t\r\n", text[len - 1]))
        len--;
    text[len] = '\0';
    return (int)len;
}

int fs_read_i64(int dirfd, const char *path, int64_t *ret, struct err *err)
{
    char text[64];
    int r = fs_read_text(dirfd, path, text, sizeof(text), err);

    if (r < 0)
        return r;
    r = parse_i64(text, ret, err);
    return r < 0 && err ? err_prefix(err, "%s", path) : r;
}

int fs_read_all(int dirfd, const char *path, struct buf *out, struct err *err)
{
    AUTO_FD int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    ssize_t got;

    if (fd < 0)
        return err_sys(err, errno, "cannot open %s", path);
    if (fstat(fd, &st) < 0)
        return err_sys(err, errno, "cannot read %s", path);
    if (S_ISDIR(st.st_mode))
        return err_sys(err, EISDIR, "cannot read %s", path);
    for (;;) {
        size_t want = st.st_size > (off_t)out->len ? (size_t)st.st_size - out->len + 1 : 65536;

        if (want > out->max - out->len + 1)
            want = out->max - out->len + 1;
        buf_reserve(out, want - 1);
        got = read_retry(fd, out->data + out->len, want);
        if (got < 0)
            return err_sys(err, errno, "cannot read %s", path);
        if (got == 0)
            break;
        if ((size_t)got > out->max - out->len)
            return err_set(err, EMSGSIZE, "%s is larger than %zu bytes", path, out->max);
        out->len += (size_t)got;
    }
    out->data[out->len] = '\0';
    return 0;
}

int fs_map_open(int dirfd, const char *path, struct fs_map *ret, struct err *err)
{
    AUTO_FD int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    void *map = NULL;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, errno, "cannot open %s", path);
    if (st.st_size > 0)
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (map == MAP_FAILED)
        return err_sys(err, errno, "cannot read %s", path);
    *ret = (struct fs_map){.data = map, .size = (size_t)st.st_size};
    return 0;
}

void fs_map_release(struct fs_map *m)
{
    if (m->data)
        munmap((void *)(uintptr_t)m->data, m->size);
    *m = (struct fs_map){0};
}

int fs_write_full(int fd, const void *data, size_t n, struct err *err)
{
    const char *p = data;

    while (n > 0) {
        ssize_t put = write(fd, p, n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return err_sys(err, errno, "cannot write");
        p += put;
        n -= (size_t)put;
    }
    return 0;
}

int fs_sync_parent(int dirfd, const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *parent =
        slash ? xstrndup(path, slash > path ? (size_t)(slash - path) : 1) : NULL;
    AUTO_FD int fd = fs_open_dir(dirfd, parent ? parent : ".", err);

    if (fd < 0)
        return fd;
    /* Some file systems cannot sync a directory; they order the rename themselves. */
    if (fsync(fd) < 0 && errno != EINVAL)
        return err_sys(err, errno, "cannot sync %s", parent ? parent : ".");
    return 0;
}

/* A device or a pipe, perhaps behind a link such as /dev/stdout. */
static bool is_special(int dirfd, const char *path)
{
    struct stat st;

    return fstatat(dirfd, path, &st, 0) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int write_through(int dirfd, const char *path, const void *data, size_t n, struct err *err)
{
    AUTO_FD int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC);
    int r;

    if (fd < 0)
        return err_sys(err, errno, "cannot open %s", path);
    r = fs_write_full(fd, data, n, err);
    return r < 0 && err ? err_prefix(err, "%s", path) : r;
}

static int replace_file(int dirfd, const char *path, const void *data, size_t n, struct err *err)
{
    AUTO_FREE char *temp = xasprintf("%s.tmp", path);
    AUTO_FD int fd = openat(dirfd, temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    int r;

    if (fd < 0)
        return err_sys(err, errno, "cannot create %s", temp);
    r = fs_write_full(fd, data, n, err);
    if (r < 0 && err)
        err_prefix(err, "%s", path);
    if (r == 0 && fsync(fd) < 0)
        r = err_sys(err, errno, "cannot sync %s", temp);
    if (r == 0 && renameat(dirfd, temp, dirfd, path) < 0)
        r = err_sys(err, errno, "cannot rename %s", temp);
    if (r < 0) {
        unlinkat(dirfd, temp, 0);
        return r;
    }
    return fs_sync_parent(dirfd, path, err);
}

int fs_replace(int dirfd, const char *path, const void *data, size_t n, struct err *err)
{
    return is_special(dirfd, path) ? write_through(dirfd, path, data, n, err)
                                   : replace_file(dirfd, path, data, n, err);
}

int fs_mkdirs(const char *path, struct err *err)
{
    AUTO_FREE char *partial = xstrdup(path);

    for (char *p = partial + 1; *p; p++) {
        if (*p != '/')
            continue;
        *p = '\0';
        if (mkdir(partial, 0777) < 0 && errno != EEXIST)
            return err_sys(err, errno, "cannot create %s", partial);
        *p = '/';
    }
    if (mkdir(path, 0777) < 0) {
        struct stat st;

        if (errno != EEXIST || stat(path, &st) < 0 || !S_ISDIR(st.st_mode))
            return err_sys(err, errno, "cannot create %s", path);
    }
    return 0;
}

static void cleanup_dir(DIR **d)
{
    if (*d)
        closedir(*d);
}

/* Removes what the directory holds. Depth is the tree's; each level holds one fd. */
static int remove_children(int dirfd, const char *path, struct err *err)
{
    int fd = openat(dirfd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    __attribute__((cleanup(cleanup_dir))) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
    struct dirent *e;

    if (!dir) {
        int code = errno;

        if (fd >= 0)
            close(fd);
        return err_sys(err, code, "cannot open directory %s", path);
    }
    while ((e = readdir(dir))) {
        int r;

        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        r = fs_remove_tree(fd, e->d_name, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int fs_remove_tree(int dirfd, const char *path, struct err *err)
{
    if (unlinkat(dirfd, path, 0) == 0 || errno == ENOENT)
        return 0;
    if (errno == EISDIR || errno == EPERM) {
        int r = remove_children(dirfd, path, err);

        if (r < 0)
            return r;
        if (unlinkat(dirfd, path, AT_REMOVEDIR) == 0)
            return 0;
    }
    return err_sys(err, errno, "cannot remove %s", path);
}

bool fs_exists(int dirfd, const char *path)
{
    return faccessat(dirfd, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}
