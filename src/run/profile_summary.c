/*
 * The figures are added up from the records as they were written, not from what the run remembers:
 * so they are right for a run that was resumed, too, and nothing can differ from what a reader of
 * the directory computes.
 */
#include "run/profile_private.h"

#include "analysis/run.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "run/config.h"
#include "store/summary.h"

#include <math.h>
#include <string.h>
#include <sys/resource.h>

#define SUMMARY_MAX   ((size_t)64 << 20)
#define IMBALANCE_MAX 1e-9

static const enum rail shown_rails[] = {RAIL_GPU, RAIL_CPU, RAIL_DRAM, RAIL_ANE, RAIL_SOC};
#define N_SHOWN (sizeof(shown_rails) / sizeof(*shown_rails))

static const struct json *before(const struct session *s, const char *key)
{
    return json_path(s->before.root, "totals", key);
}

/* Of this part of the run and, where it was resumed, of those before it. */
static double with_before(const struct session *s, const char *key, const char *rail, double now)
{
    const struct json *was = rail ? json_get(before(s, key), rail) : before(s, key);
    double earlier = json_real(was, NAN);

    if (!s->before.root || isnan(earlier))
        return now;
    return isnan(now) ? earlier : earlier + now;
}

static double metered_j(const struct session *s, enum rail rail)
{
    return s->account && account_has(s->account, rail) ? account_totals(s->account, rail).meter_j
                                                       : NAN;
}

static void write_rails(const struct session *s, struct json_writer *w)
{
    jw_begin_object(w, "joules");
    for (size_t i = 0; i < N_SHOWN; i++)
        jw_real(w, rail_name(shown_rails[i]),
                with_before(s, "joules", rail_name(shown_rails[i]), metered_j(s, shown_rails[i])));
    jw_end_object(w);
    jw_begin_object(w, "idle_watts");
    for (size_t i = 0; i < N_SHOWN; i++)
        jw_real(w, rail_name(shown_rails[i]), s->account ? s->idle_w[shown_rails[i]] : NAN);
    jw_end_object(w);
}

/* What the meter showed while nothing was in flight, on the rails of the basis. */
static double idle_j(const struct session *s)
{
    double joules = NAN;

    for (size_t i = 0; s->account && i < N_SHOWN; i++) {
        enum rail rail = shown_rails[i];

        if (account_has(s->account, rail) &&
            basis_counts(account_basis(s->account), rail, account_has(s->account, RAIL_SOC)))
            joules = (isnan(joules) ? 0 : joules) + account_totals(s->account, rail).idle_j;
    }
    return joules;
}

static void write_totals(const struct session *s, struct json_writer *w)
{
    const struct tally *t = &s->outcome->tally;
    int64_t sessions = json_int(before(s, "sessions"), 0) + 1;
    int64_t lost = json_int(before(s, "sessions_lost"), 0) + sink_was_killed(s->sink);

    jw_begin_object(w, "totals");
    jw_int(w, "queries", t->records);
    jw_int(w, "failed", t->failed);
    jw_int(w, "cancelled", s->outcome->cancelled);
    if (t->has_tokens) {
        jw_int(w, "input_tokens", t->input_tokens);
        jw_int(w, "output_tokens", t->output_tokens);
    } else {
        jw_null(w, "input_tokens");
        jw_null(w, "output_tokens");
    }
    jw_real(w, "seconds", s->outcome->seconds);
    write_rails(s, w);
    jw_real(w, "query_joules", t->without_energy < t->records ? t->joules : NAN);
    jw_real(w, "failed_query_joules", t->without_energy < t->records ? t->joules_of_failed : NAN);
    jw_real(w, "idle_joules", with_before(s, "idle_joules", NULL, idle_j(s)));
    jw_real(
        w, "abandoned_joules",
        with_before(s, "abandoned_joules", NULL, s->account ? account_nobodys(s->account) : NAN));
    jw_int(w, "sessions", sessions);
    jw_int(w, "sessions_lost", lost);
    jw_end_object(w);
}

static void write_metrics(struct tally *t, struct json_writer *w)
{
    jw_begin_object(w, "metrics");
    for (size_t i = 0; i < TALLY_FIGURES; i++) {
        struct figure *f = &t->figures[i];

        if (f->n == 0)
            continue;
        jw_begin_object(w, tally_names[i].key);
        jw_text(w, "unit", tally_names[i].unit);
        jw_int(w, "count", f->n);
        jw_real(w, "avg", figure_mean(f));
        jw_real(w, "median", figure_percentile(f, 50));
        jw_real(w, "min", figure_min(f));
        jw_real(w, "max", figure_max(f));
        jw_real(w, "std", figure_std(f));
        jw_real(w, "p90", figure_percentile(f, 90));
        jw_real(w, "p95", figure_percentile(f, 95));
        jw_real(w, "p99", figure_percentile(f, 99));
        jw_end_object(w);
    }
    jw_end_object(w);
}

static void write_attribution(const struct session *s, struct json_writer *w)
{
    double spread = tally_spread(&s->outcome->tally);

    jw_begin_object(w, "attribution");
    jw_text(w, "rule", isnan(spread) ? "exclusive" : "tokens");
    jw_real(w, "conservation_error", s->account ? account_imbalance(s->account) : NAN);
    jw_real(w, "spread", spread);
    jw_end_object(w);
}

static double lateness_s(int64_t ns)
{
    return ns == MONO_ABSENT ? NAN : ns_to_s(ns);
}

static void write_load(const struct session *s, struct json_writer *w)
{
    const struct schedule_stats *l = &s->outcome->load;

    jw_begin_object(w, "load");
    jw_text(w, "mode", l->open_loop ? "open" : "closed");
    if (l->open_loop && s->options->concurrency <= 0)
        jw_null(w, "concurrency");
    else
        jw_int(w, "concurrency", s->options->concurrency > 0 ? s->options->concurrency : 1);
    jw_int(w, "peak_in_flight", l->peak_in_flight);
    jw_real(w, "requested_rate", l->requested_rate);
    jw_real(w, "planned_rate", l->planned_rate);
    jw_real(w, "achieved_rate", l->achieved_rate);
    jw_real(w, "finished_rate", l->finished_rate);
    jw_int(w, "unsent", l->unsent);
    jw_int(w, "held", l->held);
    jw_real(w, "lateness_median_s", lateness_s(l->lateness_median_ns));
    jw_real(w, "lateness_p99_s", lateness_s(l->lateness_p99_ns));
    jw_real(w, "lateness_max_s", lateness_s(l->lateness_max_ns));
    jw_bool(w, "late", l->late);
    jw_end_object(w);
}

static void write_overhead(struct session *s, struct json_writer *w)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    jw_begin_object(w, "overhead");
    jw_real(w, "cpu_seconds",
            (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
                (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6);
    jw_real(w, "sampler_cpu_seconds", ns_to_s(sampler_cpu_ns(meter_sampler(s->meter))));
    jw_int(w, "peak_memory_bytes", (int64_t)u.ru_maxrss * 1024);
    jw_end_object(w);
}

static void write_validity(const struct run_verdict *v, struct json_writer *w)
{
    jw_begin_object(w, "validity");
    jw_text(w, "verdict", validity_name(verdict_of(v)));
    jw_int(w, "valid", v->records - v->degraded - v->invalid);
    jw_int(w, "degraded", v->degraded);
    jw_int(w, "invalid", v->invalid);
    jw_begin_array(w, "reasons");
    for (size_t i = 0; i < REASON_COUNT; i++) {
        if (!v->noted[i] && v->counts[i] == 0)
            continue;
        jw_begin_object(w, NULL);
        jw_text(w, "code", reason_table[i].name);
        jw_bool(w, "run", v->noted[i]);
        jw_int(w, "records", v->counts[i]);
        jw_text(w, "text", reason_table[i].text);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
}

static void write_telemetry(struct session *s, struct json_writer *w)
{
    jw_begin_object(w, "telemetry");
    meter_describe(s->meter, w);
    if (s->agreement)
        meter_describe_agreement(s->meter, s->agreement, w);
    jw_real(w, "coverage", s->outcome->tally.coverage_min);
    jw_real(w, "sample_interval_s", ns_to_s(s->options->sample_interval_ns));
    jw_end_object(w);
}

/* Where the zero of all times in records and samples lies, so that other logs can be laid beside
 * them. */
static void write_clock(const struct session *s, struct json_writer *w)
{
    char text[32];

    clock_format_utc(s->started.wall_ns + (s->run_start - s->started.mono), text, sizeof(text));
    jw_begin_object(w, "clock");
    jw_text(w, "zero_utc", text);
    jw_real(w, "zero_monotonic_s", ns_to_s(s->run_start));
    jw_end_object(w);
}

static void write_more(void *arg, struct json_writer *w)
{
    struct session *s = arg;

    write_clock(s, w);
    if (s->client->describe) {
        jw_begin_object(w, "client_info");
        s->client->describe(s->ctx, w);
        jw_end_object(w);
    } else {
        jw_null(w, "client_info");
    }
    write_totals(s, w);
    write_metrics(&s->outcome->tally, w);
    tally_efficiency_json(&s->outcome->tally, w);
    jw_text(w, "energy_source", tally_source(&s->outcome->tally));
    write_attribution(s, w);
    write_telemetry(s, w);
    write_load(s, w);
    write_overhead(s, w);
    write_validity(&s->outcome->verdict, w);
}

/* What was said of an earlier part as a whole goes on being true. */
static void note_before(const struct session *s, struct run_verdict *v)
{
    JSON_FOREACH (reason, json_path(s->before.root, "validity", "reasons")) {
        enum reason found = reason_find(json_text(json_get(reason, "code"), NULL));

        if (found < REASON_COUNT && json_bool(json_get(reason, "run"), false))
            verdict_note(v, found);
    }
}

static void judge(struct session *s)
{
    struct run_verdict *v = &s->outcome->verdict;

    note_before(s, v);
    if (s->outcome->load.late)
        verdict_note(v, REASON_LATE_SENDER);
    if (s->account && account_imbalance(s->account) > IMBALANCE_MAX)
        verdict_note(v, REASON_CONSERVATION);
}

static int add_up(struct session *s, struct err *err)
{
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *record;
    int r = run_open(sink_path(s->sink), &run, err);

    while (r >= 0 && (r = run_next(run, &record, err)) > 0) {
        tally_add(&s->outcome->tally, record);
        verdict_count(&s->outcome->verdict, record);
    }
    return r;
}

/* A run that was whole already keeps what was said of it. */
static bool is_untouched(const struct session *s)
{
    return s->before.root && s->outcome->asked == 0 && !sink_was_killed(s->sink);
}

static int write_summary(struct session *s, struct err *err)
{
    AUTO_FREE char *config = config_json(s->options, s->model, s->scorer, true);
    const char *began = json_text(json_get(s->before.root, "started_at"), NULL);
    int64_t now = clock_anchor_now().wall_ns;

    struct summary summary = {
        .model = s->model,
        .config = config,
        .dataset = s->dataset->ops->plugin.id,
        .dataset_name = s->dataset->title,
        .hardware_label = s->hardware,
        .generated_wall_ns = now,
        .total_queries = s->outcome->tally.records,
        .system = meter_system(s->meter),
        .gpu = meter_gpu(s->meter, NULL),
        .output_dir = sink_path(s->sink),
        .command_line = s->options->command_line,
        .started_wall_ns = s->started.wall_ns,
        .started_at = began,
        .finished_wall_ns = now,
    };
    return summary_write(sink_fd(s->sink), &summary, write_more, s, err);
}

int session_summary(struct session *s, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(SUMMARY_MAX);
    int r = add_up(s, err);

    if (r < 0)
        return r;
    s->outcome->seconds = with_before(s, "seconds", NULL, ns_to_s(s->last_end - s->first_query));
    judge(s);
    if (!is_untouched(s))
        r = write_summary(s, err);
    if (r == 0 && fs_read_all(sink_fd(s->sink), "summary.json", &text, NULL) == 0)
        s->outcome->summary = buf_take(&text);
    return r;
}
