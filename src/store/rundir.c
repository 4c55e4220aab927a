#include "store/rundir.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "store/hfwriter.h"
#include "store/rewrite.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define RUN_JSON     "run.json"
#define RUN_JSON_MAX (16 << 20)

struct rundir {
    char *path;   /* where it belongs */
    char *beside; /* where it is until published; NULL = it is there already */
    int fd;
    int telemetry_fd;
};

static bool is_empty(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    DIR *dir = copy < 0 ? NULL : fdopendir(copy);
    bool empty = true;
    struct dirent *e;

    if (!dir)
        return false;
    while (empty && (e = readdir(dir)))
        empty = strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0;
    closedir(dir);
    return empty;
}

enum rundir_state rundir_state(const char *path)
{
    AUTO_FD int fd = fs_open_dir(AT_FDCWD, path, NULL);

    if (fd < 0)
        return fs_exists(AT_FDCWD, path) ? RUNDIR_FOREIGN : RUNDIR_ABSENT;
    if (hfwriter_unfinished(fd))
        return RUNDIR_UNFINISHED;
    if (fs_exists(fd, "state.json") && fs_exists(fd, "dataset_info.json"))
        return RUNDIR_FINISHED;
    /* a run that was killed before its first record, or between the steps of finishing it */
    if (fs_exists(fd, RUN_JSON))
        return RUNDIR_UNFINISHED;
    return is_empty(fd) ? RUNDIR_ABSENT : RUNDIR_FOREIGN;
}

static int lock_dir(int fd, const char *path, struct err *err)
{
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
        return 0;
    if (errno == EWOULDBLOCK)
        return err_set(err, EBUSY, "%s is being written by another ipw", path);
    return err_sys(err, errno, "cannot lock %s", path);
}

int rundir_lock(const char *path, struct err *err)
{
    AUTO_FD int fd = fs_open_dir(AT_FDCWD, path, err);
    int r;

    if (fd < 0)
        return fd;
    r = lock_dir(fd, path, err);
    return r < 0 ? r : steal_fd(&fd);
}

void rundir_close(struct rundir *d)
{
    if (!d)
        return;
    if (d->beside)
        fs_remove_tree(AT_FDCWD, d->beside, NULL);
    if (d->telemetry_fd >= 0)
        close(d->telemetry_fd);
    if (d->fd >= 0)
        close(d->fd);
    free(d->beside);
    free(d->path);
    free(d);
}

static struct rundir *rundir_new(const char *path)
{
    struct rundir *d = xcalloc(1, sizeof(*d));

    d->path = xstrdup(path);
    while (strlen(d->path) > 1 && d->path[strlen(d->path) - 1] == '/')
        d->path[strlen(d->path) - 1] = '\0';
    d->fd = d->telemetry_fd = -1;
    return d;
}

/* The directory to write to: the path itself when it is free, else one beside it. */
static int make_dir(struct rundir *d, bool free_place, struct err *err)
{
    AUTO_FREE char *beside = free_place ? NULL : xasprintf("%s.new", d->path);
    const char *place = beside ? beside : d->path;
    int r;

    if (beside && fs_exists(AT_FDCWD, beside)) { /* left by a run that was killed early */
        AUTO_FD int fd = rundir_lock(beside, err);

        if (fd < 0)
            return fd;
        r = fs_remove_tree(AT_FDCWD, beside, err);
        if (r < 0)
            return r;
    }
    r = fs_mkdirs(place, err);
    if (r == 0)
        d->fd = rundir_lock(place, err);
    d->beside = d->fd >= 0 ? STEAL(beside) : NULL;
    return r < 0 ? r : d->fd < 0 ? d->fd : 0;
}

static int check_free(const char *path, bool overwrite, bool *ret_free, struct err *err)
{
    switch (rundir_state(path)) {
    case RUNDIR_ABSENT:
        *ret_free = true;
        return 0;
    case RUNDIR_FOREIGN:
        return err_set(err, ENOTEMPTY, "%s exists and is not a run of ipw: not touched", path);
    default:
        if (!overwrite)
            return err_set(err, EEXIST, "%s exists: --overwrite replaces it, --resume goes on",
                           path);
        *ret_free = false;
        /* nobody may be writing it */
        AUTO_FD int fd = rundir_lock(path, err);
        return fd < 0 ? fd : 0;
    }
}

int rundir_create(const char *path, bool overwrite, const char *config, struct rundir **ret,
                  struct err *err)
{
    struct rundir *d = rundir_new(path);
    bool free_place = true;
    int r = check_free(d->path, overwrite, &free_place, err);

    if (r == 0)
        r = make_dir(d, free_place, err);
    if (r == 0)
        r = fs_replace(d->fd, RUN_JSON, config, strlen(config), err);
    if (r < 0) {
        rundir_close(d);
        return r;
    }
    *ret = d;
    return 0;
}

/* Names the first member that is not the same in both. */
static int compare_config(const struct json *old, const struct json *now, struct err *err)
{
    const struct json *a = json_first(old), *b = json_first(now);

    for (; a || b; a = a ? a->next : NULL, b = b ? b->next : NULL) {
        AUTO(buf) struct buf was = BUF_INIT(BUF_MAX_OWN), is = BUF_INIT(BUF_MAX_OWN);
        struct json_writer w_was = json_writer(&was, JSON_LINE), w_is = json_writer(&is, JSON_LINE);
        const char *key = a ? a->key : b->key;
        const struct json *other = a ? json_get(now, key) : json_get(old, key);

        jw_value(&w_was, NULL, a ? a : other);
        jw_value(&w_is, NULL, a ? other : b);
        if (strcmp(was.data, is.data) != 0)
            return err_set(err, EINVAL,
                           "cannot resume: %.40s was %.60s and is now %.60s; use the same options",
                           key, was.data, is.data);
    }
    return 0;
}

static int check_config(int fd, const char *config, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(RUN_JSON_MAX);
    AUTO(json_doc) struct json_doc old = {0}, now = {0};
    int r = fs_read_all(fd, RUN_JSON, &text, err);

    if (r == -ENOENT)
        return err_set(err, ENOENT, "cannot resume: the run has no " RUN_JSON);
    if (r == 0)
        r = json_doc_parse(&old, text.data, text.len, err);
    if (r == 0)
        r = json_doc_parse(&now, config, strlen(config), err);
    return r < 0 ? r : compare_config(old.root, now.root, err);
}

int rundir_resume(const char *path, const char *config, struct rundir **ret, struct err *err)
{
    struct rundir *d = rundir_new(path);
    enum rundir_state state = rundir_state(d->path);
    int r = 0;

    if (state == RUNDIR_ABSENT || state == RUNDIR_FOREIGN)
        r = err_set(err, ENOENT, "there is no run to resume at %s", d->path);
    if (r == 0) {
        d->fd = rundir_lock(d->path, err);
        r = d->fd < 0 ? d->fd : 0;
    }
    if (r == 0)
        r = check_config(d->fd, config, err);
    if (r == 0)
        r = rewrite_settle(d->fd, err);
    if (r < 0) {
        rundir_close(d);
        return r;
    }
    *ret = d;
    return 0;
}

/* Where directories cannot be exchanged in one step, a crash between the two leaves the old run
 * under ".old", never nothing. */
static int swap_dirs(const char *fresh, const char *path, struct err *err)
{
    AUTO_FREE char *old = xasprintf("%s.old", path);
    int r;

    if (renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_EXCHANGE) == 0)
        return 0;
    r = fs_remove_tree(AT_FDCWD, old, err);
    if (r < 0)
        return r;
    if (rename(path, old) < 0 || rename(fresh, path) < 0 || rename(old, fresh) < 0)
        return err_sys(err, errno, "cannot replace %s", path);
    return 0;
}

int rundir_publish(struct rundir *d, struct err *err)
{
    int r;

    if (!d->beside)
        return 0;
    r = swap_dirs(d->beside, d->path, err);
    if (r == 0)
        r = fs_sync_parent(AT_FDCWD, d->path, err);
    if (r == 0)
        r = fs_remove_tree(AT_FDCWD, d->beside, err);
    if (r == 0) {
        free(d->beside);
        d->beside = NULL;
    }
    return r;
}

int rundir_fd(const struct rundir *d)
{
    return d->fd;
}

int rundir_telemetry_fd(struct rundir *d, struct err *err)
{
    if (d->telemetry_fd >= 0)
        return d->telemetry_fd;
    if (mkdirat(d->fd, "telemetry", 0777) < 0 && errno != EEXIST)
        return err_sys(err, errno, "cannot create telemetry");
    d->telemetry_fd = fs_open_dir(d->fd, "telemetry", err);
    return d->telemetry_fd;
}

const char *rundir_path(const struct rundir *d)
{
    return d->path;
}

/* A set that was interrupted before its first byte has nothing to recover and stays as it is. */
static int recover_dataset(int fd, struct err *err)
{
    struct hfwriter *w = NULL;
    int r;

    if (fd < 0 || !hfwriter_unfinished(fd))
        return 0;
    r = hfwriter_resume(fd, NULL, NULL, &w, err);
    if (r == 0)
        r = hfwriter_finish(w, err);
    hfwriter_free(w);
    return r == -ENODATA ? 0 : r;
}

int rundir_recover(const char *path, struct err *err)
{
    AUTO_FD int fd = fs_open_dir(AT_FDCWD, path, NULL), telemetry = -1;
    bool unfinished;
    int r;

    if (fd < 0)
        return 0;
    telemetry = fs_open_dir(fd, "telemetry", NULL);
    unfinished = hfwriter_unfinished(fd) || (telemetry >= 0 && hfwriter_unfinished(telemetry));
    if (!unfinished && !rewrite_unsettled(fd))
        return 0;
    r = lock_dir(fd, path, err);
    if (r == -EBUSY && !unfinished)
        return 0; /* verdicts are being written: until they are, the old ones can be read */
    if (r == 0)
        r = rewrite_settle(fd, err);
    if (!unfinished && (r == -EROFS || r == -EACCES))
        return 0; /* it can be read as it is */
    if (r == 0)
        r = recover_dataset(telemetry, err);
    if (r == 0)
        r = recover_dataset(fd, err);
    return r < 0 && r != -EBUSY ? err_prefix(err, "%s", path) : r;
}
