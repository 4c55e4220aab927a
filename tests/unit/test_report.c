/*
 * The page of runs whose truth is known (makerun.h), and of a run that the Python tool wrote.
 */
#include "harness.h"
#include "makerun.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/sha256.h"
#include "report/curves.h"
#include "report/html.h"
#include "report/report.h"
#include "report/rows.h"

#include <errno.h>
#include <fcntl.h>

struct made {
    char dir[64];
    struct run *run;
    struct makerun_truth truth;
};

static void made_release(struct made *m)
{
    run_close(m->run);
    fs_remove_tree(AT_FDCWD, m->dir, NULL);
}

static void make(const struct makerun *how, struct made *ret)
{
    struct err err = {0};

    make_temp_dir(ret->dir);
    assert_ok(makerun(how, ret->dir, &ret->truth, &err), &err);
    assert_ok(run_open(ret->dir, &ret->run, &err), &err);
}

/* The text between the two words, from the first occurrence of `from` on. */
static char *between(const struct buf *page, const char *from, const char *to)
{
    const char *start = strstr(page->data, from), *end;

    assert_non_null(start);
    start += strlen(from);
    end = strstr(start, to);
    assert_non_null(end);
    return strndup(start, (size_t)(end - start));
}

static void make_page(struct run *const *runs, size_t n, size_t max_bytes, struct buf *page)
{
    struct report_options options = {.max_bytes = max_bytes};
    struct err err = {0};

    assert_ok(report_make(runs, n, &options, page, &err), &err);
    assert_int_equal(strlen(page->data), page->len); /* no NUL in it */
}

#define DATA "<script type=\"application/json\" id=\"data\">"

static const struct json *data_of(const struct buf *page, struct json_doc *doc)
{
    AUTO_FREE char *text = between(page, DATA, "</script>");
    struct err err = {0};

    assert_null(strpbrk(text, "<>&"));
    assert_ok(json_doc_parse(doc, text, strlen(text), &err), &err);
    return doc->root;
}

static size_t count(const char *text, const char *part)
{
    size_t n = 0;

    while ((text = strstr(text, part))) {
        n++;
        text += strlen(part);
    }
    return n;
}

static void headline(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    struct makerun how = makerun_default();
    AUTO_FREE char *card = NULL;
    char words[128];

    (void)state;
    make(&how, &m);
    make_page(&m.run, 1, 0, &page);
    card = between(&page, "<article", "</article>");
    assert_non_null(strstr(card, how.model));
    assert_non_null(strstr(card, "VALID: measured as it should be"));
    snprintf(words, sizeof(words), "(%d of %d)", (int)m.truth.correct, (int)m.truth.scored);
    assert_non_null(strstr(card, words));
    snprintf(words, sizeof(words), "%.1f\xC2\xA0J <span class=\"bounds\">(", m.truth.mean_j);
    assert_non_null(strstr(card, words));
    snprintf(words, sizeof(words), "%.6f\xC2\xA0/W",
             (double)m.truth.correct / (double)m.truth.scored / m.truth.mean_w);
    assert_non_null(strstr(card, words));
    assert_null(strstr(page.data, "class=\"alert"));
    assert_null(strstr(page.data, "{{"));
}

/* The policy allows exactly the script and the style that are there. */
static void policy(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    struct makerun how = makerun_default();
    AUTO_FREE char *allowed = NULL, *script = NULL, *style = NULL;
    char digest[SHA256_BASE64_SIZE];

    (void)state;
    how.records = 3;
    make(&how, &m);
    make_page(&m.run, 1, 0, &page);
    allowed = between(&page, "Content-Security-Policy\" content=\"", "\">");
    script = between(&page, "<script>", "</script>");
    style = between(&page, "<style>", "</style>");
    assert_non_null(strstr(allowed, "default-src 'none';"));
    assert_null(strstr(allowed, "unsafe"));
    assert_null(strstr(allowed, "http"));
    sha256_base64(script, strlen(script), digest);
    assert_non_null(strstr(allowed, digest));
    sha256_base64(style, strlen(style), digest);
    assert_non_null(strstr(allowed, digest));
    assert_int_equal(count(page.data, "<script"), 2);
    assert_null(strstr(page.data, "src=\"http"));
    assert_null(strstr(style, "url("));
    assert_null(strstr(style, "@import"));
    /* what markup is made of does not occur in the script */
    assert_null(strstr(script, "innerHTML"));
    assert_null(strstr(script, "insertAdjacent"));
    assert_null(strstr(script, "document.write"));
    assert_null(strstr(script, "eval("));
}

static void hostile(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc doc = {0};
    struct makerun how = makerun_default();

    (void)state;
    makerun_set_hostile(&how);
    how.failed_fraction = 0.2;
    make(&how, &m);
    make_page(&m.run, 1, 0, &page);
    assert_int_equal(count(page.data, "<script"), 2);
    assert_int_equal(count(page.data, "</script"), 2);
    assert_int_equal(count(page.data, "<title>"), 1);
    assert_int_equal(count(page.data, "</title>"), 1);
    assert_int_equal(count(page.data, "<style"), 1);
    assert_null(strstr(page.data, "<svg onload"));
    assert_null(strstr(page.data, "onerror=\""));
    assert_null(strstr(page.data, "<!--"));
    assert_null(strstr(page.data, "\xE2\x80\xA8"));
    assert_null(strchr(page.data, '\x1B'));
    data_of(&page, &doc);
    assert_int_equal(json_get(doc.root, "rows")->len, how.records);
}

static void rows_say_what_the_records_do(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc doc = {0};
    struct makerun how = makerun_default();
    const struct json *root, *column, *value;
    const struct record *record;
    struct err err = {0};
    size_t n_columns;

    (void)state;
    how.failed_fraction = 0.1;
    make(&how, &m);
    make_page(&m.run, 1, 0, &page);
    root = data_of(&page, &doc);
    n_columns = json_get(root, "columns")->len;
    assert_ok(run_rewind(m.run, &err), &err);
    JSON_FOREACH (row, json_get(root, "rows")) {
        assert_int_equal(run_next(m.run, &record, &err), 1);
        assert_int_equal(row->len, n_columns);
        for (column = json_first(json_get(root, "columns")), value = json_first(row); column;
             column = column->next, value = value->next) {
            if (strcmp(column->text, "problem") == 0)
                assert_string_equal(value->text, record->problem);
            else if (strcmp(column->text, "joules") == 0)
                assert_near((double)json_int(value, -1) / 1e6, record_joules(record), 1e-6);
            else if (strcmp(column->text, "ttft") == 0 && isnan(record->latency.ttft_s))
                assert_int_equal(value->type, JSON_NULL); /* absent is not 0 */
            else if (strcmp(column->text, "end") == 0)
                assert_near((double)json_int(value, -1) / 1e6, record->request.end_s, 1e-6);
            else if (strcmp(column->text, "correct") == 0 && record->correct < 0)
                assert_int_equal(value->type, JSON_NULL);
            else if (strcmp(column->text, "correct") == 0)
                assert_int_equal(json_int(value, -1), record->correct);
            else if (strcmp(column->text, "ok") == 0)
                assert_int_equal(json_int(value, -1), record_ok(record));
        }
    }
    assert_int_equal(run_next(m.run, &record, &err), 0);
}

static void alerts(const char *source, bool unfinished, const char *first)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    struct makerun how = makerun_default();
    AUTO_FREE char *header = NULL;

    how.records = 5;
    how.energy_source = source;
    how.unfinished = unfinished;
    make(&how, &m);
    make_page(&m.run, 1, 0, &page);
    header = between(&page, "<header>", "<article");
    assert_non_null(strstr(header, first));
}

static void what_is_not_measured_is_said_first(void **state)
{
    (void)state;
    alerts("estimated", false, "<strong>ESTIMATED ENERGY</strong>");
    alerts("none", false, "<strong>NO ENERGY</strong>");
    alerts("measured", true, "<strong>UNFINISHED</strong>");
}

static void an_estimate_has_no_bounds(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    struct makerun how = makerun_default();
    AUTO_FREE char *energy = NULL;

    (void)state;
    how.energy_source = "estimated";
    make(&how, &m);
    make_page(&m.run, 1, 0, &page);
    energy = between(&page, "Energy per answer</dt><dd>", "</dd>");
    assert_non_null(strstr(energy, "J <strong>ESTIMATED</strong>"));
    assert_null(strstr(energy, " to "));
}

static void missing_is_a_dash(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    struct makerun how = makerun_default();
    AUTO_FREE char *energy = NULL, *accuracy = NULL;

    (void)state;
    how.energy_source = "none";
    how.accuracy = NAN;
    make(&how, &m);
    make_page(&m.run, 1, 0, &page);
    energy = between(&page, "Energy per answer</dt><dd>", "</dd>");
    assert_string_equal(energy, HTML_ABSENT);
    accuracy = between(&page, "Accuracy</dt><dd>", "</dd>");
    assert_string_equal(accuracy, HTML_ABSENT);
}

static void the_same_runs_give_the_same_page(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf one = BUF_INIT(BUF_MAX_OWN);
    AUTO(buf) struct buf two = BUF_INIT(BUF_MAX_OWN);
    struct makerun how = makerun_default();

    (void)state;
    make(&how, &m);
    make_page(&m.run, 1, 0, &one);
    make_page(&m.run, 1, 0, &two);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.data, two.data, one.len);
}

static void several(void **state)
{
    AUTO(made) struct made a = {0};
    AUTO(made) struct made b = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc doc = {0};
    struct makerun how = makerun_default();
    struct run *runs[2];

    (void)state;
    how.records = 10;
    make(&how, &a);
    make(&how, &b); /* the same model: named by their directories */
    runs[0] = a.run;
    runs[1] = b.run;
    make_page(runs, 2, 0, &page);
    assert_int_equal(count(page.data, "<article"), 2);
    data_of(&page, &doc);
    assert_int_equal(json_get(doc.root, "rows")->len, 20);
    assert_string_not_equal(
        json_text(json_get(json_first(json_get(doc.root, "runs")), "name"), ""),
        json_text(json_get(json_first(json_get(doc.root, "runs"))->next, "name"), ""));
}

/* A page has its size whatever it is asked to hold. */
static void long_texts_are_cut(void **state)
{
    static char text[200001];
    static const char *const texts[] = {"short", text};
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc doc = {0};
    struct makerun how = makerun_default();
    size_t cut = 0, whole = 0;

    (void)state;
    memset(text, '<', sizeof(text) - 1); /* the most expensive letter */
    how.records = 50;
    how.texts = texts;
    how.n_texts = 2;
    how.telemetry_s = 0;
    make(&how, &m);
    make_page(&m.run, 1, 3000000, &page);
    assert_in_range(page.len, 1500000, 3000000);
    assert_non_null(strstr(page.data, "long texts are cut"));
    JSON_FOREACH (row, json_get(data_of(&page, &doc), "rows")) {
        const struct json *problem = json_first(row);

        if (json_is(problem, JSON_ARRAY)) {
            assert_int_equal(json_int(problem->child->next, 0), sizeof(text) - 1);
            cut++;
        } else {
            assert_string_equal(problem->text, "short");
            whole++;
        }
    }
    assert_int_equal(cut + whole, 50);
    assert_true(cut > 10 && whole > 10);
}

static void of_too_many_the_first_are_kept(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc doc = {0};
    struct makerun how = makerun_default();
    size_t kept;

    (void)state;
    how.records = 20000;
    how.concurrency = 100;
    how.telemetry_s = 0;
    make(&how, &m);
    make_page(&m.run, 1, 4000000, &page);
    assert_true(page.len <= 4000000);
    kept = json_get(data_of(&page, &doc), "rows")->len;
    assert_in_range(kept, 1000, 19999);
    assert_non_null(strstr(page.data, "more did not fit into the page"));
}

static void no_records(void **state)
{
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    AUTO(made) struct made m = {0};
    struct makerun how = makerun_default();
    struct err err = {0};

    (void)state;
    how.records = 0;
    make(&how, &m);
    assert_fails(report_make(&m.run, 1, NULL, &page, &err), ENODATA, &err, "no query");
    assert_int_equal(page.len, 0);
}

/* What the Python tool wrote: no verdict, no request times, no telemetry. */
static void a_strangers_run(void **state)
{
    static const char *const names[] = {"profile_seed", "profile_1row", "profile_nogpu"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
        AUTO(json_doc) struct json_doc doc = {0};
        AUTO_PTR(run) struct run *run = NULL;
        struct err err = {0};
        char dir[512];

        snprintf(dir, sizeof(dir), FIXTURES "/hf/%s", names[i]);
        assert_ok(run_open(dir, &run, &err), &err);
        make_page(&run, 1, 0, &page);
        assert_int_equal(json_get(data_of(&page, &doc), "rows")->len, run_rows(run));
        assert_non_null(strstr(page.data, "DEGRADED"));
    }
}

/* ---- its parts ---- */

static void costs(void **state)
{
    static const char *const texts[] = {
        "",
        "plain",
        "a<b>&c",
        "\"\\\n\t\r\b\f",
        "\x01\x1F\x7F",
        "gr\xC3\xBC\xC3\x9F",
        "\xE2\x80\xA8\xE2\x80\xA9\xE2\x82\xAC",
        "\xFFx\xC0",
        "\xF0\x9F\x98\x80",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        size_t n = strlen(texts[i]);

        for (size_t limit = 0; limit < 60; limit++) {
            AUTO(buf) struct buf json = BUF_INIT(1 << 10);
            AUTO(buf) struct buf page = BUF_INIT(1 << 10);
            struct json_writer w = json_writer(&json, JSON_LINE);
            size_t kept = 99, cost = rows_text_cost(texts[i], limit, &kept);

            assert_true(kept <= n && cost <= limit);
            jw_textn(&w, NULL, texts[i], kept);
            html_json(&page, json.data, json.len);
            assert_int_equal(page.len - 2, cost); /* without its quotes */
        }
        assert_true(rows_text_cost(texts[i], 60, NULL) <= HTML_JSON_GROWTH * n);
    }
    assert_int_equal(rows_text_cost(NULL, 10, NULL), 0);
}

/* The slopes of a counter, over their time, are the energy that it counted. */
static double energy_of(const struct curve *c)
{
    AUTO_FREE struct thin_point *points = NULL;
    size_t n = thin_points(&c->thin, &points);
    double joules = 0;

    for (size_t i = 1; i < n; i++)
        if (!isnan(points[i].value))
            joules += points[i].value * (points[i].time_s - points[i - 1].time_s);
    return joules;
}

static void curves_of_counters(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(curves) struct curves c = {0};
    struct makerun how = makerun_default();
    struct err err = {0};
    double joules = 0;
    int shown = 0;

    (void)state;
    how.failed_fraction = 0;
    make(&how, &m);
    assert_ok(curves_read(m.run, &c, &err), &err);
    assert_int_equal(c.n, 4); /* counter and power of two rails */
    for (size_t i = 0; i < c.n; i++) {
        assert_int_equal(c.lines[i].shown, c.lines[i].counter);
        shown += c.lines[i].shown;
        if (c.lines[i].counter)
            joules += energy_of(&c.lines[i]);
    }
    assert_int_equal(shown, 2);
    assert_near(joules, m.truth.joules, 0.02 * m.truth.joules);
}

static void curves_fit_their_room(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(curves) struct curves c = {0};
    struct makerun how = makerun_default();
    struct err err = {0};

    (void)state;
    how.records = 10;
    how.telemetry_s = 600;
    make(&how, &m);
    assert_ok(curves_read(m.run, &c, &err), &err);
    assert_true(curves_points(&c) > 20000);
    curves_fit(&c, 1000);
    assert_in_range(curves_points(&c), 200, 1000);
}

static void a_gap_stays_open(void **state)
{
    AUTO(made) struct made m = {0};
    AUTO(buf) struct buf json = BUF_INIT(1 << 24);
    AUTO(curves) struct curves c = {0};
    struct json_writer w = json_writer(&json, JSON_LINE);
    struct makerun how = makerun_default();
    struct err err = {0};

    (void)state;
    how.gap_from_s = 20;
    how.gap_s = 5;
    how.gap_breaks = true;
    make(&how, &m);
    assert_ok(curves_read(m.run, &c, &err), &err);
    curves_json(&c, &w, NULL);
    /* each of the four lines begins once and is taken up again once */
    assert_int_equal(count(json.data, "null"), 8);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(headline),
    cmocka_unit_test(policy),
    cmocka_unit_test(hostile),
    cmocka_unit_test(rows_say_what_the_records_do),
    cmocka_unit_test(what_is_not_measured_is_said_first),
    cmocka_unit_test(an_estimate_has_no_bounds),
    cmocka_unit_test(missing_is_a_dash),
    cmocka_unit_test(the_same_runs_give_the_same_page),
    cmocka_unit_test(several),
    cmocka_unit_test(long_texts_are_cut),
    cmocka_unit_test(of_too_many_the_first_are_kept),
    cmocka_unit_test(no_records),
    cmocka_unit_test(a_strangers_run),
    cmocka_unit_test(costs),
    cmocka_unit_test(curves_of_counters),
    cmocka_unit_test(curves_fit_their_room),
    cmocka_unit_test(a_gap_stays_open),
};
TEST_MAIN(tests)
