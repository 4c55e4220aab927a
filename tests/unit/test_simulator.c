/* The simulators are the truth that others are measured against, so they are checked first. */
#include "harness.h"

#include "base/fs.h"
#include "simcounter.h"
#include "simpowercap.h"

#include <fcntl.h>

static const char *const specs[] = {
    "const:200",
    "sine:200,120,0.7",
    "square:60,300,1.7,0.6",
    "square:60,300,0.9,0.25,0.05",
    "steps:60,350,0.3,7",
    "steps:20,500,0.1,3,0.02",
};

/* Integrated numerically, from the curve's power alone. */
static double integrate(const struct simcurve *p, double a, double b)
{
    double sum = 0, n = 400000, h = (b - a) / n;

    for (double k = 0; k < n; k++)
        sum += simcurve_watts(p, a + (k + 0.5) * h);
    return sum * h;
}

static void joules_are_the_integral_of_watts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(specs) / sizeof(*specs); i++) {
        struct simcurve p;
        double truth, sum;

        assert_int_equal(simcurve_parse(&p, specs[i]), 0);
        sum = integrate(&p, 1.234, 47.5);
        truth = simcurve_joules(&p, 47.5) - simcurve_joules(&p, 1.234);
        assert_near(truth / sum, 1, 2e-5);
        assert_near(simcurve_joules(&p, 0), 0, 1e-9);
        simcurve_release(&p);
    }
}

static void known_curves_have_known_values(void **state)
{
    struct simcurve p;

    (void)state;
    simcurve_parse(&p, "square:60,300,2,0.25");
    assert_near(simcurve_watts(&p, 0.1), 300, 0);
    assert_near(simcurve_watts(&p, 0.6), 60, 0);
    assert_near(simcurve_joules(&p, 0.5), 150, 1e-9);
    assert_near(simcurve_joules(&p, 2), 240, 1e-9);
    assert_near(simcurve_joules(&p, 2000), 240000, 1e-6);
    simcurve_release(&p);
    simcurve_parse(&p, "sine:100,50,2");
    assert_near(simcurve_watts(&p, 0.5), 150, 1e-9);
    assert_near(simcurve_joules(&p, 2), 200, 1e-9);
    simcurve_release(&p);
}

static void lag_smooths_without_changing_the_cycle(void **state)
{
    struct simcurve p;

    (void)state;
    simcurve_parse(&p, "square:60,300,2,0.25,0.05");
    assert_near(simcurve_joules(&p, 2), 240, 1e-9);
    /* continuous at the step and across the cycle */
    assert_near(simcurve_watts(&p, 0.5 - 1e-9), simcurve_watts(&p, 0.5), 1e-4);
    assert_near(simcurve_watts(&p, 2 - 1e-9), simcurve_watts(&p, 2), 1e-4);
    simcurve_release(&p);
}

static void nonsense_is_refused(void **state)
{
    static const char *const bad[] = {"",       "const",          "const:",       "warp:1",
                                      "sine:1", "square:1,2,0,1", "square:1,2,3", "steps:1,2,-1,4"};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct simcurve p;

        assert_int_equal(simcurve_parse(&p, bad[i]), -1);
    }
}

static void counter_shows_the_latest_refresh(void **state)
{
    struct simcurve p;
    struct simcounter c = {.power = &p, .epoch = NS_PER_S, .refresh_ns = 100, .phase_ns = 30};

    (void)state;
    simcurve_parse(&p, "const:1e9"); /* 1 J each ns */
    assert_near(simcounter_shown(&c, NS_PER_S + 29), 0, 0);
    assert_near(simcounter_shown(&c, NS_PER_S + 30), 30, 1e-6);
    assert_near(simcounter_shown(&c, NS_PER_S + 129), 30, 1e-6);
    assert_near(simcounter_shown(&c, NS_PER_S + 130), 130, 1e-6);
    c.quantum_j = 50;
    assert_near(simcounter_shown(&c, NS_PER_S + 130), 100, 1e-6);
    c.range_j = 250;
    c.offset_j = 200;
    assert_near(simcounter_shown(&c, NS_PER_S + 130), 50, 1e-6);
    assert_near(simcounter_joules(&c, NS_PER_S + 10, NS_PER_S + 15), 5, 1e-6);
    simcurve_release(&p);
}

static void jitter_stays_within_its_bound(void **state)
{
    struct simcounter c = {.refresh_ns = 1000, .jitter_ns = 300, .seed = 5};
    mono_ns last = -1, changes = 0, early = 0, late = 0;

    (void)state;
    for (mono_ns t = 5000; t < 105000; t++) {
        mono_ns at = simcounter_refreshed(&c, t);
        mono_ns off;

        assert_true(at <= t && t - at <= 1600);
        if (at == last)
            continue;
        off = (at + 500) % 1000 - 500;
        assert_true(off >= -300 && off <= 300);
        early = off < early ? off : early;
        late = off > late ? off : late;
        changes++;
        last = at;
    }
    assert_in_range(changes, 100, 102);
    assert_true(early < -200 && late > 200);
}

/* The file of a zone that is held open, as a collector does. */
static double read_zone(int fd)
{
    char text[32] = {0};

    assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
    return strtod(text, NULL) / 1e6;
}

static void a_fake_powercap_tree_counts(void **state)
{
    struct simcurve cpu, dram;
    struct simpowercap_zone zones[] = {
        {"package-0", &cpu}, {"dram", &dram}, {"core", &dram}, {"package-1", &cpu}};
    char root[64], path[128], text[64];
    struct simpowercap *s;
    struct err err = {0};
    double before, after, low, high;
    int fd;

    (void)state;
    make_temp_dir(root);
    simcurve_parse(&cpu, "const:50");
    simcurve_parse(&dram, "const:5");
    assert_ok(simpowercap_open(root, zones, 4, 262143.328850, &s, &err), &err);
    snprintf(path, sizeof(path), "%s/class/powercap/intel-rapl:0:1/name", root);
    fs_read_text(AT_FDCWD, path, text, sizeof(text), &err);
    assert_string_equal(text, "core");
    snprintf(path, sizeof(path), "%s/class/powercap/intel-rapl:1/max_energy_range_uj", root);
    fs_read_text(AT_FDCWD, path, text, sizeof(text), &err);
    assert_string_equal(text, "262143328850");
    snprintf(path, sizeof(path), "%s/class/powercap/intel-rapl:0/energy_uj", root);
    fs_read_text(AT_FDCWD, path, text, sizeof(text), &err);
    assert_int_equal(strspn(text, "0123456789"), strlen(text));
    fd = open(path, O_RDONLY | O_CLOEXEC);
    before = read_zone(fd);
    low = simcurve_joules(&cpu, ns_to_s(mono_now()));
    assert_ok(simpowercap_update(s, &err), &err);
    high = simcurve_joules(&cpu, ns_to_s(mono_now()));
    after = read_zone(fd);
    assert_true(after >= before);
    assert_true(after >= fmod(low, 262143.328850) - 1e-5);
    assert_true(after <= fmod(high, 262143.328850) + 1e-5);
    close(fd);
    simpowercap_close(s);
    assert_ok(fs_remove_tree(AT_FDCWD, root, &err), &err);
    assert_true(simpowercap_open(root, zones, 4, 1000, &s, &err) == 0); /* makes what is missing */
    simpowercap_close(s);
    fs_remove_tree(AT_FDCWD, root, &err);
    simcurve_release(&cpu);
    simcurve_release(&dram);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(joules_are_the_integral_of_watts),
    cmocka_unit_test(known_curves_have_known_values),
    cmocka_unit_test(lag_smooths_without_changing_the_cycle),
    cmocka_unit_test(nonsense_is_refused),
    cmocka_unit_test(counter_shows_the_latest_refresh),
    cmocka_unit_test(jitter_stays_within_its_bound),
    cmocka_unit_test(a_fake_powercap_tree_counts),
};
TEST_MAIN(tests)
