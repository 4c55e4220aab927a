/*
 * Records are made one after the other from one stream of random numbers and written as they are
 * made; what telemetry and the summary need of them is kept in arrays.
 */
#include "makerun.h"

#include "makerun_private.h"

#include "arrow/infer.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "store/hfwriter.h"
#include "store/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GPU_SHARE 0.8

static const char *const plain_subjects[] = {"arithmetic", "geography", "code"};

struct makerun makerun_default(void)
{
    return (struct makerun){
        .records = 100,
        .seed = 1,
        .model = "llama3.2:1b",
        .dataset = "ipw",
        .dataset_name = "Intelligence Per Watt",
        .hardware_label = "H100",
        .gpu_name = "NVIDIA H100 80GB HBM3",
        .subjects = plain_subjects,
        .n_subjects = 3,
        .input_tokens_min = 20,
        .input_tokens_max = 400,
        .output_tokens_min = 10,
        .output_tokens_max = 300,
        .ttft_base_s = 0.05,
        .ttft_per_input_token_s = 0.0005,
        .ttft_noise_s = 0.005,
        .seconds_per_output_token = 0.01,
        .energy_base_j = 20,
        .energy_per_token_j = 0.5,
        .energy_noise_j = 5,
        .gpu_idle_w = 60,
        .cpu_idle_w = 20,
        .concurrency = 1,
        .pause_s = 0.02,
        .accuracy = 0.7,
        .energy_source = "measured",
        .reason = REASON_COUNT,
        .noted = REASON_COUNT,
        .telemetry_s = NAN,
        .telemetry_hz = 50,
    };
}

void makerun_set_joules(struct makerun *m, double mean_j)
{
    double tokens = (double)(m->input_tokens_min + m->input_tokens_max + m->output_tokens_min +
                             m->output_tokens_max) /
                    2;
    double scale = mean_j / (m->energy_base_j + m->energy_per_token_j * tokens);

    m->energy_base_j *= scale;
    m->energy_per_token_j *= scale;
    m->energy_noise_j *= scale;
}

void makerun_set_hostile(struct makerun *m)
{
    static const char *const subjects[] = {"<b>bold</b>", "a,\"b\"\nc", "\xE2\x80\xAEright to left",
                                           "=SUM(A1:A9)", "",           "&amp;lt;"};
    static const char *const texts[] = {
        "</script><script>document.title='owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        "quotes \" ' ` and \\ and ${x} and {{x}} and <!-- --> ]]>",
        "lines\r\nand\ttabs\nand \x1b[31mred\x1b[0m and \x07 bells",
        "\xE2\x80\xA8 a line separator, \xEF\xBB\xBF a mark, \xF0\x9F\x98\x80, "
        "e\xCC\x81\xCC\x81\xCC\x81",
        "javascript:alert(1)//http://example.com/?a=1&b=2#c",
        "wordwithoutendwordwithoutendwordwithoutendwordwithoutendwordwithoutendwordwithoutend"
        "wordwithoutendwordwithoutendwordwithoutendwordwithoutendwordwithoutendwordwithoutend",
        "%s %n %d {0} $(reboot) `reboot` ; rm -rf / | \\begin{document}",
        "",
    };

    m->model = "</title><script>document.title='owned'</script>\"m&'";
    m->hardware_label = "<i>H</i>&100";
    m->gpu_name = "GPU <svg onload=\"document.title='owned'\">";
    m->subjects = subjects;
    m->n_subjects = sizeof(subjects) / sizeof(*subjects);
    m->texts = texts;
    m->n_texts = sizeof(texts) / sizeof(*texts);
}

/* A value with noise that does not turn it around. */
static double noisy(struct makerun_state *s, double value, double deviation)
{
    double drawn = value + rng_normal(&s->rng) * deviation;

    return drawn < value / 10 ? value / 10 : drawn;
}

static int64_t between(struct makerun_state *s, int64_t low, int64_t high)
{
    return low + (int64_t)rng_below(&s->rng, (uint64_t)(high - low) + 1);
}

static bool chance(struct makerun_state *s, double probability)
{
    return rng_uniform(&s->rng) < probability;
}

static struct stat4 spread(double middle)
{
    return (struct stat4){middle, middle * 1.2, middle, middle * 0.8};
}

/* The query's times: in its lane, behind the one before. */
static void set_times(struct makerun_state *s, int64_t i, struct record *r)
{
    int64_t before = i - s->m->concurrency;

    r->request.sent_s = before < 0 ? 0 : s->queries[before].end_s + s->m->pause_s;
    r->request.planned_s = r->request.sent_s;
    r->request.first_token_s = r->request.sent_s + r->latency.ttft_s;
    r->request.end_s = r->request.sent_s + r->latency.total_s;
    s->queries[i].sent_s = r->request.sent_s;
    s->queries[i].end_s = r->request.end_s;
    if (r->request.end_s > s->truth.seconds)
        s->truth.seconds = r->request.end_s;
}

static void set_latency(struct makerun_state *s, struct record *r)
{
    const struct makerun *m = s->m;

    r->tokens.input = between(s, m->input_tokens_min, m->input_tokens_max);
    r->tokens.output = between(s, m->output_tokens_min, m->output_tokens_max);
    r->tokens.total = r->tokens.input + r->tokens.output;
    r->latency.ttft_s = noisy(
        s, m->ttft_base_s + m->ttft_per_input_token_s * (double)r->tokens.input, m->ttft_noise_s);
    r->latency.tpot_s = m->seconds_per_output_token;
    r->latency.total_s = r->latency.ttft_s + r->latency.tpot_s * (double)(r->tokens.output - 1);
    r->latency.throughput_tps = (double)r->tokens.output / r->latency.total_s;
    r->latency.per_token_ms = r->latency.total_s * 1e3 / (double)r->tokens.output;
    r->latency.ttfo_s = r->latency.ttft_s;
    r->latency.headers_s = r->latency.ttft_s / 10;
    r->latency.itl_median_ms = r->latency.tpot_s * 1e3;
    r->latency.itl_p90_ms = r->latency.itl_median_ms * 1.2;
    r->latency.itl_p95_ms = r->latency.itl_median_ms * 1.3;
    r->latency.itl_p99_ms = r->latency.itl_median_ms * 1.5;
    r->latency.itl_std_ms = r->latency.itl_median_ms * 0.1;
}

static void set_phases(struct record *r, double joules)
{
    double decode_s = r->latency.total_s - r->latency.ttft_s;
    double watts = joules / r->latency.total_s;

    r->phase.prefill_j = watts * r->latency.ttft_s;
    r->phase.decode_j = joules - r->phase.prefill_j;
    r->phase.prefill_ms = r->latency.ttft_s * 1e3;
    r->phase.decode_ms = decode_s * 1e3;
    r->phase.prefill_w = r->phase.decode_w = watts;
    r->phase.prefill_per_input_token_j = r->phase.prefill_j / (double)r->tokens.input;
    r->phase.decode_per_output_token_j = r->phase.decode_j / (double)r->tokens.output;
}

/* The energy of the query, known or not, is spent: telemetry shows it. */
static void set_energy(struct makerun_state *s, int64_t i, struct record *r)
{
    const struct makerun *m = s->m;
    double joules = noisy(s, m->energy_base_j + m->energy_per_token_j * (double)r->tokens.total,
                          m->energy_noise_j);
    double gpu_j = s->has_gpu ? joules * GPU_SHARE : 0, total_s = r->latency.total_s;

    s->queries[i].gpu_w = gpu_j / total_s;
    s->queries[i].cpu_w = (joules - gpu_j) / total_s;
    if (!s->has_energy)
        return;
    r->energy.gpu_j = s->has_gpu ? gpu_j : NAN;
    r->energy.cpu_j = joules - gpu_j;
    r->energy.basis = s->has_gpu ? "gpu+cpu" : "cpu";
    r->energy.per_output_token_j = joules / (double)r->tokens.output;
    r->energy.per_total_token_j = joules / (double)r->tokens.total;
    r->energy.tokens_per_joule = (double)r->tokens.output / joules;
    if (s->has_gpu)
        r->gpu_w = spread(s->queries[i].gpu_w);
    r->cpu_w = spread(s->queries[i].cpu_w);
    set_phases(r, joules);
    r->efficiency.throughput_per_watt = (double)r->tokens.output / joules;
    r->measurement.low_j = joules * 0.98;
    r->measurement.high_j = joules * 1.02;
    r->measurement.net_j = joules - (m->cpu_idle_w + (s->has_gpu ? m->gpu_idle_w : 0)) * total_s;
    r->measurement.sample_count = (int64_t)(total_s * m->telemetry_hz);
    r->measurement.coverage = 1;
    r->measurement.attribution = m->concurrency > 1 ? "tokens" : "exclusive";
    s->gpu_j += gpu_j;
    s->cpu_j += joules - gpu_j;
    s->truth.joules += joules;
}

static void set_device(struct makerun_state *s, struct record *r)
{
    r->system = &s->system;
    r->cpu_memory_mb = spread(2048);
    r->compute.flops_per_token = 2e9;
    r->compute.flops_per_request = 2e9 * (double)r->tokens.total;
    r->compute.macs_per_request = 1e9 * (double)r->tokens.total;
    r->compute.total_flops = INT64_C(2000000000) * r->tokens.total;
    if (!s->has_gpu)
        return;
    r->gpu = &s->gpu;
    r->gpu_memory_mb = spread(8192);
    r->temperature_c = (struct stat4){55, 60, 55, 50};
    r->utilization.compute_pct = 80;
    r->utilization.memory_bandwidth_pct = 40;
    r->utilization.memory_used_gb = 8;
    r->utilization.memory_total_gb = 80;
}

/* What the client would have given had the query come to its end is absent. */
static void fail_query(struct record *r)
{
    r->tokens.input = r->tokens.output = r->tokens.total = -1;
    memset(&r->phase, 0, sizeof(r->phase));
    for (size_t i = 0; i < n_record_fields; i++) {
        size_t at = record_fields[i].offset;

        if (record_fields[i].kind == FIELD_F64 &&
            ((at >= offsetof(struct record, latency) &&
              at < offsetof(struct record, cpu_memory_mb)) ||
             (at >= offsetof(struct record, phase) && at < offsetof(struct record, utilization))))
            *(double *)((char *)r + at) = NAN;
    }
    r->energy.per_output_token_j = r->energy.per_total_token_j = r->energy.tokens_per_joule = NAN;
    r->efficiency.throughput_per_watt = NAN;
    r->compute.flops_per_request = r->compute.macs_per_request = NAN;
    r->compute.total_flops = -1;
    r->request.first_token_s = NAN;
    r->request.status = "error";
    r->request.error = "the server closed the connection";
    verdict_add(r, REASON_QUERY_FAILED);
}

static void finish_query(struct makerun_state *s, struct record *r)
{
    const struct makerun *m = s->m;

    r->request.status = "ok";
    r->request.finish_reason = "stop";
    s->truth.ok++;
    s->truth.input_tokens += r->tokens.input;
    s->truth.output_tokens += r->tokens.output;
    if (isnan(m->accuracy))
        return;
    if (chance(s, m->unscorable_fraction)) {
        s->truth.unscorable++;
        return;
    }
    r->correct = chance(s, m->accuracy);
    r->evaluation.scorer = "exact";
    r->evaluation.metadata = "{\"extracted\":\"4\"}";
    s->truth.scored++;
    s->truth.correct += r->correct;
}

static void judge(struct makerun_state *s, struct record *r)
{
    const struct makerun *m = s->m;

    r->measurement.energy_source = m->energy_source;
    if (!s->has_energy)
        verdict_add(r, REASON_NO_ENERGY);
    else if (strcmp(m->energy_source, "estimated") == 0)
        verdict_add(r, REASON_ESTIMATED);
    if (m->reason < REASON_COUNT && chance(s, m->reason_fraction))
        verdict_add(r, m->reason);
    verdict_count(&s->verdict, r);
}

/* Texts live in `room` until the next record. */
struct room {
    char problem[64], answer[32], response[64];
    struct json metadata, level, source;
};

static void set_texts(struct makerun_state *s, int64_t i, struct record *r, struct room *room)
{
    const struct makerun *m = s->m;
    size_t at = (size_t)i;

    r->subject = m->n_subjects ? m->subjects[at % m->n_subjects] : NULL;
    if (m->n_texts) {
        r->problem = m->texts[at % m->n_texts];
        r->answer = m->texts[(at + 1) % m->n_texts];
        if (r->request.error)
            r->request.error = m->texts[(at + 3) % m->n_texts];
        else
            r->response = m->texts[(at + 2) % m->n_texts];
    } else {
        snprintf(room->problem, sizeof(room->problem), "What is %lld + %lld?", (long long)i, 2LL);
        snprintf(room->answer, sizeof(room->answer), "%lld", (long long)i + 2);
        snprintf(room->response, sizeof(room->response), "The answer is %lld.",
                 (long long)i + (r->correct == 0 ? 3 : 2));
        r->problem = room->problem;
        r->answer = room->answer;
        r->response = r->request.error ? NULL : room->response;
    }
    room->source = (struct json){
        .type = JSON_STRING, .len = 7, .text = "makerun", .key = "source", .key_len = 6};
    room->level = (struct json){
        .type = JSON_INT, .integer = i % 5, .key = "level", .key_len = 5, .next = &room->source};
    room->metadata = (struct json){.type = JSON_OBJECT, .len = 2, .child = &room->level};
    r->metadata = &room->metadata;
}

static void keep_values(struct makerun_state *s, int64_t i, const struct record *r)
{
    double joules = s->has_energy ? r->energy.cpu_j + (s->has_gpu ? r->energy.gpu_j : 0) : NAN;
    double values[MADE_METRICS] = {
        [MADE_ENERGY_J] = joules,
        [MADE_POWER_W] = joules / r->latency.total_s,
        [MADE_J_PER_OUTPUT_TOKEN] = r->energy.per_output_token_j,
        [MADE_TTFT_S] = r->latency.ttft_s,
        [MADE_TOTAL_S] = r->latency.total_s,
        [MADE_TOKENS_PER_S] = r->latency.throughput_tps,
        [MADE_ITL_MEDIAN_MS] = r->latency.itl_median_ms,
        [MADE_INPUT_TOKENS] = r->tokens.input < 0 ? NAN : (double)r->tokens.input,
        [MADE_OUTPUT_TOKENS] = r->tokens.output < 0 ? NAN : (double)r->tokens.output,
        [MADE_GPU_W] = r->gpu_w.avg,
        [MADE_CPU_W] = r->cpu_w.avg,
        [MADE_TEMPERATURE_C] = r->temperature_c.avg,
        [MADE_GPU_MEMORY_MB] = r->gpu_memory_mb.avg,
        [MADE_CPU_MEMORY_MB] = r->cpu_memory_mb.avg,
    };

    for (size_t k = 0; k < MADE_METRICS; k++)
        s->values[k][i] = values[k];
    if (strcmp(r->request.status, "ok") == 0) {
        s->truth.mean_j += joules;
        s->truth.mean_w += joules / r->latency.total_s;
    }
}

static void make_record(struct makerun_state *s, int64_t i, struct record *r, struct room *room)
{
    record_init(r);
    r->request.index = i;
    r->request.attempts = 1;
    set_latency(s, r);
    set_times(s, i, r);
    set_energy(s, i, r);
    set_device(s, r);
    if (chance(s, s->m->failed_fraction)) {
        fail_query(r);
        s->truth.failed++;
    } else {
        finish_query(s, r);
    }
    judge(s, r);
    set_texts(s, i, r, room);
    keep_values(s, i, r);
}

static int write_records(struct makerun_state *s, struct hfwriter *w, struct err *err)
{
    int r = 0;

    for (int64_t i = 0; r == 0 && i < s->m->records; i++) {
        struct record record;
        struct room room;

        make_record(s, i, &record, &room);
        r = hfwriter_append(w, record_put, &record, 0, err);
    }
    s->truth.mean_j = s->truth.ok ? s->truth.mean_j / (double)s->truth.ok : NAN;
    s->truth.mean_w = s->truth.ok ? s->truth.mean_w / (double)s->truth.ok : NAN;
    if (r == 0)
        r = s->m->unfinished ? hfwriter_sync(w, err) : hfwriter_finish(w, err);
    return r;
}

static int makerun_records(struct makerun_state *s, struct err *err)
{
    AUTO(arrow_schema) struct arrow_schema metadata = {0}, schema = {0};
    struct hfwriter *w = NULL;
    int r;

    arrow_schema_init(&metadata);
    arrow_field_add(&metadata.root, "level", ARROW_INT64);
    arrow_field_add(&metadata.root, "source", ARROW_UTF8);
    record_schema(s->m->model, &metadata.root, &schema);
    r = hfwriter_create(rundir_fd(s->dir), &schema, &w, err);
    if (r == 0)
        r = write_records(s, w, err);
    hfwriter_free(w);
    return r;
}

static void describe_machine(struct makerun_state *s)
{
    s->cpu = (struct device){.kind = DEVICE_CPU, .type = "CPU", .vendor = "Intel"};
    snprintf(s->cpu.name, sizeof(s->cpu.name), "package-0");
    snprintf(s->cpu.backend, sizeof(s->cpu.backend), "powercap");
    s->gpu = (struct device){.kind = DEVICE_GPU, .type = "GPU", .vendor = "NVIDIA"};
    snprintf(s->gpu.name, sizeof(s->gpu.name), "%s", s->has_gpu ? s->m->gpu_name : "");
    snprintf(s->gpu.backend, sizeof(s->gpu.backend), "NVML");
    s->system = (struct system_info){.os_name = "Linux",
                                     .os_version = "Debian 12",
                                     .kernel_version = "6.1.0",
                                     .host_name = "bench",
                                     .cpu_count = 16,
                                     .cpu_brand = "Some CPU"};
}

static void makerun_state_release(struct makerun_state *s)
{
    for (size_t k = 0; k < MADE_METRICS; k++)
        free(s->values[k]);
    free(s->queries);
    rundir_close(s->dir);
}

int makerun(const struct makerun *m, const char *dir, struct makerun_truth *ret, struct err *err)
{
    AUTO(makerun_state)
    struct makerun_state s = {.m = m, .rng = rng_seed(m->seed, RNG_STREAM_PLAIN)};
    int r;

    s.has_gpu = m->gpu_name != NULL;
    s.has_energy = strcmp(m->energy_source, "none") != 0;
    describe_machine(&s);
    s.queries = xcalloc((size_t)m->records + 1, sizeof(*s.queries));
    for (size_t k = 0; k < MADE_METRICS; k++)
        s.values[k] = xcalloc((size_t)m->records + 1, sizeof(double));
    if (m->noted < REASON_COUNT)
        verdict_note(&s.verdict, m->noted);
    r = rundir_create(dir, false, "{}", &s.dir, err);
    if (r == 0)
        r = makerun_records(&s, err);
    if (r == 0)
        r = makerun_telemetry(&s, err);
    if (r == 0 && !m->unfinished)
        r = makerun_summary(&s, err);
    if (r == 0 && ret)
        *ret = s.truth;
    return r;
}
