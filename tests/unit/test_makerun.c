/*
 * What makerun makes is what it says: read back by the run's reader and by ipw's own validation.
 */
#include "harness.h"

#include "makerun.h"

#include "analysis/run.h"
#include "base/alloc.h"
#include "base/fs.h"
#include "store/rundir.h"
#include "store/validate.h"

#include <fcntl.h>

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

static void assert_sound(const char *verdict)
{
    struct validation v;

    validate_run(path, &v);
    for (size_t i = 0; i < v.n; i++)
        if (v.findings[i].fatal)
            fail_msg("%s", v.findings[i].text);
    assert_true(v.sound);
    assert_string_equal(v.verdict, verdict);
    validation_release(&v);
}

static void records_follow_the_truth(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *r;
    struct makerun_truth truth;
    double joules = 0;
    int64_t ok = 0, correct = 0;

    (void)state;
    m.records = 400;
    m.failed_fraction = 0.1;
    m.energy_noise_j = m.ttft_noise_s = 0;
    assert_ok(makerun(&m, path, &truth, &err), &err);
    assert_sound("degraded"); /* some queries failed */
    assert_ok(run_open(path, &run, &err), &err);
    assert_int_equal(run_rows(run), 400);
    for (int64_t i = 0; run_next(run, &r, &err) > 0; i++) {
        assert_int_equal(r->request.index, i);
        joules += record_joules(r);
        if (!record_ok(r)) {
            assert_int_equal(r->tokens.input, -1);
            assert_true(isnan(r->latency.ttft_s) && isnan(r->phase.decode_j));
            assert_int_equal(r->measurement.validity, VALIDITY_DEGRADED);
            continue;
        }
        ok++;
        correct += r->correct == 1;
        assert_near(record_joules(r), 20 + 0.5 * (double)r->tokens.total, 1e-9);
        assert_near(r->latency.ttft_s, 0.05 + 0.0005 * (double)r->tokens.input, 1e-12);
        assert_int_equal(json_int(json_get(r->metadata, "level"), -1), i % 5);
    }
    assert_int_equal(ok, truth.ok);
    assert_int_equal(ok + truth.failed, 400);
    assert_in_range(truth.failed, 20, 60);
    assert_int_equal(correct, truth.correct);
    assert_near((double)correct / (double)truth.scored, 0.7, 0.1);
    assert_near(joules, truth.joules, 1e-6);
    assert_near(json_real(json_path(run_summary(run), "totals", "query_joules"), 0), truth.joules,
                1e-6);
}

struct counter {
    struct run *run;
    double from_s, to_s;
    double first_j, last_j; /* of both counters at the ends of the time */
    int64_t samples, breaks;
    double longest_s, last_s;
};

static int count(void *arg, const struct sample *s)
{
    struct counter *c = arg;
    const struct sampled_channel *channels;
    size_t n = run_channels(c->run, &channels);

    assert_true(s->channel < n);
    c->samples++;
    c->breaks += s->is_break;
    if (s->time_s - c->last_s > c->longest_s)
        c->longest_s = s->time_s - c->last_s;
    c->last_s = s->time_s;
    if (channels[s->channel].quantity != QUANTITY_ENERGY_J)
        return 0;
    if (fabs(s->time_s - c->from_s) < 1e-9)
        c->first_j += s->value;
    if (fabs(s->time_s - c->to_s) < 1e-9)
        c->last_j += s->value;
    return 0;
}

/* Without pauses all energy of the run is that of its queries. */
static void the_counters_show_the_records_energy(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    struct counter c = {0};
    struct makerun_truth truth;

    (void)state;
    m.pause_s = 0;
    m.telemetry_hz = 10;
    m.telemetry_s = 1000; /* longer than the records take */
    assert_ok(makerun(&m, path, &truth, &err), &err);
    assert_sound("valid");
    assert_ok(run_open(path, &run, &err), &err);
    c = (struct counter){.run = run, .from_s = 0, .to_s = 1000};
    assert_int_equal(run_samples(run, count, &c, &err), 0);
    assert_int_equal(c.samples, truth.samples);
    assert_int_equal(c.samples, 5 * 10001);
    assert_int_equal(c.breaks, 5);
    assert_true(c.first_j == 0);
    assert_near(c.last_j, truth.joules + (1000 - truth.seconds) * (60 + 20), 1e-3);
}

static void a_gap_in_the_samples(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    struct counter c = {0};

    (void)state;
    m.telemetry_s = 60;
    m.gap_from_s = 10;
    m.gap_s = 5;
    m.gap_breaks = true;
    m.concurrency = 8;
    m.gpu_name = NULL;
    m.energy_source = "estimated";
    assert_ok(makerun(&m, path, NULL, &err), &err);
    assert_sound("degraded");
    assert_ok(run_open(path, &run, &err), &err);
    c.run = run;
    assert_int_equal(run_samples(run, count, &c, &err), 0);
    assert_near(c.longest_s, 5.02, 0.03);
    assert_int_equal(c.breaks, 4); /* two channels, at the start and behind the gap */
}

static char *slurp(const char *name)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 28);
    AUTO_FREE char *file = xasprintf("%s/%s", path, name);

    assert_ok(fs_read_all(AT_FDCWD, file, &text, &err), &err);
    return xstrdup(buf_str(&text));
}

static void the_seed_decides(void **state)
{
    struct makerun m = makerun_default();
    AUTO_FREE char *first = NULL, *again = NULL, *other = NULL;

    (void)state;
    assert_ok(makerun(&m, path, NULL, &err), &err);
    first = slurp("summary.json");
    assert_ok(fs_remove_tree(AT_FDCWD, path, &err), &err);
    assert_ok(makerun(&m, path, NULL, &err), &err);
    again = slurp("summary.json");
    assert_ok(fs_remove_tree(AT_FDCWD, path, &err), &err);
    m.seed++;
    assert_ok(makerun(&m, path, NULL, &err), &err);
    other = slurp("summary.json");
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
}

static void no_energy_no_score_no_text_of_ours(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *r;

    (void)state;
    makerun_set_hostile(&m);
    m.energy_source = "none";
    m.accuracy = NAN;
    assert_ok(makerun(&m, path, NULL, &err), &err);
    assert_ok(run_open(path, &run, &err), &err);
    assert_string_equal(json_text(json_path(run_summary(run), "validity", "verdict"), ""),
                        "invalid");
    assert_string_equal(run_model(run), m.model);
    for (size_t i = 0; run_next(run, &r, &err) > 0; i++) {
        assert_true(isnan(record_joules(r)));
        assert_int_equal(r->correct, -1);
        assert_string_equal(r->problem, m.texts[i % m.n_texts]);
        assert_string_equal(r->subject, m.subjects[i % m.n_subjects]);
        assert_string_equal(r->measurement.reasons[0], "no_energy");
    }
    assert_int_equal(run_samples(run, NULL, NULL, &err), 0);
}

static void joules_are_scaled(void **state)
{
    struct makerun m = makerun_default();
    struct makerun_truth truth;

    (void)state;
    m.records = 2000;
    m.telemetry_s = 0;
    m.reason = REASON_THROTTLED;
    m.reason_fraction = 0.5;
    m.noted = REASON_ON_BATTERY;
    makerun_set_joules(&m, 33);
    assert_ok(makerun(&m, path, &truth, &err), &err);
    assert_near(truth.mean_j, 33, 1);
    assert_sound("degraded");
}

static void an_unfinished_run(void **state)
{
    struct makerun m = makerun_default();
    AUTO_PTR(run) struct run *run = NULL;

    (void)state;
    m.unfinished = true;
    assert_ok(makerun(&m, path, NULL, &err), &err);
    assert_int_equal(rundir_state(path), RUNDIR_UNFINISHED);
    assert_ok(run_open(path, &run, &err), &err);
    assert_int_equal(run_rows(run), 100);
    assert_null(run_summary(run));
}

#define WITH_DIR(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

static const struct CMUnitTest tests[] = {
    WITH_DIR(records_follow_the_truth), WITH_DIR(the_counters_show_the_records_energy),
    WITH_DIR(a_gap_in_the_samples),     WITH_DIR(the_seed_decides),
    WITH_DIR(joules_are_scaled),        WITH_DIR(no_energy_no_score_no_text_of_ours),
    WITH_DIR(an_unfinished_run),
};
TEST_MAIN(tests)
