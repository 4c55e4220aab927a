/*
 * analysis_runs: small runs made of records spelled out in a test, and the documents that analyses
 * make of them.
 */
#ifndef IPW_TESTS_ANALYSIS_RUNS_H
#define IPW_TESTS_ANALYSIS_RUNS_H

#include "harness.h"

#include "analysis/analysis.h"
#include "arrow/infer.h"
#include "base/alloc.h"
#include "base/fs.h"
#include "store/hfwriter.h"
#include "store/rundir.h"
#include "store/schema.h"

#include <fcntl.h>

static char base[64];
static char path[96];
static struct err err;

static inline int set_up(void **state)
{
    (void)state;
    make_temp_dir(base);
    snprintf(path, sizeof(path), "%s/run", base);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, &err);
}

/* A query that came to its end, as a run of ours has it. */
static inline struct record query(const char *problem, const char *answer, const char *response)
{
    struct record r;

    record_init(&r);
    r.problem = problem;
    r.answer = answer;
    r.response = response;
    r.request.status = "ok";
    return r;
}

/* One of which only the figures matter. correct as in struct record. */
static inline struct record measured(int correct, double gpu_j, double seconds)
{
    struct record r = query("?", "4", "4");

    r.correct = correct;
    r.evaluation.scorer = correct < 0 ? NULL : "exact";
    r.evaluation.metadata = correct < 0 ? NULL : "{}";
    r.energy.gpu_j = gpu_j;
    r.latency.total_s = seconds;
    return r;
}

/* dataset_metadata of a record, from text; the doc owns it. */
static inline void set_metadata(struct record *r, struct json_doc *doc, const char *text)
{
    assert_ok(json_doc_parse(doc, text, strlen(text), &err), &err);
    r->metadata = doc->root;
}

/* summary may be NULL. */
static inline void write_run(struct record *records, size_t n, const char *summary)
{
    AUTO(arrow_schema) struct arrow_schema metadata = {0}, schema = {0};
    struct rundir *d = NULL;
    struct hfwriter *w = NULL;

    arrow_schema_init(&metadata);
    for (size_t i = 0; i < n; i++)
        if (records[i].metadata)
            assert_ok(arrow_infer_add(&metadata.root, records[i].metadata, &err), &err);
    assert_ok(fs_remove_tree(AT_FDCWD, path, &err), &err);
    assert_ok(rundir_create(path, false, "{}", &d, &err), &err);
    record_schema("m", metadata.root.n_children ? &metadata.root : NULL, &schema);
    assert_ok(hfwriter_create(rundir_fd(d), &schema, &w, &err), &err);
    for (size_t i = 0; i < n; i++)
        assert_ok(hfwriter_append(w, record_put, &records[i], 0, &err), &err);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
    if (summary)
        assert_ok(fs_replace(rundir_fd(d), "summary.json", summary, strlen(summary), &err), &err);
    rundir_close(d);
}

/* Runs the analysis; the document that it keeps is the one that it gives. */
static inline void analyze(const char *id, const struct analysis_options *o, struct json_doc *doc)
{
    static const struct analysis_options none;
    AUTO(analysis_result) struct analysis_result result = {0};
    AUTO(buf) struct buf kept = BUF_INIT(1 << 26);

    assert_ok(analysis_run(id, path, o ? o : &none, &result, &err), &err);
    assert_ok(fs_read_all(AT_FDCWD, result.artifact, &kept, &err), &err);
    assert_string_equal(kept.data, result.document.data);
    assert_ok(json_doc_parse(doc, kept.data, kept.len, &err), &err);
    assert_string_equal(json_text(json_get(doc->root, "analysis"), ""), id);
}

static inline double number(const struct json_doc *doc, const char *key)
{
    return json_real(json_path(doc->root, "summary", key), NAN);
}

static inline bool warns(const struct json_doc *doc, const char *part)
{
    JSON_FOREACH (item, json_get(doc->root, "warnings"))
        if (strstr(json_text(item, ""), part))
            return true;
    return false;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
