/*
 * pread with an offset of our own makes seeking a plain assignment, and needs no state in the
 * kernel that a failed read could leave in doubt.
 */
#include "dataset/feed.h"

#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct feed {
    int fd;             /* -1: memory */
    const char *memory; /* lent */
    size_t memory_len;
    int64_t offset; /* of the next piece */
    char *piece;
};

struct feed *feed_memory(const char *data, size_t n)
{
    struct feed *f = xcalloc(1, sizeof(*f));

    *f = (struct feed){.fd = -1, .memory = data, .memory_len = n};
    return f;
}

int feed_open(const char *path, struct feed **ret, struct err *err)
{
    AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    struct feed *f;

    if (fd < 0 || fstat(fd, &st) < 0)
        return err_sys(err, errno, "cannot open %s", path);
    if (!S_ISREG(st.st_mode))
        return err_set(err, EINVAL, "%s is not a file", path);
    f = feed_memory(NULL, 0);
    f->fd = steal_fd(&fd);
    f->piece = xmalloc(FEED_PIECE);
    *ret = f;
    return 0;
}

void feed_free(struct feed *f)
{
    if (!f)
        return;
    if (f->fd >= 0)
        close(f->fd);
    free(f->piece);
    free(f);
}

static int read_memory(struct feed *f, const char **ret, size_t *ret_n)
{
    if ((uint64_t)f->offset >= f->memory_len)
        return 0;
    *ret = f->memory + f->offset;
    *ret_n = f->memory_len - (size_t)f->offset;
    f->offset = (int64_t)f->memory_len;
    return 1;
}

int feed_read(struct feed *f, const char **ret, size_t *ret_n, struct err *err)
{
    ssize_t got;

    if (f->fd < 0)
        return read_memory(f, ret, ret_n);
    do
        got = pread(f->fd, f->piece, FEED_PIECE, f->offset);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_sys(err, errno, "cannot read");
    if (got == 0)
        return 0;
    *ret = f->piece;
    *ret_n = (size_t)got;
    f->offset += got;
    return 1;
}

void feed_seek(struct feed *f, int64_t offset)
{
    f->offset = offset;
}
