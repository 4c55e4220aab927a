/*
 * rapl on fake trees: exact values, which zones are the same counter, what is said when nothing can
 * be read, and the PMU as the second way.
 */
#include "collector_harness.h"

#include "telemetry/perf_power.h"

#define XEON   FIXTURES "/sys/xeon-2s"
#define CLIENT FIXTURES "/sys/core-client"
#define DIES   FIXTURES "/sys/dies"
#define PMU    FIXTURES "/sys/pmu"

static struct fake f;

static void check_channel(const char *name, enum rail rail, double range_j, double quantum_j)
{
    const struct channel *c = fake_channel(&f, name, QUANTITY_ENERGY_J);

    assert_int_equal(c->rail, rail);
    assert_true(c->summed);
    assert_false(c->estimated);
    assert_near(c->range, range_j, 1e-9 * range_j);
    assert_near(c->quantum, quantum_j, 1e-9 * quantum_j);
    assert_int_equal(c->refresh_ns, NS_PER_MS);
}

static void reads_every_domain_of_two_sockets(void **state)
{
    (void)state;
    assert_ok(fake_open(&f, "rapl", XEON, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 5);
    assert_int_equal(f.setup.n_devices, 3);
    assert_int_equal(f.setup.n_notes, 0);
    check_channel("package-0", RAIL_CPU, 262143.32885, 61.035e-6);
    check_channel("package-0 dram", RAIL_DRAM, 65712.999613, 15.3e-6);
    check_channel("package-1", RAIL_CPU, 262143.32885, 61.035e-6);
    check_channel("package-1 dram", RAIL_DRAM, 65712.999613, 15.3e-6);
    check_channel("psys", RAIL_SOC, 4294967295.0, 1.0);
    assert_int_equal(fake_device(&f, "package-1 dram", QUANTITY_ENERGY_J)->number, 1);
    assert_int_equal(fake_device(&f, "package-1 dram", QUANTITY_ENERGY_J)->kind, DEVICE_CPU);
    assert_string_equal(fake_device(&f, "package-1 dram", QUANTITY_ENERGY_J)->name, "package-1");
    assert_string_equal(fake_device(&f, "package-0", QUANTITY_ENERGY_J)->backend, "powercap");
    assert_int_equal(fake_device(&f, "psys", QUANTITY_ENERGY_J)->kind, DEVICE_HOST);

    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-0", QUANTITY_ENERGY_J), 262143.0, 1e-9);
    assert_near(fake_value(&f, "package-0 dram", QUANTITY_ENERGY_J), 1234.56789, 1e-12);
    assert_near(fake_value(&f, "package-1", QUANTITY_ENERGY_J), 5.0, 0);
    assert_near(fake_value(&f, "package-1 dram", QUANTITY_ENERGY_J), 987.654321, 1e-12);
    assert_near(fake_value(&f, "psys", QUANTITY_ENERGY_J), 77.0, 0);
    for (size_t i = 0; i < f.setup.n_channels; i++) {
        assert_int_equal(f.puts[i], 1);
        /* back to back: one clock reading ends a read and begins the next */
        if (i > 0)
            assert_int_equal(f.before[i], f.after[i - 1]);
    }
    fake_close(&f);
}

static void knows_the_parts_of_a_client(void **state)
{
    (void)state;
    assert_ok(fake_open(&f, "rapl", CLIENT, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 4);
    assert_int_equal(fake_channel(&f, "package-0 core", QUANTITY_ENERGY_J)->rail, RAIL_CORE);
    assert_int_equal(fake_channel(&f, "package-0 uncore", QUANTITY_ENERGY_J)->rail, RAIL_UNCORE);
    assert_ok(fake_read(&f), &f.err);
    /* the MSR's, not its twin in memory */
    assert_near(fake_value(&f, "package-0", QUANTITY_ENERGY_J), 15.000001, 1e-15);
    assert_near(fake_value(&f, "package-0 core", QUANTITY_ENERGY_J), 7.0, 0);
    assert_near(fake_value(&f, "package-0 uncore", QUANTITY_ENERGY_J), 0.25, 0);
    fake_close(&f);
}

static void dies_are_different_counters(void **state)
{
    (void)state;
    assert_ok(fake_open(&f, "rapl", DIES, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 4);
    assert_int_equal(f.setup.n_devices, 2);
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-0-die-0", QUANTITY_ENERGY_J), 1.0, 0);
    assert_near(fake_value(&f, "package-0-die-1", QUANTITY_ENERGY_J), 2.0, 0);
    assert_near(fake_value(&f, "package-0-die-1 dram", QUANTITY_ENERGY_J), 0.6, 0);
    fake_close(&f);
}

static void zone(const char *root, const char *id, const char *name, const char *energy,
                 const char *range)
{
    char path[128];

    snprintf(path, sizeof(path), "class/powercap/%s/name", id);
    tree_write(root, path, name);
    snprintf(path, sizeof(path), "class/powercap/%s/energy_uj", id);
    tree_write(root, path, energy);
    snprintf(path, sizeof(path), "class/powercap/%s/max_energy_range_uj", id);
    if (range)
        tree_write(root, path, range);
}

/* Wraps are the sampler's business: the collector shows what it sees. */
static void a_wrap_is_passed_on_raw(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    zone(root, "intel-rapl:0", "package-0\n", "262143328850\n", "262143328850\n");
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-0", QUANTITY_ENERGY_J), 262143.32885, 1e-9);
    tree_write(root, "class/powercap/intel-rapl:0/energy_uj", "61\n");
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-0", QUANTITY_ENERGY_J), 61e-6, 1e-18);
    fake_close(&f);
    tree_remove(root);
}

static void garbage_is_absent_and_all_garbage_an_error(void **state)
{
    static const char *const bad[] = {
        "",
        "\n",
        "-5\n",
        "garbage\n",
        "12x\n",
        "1 2\n",
        "0x10\n",
        "99999999999999999999999\n",
        " 12\n",
        "+3\n",
        "1.5\n",
        "9223372036854775808\n",
        "--1\n",
        "\xff\n",
        "1234567890123456789012345678901234567890123456789012345678901234\n"};
    char root[64], far[128];

    (void)state;
    tree_new(root);
    zone(root, "intel-rapl:0", "package-0\n", "1000000\n", "262143328850\n");
    zone(root, "intel-rapl:1", "package-1\n", "2000000\n", "262143328850\n");
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        tree_write(root, "class/powercap/intel-rapl:0/energy_uj", bad[i]);
        assert_ok(fake_read(&f), &f.err);
        assert_true(isnan(fake_value(&f, "package-0", QUANTITY_ENERGY_J)));
        assert_near(fake_value(&f, "package-1", QUANTITY_ENERGY_J), 2.0, 0);
    }
    /* something far behind the number */
    snprintf(far, sizeof(far), "5%80sx", "");
    tree_write(root, "class/powercap/intel-rapl:0/energy_uj", far);
    assert_ok(fake_read(&f), &f.err);
    assert_true(isnan(fake_value(&f, "package-0", QUANTITY_ENERGY_J)));
    tree_write(root, "class/powercap/intel-rapl:1/energy_uj", "");
    assert_fails(fake_read(&f), ENODATA, &f.err, "no counter can be read");
    /* and it recovers */
    tree_write(root, "class/powercap/intel-rapl:0/energy_uj", "9223372036854775807");
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-0", QUANTITY_ENERGY_J), 9223372036854.775807, 1e-2);
    fake_close(&f);
    tree_remove(root);
}

static void a_range_that_cannot_be_is_not_believed(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    zone(root, "intel-rapl:0", "package-0\n", "1000000\n", "5\n");
    zone(root, "intel-rapl:1", "package-1\n", "1000000\n", "-7\n");
    zone(root, "intel-rapl:2", "package-2\n", "1000000\n", NULL);
    zone(root, "intel-rapl:3", "something-new\n", "1000000\n", "2000000\n");
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 4);
    for (size_t i = 0; i < 3; i++) {
        assert_true(isnan(f.setup.channels[i].range));
        assert_near(f.setup.channels[i].quantum, 1e-6, 0);
    }
    assert_int_equal(f.setup.channels[3].rail, RAIL_OTHER);
    assert_false(f.setup.channels[3].summed);
    assert_near(f.setup.channels[3].range, 2.0, 0);
    fake_close(&f);
    tree_remove(root);
}

static void odd_entries_are_passed_over(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    zone(root, "intel-rapl:0", "package-0\n", "3000000\n", "262143328850\n");
    zone(root, "intel-rapl:1", "", "4000000\n", "262143328850\n");
    zone(root, "intel-rapl:x", "package-7\n", "4000000\n", "262143328850\n");
    zone(root, "intel-rapl:00", "package-8\n", "4000000\n", "262143328850\n");
    zone(root, "intel-rapl:0:1:2", "package-9\n", "4000000\n", "262143328850\n");
    zone(root, "intel-rapl:5:0", "dram\n", "4000000\n", "262143328850\n"); /* no package 5 */
    zone(root, "dtpm:0", "package-10\n", "4000000\n", "262143328850\n");
    tree_mkdir(root, "class/powercap/intel-rapl:2");
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 1);
    fake_close(&f);
    tree_remove(root);
}

static void zones_are_in_the_order_of_their_numbers(void **state)
{
    char root[64], id[32], name[32];

    (void)state;
    tree_new(root);
    for (int i = 11; i >= 0; i--) {
        snprintf(id, sizeof(id), "intel-rapl:%d", i);
        snprintf(name, sizeof(name), "package-%d\n", i);
        zone(root, id, name, "1\n", "262143328850\n");
    }
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 12);
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof(name), "package-%d", i);
        assert_string_equal(f.setup.channels[i].name, name);
        assert_int_equal(f.setup.devices[i].number, i);
    }
    fake_close(&f);
    tree_remove(root);
}

static void nothing_there_is_no_device(void **state)
{
    char root[64], words[128];

    (void)state;
    tree_new(root);
    snprintf(words, sizeof(words), "no RAPL domains under %s/class/powercap", root);
    assert_fails(fake_open(&f, "rapl", root, "/nowhere", NULL), ENODEV, &f.err, words);
    tree_mkdir(root, "class/powercap/intel-rapl");
    assert_fails(fake_open(&f, "rapl", root, "/nowhere", NULL), ENODEV, &f.err, words);
    tree_remove(root);
}

static void a_folder_in_place_of_the_counter(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    tree_write(root, "class/powercap/intel-rapl:0/name", "package-0\n");
    tree_mkdir(root, "class/powercap/intel-rapl:0/energy_uj");
    assert_fails(fake_open(&f, "rapl", root, "/nowhere", NULL), EISDIR, &f.err,
                 "intel-rapl:0/energy_uj: Is a directory");
    zone(root, "intel-rapl:1", "package-1\n", "3000000\n", "262143328850\n");
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 1);
    assert_int_equal(f.setup.n_notes, 1);
    assert_non_null(strstr(f.setup.notes[0], "intel-rapl:0/energy_uj: Is a directory"));
    fake_close(&f);
    tree_remove(root);
}

/* The kernel's answers for the PMU. */
static int syscalls, refuse_with;
static uint64_t asked_config[16];
static int asked_cpu[16];
static char counts_dir[64];

static int fake_perf_event_open(uint32_t type, uint64_t config, int cpu)
{
    /* two reads of each event: 2^32 counts are one joule */
    uint64_t counts[2] = {config << 32, (config << 32) + ((uint64_t)cpu << 31)};
    char path[128];
    int fd;

    assert_int_equal(type, 24);
    if (refuse_with)
        return refuse_with;
    asked_config[syscalls] = config;
    asked_cpu[syscalls] = cpu;
    snprintf(path, sizeof(path), "%s/event%d", counts_dir, syscalls++);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, counts, sizeof(counts)), sizeof(counts));
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

static int with_fake_pmu(void **state)
{
    (void)state;
    make_temp_dir(counts_dir);
    syscalls = 0;
    refuse_with = 0;
    perf_power_syscall = fake_perf_event_open;
    return 0;
}

static int without_fake_pmu(void **state)
{
    (void)state;
    tree_remove(counts_dir);
    return 0;
}

static void the_pmu_is_the_second_way(void **state)
{
    (void)state;
    assert_ok(fake_open(&f, "rapl", PMU, "/nowhere", NULL), &f.err);
    /* pkg, ram, cores and psys on CPU 0; all but psys on CPU 18 */
    assert_int_equal(syscalls, 7);
    assert_int_equal(f.setup.n_channels, 7);
    assert_int_equal(asked_config[0], 2);
    assert_int_equal(asked_cpu[6], 18);
    assert_int_equal(fake_channel(&f, "package-0", QUANTITY_ENERGY_J)->rail, RAIL_CPU);
    assert_int_equal(fake_channel(&f, "package-1 dram", QUANTITY_ENERGY_J)->rail, RAIL_DRAM);
    assert_int_equal(fake_channel(&f, "package-1 core", QUANTITY_ENERGY_J)->rail, RAIL_CORE);
    assert_int_equal(fake_channel(&f, "psys", QUANTITY_ENERGY_J)->rail, RAIL_SOC);
    assert_true(fake_channel(&f, "package-1", QUANTITY_ENERGY_J)->summed);
    assert_true(isnan(fake_channel(&f, "package-1", QUANTITY_ENERGY_J)->range));
    assert_int_equal(fake_device(&f, "package-1", QUANTITY_ENERGY_J)->number, 1);
    assert_string_equal(fake_device(&f, "package-1", QUANTITY_ENERGY_J)->backend, "perf");
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-0", QUANTITY_ENERGY_J), 2.0, 0);
    assert_near(fake_value(&f, "package-1 dram", QUANTITY_ENERGY_J), 3.0, 0);
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-0", QUANTITY_ENERGY_J), 2.0, 0);
    assert_near(fake_value(&f, "package-1 dram", QUANTITY_ENERGY_J), 12.0, 0);
    /* the files are at their end now, as an event whose CPU went offline is */
    assert_fails(fake_read(&f), ENODATA, &f.err, "no counter can be read");
    fake_close(&f);
}

static void the_pmu_may_be_closed_too(void **state)
{
    (void)state;
    refuse_with = -EACCES;
    assert_fails(fake_open(&f, "rapl", PMU, "/nowhere", NULL), EACCES, &f.err,
                 "; run 'sudo setcap cap_perfmon+ep $(command -v ipw)'");
    refuse_with = -ENOENT;
    assert_fails(fake_open(&f, "rapl", PMU, "/nowhere", NULL), ENODEV, &f.err, "no RAPL domains");
}

static void copy_pmu(const char *root, const char *cpumask, const char *event, const char *scale,
                     const char *unit)
{
    static const char dir[] = "bus/event_source/devices/power";
    char path[128];

    snprintf(path, sizeof(path), "%s/type", dir);
    tree_write(root, path, "24\n");
    snprintf(path, sizeof(path), "%s/cpumask", dir);
    tree_write(root, path, cpumask);
    snprintf(path, sizeof(path), "%s/events/energy-pkg", dir);
    tree_write(root, path, event);
    snprintf(path, sizeof(path), "%s/events/energy-pkg.scale", dir);
    tree_write(root, path, scale);
    snprintf(path, sizeof(path), "%s/events/energy-pkg.unit", dir);
    tree_write(root, path, unit);
}

static void a_pmu_we_do_not_understand_is_not_used(void **state)
{
    static const char *const good[] = {"0\n", "event=0x02\n", "2.3283064365386962890625e-10\n",
                                       "Joules\n"};
    static const char *const bad[][4] = {
        {"", NULL, NULL, NULL},           {"a\n", NULL, NULL, NULL},
        {"3-1\n", NULL, NULL, NULL},      {"0,,1\n", NULL, NULL, NULL},
        {NULL, "event=2\n", NULL, NULL},  {NULL, "event=0x02,umask=1\n", NULL, NULL},
        {NULL, "event=0x\n", NULL, NULL}, {NULL, "event=0x123456789\n", NULL, NULL},
        {NULL, NULL, "nan\n", NULL},      {NULL, NULL, "0\n", NULL},
        {NULL, NULL, "-1\n", NULL},       {NULL, NULL, "", NULL},
        {NULL, NULL, NULL, "Watts\n"},    {NULL, NULL, NULL, ""},
    };
    char root[64];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        tree_new(root);
        copy_pmu(root, bad[i][0] ? bad[i][0] : good[0], bad[i][1] ? bad[i][1] : good[1],
                 bad[i][2] ? bad[i][2] : good[2], bad[i][3] ? bad[i][3] : good[3]);
        assert_fails(fake_open(&f, "rapl", root, "/nowhere", NULL), ENODEV, &f.err,
                     "no RAPL domains");
        tree_remove(root);
    }
    assert_int_equal(syscalls, 0);
}

static void two_dies_of_one_package_in_the_mask(void **state)
{
    char root[64];

    (void)state;
    tree_new(root);
    copy_pmu(root, "0-1\n", "event=0x02\n", "2.3283064365386962890625e-10\n", "Joules\n");
    for (int cpu = 0; cpu < 2; cpu++) {
        char path[96];

        snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
        tree_write(root, path, "0\n");
        snprintf(path, sizeof(path), "devices/system/cpu/cpu%d/topology/die_id", cpu);
        tree_write(root, path, cpu ? "1\n" : "0\n");
    }
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 2);
    assert_int_equal(f.setup.n_devices, 2);
    assert_string_equal(f.setup.channels[0].name, "package-0-die-0");
    assert_string_equal(f.setup.channels[1].name, "package-0-die-1");
    fake_close(&f);
    tree_remove(root);
}

static void permission_denied(void **state)
{
    char root[64], words[512];

    (void)state;
    tree_new(root);
    zone(root, "intel-rapl:0", "package-0\n", "3000000\n", "262143328850\n");
    zone(root, "intel-rapl:1", "package-1\n", "4000000\n", "262143328850\n");
    tree_chmod(root, "class/powercap/intel-rapl:0/energy_uj", 0);
    tree_chmod(root, "class/powercap/intel-rapl:1/energy_uj", 0);
    if (!become_nobody())
        skip();
    snprintf(words, sizeof(words),
             "%s/class/powercap/intel-rapl:0/energy_uj is readable by root only; "
             "run 'sudo chmod a+r %s/class/powercap/intel-rapl*/energy_uj'",
             root, root);
    assert_int_equal(fake_open(&f, "rapl", root, "/nowhere", NULL), -EACCES);
    assert_string_equal(f.err.text, words);

    /* with a PMU that is closed as well, there are two remedies */
    become_self();
    copy_pmu(root, "0\n", "event=0x02\n", "2.3283064365386962890625e-10\n", "Joules\n");
    become_nobody();
    refuse_with = -EACCES;
    assert_fails(fake_open(&f, "rapl", root, "/nowhere", NULL), EACCES, &f.err,
                 "energy_uj' or 'sudo setcap cap_perfmon+ep $(command -v ipw)'");

    /* with one that is open it is used */
    refuse_with = 0;
    become_self();
    assert_int_equal(chmod(counts_dir, 0777), 0);
    become_nobody();
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_string_equal(f.setup.devices[0].backend, "perf");
    fake_close(&f);

    /* one package alone is a note */
    become_self();
    tree_chmod(root, "class/powercap/intel-rapl:1/energy_uj", 0444);
    become_nobody();
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_channels, 1);
    assert_int_equal(f.setup.n_notes, 1);
    assert_string_equal(f.setup.notes[0], words);
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-1", QUANTITY_ENERGY_J), 4.0, 0);
    fake_close(&f);

    /* unless its twin in memory serves */
    become_self();
    zone(root, "intel-rapl-mmio:0", "package-0\n", "5000000\n", "262143328850\n");
    become_nobody();
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_int_equal(f.setup.n_notes, 0);
    assert_ok(fake_read(&f), &f.err);
    assert_near(fake_value(&f, "package-0", QUANTITY_ENERGY_J), 5.0, 0);
    fake_close(&f);
    become_self();
    tree_remove(root);
}

static void many_zones(void **state)
{
    char root[64], id[32], name[32];

    (void)state;
    tree_new(root);
    for (int i = 0; i < 1100; i++) {
        snprintf(id, sizeof(id), "intel-rapl:%d", i);
        snprintf(name, sizeof(name), "package-%d\n", i % 300);
        zone(root, id, name, "1000000\n", NULL);
    }
    assert_ok(fake_open(&f, "rapl", root, "/nowhere", NULL), &f.err);
    assert_true(f.setup.n_channels > 0 && f.setup.n_channels <= 300);
    assert_ok(fake_read(&f), &f.err);
    fake_close(&f);
    tree_remove(root);
}

static void check_says_why(void **state)
{
    char root[64];
    struct plugin_status status;

    (void)state;
    tree_new(root);
    assert_int_equal(setenv("IPW_SYSFS_ROOT", root, 1), 0);
    status = plugin_status(&collector_find("rapl", NULL)->plugin);
    assert_false(status.usable);
    assert_non_null(strstr(status.reason, "no RAPL domains"));
    assert_int_equal(setenv("IPW_SYSFS_ROOT", XEON, 1), 0);
    status = plugin_status(&collector_find("rapl", NULL)->plugin);
    assert_true(status.usable);
    unsetenv("IPW_SYSFS_ROOT");
    tree_remove(root);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(reads_every_domain_of_two_sockets),
    cmocka_unit_test(knows_the_parts_of_a_client),
    cmocka_unit_test(dies_are_different_counters),
    cmocka_unit_test(a_wrap_is_passed_on_raw),
    cmocka_unit_test(garbage_is_absent_and_all_garbage_an_error),
    cmocka_unit_test(a_range_that_cannot_be_is_not_believed),
    cmocka_unit_test(odd_entries_are_passed_over),
    cmocka_unit_test(zones_are_in_the_order_of_their_numbers),
    cmocka_unit_test(nothing_there_is_no_device),
    cmocka_unit_test(a_folder_in_place_of_the_counter),
    cmocka_unit_test_setup_teardown(the_pmu_is_the_second_way, with_fake_pmu, without_fake_pmu),
    cmocka_unit_test_setup_teardown(the_pmu_may_be_closed_too, with_fake_pmu, without_fake_pmu),
    cmocka_unit_test_setup_teardown(a_pmu_we_do_not_understand_is_not_used, with_fake_pmu,
                                    without_fake_pmu),
    cmocka_unit_test_setup_teardown(two_dies_of_one_package_in_the_mask, with_fake_pmu,
                                    without_fake_pmu),
    cmocka_unit_test_setup_teardown(permission_denied, with_fake_pmu, without_fake_pmu),
    cmocka_unit_test(many_zones),
    cmocka_unit_test(check_says_why),
};
TEST_MAIN(tests)
