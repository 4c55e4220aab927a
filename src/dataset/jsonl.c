/*
 * A line that lies within one piece of the feed is parsed where it is; only one that crosses pieces
 * is put together first. A line beyond ROW_MAX is passed over without being kept.
 */
#include "dataset/rows.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "dataset/feed.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

struct jsonl {
    struct feed *feed;
    const char *piece; /* what is left of the feed's current piece */
    size_t piece_len;
    int64_t offset;  /* of its first byte */
    struct buf line; /* one that crosses pieces */
    struct json_doc doc;
    int64_t lines;  /* ended so far; -1 = unknown */
    int64_t number; /* of the next row */
};

struct line {
    const char *text;
    size_t len;
    bool too_long;
};

/* Appends the first n bytes of the piece to the line that crosses pieces. */
static void keep(struct jsonl *j, size_t n, struct line *line)
{
    if (buf_add(&j->line, j->piece, n) < 0)
        line->too_long = true;
}

static void advance(struct jsonl *j, size_t n)
{
    j->piece += n;
    j->piece_len -= n;
    j->offset += (int64_t)n;
}

/* 1 = a line, 0 = the end. */
static int next_line(struct jsonl *j, struct line *ret, struct err *err)
{
    struct line line = {0};
    bool any = false;

    buf_clear(&j->line);
    for (;;) {
        const char *end;
        size_t n;
        int r = j->piece_len ? 1 : feed_read(j->feed, &j->piece, &j->piece_len, err);

        if (r < 0 || (r == 0 && !any))
            return r;
        end = r ? memchr(j->piece, '\n', j->piece_len) : NULL;
        n = end ? (size_t)(end - j->piece) : j->piece_len;
        any = true;
        if (end && !j->line.len && !line.too_long) {
            line.text = j->piece;
            line.len = n;
            line.too_long = n > ROW_MAX;
        } else {
            keep(j, n, &line);
        }
        advance(j, n + (end != NULL));
        if (end || r == 0)
            break;
    }
    if (!line.text) {
        line.text = buf_str(&j->line);
        line.len = j->line.len;
    }
    if (j->lines >= 0)
        j->lines++;
    *ret = line;
    return 1;
}

static void skip_bom(struct line *line)
{
    if (line->len >= 3 && memcmp(line->text, "\xEF\xBB\xBF", 3) == 0) {
        line->text += 3;
        line->len -= 3;
    }
}

static bool is_blank(const struct line *line)
{
    for (size_t i = 0; i < line->len; i++)
        if (!strchr(" \t\r", line->text[i]) || !line->text[i])
            return false;
    return !line->too_long;
}

static int parse_line(struct jsonl *j, const struct line *line, struct err *err)
{
    int r;

    if (line->too_long)
        return err_set(err, EBADMSG, "longer than %zu MiB", ROW_MAX >> 20);
    r = json_doc_parse(&j->doc, line->text, line->len, err);
    if (r < 0) {
        if (err)
            err->code = -EBADMSG;
        return -EBADMSG;
    }
    if (!json_is(j->doc.root, JSON_OBJECT))
        return err_set(err, EBADMSG, "not a JSON object");
    return 1;
}

static int jsonl_next(void *ctx, struct row *ret, struct err *err)
{
    struct jsonl *j = ctx;
    struct row row = {.line = -1};
    struct line line;
    int r;

    do {
        row.place = (struct row_place){.offset = j->offset, .number = j->number};
        r = next_line(j, &line, err);
        if (r <= 0)
            return r;
        if (row.place.offset == 0)
            skip_bom(&line);
    } while (is_blank(&line));
    j->number++;
    row.line = j->lines;
    r = parse_line(j, &line, err);
    if (r > 0)
        row.object = j->doc.root;
    *ret = row;
    return r;
}

static int jsonl_seek(void *ctx, struct row_place place, struct err *err)
{
    struct jsonl *j = ctx;

    (void)err;
    feed_seek(j->feed, place.offset);
    j->piece_len = 0;
    j->offset = place.offset;
    j->number = place.number;
    j->lines = place.offset == 0 ? 0 : -1;
    return 0;
}

static void jsonl_close(void *ctx)
{
    struct jsonl *j = ctx;

    feed_free(j->feed);
    buf_release(&j->line);
    json_doc_release(&j->doc);
    free(j);
}

static const struct rows_ops jsonl_ops = {
    .next = jsonl_next,
    .seek = jsonl_seek,
    .close = jsonl_close,
};

struct rows *rows_jsonl_take(const char *name, struct feed *feed)
{
    struct rows *r = xcalloc(1, sizeof(*r));
    struct jsonl *j = xcalloc(1, sizeof(*j));

    *j = (struct jsonl){.feed = feed, .line = BUF_INIT(ROW_MAX)};
    *r = (struct rows){.ops = &jsonl_ops, .ctx = j, .name = xstrdup(name)};
    return r;
}
