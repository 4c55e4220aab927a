/*
 * How far the energy of a query is from the truth, for a counter that is renewed every 100 ms.
 *
 * Three kinds of load: one that has nothing to do with the queries; queries back to back; and
 * queries on an otherwise idle machine, whose power steps exactly at the edges of the windows, the
 * hardest and the most common case. Power follows the load with the 20 ms lag of a real supply. The
 * last is done without any lag too, which no supply has: three levels inside one tick are more than
 * two neighbours can tell. In virtual time, on the sampler's own pace and history,
 * with wake-ups as late as a busy machine makes them; then once more with the real threads and
 * clock. Beside ours, on the same trace: the seed's rule (last sample minus first sample inside the
 * window, read every 20 ms), and the straight line between ticks whose times are known exactly.
 *
 *     bench_energy [--no-real-time]
 */
#include "bench_row.h"

#include "record/energy.h"
#include "simrun.h"
#include "simsource.h"
#include "telemetry/sampler.h"

#include <math.h>
#include <string.h>

#define QUERIES    600
#define LEVELS_MAX (QUERIES * 200)
#define PERIOD_NS  (20 * NS_PER_MS)
#define REFRESH_NS (100 * NS_PER_MS)
#define EPOCH      NS_PER_S

struct query {
    mono_ns a, b;
};

struct scenario {
    const char *name;
    struct simcurve power;
    struct query queries[QUERIES];
    mono_ns end;
};

struct errors {
    double ours[QUERIES], line[QUERIES], seed[QUERIES];
    size_t n, inside;
};

static uint64_t thrown;

static double throw(double low, double high)
{
    return low + (high - low) * sim_uniform(2026, thrown++);
}

static void unrelated_load(struct scenario *s)
{
    s->name = "load unrelated to the queries";
    simcurve_parse(&s->power, "steps:60,350,0.7,5,0.02");
    s->end = 602 * NS_PER_S;
    for (int i = 0; i < QUERIES; i++) {
        s->queries[i].a = s_to_ns(throw(5, 598));
        s->queries[i].b = s->queries[i].a + s_to_ns(throw(0.5, 1.5));
    }
}

/* Levels of a load that follows its queries: prefill, then decode that wanders a little, then idle
 * for between idle_s and 4 idle_s (none when 0). */
static void query_load(struct scenario *s, const char *name, double idle_s, double lag_s)
{
    double *length = calloc(LEVELS_MAX, sizeof(*length)),
           *watts = calloc(LEVELS_MAX, sizeof(*watts));
    double now = 5;
    size_t n = 0;

    if (!length || !watts)
        abort();
    s->name = name;
    length[n] = now;
    watts[n++] = 60;
    for (int i = 0; i < QUERIES; i++) {
        double end = now + throw(0.5, 1.5), prefill = throw(0.03, 0.2);

        s->queries[i] = (struct query){EPOCH + s_to_ns(now), EPOCH + s_to_ns(end)};
        length[n] = prefill;
        watts[n++] = throw(280, 380);
        for (now += prefill; now < end && n < LEVELS_MAX - 3; now += length[n++]) {
            length[n] = fmin(throw(0.01, 0.06), end - now);
            watts[n] = throw(220, 260);
        }
        now = end;
        if (idle_s > 0) {
            length[n] = throw(idle_s, 4 * idle_s);
            watts[n] = throw(55, 70);
            now += length[n++];
        }
    }
    length[n] = 5;
    watts[n++] = 60;
    simcurve_levels(&s->power, length, watts, n, lag_s);
    s->end = EPOCH + s_to_ns(now + 3);
    free(length);
    free(watts);
}

/* What a sampler that reads every 20 ms and subtracts finds. */
static double seed_rule(const struct simcounter *c, mono_ns a, mono_ns b)
{
    mono_ns first = (a / PERIOD_NS + 1) * PERIOD_NS, last = b / PERIOD_NS * PERIOD_NS;

    return simcounter_shown(c, last) - simcounter_shown(c, first);
}

/* E between the refreshes around t, their times known exactly. */
static double line_at(const struct simcounter *c, mono_ns t)
{
    mono_ns before = simcounter_refreshed(c, t), after = before + c->refresh_ns;
    double e0 = simcurve_joules(c->power, ns_to_s(before - c->epoch));
    double e1 = simcurve_joules(c->power, ns_to_s(after - c->epoch));

    return e0 + (e1 - e0) * ((double)(t - before) / (double)(after - before));
}

static void judge(const struct simcounter *c, const struct series *s, struct query q,
                  struct errors *ret)
{
    struct channel ch = {.quantity = QUANTITY_ENERGY_J, .range = NAN, .quantum = c->quantum_j};
    struct energy e = energy_of_window(&ch, s, q.a, q.b);
    double truth = simcounter_joules(c, q.a, q.b);

    ret->ours[ret->n] = 100 * fabs(e.joules / truth - 1);
    ret->line[ret->n] = 100 * fabs((line_at(c, q.b) - line_at(c, q.a)) / truth - 1);
    ret->seed[ret->n] = 100 * fabs(seed_rule(c, q.a, q.b) / truth - 1);
    ret->inside += e.low_j <= truth + 1e-6 && truth <= e.high_j + 1e-6;
    ret->n++;
}

static void print_quantile(const char *scenario, struct errors *e, const char *which, double q,
                           double goal)
{
    char name[160], limit[160], goal_text[32];
    double ours = bench_quantile(e->ours, e->n, q), line = bench_quantile(e->line, e->n, q);

    snprintf(name, sizeof(name), "energy error per query, %s: %s", which, scenario);
    snprintf(limit, sizeof(limit), "exact integral; seed's rule %.2f %%, ideal straight line",
             bench_quantile(e->seed, e->n, q));
    snprintf(goal_text, sizeof(goal_text), "<= %.1f %%", goal);
    bench_print(&(struct bench_row){.name = name,
                                    .limit = limit,
                                    .limit_value = line,
                                    .measured = ours,
                                    .unit = "%",
                                    .value = ours,
                                    .value_unit = " %",
                                    .goal = goal_text,
                                    .ok = ours <= goal});
}

static void print_errors(const char *scenario, struct errors *e, double reads_per_s)
{
    double inside = 100.0 * (double)e->inside / (double)e->n;
    char name[160], limit[96];

    print_quantile(scenario, e, "median", 0.5, 0.5);
    print_quantile(scenario, e, "p95", 0.95, 1.5);
    snprintf(name, sizeof(name), "truth inside bounds: %s", scenario);
    snprintf(limit, sizeof(limit), "%zu queries, %.1f reads per second instead of 50", e->n,
             reads_per_s);
    bench_print(&(struct bench_row){.name = name,
                                    .limit = limit,
                                    .limit_value = 100,
                                    .measured = inside,
                                    .unit = "%",
                                    .value = inside,
                                    .value_unit = " %",
                                    .goal = "100 %",
                                    .ok = e->inside == e->n});
}

static struct simcounter counter_over(const struct simcurve *p, mono_ns epoch)
{
    return (struct simcounter){.power = p,
                               .epoch = epoch,
                               .refresh_ns = REFRESH_NS,
                               .phase_ns = 37 * NS_PER_MS,
                               .quantum_j = 1e-3};
}

static void run_virtual(struct scenario *s)
{
    static struct errors errors;
    struct simcounter c = counter_over(&s->power, EPOCH);
    struct simrun_options options = {.period_ns = PERIOD_NS,
                                     .late_ns = 100 * NS_PER_US,
                                     .stall_ns = 5 * NS_PER_MS,
                                     .read_ns = 50 * NS_PER_US};
    struct series series = {0};
    struct simrun r;

    simrun_init(&r, &options, &c, 1, EPOCH + NS_PER_S);
    simrun_until(&r, s->end);
    errors.n = errors.inside = 0;
    for (int i = 0; i < QUERIES; i++) {
        simrun_copy(&r, 0, s->queries[i].a, s->queries[i].b, &series);
        judge(&c, &series, s->queries[i], &errors);
    }
    print_errors(s->name, &errors, (double)r.rounds / ns_to_s(s->end - EPOCH));
    series_release(&series);
    simrun_release(&r);
    simcurve_release(&s->power);
}

static void run_real_time(void)
{
    static struct errors errors;
    struct simcurve power;
    mono_ns begin = mono_now(), end = begin + 20 * NS_PER_S;
    struct simcounter c = counter_over(&power, begin - NS_PER_S);
    struct simsource sim = {.counters = &c, .n_counters = 1};
    struct sampler *s = sampler_new(&(struct sampler_options){.period_ns = PERIOD_NS});
    struct telemetry_env env = {0};
    struct sampler_channel_stats stats;
    struct series series = {0};
    struct err err = {0};

    simcurve_parse(&power, "steps:60,350,0.7,5,0.02");
    simsource_next(&sim);
    if (sampler_add(s, &simsource_ops, &env, &err) < 0 || sampler_start(s, &err) < 0)
        abort();
    mono_sleep_until(end);
    sampler_wait(s, end, end + 5 * NS_PER_S);
    sampler_stop(s);
    sampler_stats(s, 0, &stats);
    for (int i = 0; i < QUERIES; i++) {
        mono_ns a = begin + s_to_ns(throw(1, 18));
        struct query q = {a, a + s_to_ns(throw(0.5, 1.5))};

        sampler_copy(s, 0, q.a, q.b, &series);
        judge(&c, &series, q, &errors);
    }
    print_errors("real threads and clock, 20 s", &errors, (double)stats.reads / 20);
    series_release(&series);
    sampler_free(s);
    simcurve_release(&power);
}

int main(int argc, char **argv)
{
    static struct scenario s;

    unrelated_load(&s);
    run_virtual(&s);
    query_load(&s, "queries back to back", 0, 0.02);
    run_virtual(&s);
    query_load(&s, "queries on an idle machine", 0.3, 0.02);
    run_virtual(&s);
    query_load(&s, "queries on an idle machine, no lag", 0.3, 0);
    run_virtual(&s);
    if (argc < 2 || strcmp(argv[1], "--no-real-time") != 0)
        run_real_time();
    return 0;
}
