/*
 * hwmon on fake trees of boards and cards: exact watts and joules, which values enter a total, and
 * what becomes of sensors that are missing, closed, broken or too many.
 */
#include "collector_harness.h"

#include "telemetry/hwmon.h"

#include <sys/resource.h>

#define SYS(tree)  FIXTURES "/sys/" tree
#define PROC(tree) FIXTURES "/proc/" tree

static struct fake f;

static void check_channel(const char *name, enum quantity quantity, enum rail rail, bool summed,
                          double value)
{
    const struct channel *c = fake_channel(&f, name, quantity);

    assert_int_equal(c->rail, rail);
    assert_int_equal(c->summed, summed);
    assert_false(c->estimated);
    assert_true(isnan(c->range));
    assert_near(fake_value(&f, name, quantity), value, 1e-12);
}

static void jetson_with_a_whole_rail(void **state)
{
    const struct device *d;

    (void)state;
    assert_ok(fake_open(&f, "hwmon", SYS("jetson-orin-nano"), PROC("jetson-orin-nano"), NULL),
              &f.err);
    assert_int_equal(f.setup.n_channels, 4);
    assert_int_equal(f.setup.n_devices, 1);
    assert_ok(fake_read(&f), &f.err);
    check_channel("VDD_IN", QUANTITY_POWER_W, RAIL_SOC, true, 6.0);
    check_channel("VDD_CPU_GPU_CV", QUANTITY_POWER_W, RAIL_GPU, true, 2.0);
    check_channel("VDD_SOC", QUANTITY_POWER_W, RAIL_OTHER, false, 1.5);
    check_channel("gpu-thermal", QUANTITY_TEMPERATURE_C, RAIL_GPU, false, 45.5);
    assert_int_equal(fake_channel(&f, "VDD_IN", QUANTITY_POWER_W)->refresh_ns, 2 * NS_PER_MS);
    d = fake_device(&f, "VDD_IN", QUANTITY_POWER_W);
    assert_int_equal(d->kind, DEVICE_SOC);
    assert_string_equal(d->name,
                        "NVIDIA Jetson Orin Nano Engineering Reference Developer Kit Super");
    assert_string_equal(d->vendor, "NVIDIA");
    assert_string_equal(d->backend, "sysfs/ina3221");
    fake_close(&f);
}

static void jetson_whose_rails_are_summed(void **state)
{
    (void)state;
    assert_ok(fake_open(&f, "hwmon", SYS("jetson-agx-orin"), PROC("jetson-agx-orin"), NULL),
              &f.err);
    assert_int_equal(f.setup.n_channels, 6);
    assert_ok(fake_read(&f), &f.err);
    check_channel("VDD_GPU_SOC", QUANTITY_POWER_W, RAIL_GPU, true, 5.0);
    check_channel("VDD_CPU_CV", QUANTITY_POWER_W, RAIL_CPU, true, 2.0);
    check_channel("VIN_SYS_5V0", QUANTITY_POWER_W, RAIL_OTHER, false, 1.0);
    check_channel("VDDQ_VDD2_1V8AO", QUANTITY_POWER_W, RAIL_DRAM, true, 0.5);
    check_channel("sum of rails", QUANTITY_POWER_W, RAIL_SOC, true, 8.5);
    check_channel("GPU-therm", QUANTITY_TEMPERATURE_C, RAIL_GPU, false, 39.25);
    fake_close(&f);
}

static void rail(const char *root, int hwmon, int n, const char *label, const char *mv,
                 const char *ma)
{
    char path[96];

    snprintf(path, sizeof(path), "class/hwmon/hwmon%d/name", hwmon);
    tree_write(root, path, "ina3221\n");
    snprintf(path, sizeof(path), "class/hwmon/hwmon%d/in%d_label", hwmon, n);
    if (label)
        tree_write(root, path, label);
    snprintf(path, sizeof(path), "class/hwmon/hwmon%d/in%d_input", hwmon, n);
    if (mv)
        tree_write(root, path, mv);
    snprintf(path, sizeof(path), "class/hwmon/hwmon%d/curr%d_input", hwmon, n);
    if (ma)
        tree_write(root, path, ma);
}

static void a_sum_with_a_hole_is_absent(void **state)
{
    static const char *const bad[] = {"",           "x\n",   "-4000\n",
                                      "5000 \t1\n", "NaN\n", "9223372036854775807\n"};
    char root[64];

    (void)state;
    tree_new(root);
    rail(root, 0, 1, "VDD_GPU_SOC\n", "5000\n", "1000\n");
    rail(root, 0, 2, "VDD_CPU_CV\n", "5000\n", "400\n");
    rail(root, 0, 3, "VIN_SYS_5V0\n", "5000\n", NULL); /* no current: no rail */
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    assert_string_equal(fake_device(&f, "VDD_GPU_SOC", QUANTITY_POWER_W)->name, "NVIDIA Jetson");
    assert_int_equal(f.setup.n_channels, 3);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        tree_write(root, "class/hwmon/hwmon0/in1_input", bad[i]);
        assert_ok(fake_read(&f), &f.err);
        assert_true(isnan(fake_value(&f, "VDD_GPU_SOC", QUANTITY_POWER_W)));
        assert_near(fake_value(&f, "VDD_CPU_CV", QUANTITY_POWER_W), 2.0, 0);
        assert_true(isnan(fake_value(&f, "sum of rails", QUANTITY_POWER_W)));
    }
    /* twice negative is not positive */
    tree_write(root, "class/hwmon/hwmon0/in1_input", "-5000\n");
    tree_write(root, "class/hwmon/hwmon0/curr1_input", "-1000\n");
    assert_ok(fake_read(&f), &f.err);
    assert_true(isnan(fake_value(&f, "VDD_GPU_SOC", QUANTITY_POWER_W)));
    tree_write(root, "class/hwmon/hwmon0/in1_input", "5000\n");
    tree_write(root, "class/hwmon/hwmon0/curr1_input", "1000\n");
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "sum of rails", QUANTITY_POWER_W), 7.0, 0);
    fake_close(&f);
    tree_remove(root);
}

static void a_whole_rail_that_cannot_be_read_is_not_replaced(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    rail(root, 0, 1, "VDD_IN\n", NULL, NULL);
    rail(root, 0, 2, "VDD_SOC\n", "5000\n", "400\n");
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 1);
    assert_null(fake_find(&f, "sum of rails", QUANTITY_POWER_W));
    fake_close(&f);
    tree_remove(root);
}

static void power_of_newer_kernels_is_preferred(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    rail(root, 0, 1, "VDD_IN\n", "5000\n", "1200\n");
    tree_write(root, "class/hwmon/hwmon0/power1_input", "6543210\n");
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "VDD_IN", QUANTITY_POWER_W), 6.54321, 1e-15);
    fake_close(&f);
    tree_remove(root);
}

static void rails_of_other_boards_are_only_shown(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    rail(root, 0, 1, "VDD_GPU\n", "5000\n", "1200\n");
    rail(root, 0, 2, NULL, "1000\n", "1000\n");
    tree_write(root, "device-tree/model", "Some Other Board\n");
    assert_ok(fake_open(&f, "hwmon", root, root, NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 2);
    assert_ok(fake_read(&f), &f.err);
    check_channel("VDD_GPU", QUANTITY_POWER_W, RAIL_OTHER, false, 6.0);
    check_channel("hwmon0 rail 2", QUANTITY_POWER_W, RAIL_OTHER, false, 1.0);
    assert_string_equal(f.setup.devices[0].name, "Some Other Board");
    assert_string_equal(f.setup.devices[0].vendor, "");
    fake_close(&f);
    tree_remove(root);
}

static void grace(void **state)
{
    (void)state;
    assert_ok(fake_open(&f, "hwmon", SYS("grace"), "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 4);
    assert_int_equal(f.setup.n_devices, 1);
    assert_ok(fake_read(&f), &f.err);
    check_channel("Module Power Socket 0", QUANTITY_POWER_W, RAIL_SOC, true, 350.0);
    check_channel("Grace Power Socket 0", QUANTITY_POWER_W, RAIL_CPU, true, 150.0);
    check_channel("CPU Power Socket 0", QUANTITY_POWER_W, RAIL_CORE, true, 125.5);
    check_channel("SysIO Power Socket 0", QUANTITY_POWER_W, RAIL_UNCORE, true, 9.5);
    assert_int_equal(fake_channel(&f, "Grace Power Socket 0", QUANTITY_POWER_W)->refresh_ns,
                     50 * NS_PER_MS);
    assert_string_equal(f.setup.devices[0].name, "NVIDIA socket 0");
    assert_int_equal(f.setup.devices[0].kind, DEVICE_CPU);
    fake_close(&f);
}

static void amd_energy(void **state)
{
    const struct device *d;

    (void)state;
    assert_ok(fake_open(&f, "hwmon", SYS("epyc-amd-energy"), "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 6);
    assert_ok(fake_read(&f), &f.err);
    check_channel("Esocket0", QUANTITY_ENERGY_J, RAIL_CPU, true, 123.456789);
    check_channel("Esocket1", QUANTITY_ENERGY_J, RAIL_CPU, true, 987.654321);
    check_channel("Ecore003", QUANTITY_ENERGY_J, RAIL_CORE, false, 0.4);
    d = fake_device(&f, "Esocket1", QUANTITY_ENERGY_J);
    assert_int_equal(d->kind, DEVICE_CPU);
    assert_int_equal(d->number, 1);
    assert_true(d != fake_device(&f, "Esocket0", QUANTITY_ENERGY_J));
    assert_int_equal(fake_channel(&f, "Esocket0", QUANTITY_ENERGY_J)->refresh_ns, NS_PER_MS);
    fake_close(&f);
}

static void graphics_cards(void **state)
{
    const struct device *d;

    (void)state;
    assert_ok(fake_open(&f, "hwmon", SYS("gpus"), "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 9);
    assert_ok(fake_read(&f), &f.err);
    check_channel("xe 0000:03:00.0 card", QUANTITY_ENERGY_J, RAIL_GPU, true, 5.0);
    check_channel("xe 0000:03:00.0 pkg", QUANTITY_ENERGY_J, RAIL_GPU, false, 4.0);
    check_channel("i915 0000:04:00.0 energy1", QUANTITY_ENERGY_J, RAIL_GPU, true, 70.0);
    check_channel("i915_gt0 energy1", QUANTITY_ENERGY_J, RAIL_OTHER, false, 60.0);
    /* the average of one power, not both */
    check_channel("amdgpu 0000:0a:00.0 PPT", QUANTITY_POWER_W, RAIL_GPU, true, 45.0);
    /* of an APU it is CPU and GPU together */
    check_channel("amdgpu 0000:0b:00.0 PPT", QUANTITY_POWER_W, RAIL_SOC, true, 21.0);
    check_channel("amdgpu 0000:0c:00.0 PPT", QUANTITY_POWER_W, RAIL_GPU, true, 55.0);
    check_channel("corsairpsu power total", QUANTITY_POWER_W, RAIL_OTHER, false, 321.0);
    check_channel("corsairpsu power2", QUANTITY_POWER_W, RAIL_OTHER, false, 100.5);
    d = fake_device(&f, "amdgpu 0000:0c:00.0 PPT", QUANTITY_POWER_W);
    assert_int_equal(d->kind, DEVICE_GPU);
    assert_int_equal(d->number, 2);
    assert_string_equal(d->uuid, "0000:0c:00.0");
    assert_string_equal(d->vendor, "AMD");
    assert_string_equal(d->name, "AMD GPU");
    assert_int_equal(fake_device(&f, "i915 0000:04:00.0 energy1", QUANTITY_ENERGY_J)->number, 1);
    assert_string_equal(fake_device(&f, "corsairpsu power2", QUANTITY_POWER_W)->uuid, "");
    fake_close(&f);
}

static void a_package_counter_alone_is_summed(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    tree_write(root, "class/hwmon/hwmon0/name", "xe\n");
    tree_write(root, "class/hwmon/hwmon0/energy2_input", "4000000\n");
    tree_write(root, "class/hwmon/hwmon0/energy2_label", "pkg\n");
    tree_write(root, "class/hwmon/hwmon0/power1_average", "30000000\n");
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    assert_ok(fake_read(&f), &f.err);
    check_channel("xe pkg", QUANTITY_ENERGY_J, RAIL_GPU, true, 4.0);
    check_channel("xe power1", QUANTITY_POWER_W, RAIL_GPU, false, 30.0);
    fake_close(&f);
    tree_remove(root);
}

static void values_that_cannot_be_are_absent(void **state)
{
    static const char *const bad[] = {"-1\n", "100000000001\n", "18446744073709551615\n", "?\n",
                                      ""};
    char root[64];

    (void)state;
    tree_new(root);
    tree_write(root, "class/hwmon/hwmon0/name", "amdgpu\n");
    tree_write(root, "class/hwmon/hwmon0/power1_average", "100000000000\n");
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    assert_ok(fake_read(&f), &f.err);
    assert_near(f.last[0], 100000.0, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        int r;

        tree_write(root, "class/hwmon/hwmon0/power1_average", bad[i]);
        r = fake_read(&f);
        assert_true(r < 0);
        assert_non_null(strstr(f.err.text, "no sensor can be read"));
        assert_true(isnan(f.last[0]));
    }
    fake_close(&f);
    tree_remove(root);
}

static void nothing_there_is_no_device(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    assert_fails(fake_open(&f, "hwmon", root, "/nowhere", NULL), ENODEV, &f.err,
                 "no energy or power sensors under ");
    tree_mkdir(root, "class/hwmon/hwmon0");
    tree_write(root, "class/hwmon/hwmon1/name", "");
    tree_write(root, "class/hwmon/hwmon1/power1_input", "1\n");
    tree_write(root, "class/hwmon/hwmon2/name", "coretemp\n");
    tree_write(root, "class/hwmon/hwmon2/temp1_input", "40000\n");
    tree_write(root, "class/hwmon/hwmon3/name", "x\n");
    tree_mkdir(root, "class/hwmon/hwmon3/power1_input");
    tree_write(root, "class/hwmon/hwmon4/name", "ina3221\n");
    tree_write(root, "class/hwmon/hwmonx/name", "amdgpu\n");
    tree_write(root, "class/hwmon/hwmonx/power1_input", "1\n");
    tree_write(root, "class/hwmon/hwmon5", "a file\n");
    assert_fails(fake_open(&f, "hwmon", root, "/nowhere", NULL), ENODEV, &f.err,
                 "no energy or power sensors under ");
    tree_remove(root);
}

static void labels_are_made_harmless(void **state)
{
    char root[64], label[600];

    (void)state;
    tree_new(root);
    memset(label, 'L', sizeof(label) - 1);
    label[sizeof(label) - 1] = '\0';
    tree_write(root, "class/hwmon/hwmon0/name", "bad\x1b[31m\xffname\n");
    tree_write(root, "class/hwmon/hwmon0/power1_input", "1000000\n");
    tree_write(root, "class/hwmon/hwmon0/power1_label", label);
    tree_write(root, "class/hwmon/hwmon0/power2_input", "2000000\n");
    tree_write(root, "class/hwmon/hwmon0/power2_label", " \t \n");
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 2);
    assert_int_equal(strlen(f.setup.channels[0].name), sizeof(f.setup.channels[0].name) - 1);
    assert_int_equal(strncmp(f.setup.channels[0].name, "bad?[31m?name LLLL", 18), 0);
    assert_string_equal(f.setup.channels[1].name, "bad?[31m?name power2");
    fake_close(&f);
    tree_remove(root);
}

static void permission_denied(void **state)
{
    char root[64], words[512];

    (void)state;
    tree_new(root);
    tree_write(root, "class/hwmon/hwmon0/name", "amd_energy\n");
    tree_write(root, "class/hwmon/hwmon0/energy1_input", "1000000\n");
    tree_write(root, "class/hwmon/hwmon0/energy1_label", "Esocket0\n");
    tree_write(root, "class/hwmon/hwmon0/energy2_input", "2000000\n");
    tree_write(root, "class/hwmon/hwmon0/energy2_label", "Esocket1\n");
    tree_chmod(root, "class/hwmon/hwmon0/energy1_input", 0);
    tree_chmod(root, "class/hwmon/hwmon0/energy2_input", 0);
    if (!become_nobody())
        skip();
    snprintf(words, sizeof(words),
             "%s/class/hwmon/hwmon0/energy1_input is readable by root only (2 such files); "
             "run 'sudo chmod a+r %s/class/hwmon/hwmon0/energy*_input'",
             root, root);
    assert_int_equal(fake_open(&f, "hwmon", root, "/nowhere", NULL), -EACCES);
    assert_string_equal(f.err.text, words);
    become_self();
    tree_chmod(root, "class/hwmon/hwmon0/energy2_input", 0444);
    become_nobody();
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 1);
    assert_int_equal(f.setup.n_notes, 1);
    assert_non_null(strstr(f.setup.notes[0], "energy1_input is readable by root only (1 such"));
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "Esocket1", QUANTITY_ENERGY_J), 2.0, 0);
    fake_close(&f);
    become_self();
    tree_remove(root);
}

static void a_file_that_vanishes_does_not_matter(void **state)
{
    char root[64], path[128];

    (void)state;
    tree_new(root);
    tree_write(root, "class/hwmon/hwmon0/name", "amdgpu\n");
    tree_write(root, "class/hwmon/hwmon0/power1_average", "5000000\n");
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    /* a card that is unplugged: the file is emptied and goes */
    tree_write(root, "class/hwmon/hwmon0/power1_average", "");
    snprintf(path, sizeof(path), "%s/class/hwmon/hwmon0/power1_average", root);
    assert_int_equal(unlink(path), 0);
    assert_fails(fake_read(&f), ENODATA, &f.err, "no sensor can be read");
    fake_close(&f);
    tree_remove(root);
}

static void thousands_of_sensors(void **state)
{
    enum { CHIPS = 2000 };
    char root[64], path[96];
    struct rlimit files;

    (void)state;
    tree_new(root);
    for (int i = 0; i < CHIPS; i++) {
        snprintf(path, sizeof(path), "class/hwmon/hwmon%d/name", i);
        tree_write(root, path, i == CHIPS - 1 ? "amdgpu\n" : "mystery\n");
        snprintf(path, sizeof(path), "class/hwmon/hwmon%d/power1_average", i);
        tree_write(root, path, "7000000\n");
    }
    /* the usual limit */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    if (files.rlim_cur > 1024) {
        files.rlim_cur = 1024;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
    }
    assert_ok(fake_open(&f, "hwmon", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, HWMON_UNSUMMED_MAX + 1);
    /* what is summed is there, however late it comes */
    assert_int_equal(fake_channel(&f, "amdgpu power1", QUANTITY_POWER_W)->rail, RAIL_GPU);
    assert_int_equal(f.setup.n_notes, 1);
    assert_string_equal(f.setup.notes[0], "1743 values that enter no total are left out");
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "amdgpu power1", QUANTITY_POWER_W), 7.0, 0);
    fake_close(&f);
    tree_remove(root);
}

static void check_says_why(void **state)
{
    struct plugin_status status;

    (void)state;
    assert_int_equal(setenv("IPW_SYSFS_ROOT", "/nowhere", 1), 0);
    status = plugin_status(&collector_find("hwmon", NULL)->plugin);
    assert_false(status.usable);
    assert_string_equal(status.reason, "no energy or power sensors under /nowhere/class/hwmon");
    assert_int_equal(setenv("IPW_SYSFS_ROOT", SYS("grace"), 1), 0);
    status = plugin_status(&collector_find("hwmon", NULL)->plugin);
    assert_true(status.usable);
    unsetenv("IPW_SYSFS_ROOT");
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(jetson_with_a_whole_rail),
    cmocka_unit_test(jetson_whose_rails_are_summed),
    cmocka_unit_test(a_sum_with_a_hole_is_absent),
    cmocka_unit_test(a_whole_rail_that_cannot_be_read_is_not_replaced),
    cmocka_unit_test(power_of_newer_kernels_is_preferred),
    cmocka_unit_test(rails_of_other_boards_are_only_shown),
    cmocka_unit_test(grace),
    cmocka_unit_test(amd_energy),
    cmocka_unit_test(graphics_cards),
    cmocka_unit_test(a_package_counter_alone_is_summed),
    cmocka_unit_test(values_that_cannot_be_are_absent),
    cmocka_unit_test(nothing_there_is_no_device),
    cmocka_unit_test(labels_are_made_harmless),
    cmocka_unit_test(permission_denied),
    cmocka_unit_test(a_file_that_vanishes_does_not_matter),
    cmocka_unit_test(thousands_of_sensors),
    cmocka_unit_test(check_says_why),
};
TEST_MAIN(tests)
