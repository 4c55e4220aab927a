#include "harness.h"

#include "record/build.h"
#include "record/verdict.h"

#define MS NS_PER_MS
#define T0 (INT64_C(5000) * NS_PER_S)

static const struct item item = {.index = 3, .problem = "1+1?", .answer = "2", .subject = "sums"};
static const struct device h100 = {.name = "NVIDIA H100", .type = "GPU"};
static const struct device apple = {.name = "Apple GPU", .type = "Integrated GPU"};

static struct energy joules(double j)
{
    return (struct energy){
        .joules = j, .low_j = j * 0.9, .high_j = j * 1.2, .ticks = 20, .coverage = 1};
}

static struct build_rail rail(double all_j, double prefill_j, double decode_j)
{
    return (struct build_rail){
        .present = true,
        .energy = joules(all_j),
        .prefill = joules(prefill_j),
        .decode = joules(decode_j),
        .power_w = {all_j, all_j, all_j, all_j},
        .idle_w = 10,
    };
}

/* Sent at T0 + 1 s, first token after ttft_ms, the end after total_ms. */
static struct response answered(mono_ns ttft_ms, mono_ns total_ms, int64_t input, int64_t output)
{
    struct response r;

    response_init(&r, 1 << 20);
    r.sent = T0 + NS_PER_S;
    response_delta(&r, DELTA_ANSWER, "2", 1, r.sent + ttft_ms * MS);
    if (total_ms > ttft_ms)
        response_delta(&r, DELTA_ANSWER, ".", 1, r.sent + total_ms * MS);
    r.end = r.last_token;
    r.usage.prompt_tokens = input;
    r.usage.completion_tokens = output;
    return r;
}

static struct build_input input(const struct response *r)
{
    struct build_input in;

    build_input_init(&in);
    in.item = &item;
    in.response = r;
    in.model = "test-model";
    in.index = 3;
    in.attempts = 1;
    in.run_start = T0;
    return in;
}

/* The Python tool's case; the energies of the phases are given, as ours are interpolated. */
static void phases_and_tokens(void **state)
{
    struct response r = answered(500, 1000, 10, 5);
    struct build_input in = input(&r);
    struct record rec;

    (void)state;
    in.rails[RAIL_GPU] = rail(50, 20, 30);
    in.basis = build_basis(in.rails, &h100);
    build_record(&in, &rec);
    assert_string_equal(rec.energy.basis, "gpu");
    assert_near(rec.energy.gpu_j, 50, 0);
    assert_true(isnan(rec.energy.cpu_j) && isnan(rec.energy.soc_j) && isnan(rec.energy.ane_j));
    assert_near(rec.energy.per_output_token_j, 10, 0);
    assert_near(rec.energy.per_total_token_j, 50.0 / 15, 1e-15);
    assert_near(rec.energy.tokens_per_joule, 0.1, 0);
    assert_near(rec.phase.prefill_j, 20, 0);
    assert_near(rec.phase.decode_j, 30, 0);
    assert_near(rec.phase.prefill_ms, 500, 0);
    assert_near(rec.phase.decode_ms, 500, 0);
    assert_near(rec.phase.prefill_w, 40, 0);
    assert_near(rec.phase.decode_w, 60, 0);
    assert_near(rec.phase.prefill_per_input_token_j, 2, 0);
    assert_near(rec.phase.decode_per_output_token_j, 6, 0);
    assert_near(rec.phase.prefill_rails.gpu_j, 20, 0);
    assert_near(rec.phase.decode_rails.gpu_j, 30, 0);
    assert_true(isnan(rec.phase.prefill_rails.cpu_j));
    assert_string_equal(rec.measurement.energy_source, "measured");
    assert_string_equal(rec.measurement.attribution, "exclusive");
    assert_near(rec.measurement.low_j, 45, 0);
    assert_near(rec.measurement.high_j, 60, 0);
    assert_near(rec.measurement.net_j, 40, 0);
    assert_true(isnan(rec.measurement.equal_j));
    assert_int_equal(rec.measurement.sample_count, 20);
    assert_near(rec.measurement.coverage, 1, 0);
    assert_int_equal(rec.measurement.validity, VALIDITY_VALID);
    assert_int_equal(rec.measurement.n_reasons, 0);
    assert_near(rec.gpu_w.avg, 50, 0);
    response_release(&r);
}

static void the_request_is_told(void **state)
{
    struct response r = answered(500, 1000, 10, 5);
    struct build_input in = input(&r);
    struct record rec;

    (void)state;
    in.planned = T0 + 900 * MS;
    snprintf(r.finish_reason, sizeof(r.finish_reason), "stop");
    build_record(&in, &rec);
    assert_string_equal(rec.problem, "1+1?");
    assert_string_equal(rec.answer, "2");
    assert_string_equal(rec.subject, "sums");
    assert_string_equal(rec.response, "2.");
    assert_null(rec.request.reasoning);
    assert_null(rec.request.error);
    assert_string_equal(rec.request.status, "ok");
    assert_string_equal(rec.request.finish_reason, "stop");
    assert_int_equal(rec.request.index, 3);
    assert_int_equal(rec.request.attempts, 1);
    assert_near(rec.request.planned_s, 0.9, 0);
    assert_near(rec.request.sent_s, 1, 0);
    assert_near(rec.request.first_token_s, 1.5, 0);
    assert_near(rec.request.end_s, 2, 0);
    assert_int_equal(rec.correct, -1);
    /* nothing was measured */
    assert_string_equal(rec.measurement.energy_source, "none");
    assert_null(rec.measurement.attribution);
    assert_null(rec.energy.basis);
    assert_true(isnan(rec.energy.per_output_token_j) && isnan(rec.energy.per_total_token_j));
    assert_true(isnan(rec.efficiency.throughput_per_watt) && isnan(rec.phase.prefill_j));
    assert_true(isnan(rec.cost.energy_usd) && isnan(rec.measurement.net_j));
    assert_int_equal(rec.measurement.sample_count, -1);
    assert_int_equal(rec.measurement.validity, VALIDITY_INVALID);
    assert_true(verdict_has(&rec, REASON_NO_ENERGY));
    assert_int_equal(rec.measurement.n_reasons, 1);
    response_release(&r);
}

static void efficiency_of_a_known_model(void **state)
{
    struct response r = answered(500, 2000, 100, 100);
    struct build_input in = input(&r);
    struct record rec;

    (void)state;
    in.rails[RAIL_GPU] = rail(200, 50, 150);
    in.basis = BASIS_GPU;
    in.model = "llama-3.1-8b";
    in.gpu = &h100;
    in.n_gpus = 2;
    in.price_per_kwh_usd = 0.36;
    in.carbon_g_per_kwh = 720;
    build_record(&in, &rec);
    /* 100 tokens in 2 s at 100 W */
    assert_near(rec.efficiency.throughput_per_watt, 0.5, 0);
    assert_near(rec.compute.flops_per_token, 16.06e9, 1);
    assert_near(rec.compute.flops_per_request, 3.212e12, 1);
    assert_near(rec.compute.macs_per_request, 1.606e12, 1);
    assert_int_equal(rec.compute.total_flops, INT64_C(3212000000000));
    assert_near(rec.efficiency.flops_per_joule, 1.606e10, 1);
    assert_near(rec.efficiency.flops_per_watt, 1.606e10, 1);
    assert_near(rec.utilization.mfu, 3.212 / 2 / 989.5 / 2, 1e-12);
    assert_near(rec.cost.energy_usd, 2e-5, 1e-18);
    assert_near(rec.cost.carbon_g, 0.04, 1e-15);
    assert_true(isnan(rec.cost.total_usd));
    assert_ptr_equal(rec.gpu, &h100);
    in.model = "test-model";
    build_record(&in, &rec);
    assert_int_equal(rec.compute.total_flops, -1);
    assert_true(isnan(rec.compute.flops_per_token) && isnan(rec.utilization.mfu));
    assert_near(rec.efficiency.throughput_per_watt, 0.5, 0);
    response_release(&r);
}

static void the_basis_is_what_is_metered(void **state)
{
    struct build_rail r[RAIL_COUNT] = {{0}};

    (void)state;
    assert_int_equal(build_basis(r, NULL), BASIS_NONE);
    r[RAIL_CPU] = (struct build_rail){.present = true, .estimated = true};
    assert_int_equal(build_basis(r, NULL), BASIS_CPU);
    r[RAIL_GPU].present = true;
    assert_int_equal(build_basis(r, &h100), BASIS_GPU); /* nothing estimated in what is measured */
    r[RAIL_CPU].estimated = false;
    assert_int_equal(build_basis(r, &h100), BASIS_GPU_CPU);
    r[RAIL_DRAM].present = true;
    assert_int_equal(build_basis(r, &h100), BASIS_GPU_CPU);
    r[RAIL_SOC].present = true; /* psys does not see the card */
    assert_int_equal(build_basis(r, &h100), BASIS_GPU_CPU);
    assert_int_equal(build_basis(r, &apple), BASIS_SOC);
    r[RAIL_GPU].present = false;
    assert_int_equal(build_basis(r, NULL), BASIS_SOC);
    r[RAIL_SOC].present = false;
    assert_int_equal(build_basis(r, NULL), BASIS_CPU);
    r[RAIL_GPU].present = r[RAIL_ANE].present = true;
    assert_int_equal(build_basis(r, &apple), BASIS_SOC);
    assert_null(basis_name(BASIS_NONE));
    assert_string_equal(basis_name(BASIS_GPU_CPU), "gpu+cpu");
    assert_string_equal(basis_name(BASIS_CPU), "cpu");
}

/* The Python tool's figures: 10, 20 and 15 J are 45 of the whole. */
static void apples_parts_are_the_soc(void **state)
{
    struct response r = answered(500, 1000, 5, 10);
    struct build_input in = input(&r);
    struct record rec;

    (void)state;
    in.rails[RAIL_GPU] = rail(10, 4, 6);
    in.rails[RAIL_CPU] = rail(20, 5, 15);
    in.rails[RAIL_ANE] = rail(15, 5, 10);
    in.basis = build_basis(in.rails, &apple);
    build_record(&in, &rec);
    assert_string_equal(rec.energy.basis, "soc");
    assert_near(rec.energy.gpu_j, 10, 0);
    assert_near(rec.energy.cpu_j, 20, 0);
    assert_near(rec.energy.ane_j, 15, 0);
    assert_near(rec.energy.soc_j, 45, 0);
    assert_near(rec.energy.per_output_token_j, 4.5, 0);
    assert_near(rec.phase.prefill_j, 14, 0);
    assert_near(rec.phase.decode_j, 31, 0);
    assert_near(rec.measurement.net_j, 15, 0);
    assert_near(rec.soc_w.avg, 45, 0);
    assert_true(isnan(rec.soc_w.max));
    /* A board's own meter is never added to. */
    in.rails[RAIL_SOC] = rail(60, 20, 40);
    build_record(&in, &rec);
    assert_near(rec.energy.soc_j, 60, 0);
    assert_near(rec.energy.per_output_token_j, 6, 0);
    assert_near(rec.soc_w.max, 60, 0);
    in.basis = BASIS_GPU_CPU;
    build_record(&in, &rec);
    assert_near(rec.energy.per_output_token_j, 3, 0);
    response_release(&r);
}

static void shared_energy(void **state)
{
    struct response r = answered(500, 1000, 10, 5);
    struct build_input in = input(&r);
    struct attributed share = {.exclusive = false, .held_s = 0.25};
    struct record rec;

    (void)state;
    in.rails[RAIL_GPU] = rail(100, 50, 50);
    in.rails[RAIL_CPU] = rail(10, 5, 5);
    share.rails[RAIL_GPU] = (struct share){30, 25, 20, 10};
    share.rails[RAIL_CPU] = (struct share){2, 3, 1, 1};
    in.attributed = &share;
    in.basis = BASIS_GPU_CPU;
    build_record(&in, &rec);
    assert_string_equal(rec.measurement.attribution, "tokens");
    assert_near(rec.energy.gpu_j, 30, 0);
    assert_near(rec.energy.cpu_j, 2, 0);
    assert_near(rec.measurement.equal_j, 28, 0);
    assert_near(rec.phase.prefill_j, 21, 0);
    assert_near(rec.phase.decode_j, 11, 0);
    assert_near(rec.measurement.low_j, 0.9 * 27, 1e-12);
    assert_near(rec.measurement.high_j, 1.2 * 33, 1e-12);
    assert_near(rec.measurement.net_j, 32 - 20 * 0.25, 1e-12);
    assert_near(rec.gpu_w.avg, 100, 0);
    response_release(&r);
}

/* Alone: the meter's energy, as it was settled, even where the meter knows better by now. */
static void alone_is_what_was_settled(void **state)
{
    struct response r = answered(500, 1000, 10, 5);
    struct build_input in = input(&r);
    struct attributed share = {.exclusive = true, .held_s = 1};
    struct record rec;

    (void)state;
    in.rails[RAIL_GPU] = rail(100, 50, 50); /* between 90 and 120 */
    share.rails[RAIL_GPU] = (struct share){101, 101, 52, 49};
    in.attributed = &share;
    in.basis = BASIS_GPU;
    build_record(&in, &rec);
    assert_string_equal(rec.measurement.attribution, "exclusive");
    assert_near(rec.energy.gpu_j, 101, 0);
    assert_near(rec.phase.prefill_j, 52, 0);
    assert_near(rec.phase.decode_j, 49, 0);
    assert_near(rec.measurement.low_j, 90, 1e-12);
    assert_near(rec.measurement.high_j, 120, 1e-12);
    assert_true(isnan(rec.measurement.equal_j));
    share.rails[RAIL_GPU] = (struct share){85, 85, 40, 45};
    build_record(&in, &rec);
    assert_near(rec.measurement.low_j, 85, 0); /* the bounds hold the figure */
    share.rails[RAIL_GPU] = (struct share){125, 125, 80, 45};
    in.rails[RAIL_GPU].decode.joules = NAN;
    build_record(&in, &rec);
    assert_near(rec.measurement.high_j, 125, 0);
    assert_true(isnan(rec.phase.decode_j));
    share.rails[RAIL_GPU] = (struct share){NAN, NAN, NAN, NAN};
    build_record(&in, &rec);
    assert_true(isnan(rec.energy.gpu_j));
    response_release(&r);
}

/* The counter did not change in its time or after it: that is no 0 J, shared or not. */
static void a_meter_that_knows_nothing(void **state)
{
    struct response r = answered(500, 1000, 10, 5);
    struct build_input in = input(&r);
    struct attributed share = {.exclusive = true, .held_s = 1};
    struct record rec;

    (void)state;
    in.rails[RAIL_GPU] = rail(NAN, NAN, NAN);
    in.attributed = &share; /* 0 J */
    in.basis = BASIS_GPU;
    for (int i = 0; i < 2; i++, share.exclusive = false) {
        build_record(&in, &rec);
        assert_true(isnan(rec.energy.gpu_j) && isnan(rec.measurement.low_j));
        assert_true(isnan(rec.phase.prefill_j) && isnan(rec.energy.per_output_token_j));
    }
    response_release(&r);
}

static void a_failed_query_keeps_its_energy(void **state)
{
    struct response r = answered(500, 1000, 10, 5);
    struct build_input in = input(&r);
    struct record rec;

    (void)state;
    r.failure = FAILURE_STALL;
    in.rails[RAIL_GPU] = rail(50, 20, 30);
    in.basis = BASIS_GPU;
    in.model = "llama-3.1-8b";
    build_record(&in, &rec);
    assert_string_equal(rec.request.status, "timeout");
    assert_string_equal(rec.request.error, "stall");
    assert_near(rec.energy.gpu_j, 50, 0);
    assert_near(rec.measurement.net_j, 40, 0);
    assert_true(isnan(rec.energy.per_output_token_j) && isnan(rec.energy.tokens_per_joule));
    assert_true(isnan(rec.phase.prefill_j) && isnan(rec.phase.prefill_ms));
    assert_true(isnan(rec.latency.total_s) && isnan(rec.compute.flops_per_request));
    assert_int_equal(rec.tokens.output, -1);
    assert_string_equal(rec.response, "2."); /* what came */
    assert_true(verdict_has(&rec, REASON_QUERY_FAILED));
    assert_int_equal(rec.measurement.validity, VALIDITY_DEGRADED);
    buf_clear(&r.answer);
    r.failure = FAILURE_CONNECT;
    snprintf(r.error, sizeof(r.error), "refused");
    build_record(&in, &rec);
    assert_null(rec.response);
    assert_string_equal(rec.request.status, "error");
    assert_string_equal(rec.request.error, "refused");
    response_release(&r);
}

static void reasons_to_doubt(void **state)
{
    struct response r = answered(500, 1000, 10, 5);
    struct build_input in = input(&r);
    struct record rec;

    (void)state;
    in.rails[RAIL_CPU] = rail(50, 20, 30);
    in.rails[RAIL_CPU].estimated = true;
    in.rails[RAIL_CPU].idle_w = NAN;
    in.rails[RAIL_CPU].energy.coverage = 0.949;
    in.rails[RAIL_CPU].energy.gaps = 1;
    in.rails[RAIL_CPU].energy.ticks = BUILD_TICKS_MIN - 1;
    in.basis = build_basis(in.rails, NULL);
    build_record(&in, &rec);
    assert_string_equal(rec.measurement.energy_source, "estimated");
    assert_string_equal(rec.energy.basis, "cpu");
    assert_true(verdict_has(&rec, REASON_ESTIMATED));
    assert_true(verdict_has(&rec, REASON_COVERAGE_BELOW_95));
    assert_true(verdict_has(&rec, REASON_GAP));
    assert_true(verdict_has(&rec, REASON_TOO_FEW_TICKS));
    assert_true(verdict_has(&rec, REASON_NO_IDLE));
    assert_int_equal(rec.measurement.n_reasons, 5);
    assert_true(isnan(rec.measurement.net_j));
    /* The basis stays, though one of its rails is not known for this query. */
    in.rails[RAIL_GPU] = rail(50, 20, 30);
    in.rails[RAIL_CPU] = rail(NAN, NAN, NAN);
    in.basis = build_basis(in.rails, &h100);
    build_record(&in, &rec);
    assert_string_equal(rec.energy.basis, "gpu+cpu");
    assert_near(rec.energy.gpu_j, 50, 0);
    assert_true(isnan(rec.energy.per_output_token_j));
    assert_int_equal(rec.measurement.validity, VALIDITY_INVALID);
    response_release(&r);
}

static void gauges_in_the_records_units(void **state)
{
    struct response r = answered(500, 1000, 10, 5);
    struct build_input in = input(&r);
    struct record rec;
    const double gib = 1073741824;

    (void)state;
    in.gauges.gpu_memory_bytes = (struct stat4){gib, 2 * gib, gib, gib};
    in.gauges.cpu_memory_bytes = (struct stat4){gib / 1024, gib, gib, 0};
    in.gauges.gpu_memory_total_bytes = 80 * gib;
    in.gauges.temperature_c = (struct stat4){50, 60, 51, 40};
    in.gauges.compute_pct = 97;
    in.gauges.memory_bandwidth_pct = 33;
    build_record(&in, &rec);
    assert_near(rec.gpu_memory_mb.avg, 1024, 0);
    assert_near(rec.gpu_memory_mb.max, 2048, 0);
    assert_near(rec.cpu_memory_mb.avg, 1, 0);
    assert_near(rec.cpu_memory_mb.min, 0, 0);
    assert_near(rec.utilization.memory_used_gb, 2, 0);
    assert_near(rec.utilization.memory_total_gb, 80, 0);
    assert_near(rec.utilization.compute_pct, 97, 0);
    assert_near(rec.utilization.memory_bandwidth_pct, 33, 0);
    assert_true(isnan(rec.utilization.tensor_pct) && isnan(rec.utilization.mbu));
    assert_near(rec.temperature_c.median, 51, 0);
    response_release(&r);
}

/* All tokens in the first delta: there is no decode phase. */
static void a_reply_in_one_piece(void **state)
{
    struct response r = answered(500, 500, 10, 5);
    struct build_input in = input(&r);
    struct record rec;

    (void)state;
    in.rails[RAIL_GPU] = rail(50, 50, 0);
    in.basis = BASIS_GPU;
    build_record(&in, &rec);
    assert_near(rec.phase.prefill_j, 50, 0);
    assert_true(isnan(rec.phase.decode_j) && isnan(rec.phase.decode_ms));
    assert_true(isnan(rec.phase.decode_w) && isnan(rec.phase.decode_per_output_token_j));
    response_release(&r);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(phases_and_tokens),
    cmocka_unit_test(the_request_is_told),
    cmocka_unit_test(efficiency_of_a_known_model),
    cmocka_unit_test(the_basis_is_what_is_metered),
    cmocka_unit_test(apples_parts_are_the_soc),
    cmocka_unit_test(shared_energy),
    cmocka_unit_test(alone_is_what_was_settled),
    cmocka_unit_test(a_meter_that_knows_nothing),
    cmocka_unit_test(a_failed_query_keeps_its_energy),
    cmocka_unit_test(reasons_to_doubt),
    cmocka_unit_test(gauges_in_the_records_units),
    cmocka_unit_test(a_reply_in_one_piece),
};
TEST_MAIN(tests)
