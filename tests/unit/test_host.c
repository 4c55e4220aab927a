/*
 * host on fake trees, and the parsers behind it on the forms that real kernels print.
 */
#include "collector_harness.h"

#include "telemetry/procinfo.h"

#define SYS(tree)  FIXTURES "/sys/" tree
#define PROC(tree) FIXTURES "/proc/" tree

static struct fake f;

static void times(const char *text, int64_t busy, int64_t idle)
{
    struct cpu_times t = {-1, -1};

    assert_int_equal(cpu_times_parse(text, strlen(text), &t), 0);
    assert_int_equal(t.busy, busy);
    assert_int_equal(t.idle, idle);
}

static void cpu_times_of_a_line(void **state)
{
    static const char *const bad[] = {"",
                                      "\n",
                                      "cpu",
                                      "cpu \n",
                                      "cpu0 1 2 3 4\n",
                                      "cpu  1 2 3\n",
                                      "cpu  1 x 3 4\n",
                                      "intr 1 2 3 4\n",
                                      "cpu  -1 2 3 4\n",
                                      "cpu  9223372036854775807 1 1 1\n",
                                      "cpu  99999999999999999999 1 1 1\n"};

    (void)state;
    times("cpu  3000 100 1000 90000 2000 50 150 500 700 0\n", 4300, 92500);
    times("cpu  1 2 3 4\n", 6, 4); /* Linux 2.4 */
    times("cpu  1 2 3 4 5 6 7 8 9 10 11 12\ncpu0 9 9 9 9\n", 19, 17);
    times("cpu  0 0 0 0", 0, 0);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        struct cpu_times t = {-1, -1};

        assert_int_equal(cpu_times_parse(bad[i], strlen(bad[i]), &t), -EINVAL);
        assert_int_equal(t.busy, -1);
    }
}

static double busy(int64_t b0, int64_t i0, int64_t b1, int64_t i1)
{
    return cpu_times_busy_pct(&(struct cpu_times){b0, i0}, &(struct cpu_times){b1, i1});
}

static void busy_per_cent(void **state)
{
    (void)state;
    assert_near(busy(100, 200, 130, 210), 75, 1e-12);
    assert_near(busy(0, 0, 0, 5), 0, 0);
    assert_near(busy(0, 0, 5, 0), 100, 0);
    assert_true(isnan(busy(7, 9, 7, 9)));
    /* iowait may go back */
    assert_near(busy(10, 100, 20, 99), 100, 0);
    assert_true(isnan(busy(10, 100, 9, 99)));
    assert_near(busy(0, 0, INT64_MAX, INT64_MAX), 50, 1e-9);
}

static void memory_of_lines(void **state)
{
    struct memory_info m;
    static const char good[] = "MemTotal:       1000 kB\nMemFree: 5 kB\nMemAvailable:   250 kB\n";
    static const char odd[] = "MemTotal: 1000\nMemAvailable: -5 kB\nMemTotals: 7 kB\n:\n\n";
    static const char huge[] = "MemTotal: 9223372036854775807 kB\nMemAvailable: 1 kB extra\n";

    (void)state;
    memory_info_parse(good, sizeof(good) - 1, &m);
    assert_int_equal(m.total_bytes, 1024000);
    assert_int_equal(m.available_bytes, 256000);
    memory_info_parse(odd, sizeof(odd) - 1, &m);
    assert_int_equal(m.total_bytes, -1);
    assert_int_equal(m.available_bytes, -1);
    memory_info_parse(huge, sizeof(huge) - 1, &m);
    assert_int_equal(m.total_bytes, -1);
    assert_int_equal(m.available_bytes, -1);
    memory_info_parse("", 0, &m);
    assert_int_equal(m.total_bytes, -1);
}

static void brand(const char *tree, const char *words, int count)
{
    char root[256];
    struct cpu_info cpu;

    snprintf(root, sizeof(root), "%s/proc/%s", FIXTURES, tree);
    cpu_info_read(root, &cpu);
    assert_string_equal(cpu.brand, words);
    assert_int_equal(cpu.count, count);
}

static void cpu_brands(void **state)
{
    struct cpu_info cpu;
    static const char unknown[] = "CPU implementer : 0x41\nCPU part : 0xfff\n";
    static const char bad_hex[] = "CPU implementer : 0x\nCPU part : 0xd0bz\nCPU part : 41\n";
    static const char big_little[] = "CPU implementer : 0x41\nCPU part : 0xd05\nCPU part : 0xd41\n"
                                     "CPU part : 0xd05\n";
    static const char hostile[] = "model name : evil\x1b[2J\xc3\n";

    (void)state;
    brand("xeon", "Intel(R) Xeon(R) Platinum 8480+", 4);
    brand("rpi5", "Cortex-A76 (Raspberry Pi 5 Model B Rev 1.0)", 4);
    brand("graviton3", "Neoverse-V1", 2);
    brand("m1", "Apple M1", 4);
    brand("power9", "POWER9 (raw), altivec supported", 1);
    brand("armv7", "Cortex-A53 (BCM2835)", 1);
    brand("jetson-agx-orin", "Cortex-A78AE (NVIDIA Jetson AGX Orin Developer Kit)", 2);
    cpu_info_parse(unknown, sizeof(unknown) - 1, "", &cpu);
    assert_string_equal(cpu.brand, "ARM core 0x41:0xfff");
    assert_int_equal(cpu.count, 0);
    cpu_info_parse(bad_hex, sizeof(bad_hex) - 1, "", &cpu);
    assert_string_equal(cpu.brand, "");
    cpu_info_parse(big_little, sizeof(big_little) - 1, "", &cpu);
    assert_string_equal(cpu.brand, "Cortex-A55 + Cortex-A78");
    cpu_info_parse(hostile, sizeof(hostile) - 1, "", &cpu);
    assert_string_equal(cpu.brand, "evil?[2J?");
    cpu_info_parse("", 0, "A Board", &cpu);
    assert_string_equal(cpu.brand, "A Board");
    cpu_info_read("/nowhere", &cpu);
    assert_string_equal(cpu.brand, "");
    assert_true(cpu.count > 0);
}

static void a_long_brand_is_cut(void **state)
{
    char text[4096] = "model name : ";
    struct cpu_info cpu;

    (void)state;
    /* two bytes a character: the cut falls between characters */
    for (size_t i = strlen(text); i + 2 < sizeof(text); i += 2)
        memcpy(text + i, "\xc3\xa9", 3);
    cpu_info_parse(text, strlen(text), "", &cpu);
    assert_int_equal(strlen(cpu.brand), 94);
}

static void os(const char *text, const char *name, const char *version)
{
    char n[64], v[64];

    os_release_parse(text, strlen(text), n, sizeof(n), v, sizeof(v));
    assert_string_equal(n, name);
    assert_string_equal(v, version);
}

static void os_release_forms(void **state)
{
    (void)state;
    os("PRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nNAME=\"Debian GNU/Linux\"\n"
       "VERSION_ID=\"12\"\n",
       "Debian GNU/Linux", "12");
    os("NAME=Fedora\nVERSION_ID=41", "Fedora", "41");
    os("NAME='Arch Linux'\n", "Arch Linux", "");
    os("NAME=\"A \\\"B\\\" \\$C\"\nVERSION_ID='1\\2'\n", "A \"B\" $C", "1\\2");
    os("NAME=\"\nVERSION_ID=\"\"\n", "\"", "");
    os("name=x\n=\nNAME\n", "", "");
    os("", "", "");
}

static void reads_the_machine(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    tree_write(root, "meminfo", "MemTotal: 24682416 kB\nMemAvailable: 22343264 kB\n");
    tree_write(root, "stat", "cpu  3000 100 1000 90000 2000 50 150 500 700 0\n");
    assert_ok(fake_open(&f, "host", "/nowhere", root, NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 3);
    assert_int_equal(f.setup.n_devices, 1);
    assert_int_equal(f.setup.devices[0].kind, DEVICE_HOST);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(f.setup.channels[i].rail, RAIL_NONE);
        assert_false(f.setup.channels[i].summed);
    }
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "memory total", QUANTITY_MEMORY_TOTAL_BYTES), 24682416.0 * 1024, 0);
    assert_near(fake_value(&f, "memory used", QUANTITY_MEMORY_USED_BYTES), 2339152.0 * 1024, 0);
    /* no tick has passed since it was opened */
    assert_true(isnan(fake_value(&f, "CPU", QUANTITY_UTILIZATION_PCT)));
    /* 30 busy, 10 idle */
    tree_write(root, "stat", "cpu  3020 105 1003 90005 2005 51 151 500 700 0\n");
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "CPU", QUANTITY_UTILIZATION_PCT), 75.0, 1e-12);
    /* and from there: 1 busy, 99 idle */
    tree_write(root, "stat", "cpu  3021 105 1003 90104 2005 51 151 500 700 0\n");
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "CPU", QUANTITY_UTILIZATION_PCT), 1.0, 1e-12);
    fake_close(&f);
    tree_remove(root);
}

static void describes_the_system(void **state)
{
    AUTO(kv_list) struct kv_list params = {0};
    char root[64], path[96];

    (void)state;
    tree_new(root);
    tree_write(root, "os", "NAME=\"Test OS\"\nVERSION_ID=\"7.1\"\n");
    snprintf(path, sizeof(path), "%s/os", root);
    kv_add(&params, "os_release", path);
    assert_ok(fake_open(&f, "host", "/nowhere", PROC("xeon"), &params), &f.err);
    assert_string_equal(f.setup.system.os_name, "Test OS");
    assert_string_equal(f.setup.system.os_version, "7.1");
    assert_string_equal(f.setup.system.cpu_brand, "Intel(R) Xeon(R) Platinum 8480+");
    assert_int_equal(f.setup.system.cpu_count, 4);
    assert_true(strlen(f.setup.system.kernel_version) > 0);
    assert_true(strlen(f.setup.system.host_name) > 0);
    assert_string_equal(f.setup.devices[0].name, f.setup.system.host_name);
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "memory used", QUANTITY_MEMORY_USED_BYTES), 2339152.0 * 1024, 0);
    fake_close(&f);
    /* without the file the kernel's name serves */
    kv_add(&params, "os_release", "/nowhere/os-release");
    assert_ok(fake_open(&f, "host", "/nowhere", PROC("xeon"), &params), &f.err);
    assert_string_equal(f.setup.system.os_name, "Linux");
    assert_string_equal(f.setup.system.os_version, "");
    fake_close(&f);
    tree_remove(root);
}

static void nothing_there_is_still_a_host(void **state)
{
    (void)state;
    assert_ok(fake_open(&f, "host", "/nowhere", "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 0);
    assert_int_equal(f.setup.n_devices, 1);
    assert_ok(fake_read(&f), &f.err);
    fake_close(&f);
}

static void broken_files_are_absent(void **state)
{
    static const char *const bad[] = {"", "\n", "no end of line", "\xff\xfe\n",
                                      "MemTotal: 5 kB\nMemAvailable: 6 kB\n"};
    char root[64];

    (void)state;
    tree_new(root);
    tree_write(root, "meminfo", "MemTotal: 10 kB\nMemAvailable: 6 kB\n");
    tree_write(root, "stat", "cpu  1 1 1 1\n");
    assert_ok(fake_open(&f, "host", "/nowhere", root, NULL), &f.err);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        tree_write(root, "meminfo", bad[i]);
        tree_write(root, "stat", "cpu  2 2 2 2\n");
        assert_ok(fake_read(&f), &f.err);
        assert_true(isnan(fake_value(&f, "memory used", QUANTITY_MEMORY_USED_BYTES)));
    }
    tree_write(root, "meminfo", "");
    tree_write(root, "stat", "");
    assert_fails(fake_read(&f), ENODATA, &f.err, "host: nothing can be read");
    fake_close(&f);
    /* a folder in place of both */
    tree_remove(root);
    tree_mkdir(root, "meminfo");
    tree_mkdir(root, "stat");
    tree_mkdir(root, "cpuinfo");
    assert_ok(fake_open(&f, "host", "/nowhere", root, NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 0);
    fake_close(&f);
    tree_remove(root);
}

/* Only the head of a large file is read, and a number is never cut in two. */
static void huge_files(void **state)
{
    char root[64], text[3000];
    size_t n;

    (void)state;
    tree_new(root);
    n = (size_t)snprintf(text, sizeof(text), "MemTotal: 1000 kB\n");
    while (n < 1010)
        n += (size_t)snprintf(text + n, sizeof(text) - n, "x\n");
    snprintf(text + n, sizeof(text) - n, "MemAvailable: 123456789 kB\n");
    tree_write(root, "meminfo", text);
    snprintf(text, sizeof(text), "cpu %490s 1 2 3 40000000000000000000\n", "");
    tree_write(root, "stat", text);
    assert_ok(fake_open(&f, "host", "/nowhere", root, NULL), &f.err);
    assert_null(fake_find(&f, "CPU", QUANTITY_UTILIZATION_PCT));
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "memory total", QUANTITY_MEMORY_TOTAL_BYTES), 1024000, 0);
    assert_true(isnan(fake_value(&f, "memory used", QUANTITY_MEMORY_USED_BYTES)));
    fake_close(&f);
    tree_remove(root);
}

static double on_battery(void)
{
    fake_read(&f);
    return fake_value(&f, "on battery", QUANTITY_ON_BATTERY);
}

static void battery_and_mains(void **state)
{
    char root[64];

    (void)state;
    assert_ok(fake_open(&f, "host", SYS("laptop"), PROC("xeon"), NULL), &f.err);
    assert_near(on_battery(), 0, 0);
    fake_close(&f);

    tree_new(root);
    tree_write(root, "class/power_supply/BAT1/type", "Battery\n");
    tree_write(root, "class/power_supply/BAT1/status", "Discharging\n");
    assert_ok(fake_open(&f, "host", root, PROC("xeon"), NULL), &f.err);
    assert_near(on_battery(), 1, 0);
    tree_write(root, "class/power_supply/BAT1/status", "Not charging\n");
    assert_near(on_battery(), 0, 0);
    tree_write(root, "class/power_supply/BAT1/status", "Unknown\n");
    assert_true(isnan(on_battery()));
    tree_write(root, "class/power_supply/BAT1/status", "");
    assert_true(isnan(on_battery()));
    fake_close(&f);

    /* the plug knows better than the battery */
    tree_write(root, "class/power_supply/ucsi-source-psy/type", "USB\n");
    tree_write(root, "class/power_supply/ucsi-source-psy/online", "0\n");
    tree_write(root, "class/power_supply/AC/type", "Mains\n");
    tree_write(root, "class/power_supply/AC/online", "0\n");
    tree_write(root, "class/power_supply/BAT1/status", "Full\n");
    assert_ok(fake_open(&f, "host", root, PROC("xeon"), NULL), &f.err);
    assert_near(on_battery(), 1, 0);
    tree_write(root, "class/power_supply/ucsi-source-psy/online", "1\n");
    assert_near(on_battery(), 0, 0);
    tree_write(root, "class/power_supply/ucsi-source-psy/online", "garbage\n");
    tree_write(root, "class/power_supply/AC/online", "");
    assert_near(on_battery(), 0, 0); /* Full */
    fake_close(&f);
    tree_remove(root);

    /* a desktop with a mouse has no battery */
    tree_new(root);
    tree_write(root, "class/power_supply/AC/type", "Mains\n");
    tree_write(root, "class/power_supply/AC/online", "1\n");
    tree_write(root, "class/power_supply/mouse/type", "Battery\n");
    tree_write(root, "class/power_supply/mouse/scope", "Device\n");
    tree_write(root, "class/power_supply/mouse/status", "Discharging\n");
    assert_ok(fake_open(&f, "host", root, PROC("xeon"), NULL), &f.err);
    assert_null(fake_find(&f, "on battery", QUANTITY_ON_BATTERY));
    fake_close(&f);
    tree_remove(root);
}

static void many_supplies(void **state)
{
    char root[64], path[96];

    (void)state;
    tree_new(root);
    for (int i = 0; i < 300; i++) {
        snprintf(path, sizeof(path), "class/power_supply/B%d/type", i);
        tree_write(root, path, i % 2 ? "Mains\n" : "Battery\n");
        snprintf(path, sizeof(path), "class/power_supply/B%d/%s", i, i % 2 ? "online" : "status");
        tree_write(root, path, i % 2 ? "1\n" : "Full\n");
    }
    assert_ok(fake_open(&f, "host", root, PROC("xeon"), NULL), &f.err);
    assert_near(on_battery(), 0, 0);
    fake_close(&f);
    tree_remove(root);
}

static void this_machine(void **state)
{
    (void)state;
    assert_true(plugin_status(&collector_find("host", NULL)->plugin).usable);
    assert_ok(fake_open(&f, "host", "/sys", "/proc", NULL), &f.err);
    assert_ok(fake_read(&f), &f.err);
    assert_true(fake_value(&f, "memory used", QUANTITY_MEMORY_USED_BYTES) > 1e6);
    assert_true(f.setup.system.cpu_count > 0);
    fake_close(&f);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(cpu_times_of_a_line),
    cmocka_unit_test(busy_per_cent),
    cmocka_unit_test(memory_of_lines),
    cmocka_unit_test(cpu_brands),
    cmocka_unit_test(a_long_brand_is_cut),
    cmocka_unit_test(os_release_forms),
    cmocka_unit_test(reads_the_machine),
    cmocka_unit_test(describes_the_system),
    cmocka_unit_test(nothing_there_is_still_a_host),
    cmocka_unit_test(broken_files_are_absent),
    cmocka_unit_test(huge_files),
    cmocka_unit_test(battery_and_mains),
    cmocka_unit_test(many_supplies),
    cmocka_unit_test(this_machine),
};
TEST_MAIN(tests)
