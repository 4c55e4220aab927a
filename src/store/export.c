#include "store/export.h"

#include "arrow/hfdir.h"
#include "base/buf.h"
#include "base/cleanup.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Formats a row of a batch into line, without the line's end. */
typedef void row_fn(const struct arrow_array *batch, int64_t i, struct buf *line);

static int write_line(FILE *out, struct buf *line, const char *end, struct err *err)
{
    buf_adds(line, end);
    if (fwrite(line->data, 1, line->len, out) != line->len)
        return err_sys(err, errno, "cannot write");
    buf_clear(line);
    return 0;
}

static int write_rows(struct hfdir *h, row_fn *row, const char *end, FILE *out, int64_t *ret_rows,
                      struct err *err)
{
    AUTO(buf) struct buf line = BUF_INIT(BUF_MAX_OWN);
    const struct arrow_array *batch;
    int64_t rows = 0;
    int r;

    while ((r = hfdir_next(h, &batch, err)) > 0) {
        for (int64_t i = 0; i < batch->length; i++, rows++) {
            row(batch, i, &line);
            r = write_line(out, &line, end, err);
            if (r < 0)
                return r;
        }
    }
    if (r == 0 && fflush(out) != 0)
        r = err_sys(err, errno, "cannot write");
    if (r == 0)
        *ret_rows = rows;
    return r;
}

static void json_row(const struct arrow_array *batch, int64_t i, struct buf *line)
{
    struct json_writer w = json_writer(line, JSON_LINE);

    arrow_value_json(batch, i, &w, NULL);
}

int export_jsonl(const char *dir, FILE *out, int64_t *ret_rows, struct err *err)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    int r = hfdir_open(AT_FDCWD, dir, NULL, &h, err);

    return r < 0 ? r : write_rows(h, json_row, "\n", out, ret_rows, err);
}

static void add_quoted(struct buf *line, const char *text, size_t n)
{
    buf_addc(line, '"');
    while (n > 0) {
        const char *quote = memchr(text, '"', n);
        size_t len = quote ? (size_t)(quote - text) + 1 : n;

        buf_add(line, text, len);
        if (quote)
            buf_addc(line, '"');
        text += len;
        n -= len;
    }
    buf_addc(line, '"');
}

static void add_comma(struct buf *line)
{
    if (line->len)
        buf_addc(line, ',');
}

/* An empty struct has no column of its own. */
static bool is_nested(const struct arrow_field *f)
{
    return f->type == ARROW_STRUCT;
}

static void header(const struct arrow_field *f, struct buf *path, struct buf *line)
{
    for (size_t i = 0; i < f->n_children; i++) {
        const struct arrow_field *child = &f->children[i];
        size_t before = path->len;

        buf_addf(path, "%s%s", path->len ? "." : "", child->name);
        if (is_nested(child)) {
            header(child, path, line);
        } else {
            add_comma(line);
            add_quoted(line, buf_str(path), path->len);
        }
        path->len = before;
    }
}

static void add_value(const struct arrow_array *a, int64_t i, struct buf *line)
{
    AUTO(buf) struct buf json = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&json, JSON_LINE);
    const char *text;
    size_t n;

    if (arrow_is_null(a, i))
        return;
    if (arrow_text(a, i, &text, &n)) {
        add_quoted(line, text, n);
        return;
    }
    arrow_value_json(a, i, &w, NULL);
    if (json.data[0] == '"') /* a date, a decimal, bytes: plain text without escapes */
        buf_add(line, json.data, json.len);
    else if (json.data[0] == '[')
        add_quoted(line, json.data, json.len);
    else if (strcmp(json.data, "null") != 0) /* not a number is not a value */
        buf_add(line, json.data, json.len);
}

static void csv_fields(const struct arrow_array *a, int64_t i, bool *first, struct buf *line)
{
    for (size_t k = 0; k < a->n_children; k++) {
        const struct arrow_array *child = &a->children[k];

        if (is_nested(child->field)) {
            csv_fields(child, i, first, line);
            continue;
        }
        if (!*first)
            buf_addc(line, ',');
        *first = false;
        add_value(child, i, line);
    }
}

static void csv_row(const struct arrow_array *batch, int64_t i, struct buf *line)
{
    bool first = true;

    csv_fields(batch, i, &first, line);
}

int export_csv(const char *dir, FILE *out, int64_t *ret_rows, struct err *err)
{
    AUTO(buf) struct buf path = BUF_INIT(BUF_MAX_OWN), line = BUF_INIT(BUF_MAX_OWN);
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    int r = hfdir_open(AT_FDCWD, dir, NULL, &h, err);

    if (r < 0)
        return r;
    header(&hfdir_schema(h)->root, &path, &line);
    r = write_line(out, &line, "\r\n", err);
    return r < 0 ? r : write_rows(h, csv_row, "\r\n", out, ret_rows, err);
}
