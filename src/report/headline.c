/*
 * What is read first: what must be known before any figure is, and one card for each run.
 */
#include "report/facts.h"
#include "report/facts_private.h"
#include "report/html.h"

static void begin_alert(struct buf *page, const char *look, const char *title,
                        const struct subject *s, size_t n)
{
    buf_addf(page, "<div class=\"alert %s\" role=\"note\"><strong>%s</strong> ", look, title);
    if (n > 1) {
        facts_text(page, s->name);
        buf_adds(page, ": ");
    }
}

static void alert_energy(struct buf *page, const struct subject *s, size_t n)
{
    if (s->energy == ENERGY_ESTIMATED) {
        begin_alert(page, "warn", "ESTIMATED ENERGY", s, n);
        buf_adds(page, "The joules and watts are modelled from utilisation; no sensor measured "
                       "them. They must not be compared with measured ones.</div>\n");
    } else if (s->energy == ENERGY_NONE) {
        begin_alert(page, "bad", "NO ENERGY", s, n);
        buf_adds(page, "No sensor covered these queries: there is no figure in joules or watts. "
                       "<code>ipw doctor</code> tells which sensors work on a machine.</div>\n");
    }
}

void facts_alerts(struct buf *page, const struct subject *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        alert_energy(page, &s[i], n);
    for (size_t i = 0; i < n; i++) {
        if (s[i].verdict == VALIDITY_INVALID) {
            begin_alert(page, "bad", "INVALID", &s[i], n);
            buf_adds(page, "The energy figures of this run must not be used; the reasons are "
                           "below.</div>\n");
        }
        if (!s[i].summary) {
            begin_alert(page, "warn", "UNFINISHED", &s[i], n);
            buf_adds(page, "The run has no summary: it was interrupted. Shown is what was "
                           "saved.</div>\n");
        }
    }
}

static void write_figure(struct buf *page, const char *label,
                         void (*write)(struct buf *page, const struct subject *s),
                         const struct subject *s)
{
    buf_addf(page, "<div><dt>%s</dt><dd>", label);
    write(page, s);
    buf_adds(page, "</dd></div>\n");
}

static void write_ipw(struct buf *page, const struct subject *s)
{
    html_quantity(page, s->survey.efficiency.ipw, "/W");
    buf_addf(page, " <span class=\"of\">accuracy / mean watts%s</span>",
             s->energy == ENERGY_ESTIMATED ? ", ESTIMATED" : "");
}

static void write_latency(struct buf *page, const struct subject *s)
{
    facts_metric(page, &s->survey.metrics[TALLY_TOTAL_S], "s");
}

static void write_separated(struct buf *page, const char *text, bool *first)
{
    if (!text || !*text)
        return;
    buf_adds(page, *first ? "" : " \xC2\xB7 ");
    facts_text(page, text);
    *first = false;
}

static void write_under_title(struct buf *page, const struct subject *s)
{
    const char *gpu = subject_text(s, "gpu_info.name");
    const char *title = subject_text(s, "dataset_name");
    bool first = true;

    buf_adds(page, "<p class=\"sub\">");
    write_separated(page, subject_text(s, "hardware_label"), &first);
    write_separated(page, gpu ? gpu : subject_text(s, "system_info.cpu_brand"), &first);
    write_separated(page, title ? title : subject_text(s, "dataset"), &first);
    buf_adds(page, first ? "" : " \xC2\xB7 ");
    html_count(page, s->survey.tally.records);
    buf_adds(page, s->survey.tally.records == 1 ? " query" : " queries");
    if (s->survey.tally.failed > 0) {
        buf_adds(page, ", <strong>");
        html_count(page, s->survey.tally.failed);
        buf_adds(page, " failed</strong>");
    }
    first = false;
    write_separated(page, subject_text(s, "started_at"), &first);
    buf_adds(page, "</p>\n");
}

static void write_card(struct buf *page, const struct subject *s, bool alone)
{
    static const char *const words[] = {"\xE2\x9C\x93 VALID: measured as it should be",
                                        "\xE2\x96\xB2 DEGRADED: usable, with less certainty",
                                        "\xE2\x9C\x97 INVALID: do not use the energy figures"};
    const char *model = run_model(s->run);

    buf_addf(page, "<article class=\"card\">\n<h%d>", alone ? 1 : 2);
    facts_text(page, model && *model ? model : "unnamed model");
    buf_addf(page, "</h%d>\n", alone ? 1 : 2);
    write_under_title(page, s);
    buf_addf(page, "<p class=\"verdict %s\">%s</p>\n<dl class=\"big\">\n",
             validity_name(s->verdict), words[s->verdict]);
    write_figure(page, "Accuracy", facts_accuracy, s);
    write_figure(page, "Energy per answer", facts_mean_energy, s);
    write_figure(page, "Intelligence per watt", write_ipw, s);
    write_figure(page, "Latency, median", write_latency, s);
    buf_adds(page, "</dl>\n</article>\n");
}

void facts_headline(struct buf *page, const struct subject *s, size_t n)
{
    if (n == 1) {
        write_card(page, s, true);
        return;
    }
    buf_addf(page, "<h1>%zu runs side by side</h1>\n<div class=\"cards\">\n", n);
    for (size_t i = 0; i < n; i++)
        write_card(page, &s[i], false);
    buf_adds(page, "</div>\n");
}
