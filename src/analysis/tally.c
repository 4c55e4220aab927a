#include "analysis/tally.h"

#include "analysis/run.h"
#include "core/stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct tally_name tally_names[TALLY_FIGURES] = {
    [TALLY_ENERGY_J] = {"energy_joules", "Energy", "J"},
    [TALLY_POWER_W] = {"power_watts", "Power", "W"},
    [TALLY_J_PER_OUTPUT_TOKEN] = {"joules_per_output_token", "Energy per token", "J"},
    [TALLY_TTFT_S] = {"ttft_seconds", "Time to first token", "s"},
    [TALLY_TOTAL_S] = {"total_query_seconds", "Latency", "s"},
    [TALLY_TOKENS_PER_S] = {"tokens_per_second", "Throughput", "tok/s"},
    [TALLY_ITL_MEDIAN_MS] = {"itl_median_ms", "Inter-token latency", "ms"},
    [TALLY_INPUT_TOKENS] = {"input_tokens", "Input tokens", "tok"},
    [TALLY_OUTPUT_TOKENS] = {"output_tokens", "Output tokens", "tok"},
    [TALLY_GPU_POWER_W] = {"gpu_power_watts", "GPU power", "W"},
    [TALLY_CPU_POWER_W] = {"cpu_power_watts", "CPU power", "W"},
    [TALLY_TEMPERATURE_C] = {"temperature_c", "Temperature", "C"},
    [TALLY_GPU_MEMORY_MB] = {"gpu_memory_mb", "GPU memory", "MiB"},
    [TALLY_CPU_MEMORY_MB] = {"cpu_memory_mb", "Host memory", "MiB"},
};

static double count(int64_t n)
{
    return n < 0 ? NAN : (double)n;
}

static void add_figures(struct tally *t, const struct record *r)
{
    const double values[TALLY_FIGURES] = {
        [TALLY_ENERGY_J] = record_joules(r),
        [TALLY_POWER_W] = record_watts(r),
        [TALLY_J_PER_OUTPUT_TOKEN] = r->energy.per_output_token_j,
        [TALLY_TTFT_S] = r->latency.ttft_s,
        [TALLY_TOTAL_S] = r->latency.total_s,
        [TALLY_TOKENS_PER_S] = r->latency.throughput_tps,
        [TALLY_ITL_MEDIAN_MS] = r->latency.itl_median_ms,
        [TALLY_INPUT_TOKENS] = count(r->tokens.input),
        [TALLY_OUTPUT_TOKENS] = count(r->tokens.output),
        [TALLY_GPU_POWER_W] = r->gpu_w.avg,
        [TALLY_CPU_POWER_W] = r->cpu_w.avg,
        [TALLY_TEMPERATURE_C] = r->temperature_c.avg,
        [TALLY_GPU_MEMORY_MB] = r->gpu_memory_mb.max,
        [TALLY_CPU_MEMORY_MB] = r->cpu_memory_mb.max,
    };

    for (size_t i = 0; i < TALLY_FIGURES; i++)
        figure_add(&t->figures[i], values[i]);
}

static void add_tokens(struct tally *t, const struct record *r)
{
    double joules = record_joules(r);

    t->has_tokens |= r->tokens.output >= 0;
    t->input_tokens += r->tokens.input > 0 ? r->tokens.input : 0;
    if (r->tokens.output <= 0)
        return;
    t->output_tokens += r->tokens.output;
    if (isnan(joules))
        return;
    t->joules_with_tokens += joules;
    t->tokens_with_joules += r->tokens.output;
}

static enum outcome outcome_of(const struct record *r)
{
    if (!record_ok(r))
        return OUTCOME_FAILED;
    if (r->correct >= 0)
        return r->correct ? OUTCOME_CORRECT : OUTCOME_WRONG;
    return r->evaluation.scorer && r->evaluation.metadata ? OUTCOME_UNSCORABLE : OUTCOME_UNSCORED;
}

static void add_score(struct tally *t, enum outcome outcome)
{
    t->scored += outcome == OUTCOME_CORRECT || outcome == OUTCOME_WRONG;
    t->correct += outcome == OUTCOME_CORRECT;
    t->unscorable += outcome == OUTCOME_UNSCORABLE;
    t->unscored += outcome == OUTCOME_UNSCORED;
}

static void add_energy(struct tally *t, const struct record *r)
{
    double joules = record_joules(r);
    const char *source = r->measurement.energy_source;

    t->estimated += source && strcmp(source, "estimated") == 0;
    if (r->energy.basis && !t->basis[0])
        snprintf(t->basis, sizeof(t->basis), "%s", r->energy.basis);
    if (t->records == 1 || isnan(t->coverage_min) || r->measurement.coverage < t->coverage_min)
        t->coverage_min = r->measurement.coverage;
    if (isnan(joules)) {
        t->without_energy++;
        return;
    }
    t->joules += joules;
    if (!record_ok(r))
        t->joules_of_failed += joules;
    if (!isnan(r->measurement.equal_j)) {
        t->shared_j += joules;
        t->spread_j += fabs(joules - r->measurement.equal_j);
    }
}

void tally_add(struct tally *t, const struct record *r)
{
    enum outcome outcome = outcome_of(r);

    t->records++;
    add_energy(t, r);
    breakdown_add(&t->by_subject, r->subject && *r->subject ? r->subject : "general", outcome,
                  record_joules(r));
    if (!record_ok(r)) {
        t->failed++;
        return;
    }
    add_figures(t, r);
    add_tokens(t, r);
    add_score(t, outcome);
}

void tally_release(struct tally *t)
{
    for (size_t i = 0; i < TALLY_FIGURES; i++)
        figure_release(&t->figures[i]);
    breakdown_release(&t->by_subject);
}

void tally_efficiency(const struct tally *t, struct tally_efficiency *ret)
{
    double accuracy = stats_ratio((double)t->correct, (double)t->scored);
    double mean_j = figure_mean(&t->figures[TALLY_ENERGY_J]);
    double mean_w = figure_mean(&t->figures[TALLY_POWER_W]);
    bool any = t->without_energy < t->records;

    *ret = (struct tally_efficiency){
        .accuracy = accuracy,
        .mean_j = mean_j,
        .mean_w = mean_w,
        .ipj = stats_ratio(accuracy, mean_j),
        .ipw = stats_ratio(accuracy, mean_w),
        .j_per_correct = any ? stats_ratio(t->joules, (double)t->correct) : NAN,
        .j_per_output_token = stats_ratio(t->joules_with_tokens, (double)t->tokens_with_joules),
        .tokens_per_j = stats_ratio((double)t->tokens_with_joules, t->joules_with_tokens),
    };
}

void tally_efficiency_json(const struct tally *t, struct json_writer *w)
{
    struct tally_efficiency e;

    tally_efficiency(t, &e);
    jw_begin_object(w, "efficiency");
    jw_text(w, "basis", t->basis[0] ? t->basis : NULL);
    jw_int(w, "scored", t->scored);
    jw_int(w, "correct", t->correct);
    jw_int(w, "unscorable", t->unscorable);
    jw_int(w, "unscored", t->unscored);
    jw_real(w, "accuracy", e.accuracy);
    jw_real(w, "mean_joules", e.mean_j);
    jw_real(w, "mean_watts", e.mean_w);
    jw_real(w, "ipj", e.ipj);
    jw_real(w, "ipw", e.ipw);
    jw_real(w, "joules_per_correct", e.j_per_correct);
    jw_real(w, "joules_per_output_token", e.j_per_output_token);
    jw_real(w, "tokens_per_joule", e.tokens_per_j);
    jw_end_object(w);
}

const char *tally_source(const struct tally *t)
{
    if (t->without_energy == t->records)
        return "none";
    return t->estimated > 0 ? "estimated" : "measured";
}

double tally_spread(const struct tally *t)
{
    return stats_ratio(t->spread_j, t->shared_j);
}
