#include "dataset/rows.h"

#include "base/alloc.h"
#include "dataset/feed.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

const char *rows_ending(const char *path)
{
    const char *dot = strrchr(path, '.');

    return dot && dot > path && (strcasecmp(dot, ".jsonl") == 0 || strcasecmp(dot, ".csv") == 0)
               ? dot
               : NULL;
}

int rows_open(const char *path, const char *split, struct rows **ret, struct err *err)
{
    AUTO_PTR(feed) struct feed *feed = NULL;
    const char *ending = rows_ending(path);
    struct stat st;
    int r;

    if (stat(path, &st) < 0)
        return err_sys(err, errno, "cannot open %s", path);
    if (S_ISDIR(st.st_mode))
        return rows_hf_open(path, split, ret, err);
    if (split)
        return err_set(err, EINVAL, "%s is a file: only a directory has splits", path);
    if (!ending)
        return err_set(err, EINVAL, "%s is neither a .jsonl or .csv file nor a directory", path);
    r = feed_open(path, &feed, err);
    if (r < 0)
        return r;
    if (strcasecmp(ending, ".csv") == 0)
        return rows_csv_take(path, STEAL(feed), ret, err);
    *ret = rows_jsonl_take(path, STEAL(feed));
    return 0;
}

struct rows *rows_open_jsonl_memory(const char *name, const char *text, size_t n)
{
    return rows_jsonl_take(name, feed_memory(text, n));
}

void rows_free(struct rows *r)
{
    if (!r)
        return;
    r->ops->close(r->ctx);
    free(r->name);
    free(r);
}

int rows_next(struct rows *r, struct row *ret, struct err *err)
{
    return r->ops->next(r->ctx, ret, err);
}

int rows_seek(struct rows *r, struct row_place place, struct err *err)
{
    return r->ops->seek(r->ctx, place, err);
}

void rows_prefix(const struct rows *r, const struct row *row, struct err *err)
{
    if (row->line >= 0)
        err_prefix(err, "%s:%" PRId64, r->name, row->line);
    else
        err_prefix(err, "%s: row %" PRId64, r->name, row->place.number);
}
