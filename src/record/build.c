/*
 * First each rail is reduced to what is the query's own (struct part), whether it was alone or not;
 * the basis is then a sum of parts, and everything else is division. A division by what is absent
 * or not positive is absent: `stats_ratio` is the only place where that is decided.
 */
#include "record/build.h"

#include "core/stats.h"
#include "record/flops.h"
#include "record/latency.h"
#include "record/verdict.h"

#include <math.h>
#include <string.h>

#define J_PER_KWH     3.6e6
#define BYTES_PER_MIB 1048576.0

/* What is the query's own of a rail, or of several. */
struct part {
    double joules, equal_j, low_j, high_j, prefill_j, decode_j, idle_w;
    int64_t ticks, gaps;
    double coverage;
};

static const struct part part_absent = {
    .joules = NAN,
    .equal_j = NAN,
    .low_j = NAN,
    .high_j = NAN,
    .prefill_j = NAN,
    .decode_j = NAN,
    .idle_w = NAN,
    .ticks = -1,
    .coverage = NAN,
};

const char *basis_name(enum basis b)
{
    static const char *const names[] = {NULL, "gpu", "gpu+cpu", "soc", "cpu"};

    return names[b];
}

bool basis_counts(enum basis b, enum rail rail, bool board)
{
    switch (b) {
    case BASIS_GPU:
        return rail == RAIL_GPU;
    case BASIS_CPU:
        return rail == RAIL_CPU;
    case BASIS_GPU_CPU:
        return rail == RAIL_GPU || rail == RAIL_CPU;
    case BASIS_SOC:
        return board ? rail == RAIL_SOC : rail == RAIL_GPU || rail == RAIL_CPU || rail == RAIL_ANE;
    case BASIS_NONE:
        break;
    }
    return false;
}

void build_input_init(struct build_input *in)
{
    const struct energy unknown = {.joules = NAN, .low_j = NAN, .high_j = NAN};
    const struct build_gauges gauges = {
        .cpu_memory_bytes = STAT4_ABSENT,
        .gpu_memory_bytes = STAT4_ABSENT,
        .gpu_memory_total_bytes = NAN,
        .temperature_c = STAT4_ABSENT,
        .compute_pct = NAN,
        .memory_bandwidth_pct = NAN,
    };

    *in = (struct build_input){
        .gauges = gauges,
        .price_per_kwh_usd = NAN,
        .carbon_g_per_kwh = NAN,
        .index = -1,
        .attempts = -1,
        .planned = MONO_ABSENT,
    };
    for (size_t i = 0; i < RAIL_COUNT; i++)
        in->rails[i] = (struct build_rail){.energy = unknown,
                                           .prefill = unknown,
                                           .decode = unknown,
                                           .power_w = STAT4_ABSENT,
                                           .idle_w = NAN};
}

static bool measured(const struct build_rail *r)
{
    return r->present && !r->estimated;
}

enum basis build_basis(const struct build_rail *rails, const struct device *gpu)
{
    bool card = gpu && strcmp(gpu->type, "GPU") == 0;
    bool gpu_measured = measured(&rails[RAIL_GPU]), cpu_measured = measured(&rails[RAIL_CPU]);
    bool board =
        measured(&rails[RAIL_SOC]) || (measured(&rails[RAIL_ANE]) && gpu_measured && cpu_measured);

    if (board && !(card && rails[RAIL_GPU].present))
        return BASIS_SOC;
    if (gpu_measured)
        return cpu_measured ? BASIS_GPU_CPU : BASIS_GPU;
    if (cpu_measured)
        return BASIS_CPU;
    /* Only estimates are left. */
    if (rails[RAIL_GPU].present)
        return rails[RAIL_CPU].present ? BASIS_GPU_CPU : BASIS_GPU;
    if (rails[RAIL_CPU].present)
        return BASIS_CPU;
    return rails[RAIL_SOC].present ? BASIS_SOC : BASIS_NONE;
}

static bool is_shared(const struct build_input *in)
{
    return in->attributed && !in->attributed->exclusive;
}

/* The account's figure of a query that was alone. It is the meter's, but for a counter that stood
 * still for so long that the account went on without its next tick: then the meter knows better by
 * now, but what lies before and after the query is settled, and would no longer add up. A phase
 * that is not known stays so. */
static void settle_part(struct part *p, const struct share *s)
{
    p->joules = s->tokens_j;
    p->low_j = p->low_j > s->tokens_j ? s->tokens_j : p->low_j;
    p->high_j = p->high_j < s->tokens_j ? s->tokens_j : p->high_j;
    if (!isnan(p->prefill_j))
        p->prefill_j = s->prefill_j;
    if (!isnan(p->decode_j))
        p->decode_j = s->decode_j;
}

static struct part part_of(const struct build_input *in, enum rail rail)
{
    const struct build_rail *r = &in->rails[rail];
    struct part p = part_absent;

    if (!r->present)
        return p;
    p.idle_w = r->idle_w;
    p.ticks = r->energy.ticks;
    p.gaps = r->energy.gaps;
    p.coverage = r->energy.coverage;
    if (isnan(r->energy.joules)) /* nor is any part of it known: a counter that never changed */
        return p;
    if (is_shared(in)) {
        const struct share *s = &in->attributed->rails[rail];

        p.joules = s->tokens_j;
        p.equal_j = s->equal_j;
        p.prefill_j = s->prefill_j;
        p.decode_j = s->decode_j;
        p.low_j = fmin(s->tokens_j, s->equal_j) * stats_ratio(r->energy.low_j, r->energy.joules);
        p.high_j = fmax(s->tokens_j, s->equal_j) * stats_ratio(r->energy.high_j, r->energy.joules);
    } else {
        p.joules = r->energy.joules;
        p.low_j = r->energy.low_j;
        p.high_j = r->energy.high_j;
        p.prefill_j = r->prefill.joules;
        p.decode_j = r->decode.joules;
        if (in->attributed)
            settle_part(&p, &in->attributed->rails[rail]);
    }
    return p;
}

static struct part part_add(struct part x, struct part y)
{
    return (struct part){
        .joules = x.joules + y.joules,
        .equal_j = x.equal_j + y.equal_j,
        .low_j = x.low_j + y.low_j,
        .high_j = x.high_j + y.high_j,
        .prefill_j = x.prefill_j + y.prefill_j,
        .decode_j = x.decode_j + y.decode_j,
        .idle_w = x.idle_w + y.idle_w,
        .ticks = x.ticks < y.ticks ? x.ticks : y.ticks,
        .gaps = x.gaps + y.gaps,
        .coverage = fmin(x.coverage, y.coverage),
    };
}

/* Where the board itself has no meter but all of its parts do. */
static bool soc_is_sum(const struct build_input *in)
{
    return !in->rails[RAIL_SOC].present && in->rails[RAIL_ANE].present;
}

static struct part soc_part(const struct build_input *in)
{
    if (!soc_is_sum(in))
        return part_of(in, RAIL_SOC);
    return part_add(part_add(part_of(in, RAIL_GPU), part_of(in, RAIL_CPU)), part_of(in, RAIL_ANE));
}

static struct part basis_part(const struct build_input *in)
{
    switch (in->basis) {
    case BASIS_GPU:
        return part_of(in, RAIL_GPU);
    case BASIS_CPU:
        return part_of(in, RAIL_CPU);
    case BASIS_GPU_CPU:
        return part_add(part_of(in, RAIL_GPU), part_of(in, RAIL_CPU));
    case BASIS_SOC:
        return soc_part(in);
    case BASIS_NONE:
        break;
    }
    return part_absent;
}

static void fill_energy(struct record *r, const struct build_input *in, const struct part *basis)
{
    double output = (double)r->tokens.output, total = (double)r->tokens.total;

    r->energy.gpu_j = part_of(in, RAIL_GPU).joules;
    r->energy.cpu_j = part_of(in, RAIL_CPU).joules;
    r->energy.dram_j = part_of(in, RAIL_DRAM).joules;
    r->energy.ane_j = part_of(in, RAIL_ANE).joules;
    r->energy.soc_j = soc_part(in).joules;
    r->energy.basis = basis_name(in->basis);
    r->energy.per_output_token_j = stats_ratio(basis->joules, output);
    r->energy.per_total_token_j = stats_ratio(basis->joules, total);
    if (output > 0)
        r->energy.tokens_per_joule = stats_ratio(output, basis->joules);
    r->cost.energy_usd = basis->joules / J_PER_KWH * in->price_per_kwh_usd;
    r->cost.carbon_g = basis->joules / J_PER_KWH * in->carbon_g_per_kwh;
}

static struct stat4 scaled(struct stat4 s, double by)
{
    return (struct stat4){s.avg * by, s.max * by, s.median * by, s.min * by};
}

/* Of three sensors that were not read together only the averages can be added. */
static struct stat4 soc_power(const struct build_input *in)
{
    struct stat4 sum = STAT4_ABSENT;

    if (!soc_is_sum(in))
        return in->rails[RAIL_SOC].power_w;
    sum.avg = in->rails[RAIL_GPU].power_w.avg + in->rails[RAIL_CPU].power_w.avg +
              in->rails[RAIL_ANE].power_w.avg;
    return sum;
}

static void fill_devices(struct record *r, const struct build_input *in)
{
    const struct build_gauges *g = &in->gauges;

    r->gpu_w = in->rails[RAIL_GPU].power_w;
    r->cpu_w = in->rails[RAIL_CPU].power_w;
    r->ane_w = in->rails[RAIL_ANE].power_w;
    r->dram_w = in->rails[RAIL_DRAM].power_w;
    r->soc_w = soc_power(in);
    r->temperature_c = g->temperature_c;
    r->cpu_memory_mb = scaled(g->cpu_memory_bytes, 1 / BYTES_PER_MIB);
    r->gpu_memory_mb = scaled(g->gpu_memory_bytes, 1 / BYTES_PER_MIB);
    r->utilization.compute_pct = g->compute_pct;
    r->utilization.memory_bandwidth_pct = g->memory_bandwidth_pct;
    r->utilization.memory_used_gb = r->gpu_memory_mb.max / 1024;
    r->utilization.memory_total_gb = g->gpu_memory_total_bytes / BYTES_PER_MIB / 1024;
    r->gpu = in->gpu;
    r->system = in->system;
}

static void fill_phase_rails(struct record *r, const struct build_input *in)
{
    struct part gpu = part_of(in, RAIL_GPU), cpu = part_of(in, RAIL_CPU);
    struct part dram = part_of(in, RAIL_DRAM), ane = part_of(in, RAIL_ANE);

    r->phase.prefill_rails.gpu_j = gpu.prefill_j;
    r->phase.prefill_rails.cpu_j = cpu.prefill_j;
    r->phase.prefill_rails.dram_j = dram.prefill_j;
    r->phase.prefill_rails.ane_j = ane.prefill_j;
    r->phase.decode_rails.gpu_j = gpu.decode_j;
    r->phase.decode_rails.cpu_j = cpu.decode_j;
    r->phase.decode_rails.dram_j = dram.decode_j;
    r->phase.decode_rails.ane_j = ane.decode_j;
}

/* Prefill is sending to first token, decode first token to end. */
static void fill_phases(struct record *r, const struct build_input *in, const struct part *basis)
{
    double decode_s = r->latency.total_s - r->latency.ttft_s;

    if (!(r->latency.ttft_s > 0))
        return;
    r->phase.prefill_ms = r->latency.ttft_s * 1000;
    r->phase.prefill_j = basis->prefill_j;
    r->phase.prefill_w = basis->prefill_j / r->latency.ttft_s;
    r->phase.prefill_per_input_token_j = stats_ratio(basis->prefill_j, (double)r->tokens.input);
    if (decode_s > 0) {
        r->phase.decode_ms = decode_s * 1000;
        r->phase.decode_j = basis->decode_j;
        r->phase.decode_w = basis->decode_j / decode_s;
        r->phase.decode_per_output_token_j = stats_ratio(basis->decode_j, (double)r->tokens.output);
    }
    fill_phase_rails(r, in);
}

static void fill_compute(struct record *r, const struct build_input *in, const struct part *basis)
{
    double params = flops_active_params(in->model);
    double flops = flops_of_tokens(params, r->tokens.total), total_s = r->latency.total_s;
    double watts = stats_ratio(basis->joules, total_s);

    r->efficiency.throughput_per_watt = stats_ratio(r->latency.throughput_tps, watts);
    if (isnan(flops))
        return;
    r->compute.flops_per_request = flops;
    r->compute.macs_per_request = flops / 2;
    r->compute.flops_per_token = 2 * params;
    if (flops < 9e18)
        r->compute.total_flops = llround(flops);
    r->efficiency.flops_per_joule = stats_ratio(flops, basis->joules);
    r->efficiency.flops_per_watt = stats_ratio(flops / total_s, watts);
    if (in->gpu)
        r->utilization.mfu =
            flops_mfu(flops, total_s, flops_peak_tflops(in->gpu->name), in->n_gpus);
}

static bool is_estimated(const struct build_input *in)
{
    for (size_t i = 0; i < RAIL_COUNT; i++)
        if (basis_counts(in->basis, (enum rail)i, !soc_is_sum(in)) && in->rails[i].estimated)
            return true;
    return false;
}

static const char *source_of(const struct build_input *in)
{
    if (in->basis == BASIS_NONE)
        return "none";
    return is_estimated(in) ? "estimated" : "measured";
}

static void fill_measurement(struct record *r, const struct build_input *in,
                             const struct part *basis)
{
    const struct response *resp = in->response;
    double held_s = resp->sent != MONO_ABSENT && resp->end >= resp->sent
                        ? ns_to_s(resp->end - resp->sent)
                        : NAN;

    if (is_shared(in))
        held_s = in->attributed->held_s;
    r->measurement.energy_source = source_of(in);
    if (in->basis != BASIS_NONE)
        r->measurement.attribution = is_shared(in) ? "tokens" : "exclusive";
    r->measurement.low_j = basis->low_j;
    r->measurement.high_j = basis->high_j;
    r->measurement.equal_j = basis->equal_j;
    r->measurement.net_j = basis->joules - basis->idle_w * held_s;
    r->measurement.sample_count = basis->ticks;
    r->measurement.coverage = basis->coverage;
}

static void judge(struct record *r, const struct build_input *in, const struct part *basis)
{
    bool known = !isnan(basis->joules);

    if (!known)
        verdict_add(r, REASON_NO_ENERGY);
    if (is_estimated(in))
        verdict_add(r, REASON_ESTIMATED);
    if (basis->coverage < ENERGY_COVERAGE_MIN)
        verdict_add(r, REASON_COVERAGE_BELOW_95);
    if (basis->gaps > 0)
        verdict_add(r, REASON_GAP);
    if (known && basis->ticks < BUILD_TICKS_MIN)
        verdict_add(r, REASON_TOO_FEW_TICKS);
    if (known && isnan(basis->idle_w))
        verdict_add(r, REASON_NO_IDLE);
    if (in->response->failure != FAILURE_NONE)
        verdict_add(r, REASON_QUERY_FAILED);
}

static double since_start_s(const struct build_input *in, mono_ns t)
{
    return t == MONO_ABSENT ? NAN : ns_to_s(t - in->run_start);
}

static const char *status_of(enum failure f)
{
    if (f == FAILURE_NONE)
        return "ok";
    return f == FAILURE_TIMEOUT || f == FAILURE_STALL ? "timeout" : "error";
}

static void fill_request(struct record *r, const struct build_input *in)
{
    const struct response *resp = in->response;
    bool failed = resp->failure != FAILURE_NONE;

    r->request.index = in->index;
    r->request.attempts = in->attempts;
    r->request.status = status_of(resp->failure);
    if (failed)
        r->request.error = *resp->error ? resp->error : failure_name(resp->failure);
    r->request.planned_s = since_start_s(in, in->planned);
    r->request.sent_s = since_start_s(in, resp->sent);
    r->request.first_token_s = since_start_s(in, resp->first_token);
    r->request.end_s = since_start_s(in, resp->end);
    if (*resp->finish_reason)
        r->request.finish_reason = resp->finish_reason;
    if (resp->reasoning.len > 0)
        r->request.reasoning = buf_str(&resp->reasoning);
    if (!failed || resp->answer.len > 0)
        r->response = buf_str(&resp->answer);
}

void build_record(const struct build_input *in, struct record *ret)
{
    struct part basis = basis_part(in);

    record_init(ret);
    ret->problem = in->item->problem;
    ret->answer = in->item->answer;
    ret->subject = in->item->subject;
    ret->metadata = in->item->metadata;
    latency_fill(ret, in->response);
    fill_request(ret, in);
    fill_energy(ret, in, &basis);
    fill_devices(ret, in);
    fill_phases(ret, in, &basis);
    fill_compute(ret, in, &basis);
    fill_measurement(ret, in, &basis);
    judge(ret, in, &basis);
}
