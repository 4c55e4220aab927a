#include "report/survey.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "core/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct metric_info metric_table[METRIC_COUNT] = {
    [METRIC_ENERGY_J] = {"Energy per query", "J"},
    [METRIC_POWER_W] = {"Mean power during a query", "W"},
    [METRIC_PER_TOKEN_J] = {"Energy per output token", "J"},
    [METRIC_TOTAL_S] = {"Latency", "s"},
    [METRIC_TTFT_S] = {"Time to first token", "s"},
    [METRIC_TOKENS_PER_S] = {"Output tokens per second", "tok/s"},
    [METRIC_ITL_MS] = {"Time between tokens (median of a query)", "ms"},
    [METRIC_INPUT_TOKENS] = {"Input tokens", ""},
    [METRIC_OUTPUT_TOKENS] = {"Output tokens", ""},
    [METRIC_GPU_W] = {"GPU power", "W"},
    [METRIC_CPU_W] = {"CPU power", "W"},
    [METRIC_TEMPERATURE_C] = {"Temperature", "\xC2\xB0"
                                             "C"},
    [METRIC_GPU_MEMORY_MB] = {"GPU memory", "MB"},
    [METRIC_CPU_MEMORY_MB] = {"Host memory", "MB"},
};

static double count_or_nan(int64_t count)
{
    return count < 0 ? NAN : (double)count;
}

static void figures_of(const struct record *r, double ret[METRIC_COUNT])
{
    ret[METRIC_ENERGY_J] = record_joules(r);
    ret[METRIC_POWER_W] = record_watts(r);
    ret[METRIC_PER_TOKEN_J] = r->energy.per_output_token_j;
    ret[METRIC_TOTAL_S] = r->latency.total_s;
    ret[METRIC_TTFT_S] = r->latency.ttft_s;
    ret[METRIC_TOKENS_PER_S] = r->latency.throughput_tps;
    ret[METRIC_ITL_MS] = r->latency.itl_median_ms;
    ret[METRIC_INPUT_TOKENS] = count_or_nan(r->tokens.input);
    ret[METRIC_OUTPUT_TOKENS] = count_or_nan(r->tokens.output);
    ret[METRIC_GPU_W] = r->gpu_w.avg;
    ret[METRIC_CPU_W] = r->cpu_w.avg;
    ret[METRIC_TEMPERATURE_C] = r->temperature_c.avg;
    ret[METRIC_GPU_MEMORY_MB] = r->gpu_memory_mb.avg;
    ret[METRIC_CPU_MEMORY_MB] = r->cpu_memory_mb.avg;
}

struct values {
    double *items;
    size_t n, cap;
};

/* A mean of what is known. */
struct mean {
    double sum;
    int64_t n;
};

static void mean_add(struct mean *m, double value)
{
    if (!isfinite(value))
        return;
    m->sum += value;
    m->n++;
}

static double mean_of(const struct mean *m)
{
    return m->n ? m->sum / (double)m->n : NAN;
}

struct tally {
    struct values values[METRIC_COUNT];
    struct mean low, high, net, coverage, all;
};

static void tally_release(struct tally *t)
{
    for (size_t i = 0; i < METRIC_COUNT; i++)
        free(t->values[i].items);
}

/* Keeps the one word, or "mixed" once there are two. */
static void note_word(char *word, size_t size, const char *other)
{
    if (!other || !*other)
        return;
    if (!*word)
        snprintf(word, size, "%s", other);
    else if (strncmp(word, other, size - 1) != 0)
        snprintf(word, size, "mixed");
}

static void note_reasons(struct survey *s, const struct record *r)
{
    for (size_t i = 0; i < r->measurement.n_reasons; i++) {
        const char *code = r->measurement.reasons[i];
        size_t k = 0;

        while (k < s->n_reasons &&
               strncmp(s->reasons[k].code, code, sizeof(s->reasons[k].code) - 1) != 0)
            k++;
        if (k == SURVEY_REASONS_MAX)
            continue;
        if (k == s->n_reasons)
            snprintf(s->reasons[s->n_reasons++].code, sizeof(s->reasons[k].code), "%s", code);
        s->reasons[k].records++;
    }
}

static void note_source(struct survey *s, const struct record *r, double joules)
{
    const char *source = r->measurement.energy_source;

    if (isnan(joules))
        s->without_energy++;
    else if (source && strcmp(source, "estimated") == 0)
        s->estimated++;
    else
        s->measured++;
}

static void note_ended(struct survey *s, const struct record *r, struct tally *t)
{
    double figures[METRIC_COUNT];

    figures_of(r, figures);
    for (size_t i = 0; i < METRIC_COUNT; i++) {
        struct values *v = &t->values[i];

        if (!isfinite(figures[i]))
            continue;
        GROW(v->items, v->n, v->cap);
        v->items[v->n++] = figures[i];
    }
    if (isfinite(figures[METRIC_ENERGY_J])) {
        mean_add(&t->low, r->measurement.low_j);
        mean_add(&t->high, r->measurement.high_j);
        mean_add(&t->net, r->measurement.net_j);
        note_word(s->basis, sizeof(s->basis), r->energy.basis);
    }
    if (r->correct >= 0) {
        s->scored++;
        s->correct += r->correct;
    }
}

static void note(struct survey *s, const struct record *r, struct tally *t)
{
    double joules = record_joules(r), coverage = r->measurement.coverage;

    s->queries++;
    s->by_validity[r->measurement.validity]++;
    mean_add(&t->all, joules);
    mean_add(&t->coverage, coverage);
    if (isfinite(coverage) && !(coverage >= s->min_coverage))
        s->min_coverage = coverage;
    if (r->measurement.sample_count >= 0)
        s->samples = (s->samples < 0 ? 0 : s->samples) + r->measurement.sample_count;
    if (r->request.end_s > s->end_s)
        s->end_s = r->request.end_s;
    note_source(s, r, joules);
    note_word(s->attribution, sizeof(s->attribution), r->measurement.attribution);
    note_reasons(s, r);
    if (record_ok(r))
        note_ended(s, r, t);
    else
        s->failed++;
}

static struct metric_stats stats_of(struct values *v)
{
    struct metric_stats s = {.count = v->n};

    s.avg = stats_mean(v->items, v->n);
    s.std = stats_std(v->items, v->n);
    stats_sort(v->items, v->n);
    s.median = stats_median(v->items, v->n);
    s.min = v->n ? v->items[0] : NAN;
    s.max = v->n ? v->items[v->n - 1] : NAN;
    s.p90 = stats_percentile(v->items, v->n, 90);
    s.p95 = stats_percentile(v->items, v->n, 95);
    s.p99 = stats_percentile(v->items, v->n, 99);
    return s;
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : NAN;
}

static void conclude(struct survey *s, struct tally *t)
{
    int64_t with_energy = (int64_t)t->values[METRIC_ENERGY_J].n;

    for (size_t i = 0; i < METRIC_COUNT; i++)
        s->metrics[i] = stats_of(&t->values[i]);
    s->accuracy = ratio((double)s->correct, (double)s->scored);
    s->mean_j = s->metrics[METRIC_ENERGY_J].avg;
    s->mean_w = s->metrics[METRIC_POWER_W].avg;
    s->mean_net_j = t->net.n == with_energy ? mean_of(&t->net) : NAN;
    if (t->low.n == with_energy && t->high.n == with_energy) {
        s->mean_low_j = mean_of(&t->low);
        s->mean_high_j = mean_of(&t->high);
    }
    s->mean_coverage = mean_of(&t->coverage);
    s->all_j = t->all.n ? t->all.sum : NAN;
    s->ipj = ratio(s->accuracy, s->mean_j);
    s->ipw = ratio(s->accuracy, s->mean_w);
    s->per_correct_j = ratio(s->all_j, (double)s->correct);
}

int survey_take(struct run *run, struct survey *ret, struct err *err)
{
    AUTO(tally) struct tally t = {0};
    struct survey s = {
        .mean_low_j = NAN, .mean_high_j = NAN, .min_coverage = NAN, .end_s = NAN, .samples = -1};
    const struct record *record;
    int more = run_rewind(run, err);

    s.end_s = -INFINITY;
    while (more >= 0 && (more = run_next(run, &record, err)) > 0)
        note(&s, record, &t);
    if (more < 0)
        return more;
    if (!isfinite(s.end_s))
        s.end_s = NAN;
    conclude(&s, &t);
    *ret = s;
    return 0;
}
