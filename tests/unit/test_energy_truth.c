/* Windows on simulated counters, read by the sampler's own pace and history in virtual time,
 * against the truth. */
#include "harness.h"

#include "record/energy.h"
#include "simrun.h"

#include <stdbool.h>

#define MS NS_PER_MS

static const struct channel joules = {.quantity = QUANTITY_ENERGY_J, .range = NAN, .quantum = NAN};

/* Random numbers in a row. */
struct dice {
    uint64_t seed, thrown;
};

static double throw(struct dice * d, double low, double high)
{
    return low + (high - low) * sim_uniform(d->seed, d->thrown++);
}

static void random_power(struct dice *d, struct simcurve *p)
{
    double low_w = throw(d, 0, 80), high_w = throw(d, 100, 700), dwell_s = throw(d, 0.002, 2);
    double lag_s = throw(d, -0.05, 0.05);
    char spec[96];

    snprintf(spec, sizeof(spec), "steps:%.3f,%.3f,%.4f,%d,%.4f", low_w, high_w, dwell_s,
             (int) throw(d, 0, 1e6), lag_s);
    assert_int_equal(simcurve_parse(p, spec), 0);
    if (throw(d, 0, 1) < 0.3) {
        /* no more than keeps the sum positive */
        p->sine_w = p->watts[0];
        for (size_t i = 0; i < p->n; i++)
            p->sine_w = fmin(p->sine_w, fmin(p->watts[i], p->start_w[i]));
        p->sine_s = throw(d, 0.05, 3);
    }
}

static void random_counter(struct dice *d, struct simcounter *c)
{
    static const double quanta[] = {0, 0, 1.0 / 65536, 1e-3, 0.25};

    c->epoch = NS_PER_S;
    c->seed = d->seed;
    c->refresh_ns = (mono_ns)(1e6 * exp(throw(d, 0, 6)));
    if (throw(d, 0, 1) < 0.5)
        c->jitter_ns = (mono_ns)(throw(d, 0, 0.49) * (double)c->refresh_ns);
    c->phase_ns = (mono_ns) throw(d, 0, (double)c->refresh_ns);
    c->quantum_j = quanta[(int) throw(d, 0, 5)];
    if (throw(d, 0, 1) < 0.5)
        c->range_j = 1024 * floor(throw(d, 2, 60));
    c->offset_j = throw(d, 0, c->range_j > 0 ? c->range_j : 1e6);
}

static struct simrun_options random_reader(struct dice *d, const struct simcounter *c)
{
    return (struct simrun_options){
        .seed = d->seed,
        .period_ns = (mono_ns)(1e6 * exp(throw(d, 0, 4))),
        .late_ns = (mono_ns) throw(d, 0, 3e5),
        .stall_ns = (mono_ns) throw(d, 0, 6e7),
        .read_ns = (mono_ns) throw(d, 0, 2e6),
        .documented_ns = d->seed % 2 ? 0 : c->refresh_ns,
        .fixed = d->seed % 5 == 0,
    };
}

static bool within(const struct energy *e, double value, double slack)
{
    return e->low_j <= value + slack && !(e->high_j < value - slack);
}

/* True when the window's energy was known. */
static bool check_window(const struct channel *ch, const struct series *s,
                         const struct simcounter *c, mono_ns a, mono_ns m, mono_ns b)
{
    struct energy e = energy_of_window(ch, s, a, b), x, y;
    double truth = simcounter_joules(c, a, b), slack = 1e-9 * (1 + c->offset_j);
    struct stat4 f = stats_of_window(ch, s, a, b);

    if (isnan(e.joules)) {
        assert_true(isnan(e.low_j) && isnan(e.high_j));
        return false;
    }
    if (!within(&e, truth, slack) || !within(&e, e.joules, slack))
        fail_msg("seed %ju: truth %.9g or estimate %.9g not in [%.9g, %.9g]", (uintmax_t)c->seed,
                 truth, e.joules, e.low_j, e.high_j);
    x = energy_of_window(ch, s, a, m);
    y = energy_of_window(ch, s, m, b);
    assert_true(!(x.joules < -slack) && !(y.joules < -slack));
    if (!isnan(x.joules) && !isnan(y.joules))
        assert_near(x.joules + y.joules, e.joules, slack);
    assert_true(f.min <= f.avg && f.avg <= f.max && f.min <= f.median && f.median <= f.max);
    return true;
}

/* Random machines, counters and ways of reading them; in virtual time. */
static void the_truth_is_always_inside_the_bounds(void **state)
{
    int known = 0, windows = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        struct dice d = {seed, 0};
        struct channel ch = joules;
        struct simcurve p;
        struct simcounter c = {.power = &p};
        struct simrun_options o;
        struct series s = {0};
        struct simrun r;

        random_power(&d, &p);
        random_counter(&d, &c);
        o = random_reader(&d, &c);
        ch.quantum = c.quantum_j;
        simrun_init(&r, &o, &c, 1, 2 * NS_PER_S);
        simrun_until(&r, 9 * NS_PER_S);
        for (int i = 0; i < 20; i++) {
            mono_ns a = s_to_ns(throw(&d, 2, 8)), b = a + s_to_ns(exp(throw(&d, -7, 0)));
            mono_ns m = a + (mono_ns)(throw(&d, 0, 1) * (double)(b - a));

            simrun_copy(&r, 0, a, b, &s);
            known += check_window(&ch, &s, &c, a, m, b);
            windows++;
        }
        series_release(&s);
        simrun_release(&r);
        simcurve_release(&p);
    }
    assert_true(known > windows * 9 / 10);
}

static int compare_doubles(const void *x, const void *y)
{
    double a = *(const double *)x, b = *(const double *)y;

    return (a > b) - (a < b);
}

/* The goal of the design: see bench_energy for more of it. */
static void the_error_goal_is_met(void **state)
{
    static const char *const specs[] = {"steps:60,350,0.7,5,0.02", "square:60,300,1.7,0.6,0.02",
                                        "sine:200,120,1"};
    enum { QUERIES = 400 };

    (void)state;
    for (size_t k = 0; k < sizeof(specs) / sizeof(*specs); k++) {
        struct simcurve p;
        struct simcounter c = {
            .power = &p, .epoch = NS_PER_S, .refresh_ns = 100 * MS, .phase_ns = 31 * MS};
        struct simrun_options o = {.period_ns = 20 * MS,
                                   .late_ns = 100 * NS_PER_US,
                                   .stall_ns = 5 * MS,
                                   .read_ns = 50 * NS_PER_US};
        struct series s = {0};
        struct simrun r;
        double error[QUERIES];

        simcurve_parse(&p, specs[k]);
        simrun_init(&r, &o, &c, 1, 2 * NS_PER_S);
        simrun_until(&r, 600 * NS_PER_S);
        for (int i = 0; i < QUERIES; i++) {
            mono_ns a = s_to_ns(5 + 590 * sim_uniform(77, 2 * (uint64_t)i));
            mono_ns b = a + s_to_ns(0.5 + sim_uniform(77, 2 * (uint64_t)i + 1));
            double truth = simcounter_joules(&c, a, b);

            simrun_copy(&r, 0, a, b, &s);
            error[i] = fabs(energy_of_window(&joules, &s, a, b).joules - truth) / truth;
        }
        qsort(error, QUERIES, sizeof(*error), compare_doubles);
        assert_true(error[QUERIES / 2] <= 0.005);
        assert_true(error[QUERIES * 95 / 100] <= 0.015);
        series_release(&s);
        simrun_release(&r);
        simcurve_release(&p);
    }
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_truth_is_always_inside_the_bounds),
    cmocka_unit_test(the_error_goal_is_met),
};
TEST_MAIN(tests)
