/*
 * The energy and power that count: of our records, and by the Python tool's rules of its own.
 */
#include "harness.h"

#include "analysis/basis.h"

static struct record foreign(void)
{
    struct record r;

    record_init(&r);
    r.latency.total_s = 2;
    return r;
}

static struct basis of(const struct record *r)
{
    struct basis b;

    basis_of(r, &b);
    return b;
}

static void energy_over_time(void **state)
{
    struct record r = foreign();
    struct basis b;

    (void)state;
    r.energy.gpu_j = 10;
    r.gpu_w.avg = 99; /* the sensor's average is not asked where energy and time are known */
    b = of(&r);
    assert_string_equal(b.name, "gpu");
    assert_near(b.energy_j, 10, 0);
    assert_near(b.power_w, 5, 0);
    assert_false(b.sensor_counts);
    r.latency.total_s = NAN;
    b = of(&r);
    assert_near(b.power_w, 99, 0);
    assert_true(b.sensor_counts);
}

static void power_alone(void **state)
{
    struct record r = foreign();
    struct basis b;

    (void)state;
    b = of(&r);
    assert_null(b.name);
    assert_true(isnan(b.energy_j) && isnan(b.power_w));
    r.gpu_w = (struct stat4){.avg = NAN, .median = 0, .max = 7, .min = 5};
    b = of(&r);
    assert_true(isnan(b.energy_j));
    assert_near(b.power_w, 7, 0); /* the first that is positive, in the order avg median max min */
}

/* 0 J is what a single sample in a query gives. */
static void zero_energy_is_made_up_from_power(void **state)
{
    struct record r = foreign();
    struct basis b;

    (void)state;
    r.energy.gpu_j = 0;
    b = of(&r);
    assert_true(b.zero_energy && !b.imputed && isnan(b.energy_j));
    r.gpu_w.avg = 4;
    b = of(&r);
    assert_true(b.zero_energy && b.imputed);
    assert_near(b.energy_j, 8, 0);
    assert_near(b.power_w, 4, 0);
    r.gpu_w.avg = 0;
    b = of(&r);
    assert_true(b.zero_power && !b.imputed && isnan(b.power_w));
}

static void whole_socs(void **state)
{
    static const struct device apple = {.vendor = "Apple"}, nvidia = {.vendor = "NVIDIA"};
    struct record r = foreign();

    (void)state;
    r.energy.gpu_j = 12;
    r.energy.soc_j = 240;
    r.soc_w.avg = 120;
    r.energy.basis = "soc";
    assert_near(of(&r).energy_j, 240, 0);
    assert_string_equal(of(&r).name, "soc");
    r.energy.basis = NULL;
    assert_near(of(&r).energy_j, 12, 0);
    r.gpu = &nvidia;
    assert_string_equal(of(&r).name, "gpu");
    r.gpu = &apple;
    assert_near(of(&r).energy_j, 240, 0); /* inferred */
    assert_near(of(&r).power_w, 120, 0);
    r.energy.soc_j = NAN;
    assert_string_equal(of(&r).name, "gpu");
    assert_near(of(&r).energy_j, 12, 0);
    /* only one of the two: both are the GPU's */
    r.energy.soc_j = 240;
    r.soc_w.avg = NAN;
    r.energy.gpu_j = 0.06;
    r.latency.total_s = 30;
    assert_near(of(&r).energy_j, 0.06, 0);
    assert_near(of(&r).power_w, 0.002, 1e-18);
    /* in a record of ours what was measured counts */
    r.energy.basis = "soc";
    r.measurement.energy_source = "measured";
    assert_near(of(&r).energy_j, 240, 0);
}

static void rails_of_ours(void **state)
{
    struct record r = foreign();

    (void)state;
    r.measurement.energy_source = "measured";
    r.energy.basis = "gpu+cpu";
    r.energy.gpu_j = 80;
    r.energy.cpu_j = 20;
    r.gpu_w = (struct stat4){.avg = 40, .median = 30, .max = 50, .min = 20};
    r.cpu_w = (struct stat4){.avg = NAN, .median = 10, .max = 11, .min = 9};
    assert_near(of(&r).energy_j, 100, 0);
    assert_near(of(&r).power_w, 50, 0);
    assert_near(of(&r).sensor_w, 40, 0); /* the medians: both rails have one */
    r.energy.basis = "cpu";
    assert_near(of(&r).energy_j, 20, 0);
    assert_near(of(&r).sensor_w, 10, 0);
    r = foreign(); /* a machine without a GPU, which names nothing */
    r.energy.cpu_j = 6;
    assert_string_equal(of(&r).name, "cpu");
    assert_near(of(&r).power_w, 3, 0);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(energy_over_time),
    cmocka_unit_test(power_alone),
    cmocka_unit_test(zero_energy_is_made_up_from_power),
    cmocka_unit_test(whole_socs),
    cmocka_unit_test(rails_of_ours),
};
TEST_MAIN(tests)
