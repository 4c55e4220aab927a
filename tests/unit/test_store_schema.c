/*
 * What a record looks like when it is read back, by the reader that shares no code with the writer.
 */
#include "harness.h"

#include "arrow/infer.h"
#include "arrow/reader.h"
#include "arrow/writer.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "store/schema.h"

#include <fcntl.h>

static struct err err;

/* Writes one row, reads it and gives it as JSON text. */
static char *round_trip(const struct arrow_schema *schema,
                        void (*put)(void *, struct arrow_builder *), void *arg)
{
    AUTO(buf) struct buf stream = BUF_INIT(BUF_MAX_OWN), text = BUF_INIT(BUF_MAX_OWN);
    AUTO_PTR(arrow_builder) struct arrow_builder *b = NULL;
    AUTO_PTR(arrow_reader) struct arrow_reader *reader = NULL;
    struct json_writer w = json_writer(&text, JSON_LINE);
    struct arrow_sink sink = arrow_sink_buf(&stream);
    const struct arrow_array *batch;

    assert_ok(arrow_builder_new(schema, &b, &err), &err);
    put(arg, b);
    assert_ok(arrow_builder_end_row(b, &err), &err);
    assert_ok(arrow_write_schema(&sink, schema, &err), &err);
    assert_ok(arrow_write_batch(&sink, b, &err), &err);
    assert_ok(arrow_reader_open_memory(stream.data, stream.len, "test", &reader, &err), &err);
    assert_int_equal(arrow_reader_next(reader, &batch, &err), 1);
    assert_int_equal(batch->length, 1);
    arrow_value_json(batch, 0, &w, NULL);
    return buf_take(&text);
}

/* Counts the leaves below v that are not null. */
static int present(const struct json *v)
{
    int n = 0;

    if (!json_is(v, JSON_OBJECT))
        return !json_is(v, JSON_NULL);
    JSON_FOREACH (member, v)
        n += present(member);
    return n;
}

static void an_empty_record_is_all_null(void **state)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_FREE char *text = NULL;
    struct record r;

    (void)state;
    record_init(&r);
    record_schema("m", NULL, &schema);
    text = round_trip(&schema, record_put, &r);
    assert_ok(json_doc_parse(&doc, text, strlen(text), &err), &err);
    /* validity always says something, and the list of reasons is empty, not absent */
    assert_int_equal(present(doc.root), 2);
    assert_string_equal(
        json_text(json_path(doc.root, "model_metrics", "m", "measurement", "validity"), ""),
        "valid");
}

static void every_value_finds_its_field(void **state)
{
    static const struct device gpu = {
        .number = 3, .name = "NVIDIA H100", .vendor = "NVIDIA", .type = "GPU", .backend = "NVML"};
    static const struct system_info sys = {.os_name = "Linux", .cpu_count = 2, .cpu_brand = "CPU"};
    AUTO(arrow_schema) struct arrow_schema inferred = {0}, schema = {0};
    AUTO(json_doc) struct json_doc metadata = {0}, doc = {0};
    AUTO_FREE char *text = NULL;
    const struct json *m;
    struct record r;

    (void)state;
    record_init(&r);
    assert_ok(json_doc_parse(&metadata, "{\"level\":2,\"tags\":[\"a\"]}", 24, &err), &err);
    arrow_schema_init(&inferred);
    assert_ok(arrow_infer_add(&inferred.root, metadata.root, &err), &err);
    r.problem = "2+2?";
    r.answer = "4";
    r.subject = "math";
    r.metadata = metadata.root;
    r.response = "4\xC3\xA9";
    r.energy.gpu_j = 12.625;
    r.energy.cpu_j = 3.5;
    r.latency.itl_p99_ms = 7.25;
    r.gpu_w = (struct stat4){62.25, 75.25, 61.5, 50.0};
    r.tokens.output = 7;
    r.compute.total_flops = INT64_C(1) << 60;
    r.phase.decode_rails.dram_j = 0.5;
    r.gpu = &gpu;
    r.system = &sys;
    r.correct = 0;
    r.measurement.validity = VALIDITY_DEGRADED;
    r.measurement.reasons[0] = "late";
    r.measurement.reasons[1] = "gap";
    r.measurement.n_reasons = 2;
    r.request.index = 41;
    r.request.status = "ok";
    record_schema("llama3.2:1b", &inferred.root, &schema);
    text = round_trip(&schema, record_put, &r);
    assert_ok(json_doc_parse(&doc, text, strlen(text), &err), &err);
    m = json_path(doc.root, "model_metrics", "llama3.2:1b");
    assert_string_equal(json_text(json_get(doc.root, "problem"), ""), "2+2?");
    assert_int_equal(json_int(json_path(doc.root, "dataset_metadata", "level"), 0), 2);
    assert_string_equal(json_text(json_path(doc.root, "model_answers", "llama3.2:1b"), ""),
                        "4\xC3\xA9");
    assert_true(json_real(json_path(m, "energy_metrics", "per_query_joules"), 0) == 12.625);
    assert_true(json_real(json_path(m, "energy_metrics", "total_joules"), 0) == 12.625);
    assert_true(json_real(json_path(m, "energy_metrics", "cpu_total_joules"), 0) == 3.5);
    assert_true(json_real(json_path(m, "latency_metrics", "p99_itl_ms"), 0) == 7.25);
    assert_true(json_real(json_path(m, "power_metrics", "gpu", "per_query_watts", "max"), 0) ==
                75.25);
    assert_true(json_real(json_path(m, "power_metrics", "gpu", "total_watts", "median"), 0) ==
                61.5);
    assert_int_equal(json_int(json_path(m, "token_metrics", "output"), -1), 7);
    assert_true(json_is(json_path(m, "token_metrics", "input"), JSON_NULL));
    assert_true(json_int(json_path(m, "compute_metrics", "total_flops"), 0) == INT64_C(1) << 60);
    assert_true(json_real(json_path(m, "phase_metrics", "decode_energy_components_j", "dram"), 0) ==
                0.5);
    assert_int_equal(json_int(json_path(m, "gpu_info", "device_id"), -1), 3);
    assert_string_equal(json_text(json_path(m, "gpu_info", "device_type"), ""), "GPU");
    assert_int_equal(json_int(json_path(m, "system_info", "cpu_count"), -1), 2);
    assert_string_equal(json_text(json_path(m, "system_info", "os_version"), "x"), "");
    assert_true(json_is(json_get(m, "lm_correctness"), JSON_BOOL));
    assert_false(json_bool(json_get(m, "lm_correctness"), true));
    assert_string_equal(json_text(json_get(m, "lm_response"), ""), "4\xC3\xA9");
    assert_int_equal(json_path(m, "measurement", "reasons")->len, 2);
    assert_int_equal(json_int(json_path(doc.root, "request", "index"), -1), 41);
}

/* Every field that the Python tool writes is there under its name, in its order, ours behind it. */
static void in_order(const struct json *theirs, const struct arrow_field *ours, const char *where)
{
    size_t last = 0;

    JSON_FOREACH (member, theirs) {
        size_t i = 0;

        while (i < ours->n_children && strcmp(ours->children[i].name, member->key) != 0)
            i++;
        if (i == ours->n_children)
            fail_msg("%s.%s is missing", where, member->key);
        if (i < last)
            fail_msg("%s.%s is out of order", where, member->key);
        last = i;
        if (json_is(member, JSON_OBJECT) && !json_get(member, "_type") &&
            strcmp(member->key, "dataset_metadata") != 0)
            in_order(member, &ours->children[i], member->key);
    }
}

static void the_python_tools_fields_are_all_there(void **state)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);
    AUTO(json_doc) struct json_doc info = {0};
    AUTO(arrow_schema) struct arrow_schema schema = {0};

    (void)state;
    assert_ok(fs_read_all(AT_FDCWD, FIXTURES "/hf/profile_seed/dataset_info.json", &text, &err),
              &err);
    assert_ok(json_doc_parse(&info, text.data, text.len, &err), &err);
    record_schema("llama3.2:1b", NULL, &schema);
    in_order(json_get(info.root, "features"), &schema.root, "");
}

static void telemetry_rows(void **state)
{
    static const struct channel channel = {
        .quantity = QUANTITY_POWER_W, .rail = RAIL_GPU, .name = "GPU 0"};
    static const struct device device = {.name = "NVIDIA L4", .number = 1};
    struct telemetry_row row = {.channel = &channel,
                                .device = &device,
                                .collector = "nvml",
                                .tick = {.after = 1500, .at = 2000, .seen = 2000, .value = 70.5},
                                .run_start = 1000};
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO_FREE char *text = NULL;

    (void)state;
    telemetry_schema(&schema);
    text = round_trip(&schema, telemetry_put, &row);
    assert_string_equal(text, "{\"time_s\":1e-06,\"uncertainty_s\":5e-07,\"collector\":\"nvml\","
                              "\"device\":\"NVIDIA L4\",\"device_number\":1,\"channel\":\"GPU 0\","
                              "\"rail\":\"gpu\",\"quantity\":\"power_w\",\"value\":70.5,"
                              "\"estimated\":false,\"break\":false}");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(an_empty_record_is_all_null),
    cmocka_unit_test(every_value_finds_its_field),
    cmocka_unit_test(the_python_tools_fields_are_all_there),
    cmocka_unit_test(telemetry_rows),
};
TEST_MAIN(tests)
