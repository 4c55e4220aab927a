/*
 * jsonl_to_arrow ROWS.jsonl OUT.arrow [ROWS-PER-BATCH]
 *
 * Writes lines of JSON as an Arrow stream of inferred types: the whole write path in one small
 * program, for the tests that read its output with another reader.
 */
#include "arrow/builder.h"
#include "arrow/infer.h"
#include "arrow/writer.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

struct job {
    struct arrow_schema schema;
    struct arrow_builder *builder; /* NULL while the types are being found */
    struct arrow_sink sink;
    int64_t batch_rows;
};

static void job_release(struct job *job)
{
    arrow_schema_release(&job->schema);
    arrow_builder_free(job->builder);
}

static int flush(struct job *job, struct err *err)
{
    int r = arrow_write_batch(&job->sink, job->builder, err);

    arrow_builder_clear(job->builder);
    return r;
}

static int take_row(struct job *job, const struct json *row, struct err *err)
{
    int r;

    if (!job->builder)
        return arrow_infer_add(&job->schema.root, row, err);
    if (!arrow_put_json_row(job->builder, row))
        return err_set(err, EINVAL, "a row does not fit the types found");
    r = arrow_builder_end_row(job->builder, err);
    if (r == 0 && arrow_builder_rows(job->builder) == job->batch_rows)
        r = flush(job, err);
    return r;
}

static int each_row(struct job *job, const struct buf *lines, struct err *err)
{
    AUTO(json_doc) struct json_doc doc = {0};
    const char *p = buf_str(lines), *end = p + lines->len;
    int line = 1, r = 0;

    for (; p < end && r == 0; line++) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);

        r = json_doc_parse(&doc, p, n, err);
        if (r == 0)
            r = take_row(job, doc.root, err);
        if (r < 0)
            return err_prefix(err, "line %d", line);
        p += n + 1;
    }
    return r;
}

static int convert(struct job *job, const struct buf *lines, struct err *err)
{
    int r = each_row(job, lines, err);

    if (r < 0)
        return r;
    arrow_schema_describe(&job->schema);
    r = arrow_builder_new(&job->schema, &job->builder, err);
    if (r == 0)
        r = arrow_write_schema(&job->sink, &job->schema, err);
    if (r == 0)
        r = each_row(job, lines, err);
    if (r == 0 && arrow_builder_rows(job->builder) > 0)
        r = flush(job, err);
    if (r == 0)
        r = arrow_write_end(&job->sink, err);
    return r;
}

static int run(int argc, char **argv, struct err *err)
{
    AUTO(job) struct job job = {.batch_rows = 1000};
    AUTO(buf) struct buf lines = BUF_INIT((size_t)1 << 30);
    AUTO_FD int fd = -1;
    int r = 0;

    arrow_schema_init(&job.schema);
    if (argc < 3 || argc > 4)
        return err_set(err, EINVAL, "usage: %s ROWS.jsonl OUT.arrow [ROWS-PER-BATCH]", argv[0]);
    if (argc == 4)
        r = parse_i64(argv[3], &job.batch_rows, err);
    if (r == 0)
        r = fs_read_all(AT_FDCWD, argv[1], &lines, err);
    if (r < 0)
        return r;
    fd = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return err_sys(err, errno, "cannot create %s", argv[2]);
    job.sink = arrow_sink_fd(fd);
    return convert(&job, &lines, err);
}

int main(int argc, char **argv)
{
    struct err err = {0};

    if (run(argc, argv, &err) == 0)
        return 0;
    fprintf(stderr, "%s\n", err.text);
    return 1;
}
