/*
 * Figures of records written by hand: which query is a mark, where, and what is said when there is
 * none. The rules of the known figures are the Python tool's.
 */
#include "harness.h"

#include "analysis/run.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "figure_check.h"
#include "plot/plot.h"
#include "store/hfwriter.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>

static struct err err;
static char base[64], dir[96], telemetry[128];
static struct record records[64];
static size_t n_records;
static struct telemetry_row rows[512];
static size_t n_rows;

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(base);
    snprintf(dir, sizeof(dir), "%s/run", base);
    snprintf(telemetry, sizeof(telemetry), "%s/telemetry", dir);
    n_records = n_rows = 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, &err);
}

/* A query that came to its end. */
static struct record *add_record(int64_t input, int64_t output, int64_t total)
{
    struct record *r = &records[n_records++];

    record_init(r);
    r->request.status = "ok";
    r->request.index = (int64_t)n_records;
    r->response = "yes";
    r->tokens.input = input;
    r->tokens.output = output;
    r->tokens.total = total;
    return r;
}

static void write_set(const char *path, const struct arrow_schema *schema, hfwriter_put_fn *put,
                      char *items, size_t size, size_t n)
{
    AUTO_FD int fd = -1;
    struct hfwriter *w = NULL;

    assert_ok(fs_mkdirs(path, &err), &err);
    fd = fs_open_dir(AT_FDCWD, path, &err);
    assert_ok(hfwriter_create(fd, schema, &w, &err), &err);
    for (size_t i = 0; i < n; i++)
        assert_ok(hfwriter_append(w, put, items + i * size, 0, &err), &err);
    assert_ok(hfwriter_finish(w, &err), &err);
    hfwriter_free(w);
}

/* Writes what was added and draws the figure of it, which the caller frees. */
static int draw(const char *id, struct chart **ret)
{
    AUTO(arrow_schema) struct arrow_schema schema = {0}, samples = {0};
    AUTO_PTR(run) struct run *run = NULL;
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    const struct plot_ops *ops = plot_find(id, &err);
    int r;

    fs_remove_tree(AT_FDCWD, dir, &err);
    record_schema("the-model", NULL, &schema);
    write_set(dir, &schema, record_put, (char *)records, sizeof(*records), n_records);
    telemetry_schema(&samples);
    if (n_rows)
        write_set(telemetry, &samples, telemetry_put, (char *)rows, sizeof(*rows), n_rows);
    assert_non_null(ops);
    assert_ok(run_open(dir, &run, &err), &err);
    r = ops->draw(c, &run, 1, &err);
    if (r < 0)
        return r;
    assert_ok(chart_render(c, PLOT_SVG, &svg, &err), &err);
    check_marks(c, &svg, 2000);
    check_texts(c, 800, 500);
    *ret = STEAL(c);
    return 0;
}

static void assert_spot(const struct chart_mark *m, double x, double y)
{
    assert_near(m->x, x, 1e-9);
    assert_near(m->y, y, 1e-9);
}

static void points_of_queries(void **state)
{
    AUTO_PTR(chart) struct chart *c = NULL;

    (void)state;
    add_record(100, 0, 100)->latency.ttft_s = 2;
    add_record(200, 0, 200)->latency.ttft_s = 4;
    add_record(300, 0, 300); /* no time */
    add_record(400, 0, 400)->latency.ttft_s = INFINITY;
    add_record(-1, 0, -1)->latency.ttft_s = 1; /* no tokens */
    add_record(500, 0, 500)->latency.ttft_s = 9;
    records[5].request.status = "error";
    assert_ok(draw("ttft", &c), &err);
    assert_int_equal(count_marks(c, MARK_POINT, -1), 2);
    assert_spot(mark_of(c, MARK_POINT, -1, 0), 100, 2);
    assert_spot(mark_of(c, MARK_POINT, -1, 1), 200, 4);
    assert_true(has_text(c, "Prompt Tokens vs Time to First Token"));
    assert_true(has_text(c, "Model: the-model  |  Hardware: Unknown"));
    assert_true(has_text(c, "2 queries"));
}

static void total_tokens_are_derived(void **state)
{
    AUTO_PTR(chart) struct chart *c = NULL;

    (void)state;
    add_record(80, 20, -1)->latency.total_s = 1;
    add_record(-1, 30, -1)->latency.total_s = 2;
    add_record(7, -1, -1)->latency.total_s = 3;
    add_record(-1, -1, -1)->latency.total_s = 4; /* not known */
    add_record(1, 2, 50)->latency.total_s = 5;   /* the server knows better */
    assert_ok(draw("latency", &c), &err);
    assert_int_equal(count_marks(c, MARK_POINT, -1), 4);
    assert_spot(mark_of(c, MARK_POINT, -1, 0), 100, 1);
    assert_spot(mark_of(c, MARK_POINT, -1, 1), 30, 2);
    assert_spot(mark_of(c, MARK_POINT, -1, 2), 7, 3);
    assert_spot(mark_of(c, MARK_POINT, -1, 3), 50, 5);
}

/* 200 vertices from the first x to the last; none where no line is determined. */
static void fits(void **state)
{
    AUTO_PTR(chart) struct chart *three = NULL, *one = NULL, *constant = NULL;

    (void)state;
    for (int i = 1; i <= 3; i++)
        add_record(i, 0, i)->latency.ttft_s = 2.0 * i;
    assert_ok(draw("ttft", &three), &err);
    assert_int_equal(count_marks(three, MARK_VERTEX, 1), 200);
    assert_spot(mark_of(three, MARK_VERTEX, 1, 0), 1, 2);
    assert_spot(mark_of(three, MARK_VERTEX, 1, 199), 3, 6);
    assert_true(has_text(three, "2 s per token, R² 1.000"));
    n_records = 1;
    assert_ok(draw("ttft", &one), &err);
    assert_int_equal(count_marks(one, MARK_VERTEX, -1), 0);
    n_records = 0;
    for (int i = 1; i <= 3; i++)
        add_record(5, 0, 5)->latency.ttft_s = i;
    assert_ok(draw("ttft", &constant), &err);
    assert_int_equal(count_marks(constant, MARK_POINT, -1), 3);
    assert_int_equal(count_marks(constant, MARK_VERTEX, -1), 0);
}

/* The band about the line through (1,1), (2,3), (3,2), (4,4): residual sum 1.8, t(2) = 4.30265. */
static void band_of_a_fit(void **state)
{
    static const double y[] = {1, 3, 2, 4};
    AUTO_PTR(chart) struct chart *c = NULL;
    const struct chart_mark *m;

    (void)state;
    for (int i = 1; i <= 4; i++)
        add_record(i, 0, i)->latency.ttft_s = y[i - 1];
    assert_ok(draw("ttft", &c), &err);
    m = mark_of(c, MARK_BAND, 1, 0);
    /* the line is 0.5 + 0.8 x; s = sqrt(0.9); at x = 1: sqrt(1/4 + 2.25/5) */
    assert_near((m->y + m->y2) / 2, 1.3, 1e-9);
    assert_near((m->y2 - m->y) / 2, 4.30265 * sqrt(0.9) * sqrt(0.7), 1e-4);
}

static void power_has_two_fits(void **state)
{
    AUTO_PTR(chart) struct chart *c = NULL;

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct record *r = add_record(1 << i, 0, 1 << i);

        r->gpu_w = (struct stat4){i == 3 ? NAN : 10.0 + i, 99, i == 3 ? 13 : 99, 1};
        r->energy.gpu_j = 5;
        r->latency.total_s = 1;
    }
    add_record(16, 0, 16)->gpu_w.avg = 0; /* a sensor that did not answer */
    assert_ok(draw("power", &c), &err);
    assert_int_equal(count_marks(c, MARK_POINT, -1), 4);
    assert_spot(mark_of(c, MARK_POINT, -1, 0), 1, 10);
    assert_spot(mark_of(c, MARK_POINT, -1, 3), 8, 13); /* no average: the median */
    /* 10 + log2(x): the log fit is exact */
    assert_true(has_text(c, "Log fit: 10 W + 1.44 W × ln(tokens), R² 1.000"));
    assert_true(has_text(c, "Fit: "));
}

static void log_fit_needs_positive_tokens(void **state)
{
    AUTO_PTR(chart) struct chart *c = NULL;

    (void)state;
    for (int i = 0; i < 3; i++)
        add_record(0, 0, 0)->gpu_w.avg = 10 + i;
    assert_ok(draw("power", &c), &err);
    assert_int_equal(count_marks(c, MARK_POINT, -1), 3);
    assert_int_equal(count_marks(c, MARK_VERTEX, -1), 0);
}

static void hardware_names(void **state)
{
    static const struct device gpu = {.name = "NVIDIA H100"}, nameless = {.name = ""};
    static const struct system_info cpu = {.cpu_brand = "AMD EPYC"},
                                    unknown = {.cpu_brand = "Unknown CPU"};
    static const struct {
        const struct device *gpu;
        const struct system_info *system;
        const char *expected;
    } cases[] = {{&gpu, &cpu, "Hardware: NVIDIA H100"},
                 {NULL, &cpu, "Hardware: AMD EPYC"},
                 {&nameless, &cpu, "Hardware: AMD EPYC"},
                 {NULL, &unknown, "Hardware: Unknown"},
                 {NULL, NULL, "Hardware: Unknown"}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        AUTO_PTR(chart) struct chart *c = NULL;
        const struct chart_text *t;

        n_records = 0;
        add_record(1, 1, 2)->latency.total_s = 1;
        records[0].gpu = cases[i].gpu;
        records[0].system = cases[i].system;
        assert_ok(draw("latency", &c), &err);
        chart_texts(c, &t);
        assert_string_equal(strstr(t[1].text, "Hardware"), cases[i].expected);
    }
}

/* By the formula itself. */
static void density_of_output_tokens(void **state)
{
    static const double tokens[] = {1, 2, 3, 4, 10};
    double width = 0.9 * (2 / 1.349) * pow(5, -0.2), sum = 0; /* IQR 2; std is 3.5355 */
    AUTO_PTR(chart) struct chart *c = NULL;

    (void)state;
    for (int i = 4; i >= 0; i--)
        add_record(1, (int64_t)tokens[i], -1);
    add_record(1, -1, 1);
    assert_ok(draw("output_kde", &c), &err);
    assert_int_equal(count_marks(c, MARK_VERTEX, 0), 512);
    for (int i = 0; i < 5; i++)
        sum += exp(-0.5 * pow((1 - tokens[i]) / width, 2)) / (5 * width * sqrt(2 * M_PI));
    assert_spot(mark_of(c, MARK_VERTEX, 0, 0), 1, sum);
    assert_near(mark_of(c, MARK_VERTEX, 0, 511)->x, 10, 1e-9);
    assert_near(mark_of(c, MARK_RULE, -1, 0)->x, 4, 1e-9); /* mean */
    assert_near(mark_of(c, MARK_RULE, -1, 1)->x, 3, 1e-9); /* median */
    assert_true(has_text(c, "Mean 4.0") && has_text(c, "Median 3.0"));
}

static void density_needs_variation(void **state)
{
    struct chart *c = NULL;

    (void)state;
    add_record(1, -1, 1);
    assert_fails(draw("output_kde", &c), ENODATA, &err, "no query has output tokens");
    add_record(1, 7, 8);
    assert_fails(draw("output_kde", &c), ENODATA, &err, "only one query has output tokens");
    add_record(1, 7, 8);
    assert_fails(draw("output_kde", &c), ENODATA, &err, "all 2 answers have 7 tokens");
}

static void distribution_of_latencies(void **state)
{
    AUTO_PTR(chart) struct chart *c = NULL;

    (void)state;
    add_record(1, 1, 2)->latency.total_s = 3;
    add_record(1, 1, 2)->latency.total_s = 1;
    add_record(1, 1, 2)->latency.total_s = 1;
    add_record(1, 1, 2)->latency.total_s = 2;
    assert_ok(draw("latency_cdf", &c), &err);
    /* steps at 1 (two of four), 2 and 3 */
    assert_int_equal(count_marks(c, MARK_VERTEX, -1), 6);
    assert_spot(mark_of(c, MARK_VERTEX, -1, 0), 1, 0);
    assert_spot(mark_of(c, MARK_VERTEX, -1, 1), 1, 0.5);
    assert_spot(mark_of(c, MARK_VERTEX, -1, 2), 2, 0.5);
    assert_spot(mark_of(c, MARK_VERTEX, -1, 3), 2, 0.75);
    assert_spot(mark_of(c, MARK_VERTEX, -1, 5), 3, 1);
    assert_true(has_text(c, "Whole answer: p50 1.5 s, p95 2.85 s"));
}

static void energy_per_token_with_bounds(void **state)
{
    AUTO_PTR(chart) struct chart *c = NULL, *without = NULL;
    const struct chart_mark *m;

    (void)state;
    for (int i = 1; i <= 2; i++) {
        struct record *r = add_record(1, 10, 11);

        r->energy.gpu_j = 10.0 * i;
        r->energy.basis = "gpu";
        r->measurement.low_j = 10.0 * i - 1;
        r->measurement.high_j = 10.0 * i + 2;
    }
    assert_ok(draw("energy_per_token", &c), &err);
    assert_spot(mark_of(c, MARK_VERTEX, 0, 0), 1, 0);
    assert_spot(mark_of(c, MARK_VERTEX, 0, 3), 2, 1);
    /* lower bounds 0.9 and 1.9, upper 1.2 and 2.2: between 0.9 and 1.2 the share is 0 to a half */
    m = mark_of(c, MARK_BAND, 0, 1);
    assert_true(m->x == 0.9 && m->y == 0 && m->y2 == 0.5);
    m = mark_of(c, MARK_BAND, 0, 3);
    assert_true(m->x == 1.2 && m->y == 0.5 && m->y2 == 0.5);
    m = mark_of(c, MARK_BAND, 0, 7);
    assert_true(m->x == 2.2 && m->y == 1 && m->y2 == 1);
    assert_true(has_text(c, "p50: 1.5 J"));
    records[1].measurement.low_j = NAN;
    assert_ok(draw("energy_per_token", &without), &err);
    assert_int_equal(count_marks(without, MARK_BAND, -1), 0);
    assert_true(has_text(without, "not every record has them"));
}

static void accuracy_of_subjects(void **state)
{
    AUTO_PTR(chart) struct chart *c = NULL;
    const struct chart_mark *m;

    (void)state;
    for (int i = 0; i < 12; i++) {
        struct record *r = add_record(1, 1, 2);

        r->subject = i < 8 ? "maths" : i < 10 ? "code" : NULL;
        r->correct = i < 6 || i >= 9; /* maths 6 of 8, code 1 of 2, none 1 of 1 */
    }
    records[11].correct = -1;
    assert_ok(draw("accuracy_by_subject", &c), &err);
    assert_int_equal(count_marks(c, MARK_POINT, -1), 3);
    assert_int_equal(count_marks(c, MARK_WHISKER, -1), 3);
    /* best first; the order of points is that of the rows */
    m = mark_of(c, MARK_WHISKER, -1, 1);
    assert_near(m->y, 1, 0);
    assert_near(m->x, 0.409276, 1e-5); /* Wilson's interval of 6 of 8 */
    assert_near(m->x2, 0.928529, 1e-5);
    assert_near(mark_of(c, MARK_WHISKER, -1, 0)->x2, 1, 1e-12);
    assert_true(mark_of(c, MARK_WHISKER, -1, 0)->py < m->py); /* the first is on top */
    assert_near(mark_of(c, MARK_RULE, -1, 0)->x, 8.0 / 11, 1e-9);
    assert_true(has_text(c, "6 of 8") && has_text(c, "maths") && has_text(c, "(no subject)"));
    assert_true(has_text(c, "All subjects: 72.7 %"));
}

static void add_sample(const struct channel *c, const struct device *d, double time_s, double value)
{
    struct telemetry_row *r = &rows[n_rows++];

    *r = (struct telemetry_row){.channel = c, .device = d, .collector = "test"};
    r->tick.at = r->tick.seen = r->tick.after = llrint(time_s * 1e9);
    r->tick.value = value;
}

/* Two GPUs, one with a counter and a power sensor, one with a sensor only: the rail is counter plus
 * sensor; a part of the CPU's rail is not shown beside it. */
static void rails_are_sums_of_devices(void **state)
{
    static const struct device gpus[] = {{.number = 0, .name = "GPU"},
                                         {.number = 1, .name = "GPU"}},
                               cpu = {.name = "package-0"};
    static const struct channel energy = {.quantity = QUANTITY_ENERGY_J, .rail = RAIL_GPU},
                                power = {.quantity = QUANTITY_POWER_W, .rail = RAIL_GPU},
                                package = {.quantity = QUANTITY_ENERGY_J, .rail = RAIL_CPU},
                                cores = {.quantity = QUANTITY_ENERGY_J, .rail = RAIL_CORE},
                                memory = {.quantity = QUANTITY_MEMORY_USED_BYTES, .rail = RAIL_GPU};
    AUTO_PTR(chart) struct chart *c = NULL;
    struct record *r = add_record(1, 1, 2);

    (void)state;
    r->request.sent_s = 1;
    r->request.end_s = 3;
    for (int i = 0; i < 5; i++) {
        add_sample(&energy, &gpus[0], i, 100 * i);
        add_sample(&power, &gpus[0], i, 999);
        add_sample(&power, &gpus[1], i, 10 + i);
        add_sample(&package, &cpu, i, 20 * i);
        add_sample(&cores, &cpu, i, 5 * i);
        add_sample(&memory, &gpus[0], i, 1e9);
    }
    assert_ok(draw("power_trace", &c), &err);
    assert_spot(mark_of(c, MARK_VERTEX, 0, 0), 0, 110);
    assert_spot(mark_of(c, MARK_VERTEX, 0, 4), 4, 114);
    assert_int_equal(count_marks(c, MARK_VERTEX, 0), 5);
    assert_spot(mark_of(c, MARK_VERTEX, 1, 0), 0, 20);
    assert_int_equal(count_marks(c, MARK_VERTEX, 2), 0);
    assert_int_equal(count_marks(c, MARK_SPAN, -1), 1);
    assert_near(mark_of(c, MARK_SPAN, -1, 0)->x, 1, 1e-9);
    assert_near(mark_of(c, MARK_SPAN, -1, 0)->x2, 3, 1e-9);
    assert_true(has_text(c, "gpu") && has_text(c, "cpu") && !has_text(c, "core"));
    assert_false(has_text(c, "ESTIMATED"));
}

static void what_is_missing_is_said(void **state)
{
    static const struct {
        const char *id, *words;
    } cases[] = {
        {"ttft", "no query has both prompt tokens and a time to first token"},
        {"latency", "no query has both tokens and a latency"},
        {"energy", "no query has both tokens and an energy"},
        {"power", "no query has both tokens and a power"},
        {"output_kde", "no query has output tokens"},
        {"power_trace", "no telemetry of power or energy"},
        {"latency_cdf", "no query has a latency"},
        {"energy_per_token", "no query has both output tokens and an energy"},
        {"accuracy_by_subject", "no answer was scored"},
        {"efficiency_frontier", "give at least two"},
        {"sweep", "give at least two"},
    };

    (void)state;
    add_record(-1, -1, -1);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct chart *c = NULL;

        assert_fails(draw(cases[i].id, &c), ENODATA, &err, cases[i].words);
    }
    n_records = 0;
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct chart *c = NULL;

        assert_fails(draw(cases[i].id, &c), ENODATA, &err, cases[i].words);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
static const struct CMUnitTest tests[] = {
    TEST(points_of_queries),
    TEST(total_tokens_are_derived),
    TEST(fits),
    TEST(band_of_a_fit),
    TEST(power_has_two_fits),
    TEST(log_fit_needs_positive_tokens),
    TEST(hardware_names),
    TEST(density_of_output_tokens),
    TEST(density_needs_variation),
    TEST(distribution_of_latencies),
    TEST(energy_per_token_with_bounds),
    TEST(accuracy_of_subjects),
    TEST(rails_are_sums_of_devices),
    TEST(what_is_missing_is_said),
};
TEST_MAIN(tests)
