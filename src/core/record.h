/*
 * record: everything known about one query, as it is stored: one row of the run's dataset.
 *
 * Built by record/, written by store/ (whose schema.c maps each member to its field), read back by
 * analysis/. Absent is NAN for a double, -1 for an int64_t, NULL or "" for text: all are written as
 * null. Text is borrowed from whoever filled the record in.
 */
#ifndef IPW_CORE_RECORD_H
#define IPW_CORE_RECORD_H

#include "base/json.h"
#include "core/channel.h"
#include "core/stats.h"

#include <stdbool.h>
#include <stdint.h>

#define RECORD_REASONS_MAX 16

enum validity { VALIDITY_VALID, VALIDITY_DEGRADED, VALIDITY_INVALID };

struct record {
    /* from the dataset */
    const char *problem;
    const char *answer;
    const char *subject;
    const struct json *metadata; /* an object, or NULL */

    /* from the server */
    const char *response; /* NULL when the query failed before any text */
    struct {
        int64_t input, output, total;
    } tokens;

    struct {
        double flops_per_request, macs_per_request, flops_per_token;
        int64_t total_flops;
    } compute;

    struct {
        double gpu_j, cpu_j, ane_j, dram_j, soc_j;
        double per_output_token_j, per_total_token_j, tokens_per_joule;
        const char *basis; /* which rails the figures per token use: "gpu", "gpu+cpu", "soc" */
    } energy;

    struct {
        double per_token_ms, throughput_tps, ttft_s, total_s;
        double ttfo_s, tpot_s, headers_s;
        double itl_median_ms, itl_p90_ms, itl_p95_ms, itl_p99_ms, itl_std_ms;
    } latency;

    struct stat4 cpu_memory_mb, gpu_memory_mb;
    struct stat4 gpu_w, cpu_w, ane_w, dram_w, soc_w;
    struct stat4 temperature_c;

    struct {
        double prefill_j, decode_j;
        double prefill_ms, decode_ms;
        double prefill_w, decode_w;
        double prefill_per_input_token_j, decode_per_output_token_j;
        struct {
            double gpu_j, cpu_j, dram_j, ane_j;
        } prefill_rails, decode_rails;
    } phase;

    struct {
        double compute_pct, memory_bandwidth_pct, tensor_pct, memory_used_gb, memory_total_gb;
        double mfu, mbu, arithmetic_intensity;
    } utilization;

    struct {
        double throughput_per_watt, flops_per_joule, flops_per_watt;
    } efficiency;

    struct {
        double input_usd, output_usd, tool_usd, total_usd;
        double energy_usd, carbon_g;
    } cost;

    const struct device *gpu; /* NULL = none */
    const struct system_info *system;

    /* -1 not scored, 0 wrong, 1 correct */
    int correct;
    struct {
        const char *scorer;
        const char *metadata; /* JSON text: what was extracted, why */
    } evaluation;

    struct {
        const char *energy_source; /* measured, estimated, none */
        const char *attribution;   /* exclusive, tokens, equal */
        double low_j, high_j, net_j;
        double equal_j; /* the other rule's figure, where requests overlapped */
        int64_t sample_count;
        double coverage;
        enum validity validity;
        const char *reasons[RECORD_REASONS_MAX];
        size_t n_reasons;
    } measurement;

    struct {
        int64_t index;
        const char *status; /* ok, error, timeout */
        const char *error;
        int64_t attempts;
        double planned_s, sent_s, first_token_s, end_s;
        const char *finish_reason;
        const char *reasoning; /* thinking text, where the server kept it apart */
        int64_t cached_tokens, reasoning_tokens;
    } request;
};

/* Everything absent. */
void record_init(struct record *r);
const char *validity_name(enum validity v);

/*
 * The fields of a stored record, in their order, nested by FIELD_BEGIN and FIELD_END: the one place
 * that says what a row looks like. store/ makes the Arrow schema of it and writes by it;
 * record_init knows from it what "absent" is.
 */
enum field_kind {
    FIELD_BEGIN,    /* a struct; its members follow until the FIELD_END on the same level */
    FIELD_BEGIN_AT, /* the same; its members live behind the pointer at `offset`, NULL = null */
    FIELD_END,
    FIELD_F64,      /* double */
    FIELD_I64,      /* int64_t */
    FIELD_INT,      /* int; always present */
    FIELD_TEXT,     /* const char * */
    FIELD_CHARS,    /* char[]; "" = "" */
    FIELD_TRI,      /* int: -1 null, 0 false, 1 true */
    FIELD_VALIDITY, /* enum validity, as text */
    FIELD_REASONS,  /* measurement.reasons, a list of text */
    FIELD_METADATA  /* a struct inferred from the dataset */
};

struct record_field {
    enum field_kind kind;
    const char *name; /* NULL: named after the model */
    size_t offset;
    size_t size; /* FIELD_CHARS: of the array */
};

extern const struct record_field record_fields[];
extern const size_t n_record_fields;

#endif
