/*
 * Which collectors a list opens, which channels count, and what they are called.
 */
#include "harness.h"

#include "base/fs.h"
#include "run/meter.h"

#include <errno.h>
#include <fcntl.h>

static struct err err;

static struct meter *open_meter(const char *list, const char *sysfs)
{
    struct meter_options options = {.collectors = list, .period_ns = 10 * NS_PER_MS};
    struct meter *m = NULL;

    setenv("IPW_SYSFS_ROOT", sysfs, 1);
    assert_ok(meter_open(&options, &m, &err), &err);
    return m;
}

static enum collector_state state_of(const struct meter *m, const char *id)
{
    const struct collector_report *reports;
    size_t n = meter_reports(m, &reports);

    for (size_t i = 0; i < n; i++)
        if (strcmp(reports[i].id, id) == 0)
            return reports[i].state;
    fail_msg("no report of %s", id);
    return COLLECTOR_FAILED;
}

static bool counts(struct meter *m, const char *collector, enum rail rail)
{
    const struct channel *channels;
    size_t n = sampler_channels(meter_sampler(m), &channels);

    for (size_t i = 0; i < n; i++)
        if (strcmp(sampler_collector(meter_sampler(m), i), collector) == 0 &&
            channels[i].rail == rail && meter_counts(m, i))
            return true;
    return false;
}

static void a_measured_cpu_is_not_estimated(void **state)
{
    struct meter *m = open_meter("auto", FIXTURES "/sys/xeon-2s");

    (void)state;
    assert_int_equal(state_of(m, "rapl"), COLLECTOR_USED);
    assert_int_equal(state_of(m, "estimate"), COLLECTOR_NOT_WANTED);
    assert_int_equal(state_of(m, "nvml"), COLLECTOR_ABSENT);
    assert_true(counts(m, "rapl", RAIL_CPU));
    assert_true(counts(m, "rapl", RAIL_DRAM));
    meter_close(m);
}

static void without_sensors_the_cpu_is_estimated_and_labelled(void **state)
{
    struct meter *m = open_meter("auto", FIXTURES "/sys/nothing-here");
    struct rail_energy rails[RAIL_COUNT];
    bool known = false;
    mono_ns a, b;

    (void)state;
    assert_int_equal(state_of(m, "rapl"), COLLECTOR_ABSENT);
    assert_int_equal(state_of(m, "estimate"), COLLECTOR_USED);
    meter_settle(m);
    /* on a busy machine a window may be read too seldom to have an energy: then the next one */
    for (int tries = 0; tries < 25 && !known; tries++) {
        a = mono_now();
        mono_sleep_until(a + 200 * NS_PER_MS);
        b = mono_now();
        meter_wait(m, b);
        meter_rails(m, a, b, rails);
        known = !isnan(rails[RAIL_CPU].energy.joules);
        assert_true(known || rails[RAIL_CPU].energy.coverage < ENERGY_COVERAGE_MIN);
    }
    assert_true(rails[RAIL_CPU].present && rails[RAIL_CPU].estimated);
    assert_true(rails[RAIL_CPU].energy.joules > 0);
    assert_false(rails[RAIL_GPU].present);
    assert_string_equal(meter_source(rails), "estimated");
    meter_close(m);
}

static void none_is_none(void **state)
{
    struct meter *m = open_meter("none", FIXTURES "/sys/xeon-2s");
    struct rail_energy rails[RAIL_COUNT];
    const struct channel *channels;

    (void)state;
    assert_int_equal(sampler_channels(meter_sampler(m), &channels), 0);
    meter_rails(m, 0, 1, rails);
    assert_string_equal(meter_source(rails), "none");
    meter_close(m);
}

static void a_collector_asked_for_must_work(void **state)
{
    struct meter_options options = {.collectors = "host,rapl", .period_ns = NS_PER_MS};
    struct kv_list params = {0};
    struct meter *m = NULL;

    (void)state;
    setenv("IPW_SYSFS_ROOT", FIXTURES "/sys/nothing-here", 1);
    assert_fails(meter_open(&options, &m, &err), ENODEV, &err, "collector rapl: no RAPL domains");
    options.collectors = "host,rapll";
    assert_fails(meter_open(&options, &m, &err), ENOENT, &err, "did you mean 'rapl'?");
    options.collectors = "host";
    kv_add(&params, "tdp_watts", "3");
    options.params = &params;
    assert_fails(meter_open(&options, &m, &err), EINVAL, &err, "collector.key");
    kv_list_release(&params);
    assert_null(m);
}

static void of_two_that_see_the_same_the_first_counts(void **state)
{
    char dir[64], command[512];
    struct meter *m;

    (void)state;
    make_temp_dir(dir);
    snprintf(command, sizeof(command),
             "cp -r " FIXTURES "/sys/xeon-2s/. " FIXTURES "/sys/epyc-amd-energy/. %s", dir);
    assert_int_equal(system(command), 0);
    m = open_meter("auto", dir);
    assert_int_equal(state_of(m, "rapl"), COLLECTOR_USED);
    assert_int_equal(state_of(m, "hwmon"), COLLECTOR_USED);
    assert_true(counts(m, "rapl", RAIL_CPU));
    assert_false(counts(m, "hwmon", RAIL_CPU));
    meter_close(m);
    m = open_meter("hwmon", dir);
    assert_true(counts(m, "hwmon", RAIL_CPU));
    meter_close(m);
    assert_ok(fs_remove_tree(AT_FDCWD, dir, &err), &err);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_measured_cpu_is_not_estimated),
    cmocka_unit_test(without_sensors_the_cpu_is_estimated_and_labelled),
    cmocka_unit_test(none_is_none),
    cmocka_unit_test(a_collector_asked_for_must_work),
    cmocka_unit_test(of_two_that_see_the_same_the_first_counts),
};
TEST_MAIN(tests)
