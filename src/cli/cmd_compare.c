/*
 * ipw compare: what is different between two runs, and is it more than chance? The first run is
 * the baseline; each further one is compared with it, and forgotten before the next is read.
 */
#include "analysis/compare.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/commands.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define RUNS_MAX 26 /* they are called A to Z */

struct compare_args {
    bool json;
    bool markdown;
    bool repeats;
    int64_t seed;
    int64_t resamples;
};

static const struct option options[] = {
    {"json", OPT_FLAG, offsetof(struct compare_args, json), "one JSON document on stdout"},
    {"markdown", OPT_FLAG, offsetof(struct compare_args, markdown), "tables in Markdown"},
    {"repeats", OPT_FLAG, offsetof(struct compare_args, repeats),
     "add to each run its repeats DIR_r2, DIR_r3, ... beside it"},
    {"seed", OPT_INT, offsetof(struct compare_args, seed), "of the resampling", "N", "0",
     .max = 9e15},
    {"resamples", OPT_INT, offsetof(struct compare_args, resamples), "how many", "N", "10000",
     .min = 100, .max = BOOTSTRAP_RESAMPLES_MAX},
    {0},
};

/* Words from a file or the command line, so that they can drive neither a terminal nor a page. */
static void put_words(struct buf *out, const char *text, bool markdown)
{
    for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
        if (*p < 0x20 || *p == 0x7F)
            buf_addf(out, markdown ? "\\\\x%02x" : "\\x%02x", *p);
        else if (*p == 0xC2 && p[1] >= 0x80 && p[1] < 0xA0) /* U+0080 to U+009F: controls, too */
            buf_addf(out, markdown ? "\\\\u%04x" : "\\u%04x", *++p);
        else if (markdown && strchr("\\`*_[]<>|~&$", *p))
            buf_addf(out, "&#%d;", *p);
        else
            buf_addc(out, (char)*p);
    }
}

static const char *or_unknown(const char *text)
{
    return text ? text : "not known";
}

static void put_run(struct buf *out, char label, const struct contender *c, bool markdown)
{
    const char *indent = markdown ? "  " : "   ";
    char load[COMPARE_LOAD_SIZE];

    buf_addf(out, markdown ? "- **%c** " : "%c  ", label);
    put_words(out, c->dir, markdown);
    if (c->n_runs > 1)
        buf_addf(out, " and %zu repeat%s", c->n_runs - 1, c->n_runs == 2 ? "" : "s");
    buf_addf(out, "\n%smodel ", indent);
    put_words(out, or_unknown(c->model), markdown);
    buf_adds(out, "; dataset ");
    put_words(out, or_unknown(c->dataset), markdown);
    buf_adds(out, "; hardware ");
    put_words(out, or_unknown(c->hardware), markdown);
    compare_load_text(c, load);
    buf_adds(out, "; load ");
    put_words(out, load, markdown);
    buf_addf(out, "\n%s%" PRId64 " queries, %" PRId64 " failed; %zu questions; energy %s", indent,
             c->records, c->failed, c->n_questions, contender_energy(c));
    if (c->basis) {
        buf_adds(out, " (");
        put_words(out, c->basis, markdown);
        buf_addc(out, ')');
    }
    buf_adds(out, "; verdict ");
    put_words(out, or_unknown(c->verdict), markdown);
    buf_addc(out, '\n');
}

/* A table as it is printed: the heading and one line per metric. All of it is ASCII. */
enum column {
    COL_METRIC,
    COL_A,
    COL_B,
    COL_DIFFERENCE,
    COL_RELATIVE,
    COL_RANGE,
    COL_VERDICT,
    COLS
};
#define LINES (METRIC_COUNT + 1)
#define CELL  64

enum form { FORM_VALUE, FORM_CHANGE };

static void set_number(char cell[CELL], enum form form, double x)
{
    bool whole = fabs(x) >= 1000 && fabs(x) < 1e12;

    if (isnan(x))
        snprintf(cell, CELL, "-");
    else if (form == FORM_VALUE)
        snprintf(cell, CELL, whole ? "%.0f" : "%.4g", x);
    else
        snprintf(cell, CELL, whole ? "%+.0f" : "%+.3g", x);
}

static const char *shown_caveat(const char *caveat)
{
    if (!caveat)
        return "";
    return strcmp(caveat, "invalid") == 0 ? ", INVALID" : ", ESTIMATED";
}

static void set_line(char line[COLS][CELL], const struct metric_info *metric,
                     const struct compare_row *row)
{
    char low[CELL], high[CELL];

    snprintf(line[COL_METRIC], CELL, "%s", metric->title);
    set_number(line[COL_A], FORM_VALUE, row->a.value);
    set_number(line[COL_B], FORM_VALUE, row->b.value);
    set_number(line[COL_DIFFERENCE], FORM_CHANGE, row->difference.value);
    if (isfinite(row->relative))
        snprintf(line[COL_RELATIVE], CELL, "%+.1f %%", 100 * row->relative);
    else
        snprintf(line[COL_RELATIVE], CELL, "-");
    set_number(low, FORM_CHANGE, row->difference.low);
    set_number(high, FORM_CHANGE, row->difference.high);
    if (isnan(row->difference.low))
        snprintf(line[COL_RANGE], CELL, "-");
    else
        snprintf(line[COL_RANGE], CELL, "[%.30s, %.29s]", low, high);
    snprintf(line[COL_VERDICT], CELL, "%s%s", compare_verdict_name(row->verdict),
             shown_caveat(row->caveat));
}

static void fill_table(const struct comparison *cmp, char label, char table[LINES][COLS][CELL])
{
    static const char *const titles[COLS] = {
        "metric", "A", "", "difference", "relative", "95 % interval", "verdict"};

    for (int i = 0; i < COLS; i++)
        snprintf(table[0][i], CELL, "%s", titles[i]);
    snprintf(table[0][COL_B], CELL, "%c", label);
    for (int m = 0; m < METRIC_COUNT; m++)
        set_line(table[m + 1], &metric_table[m], &cmp->rows[m]);
}

static void put_table(struct buf *out, char table[LINES][COLS][CELL], bool markdown)
{
    for (int line = 0; line < LINES; line++) {
        for (int i = 0; i < COLS; i++) {
            int width = 0;

            for (int other = 0; other < LINES; other++)
                width = (int)strlen(table[other][i]) > width ? (int)strlen(table[other][i]) : width;
            if (markdown)
                buf_addf(out, "| %s ", table[line][i]);
            else if (i == COL_VERDICT)
                buf_addf(out, "  %s", table[line][i]);
            else
                buf_addf(out, i == COL_METRIC ? "  %-*s" : "  %*s", width, table[line][i]);
        }
        buf_adds(out, markdown ? "|\n" : "\n");
        if (markdown && line == 0)
            buf_adds(out, "| :-- | --: | --: | --: | --: | --: | :-- |\n");
    }
}

static void put_text(struct buf *out, char label, const struct contender *run,
                     const struct comparison *cmp, bool markdown)
{
    char table[LINES][COLS][CELL];

    buf_addc(out, '\n');
    put_run(out, label, run, markdown);
    buf_addf(out, markdown ? "\n### %c against A\n\n" : "\n%c against A, ", label);
    if (cmp->paired)
        buf_addf(out, "paired over %" PRId64 " questions\n\n", cmp->common);
    else
        buf_adds(out, "NOT paired: two independent samples\n\n");
    for (size_t i = 0; i < cmp->n_warnings; i++) {
        buf_adds(out, markdown ? "> **Warning:** " : "  WARNING: ");
        put_words(out, cmp->warnings[i].text, markdown);
        buf_adds(out, markdown ? "\n>\n" : "\n");
    }
    if (cmp->n_warnings)
        buf_addc(out, '\n');
    fill_table(cmp, label, table);
    put_table(out, table, markdown);
}

static void json_run(struct json_writer *w, const char *key, const struct contender *c)
{
    jw_begin_object(w, key);
    jw_text(w, "directory", c->dir);
    jw_int(w, "runs", (int64_t)c->n_runs);
    jw_text(w, "model", c->model);
    jw_text(w, "dataset", c->dataset);
    jw_text(w, "hardware", c->hardware);
    jw_text(w, "gpu", c->gpu);
    jw_text(w, "cpu", c->cpu);
    jw_text(w, "load_mode", c->load_mode);
    if (c->concurrency >= 0)
        jw_int(w, "concurrency", c->concurrency);
    else
        jw_null(w, "concurrency");
    jw_real(w, "requested_rate", c->rate);
    jw_text(w, "verdict", c->verdict);
    jw_text(w, "energy_source", contender_energy(c));
    jw_text(w, "basis", c->basis);
    jw_int(w, "records", c->records);
    jw_int(w, "failed", c->failed);
    jw_int(w, "unscored", c->unscored);
    jw_int(w, "questions", (int64_t)c->n_questions);
    jw_end_object(w);
}

static void json_interval(struct json_writer *w, const char *key, const struct interval *x)
{
    jw_begin_object(w, key);
    jw_real(w, "value", x->value);
    jw_real(w, "low", x->low);
    jw_real(w, "high", x->high);
    jw_end_object(w);
}

static void json_row(struct json_writer *w, const struct metric_info *metric,
                     const struct compare_row *row)
{
    jw_begin_object(w, NULL);
    jw_text(w, "metric", metric->name);
    jw_text(w, "unit", metric->unit);
    jw_text(w, "better_when", metric->more_is_better ? "higher" : "lower");
    json_interval(w, "a", &row->a);
    json_interval(w, "b", &row->b);
    json_interval(w, "difference", &row->difference);
    jw_real(w, "relative", row->relative);
    jw_int(w, "questions_a", row->n_a);
    jw_int(w, "questions_b", row->n_b);
    jw_text(w, "verdict", compare_verdict_name(row->verdict));
    jw_text(w, "caveat", row->caveat);
    jw_end_object(w);
}

static void json_comparison(struct json_writer *w, const struct contender *run,
                            const struct comparison *cmp)
{
    jw_begin_object(w, NULL);
    json_run(w, "run", run);
    jw_bool(w, "paired", cmp->paired);
    jw_int(w, "questions_common", cmp->common);
    jw_int(w, "questions_only_baseline", cmp->only_a);
    jw_int(w, "questions_only_run", cmp->only_b);
    jw_begin_array(w, "rows");
    for (int m = 0; m < METRIC_COUNT; m++)
        json_row(w, &metric_table[m], &cmp->rows[m]);
    jw_end_array(w);
    jw_begin_array(w, "warnings");
    for (size_t i = 0; i < cmp->n_warnings; i++) {
        jw_begin_object(w, NULL);
        jw_text(w, "code", cmp->warnings[i].code);
        jw_text(w, "text", cmp->warnings[i].text);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
}

/* Reads and compares the runs after the first, each put into out or w. */
static int compare_all(const struct compare_args *a, const struct operands *runs, struct buf *out,
                       struct json_writer *w, struct err *err)
{
    struct bootstrap_options o = {(uint64_t)a->seed, (size_t)a->resamples};
    AUTO_PTR(contender) struct contender *baseline = NULL;
    int r = contender_read(runs->items[0], a->repeats, &baseline, err);

    if (r < 0)
        return r;
    if (w)
        json_run(w, "baseline", baseline);
    else
        put_run(out, 'A', baseline, a->markdown);
    if (w)
        jw_begin_array(w, "comparisons");
    for (size_t i = 1; i < runs->n; i++) {
        AUTO_PTR(contender) struct contender *run = NULL;
        AUTO(comparison) struct comparison cmp = {0};

        r = contender_read(runs->items[i], a->repeats, &run, err);
        if (r < 0)
            return r;
        compare(baseline, run, &o, &cmp);
        if (w)
            json_comparison(w, run, &cmp);
        else
            put_text(out, (char)('A' + i), run, &cmp, a->markdown);
    }
    if (w)
        jw_end_array(w);
    return 0;
}

static int compare_run(const void *args, const struct operands *operands)
{
    const struct compare_args *a = args;
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&out, JSON_PRETTY);
    struct err err = {0};

    if (a->json && a->markdown) {
        log_error("--json and --markdown exclude each other");
        return EXIT_USAGE;
    }
    if (a->json) {
        jw_begin_object(&w, NULL);
        jw_int(&w, "resamples", a->resamples);
        jw_int(&w, "seed", a->seed);
        jw_real(&w, "confidence", 0.95);
    }
    if (compare_all(a, operands, &out, a->json ? &w : NULL, &err) < 0) {
        log_error("%s", err.text);
        return EXIT_ERROR;
    }
    if (a->json)
        jw_end_object(&w);
    else
        buf_addf(&out,
                 "\n95 %% intervals of each row by itself, not corrected for the number of rows "
                 "(%" PRId64 " resamples of questions, seed %" PRId64 ").",
                 a->resamples, a->seed);
    puts(buf_str(&out));
    return EXIT_DONE;
}

const struct command cmd_compare = {
    .name = "compare",
    .help = "A B...: differences with confidence intervals and a verdict",
    .operands = "A B [C...]",
    .operands_min = 2,
    .operands_max = RUNS_MAX,
    .options = options,
    .args_size = sizeof(struct compare_args),
    .details = "A is the baseline. Paired where the questions are the same; a question that was\n"
               "asked more than once counts once, with its mean. Failed queries are left out.\n"
               "\"no evidence\": the 95 % interval of the difference contains 0.",
    .run = compare_run,
};
