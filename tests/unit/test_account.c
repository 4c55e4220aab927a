/*
 * The account over a real meter: a fake powercap whose curve is known on the monotonic clock, kept
 * up by a thread of the test. The curve changes slowly, so that a reading that comes late on a busy
 * machine costs little, and what is compared with it is only as near as that allows. What must add
 * up adds up exactly.
 */
#include "harness.h"

#include "base/fs.h"
#include "run/account.h"
#include "simpowercap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>

#define MS NS_PER_MS
/* Of the truth: the counter is renewed every 10 ms, but who knows when we were let run. */
#define NEAR 0.04

static struct err err;
static struct {
    char root[64];
    struct simcurve curve;
    struct simpowercap *tree;
    pthread_t thread;
    atomic_bool stop, hold;
} sim;

static void *keep_up(void *arg)
{
    (void)arg;
    while (!atomic_load(&sim.stop)) {
        if (!atomic_load(&sim.hold))
            simpowercap_update(sim.tree, NULL);
        mono_sleep_until(mono_now() + 10 * MS);
    }
    return NULL;
}

static int start(void **state)
{
    struct simpowercap_zone zones[] = {{"package-0", &sim.curve}};

    (void)state;
    make_temp_dir(sim.root);
    setenv("IPW_SYSFS_ROOT", sim.root, 1);
    assert_int_equal(simcurve_parse(&sim.curve, "sine:180,60,2"), 0);
    assert_ok(simpowercap_open(sim.root, zones, 1, 262144, &sim.tree, &err), &err);
    atomic_store(&sim.stop, false);
    assert_int_equal(pthread_create(&sim.thread, NULL, keep_up, NULL), 0);
    return 0;
}

static int finish(void **state)
{
    (void)state;
    atomic_store(&sim.stop, true);
    pthread_join(sim.thread, NULL);
    simpowercap_close(sim.tree);
    simcurve_release(&sim.curve);
    return fs_remove_tree(AT_FDCWD, sim.root, NULL);
}

static double truth_j(mono_ns a, mono_ns b)
{
    return simcurve_joules(&sim.curve, ns_to_s(b)) - simcurve_joules(&sim.curve, ns_to_s(a));
}

/* A meter that has found its rhythm, and an account that begins now. */
struct desk {
    struct meter *meter;
    struct account *account;
    mono_ns begun;
};

static void desk_open(struct desk *d, double idle_w)
{
    struct meter_options options = {.collectors = "rapl", .period_ns = 2 * MS};
    double idle[RAIL_COUNT];

    for (size_t i = 0; i < RAIL_COUNT; i++)
        idle[i] = NAN;
    idle[RAIL_CPU] = idle_w;
    assert_ok(meter_open(&options, &d->meter, &err), &err);
    meter_settle(d->meter);
    d->begun = mono_now();
    d->account = account_open(d->meter, idle, d->begun);
}

static void desk_close(struct desk *d)
{
    account_close(d->account);
    meter_close(d->meter);
}

static mono_ns pause_ms(int ms)
{
    mono_sleep_until(mono_now() + ms * MS);
    return mono_now();
}

/* A reply that came in two pieces, the first half-way. */
static struct response reply(mono_ns sent, mono_ns end)
{
    struct response r;

    response_init(&r, 1 << 20);
    r.sent = sent;
    response_delta(&r, DELTA_ANSWER, "x", 1, sent + (end - sent) / 2);
    response_delta(&r, DELTA_ANSWER, "x", 1, end);
    r.end = end;
    r.usage.prompt_tokens = 10;
    r.usage.completion_tokens = 2;
    return r;
}

static void end(struct desk *d, struct stay *s, struct response *r, void *query)
{
    account_end(d->account, s, r, query);
}

/* The next that is settled; the test's time limit is the limit. */
static struct attributed taken(struct desk *d)
{
    struct attributed a;

    while (account_advance(d->account, mono_now()), !account_take(d->account, &a))
        pause_ms(5);
    return a;
}

static void settled_until(struct desk *d, mono_ns t)
{
    while (account_settled(d->account) < t) {
        account_advance(d->account, t);
        pause_ms(5);
    }
}

static void assert_relative(double actual, double expected, double tolerance)
{
    if (!(fabs(actual / expected - 1) <= tolerance))
        fail_msg("%.9g is not %.9g within %g", actual, expected, tolerance);
}

/* What all tests end with: the parts are the meter, to rounding. */
static void assert_adds_up(struct desk *d, double queries_j)
{
    struct attribution_totals t = account_totals(d->account, RAIL_CPU);

    assert_int_equal(account_pending(d->account), 0);
    assert_true(account_imbalance(d->account) < 1e-9);
    assert_relative(t.queries_j + t.idle_j + t.unattributed_j, t.meter_j, 1e-9);
    assert_near(t.unattributed_j, 0, 0);
    assert_relative(queries_j, t.queries_j, 1e-9);
    assert_relative(t.meter_j, truth_j(d->begun, account_settled(d->account)), NEAR);
}

static void one_alone_has_the_meter(void **state)
{
    struct desk d;
    struct attributed a;
    struct build_input in;
    struct response r;
    struct stay *s;
    mono_ns sent, over;
    int query;

    (void)state;
    desk_open(&d, 25);
    assert_int_equal(account_basis(d.account), BASIS_CPU);
    assert_true(account_has(d.account, RAIL_CPU));
    assert_false(account_has(d.account, RAIL_GPU));
    sent = pause_ms(100);
    s = account_begin(d.account, sent);
    assert_int_equal(account_pending(d.account), 1);
    over = pause_ms(400);
    account_advance(d.account, mono_now());
    assert_true(account_settled(d.account) <= sent); /* it holds everything up */
    r = reply(sent, over);
    end(&d, s, &r, &query);
    a = taken(&d);
    assert_ptr_equal(a.query, &query);
    assert_true(a.exclusive);
    assert_near(a.held_s, ns_to_s(over - sent), 1e-9);
    assert_relative(a.rails[RAIL_CPU].tokens_j, truth_j(sent, over), NEAR);
    assert_relative(a.rails[RAIL_CPU].prefill_j, truth_j(sent, r.first_token), 2 * NEAR);
    assert_true(isnan(a.rails[RAIL_GPU].tokens_j));

    build_input_init(&in);
    account_fill(d.account, &r, &in);
    assert_int_equal(in.basis, BASIS_CPU);
    assert_null(in.gpu);
    assert_int_equal(in.n_gpus, 0);
    assert_true(in.rails[RAIL_CPU].present && !in.rails[RAIL_CPU].estimated);
    assert_false(in.rails[RAIL_GPU].present);
    assert_near(in.rails[RAIL_CPU].idle_w, 25, 0);
    /* alone, by either way of reckoning */
    assert_relative(in.rails[RAIL_CPU].energy.joules, a.rails[RAIL_CPU].tokens_j, 1e-6);
    assert_relative(in.rails[RAIL_CPU].prefill.joules + in.rails[RAIL_CPU].decode.joules,
                    in.rails[RAIL_CPU].energy.joules, 1e-9);
    assert_true(in.rails[RAIL_CPU].energy.low_j <= truth_j(sent, over));
    assert_true(in.rails[RAIL_CPU].energy.high_j >= truth_j(sent, over));
    settled_until(&d, over + 100 * MS);
    assert_adds_up(&d, a.rails[RAIL_CPU].tokens_j);
    response_release(&r);
    desk_close(&d);
}

static void overlapping_ones_share(void **state)
{
    struct desk d;
    struct response r[2];
    struct stay *s[2];
    mono_ns sent[2], over[2];
    double sum = 0, alone;
    int queries[2];

    (void)state;
    desk_open(&d, NAN);
    sent[0] = mono_now();
    s[0] = account_begin(d.account, sent[0]);
    sent[1] = pause_ms(200);
    s[1] = account_begin(d.account, sent[1]);
    over[0] = pause_ms(200);
    r[0] = reply(sent[0], over[0]);
    end(&d, s[0], &r[0], &queries[0]);
    account_advance(d.account, mono_now());
    assert_int_equal(account_pending(d.account), 2); /* the first waits for the second */
    over[1] = pause_ms(200);
    r[1] = reply(sent[1], over[1]);
    end(&d, s[1], &r[1], &queries[1]);
    for (int i = 0; i < 2; i++) {
        struct attributed a = taken(&d);

        assert_ptr_equal(a.query, &queries[i]);
        assert_false(a.exclusive);
        sum += a.rails[RAIL_CPU].tokens_j;
        alone = i == 0 ? truth_j(sent[0], sent[1]) : truth_j(over[0], over[1]);
        assert_relative(a.rails[RAIL_CPU].equal_j, alone + truth_j(sent[1], over[0]) / 2, NEAR);
        response_release(&r[i]);
    }
    assert_relative(sum, truth_j(sent[0], over[1]), NEAR);
    settled_until(&d, over[1]);
    assert_adds_up(&d, sum);
    desk_close(&d);
}

static void what_lies_between_is_idle(void **state)
{
    struct desk d;
    double sum = 0, idle = 0;
    mono_ns before;

    (void)state;
    desk_open(&d, NAN);
    before = d.begun;
    for (int i = 0; i < 3; i++) {
        mono_ns sent = pause_ms(150), over;
        struct stay *s = account_begin(d.account, sent);
        struct response r;

        over = pause_ms(150);
        r = reply(sent, over);
        end(&d, s, &r, &d);
        sum += taken(&d).rails[RAIL_CPU].tokens_j;
        idle += truth_j(before, sent);
        before = over;
        response_release(&r);
    }
    settled_until(&d, before);
    assert_relative(account_totals(d.account, RAIL_CPU).idle_j, idle, NEAR);
    assert_adds_up(&d, sum);
    desk_close(&d);
}

/* An attempt that was repeated: its energy was spent, and is counted, but is no query's. */
static void one_nobody_waits_for(void **state)
{
    struct desk d;
    struct response r[2];
    struct stay *s[2];
    struct attributed a;
    mono_ns sent = mono_now(), over;
    int query;

    (void)state;
    desk_open(&d, NAN);
    sent = mono_now();
    s[0] = account_begin(d.account, sent);
    s[1] = account_begin(d.account, sent);
    over = pause_ms(300);
    r[0] = reply(sent, over);
    r[1] = reply(sent, over);
    r[0].failure = FAILURE_CUT;
    end(&d, s[0], &r[0], NULL);
    end(&d, s[1], &r[1], &query);
    a = taken(&d);
    assert_ptr_equal(a.query, &query);
    settled_until(&d, over);
    assert_false(account_take(d.account, &a));
    assert_relative(account_nobodys(d.account), truth_j(sent, over) / 2, NEAR);
    assert_adds_up(&d, a.rails[RAIL_CPU].tokens_j + account_nobodys(d.account));
    response_release(&r[0]);
    response_release(&r[1]);
    desk_close(&d);
}

/* No connection came up: what the machine has is known, what it spent on it is not. */
static void one_never_sent(void **state)
{
    struct desk d;
    struct build_input in;
    struct response r;

    (void)state;
    desk_open(&d, 25);
    response_init(&r, 1 << 10);
    r.failure = FAILURE_CONNECT;
    build_input_init(&in);
    account_fill(d.account, &r, &in);
    assert_int_equal(in.basis, BASIS_CPU);
    assert_true(in.rails[RAIL_CPU].present);
    assert_near(in.rails[RAIL_CPU].idle_w, 25, 0);
    assert_true(isnan(in.rails[RAIL_CPU].energy.joules));
    assert_true(isnan(in.rails[RAIL_CPU].power_w.avg));
    assert_int_equal(account_pending(d.account), 0);
    response_release(&r);
    desk_close(&d);
}

/* Sent before what is settled: the account cannot go back. */
static void a_late_beginning(void **state)
{
    struct desk d;
    struct response r;
    struct attributed a;
    struct stay *s;
    mono_ns line, over;

    (void)state;
    desk_open(&d, NAN);
    line = pause_ms(100);
    settled_until(&d, line);
    s = account_begin(d.account, line - 50 * MS);
    over = pause_ms(200);
    r = reply(line - 50 * MS, over);
    end(&d, s, &r, &d);
    a = taken(&d);
    assert_near(a.held_s, ns_to_s(over - line), 1e-9);
    assert_relative(a.rails[RAIL_CPU].tokens_j, truth_j(line, over), NEAR);
    settled_until(&d, over);
    assert_adds_up(&d, a.rails[RAIL_CPU].tokens_j);
    response_release(&r);
    desk_close(&d);
}

/* The meter stops before it has seen the end: the query comes back all the same. */
static void the_last_call(void **state)
{
    struct desk d;
    struct response r;
    struct attributed a;
    struct stay *s;
    mono_ns sent, over;

    (void)state;
    desk_open(&d, NAN);
    sent = mono_now();
    s = account_begin(d.account, sent);
    over = pause_ms(200);
    r = reply(sent, over);
    end(&d, s, &r, &d);
    account_last_call(d.account);
    account_advance(d.account, over);
    assert_true(account_take(d.account, &a));
    assert_int_equal(account_settled(d.account), over);
    assert_int_equal(account_pending(d.account), 0);
    assert_true(account_imbalance(d.account) < 1e-9);
    response_release(&r);
    desk_close(&d);
}

/* The counter stands still where the query begins or ends. What it did not show in time is neither
 * lost nor counted twice, and record and idle make the whole. */
static struct record stands_still(struct desk *d, bool at_end, double *ret_truth_j)
{
    static struct attributed a;
    static struct item item = {.problem = "?"};
    struct build_input in;
    struct record record;
    struct response r;
    struct stay *s;
    mono_ns sent, over;

    desk_open(d, NAN);
    pause_ms(100);
    atomic_store(&sim.hold, !at_end);
    sent = pause_ms(50);
    s = account_begin(d->account, sent);
    for (int i = 0; i < 20; i++) {
        account_advance(d->account, mono_now());
        pause_ms(10);
    }
    atomic_store(&sim.hold, at_end);
    over = pause_ms(200);
    r = reply(sent, over);
    end(d, s, &r, d);
    a = taken(d); /* without waiting for the counter */
    build_input_init(&in);
    in.response = &r;
    in.item = &item;
    in.model = "m";
    in.attributed = &a;
    account_fill(d->account, &r, &in);
    build_record(&in, &record);
    atomic_store(&sim.hold, false);
    pause_ms(100);
    settled_until(d, mono_now());
    *ret_truth_j = truth_j(sent, over);
    response_release(&r);
    assert_relative(account_totals(d->account, RAIL_CPU).meter_j,
                    truth_j(d->begun, account_settled(d->account)), NEAR);
    assert_relative(record.energy.cpu_j + account_totals(d->account, RAIL_CPU).idle_j,
                    account_totals(d->account, RAIL_CPU).meter_j, 1e-9);
    assert_true(record.measurement.low_j <= record.energy.cpu_j);
    assert_true(account_imbalance(d->account) < 1e-9);
    return record;
}

static void a_counter_that_stands_still(void **state)
{
    struct desk d;
    struct record record;
    double truth;

    (void)state;
    record = stands_still(&d, false, &truth);
    assert_relative(record.energy.cpu_j, truth, 2 * NEAR);
    assert_true(record.measurement.high_j >= record.energy.cpu_j);
    desk_close(&d);
    record = stands_still(&d, true, &truth); /* the end is not known: from below only */
    assert_true(record.energy.cpu_j < truth * (1 + NEAR));
    assert_true(isnan(record.measurement.high_j));
    desk_close(&d);
}

static size_t remembered(struct desk *d)
{
    static struct series s;
    size_t n;

    sampler_copy(meter_sampler(d->meter), 0, d->begun, mono_now(), &s);
    n = s.n_ticks;
    series_release(&s);
    return n;
}

/* Three seconds are kept for those who want to see the present, and all that a query in flight
 * still needs. */
static void history_is_forgotten(void **state)
{
    struct desk d;
    struct response r;
    struct stay *s;
    mono_ns sent, over;
    size_t whole, then;
    struct attributed a;

    (void)state;
    desk_open(&d, NAN);
    sent = mono_now();
    s = account_begin(d.account, sent);
    for (over = sent; over < sent + 4500 * MS; over = pause_ms(50))
        account_advance(d.account, mono_now());
    whole = remembered(&d);
    r = reply(sent, over);
    end(&d, s, &r, &d);
    a = taken(&d);
    assert_relative(a.rails[RAIL_CPU].tokens_j, truth_j(sent, over), 0.01);
    settled_until(&d, over);
    account_advance(d.account, over); /* taken since: nobody needs it any more */
    then = remembered(&d);
    print_message("%zu ticks with a query in flight, %zu after it\n", whole, then);
    assert_true(whole > 100); /* every change of 4.5 s but for those the machine lost */
    assert_true(then < whole - whole / 5);
    response_release(&r);
    desk_close(&d);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(one_alone_has_the_meter),
    cmocka_unit_test(overlapping_ones_share),
    cmocka_unit_test(what_lies_between_is_idle),
    cmocka_unit_test(one_nobody_waits_for),
    cmocka_unit_test(one_never_sent),
    cmocka_unit_test(a_late_beginning),
    cmocka_unit_test(the_last_call),
    cmocka_unit_test(a_counter_that_stands_still),
    cmocka_unit_test(history_is_forgotten),
};

int main(void)
{
    return cmocka_run_group_tests(tests, start, finish);
}
