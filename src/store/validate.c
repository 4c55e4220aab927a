#include "store/validate.h"

#include "arrow/hfdir.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "store/rundir.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define JSON_FILE_MAX (64 << 20)

static void find(struct validation *v, bool fatal, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void find(struct validation *v, bool fatal, const char *fmt, ...)
{
    struct finding *f;
    va_list ap;

    GROW(v->findings, v->n, v->cap);
    f = &v->findings[v->n++];
    f->fatal = fatal;
    va_start(ap, fmt);
    vsnprintf(f->text, sizeof(f->text), fmt, ap);
    va_end(ap);
    if (fatal)
        v->sound = false;
}

void validation_release(struct validation *v)
{
    free(v->findings);
    *v = (struct validation){0};
}

/* Whether the library would accept the features for the schema: same names and kinds throughout.
 * A list is spelled [T] or {"feature": T, "_type": ...}. */
static bool features_match(const struct json *feature, const struct arrow_field *f)
{
    size_t members = 0;

    if (f->type == ARROW_LIST || f->type == ARROW_LARGE_LIST || f->type == ARROW_FIXED_LIST) {
        const struct json *item =
            json_is(feature, JSON_ARRAY) ? json_first(feature) : json_get(feature, "feature");

        return item && features_match(item, &f->children[0]);
    }
    if (f->type != ARROW_STRUCT)
        return json_is(json_get(feature, "_type"), JSON_STRING);
    JSON_FOREACH (member, feature) {
        const struct arrow_field *child = arrow_field_child(f, member->key);

        if (!child || !features_match(member, child))
            return false;
        members++;
    }
    return json_is(feature, JSON_OBJECT) && members == f->n_children;
}

static int read_json(int fd, const char *name, struct json_doc *doc, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(JSON_FILE_MAX);
    int r = fs_read_all(fd, name, &text, err);

    if (r == 0)
        r = json_doc_parse(doc, text.data, text.len, err);
    return r < 0 && r != -ENOENT ? err_prefix(err, "%s", name) : r;
}

static void check_info(int fd, const struct arrow_schema *schema, struct validation *v)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct err err = {0};
    const struct json *features;

    if (read_json(fd, "dataset_info.json", &doc, &err) < 0) {
        find(v, true, "%s", err.text);
        return;
    }
    features = json_get(doc.root, "features");
    if (features && !features_match(features, &schema->root))
        find(v, true, "dataset_info.json: the features do not match the columns of the data");
}

static bool text_is(const struct arrow_array *a, int64_t i, const char *word)
{
    const char *text;
    size_t n;

    return arrow_text(a, i, &text, &n) && n == strlen(word) && memcmp(text, word, n) == 0;
}

/* A bit for every index seen. */
struct index_set {
    unsigned char *bits;
    size_t size;
};

/* Whether it was there already. An index that no run can reach is not looked at. */
static bool index_seen(struct index_set *s, int64_t index)
{
    size_t byte = (size_t)index / 8;
    unsigned char bit = (unsigned char)(1u << index % 8);
    bool seen;

    if (byte >= s->size) {
        size_t size = s->size ? s->size : 4096;

        while (size <= byte)
            size *= 2;
        s->bits = xreallocarray(s->bits, size, 1);
        memset(s->bits + s->size, 0, size - s->size);
        s->size = size;
    }
    seen = s->bits[byte] & bit;
    s->bits[byte] |= bit;
    return seen;
}

#define INDEX_MAX (INT64_C(1) << 32)

static void check_batch(const struct arrow_array *batch, struct index_set *set,
                        struct validation *v)
{
    const struct arrow_array *request = arrow_child(batch, "request");
    const struct arrow_array *metrics = arrow_child(batch, "model_metrics");
    const struct arrow_array *index = arrow_child(request, "index");

    for (int64_t i = 0; i < batch->length; i++, v->rows++) {
        int64_t number = arrow_i64(index, i, -1);

        if (number >= INDEX_MAX)
            find(v, true, "row %" PRId64 ": request.index %" PRId64 " is absurd", v->rows, number);
        else if (number >= 0 && index_seen(set, number))
            find(v, true, "row %" PRId64 ": query %" PRId64 " is there twice", v->rows, number);
        if (request && !text_is(arrow_child(request, "status"), i, "ok"))
            v->failed++;
        for (size_t k = 0; metrics && k < metrics->n_children; k++) {
            const struct arrow_array *validity =
                arrow_child(arrow_child(&metrics->children[k], "measurement"), "validity");

            v->valid += text_is(validity, i, "valid");
            v->degraded += text_is(validity, i, "degraded");
            v->invalid += text_is(validity, i, "invalid");
        }
    }
}

static void check_columns(const struct arrow_schema *schema, struct validation *v)
{
    static const char *const needed[] = {"problem", "model_answers", "model_metrics", NULL};

    for (const char *const *name = needed; *name; name++)
        if (!arrow_field_child(&schema->root, *name))
            find(v, true, "there is no column %s: not the records of a run", *name);
}

static void check_rows(const char *dir, int fd, struct validation *v)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    struct index_set set = {0};
    const struct arrow_array *batch;
    struct err err = {0};
    int r = hfdir_open(AT_FDCWD, dir, NULL, &h, &err);

    if (r == 0) {
        check_columns(hfdir_schema(h), v);
        check_info(fd, hfdir_schema(h), v);
    }
    while (r >= 0 && (r = hfdir_next(h, &batch, &err)) > 0)
        check_batch(batch, &set, v);
    if (r < 0)
        find(v, true, "%s", err.text);
    else if (v->rows == 0)
        find(v, true, "there are no records");
    free(set.bits);
}

static void check_telemetry(int fd, struct validation *v)
{
    AUTO_PTR(hfdir) struct hfdir *h = NULL;
    const struct arrow_array *batch;
    struct err err = {0};
    int r;

    v->telemetry_rows = -1;
    if (!fs_exists(fd, "telemetry/state.json"))
        return;
    v->telemetry_rows = 0;
    r = hfdir_open(fd, "telemetry", NULL, &h, &err);
    while (r >= 0 && (r = hfdir_next(h, &batch, &err)) > 0)
        v->telemetry_rows += batch->length;
    if (r < 0)
        find(v, true, "telemetry: %s", err.text);
}

static void check_summary(int fd, struct validation *v)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct err err = {0};
    const struct json *validity;
    int64_t total;

    if (!fs_exists(fd, "summary.json")) {
        find(v, true,
             "there is no summary.json: the run was interrupted; ipw profile --resume "
             "goes on with it");
        return;
    }
    if (read_json(fd, "summary.json", &doc, &err) < 0) {
        find(v, true, "%s", err.text);
        return;
    }
    total = json_int(json_get(doc.root, "total_queries"), -1);
    if (total < 0)
        find(v, true, "summary.json: no total_queries");
    else if (total != v->rows)
        find(v, true, "summary.json says %" PRId64 " queries, there are %" PRId64 " records", total,
             v->rows);
    validity = json_get(doc.root, "validity");
    snprintf(v->verdict, sizeof(v->verdict), "%s", json_text(json_get(validity, "verdict"), ""));
    JSON_FOREACH (reason, json_get(validity, "reasons"))
        find(v, false, "%s: %s", json_text(json_get(reason, "code"), "?"),
             json_text(json_get(reason, "text"), "?"));
    if (strcmp(v->verdict, "invalid") == 0)
        find(v, true, "the run's own verdict is invalid");
}

void validate_run(const char *dir, struct validation *ret)
{
    struct err err = {0};
    AUTO_FD int fd = fs_open_dir(AT_FDCWD, dir, &err);

    *ret = (struct validation){.sound = true, .telemetry_rows = -1};
    if (fd < 0 || rundir_recover(dir, &err) < 0) {
        find(ret, true, "%s", err.text);
        return;
    }
    check_rows(dir, fd, ret);
    check_telemetry(fd, ret);
    check_summary(fd, ret);
}
