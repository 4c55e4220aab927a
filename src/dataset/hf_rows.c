/*
 * The rows of a HuggingFace directory. A row is written as JSON and parsed again: slower than
 * reading the columns, but a question waits for a model for seconds, and everything above sees one
 * kind of row. A place is the row's number; going back opens the directory again.
 */
#include "dataset/rows.h"

#include "arrow/hfdir.h"
#include "base/alloc.h"

#include <errno.h>
#include <fcntl.h>

struct hf_rows {
    char *path;
    char *split;
    struct hfdir *dir;
    const struct arrow_array *batch; /* NULL before the first and behind the last */
    int64_t first;                   /* number of the batch's first row */
    int64_t next;                    /* number of the row that is due */
    struct buf text;
    struct json_doc doc;
};

static void hf_rows_close(void *ctx)
{
    struct hf_rows *h = ctx;

    hfdir_close(h->dir);
    json_doc_release(&h->doc);
    buf_release(&h->text);
    free(h->split);
    free(h->path);
    free(h);
}

static int open_dir(struct hf_rows *h, struct err *err)
{
    hfdir_close(h->dir);
    h->dir = NULL;
    h->batch = NULL;
    h->first = 0;
    return hfdir_open(AT_FDCWD, h->path, h->split, &h->dir, err);
}

/* Makes the batch that has the row current. 1 = it is there, 0 = the end. */
static int find_batch(struct hf_rows *h, struct err *err)
{
    int r = h->dir && h->next >= h->first ? 0 : open_dir(h, err);

    if (r < 0)
        return r;
    while (!h->batch || h->next >= h->first + h->batch->length) {
        h->first += h->batch ? h->batch->length : 0;
        r = hfdir_next(h->dir, &h->batch, err);
        if (r <= 0) {
            h->batch = NULL;
            return r;
        }
    }
    return 1;
}

static int hf_rows_next(void *ctx, struct row *ret, struct err *err)
{
    struct hf_rows *h = ctx;
    struct json_writer w = json_writer(&h->text, JSON_LINE);
    int r = find_batch(h, err);

    if (r <= 0)
        return r;
    *ret = (struct row){.place = {.offset = h->next, .number = h->next}, .line = -1};
    buf_clear(&h->text);
    arrow_value_json(h->batch, h->next - h->first, &w, NULL);
    h->next++;
    if (h->text.failed)
        return err_set(err, EBADMSG, "the row is larger than %zu bytes", h->text.max);
    if (json_doc_parse(&h->doc, h->text.data, h->text.len, err) < 0)
        return -EBADMSG;
    ret->object = h->doc.root;
    return 1;
}

static int hf_rows_seek(void *ctx, struct row_place place, struct err *err)
{
    struct hf_rows *h = ctx;

    (void)err;
    h->next = place.number;
    return 0;
}

static const struct rows_ops ops = {
    .next = hf_rows_next,
    .seek = hf_rows_seek,
    .close = hf_rows_close,
};

int rows_hf_open(const char *path, const char *split, struct rows **ret, struct err *err)
{
    struct hf_rows *h = xcalloc(1, sizeof(*h));
    struct rows *rows;
    int r;

    h->path = xstrdup(path);
    h->split = split ? xstrdup(split) : NULL;
    buf_init(&h->text, ROW_MAX);
    r = open_dir(h, err);
    if (r < 0) {
        hf_rows_close(h);
        return r;
    }
    rows = xcalloc(1, sizeof(*rows));
    *rows = (struct rows){.ops = &ops, .ctx = h, .name = xstrdup(path)};
    *ret = rows;
    return 0;
}
