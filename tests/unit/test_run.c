/*
 * A run read back: what was written comes back as it was, what the Python tool wrote is understood,
 * and what is damaged or strange is absent or refused with words.
 */
#include "harness.h"

#include "analysis/run.h"
#include "arrow/infer.h"
#include "base/alloc.h"
#include "base/fs.h"
#include "base/rng.h"
#include "store/hfwriter.h"
#include "store/rundir.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

static char base[64];
static char path[96];
static struct err err;

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(base);
    snprintf(path, sizeof(path), "%s/run", base);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, &err);
}

/* A dataset at `where` with this schema and what `put` puts for each row. */
static void write_set(const char *where, const struct arrow_schema *schema, hfwriter_put_fn *put,
                      void *arg, int rows)
{
    AUTO_FD int fd = -1;
    struct hfwriter *w = NULL;

    assert_ok(fs_mkdirs(where, &err), &err);
    fd = fs_open_dir(AT_FDCWD, where, &err);
    assert_ok(fd, &err);
    assert_ok(hfwriter_create(fd, schema, &w, &err), &err);
    for (int i = 0; i < rows; i++)
        assert_ok(hfwriter_append(w, put, arg, 0, &err), &err);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
}

static const char *const texts[] = {"", "ok", "two\nlines", "\xC3\xA9\xE4\xB8\x96\xF0\x9F\x98\x80",
                                    "a rather long text, longer than any buffer on the way"};
static const char *const reasons[] = {"gap", "estimated", "a reason of the future"};

static const char *random_text(struct rng *g)
{
    return rng_below(g, 3) ? texts[rng_below(g, 5)] : NULL;
}

static double random_number(struct rng *g)
{
    return rng_below(g, 3) ? rng_normal(g) * 1e3 : NAN;
}

/* Some of it is absent, at random. */
static void random_record(struct rng *g, struct record *r)
{
    int outside = 0;

    record_init(r);
    for (size_t i = 0; i < n_record_fields; i++) {
        const struct record_field *f = &record_fields[i];
        char *member = (char *)r + f->offset;

        outside += f->kind == FIELD_BEGIN_AT;
        if (f->kind == FIELD_END)
            outside = 0;
        if (outside)
            continue;
        if (f->kind == FIELD_F64)
            *(double *)member = random_number(g);
        else if (f->kind == FIELD_I64)
            *(int64_t *)member = (int64_t)rng_below(g, 3) - 1;
        else if (f->kind == FIELD_TEXT)
            *(const char **)member = random_text(g);
        else if (f->kind == FIELD_TRI)
            *(int *)member = (int)rng_below(g, 3) - 1;
        else if (f->kind == FIELD_VALIDITY)
            *(enum validity *)member = (enum validity)rng_below(g, 3);
    }
    r->measurement.n_reasons = rng_below(g, 4);
    for (size_t i = 0; i < r->measurement.n_reasons; i++)
        r->measurement.reasons[i] = reasons[i];
}

static void same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_ptr_equal(a, b);
}

static void same_json(const struct json *a, const struct json *b)
{
    AUTO(buf) struct buf text_a = BUF_INIT(1 << 20), text_b = BUF_INIT(1 << 20);
    struct json_writer wa = json_writer(&text_a, JSON_LINE), wb = json_writer(&text_b, JSON_LINE);

    jw_value(&wa, NULL, a);
    jw_value(&wb, NULL, b);
    assert_string_equal(text_a.data, text_b.data);
}

static void same_field(const struct record_field *f, const char *a, const char *b)
{
    a += f->offset;
    b += f->offset;
    switch (f->kind) {
    case FIELD_F64:
        if (!isnan(*(const double *)a) || !isnan(*(const double *)b))
            assert_true(*(const double *)a == *(const double *)b);
        break;
    case FIELD_I64:
        assert_true(*(const int64_t *)a == *(const int64_t *)b);
        break;
    case FIELD_TEXT:
        same_text(*(const char *const *)a, *(const char *const *)b);
        break;
    case FIELD_CHARS:
        assert_string_equal(a, b);
        break;
    case FIELD_INT:
    case FIELD_TRI:
    case FIELD_VALIDITY:
        assert_int_equal(*(const int *)a, *(const int *)b);
        break;
    case FIELD_METADATA:
        same_json(*(const struct json *const *)a, *(const struct json *const *)b);
        break;
    default:
        break;
    }
}

static void same_record(const struct record *a, const struct record *b)
{
    const char *base_a = (const char *)a, *base_b = (const char *)b;

    for (size_t i = 0; i < n_record_fields; i++) {
        const struct record_field *f = &record_fields[i];

        if (f->kind == FIELD_BEGIN_AT) {
            base_a = *(const char *const *)((const char *)a + f->offset);
            base_b = *(const char *const *)((const char *)b + f->offset);
            assert_int_equal(base_a != NULL, base_b != NULL);
        } else if (f->kind == FIELD_END) {
            base_a = (const char *)a;
            base_b = (const char *)b;
        } else if (base_a) {
            same_field(f, base_a, base_b);
        }
    }
    assert_int_equal(a->measurement.n_reasons, b->measurement.n_reasons);
    for (size_t i = 0; i < a->measurement.n_reasons; i++)
        assert_string_equal(a->measurement.reasons[i], b->measurement.reasons[i]);
}

static const struct device gpu = {
    .number = 3, .name = "NVIDIA H100", .vendor = "NVIDIA", .type = "GPU", .backend = "NVML"};
static const struct system_info machine = {.os_name = "Linux", .cpu_count = 2, .cpu_brand = "CPU"};

#define RANDOM_ROWS 2500

/* The record of row i: the first is empty. */
static void nth_record(uint64_t i, const struct json *metadata, struct record *ret)
{
    struct rng g = rng_seed(i, RNG_STREAM_PLAIN);

    if (i == 0) {
        record_init(ret);
        return;
    }
    random_record(&g, ret);
    ret->gpu = rng_below(&g, 2) ? &gpu : NULL;
    ret->system = rng_below(&g, 2) ? &machine : NULL;
    ret->metadata = rng_below(&g, 2) ? metadata : NULL;
}

static void write_random(const struct json *metadata, bool finish)
{
    AUTO(arrow_schema) struct arrow_schema inferred = {0}, schema = {0};
    struct rundir *d = NULL;
    struct hfwriter *w = NULL;

    arrow_schema_init(&inferred);
    assert_ok(arrow_infer_add(&inferred.root, metadata, &err), &err);
    record_schema("m:1b", &inferred.root, &schema);
    assert_ok(rundir_create(path, false, "{}", &d, &err), &err);
    assert_ok(hfwriter_create(rundir_fd(d), &schema, &w, &err), &err);
    for (uint64_t i = 0; i < RANDOM_ROWS; i++) {
        struct record r;

        nth_record(i, metadata, &r);
        assert_ok(hfwriter_append(w, record_put, &r, 0, &err), &err);
    }
    assert_ok(finish ? hfwriter_finish(w, &err) : hfwriter_sync(w, &err), &err);
    if (!finish) { /* the writer still holds the run */
        struct run *run = NULL;

        assert_fails(run_open(path, &run, &err), EBUSY, &err, "another ipw");
    }
    hfwriter_free(w);
    rundir_close(d);
}

static void check_random(const struct json *metadata)
{
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *record;

    assert_ok(run_open(path, &run, &err), &err);
    assert_string_equal(run_dir(run), path);
    assert_string_equal(run_model(run), "m:1b");
    assert_null(run_summary(run));
    assert_int_equal(run_rows(run), RANDOM_ROWS);
    for (int pass = 0; pass < 2; pass++) {
        for (uint64_t i = 0; i < RANDOM_ROWS; i++) {
            struct record expected;

            nth_record(i, metadata, &expected);
            assert_int_equal(run_next(run, &record, &err), 1);
            same_record(&expected, record);
        }
        assert_int_equal(run_next(run, &record, &err), 0);
        assert_int_equal(run_next(run, &record, &err), 0);
        assert_ok(run_rewind(run, &err), &err);
    }
}

static void records_come_back_as_they_were(void **state)
{
    static const char text[] =
        "{\"level\":2,\"tags\":[\"a\",\"b\"],\"deep\":{\"x\":0.5,\"y\":null}}";
    AUTO(json_doc) struct json_doc metadata = {0};

    (void)state;
    assert_ok(json_doc_parse(&metadata, text, strlen(text), &err), &err);
    write_random(metadata.root, true);
    check_random(metadata.root);
}

static void an_interrupted_run_is_recovered(void **state)
{
    AUTO(json_doc) struct json_doc metadata = {0};

    (void)state;
    assert_ok(json_doc_parse(&metadata, "{\"k\":1}", 7, &err), &err);
    write_random(metadata.root, false);
    assert_int_equal(rundir_state(path), RUNDIR_UNFINISHED);
    check_random(metadata.root);
    assert_int_equal(rundir_state(path), RUNDIR_FINISHED);
}

/* The first row of the reference set, by its values in profile_seed.jsonl. */
static void check_seed(const struct record *r)
{
    assert_string_equal(r->problem, "What is 0+0?");
    assert_string_equal(r->answer, "0");
    assert_string_equal(r->subject, "general");
    assert_string_equal(r->response, "The answer is 0. \xC3\xA9\xE4\xB8\x96\xF0\x9F\x98\x80\n");
    assert_string_equal(json_text(json_get(r->metadata, "problem"), ""), "What is 0+0?");
    assert_true(json_is(json_get(r->metadata, "level"), JSON_NULL));
    assert_true(r->energy.gpu_j == 12.625);
    assert_true(r->energy.cpu_j == 3.5);
    assert_true(isnan(r->energy.ane_j) && isnan(r->energy.soc_j) && isnan(r->energy.dram_j));
    assert_null(r->energy.basis);
    assert_true(r->latency.ttft_s == 0.0625);
    assert_true(r->latency.total_s == 0.25);
    assert_true(r->gpu_w.avg == 62.25 && r->gpu_w.max == 75.25);
    assert_true(r->temperature_c.min == 41.0);
    assert_int_equal(r->tokens.input, 11);
    assert_int_equal(r->tokens.output, 7);
    assert_int_equal(r->tokens.total, 18);
    assert_int_equal(r->compute.total_flops, -1);
    assert_true(r->utilization.memory_total_gb == 80.0);
    assert_string_equal(r->gpu->name, "NVIDIA H100");
    assert_int_equal(r->gpu->number, 0);
    assert_string_equal(r->system->cpu_brand, "Some CPU");
    assert_int_equal(r->system->cpu_count, 2);
    assert_int_equal(r->correct, -1); /* the file says false, and nothing was scored */
    assert_null(r->request.status);
    assert_int_equal(r->request.index, -1);
    assert_int_equal(r->measurement.validity, VALIDITY_DEGRADED);
    assert_int_equal(r->measurement.n_reasons, 1);
    assert_string_equal(r->measurement.reasons[0], RUN_UNCHECKED);
    assert_true(record_ok(r));
    assert_true(record_joules(r) == 12.625);
    assert_true(record_watts(r) == 12.625 / 0.25);
}

static void the_python_tools_runs_are_read(void **state)
{
    static const struct {
        const char *name;
        int rows;
    } sets[] = {{"profile_seed", 4}, {"profile_1row", 1}, {"profile_nogpu", 4}};

    (void)state;
    for (size_t k = 0; k < 3; k++) {
        AUTO_FREE char *dir = xasprintf("%s/hf/%s", FIXTURES, sets[k].name);
        AUTO_PTR(run) struct run *run = NULL;
        const struct record *r;

        assert_ok(run_open(dir, &run, &err), &err);
        assert_string_equal(run_model(run), "llama3.2:1b");
        assert_int_equal(json_int(json_get(run_summary(run), "total_queries"), -1), sets[k].rows);
        assert_int_equal(run_rows(run), sets[k].rows);
        for (int i = 0; i < sets[k].rows; i++) {
            AUTO_FREE char *problem = xasprintf("What is %d+%d?", i, i);

            assert_int_equal(run_next(run, &r, &err), 1);
            assert_string_equal(r->problem, problem);
            if (i == 0 && k < 2)
                check_seed(r);
            if (i == 0 && k == 2) { /* without a GPU the CPU's energy counts */
                assert_null(r->gpu);
                assert_true(isnan(r->energy.gpu_j));
                assert_true(record_joules(r) == 3.5);
            }
        }
        assert_int_equal(run_next(run, &r, &err), 0);
        assert_int_equal(run_samples(run, NULL, NULL, &err), 0);
    }
}

static void put_json(void *row, struct arrow_builder *b)
{
    arrow_put_json_row(b, row);
}

/* A directory of rows of a foreign shape, given as JSON. */
static void write_json_rows(const char *where, const char *const *rows, size_t n)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO(json_doc) struct json_doc doc = {0};
    AUTO_FD int fd = -1;
    struct hfwriter *w = NULL;

    arrow_schema_init(&schema);
    for (size_t i = 0; i < n; i++) {
        assert_ok(json_doc_parse(&doc, rows[i], strlen(rows[i]), &err), &err);
        assert_ok(arrow_infer_add(&schema.root, doc.root, &err), &err);
    }
    arrow_schema_describe(&schema);
    assert_ok(fs_mkdirs(where, &err), &err);
    fd = fs_open_dir(AT_FDCWD, where, &err);
    assert_ok(fd, &err);
    assert_ok(hfwriter_create(fd, &schema, &w, &err), &err);
    for (size_t i = 0; i < n; i++) {
        assert_ok(json_doc_parse(&doc, rows[i], strlen(rows[i]), &err), &err);
        assert_ok(hfwriter_append(w, put_json, doc.root, 0, &err), &err);
    }
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
}

static void columns_of_other_types_are_absent(void **state)
{
    static const char *const rows[] = {
        "{\"problem\":5,\"answer\":[\"x\"],\"subject\":{\"a\":1},\"dataset_metadata\":7,"
        "\"model_answers\":\"none\",\"request\":[1,2],"
        "\"model_metrics\":{\"m\":{\"energy_metrics\":{\"per_query_joules\":\"many\","
        "\"total_joules\":8,\"cpu_per_query_joules\":3,\"cpu_total_joules\":9,\"basis\":1.5},"
        "\"latency_metrics\":\"fast\","
        "\"token_metrics\":{\"input\":1.5,\"output\":7.0,\"total\":-4},\"gpu_info\":{\"name\":9,"
        "\"device_id\":99999999999,\"vendor\":\"012345678901234567890123456789\xC3\xA9\"},"
        "\"system_info\":\"here\",\"lm_correctness\":1,"
        "\"measurement\":{\"validity\":\"splendid\",\"reasons\":\"gap\"}}}}"};
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *r;

    (void)state;
    write_json_rows(path, rows, 1);
    assert_ok(run_open(path, &run, &err), &err);
    assert_int_equal(run_next(run, &r, &err), 1);
    assert_null(r->problem);
    assert_null(r->answer);
    assert_null(r->subject);
    assert_null(r->metadata);
    assert_null(r->response);
    assert_true(r->energy.gpu_j == 8); /* the first of two that has a value */
    assert_true(r->energy.cpu_j == 3);
    assert_null(r->energy.basis);
    assert_true(isnan(r->latency.total_s));
    assert_int_equal(r->tokens.input, -1);
    assert_int_equal(r->tokens.output, 7);
    assert_int_equal(r->tokens.total, -1);
    assert_string_equal(r->gpu->name, "");
    assert_int_equal(r->gpu->number, -1);
    /* 31 bytes fit; the character that does not fit is left out whole */
    assert_string_equal(r->gpu->vendor, "012345678901234567890123456789");
    assert_null(r->system);
    assert_int_equal(r->correct, -1);
    assert_int_equal(r->measurement.validity, VALIDITY_DEGRADED);
    assert_string_equal(r->measurement.reasons[0], RUN_UNCHECKED);
    assert_false(record_ok(r));
}

static void metadata_may_be_text(void **state)
{
    static const char *const rows[] = {
        "{\"dataset_metadata\":\"{\\\"level\\\": 3}\",\"model_metrics\":{\"m\":{\"x\":1}}}",
        "{\"dataset_metadata\":\"not json\",\"model_metrics\":{\"m\":{\"x\":1}}}",
        "{\"dataset_metadata\":\"[1]\",\"model_metrics\":{\"m\":{\"x\":1}}}",
        "{\"dataset_metadata\":null,\"model_metrics\":{\"m\":{\"x\":1}}}"};
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *r;

    (void)state;
    write_json_rows(path, rows, 4);
    assert_ok(run_open(path, &run, &err), &err);
    assert_int_equal(run_next(run, &r, &err), 1);
    assert_int_equal(json_int(json_get(r->metadata, "level"), -1), 3);
    for (int i = 1; i < 4; i++) {
        assert_int_equal(run_next(run, &r, &err), 1);
        assert_null(r->metadata);
    }
}

static void what_was_scored(void **state)
{
    static const char *const rows[] = {
        "{\"model_metrics\":{\"m\":{\"lm_correctness\":true,\"lm_response\":\"a\\u0000b\"}}}",
        "{\"model_metrics\":{\"m\":{\"lm_correctness\":false,\"evaluation\":null}}}",
        "{\"model_metrics\":{\"m\":{\"lm_correctness\":false,\"evaluation\":{\"is_correct\":false}}"
        "}}",
        "{\"model_metrics\":{\"m\":{\"lm_correctness\":false,\"evaluation\":{\"is_correct\":null}}}"
        "}",
        "{\"model_metrics\":{\"m\":{\"evaluation\":{\"is_correct\":true}}}}",
        "{\"model_metrics\":{\"m\":null,\"second\":{\"lm_correctness\":true}}}"};
    static const int correct[] = {1, -1, 0, -1, 1, -1};
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *r;

    (void)state;
    write_json_rows(path, rows, 6);
    assert_ok(run_open(path, &run, &err), &err);
    assert_string_equal(run_model(run), "m");
    for (int i = 0; i < 6; i++) {
        assert_int_equal(run_next(run, &r, &err), 1);
        assert_int_equal(r->correct, correct[i]);
        same_text(r->response, i == 0 ? "a" : NULL);
    }
}

static void what_is_no_run_is_refused(void **state)
{
    static const char *const rows[] = {"{\"problem\":\"p\"}"};
    static const char *const text[] = {"{\"problem\":\"p\",\"model_metrics\":\"m\"}"};
    static const char *const none[] = {"{\"problem\":\"p\",\"model_metrics\":{}}"};
    AUTO_FREE char *other = xasprintf("%s/other", base), *third = xasprintf("%s/third", base);
    struct run *run = NULL;

    (void)state;
    assert_int_equal(run_open(path, &run, &err), -ENOENT); /* nothing there */
    assert_int_equal(mkdir(path, 0777), 0);
    assert_fails(run_open(path, &run, &err), ENOENT, &err, path);
    write_json_rows(path, rows, 1);
    assert_fails(run_open(path, &run, &err), EINVAL, &err, "model_metrics");
    write_json_rows(other, text, 1);
    assert_fails(run_open(other, &run, &err), EINVAL, &err, "model_metrics");
    write_json_rows(third, none, 1);
    assert_fails(run_open(third, &run, &err), EINVAL, &err, "model_metrics");
    assert_null(run);
}

static void replace(const char *name, const char *text)
{
    AUTO_FREE char *file = xasprintf("%s/%s", path, name);

    assert_ok(fs_replace(AT_FDCWD, file, text, strlen(text), &err), &err);
}

static void a_damaged_summary_is_none(void **state)
{
    static const char *const rows[] = {"{\"model_metrics\":{\"m\":{\"x\":1}}}"};
    static const char *const summaries[] = {"", "{\"model\":", "[1]", "{\"model\":\"m\"}"};

    (void)state;
    write_json_rows(path, rows, 1);
    for (size_t i = 0; i < 4; i++) {
        AUTO_PTR(run) struct run *run = NULL;

        replace("summary.json", summaries[i]);
        assert_ok(run_open(path, &run, &err), &err);
        if (i < 3)
            assert_null(run_summary(run));
        else
            assert_string_equal(json_text(json_get(run_summary(run), "model"), ""), "m");
    }
}

static void put_record(void *record, struct arrow_builder *b)
{
    record_put(record, b);
}

static int64_t resident_kb(void)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    const char *line;

    assert_ok(fs_read_all(AT_FDCWD, "/proc/self/status", &text, &err), &err);
    line = strstr(text.data, "RssAnon:");
    assert_non_null(line);
    return strtoll(line + strlen("RssAnon:"), NULL, 10);
}

/* Anonymous memory, as mapped pages of the files are the kernel's to keep or drop. */
static void memory_does_not_grow_with_the_run(void **state)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *record;
    struct record r;
    int64_t rows = 0, early_kb = 0;

    (void)state;
    nth_record(7, NULL, &r);
    r.response = texts[4];
    record_schema("m", NULL, &schema);
    write_set(path, &schema, put_record, &r, 100000);
    assert_ok(run_open(path, &run, &err), &err);
    for (; run_next(run, &record, &err) == 1; rows++) {
        assert_string_equal(record->response, texts[4]);
        if (rows == 5000)
            early_kb = resident_kb();
    }
    assert_int_equal(rows, 100000);
    assert_true(resident_kb() - early_kb < 4096);
}

static void the_energy_of_a_record(void **state)
{
    static const struct device apple = {.vendor = "Apple"};
    struct record r;

    (void)state;
    record_init(&r);
    assert_true(isnan(record_joules(&r)));
    assert_true(isnan(record_watts(&r)));
    r.energy.cpu_j = 2;
    assert_true(record_joules(&r) == 2);
    r.energy.gpu_j = 5;
    r.energy.soc_j = 9;
    assert_true(record_joules(&r) == 5);
    r.gpu = &apple;
    assert_true(record_joules(&r) == 9);
    r.energy.basis = "gpu";
    assert_true(record_joules(&r) == 5);
    r.energy.basis = "gpu+cpu";
    assert_true(record_joules(&r) == 7);
    r.energy.basis = "soc";
    assert_true(record_joules(&r) == 9);
    r.energy.basis = "cpu";
    assert_true(record_joules(&r) == 2);
    assert_true(isnan(record_watts(&r)));
    r.latency.total_s = 0;
    assert_true(isnan(record_watts(&r)));
    r.latency.total_s = 4;
    assert_true(record_watts(&r) == 0.5);
    r.energy.basis = "the moon";
    assert_true(isnan(record_joules(&r)));
    r.energy.basis = "gpu+cpu";
    r.energy.cpu_j = NAN;
    assert_true(isnan(record_joules(&r)));
    r.energy.basis = "soc";
    r.energy.soc_j = NAN; /* the basis it names is not swapped for another */
    assert_true(isnan(record_joules(&r)));
}

static void a_query_that_came_to_its_end(void **state)
{
    struct record r;

    (void)state;
    record_init(&r);
    assert_false(record_ok(&r));
    r.response = "";
    assert_true(record_ok(&r));
    r.request.status = "timeout";
    assert_false(record_ok(&r));
    r.response = NULL;
    r.request.status = "ok";
    assert_true(record_ok(&r));
}

struct seen {
    struct sample samples[64];
    size_t n;
    int stop; /* what to return at the third */
};

static int see(void *arg, const struct sample *s)
{
    struct seen *seen = arg;

    assert_true(seen->n < 64);
    seen->samples[seen->n++] = *s;
    return seen->n == 3 ? seen->stop : 0;
}

#define SAMPLE(time, collector, number, channel, quantity, value, more)       \
    "{\"time_s\":" time ",\"collector\":\"" collector                         \
    "\",\"device\":\"d\",\"device_number\":" number ",\"channel\":\"" channel \
    "\",\"rail\":\"gpu\",\"quantity\":\"" quantity "\",\"value\":" value more "}"

static void samples_know_their_channel(void **state)
{
    static const char *const rows[] = {"{\"model_metrics\":{\"m\":{\"x\":1}}}"};
    static const char *const samples[] = {
        SAMPLE("0.5", "nvml", "0", "a", "energy_j", "1.5", ",\"break\":true"),
        SAMPLE("0.5", "nvml", "0", "a", "power_w", "70", ",\"estimated\":true"),
        SAMPLE("1", "nvml", "0", "a", "energy_j", "2.5", ",\"break\":false"),
        SAMPLE("1", "nvml", "1", "a", "energy_j", "null", ""),
        SAMPLE("1", "nvml", "0", "a", "weather", "3", ""),     /* of the future */
        SAMPLE("null", "nvml", "0", "a", "energy_j", "3", ""), /* no time */
        SAMPLE("1.5", "nvml", "0", "b", "energy_j", "4", ""),
        SAMPLE("2", "nvml", "0", "a", "power_w", "71", ",\"estimated\":true")};
    static const size_t channel[] = {0, 1, 0, 2, 3, 1};
    AUTO_FREE char *telemetry = xasprintf("%s/telemetry", path);
    AUTO_PTR(run) struct run *run = NULL;
    const struct sampled_channel *channels;
    struct seen seen = {0};

    (void)state;
    write_json_rows(path, rows, 1);
    write_json_rows(telemetry, samples, 8);
    assert_ok(run_open(path, &run, &err), &err);
    assert_int_equal(run_channels(run, &channels), 0);
    assert_int_equal(run_samples(run, see, &seen, &err), 0);
    assert_int_equal(seen.n, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(seen.samples[i].channel, channel[i]);
    assert_true(seen.samples[0].is_break && !seen.samples[2].is_break);
    assert_true(seen.samples[0].time_s == 0.5 && seen.samples[0].value == 1.5);
    assert_true(isnan(seen.samples[3].value));
    assert_int_equal(run_channels(run, &channels), 4);
    assert_string_equal(channels[1].collector, "nvml");
    assert_string_equal(channels[3].name, "b");
    assert_int_equal(channels[2].device_number, 1);
    assert_int_equal(channels[1].quantity, QUANTITY_POWER_W);
    assert_int_equal(channels[1].rail, RAIL_GPU);
    assert_true(channels[1].estimated && !channels[0].estimated);
    /* again, from the start, with the same numbers; and not to the end */
    seen = (struct seen){.stop = 42};
    assert_int_equal(run_samples(run, see, &seen, &err), 42);
    assert_int_equal(seen.n, 3);
    assert_int_equal(seen.samples[1].channel, 1);
}

static void damaged_telemetry_is_an_error(void **state)
{
    static const char *const rows[] = {"{\"model_metrics\":{\"m\":{\"x\":1}}}"};
    static const char *const strange[] = {"{\"time_s\":\"now\",\"value\":[1],\"rail\":4}"};
    AUTO_FREE char *telemetry = xasprintf("%s/telemetry", path);
    AUTO_PTR(run) struct run *run = NULL;
    struct seen seen = {0};

    (void)state;
    write_json_rows(path, rows, 1);
    write_json_rows(telemetry, strange, 1);
    assert_ok(run_open(path, &run, &err), &err);
    assert_int_equal(run_samples(run, see, &seen, &err), 0);
    assert_int_equal(seen.n, 0);
    replace("telemetry/state.json", "{}");
    assert_fails(run_samples(run, see, &seen, &err), EBADMSG, &err, "telemetry");
}

static int ignore(void *arg, const struct sample *s)
{
    (void)arg;
    (void)s;
    return 0;
}

/* Every sample is of a channel of its own. */
static void put_new_channel(void *arg, struct arrow_builder *b)
{
    static const struct device device = {.name = "d"};
    static const struct channel channel = {.name = "c"};
    struct device numbered = device;
    struct telemetry_row row = {.channel = &channel, .device = &numbered, .collector = "x"};

    numbered.number = (*(int *)arg)++;
    telemetry_put(&row, b);
}

static void channels_are_bounded(void **state)
{
    static const char *const rows[] = {"{\"model_metrics\":{\"m\":{\"x\":1}}}"};
    AUTO(arrow_schema) struct arrow_schema schema = {0};
    AUTO_FREE char *telemetry = xasprintf("%s/telemetry", path);
    AUTO_PTR(run) struct run *run = NULL;
    int number = 0;

    (void)state;
    write_json_rows(path, rows, 1);
    telemetry_schema(&schema);
    write_set(telemetry, &schema, put_new_channel, &number, RUN_CHANNELS_MAX + 1);
    assert_ok(run_open(path, &run, &err), &err);
    assert_fails(run_samples(run, ignore, NULL, &err), E2BIG, &err, "channels");
}

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    WITH_DIR(records_come_back_as_they_were),
    WITH_DIR(an_interrupted_run_is_recovered),
    cmocka_unit_test(the_python_tools_runs_are_read),
    WITH_DIR(columns_of_other_types_are_absent),
    WITH_DIR(metadata_may_be_text),
    WITH_DIR(what_was_scored),
    WITH_DIR(what_is_no_run_is_refused),
    WITH_DIR(a_damaged_summary_is_none),
    WITH_DIR(memory_does_not_grow_with_the_run),
    cmocka_unit_test(the_energy_of_a_record),
    cmocka_unit_test(a_query_that_came_to_its_end),
    WITH_DIR(samples_know_their_channel),
    WITH_DIR(damaged_telemetry_is_an_error),
    WITH_DIR(channels_are_bounded),
};
TEST_MAIN(tests)
