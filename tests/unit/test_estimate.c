/*
 * estimate: the model's arithmetic, its defaults by brand, its parameters, and that it never passes
 * for a measurement.
 */
#include "collector_harness.h"

#define PROC(tree) FIXTURES "/proc/" tree

static struct fake f;
static char root[64];

static int with_proc(void **state)
{
    (void)state;
    tree_new(root);
    tree_write(root, "stat", "cpu  100 0 0 100\n");
    return 0;
}

static int without_proc(void **state)
{
    (void)state;
    tree_remove(root);
    return 0;
}

static void set_brand(const char *brand, int threads)
{
    char text[2048] = "";
    size_t n = 0;

    for (int i = 0; i < threads; i++)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "processor : %d\nmodel name : %s\n", i,
                              brand);
    tree_write(root, "cpuinfo", text);
}

/* Watts with so many ticks busy and idle since the last read. */
static double watts(int busy, int idle)
{
    static int total_busy, total_idle;
    char text[64];

    if (busy < 0) {
        total_busy = total_idle = 100;
        return NAN;
    }
    total_busy += busy;
    total_idle += idle;
    snprintf(text, sizeof(text), "cpu  %d 0 0 %d\n", total_busy, total_idle);
    tree_write(root, "stat", text);
    assert_ok(fake_read(&f), &f.err);
    return fake_value(&f, "CPU (estimated)", QUANTITY_POWER_W);
}

static void power_follows_utilisation(void **state)
{
    AUTO(kv_list) struct kv_list params = {0};
    const struct channel *c;

    (void)state;
    set_brand("Whatever", 4);
    kv_add(&params, "tdp_watts", "50");
    kv_add(&params, "idle_watts", "10");
    assert_ok(fake_open(&f, "estimate", "/nowhere", root, &params), &f.err);
    c = fake_channel(&f, "CPU (estimated)", QUANTITY_POWER_W);
    assert_true(c->estimated);
    assert_true(c->summed);
    assert_true(f.ops->estimates);
    assert_int_equal(c->rail, RAIL_CPU);
    assert_int_equal(f.setup.devices[0].kind, DEVICE_CPU);
    assert_string_equal(f.setup.devices[0].name, "Whatever");
    assert_int_equal(f.setup.n_notes, 1);
    assert_non_null(strstr(f.setup.notes[0], "10 W idle to 50 W busy (Whatever, 4 threads)"));
    watts(-1, 0);
    assert_near(watts(0, 10), 10, 1e-12);
    assert_near(watts(10, 0), 50, 1e-12);
    assert_near(watts(5, 15), 20, 1e-12);
    assert_true(isnan(watts(0, 0)));
    fake_close(&f);
}

static void full_and_idle(const char *brand, int threads, double full_w, double idle_w)
{
    set_brand(brand, threads);
    tree_write(root, "stat", "cpu  100 0 0 100\n");
    assert_ok(fake_open(&f, "estimate", "/nowhere", root, NULL), &f.err);
    watts(-1, 0);
    assert_near(watts(10, 0), full_w, 1e-9);
    assert_near(watts(0, 10), idle_w, 1e-9);
    fake_close(&f);
}

static void defaults_by_brand_and_threads(void **state)
{
    (void)state;
    full_and_idle("AMD EPYC", 2, 4, 1);
    full_and_idle("Intel(R) Xeon(R) Platinum 8480+", 8, 25.6, 6.4);
    full_and_idle("AMD Ryzen 9 7950X 16-Core Processor", 32, 160, 24);
    full_and_idle("Intel(R) Core(TM) i7-1185G7 @ 3.00GHz", 8, 36, 3.6);
    full_and_idle("Neoverse-V2", 10, 35, 7);
    full_and_idle("Neoverse-N1", 10, 20, 5);
    full_and_idle("never heard of", 4, 12, 2.4);
}

static void one_parameter_alone(void **state)
{
    AUTO(kv_list) struct kv_list params = {0};

    (void)state;
    set_brand("AMD EPYC", 2);
    kv_add(&params, "tdp_watts", "200");
    assert_ok(fake_open(&f, "estimate", "/nowhere", root, &params), &f.err);
    watts(-1, 0);
    assert_near(watts(0, 10), 50, 1e-9); /* the share stays */
    fake_close(&f);
}

static void parameters_that_cannot_be(void **state)
{
    static const char *const bad[][2] = {{"tdp_watts", "many"}, {"tdp_watts", "-5"},
                                         {"tdp_watts", "nan"},  {"tdp_watts", "1e9"},
                                         {"idle_watts", ""},    {"idle_watts", "0x10"}};

    (void)state;
    set_brand("AMD EPYC", 2);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        AUTO(kv_list) struct kv_list params = {0};

        kv_add(&params, bad[i][0], bad[i][1]);
        assert_fails(fake_open(&f, "estimate", "/nowhere", root, &params), EINVAL, &f.err,
                     bad[i][0]);
        assert_non_null(strstr(f.err.text, "is not a number of watts"));
    }
    {
        AUTO(kv_list) struct kv_list params = {0};

        kv_add(&params, "tdp_watts", "0");
        assert_fails(fake_open(&f, "estimate", "/nowhere", root, &params), EINVAL, &f.err,
                     "cannot be");
        kv_add(&params, "tdp_watts", "10");
        kv_add(&params, "idle_watts", "11");
        assert_fails(fake_open(&f, "estimate", "/nowhere", root, &params), EINVAL, &f.err,
                     "11 W idle and 10 W busy cannot be");
    }
}

static void without_cpu_times_there_is_none(void **state)
{
    (void)state;
    assert_fails(fake_open(&f, "estimate", "/nowhere", "/nowhere", NULL), ENODEV, &f.err,
                 "no CPU times in /nowhere/stat");
    tree_write(root, "stat", "garbage\n");
    assert_fails(fake_open(&f, "estimate", "/nowhere", root, NULL), ENODEV, &f.err, "no CPU times");
    tree_write(root, "stat", "cpu  1 1 1 1\n");
    assert_ok(fake_open(&f, "estimate", "/nowhere", root, NULL), &f.err);
    assert_string_equal(f.setup.devices[0].name, "CPU");
    tree_write(root, "stat", "");
    assert_fails(fake_read(&f), ENODATA, &f.err, "cannot read the CPU times");
    fake_close(&f);
}

static void this_machine(void **state)
{
    (void)state;
    assert_true(plugin_status(&collector_find("estimate", NULL)->plugin).usable);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test_setup_teardown(power_follows_utilisation, with_proc, without_proc),
    cmocka_unit_test_setup_teardown(defaults_by_brand_and_threads, with_proc, without_proc),
    cmocka_unit_test_setup_teardown(one_parameter_alone, with_proc, without_proc),
    cmocka_unit_test_setup_teardown(parameters_that_cannot_be, with_proc, without_proc),
    cmocka_unit_test_setup_teardown(without_cpu_times_there_is_none, with_proc, without_proc),
    cmocka_unit_test(this_machine),
};
TEST_MAIN(tests)
