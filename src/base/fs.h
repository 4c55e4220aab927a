/*
 * fs: small files, and files that must not be lost.
 *
 * Paths are relative to a directory fd (AT_FDCWD for the working directory), so that a fake /sys or
 * a run directory is one fd and no string is glued. All fds are O_CLOEXEC.
 */
#ifndef IPW_BASE_FS_H
#define IPW_BASE_FS_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens a directory. Returns the fd. */
int fs_open_dir(int dirfd, const char *path, struct err *err);

/* Reads a small file (a sysfs attribute) into text, NUL-terminated, trailing white space removed.
 * -EFBIG when it does not fit in size - 1 bytes. Returns the length. */
int fs_read_text(int dirfd, const char *path, char *text, size_t size, struct err *err);
/* A sysfs attribute that holds one whole number. */
int fs_read_i64(int dirfd, const char *path, int64_t *ret, struct err *err);

/* Appends a whole file to out; -EMSGSIZE when the buf's limit is smaller than the file. */
int fs_read_all(int dirfd, const char *path, struct buf *out, struct err *err);

/* A whole file, mapped read-only. */
struct fs_map {
    const char *data; /* NULL when the file is empty */
    size_t size;
};
int fs_map_open(int dirfd, const char *path, struct fs_map *ret, struct err *err);
void fs_map_release(struct fs_map *m);

/* Writes all of it, however often the kernel takes only a part. */
int fs_write_full(int fd, const void *data, size_t n, struct err *err);

/* Replaces path by the data, atomically and durably: a reader, or a crash at any moment, sees the
 * old file or the new one. A device or a pipe is written to, and never replaced: /dev/null stays
 * what it is. */
int fs_replace(int dirfd, const char *path, const void *data, size_t n, struct err *err);
/* fsync of the directory that holds path, which makes a rename in it durable. */
int fs_sync_parent(int dirfd, const char *path, struct err *err);

/* Makes path and its missing parents. */
int fs_mkdirs(const char *path, struct err *err);
/* Removes a file or a whole tree; symbolic links are removed, never followed. Absent is success. */
int fs_remove_tree(int dirfd, const char *path, struct err *err);
bool fs_exists(int dirfd, const char *path);

#endif
