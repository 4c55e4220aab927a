#include "dataset/dataset.h"

#include "base/alloc.h"
#include "base/fs.h"
#include "dataset/rows.h"
#include "dataset/sets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static bool is_id(const char *text)
{
    return registry_find(&datasets, text, NULL) != NULL;
}

/* A registered id stays one, even beside a file of that name: "./ipw" says the file. */
static bool is_path(const char *text)
{
    if (strchr(text, '/'))
        return true;
    if (is_id(text))
        return false;
    return rows_ending(text) || fs_exists(AT_FDCWD, text);
}

/* "/data/questions.jsonl" -> "questions", "/data/set/" -> "set". */
static void title_of_path(const char *path, char *title, size_t size)
{
    size_t end = strlen(path), start;
    const char *dot;

    while (end > 1 && path[end - 1] == '/')
        end--;
    for (start = end; start > 0 && path[start - 1] != '/';)
        start--;
    snprintf(title, size, "%.*s", (int)(end - start > 4096 ? 4096 : end - start), path + start);
    dot = rows_ending(title);
    if (dot)
        title[dot - title] = '\0';
}

int dataset_open(const char *id_or_path, const struct kv_list *params, uint64_t seed,
                 struct dataset **ret, struct err *err)
{
    struct dataset_config config = {.params = params, .seed = seed};
    const struct dataset_ops *ops = &dataset_file_ops;
    struct dataset *d;
    void *ctx;
    int r;

    if (is_path(id_or_path))
        config.path = id_or_path;
    else
        ops = (const struct dataset_ops *)registry_find(&datasets, id_or_path, err);
    if (!ops)
        return -ENOENT;
    r = ops->open(&config, &ctx, err);
    if (r < 0)
        return r;
    d = xcalloc(1, sizeof(*d));
    d->ops = ops;
    d->ctx = ctx;
    if (config.path)
        title_of_path(config.path, d->title, sizeof(d->title));
    else
        snprintf(d->title, sizeof(d->title), "%s", ops->title);
    *ret = d;
    return 0;
}

int dataset_next(struct dataset *d, struct item *ret, struct err *err)
{
    return d->ops->next(d->ctx, ret, err);
}

int dataset_rewind(struct dataset *d, struct err *err)
{
    return d->ops->rewind(d->ctx, err);
}

int64_t dataset_size(struct dataset *d)
{
    return d->ops->size(d->ctx);
}

void dataset_rejects(struct dataset *d, struct dataset_rejects *ret)
{
    *ret = (struct dataset_rejects){0};
    if (d->ops->rejects)
        d->ops->rejects(d->ctx, ret);
}

void dataset_free(struct dataset *d)
{
    if (!d)
        return;
    d->ops->close(d->ctx);
    free(d);
}
