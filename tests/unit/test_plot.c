/*
 * Figures of whole runs: measured, estimated, without energy, hostile, killed, the Python tool's,
 * several at once. Their truth is known (makerun.h).
 */
#include "harness.h"

#include "analysis/run.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/utf8.h"
#include "core/stats.h"
#include "figure_check.h"
#include "makerun.h"
#include "plot/overview.h"
#include "plot/plot.h"

#include <errno.h>
#include <fcntl.h>

static struct err err;
static char base[64];

static int set_up(void **state)
{
    (void)state;
    make_temp_dir(base);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return fs_remove_tree(AT_FDCWD, base, &err);
}

static struct run *make(const struct makerun *m, const char *name, struct makerun_truth *truth)
{
    AUTO_FREE char *dir = xasprintf("%s/%s", base, name);
    struct run *run = NULL;

    assert_ok(makerun(m, dir, truth, &err), &err);
    assert_ok(run_open(dir, &run, &err), &err);
    return run;
}

/* Draws and checks what holds of every figure; the caller frees the chart. */
static int draw_all(const char *id, struct run *const *runs, size_t n, struct chart **ret)
{
    AUTO_PTR(chart) struct chart *c = chart_new(800, 500, false);
    AUTO(buf) struct buf svg = BUF_INIT(BUF_MAX_OWN);
    const struct plot_ops *ops = plot_find(id, &err);
    double width, height;
    int r;

    assert_non_null(ops);
    r = ops->draw(c, runs, n, &err);
    if (r < 0)
        return r;
    assert_ok(chart_render(c, PLOT_SVG, &svg, &err), &err);
    width = strtod(strstr(svg.data, " width=\"") + 8, NULL);
    height = strtod(strstr(svg.data, " height=\"") + 9, NULL);
    check_texts(c, width, height);
    check_marks(c, &svg, 150);
    assert_true(utf8_valid(svg.data, svg.len));
    *ret = STEAL(c);
    return 0;
}

static struct chart *draw(const char *id, struct run *run)
{
    struct chart *c = NULL;

    assert_ok(draw_all(id, &run, 1, &c), &err);
    return c;
}

static const char *const of_one_run[] = {"ttft",        "latency",          "energy",
                                         "power",       "output_kde",       "power_trace",
                                         "latency_cdf", "energy_per_token", "accuracy_by_subject"};
#define N_OF_ONE (sizeof(of_one_run) / sizeof(*of_one_run))

static void registry_knows_them(void **state)
{
    size_t n = 0;

    (void)state;
    for (const struct plugin *const *p = plots.items; *p; p++, n++)
        assert_ptr_equal(plot_find((*p)->id, &err), *p);
    assert_int_equal(n, 11);
    assert_null(plot_find("powertrace", &err));
    assert_non_null(strstr(err.text, "power_trace"));
    assert_true(plot_find("sweep", &err)->several && !plot_find("ttft", &err)->several);
}

/* The lines are those the records were made by. */
static void fits_find_the_truth(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    AUTO_PTR(chart) struct chart *ttft = NULL, *energy = NULL;
    const struct chart_mark *a, *b;
    struct makerun_truth truth;
    const struct record *r;

    (void)state;
    m.records = 500;
    m.failed_fraction = 0.1;
    run = make(&m, "r", &truth);
    ttft = draw("ttft", run);
    assert_int_equal(count_marks(ttft, MARK_POINT, -1), truth.ok);
    a = mark_of(ttft, MARK_VERTEX, -1, 0);
    b = mark_of(ttft, MARK_VERTEX, -1, 199);
    assert_near((b->y - a->y) / (b->x - a->x), m.ttft_per_input_token_s, 5e-6);
    energy = draw("energy", run);
    a = mark_of(energy, MARK_VERTEX, -1, 0);
    b = mark_of(energy, MARK_VERTEX, -1, 199);
    assert_near((b->y - a->y) / (b->x - a->x), m.energy_per_token_j, 0.01);
    assert_near(a->y - m.energy_per_token_j * a->x, m.energy_base_j, 2);
    assert_false(has_text(energy, "ESTIMATED"));
    /* every successful query is a point */
    assert_ok(run_rewind(run, &err), &err);
    for (size_t seen = 0; run_next(run, &r, &err) > 0 && seen < 40; seen++) {
        bool found = !record_ok(r);

        for (size_t i = 0; i < (size_t)truth.ok && !found; i++) {
            const struct chart_mark *p = mark_of(energy, MARK_POINT, -1, i);

            found = p->x == (double)r->tokens.total && p->y == record_joules(r);
        }
        assert_true(found);
    }
}

/* The area under a rail's line over a query is the query's energy; the gap is open. */
static void power_trace_is_the_energy(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    AUTO_PTR(chart) struct chart *c = NULL;
    const struct chart_mark *marks;
    const struct record *r;
    size_t n, starts = 0;
    double joules = 0;

    (void)state;
    m.records = 10;
    m.gap_from_s = 6;
    m.gap_s = 3;
    m.gap_breaks = true;
    run = make(&m, "r", NULL);
    c = draw("power_trace", run);
    n = chart_marks(c, &marks);
    assert_ok(run_rewind(run, &err), &err);
    assert_int_equal(run_next(run, &r, &err), 1);
    for (size_t i = 1; i < n; i++) {
        const struct chart_mark *a = &marks[i - 1], *b = &marks[i];

        if (b->kind != MARK_VERTEX || b->series != 0) /* gpu */
            continue;
        starts += b->starts;
        if (a->kind == MARK_VERTEX && a->series == 0 && !b->starts && b->x <= r->request.end_s)
            joules += (b->x - a->x) * (a->y + b->y) / 2;
        if (a->kind == MARK_VERTEX && a->series == 0)
            assert_true(b->starts ? a->x < 6 + 1e-9 && b->x > 9 - 1e-9 : b->x - a->x < 0.021);
    }
    starts += marks[0].starts && marks[0].kind == MARK_VERTEX;
    assert_near(joules, r->energy.gpu_j, 0.03 * r->energy.gpu_j);
    assert_true(starts == 1 || starts == 2); /* the first vertex may follow a span */
    assert_int_equal(count_marks(c, MARK_SPAN, -1), 10);
    assert_near(mark_of(c, MARK_SPAN, -1, 0)->x, r->request.sent_s, 1e-6);
    assert_near(mark_of(c, MARK_SPAN, -1, 0)->x2, r->request.end_s, 1e-6);
    assert_near(mark_of(c, MARK_RULE, -1, 0)->y, m.gpu_idle_w, 0);
    assert_near(mark_of(c, MARK_RULE, -1, 1)->y, m.cpu_idle_w, 0);
    assert_true(has_text(c, "gpu, idle 60 W (dashed)") && has_text(c, "1 gap in the line"));
}

static void long_traces_are_thinned(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    AUTO_PTR(chart) struct chart *c = NULL;

    (void)state;
    m.concurrency = 4;
    m.telemetry_hz = 1000;
    run = make(&m, "r", NULL);
    c = draw("power_trace", run);
    assert_in_range(count_marks(c, MARK_VERTEX, 0), 1000, 6000);
    assert_in_range(count_marks(c, MARK_BAND, 0), 1000, 6000);
    assert_true(has_text(c, "band: lowest and highest power in it"));
}

static void estimates_are_labelled(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;

    (void)state;
    m.energy_source = "estimated";
    m.gpu_name = NULL;
    run = make(&m, "r", NULL);
    for (size_t i = 0; i < N_OF_ONE; i++) {
        AUTO_PTR(chart) struct chart *c = draw(of_one_run[i], run);
        bool of_energy = strstr("energy power power_trace energy_per_token", of_one_run[i]);

        if (has_text(c, "ESTIMATED energy") != of_energy)
            fail_msg("%s %s", of_one_run[i], of_energy ? "is not labelled" : "is labelled");
    }
    {
        AUTO_PTR(chart) struct chart *c = draw("energy_per_token", run);

        assert_int_equal(count_marks(c, MARK_BAND, -1), 0); /* the model's error is not known */
    }
}

static void without_energy(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;

    (void)state;
    m.energy_source = "none";
    m.accuracy = NAN;
    run = make(&m, "r", NULL);
    for (size_t i = 0; i < N_OF_ONE; i++) {
        AUTO_PTR(chart) struct chart *c = NULL;
        int r = draw_all(of_one_run[i], &run, 1, &c);
        bool needs =
            strstr("energy power power_trace energy_per_token accuracy_by_subject", of_one_run[i]);

        assert_int_equal(r, needs ? -ENODATA : 0);
    }
}

/* Names that would break a page; every figure, every format, both themes. */
static void hostile_names(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;

    (void)state;
    m.records = 40;
    makerun_set_hostile(&m);
    run = make(&m, "r", NULL);
    for (size_t i = 0; i < N_OF_ONE; i++) {
        chart_free(draw(of_one_run[i], run));
        for (int format = PLOT_PNG; format <= PLOT_PDF; format++) {
            struct plot_options options = {.format = (enum plot_format)format, .dark = true};
            AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);

            assert_ok(plot_render(plot_find(of_one_run[i], &err), &run, 1, &options, &out, &err),
                      &err);
            assert_true(out.len > 1000);
            if (format == PLOT_SVG)
                assert_null(strstr(out.data, "<script"));
        }
    }
}

/* Subjects without end and with very long names still make a picture. */
static void too_many_subjects(void **state)
{
    static char names[300][200];
    static const char *subjects[300];
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    AUTO_PTR(chart) struct chart *c = NULL;

    (void)state;
    for (size_t i = 0; i < 300; i++) {
        snprintf(names[i], sizeof(names[i]), "%zu %0150d", i, 7);
        subjects[i] = names[i];
    }
    m.records = 600;
    m.subjects = subjects;
    m.n_subjects = 300;
    run = make(&m, "r", NULL);
    c = draw("accuracy_by_subject", run);
    assert_int_equal(count_marks(c, MARK_POINT, -1), 40);
    assert_true(has_text(c, "260 subjects with fewer answers are not shown"));
}

static void killed_and_foreign_runs(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL, *python = NULL;
    AUTO_PTR(chart) struct chart *trace = NULL, *cdf = NULL, *energy = NULL;

    (void)state;
    m.unfinished = true;
    run = make(&m, "r", NULL);
    trace = draw("power_trace", run);
    assert_int_equal(count_marks(trace, MARK_RULE, -1), 0); /* no summary, no idle level */
    cdf = draw("latency_cdf", run);
    assert_true(has_text(cdf, "Hardware: NVIDIA H100 80GB HBM3")); /* by the records */
    {
        AUTO_FREE char *dir = xasprintf("%s/hf/profile_seed", FIXTURES);
        AUTO_FREE char *copy = xasprintf("cp -r %s %s/python", dir, base);
        AUTO_FREE char *there = xasprintf("%s/python", base);

        assert_int_equal(system(copy), 0);
        assert_ok(run_open(there, &python, &err), &err);
        energy = draw("energy", python);
        assert_true(count_marks(energy, MARK_POINT, -1) > 0);
    }
}

/* Runs of one model are told apart by their folder, and folders of one name by their path. */
static void names_tell_runs_apart(void **state)
{
    struct makerun m = makerun_default();
    struct run *runs[3];
    struct overview *o = NULL;

    (void)state;
    m.records = 20;
    m.telemetry_s = 0;
    m.model = "m";
    runs[0] = make(&m, "one", NULL);
    runs[1] = make(&m, "two", NULL);
    assert_ok(overviews_read(runs, 1, &o, &err), &err);
    assert_string_equal(o[0].name, "m");
    overviews_free(o, 1);
    assert_ok(overviews_read(runs, 2, &o, &err), &err);
    assert_string_equal(o[0].name, "m (one)");
    assert_string_equal(o[1].name, "m (two)");
    overviews_free(o, 2);
    runs[2] = runs[1];
    assert_ok(overviews_read(runs, 3, &o, &err), &err);
    assert_string_equal(o[0].name, "m (one)");
    assert_non_null(strstr(o[1].name, "/two)"));
    assert_string_not_equal(o[1].name, "m (two)");
    overviews_free(o, 3);
    run_close(runs[0]);
    run_close(runs[1]);
}

static void frontier(void **state)
{
    static const double joules[] = {50, 100, 200}, accuracy[] = {0.5, 0.9, 0.6};
    struct makerun m = makerun_default();
    struct makerun_truth truth[3];
    struct run *runs[4];
    AUTO_PTR(chart) struct chart *c = NULL, *most = NULL;
    char name[] = "m0";

    (void)state;
    m.records = 200;
    m.telemetry_s = 0;
    for (int i = 0; i < 3; i++) {
        name[1] = (char)('0' + i);
        m.model = i ? name : "a rather long name of a model, longer than the legend has room for";
        m.accuracy = accuracy[i];
        m.seed = (uint64_t)i;
        makerun_set_joules(&m, joules[i]);
        runs[2 - i] = make(&m, name, &truth[i]);
    }
    assert_ok(draw_all("efficiency_frontier", runs, 3, &c), &err);
    assert_int_equal(count_marks(c, MARK_POINT, -1), 3);
    for (size_t i = 0; i < 3; i++) { /* the cheapest first */
        const struct chart_mark *p = mark_of(c, MARK_POINT, -1, i);

        assert_near(p->x, truth[i].mean_j, 1e-6 * truth[i].mean_j);
        assert_near(p->y, (double)truth[i].correct / (double)truth[i].scored, 1e-12);
    }
    /* first, up to the second, on to the third, which it does not reach */
    assert_int_equal(count_marks(c, MARK_VERTEX, -1), 4);
    assert_near(mark_of(c, MARK_VERTEX, -1, 1)->x, truth[1].mean_j, 1e-6 * truth[1].mean_j);
    assert_near(mark_of(c, MARK_VERTEX, -1, 2)->y, mark_of(c, MARK_POINT, -1, 1)->y, 1e-12);
    assert_near(mark_of(c, MARK_VERTEX, -1, 3)->x, truth[2].mean_j, 1e-6 * truth[2].mean_j);
    assert_near(mark_of(c, MARK_VERTEX, -1, 3)->y, mark_of(c, MARK_POINT, -1, 1)->y, 1e-12);
    assert_int_equal(count_marks(c, MARK_WHISKER, -1), 6);
    m.energy_source = "none";
    runs[3] = make(&m, "none", NULL);
    assert_ok(draw_all("efficiency_frontier", runs, 4, &most), &err);
    assert_true(has_text(most, "1 of 4 runs have no scored answers or no energy"));
    {
        struct run *two[] = {runs[0], runs[3]};
        struct chart *none = NULL;

        assert_fails(draw_all("efficiency_frontier", two, 2, &none), ENODATA, &err, "only 1 of 2");
        assert_fails(draw_all("efficiency_frontier", two, 1, &none), ENODATA, &err, "two");
    }
    for (size_t i = 0; i < 4; i++)
        run_close(runs[i]);
}

static double p95_of(struct run *run)
{
    const struct record *r;
    double values[300];
    size_t n = 0;

    assert_ok(run_rewind(run, &err), &err);
    while (run_next(run, &r, &err) > 0)
        values[n++] = r->latency.total_s;
    n = stats_sort(values, n);
    return stats_percentile(values, n, 95);
}

static void sweep(void **state)
{
    static const int64_t loads[] = {16, 1, 4};
    struct makerun m = makerun_default();
    struct makerun_truth truth[3];
    struct run *runs[4];
    AUTO_PTR(chart) struct chart *c = NULL, *with_none = NULL;
    char name[] = "c0";

    (void)state;
    m.telemetry_s = 0;
    for (int i = 0; i < 3; i++) {
        name[1] = (char)('0' + i);
        m.concurrency = loads[i];
        m.seed = (uint64_t)i;
        runs[i] = make(&m, name, &truth[i]);
    }
    assert_ok(draw_all("sweep", runs, 3, &c), &err);
    assert_int_equal(count_marks(c, MARK_POINT, -1), 6);
    for (size_t i = 0; i < 3; i++) {
        static const size_t order[] = {1, 2, 0}; /* 1, 4, 16 */
        const struct chart_mark *j = mark_of(c, MARK_POINT, -1, i),
                                *s = mark_of(c, MARK_POINT, -1, 3 + i);
        size_t k = order[i];

        assert_int_equal(j->panel, 0);
        assert_int_equal(s->panel, 1);
        assert_near(j->x, (double)loads[k], 0);
        assert_near(s->x, (double)loads[k], 0);
        assert_near(j->y, truth[k].joules / (double)truth[k].output_tokens, 1e-9);
        assert_near(s->y, p95_of(runs[k]), 1e-12);
    }
    assert_true(has_text(c, "Queries in flight") && has_text(c, "llama3.2:1b"));
    m.unfinished = true; /* no summary: its load is not known */
    runs[3] = make(&m, "killed", NULL);
    assert_ok(draw_all("sweep", runs, 4, &with_none), &err);
    assert_true(has_text(with_none, "1 of 4 runs have no load"));
    {
        struct run *same[] = {runs[0], runs[0]}, *one[] = {runs[0], runs[3]};
        struct chart *none = NULL;

        assert_fails(draw_all("sweep", same, 2, &none), ENODATA, &err, "the same load");
        assert_fails(draw_all("sweep", one, 2, &none), ENODATA, &err, "only 1 of 2 runs");
    }
    for (size_t i = 0; i < 4; i++)
        run_close(runs[i]);
}

static void rendering(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    struct run *twice[2];
    AUTO(buf) struct buf one = BUF_INIT(BUF_MAX_OWN), two = BUF_INIT(BUF_MAX_OWN);
    struct plot_options options = {.format = PLOT_SVG, .width_px = 640, .height_px = 300};
    const struct plot_ops *ops = plot_find("latency_cdf", &err);

    (void)state;
    run = make(&m, "r", NULL);
    twice[0] = twice[1] = run;
    assert_ok(plot_render(ops, &run, 1, &options, &one, &err), &err);
    assert_non_null(strstr(one.data, "width=\"640px\" height=\"300px\""));
    assert_ok(plot_render(ops, &run, 1, &options, &two, &err), &err); /* reads from the start */
    assert_string_equal(one.data, two.data);
    buf_clear(&two);
    /* a chosen height is kept, whatever the figure would like */
    assert_ok(plot_render(plot_find("accuracy_by_subject", &err), &run, 1, &options, &two, &err),
              &err);
    assert_non_null(strstr(two.data, "height=\"300px\""));
    assert_fails(plot_render(ops, twice, 2, &options, &two, &err), EINVAL, &err, "of one run");
    assert_fails(plot_render(ops, &run, 0, &options, &two, &err), EINVAL, &err, "of one run");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
static const struct CMUnitTest tests[] = {
    cmocka_unit_test(registry_knows_them),
    TEST(fits_find_the_truth),
    TEST(power_trace_is_the_energy),
    TEST(long_traces_are_thinned),
    TEST(estimates_are_labelled),
    TEST(without_energy),
    TEST(hostile_names),
    TEST(too_many_subjects),
    TEST(killed_and_foreign_runs),
    TEST(names_tell_runs_apart),
    TEST(frontier),
    TEST(sweep),
    TEST(rendering),
};
TEST_MAIN(tests)
