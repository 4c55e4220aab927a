#include "core/record.h"

#include <math.h>
#include <stddef.h>

/* clang-format off */
#define AT(member) offsetof(struct record, member)
#define BEGIN(name)          \
    {                        \
        FIELD_BEGIN, name, 0 \
    }
#define END                \
    {                      \
        FIELD_END, NULL, 0 \
    }
#define F64(name, member)           \
    {                               \
        FIELD_F64, name, AT(member) \
    }
#define I64(name, member)           \
    {                               \
        FIELD_I64, name, AT(member) \
    }
#define TEXT(name, member)           \
    {                                \
        FIELD_TEXT, name, AT(member) \
    }
#define STAT4(name, member)                                                                    \
    BEGIN(name), F64("avg", member.avg), F64("max", member.max), F64("median", member.median), \
        F64("min", member.min), END
#define POWER(name, member) \
    BEGIN(name), STAT4("per_query_watts", member), STAT4("total_watts", member), END
#define RAILS(name, member)                                                                      \
    BEGIN(name), F64("gpu", member.gpu_j), F64("cpu", member.cpu_j), F64("dram", member.dram_j), \
        F64("ane", member.ane_j), END
#define CHARS(name, type, member)                                                            \
    {                                                                                        \
        FIELD_CHARS, name, offsetof(struct type, member), sizeof(((struct type *)0)->member) \
    }
#define DEVICE(name, member) CHARS(name, device, member)
#define SYSTEM(name, member) CHARS(name, system_info, member)

/* In each struct: the Python tool's fields in its order, then its later ones, then ours. */
const struct record_field record_fields[] = {
    TEXT("problem", problem),
    TEXT("answer", answer),
    {FIELD_METADATA, "dataset_metadata", AT(metadata)},
    TEXT("subject", subject),
    BEGIN("model_answers"),
    TEXT(NULL, response),
    END,
    BEGIN("model_metrics"),
    BEGIN(NULL),
    BEGIN("compute_metrics"),
    F64("flops_per_request", compute.flops_per_request),
    F64("macs_per_request", compute.macs_per_request),
    I64("total_flops", compute.total_flops),
    F64("flops_per_token", compute.flops_per_token),
    END,
    BEGIN("energy_metrics"),
    F64("per_query_joules", energy.gpu_j),
    F64("total_joules", energy.gpu_j),
    F64("cpu_per_query_joules", energy.cpu_j),
    F64("cpu_total_joules", energy.cpu_j),
    F64("ane_per_query_joules", energy.ane_j),
    F64("ane_total_joules", energy.ane_j),
    F64("soc_per_query_joules", energy.soc_j),
    F64("soc_total_joules", energy.soc_j),
    F64("energy_per_output_token_joules", energy.per_output_token_j),
    F64("energy_per_total_token_joules", energy.per_total_token_j),
    TEXT("basis", energy.basis),
    F64("dram_per_query_joules", energy.dram_j),
    F64("tokens_per_joule", energy.tokens_per_joule),
    END,
    BEGIN("latency_metrics"),
    F64("per_token_ms", latency.per_token_ms),
    F64("throughput_tokens_per_sec", latency.throughput_tps),
    F64("time_to_first_token_seconds", latency.ttft_s),
    F64("total_query_seconds", latency.total_s),
    F64("median_itl_ms", latency.itl_median_ms),
    F64("p90_itl_ms", latency.itl_p90_ms),
    F64("p95_itl_ms", latency.itl_p95_ms),
    F64("p99_itl_ms", latency.itl_p99_ms),
    F64("itl_std_ms", latency.itl_std_ms),
    F64("time_to_first_answer_seconds", latency.ttfo_s),
    F64("time_per_output_token_seconds", latency.tpot_s),
    F64("headers_seconds", latency.headers_s),
    END,
    BEGIN("memory_metrics"),
    STAT4("cpu_mb", cpu_memory_mb),
    STAT4("gpu_mb", gpu_memory_mb),
    END,
    BEGIN("power_metrics"),
    POWER("gpu", gpu_w),
    POWER("cpu", cpu_w),
    POWER("ane", ane_w),
    POWER("soc", soc_w),
    POWER("dram", dram_w),
    END,
    STAT4("temperature_metrics", temperature_c),
    BEGIN("token_metrics"),
    I64("input", tokens.input),
    I64("output", tokens.output),
    I64("total", tokens.total),
    END,
    BEGIN("phase_metrics"),
    F64("prefill_energy_j", phase.prefill_j),
    F64("decode_energy_j", phase.decode_j),
    F64("prefill_duration_ms", phase.prefill_ms),
    F64("decode_duration_ms", phase.decode_ms),
    F64("prefill_power_avg_w", phase.prefill_w),
    F64("decode_power_avg_w", phase.decode_w),
    F64("prefill_energy_per_input_token_j", phase.prefill_per_input_token_j),
    F64("decode_energy_per_output_token_j", phase.decode_per_output_token_j),
    RAILS("prefill_energy_components_j", phase.prefill_rails),
    RAILS("decode_energy_components_j", phase.decode_rails),
    END,
    BEGIN("hardware_utilization"),
    BEGIN("gpu"),
    F64("compute_utilization_pct", utilization.compute_pct),
    F64("memory_bandwidth_utilization_pct", utilization.memory_bandwidth_pct),
    F64("tensor_core_utilization_pct", utilization.tensor_pct),
    F64("memory_used_gb", utilization.memory_used_gb),
    F64("memory_total_gb", utilization.memory_total_gb),
    END,
    BEGIN("derived"),
    F64("mfu", utilization.mfu),
    F64("mbu", utilization.mbu),
    F64("arithmetic_intensity", utilization.arithmetic_intensity),
    END,
    END,
    BEGIN("cost"),
    F64("input_cost_usd", cost.input_usd),
    F64("output_cost_usd", cost.output_usd),
    F64("tool_cost_usd", cost.tool_usd),
    F64("total_cost_usd", cost.total_usd),
    F64("energy_cost_usd", cost.energy_usd),
    F64("carbon_g", cost.carbon_g),
    END,
    {FIELD_BEGIN_AT, "gpu_info", AT(gpu)},
    DEVICE("name", name),
    DEVICE("vendor", vendor),
    {FIELD_INT, "device_id", offsetof(struct device, number)},
    DEVICE("device_type", type),
    DEVICE("backend", backend),
    END,
    {FIELD_BEGIN_AT, "system_info", AT(system)},
    SYSTEM("os_name", os_name),
    SYSTEM("os_version", os_version),
    SYSTEM("kernel_version", kernel_version),
    SYSTEM("host_name", host_name),
    {FIELD_INT, "cpu_count", offsetof(struct system_info, cpu_count)},
    SYSTEM("cpu_brand", cpu_brand),
    END,
    {FIELD_TRI, "lm_correctness", AT(correct)},
    TEXT("lm_response", response),
    BEGIN("efficiency"),
    F64("throughput_per_watt", efficiency.throughput_per_watt),
    F64("flops_per_joule", efficiency.flops_per_joule),
    F64("flops_per_watt", efficiency.flops_per_watt),
    END,
    BEGIN("evaluation"),
    {FIELD_TRI, "is_correct", AT(correct)},
    TEXT("metadata", evaluation.metadata),
    TEXT("scorer", evaluation.scorer),
    END,
    BEGIN("measurement"),
    TEXT("energy_source", measurement.energy_source),
    TEXT("attribution", measurement.attribution),
    F64("energy_low_joules", measurement.low_j),
    F64("energy_high_joules", measurement.high_j),
    F64("net_joules", measurement.net_j),
    F64("energy_equal_joules", measurement.equal_j),
    I64("sample_count", measurement.sample_count),
    F64("coverage", measurement.coverage),
    {FIELD_VALIDITY, "validity", AT(measurement.validity)},
    {FIELD_REASONS, "reasons", AT(measurement.reasons)},
    END,
    END,
    END,
    BEGIN("request"),
    I64("index", request.index),
    TEXT("status", request.status),
    TEXT("error", request.error),
    I64("attempts", request.attempts),
    F64("planned_s", request.planned_s),
    F64("sent_s", request.sent_s),
    F64("first_token_s", request.first_token_s),
    F64("end_s", request.end_s),
    TEXT("finish_reason", request.finish_reason),
    TEXT("reasoning", request.reasoning),
    I64("cached_tokens", request.cached_tokens),
    I64("reasoning_tokens", request.reasoning_tokens),
    END,
};
/* clang-format on */

const size_t n_record_fields = sizeof(record_fields) / sizeof(*record_fields);

void record_init(struct record *r)
{
    int outside = 0; /* depth within members behind a pointer, which are not the record's */

    *r = (struct record){.measurement.validity = VALIDITY_VALID};
    for (size_t i = 0; i < n_record_fields; i++) {
        const struct record_field *f = &record_fields[i];
        void *member = (char *)r + f->offset;

        if (f->kind == FIELD_BEGIN_AT || (outside && f->kind == FIELD_BEGIN))
            outside++;
        else if (outside && f->kind == FIELD_END)
            outside--;
        else if (!outside && f->kind == FIELD_F64)
            *(double *)member = NAN;
        else if (!outside && f->kind == FIELD_I64)
            *(int64_t *)member = -1;
        else if (!outside && f->kind == FIELD_TRI)
            *(int *)member = -1;
    }
}

const char *validity_name(enum validity v)
{
    static const char *const names[] = {"valid", "degraded", "invalid"};

    return names[v];
}
