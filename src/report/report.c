/*
 * The page is a template with {{names}}: page/page.html. What is large or needs reading (charts,
 * curves, rows) is made first, so that the rows, which can be cut to any size, get what is left.
 * Text that is put in is never looked at for names again.
 */
#include "report/report.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/sha256.h"
#include "report/curves.h"
#include "report/facts.h"
#include "report/figures.h"
#include "report/html.h"
#include "report/rows.h"
#include "report/subject.h"
#include "version.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

extern const char report_page[], report_style[], report_data_js[], report_trace_js[],
    report_table_js[], report_query_js[];

/* A point of a curve takes at most so many bytes, nearly always. */
#define POINT_BYTES 13

struct page {
    struct subject *subjects;
    size_t n;
    struct buf script;
    struct buf facts; /* alerts to repeat, one after the other */
    size_t ends[5];
    struct buf figures;
    struct buf json;
    struct rows_told told;
};

static void page_release(struct page *p)
{
    for (size_t i = 0; i < p->n; i++)
        subject_release(&p->subjects[i]);
    free(p->subjects);
    buf_release(&p->script);
    buf_release(&p->facts);
    buf_release(&p->figures);
    buf_release(&p->json);
}

/* ---- the parts ---- */

static void join_script(struct page *p)
{
    buf_adds(&p->script, report_data_js);
    buf_adds(&p->script, report_trace_js);
    buf_adds(&p->script, report_table_js);
    buf_adds(&p->script, report_query_js);
}

static int open_subjects(struct page *p, struct run *const *runs, size_t n_runs, struct err *err)
{
    int64_t records = 0;

    p->subjects = xcalloc(n_runs, sizeof(*p->subjects));
    for (; p->n < n_runs; p->n++) {
        int r = subject_open(runs[p->n], &p->subjects[p->n], err);

        if (r < 0)
            return err_prefix(err, "%.120s", run_dir(runs[p->n]));
        records += p->subjects[p->n].survey.tally.records;
    }
    if (records == 0)
        return err_set(err, ENODATA, "there is no query to report: the run has no records");
    subjects_name(p->subjects, p->n);
    return 0;
}

typedef void (*facts_part)(struct buf *page, const struct subject *s, size_t n);
static const facts_part facts_parts[] = {facts_alerts, facts_headline, facts_measured,
                                         facts_metrics, facts_repeat};

static void write_facts(struct page *p)
{
    for (size_t i = 0; i < sizeof(facts_parts) / sizeof(*facts_parts); i++) {
        facts_parts[i](&p->facts, p->subjects, p->n);
        p->ends[i] = p->facts.len;
    }
}

static void write_reasons(struct json_writer *w, const struct subject *s)
{
    int listed = 0;

    jw_begin_object(w, "reasons");
    JSON_FOREACH (reason, subject_find(s, "validity.reasons")) {
        const char *code = json_text(json_get(reason, "code"), "");
        const char *text = json_text(json_get(reason, "text"), "");

        if (*code && strlen(code) <= 64 && strlen(text) <= 1000 && listed++ < 100)
            jw_text(w, code, text);
    }
    jw_end_object(w);
}

static int write_run(struct json_writer *w, const struct subject *s, size_t max_points,
                     struct err *err)
{
    AUTO(curves) struct curves t = {0};
    int r = curves_read(s->run, &t, err);

    if (r < 0)
        return err_prefix(err, "%.120s: telemetry", run_dir(s->run));
    curves_fit(&t, max_points);
    jw_begin_object(w, NULL);
    jw_text(w, "name", s->name);
    jw_int(w, "samples", t.samples);
    jw_int(w, "points", (int64_t)curves_points(&t));
    write_reasons(w, s);
    curves_json(&t, w, "lines");
    jw_end_object(w);
    return 0;
}

/* The whole of the JSON block, in at most max_bytes. */
static int write_json(struct page *p, struct run *const *runs, size_t max_bytes, struct err *err)
{
    struct json_writer w = json_writer(&p->json, JSON_LINE);
    size_t max_points = max_bytes / 4 / POINT_BYTES / p->n;
    int r;

    jw_begin_object(&w, NULL);
    jw_begin_array(&w, "runs");
    for (size_t i = 0; i < p->n; i++) {
        r = write_run(&w, &p->subjects[i], max_points, err);
        if (r < 0)
            return r;
    }
    jw_end_array(&w);
    r = rows_write(runs, p->n, p->json.len < max_bytes ? max_bytes - p->json.len : 0, &w, &p->told,
                   err);
    if (r < 0)
        return r;
    jw_end_object(&w);
    return 0;
}

/* ---- the template ---- */

static void put_facts(const struct page *p, size_t part, struct buf *out)
{
    size_t from = part ? p->ends[part - 1] : 0;

    buf_add(out, p->facts.data + from, p->ends[part] - from);
}

static void put_policy(const struct page *p, struct buf *out)
{
    char script[SHA256_BASE64_SIZE], style[SHA256_BASE64_SIZE];

    sha256_base64(p->script.data, p->script.len, script);
    sha256_base64(report_style, strlen(report_style), style);
    buf_addf(out,
             "default-src 'none'; script-src 'sha256-%s'; style-src 'sha256-%s'; img-src data:; "
             "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; "
             "trusted-types 'none'",
             script, style);
}

static void put_title(const struct page *p, struct buf *out)
{
    for (size_t i = 0; i < p->n && i < 3; i++) {
        buf_adds(out, i ? ", " : "");
        html_text(out, p->subjects[i].name);
    }
    buf_adds(out, p->n > 3 ? " and others: ipw report" : ": ipw report");
}

static void put_rows_note(const struct page *p, struct buf *out)
{
    const struct rows_told *t = &p->told;

    if (t->left_out > 0) {
        buf_adds(out, "The table has the first ");
        html_count(out, t->rows);
        buf_adds(out, " queries; ");
        html_count(out, t->left_out);
        buf_adds(out, " more did not fit into the page. ");
    }
    if (t->cut_texts > 0) {
        html_count(out, t->cut_texts);
        buf_adds(out, " long texts are cut so that the page stays small. ");
    }
    if (t->left_out > 0 || t->cut_texts > 0)
        buf_adds(out, "<code>ipw export DIR</code> prints everything.");
}

/* Writes what the name stands for. */
static void put(const struct page *p, const char *name, size_t n, struct buf *out)
{
    static const char *const facts[] = {"alerts", "headline", "measured", "metrics", "repeat"};
    const char *const texts[][2] = {{"style", report_style},
                                    {"script", buf_str(&p->script)},
                                    {"version", IPW_VERSION},
                                    {"figures", buf_str(&p->figures)}};

#define IS(word) (n == strlen(word) && memcmp(name, word, n) == 0)
    for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
        if (IS(facts[i]))
            put_facts(p, i, out);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (IS(texts[i][0]))
            buf_adds(out, texts[i][1]);
    if (IS("policy"))
        put_policy(p, out);
    else if (IS("title"))
        put_title(p, out);
    else if (IS("rows_note"))
        put_rows_note(p, out);
    else if (IS("data"))
        html_json(out, p->json.data, p->json.len);
#undef IS
}

static void fill_template(const struct page *p, struct buf *out)
{
    const char *at = report_page, *open;

    while ((open = strstr(at, "{{"))) {
        const char *close = strstr(open, "}}");

        assert(close);
        buf_add(out, at, (size_t)(open - at));
        put(p, open + 2, (size_t)(close - open - 2), out);
        at = close + 2;
    }
    buf_adds(out, at);
}

static void page_init(struct page *p)
{
    buf_init(&p->script, BUF_MAX_OWN);
    buf_init(&p->facts, BUF_MAX_OWN);
    buf_init(&p->figures, BUF_MAX_OWN);
    buf_init(&p->json, BUF_MAX_OWN);
}

int report_make(struct run *const *runs, size_t n_runs, const struct report_options *options,
                struct buf *ret, struct err *err)
{
    size_t max_bytes = options && options->max_bytes ? options->max_bytes : REPORT_MAX_BYTES;
    size_t fixed = strlen(report_page) + strlen(report_style) + 4096;
    AUTO(page) struct page p = {0};
    int r;

    page_init(&p);
    r = open_subjects(&p, runs, n_runs, err);
    if (r < 0)
        return r;
    join_script(&p);
    write_facts(&p);
    figures_write(&p.figures, p.subjects, p.n, max_bytes * 2 / 5);
    fixed += p.script.len + p.facts.len + p.figures.len;
    if (fixed > max_bytes / 5 * 3)
        return err_set(err, EFBIG, "a page of %zu runs would be larger than %zu MB: name fewer",
                       n_runs, max_bytes / 1000000);
    r = write_json(&p, runs, max_bytes - fixed, err);
    if (r < 0)
        return r;
    fill_template(&p, ret);
    if (ret->failed)
        return err_set(err, EMSGSIZE, "the page does not fit into its buffer");
    return 0;
}
