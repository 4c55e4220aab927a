#include "report/rows.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "report/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a cut text takes beyond its bytes: brackets, quotes, the length. */
#define CUT_OVERHEAD 32
/* A word in a record: a code, a reason to finish. Nobody's is longer unless to annoy. */
#define WORD_MAX 64

/* In the order of write_row; the texts first. */
#define TEXTS 7
static const char *const columns[] = {
    "problem", "answer",      "response", "reasoning", "subject",   "error",    "judgement",
    "run",     "index",       "correct",  "ok",        "status",    "attempts", "finish",
    "scorer",  "joules",      "low",      "high",      "net",       "watts",    "gpu",
    "cpu",     "dram",        "ane",      "soc",       "prefill_j", "decode_j", "input",
    "output",  "ttft",        "seconds",  "tps",       "itl",       "planned",  "sent",
    "first",   "end",         "source",   "validity",  "reasons",   "coverage", "samples",
    "basis",   "attribution",
};
#define N_COLUMNS (sizeof(columns) / sizeof(*columns))

static void texts_of(const struct record *r, const char *ret[TEXTS])
{
    ret[0] = r->problem;
    ret[1] = r->answer;
    ret[2] = r->response;
    ret[3] = r->request.reasoning;
    ret[4] = r->subject;
    ret[5] = r->request.error;
    ret[6] = r->evaluation.metadata;
}

/* What html_json and the JSON writer make of an ASCII character. */
static size_t ascii_cost(unsigned char c)
{
    switch (c) {
    case '"':
    case '\\':
    case '\b':
    case '\f':
    case '\n':
    case '\r':
    case '\t':
        return 2;
    case '<':
    case '>':
    case '&':
    case 0x7F:
        return HTML_JSON_GROWTH;
    default:
        return c < 0x20 ? HTML_JSON_GROWTH : 1;
    }
}

size_t rows_text_cost(const char *text, size_t limit, size_t *ret_n)
{
    size_t n = text ? strlen(text) : 0, i = 0, cost = 0;

    while (i < n) {
        unsigned char c = (unsigned char)text[i];
        uint32_t code = 0;
        size_t len = c < 0x80 ? 1 : utf8_char(text + i, n - i, &code);
        size_t more = c < 0x80                           ? ascii_cost(c)
                      : len == 0                         ? 3 /* U+FFFD */
                      : code == 0x2028 || code == 0x2029 ? HTML_JSON_GROWTH
                                                         : len;

        if (more > limit - cost)
            break;
        cost += more;
        i += len ? len : 1;
    }
    if (ret_n)
        *ret_n = i;
    return cost;
}

static void write_text(struct json_writer *w, const char *text, size_t cut, int64_t *cut_texts)
{
    size_t kept = 0, n = text ? strlen(text) : 0;

    if (!text || n <= cut / HTML_JSON_GROWTH) { /* cannot be too long */
        jw_text(w, NULL, text);
        return;
    }
    rows_text_cost(text, cut, &kept);
    if (kept == n) {
        jw_textn(w, NULL, text, n);
        return;
    }
    jw_begin_array(w, NULL);
    jw_textn(w, NULL, text, kept);
    jw_int(w, NULL, (int64_t)n);
    jw_end_array(w);
    ++*cut_texts;
}

static void write_word(struct json_writer *w, const char *word)
{
    size_t n = word ? strnlen(word, WORD_MAX) : 0;

    if (n)
        jw_textn(w, NULL, word, n);
    else
        jw_null(w, NULL);
}

static void write_real(struct json_writer *w, double value)
{
    if (fabs(value) < 1e12)
        jw_int(w, NULL, llround(value * 1e6));
    else
        jw_null(w, NULL);
}

static void write_count(struct json_writer *w, int64_t value)
{
    if (value < 0)
        jw_null(w, NULL);
    else
        jw_int(w, NULL, value);
}

static void write_energy(struct json_writer *w, const struct record *r)
{
    write_real(w, record_joules(r));
    write_real(w, r->measurement.low_j);
    write_real(w, r->measurement.high_j);
    write_real(w, r->measurement.net_j);
    write_real(w, record_watts(r));
    write_real(w, r->energy.gpu_j);
    write_real(w, r->energy.cpu_j);
    write_real(w, r->energy.dram_j);
    write_real(w, r->energy.ane_j);
    write_real(w, r->energy.soc_j);
    write_real(w, r->phase.prefill_j);
    write_real(w, r->phase.decode_j);
}

static void write_speed(struct json_writer *w, const struct record *r)
{
    write_count(w, r->tokens.input);
    write_count(w, r->tokens.output);
    write_real(w, r->latency.ttft_s);
    write_real(w, r->latency.total_s);
    write_real(w, r->latency.throughput_tps);
    write_real(w, r->latency.itl_median_ms);
    write_real(w, r->request.planned_s);
    write_real(w, r->request.sent_s);
    write_real(w, r->request.first_token_s);
    write_real(w, r->request.end_s);
}

static void write_measurement(struct json_writer *w, const struct record *r)
{
    write_word(w, r->measurement.energy_source);
    jw_int(w, NULL, (int64_t)r->measurement.validity);
    jw_begin_array(w, NULL);
    for (size_t i = 0; i < r->measurement.n_reasons; i++)
        write_word(w, r->measurement.reasons[i]);
    jw_end_array(w);
    write_real(w, r->measurement.coverage);
    write_count(w, r->measurement.sample_count);
    write_word(w, r->energy.basis);
    write_word(w, r->measurement.attribution);
}

static void write_row(struct json_writer *w, size_t run, const struct record *r, size_t cut,
                      int64_t *cut_texts)
{
    const char *texts[TEXTS];

    texts_of(r, texts);
    jw_begin_array(w, NULL);
    for (size_t i = 0; i < TEXTS; i++)
        write_text(w, texts[i], cut, cut_texts);
    jw_int(w, NULL, (int64_t)run);
    write_count(w, r->request.index);
    if (r->correct < 0)
        jw_null(w, NULL);
    else
        jw_int(w, NULL, r->correct);
    jw_int(w, NULL, record_ok(r));
    write_word(w, r->request.status);
    write_count(w, r->request.attempts);
    write_word(w, r->request.finish_reason);
    write_word(w, r->evaluation.scorer);
    write_energy(w, r);
    write_speed(w, r);
    write_measurement(w, r);
    jw_end_array(w);
}

/* What all rows would take. */
struct plan {
    size_t *costs; /* of every text */
    size_t n, cap;
    size_t figures; /* bytes of the rows without their texts */
    int64_t *rows;  /* of each run, how many are taken */
    int64_t left_out;
};

static void plan_release(struct plan *p)
{
    free(p->costs);
    free(p->rows);
}

static void plan_row(struct plan *p, size_t run, const struct record *record, size_t bytes)
{
    const char *texts[TEXTS];

    texts_of(record, texts);
    p->figures += bytes;
    p->rows[run]++;
    for (size_t i = 0; i < TEXTS; i++) {
        if (!texts[i] || !*texts[i])
            continue;
        GROW(p->costs, p->n, p->cap);
        p->costs[p->n++] = rows_text_cost(texts[i], SIZE_MAX, NULL);
    }
}

static int plan_run(struct plan *p, struct run *run, size_t number, size_t max_bytes,
                    struct err *err)
{
    AUTO(buf) struct buf json = BUF_INIT(BUF_MAX_OWN);
    AUTO(buf) struct buf page = BUF_INIT(BUF_MAX_OWN);
    const struct record *record;
    size_t taken = 0;
    int more = run_rewind(run, err);

    while (more >= 0 && (more = run_next(run, &record, err)) > 0) {
        struct json_writer w = json_writer(&json, JSON_LINE);
        int64_t ignored = 0;

        buf_clear(&json);
        buf_clear(&page);
        write_row(&w, number, record, 0, &ignored);
        html_json(&page, json.data, json.len);
        if (page.len + 1 > max_bytes - taken) {
            p->left_out += run_rows(run) - p->rows[number];
            return 0;
        }
        taken += page.len + 1;
        plan_row(p, number, record, page.len + 1);
    }
    return more;
}

static int compare_sizes(const void *x, const void *y)
{
    size_t a = *(const size_t *)x, b = *(const size_t *)y;

    return (a > b) - (a < b);
}

/* The largest size to which the texts can be cut so that together they fit. */
static size_t largest_text(struct plan *p, size_t budget)
{
    size_t before = 0, sum = 0;

    for (size_t i = 0; i < p->n; i++)
        sum += p->costs[i];
    if (sum <= budget)
        return SIZE_MAX;
    if (budget <= p->n * CUT_OVERHEAD)
        return 0;
    budget -= p->n * CUT_OVERHEAD;
    qsort(p->costs, p->n, sizeof(*p->costs), compare_sizes);
    for (size_t i = 0; i < p->n; i++) {
        size_t left = p->n - i;

        if (p->costs[i] > (budget - before) / left)
            return (budget - before) / left;
        before += p->costs[i];
    }
    return SIZE_MAX;
}

static void write_columns(struct json_writer *w)
{
    jw_int(w, "texts", TEXTS);
    jw_begin_array(w, "columns");
    for (size_t i = 0; i < N_COLUMNS; i++)
        jw_text(w, NULL, columns[i]);
    jw_end_array(w);
}

static int write_run(struct run *run, size_t number, int64_t rows, struct json_writer *w,
                     struct rows_told *told, struct err *err)
{
    const struct record *record;
    int more = run_rewind(run, err);

    while (more >= 0 && rows > 0 && (more = run_next(run, &record, err)) > 0) {
        write_row(w, number, record, told->largest_text, &told->cut_texts);
        told->rows++;
        rows--;
    }
    return more < 0 ? more : 0;
}

int rows_write(struct run *const *runs, size_t n_runs, size_t max_bytes, struct json_writer *w,
               struct rows_told *ret, struct err *err)
{
    AUTO(plan) struct plan p = {.rows = xcalloc(n_runs, sizeof(*p.rows))};
    struct rows_told told = {0};
    int r;

    for (size_t i = 0; i < n_runs; i++) {
        r = plan_run(&p, runs[i], i, max_bytes / 4 * 3 / n_runs, err);
        if (r < 0)
            return r;
    }
    told.left_out = p.left_out;
    told.largest_text = largest_text(&p, max_bytes - p.figures);
    write_columns(w);
    jw_begin_array(w, "rows");
    for (size_t i = 0; i < n_runs; i++) {
        r = write_run(runs[i], i, p.rows[i], w, &told, err);
        if (r < 0)
            return r;
    }
    jw_end_array(w);
    *ret = told;
    return 0;
}
