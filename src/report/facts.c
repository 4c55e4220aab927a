/*
 * The tables are tables here too: a row says where its figure is found and in which unit, and one
 * function writes the cell of a run. What no run of the page has is left out where the row is
 * marked so; otherwise it is shown as absent, because its absence is news.
 */
#include "report/facts.h"

#include "base/cleanup.h"
#include "report/facts_private.h"
#include "report/html.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum fact_kind {
    FACT_GROUP,      /* what follows is a table of this name */
    FACT_REAL,       /* double of the survey at `at` */
    FACT_COUNT,      /* int64_t of the survey */
    FACT_PART,       /* double of the survey, as percent */
    FACT_WORDS,      /* char[] of the survey */
    FACT_METRIC,     /* struct metric_stats of the survey: median and 99th percentile */
    FACT_JSON_REAL,  /* of the summary at `path` */
    FACT_JSON_COUNT, /* the same, whole */
    FACT_JSON_PART,
    FACT_JSON_TEXT,
    FACT_CALL /* its own function */
};

struct fact {
    enum fact_kind kind;
    const char *label;
    size_t at;
    const char *path;
    const char *unit;
    bool optional; /* left out when no run has it */
    void (*write)(struct buf *page, const struct subject *s);
};

void facts_text(struct buf *page, const char *text)
{
    buf_adds(page, "<bdi>");
    html_text(page, text);
    buf_adds(page, "</bdi>");
}

void facts_metric(struct buf *page, const struct metric_stats *m, const char *unit)
{
    html_quantity(page, m->median, unit);
    if (m->count > 1) {
        buf_adds(page, " <span class=\"bounds\">(p99 ");
        html_quantity(page, m->p99, unit);
        buf_adds(page, ")</span>");
    }
}

static void write_words(struct buf *page, const char *words)
{
    if (*words)
        facts_text(page, words);
    else
        buf_adds(page, HTML_ABSENT);
}

static void write_json_text(struct buf *page, const char *text)
{
    if (text)
        facts_text(page, text);
    else
        buf_adds(page, HTML_ABSENT);
}

static void write_cell(struct buf *page, const struct fact *f, const struct subject *s)
{
    const void *member = (const char *)&s->survey + f->at;

    switch (f->kind) {
    case FACT_REAL:
        html_quantity(page, *(const double *)member, f->unit);
        break;
    case FACT_COUNT:
        html_count(page, *(const int64_t *)member);
        break;
    case FACT_PART:
        html_percent(page, *(const double *)member);
        break;
    case FACT_WORDS:
        write_words(page, member);
        break;
    case FACT_METRIC:
        facts_metric(page, member, f->unit);
        break;
    case FACT_JSON_REAL:
        html_quantity(page, subject_real(s, f->path), f->unit);
        break;
    case FACT_JSON_COUNT:
        html_count(page, subject_count(s, f->path));
        break;
    case FACT_JSON_PART:
        html_percent(page, subject_real(s, f->path));
        break;
    case FACT_JSON_TEXT:
        write_json_text(page, subject_text(s, f->path));
        break;
    default:
        f->write(page, s);
        break;
    }
}

static void take_back(struct buf *page, size_t len)
{
    page->len = len;
    page->data[len] = 0;
}

/* One row, or false when it is optional and nobody has it. */
static bool write_row(struct buf *page, const struct fact *f, const struct subject *s, size_t n)
{
    size_t start = page->len;
    bool any = false;

    buf_adds(page, "<tr><th scope=\"row\">");
    html_text(page, f->label);
    buf_adds(page, "</th>");
    for (size_t i = 0; i < n; i++) {
        size_t cell;

        buf_adds(page, "<td>");
        cell = page->len;
        write_cell(page, f, &s[i]);
        any = any || strcmp(buf_str(page) + cell, HTML_ABSENT) != 0;
        buf_adds(page, "</td>");
    }
    buf_adds(page, "</tr>\n");
    if (any || !f->optional)
        return true;
    take_back(page, start);
    return false;
}

static void write_column_heads(struct buf *page, const struct subject *s, size_t n)
{
    if (n < 2)
        return;
    buf_adds(page, "<thead><tr><td></td>");
    for (size_t i = 0; i < n; i++) {
        buf_adds(page, "<th scope=\"col\">");
        facts_text(page, s[i].name);
        buf_adds(page, "</th>");
    }
    buf_adds(page, "</tr></thead>\n");
}

/* A table of each group; one that would have no row is left out. */
static void write_tables(struct buf *page, const struct fact *f, const struct subject *s, size_t n)
{
    buf_adds(page, n == 1 ? "<div class=\"groups\">\n" : "<div class=\"several\">\n");
    while (f->label) {
        size_t start = page->len;
        bool any = false;

        buf_adds(page, "<div class=\"scroll\"><table class=\"facts\">\n<caption>");
        html_text(page, f->label);
        buf_adds(page, "</caption>\n");
        write_column_heads(page, s, n);
        buf_adds(page, "<tbody>\n");
        for (f++; f->label && f->kind != FACT_GROUP; f++)
            any |= write_row(page, f, s, n);
        buf_adds(page, "</tbody></table></div>\n");
        if (!any)
            take_back(page, start);
    }
    buf_adds(page, "</div>\n");
}

/* ---- cells of their own ---- */

void facts_accuracy(struct buf *page, const struct subject *s)
{
    html_percent(page, s->survey.efficiency.accuracy);
    if (s->survey.tally.scored > 0) {
        buf_adds(page, " <span class=\"bounds\">(");
        html_count(page, s->survey.tally.correct);
        buf_adds(page, " of ");
        html_count(page, s->survey.tally.scored);
        buf_adds(page, ")</span>");
    }
}

void facts_mean_energy(struct buf *page, const struct subject *s)
{
    const struct survey *v = &s->survey;
    bool bounds = s->energy == ENERGY_MEASURED; /* an estimate's would be the integral's, not its */

    html_bounded(page, v->efficiency.mean_j, bounds ? v->mean_low_j : NAN,
                 bounds ? v->mean_high_j : NAN, "J");
    if (s->energy == ENERGY_ESTIMATED)
        buf_adds(page, " <strong>ESTIMATED</strong>");
}

static void write_source(struct buf *page, const struct subject *s)
{
    static const char *const words[] = {"measured by sensors",
                                        "ESTIMATED from utilisation, not measured",
                                        "NONE: no sensor covered the queries"};
    const struct survey *v = &s->survey;

    buf_adds(page, s->energy == ENERGY_MEASURED ? "" : "<strong>");
    buf_adds(page, words[s->energy]);
    buf_adds(page, s->energy == ENERGY_MEASURED ? "" : "</strong>");
    if (v->tally.without_energy > 0 && s->energy != ENERGY_NONE) {
        buf_adds(page, "; ");
        html_count(page, v->tally.without_energy);
        buf_adds(page, " queries have none");
    }
}

static void write_uncertainty(struct buf *page, const struct subject *s)
{
    const struct survey *v = &s->survey;

    if (s->energy != ENERGY_MEASURED || !(v->efficiency.mean_j > 0) || isnan(v->mean_low_j)) {
        buf_adds(page, HTML_ABSENT);
        return;
    }
    buf_adds(page, "\xE2\x88\x92");
    html_percent(page, (v->efficiency.mean_j - v->mean_low_j) / v->efficiency.mean_j);
    buf_adds(page, " to +");
    html_percent(page, (v->mean_high_j - v->efficiency.mean_j) / v->efficiency.mean_j);
}

static void write_validities(struct buf *page, const struct subject *s)
{
    for (int i = 0; i < 3; i++) {
        buf_adds(page, i ? ", " : "");
        html_count(page, s->survey.by_validity[i]);
        buf_addf(page, " %s", validity_name((enum validity)i));
    }
}

static void write_mib(struct buf *page, const struct subject *s)
{
    html_quantity(page, subject_real(s, "overhead.peak_memory_bytes") / 1048576, "MiB");
}

#define SURVEY(member) offsetof(struct survey, member)
#define METRIC(m)      (offsetof(struct survey, metrics) + (m) * sizeof(struct metric_stats))
#define RAIL(name, key)                                                                  \
    {FACT_JSON_REAL, name, .path = "totals.joules." key, .unit = "J", .optional = true}, \
    {                                                                                    \
        FACT_JSON_REAL, name ", idle", .path = "totals.idle_watts." key, .unit = "W",    \
                                       .optional = true                                  \
    }

static const struct fact measured_facts[] = {
    {FACT_GROUP, "Energy"},
    {FACT_CALL, "Energy source", .write = write_source},
    {FACT_WORDS, "Rails in every figure per query", SURVEY(basis)},
    {FACT_CALL, "Energy per answer", .write = facts_mean_energy},
    {FACT_CALL, "Its uncertainty", .write = write_uncertainty},
    {FACT_REAL, "Energy per answer above idle", SURVEY(mean_net_j), .unit = "J"},
    {FACT_GROUP, "Whole run, by rail"},
    RAIL("GPU", "gpu"),
    RAIL("CPU package", "cpu"),
    RAIL("DRAM", "dram"),
    RAIL("Neural engine", "ane"),
    RAIL("Whole board (contains the others)", "soc"),
    {FACT_JSON_REAL, "Of it during queries", .path = "totals.query_joules", .unit = "J",
     .optional = true},
    {FACT_JSON_REAL, "Of it outside of queries", .path = "totals.idle_joules", .unit = "J",
     .optional = true},
    {FACT_GROUP, "Quality"},
    {FACT_CALL, "Queries by quality of measurement", .write = write_validities},
    {FACT_PART, "Time covered by sensors, mean of the queries", SURVEY(mean_coverage)},
    {FACT_PART, "The same, worst query", SURVEY(min_coverage)},
    {FACT_JSON_PART, "The same, whole run", .path = "telemetry.coverage", .optional = true},
    {FACT_WORDS, "How energy was split among queries", SURVEY(attribution)},
    {FACT_JSON_PART, "Difference between two ways to split", .path = "attribution.spread",
     .optional = true},
    {FACT_JSON_REAL, "Parts against the meter, relative error",
     .path = "attribution.conservation_error", .optional = true},
    {0},
};

static const struct fact metric_facts[] = {
    {FACT_GROUP, "Outcome"},
    {FACT_CALL, "Accuracy", .write = facts_accuracy},
    {FACT_COUNT, "Queries", SURVEY(tally.records)},
    {FACT_COUNT, "Failed queries", SURVEY(tally.failed)},
    {FACT_REAL, "Mean power during a query", SURVEY(efficiency.mean_w), .unit = "W"},
    {FACT_REAL, "Intelligence per watt (accuracy / mean watts)", SURVEY(efficiency.ipw),
     .unit = "/W"},
    {FACT_REAL, "Intelligence per joule (accuracy / mean joules)", SURVEY(efficiency.ipj),
     .unit = "/J"},
    {FACT_REAL, "Energy per correct answer", SURVEY(efficiency.j_per_correct), .unit = "J"},
    {FACT_METRIC, "Energy per output token, median", METRIC(TALLY_J_PER_OUTPUT_TOKEN), .unit = "J"},
    {FACT_GROUP, "Speed"},
    {FACT_METRIC, "Latency, median", METRIC(TALLY_TOTAL_S), .unit = "s"},
    {FACT_METRIC, "Time to first token, median", METRIC(TALLY_TTFT_S), .unit = "s"},
    {FACT_METRIC, "Output tokens per second, median", METRIC(TALLY_TOKENS_PER_S), .unit = "tok/s"},
    {FACT_METRIC, "Time between tokens, median", METRIC(TALLY_ITL_MEDIAN_MS), .unit = "ms"},
    {FACT_GROUP, "Load"},
    {FACT_JSON_TEXT, "Loop", .path = "load.mode", .optional = true},
    {FACT_JSON_COUNT, "Concurrency", .path = "load.concurrency", .optional = true},
    {FACT_JSON_COUNT, "Most in flight", .path = "load.peak_in_flight", .optional = true},
    {FACT_JSON_REAL, "Requested rate", .path = "load.requested_rate", .unit = "/s",
     .optional = true},
    {FACT_JSON_REAL, "Achieved rate", .path = "load.achieved_rate", .unit = "/s", .optional = true},
    {FACT_JSON_REAL, "Finished", .path = "load.finished_rate", .unit = "/s", .optional = true},
    {FACT_JSON_REAL, "Sent late, median", .path = "load.lateness_median_s", .unit = "s",
     .optional = true},
    {FACT_JSON_REAL, "Sent late, p99", .path = "load.lateness_p99_s", .unit = "s",
     .optional = true},
    {FACT_JSON_REAL, "Sent late, worst", .path = "load.lateness_max_s", .unit = "s",
     .optional = true},
    {FACT_GROUP, "What measuring took"},
    {FACT_JSON_REAL, "CPU time of ipw", .path = "overhead.cpu_seconds", .unit = "s",
     .optional = true},
    {FACT_JSON_REAL, "Of it for reading sensors", .path = "overhead.sampler_cpu_seconds",
     .unit = "s", .optional = true},
    {FACT_CALL, "Memory of ipw at most", .optional = true, .write = write_mib},
    {FACT_GROUP, "Machine"},
    {FACT_JSON_TEXT, "Hardware", .path = "hardware_label", .optional = true},
    {FACT_JSON_TEXT, "GPU", .path = "gpu_info.name", .optional = true},
    {FACT_JSON_TEXT, "CPU", .path = "system_info.cpu_brand", .optional = true},
    {FACT_JSON_COUNT, "CPU threads", .path = "system_info.cpu_count", .optional = true},
    {FACT_JSON_TEXT, "System", .path = "system_info.os_name", .optional = true},
    {FACT_JSON_TEXT, "Kernel", .path = "system_info.kernel_version", .optional = true},
    {FACT_JSON_TEXT, "Host", .path = "system_info.host_name", .optional = true},
    {FACT_GROUP, "Run"},
    {FACT_JSON_TEXT, "Dataset", .path = "dataset_name", .optional = true},
    {FACT_JSON_TEXT, "Started", .path = "started_at", .optional = true},
    {FACT_JSON_TEXT, "Finished at", .path = "finished_at", .optional = true},
    {FACT_JSON_REAL, "Time measured", .path = "totals.seconds", .unit = "s", .optional = true},
    {FACT_JSON_TEXT, "ipw", .path = "versions.ipw", .optional = true},
    {0},
};

/* ---- what was measured ---- */

static void write_run_title(struct buf *page, const struct subject *s, size_t n)
{
    if (n < 2)
        return;
    buf_adds(page, "<h3>");
    facts_text(page, s->name);
    buf_adds(page, "</h3>\n");
}

static void write_reason(struct buf *page, const char *code, const char *text, int64_t records,
                         int64_t queries)
{
    buf_adds(page, "<li>");
    if (text) {
        facts_text(page, text);
        buf_adds(page, " <span class=\"bounds\">(");
        html_text(page, code);
        buf_adds(page, ")</span>");
    } else {
        facts_text(page, code);
    }
    if (records > 0) {
        buf_adds(page, ": ");
        html_count(page, records);
        buf_adds(page, " of ");
        html_count(page, queries);
        buf_adds(page, queries == 1 ? " query" : " queries");
    }
    buf_adds(page, "</li>\n");
}

#define LISTED_MAX 200 /* entries of a list that a stranger's summary may make long */

static bool summary_names(const struct subject *s, const char *code)
{
    JSON_FOREACH (reason, subject_find(s, "validity.reasons"))
        if (strcmp(json_text(json_get(reason, "code"), ""), code) == 0)
            return true;
    return false;
}

static void write_reasons(struct buf *page, const struct subject *s, size_t n)
{
    const struct json *reasons = subject_find(s, "validity.reasons");
    size_t listed = 0;

    write_run_title(page, s, n);
    if (!json_first(reasons) && s->survey.n_reasons == 0) {
        buf_adds(page, "<p>Nothing was found that casts doubt on the measurement.</p>\n");
        return;
    }
    buf_adds(page, "<ul class=\"reasons\">\n");
    JSON_FOREACH (reason, reasons)
        if (listed++ < LISTED_MAX)
            write_reason(page, json_text(json_get(reason, "code"), "unnamed"),
                         json_text(json_get(reason, "text"), NULL),
                         json_int(json_get(reason, "records"), 0), s->survey.tally.records);
    for (size_t i = 0; i < s->survey.n_reasons; i++) {
        const struct survey_reason *r = &s->survey.reasons[i];

        if (!summary_names(s, r->code))
            write_reason(page, r->code, NULL, r->records, s->survey.tally.records);
    }
    buf_adds(page, "</ul>\n");
}

static void write_channel(struct buf *page, const struct json *c)
{
    static const char *const words[] = {"rail", "channel", "device", "collector", "quantity"};
    double refresh_s = json_real(json_get(c, "refresh_s"), NAN);

    buf_adds(page, "<tr>");
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
        const char *text = json_text(json_get(c, words[i]), "");

        buf_adds(page, i ? "<td>" : "<th scope=\"row\">");
        write_words(page, text);
        buf_adds(page, i ? "</td>" : "</th>");
    }
    buf_adds(page, "<td>");
    html_quantity(page, json_real(json_get(c, "period_s"), NAN) * 1e3, "ms");
    buf_adds(page, "</td><td>");
    html_quantity(page, refresh_s * 1e3, "ms");
    buf_addf(page, "</td><td>%s%s</td></tr>\n",
             json_bool(json_get(c, "counted"), false) ? "counted" : "shown only",
             json_bool(json_get(c, "estimated"), false) ? ", <strong>ESTIMATED</strong>" : "");
}

static void write_channels(struct buf *page, const struct subject *s, size_t n)
{
    const struct json *channels = subject_find(s, "telemetry.channels");
    size_t listed = 0;

    if (!json_first(channels))
        return;
    buf_adds(page, "<details><summary>Sensors");
    if (n > 1) {
        buf_adds(page, " of ");
        facts_text(page, s->name);
    }
    buf_adds(page, "</summary>\n<div class=\"scroll\"><table class=\"stats words\"><thead><tr>"
                   "<th scope=\"col\">Rail</th><th scope=\"col\">Channel</th>"
                   "<th scope=\"col\">Device</th><th scope=\"col\">Collector</th>"
                   "<th scope=\"col\">Quantity</th><th scope=\"col\">Read every</th>"
                   "<th scope=\"col\">Renewed every</th><th scope=\"col\">Use</th>"
                   "</tr></thead><tbody>\n");
    JSON_FOREACH (channel, channels)
        if (listed++ < LISTED_MAX)
            write_channel(page, channel);
    buf_adds(page, "</tbody></table></div></details>\n");
}

void facts_measured(struct buf *page, const struct subject *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        write_reasons(page, &s[i], n);
    write_tables(page, measured_facts, s, n);
    for (size_t i = 0; i < n; i++)
        write_channels(page, &s[i], n);
}

/* ---- statistics ---- */

static void write_statistics(struct buf *page, const struct subject *s)
{
    buf_adds(page, "<div class=\"scroll\"><table class=\"stats\"><thead><tr>"
                   "<th scope=\"col\">Per query</th><th scope=\"col\">mean</th>"
                   "<th scope=\"col\">median</th><th scope=\"col\">min</th>"
                   "<th scope=\"col\">max</th><th scope=\"col\">std</th>"
                   "<th scope=\"col\">p90</th><th scope=\"col\">p95</th>"
                   "<th scope=\"col\">p99</th><th scope=\"col\">n</th></tr></thead><tbody>\n");
    for (size_t i = 0; i < TALLY_FIGURES; i++) {
        const struct metric_stats *m = &s->survey.metrics[i];
        const double values[] = {m->avg, m->median, m->min, m->max, m->std, m->p90, m->p95, m->p99};

        if (m->count == 0 && i > TALLY_OUTPUT_TOKENS)
            continue;
        buf_adds(page, "<tr><th scope=\"row\">");
        html_text(page, tally_names[i].title);
        buf_adds(page, "</th>");
        for (size_t k = 0; k < sizeof(values) / sizeof(*values); k++) {
            buf_adds(page, "<td>");
            html_quantity(page, values[k], tally_names[i].unit);
            buf_adds(page, "</td>");
        }
        buf_adds(page, "<td>");
        html_count(page, m->count);
        buf_adds(page, "</td></tr>\n");
    }
    buf_adds(page, "</tbody></table></div>\n");
}

void facts_metrics(struct buf *page, const struct subject *s, size_t n)
{
    write_tables(page, metric_facts, s, n);
    for (size_t i = 0; i < n; i++) {
        buf_adds(page, "<details><summary>All statistics");
        if (n > 1) {
            buf_adds(page, " of ");
            facts_text(page, s[i].name);
        }
        buf_adds(page, "</summary>\n");
        write_statistics(page, &s[i]);
        buf_adds(page, "</details>\n");
    }
}

/* ---- to repeat it ---- */

void facts_repeat(struct buf *page, const struct subject *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *command = subject_text(&s[i], "command_line");
        const struct json *config = subject_find(&s[i], "profiler_config");

        write_run_title(page, &s[i], n);
        if (command) {
            buf_adds(page, "<pre class=\"command\">");
            html_text(page, command);
            buf_adds(page, "</pre>\n");
        } else {
            buf_adds(page, "<p class=\"note\">The run does not say by which command it was "
                           "made.</p>\n");
        }
        if (json_first(config)) {
            AUTO(buf) struct buf json = BUF_INIT(BUF_MAX_OWN);
            struct json_writer w = json_writer(&json, JSON_PRETTY);

            jw_value(&w, NULL, config);
            buf_adds(page, "<details><summary>Configuration</summary><pre>");
            html_text(page, buf_str(&json));
            buf_adds(page, "</pre></details>\n");
        }
        buf_adds(page, "<p class=\"note\">Directory: ");
        facts_text(page, run_dir(s[i].run));
        buf_adds(page, "</p>\n");
    }
}
