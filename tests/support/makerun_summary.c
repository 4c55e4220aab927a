/*
 * summary.json as the runner writes it: the same keys in the same order.
 */
#include "makerun_private.h"

#include "base/cleanup.h"
#include "core/stats.h"
#include "store/summary.h"

#include <math.h>
#include <string.h>

static void add_int(struct json_writer *w, const char *key, int64_t value)
{
    if (value < 0)
        jw_null(w, key);
    else
        jw_int(w, key, value);
}

static void add_rails(struct json_writer *w, const char *key, double gpu, double cpu)
{
    jw_begin_object(w, key);
    jw_real(w, "gpu", gpu);
    jw_real(w, "cpu", cpu);
    jw_null(w, "dram");
    jw_null(w, "ane");
    jw_null(w, "soc");
    jw_end_object(w);
}

static void add_totals(struct makerun_state *s, struct json_writer *w)
{
    double gpu_j = s->has_gpu && s->has_energy ? s->gpu_j : NAN;
    double cpu_j = s->has_energy ? s->cpu_j : NAN;

    jw_begin_object(w, "totals");
    jw_int(w, "queries", s->m->records);
    jw_int(w, "failed", s->truth.failed);
    add_int(w, "input_tokens", s->truth.ok ? s->truth.input_tokens : -1);
    add_int(w, "output_tokens", s->truth.ok ? s->truth.output_tokens : -1);
    jw_real(w, "seconds", s->truth.seconds);
    add_rails(w, "joules", gpu_j, cpu_j);
    add_rails(w, "idle_watts", s->has_gpu && s->has_energy ? s->m->gpu_idle_w : NAN,
              s->has_energy ? s->m->cpu_idle_w : NAN);
    jw_real(w, "query_joules", s->has_energy ? s->truth.joules : NAN);
    jw_real(w, "idle_joules", s->has_energy ? 0 : NAN);
    jw_end_object(w);
}

static void add_metric(struct json_writer *w, const char *name, const char *unit, double *values,
                       size_t n)
{
    n = stats_sort(values, n);
    jw_begin_object(w, name);
    jw_text(w, "unit", unit);
    jw_int(w, "count", (int64_t)n);
    jw_real(w, "avg", stats_mean(values, n));
    jw_real(w, "median", stats_median(values, n));
    jw_real(w, "min", n ? values[0] : NAN);
    jw_real(w, "max", n ? values[n - 1] : NAN);
    jw_real(w, "std", stats_std(values, n));
    jw_real(w, "p90", stats_percentile(values, n, 90));
    jw_real(w, "p95", stats_percentile(values, n, 95));
    jw_real(w, "p99", stats_percentile(values, n, 99));
    jw_end_object(w);
}

static void add_metrics(struct makerun_state *s, struct json_writer *w)
{
    static const struct {
        const char *name, *unit;
    } metrics[MADE_METRICS] = {
        [MADE_ENERGY_J] = {"energy_joules", "J"},
        [MADE_POWER_W] = {"power_watts", "W"},
        [MADE_J_PER_OUTPUT_TOKEN] = {"joules_per_output_token", "J/token"},
        [MADE_TTFT_S] = {"ttft_seconds", "s"},
        [MADE_TOTAL_S] = {"total_query_seconds", "s"},
        [MADE_TOKENS_PER_S] = {"tokens_per_second", "token/s"},
        [MADE_ITL_MEDIAN_MS] = {"itl_median_ms", "ms"},
        [MADE_INPUT_TOKENS] = {"input_tokens", "token"},
        [MADE_OUTPUT_TOKENS] = {"output_tokens", "token"},
        [MADE_GPU_W] = {"gpu_power_watts", "W"},
        [MADE_CPU_W] = {"cpu_power_watts", "W"},
        [MADE_TEMPERATURE_C] = {"temperature_c", "\xC2\xB0"
                                                 "C"},
        [MADE_GPU_MEMORY_MB] = {"gpu_memory_mb", "MB"},
        [MADE_CPU_MEMORY_MB] = {"cpu_memory_mb", "MB"},
    };

    jw_begin_object(w, "metrics");
    for (size_t k = 0; k < MADE_METRICS; k++)
        add_metric(w, metrics[k].name, metrics[k].unit, s->values[k], (size_t)s->m->records);
    jw_end_object(w);
}

static void add_efficiency(struct makerun_state *s, struct json_writer *w)
{
    const struct makerun_truth *t = &s->truth;
    double accuracy = t->scored ? (double)t->correct / (double)t->scored : NAN;
    double joules = s->has_energy ? t->joules : NAN;

    jw_begin_object(w, "efficiency");
    jw_text(w, "basis", !s->has_energy ? NULL : s->has_gpu ? "gpu+cpu" : "cpu");
    jw_int(w, "scored", t->scored);
    jw_int(w, "correct", t->correct);
    jw_int(w, "unscorable", t->unscorable);
    jw_real(w, "accuracy", accuracy);
    jw_real(w, "mean_joules", t->mean_j);
    jw_real(w, "mean_watts", t->mean_w);
    jw_real(w, "ipj", accuracy / t->mean_j);
    jw_real(w, "ipw", accuracy / t->mean_w);
    jw_real(w, "joules_per_correct", t->correct ? joules / (double)t->correct : NAN);
    jw_real(w, "joules_per_output_token", joules / (double)t->output_tokens);
    jw_real(w, "tokens_per_joule", (double)t->output_tokens / joules);
    jw_end_object(w);
}

static void add_attribution(struct makerun_state *s, struct json_writer *w)
{
    bool shared = s->m->concurrency > 1;

    jw_text(w, "energy_source", s->m->energy_source);
    jw_begin_object(w, "attribution");
    jw_text(w, "rule", shared ? "tokens" : "exclusive");
    jw_real(w, "conservation_error", 0);
    jw_real(w, "spread", shared ? 0.1 : NAN);
    jw_end_object(w);
    jw_begin_object(w, "telemetry");
    jw_begin_array(w, "collectors");
    jw_text(w, NULL, "rapl");
    if (s->has_gpu)
        jw_text(w, NULL, "nvml");
    jw_end_array(w);
    jw_begin_array(w, "channels");
    jw_end_array(w);
    jw_real(w, "coverage", s->has_energy ? 1 : NAN);
    jw_end_object(w);
}

static void add_load(struct makerun_state *s, struct json_writer *w)
{
    double rate = (double)s->m->records / s->truth.seconds;

    jw_begin_object(w, "load");
    jw_text(w, "mode", "closed");
    jw_int(w, "concurrency", s->m->concurrency);
    jw_null(w, "requested_rate");
    jw_real(w, "achieved_rate", rate);
    jw_real(w, "finished_rate", rate);
    jw_real(w, "lateness_median_s", 0);
    jw_real(w, "lateness_p99_s", 0);
    jw_real(w, "lateness_max_s", 0);
    jw_int(w, "peak_in_flight", s->m->concurrency);
    jw_end_object(w);
    jw_begin_object(w, "overhead");
    jw_real(w, "cpu_seconds", 0.5);
    jw_real(w, "sampler_cpu_seconds", 0.1);
    jw_int(w, "peak_memory_bytes", 16 << 20);
    jw_end_object(w);
}

static void add_validity(struct makerun_state *s, struct json_writer *w)
{
    jw_begin_object(w, "validity");
    jw_text(w, "verdict", validity_name(verdict_of(&s->verdict)));
    jw_int(w, "valid", s->verdict.records - s->verdict.degraded - s->verdict.invalid);
    jw_int(w, "degraded", s->verdict.degraded);
    jw_int(w, "invalid", s->verdict.invalid);
    jw_begin_array(w, "reasons");
    for (size_t i = 0; i < REASON_COUNT; i++) {
        if (!s->verdict.counts[i] && !s->verdict.noted[i])
            continue;
        jw_begin_object(w, NULL);
        jw_text(w, "code", reason_table[i].name);
        jw_bool(w, "run", s->verdict.noted[i]);
        jw_int(w, "records", s->verdict.counts[i]);
        jw_text(w, "text", reason_table[i].text);
        jw_end_object(w);
    }
    jw_end_array(w);
    jw_end_object(w);
}

static void add_all(void *arg, struct json_writer *w)
{
    add_totals(arg, w);
    add_metrics(arg, w);
    add_efficiency(arg, w);
    add_attribution(arg, w);
    add_load(arg, w);
    add_validity(arg, w);
}

int makerun_summary(struct makerun_state *s, struct err *err)
{
    const struct makerun *m = s->m;
    AUTO(buf) struct buf config = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&config, JSON_LINE);
    int64_t finished_ns = MAKERUN_STARTED_WALL_NS + llrint(s->truth.seconds * 1e9);
    struct summary summary = {
        .model = m->model,
        .dataset = m->dataset,
        .dataset_name = m->dataset_name,
        .hardware_label = m->hardware_label,
        .generated_wall_ns = finished_ns,
        .total_queries = m->records,
        .system = &s->system,
        .gpu = s->has_gpu ? &s->gpu : NULL,
        .output_dir = "runs",
        .command_line = "ipw profile",
        .started_wall_ns = MAKERUN_STARTED_WALL_NS,
        .finished_wall_ns = finished_ns,
    };

    jw_begin_object(&w, NULL);
    jw_text(&w, "client_id", "ollama");
    jw_text(&w, "dataset_id", m->dataset);
    jw_text(&w, "model", m->model);
    jw_int(&w, "concurrency", m->concurrency);
    jw_int(&w, "seed", (int64_t)m->seed);
    jw_end_object(&w);
    summary.config = buf_str(&config);
    return summary_write(rundir_fd(s->dir), &summary, add_all, s, err);
}
