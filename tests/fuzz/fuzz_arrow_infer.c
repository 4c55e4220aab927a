/*
 * Lines of JSON from outside: types are found, values put and written, and a strict verifier must
 * find nothing wrong with the stream and all the rows in it.
 */
#include "arrow/builder.h"
#include "arrow/infer.h"
#include "arrow/writer.h"
#include "arrow_verify.h"
#include "base/cleanup.h"
#include "base/json.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "%s\n", what);
    abort();
}

/* Each line that is an object and fits; put says what to do with it. */
static int64_t each_row(const uint8_t *data, size_t size, struct arrow_schema *s,
                        struct arrow_builder *b)
{
    AUTO(json_doc) struct json_doc doc = {0};
    const char *p = (const char *)data, *end = p + size;
    int64_t rows = 0;

    while (p < end) {
        const char *stop = memchr(p, '\n', (size_t)(end - p));
        size_t n = (size_t)((stop ? stop : end) - p);

        if (json_doc_parse(&doc, p, n, NULL) == 0 && json_is(doc.root, JSON_OBJECT)) {
            if (!b && arrow_infer_add(&s->root, doc.root, NULL) < 0)
                return -1;
            if (b) {
                check(arrow_put_json_row(b, doc.root), "inferred types do not hold a value");
                check(arrow_builder_end_row(b, NULL) == 0, "row refused");
            }
            rows++;
        }
        p += n + 1;
    }
    return rows;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct arrow_stream stream;
    AUTO(arrow_schema) struct arrow_schema s = {0};
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN), rows = BUF_INIT(BUF_MAX_OWN);
    struct arrow_sink sink = arrow_sink_buf(&out);
    const char *why;
    int64_t n;

    arrow_schema_init(&s);
    n = each_row(data, size, &s, NULL);
    if (n < 0)
        return 0;
    arrow_schema_describe(&s);
    check(arrow_builder_new(&s, &b, NULL) == 0, "schema refused");
    check(arrow_write_schema(&sink, &s, NULL) == 0, "schema not written");
    check(each_row(data, size, &s, b) == n, "rows");
    check(arrow_write_batch(&sink, b, NULL) == 0, "batch not written");
    check(arrow_write_end(&sink, NULL) == 0, "end not written");
    memset(&stream, 0, sizeof(stream));
    stream.p = (const uint8_t *)out.data;
    stream.n = out.len;
    stream.rows = &rows;
    why = arrow_verify(&stream);
    check(!why, why);
    check(stream.n_rows == n, "rows lost");
    return 0;
}
