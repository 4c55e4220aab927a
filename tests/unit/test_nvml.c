/* The NVML collector against a stand-in library: exact values, which GPUs count, and every way in
 * which the library can be short of something. */
#include "harness.h"

#include "base/fs.h"
#include "support/collect.h"
#include "support/simpower.h"
#include "telemetry/nvml_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#define LIB FAKES "/fake_nvml.so"
#define GIB ((double)(1ull << 30))
/* How far a stamp may be off: two conversions between the clocks and a whole microsecond. */
#define STAMP_TOLERANCE_NS (50 * NS_PER_US)
#define COUNT(array)       (sizeof(array) / sizeof((array)[0]))

static struct collect c;
static char dir[64];
/* The test's own handle on the stand-in keeps its counters and its clock between openings. */
static void *lib;
static void (*pin)(mono_ns t);
static int *inits, *shutdowns;

static int start(void **state)
{
    (void)state;
    clear_environment("FAKE_");
    clear_environment("CUDA_");
    lib = dlopen(LIB, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(lib);
    *(void **)&pin = dlsym(lib, "fake_pin");
    inits = dlsym(lib, "fake_inits");
    shutdowns = dlsym(lib, "fake_shutdowns");
    *inits = *shutdowns = 0;
    pin(MONO_ABSENT);
    return 0;
}

/* Whatever the test did, every nvmlInit had its nvmlShutdown. */
static int finish(void **state)
{
    (void)state;
    assert_int_equal(*inits, *shutdowns);
    dlclose(lib);
    return 0;
}

static const struct telemetry_env env = {.nvml_lib = LIB};

static double parsed_joules(const char *text, mono_ns a, mono_ns b)
{
    struct simpower p;

    assert_int_equal(simpower_parse(text, &p, NULL), 0);
    return simpower_joules(&p, a, b);
}

/* What the stand-in's counter shows: whole millijoules at the renewal before t. */
static double shown(const char *power, mono_ns origin, mono_ns t)
{
    mono_ns renewal = t - t % (100 * NS_PER_MS);

    return floor((1000 + parsed_joules(power, origin, renewal)) * 1e3 + 1e-6) / 1e3;
}

static void one_gpu(void **state)
{
    mono_ns t = mono_now() - 10 * NS_PER_S;
    const struct device *d;
    const struct channel *energy;

    (void)state;
    pin(t);
    collect_open(&c, "nvml", &env);
    assert_int_equal(c.setup.n_devices, 1);
    d = &c.setup.devices[0];
    assert_int_equal(d->kind, DEVICE_GPU);
    assert_int_equal(d->number, 0);
    assert_string_equal(d->name, "NVIDIA Stand-in");
    assert_string_equal(d->vendor, "NVIDIA");
    assert_string_equal(d->uuid, "GPU-00000000-1111-2222-3333-444444444444");
    assert_string_equal(d->backend, "NVML");
    assert_int_equal(c.setup.n_notes, 0);

    energy = &c.setup.channels[collect_channel(&c, 0, QUANTITY_ENERGY_J)];
    assert_int_equal(energy->rail, RAIL_GPU);
    assert_string_equal(energy->name, "GPU 0");
    assert_true(energy->summed);
    assert_false(energy->estimated);
    assert_true(isnan(energy->range));
    assert_near(energy->quantum, 0.001, 0);

    assert_ok(collect_read(&c), &c.err);
    assert_near(collect_value(&c, 0, QUANTITY_ENERGY_J), shown("constant:100", t, t), 1e-9);
    assert_near(collect_value(&c, 0, QUANTITY_POWER_W), 100, 0);
    assert_near(collect_value(&c, 0, QUANTITY_TEMPERATURE_C), 40, 0);
    assert_near(collect_value(&c, 0, QUANTITY_MEMORY_USED_BYTES), GIB, 0);
    assert_near(collect_value(&c, 0, QUANTITY_MEMORY_TOTAL_BYTES), 80 * GIB, 0);
    assert_near(collect_value(&c, 0, QUANTITY_UTILIZATION_PCT), 30, 0);
    assert_near(collect_value(&c, 0, QUANTITY_MEMORY_UTILIZATION_PCT), 10, 0);
    assert_near(collect_value(&c, 0, QUANTITY_CLOCK_HZ), 1500e6, 0);
    assert_near(collect_value(&c, 0, QUANTITY_POWER_LIMIT_W), 700, 0);
    assert_near(collect_value(&c, 0, QUANTITY_THROTTLED), 0, 0);
    assert_near(collect_value(&c, 0, QUANTITY_FOREIGN_PROCESSES), 1, 0);

    /* 250 ms later */
    pin(t + 250 * NS_PER_MS);
    assert_ok(collect_read(&c), &c.err);
    assert_near(collect_value(&c, 0, QUANTITY_ENERGY_J),
                shown("constant:100", t, t + 250 * NS_PER_MS), 1e-9);
    /* once a second only */
    assert_true(isnan(collect_value(&c, 0, QUANTITY_POWER_LIMIT_W)));
    assert_true(isnan(collect_value(&c, 0, QUANTITY_FOREIGN_PROCESSES)));
    collect_close(&c);
    assert_int_equal(*inits, 1);
}

static void reads_are_stamped_around(void **state)
{
    mono_ns before, after;

    (void)state;
    setenv("FAKE_NVML_RING_MS", "0", 1);
    collect_open(&c, "nvml", &env);
    before = mono_now();
    assert_ok(collect_read(&c), &c.err);
    after = mono_now();
    for (size_t i = 0; i < c.n_puts; i++) {
        assert_true(c.puts[i].before >= before);
        assert_true(c.puts[i].after <= after);
    }
    collect_close(&c);
}

/* Exactly one of a GPU's power sensors enters the sum. */
static void assert_one_summed(size_t device)
{
    int summed = 0;

    for (size_t i = 0; i < c.setup.n_channels; i++)
        if (c.setup.channels[i].device == device && c.setup.channels[i].summed) {
            assert_int_equal(c.setup.channels[i].rail, RAIL_GPU);
            summed++;
        }
    assert_int_equal(summed, 1);
}

static void many_gpus_are_kept_apart(void **state)
{
    static const char *const powers[] = {"constant:100", "square:50:250:1", "sine:10:90:3",
                                         "constant:7.5"};
    static const int counts[] = {2, 8};
    mono_ns t = mono_now() - 10 * NS_PER_S, later = t + 1700 * NS_PER_MS;

    (void)state;
    setenv("FAKE_NVML_POWER", "constant:100;square:50:250:1;sine:10:90:3;constant:7.5", 1);
    for (size_t k = 0; k < COUNT(counts); k++) {
        char text[8];

        snprintf(text, sizeof(text), "%d", counts[k]);
        setenv("FAKE_NVML_GPUS", text, 1);
        pin(t);
        collect_open(&c, "nvml", &env);
        assert_int_equal(c.setup.n_devices, counts[k]);
        pin(later);
        assert_ok(collect_read(&c), &c.err);
        for (int i = 0; i < counts[k]; i++) {
            assert_int_equal(c.setup.devices[i].number, i);
            assert_one_summed((size_t)i);
            assert_near(collect_value(&c, i, QUANTITY_ENERGY_J),
                        shown(powers[i < 3 ? i : 3], t, later), 1e-9);
            assert_near(collect_value(&c, i, QUANTITY_TEMPERATURE_C), 40 + i, 0);
            assert_near(collect_value(&c, i, QUANTITY_POWER_LIMIT_W), 700 - i, 0);
        }
        /* the energies come first, back to back */
        for (int i = 0, seen = 0; i < (int)c.n_puts && seen < counts[k]; i++) {
            enum quantity q = c.setup.channels[c.puts[i].channel].quantity;

            assert_true(q == QUANTITY_ENERGY_J || q == QUANTITY_POWER_W);
            seen += q == QUANTITY_ENERGY_J;
        }
        collect_close(&c);
    }
}

static void no_gpu(void **state)
{
    (void)state;
    setenv("FAKE_NVML_GPUS", "0", 1);
    assert_fails(collect_try(&c, "nvml", &env), ENODEV, &c.err, "NVML sees no GPU");
}

static void which_gpus_count(void **state)
{
    static const struct {
        const char *visible;
        const char *counted; /* NULL: -ENODEV */
        const char *note;
    } cases[] = {
        {"all", "0 1 2 3", NULL},
        {"0", "0", "not counted because of CUDA_VISIBLE_DEVICES: GPU 1 (NVIDIA Stand-in), GPU 2"},
        {"3,1", "1 3", "GPU 0 (NVIDIA Stand-in), GPU 2 (NVIDIA Stand-in)"},
        {" 2 , 0 ", "0 2", NULL},
        {"1,1", "1", NULL},
        {"0,1,2,3", "0 1 2 3", NULL},
        {"", NULL, NULL},
        {"none", NULL, NULL},
        {"void", NULL, NULL},
        {"NoDevFiles", NULL, NULL},
        {"-1", NULL, NULL},
        {"0,-1,1", "0", "no GPU \"-1\""},
        {"0,7,1", "0", "no GPU \"7\"; the list ends there"},
        {"7", NULL, NULL},
        {"0,x,1", "0", "no GPU \"x\""},
        {"GPU-22222222-1111-2222-3333-444444444444", "2", NULL},
        {"GPU-3", "3", NULL}, /* a prefix that only one has */
        {"GPU-", NULL, NULL}, /* one that all have */
        {"GPU-9", NULL, NULL},
        {"2,GPU-1", "1 2", NULL},
        {"MIG-11111111-1111-2222-3333-444444444444", "1", "shared by all MIG instances"},
        {"MIG-GPU-22222222-1111-2222-3333-444444444444/1/0", "2", "shared by all MIG instances"},
        {"MIG-9", NULL, NULL},
        {"0,MIG-11111111-1111-2222-3333-444444444444", "0 1", "GPU 1 (NVIDIA Stand-in): its"},
    };

    (void)state;
    setenv("FAKE_NVML_GPUS", "4", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char counted[64] = "";
        size_t len = 0;

        setenv("CUDA_VISIBLE_DEVICES", cases[i].visible, 1);
        if (!cases[i].counted) {
            assert_fails(collect_try(&c, "nvml", &env), ENODEV, &c.err,
                         "CUDA_VISIBLE_DEVICES leaves no GPU; ");
            continue;
        }
        collect_open(&c, "nvml", &env);
        for (size_t k = 0; k < c.setup.n_devices; k++)
            len += (size_t)snprintf(counted + len, sizeof(counted) - len, "%s%d", k ? " " : "",
                                    c.setup.devices[k].number);
        assert_string_equal(counted, cases[i].counted);
        if (cases[i].note && !collect_noted(&c, cases[i].note))
            fail_msg("%s: no note \"%s\"", cases[i].visible, cases[i].note);
        if (strcmp(counted, "0 1 2 3") == 0)
            assert_int_equal(c.setup.n_notes, 0);
        assert_ok(collect_read(&c), &c.err);
        collect_close(&c);
    }
    assert_int_equal(*inits, COUNT(cases));
}

static void mig_beside_the_whole_gpu_is_not_shared(void **state)
{
    (void)state;
    setenv("CUDA_VISIBLE_DEVICES", "MIG-00000000-1111-2222-3333-444444444444,0", 1);
    collect_open(&c, "nvml", &env);
    assert_false(collect_noted(&c, "MIG"));
    collect_close(&c);
}

static void numbers_of_unlike_gpus_are_doubted(void **state)
{
    (void)state;
    setenv("FAKE_NVML_GPUS", "2", 1);
    setenv("FAKE_NVML_NAMES", "NVIDIA A;NVIDIA B", 1);
    setenv("CUDA_VISIBLE_DEVICES", "1", 1);
    collect_open(&c, "nvml", &env);
    assert_true(collect_noted(&c, "set CUDA_DEVICE_ORDER=PCI_BUS_ID"));
    assert_string_equal(c.setup.devices[0].name, "NVIDIA B");
    collect_close(&c);

    setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
    collect_open(&c, "nvml", &env);
    assert_false(collect_noted(&c, "CUDA_DEVICE_ORDER"));
    collect_close(&c);

    unsetenv("CUDA_DEVICE_ORDER");
    setenv("CUDA_VISIBLE_DEVICES", "GPU-1", 1);
    collect_open(&c, "nvml", &env);
    assert_false(collect_noted(&c, "CUDA_DEVICE_ORDER"));
    collect_close(&c);
}

/* What is missing when one function is: q[] are the quantities, all else must still be there. */
static const struct {
    const char *symbol;
    int n;
    enum quantity q[2];
} metrics[] = {
    {"nvmlErrorString", 0, {0}},
    {"nvmlDeviceGetHandleByUUID", 0, {0}},
    {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle", 0, {0}},
    {"nvmlDeviceGetName", 0, {0}},
    {"nvmlDeviceGetUUID", 0, {0}},
    {"nvmlDeviceGetFieldValues", 0, {0}},            /* the calls take its place */
    {"nvmlDeviceGetTotalEnergyConsumption", 0, {0}}, /* the field does */
    {"nvmlDeviceGetPowerUsage", 0, {0}},
    {"nvmlDeviceGetSamples", 0, {0}},
    {"nvmlDeviceGetTemperature", 1, {QUANTITY_TEMPERATURE_C}},
    {"nvmlDeviceGetMemoryInfo_v2", 0, {0}},
    {"nvmlDeviceGetMemoryInfo", 0, {0}},
    {"nvmlDeviceGetUtilizationRates",
     2,
     {QUANTITY_UTILIZATION_PCT, QUANTITY_MEMORY_UTILIZATION_PCT}},
    {"nvmlDeviceGetClockInfo", 1, {QUANTITY_CLOCK_HZ}},
    {"nvmlDeviceGetEnforcedPowerLimit", 1, {QUANTITY_POWER_LIMIT_W}},
    {"nvmlDeviceGetCurrentClocksEventReasons", 0, {0}},
    {"nvmlDeviceGetCurrentClocksThrottleReasons", 0, {0}},
    {"nvmlDeviceGetComputeRunningProcesses_v3", 0, {0}},
    {"nvmlDeviceGetComputeRunningProcesses_v2", 0, {0}},
};

static const enum quantity all_quantities[] = {
    QUANTITY_ENERGY_J,           QUANTITY_POWER_W,
    QUANTITY_TEMPERATURE_C,      QUANTITY_MEMORY_USED_BYTES,
    QUANTITY_MEMORY_TOTAL_BYTES, QUANTITY_UTILIZATION_PCT,
    QUANTITY_CLOCK_HZ,           QUANTITY_MEMORY_UTILIZATION_PCT,
    QUANTITY_POWER_LIMIT_W,      QUANTITY_THROTTLED,
    QUANTITY_FOREIGN_PROCESSES,
};

/* Opens, reads, and checks that exactly these quantities of GPU 0 are absent. */
static void assert_absent(const struct telemetry_env *e, const enum quantity *q, int n)
{
    collect_open(&c, "nvml", e);
    assert_ok(collect_read(&c), &c.err);
    for (size_t i = 0; i < COUNT(all_quantities); i++) {
        bool absent = false;

        for (int k = 0; k < n; k++)
            absent = absent || q[k] == all_quantities[i];
        if (isnan(collect_value(&c, 0, all_quantities[i])) != absent)
            fail_msg("%s is %s", quantity_name(all_quantities[i]), absent ? "there" : "absent");
        if ((collect_channel(&c, 0, all_quantities[i]) == COLLECT_NONE) != absent)
            fail_msg("%s is %s declared", quantity_name(all_quantities[i]), absent ? "" : "not");
    }
    assert_one_summed(0);
    collect_close(&c);
}

static void each_missing_symbol_costs_one_metric(void **state)
{
    (void)state;
    make_temp_dir(dir);
    for (size_t i = 0; i < COUNT(metrics); i++) {
        char path[192];

        library_without(LIB, metrics[i].symbol, dir, path, sizeof(path));
        assert_absent(&(struct telemetry_env){.nvml_lib = path}, metrics[i].q, metrics[i].n);
        unlink(path);
    }
    rmdir(dir);
}

/* The table above names every optional function. */
static void the_table_is_complete(void **state)
{
#define NAME_REQUIRED(symbol)                        NULL
#define NAME_OPTIONAL(symbol)                        #symbol
#define NAME(kind, type, member, symbol, parameters) NAME_##kind(symbol),
    static const char *const optional[] = {NVML_API(NAME)};
    size_t n = 0;

    (void)state;
    for (size_t i = 0; i < COUNT(optional); i++) {
        if (!optional[i])
            continue;
        assert_true(n < COUNT(metrics));
        assert_string_equal(metrics[n++].symbol, optional[i]);
    }
    assert_int_equal(n, COUNT(metrics));
}

static void each_missing_required_symbol_is_named(void **state)
{
    static const char *const required[] = {"nvmlInit_v2", "nvmlShutdown", "nvmlDeviceGetCount_v2",
                                           "nvmlDeviceGetHandleByIndex_v2"};

    (void)state;
    make_temp_dir(dir);
    for (size_t i = 0; i < COUNT(required); i++) {
        char path[192], words[64];

        library_without(LIB, required[i], dir, path, sizeof(path));
        snprintf(words, sizeof(words), "has no %s; ", required[i]);
        assert_fails(collect_try(&c, "nvml", &(struct telemetry_env){.nvml_lib = path}), ENOSYS,
                     &c.err, words);
        unlink(path);
    }
    rmdir(dir);
}

static void each_failing_call_costs_one_metric(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(metrics); i++) {
        static const enum quantity processes = QUANTITY_FOREIGN_PROCESSES;
        static const enum quantity throttled = QUANTITY_THROTTLED;
        char text[96];

        snprintf(text, sizeof(text), "%s=%d", metrics[i].symbol, NVML_ERROR_NOT_SUPPORTED);
        setenv("FAKE_NVML_ERRORS", text, 1);
        /* where an older function stands in for a missing one, it does not for a failing one */
        if (strstr(text, "Processes_v3"))
            assert_absent(&env, &processes, 1);
        else if (strstr(text, "EventReasons"))
            assert_absent(&env, &throttled, 1);
        else
            assert_absent(&env, metrics[i].q, metrics[i].n);
    }
}

static void older_functions_stand_in(void **state)
{
    char path[192];

    (void)state;
    make_temp_dir(dir);
    library_without(LIB, "nvmlDeviceGetMemoryInfo_v2", dir, path, sizeof(path));
    collect_open(&c, "nvml", &(struct telemetry_env){.nvml_lib = path});
    assert_ok(collect_read(&c), &c.err);
    /* the first version counts what the driver keeps */
    assert_near(collect_value(&c, 0, QUANTITY_MEMORY_USED_BYTES), 1.5 * GIB, 0);
    assert_near(collect_value(&c, 0, QUANTITY_MEMORY_TOTAL_BYTES), 80 * GIB, 0);
    collect_close(&c);
    unlink(path);

    setenv("FAKE_NVML_REASONS", "4", 1);
    setenv("FAKE_NVML_PROCESSES", "3", 1);
    library_without(LIB, "nvmlDeviceGetCurrentClocksEventReasons", dir, path, sizeof(path));
    collect_open(&c, "nvml", &(struct telemetry_env){.nvml_lib = path});
    assert_ok(collect_read(&c), &c.err);
    assert_near(collect_value(&c, 0, QUANTITY_THROTTLED), 1, 0);
    collect_close(&c);
    unlink(path);

    library_without(LIB, "nvmlDeviceGetName", dir, path, sizeof(path));
    collect_open(&c, "nvml", &(struct telemetry_env){.nvml_lib = path});
    assert_string_equal(c.setup.devices[0].name, "NVIDIA GPU");
    collect_close(&c);
    unlink(path);
    rmdir(dir);
}

static void memory_without_both_versions(void **state)
{
    static const enum quantity q[] = {QUANTITY_MEMORY_USED_BYTES, QUANTITY_MEMORY_TOTAL_BYTES};

    (void)state;
    setenv("FAKE_NVML_ERRORS", "nvmlDeviceGetMemoryInfo_v2=3,nvmlDeviceGetMemoryInfo=3", 1);
    assert_absent(&env, q, 2);
}

static void power_is_the_instant_field_else_the_average(void **state)
{
    (void)state;
    setenv("FAKE_NVML_DELAY_US", "nvmlDeviceGetPowerUsage=1000000", 1);
    collect_open(&c, "nvml", &env); /* at once: the call is not made */
    collect_close(&c);
    unsetenv("FAKE_NVML_DELAY_US");
    setenv("FAKE_NVML_ERRORS", "field186=3", 1);
    assert_absent(&env, NULL, 0);
    setenv("FAKE_NVML_ERRORS", "field83=3", 1);
    assert_absent(&env, NULL, 0);
    setenv("FAKE_NVML_ERRORS", "field186=3,nvmlDeviceGetPowerUsage=3", 1);
    assert_absent(&env, (const enum quantity[]){QUANTITY_POWER_W}, 1);
}

/* An old GPU: no counter. The ring is summed where there is one, else the polled power. */
static void power_only(void **state)
{
    static const enum quantity energy = QUANTITY_ENERGY_J;
    size_t ring, power;

    (void)state;
    setenv("FAKE_NVML_ERRORS", "field83=3,nvmlDeviceGetTotalEnergyConsumption=3", 1);
    assert_absent(&env, &energy, 1);
    collect_open(&c, "nvml", &env);
    ring = collect_named(&c, "GPU 0 samples", QUANTITY_POWER_W);
    power = collect_named(&c, "GPU 0", QUANTITY_POWER_W);
    assert_true(c.setup.channels[ring].summed);
    assert_false(c.setup.channels[power].summed);
    collect_close(&c);

    setenv("FAKE_NVML_RING_MS", "0", 1);
    assert_absent(&env, &energy, 1);
    collect_open(&c, "nvml", &env);
    assert_int_equal(collect_named(&c, "GPU 0 samples", QUANTITY_POWER_W), COLLECT_NONE);
    power = collect_named(&c, "GPU 0", QUANTITY_POWER_W);
    assert_true(c.setup.channels[power].summed);
    collect_close(&c);
}

static void what_counts_as_throttling(void **state)
{
    static const struct {
        const char *bits;
        double throttled;
    } cases[] = {
        {"0", 0},
        {"1", 0} /* idle */,
        {"2", 0} /* clocks set */,
        {"4", 1},
        {"8", 1},
        {"16", 0},
        {"32", 1},
        {"64", 1},
        {"128", 1},
        {"256", 0},
        {"3", 0},
        {"5", 1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("FAKE_NVML_REASONS", cases[i].bits, 1);
        collect_open(&c, "nvml", &env);
        assert_ok(collect_read(&c), &c.err);
        assert_near(collect_value(&c, 0, QUANTITY_THROTTLED), cases[i].throttled, 0);
        collect_close(&c);
    }
}

static void processes_are_counted_once_each(void **state)
{
    static const struct {
        const char *processes;
        double value;
    } cases[] = {
        {"0", 0},     {"1", 1}, {"5", 5}, /* 7 entries */
        {"85", 85},                       /* 127 */
        {"200", 300},                     /* more entries than there is room for */
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("FAKE_NVML_PROCESSES", cases[i].processes, 1);
        collect_open(&c, "nvml", &env);
        assert_ok(collect_read(&c), &c.err);
        assert_near(collect_value(&c, 0, QUANTITY_FOREIGN_PROCESSES), cases[i].value, 0);
        collect_close(&c);
    }
}

static void a_failing_channel_is_not_put_and_comes_back(void **state)
{
    size_t all;

    (void)state;
    setenv("FAKE_NVML_RING_MS", "0", 1);
    collect_open(&c, "nvml", &env);
    assert_ok(collect_read(&c), &c.err);
    setenv("FAKE_NVML_ERRORS", "nvmlDeviceGetTemperature=999,field83=21", 1);
    assert_ok(collect_read(&c), &c.err);
    assert_true(isnan(collect_value(&c, 0, QUANTITY_TEMPERATURE_C)));
    assert_true(isnan(collect_value(&c, 0, QUANTITY_ENERGY_J)));
    assert_near(collect_value(&c, 0, QUANTITY_POWER_W), 100, 0);
    assert_near(collect_value(&c, 0, QUANTITY_CLOCK_HZ), 1500e6, 0);
    all = c.n_puts + 2;
    unsetenv("FAKE_NVML_ERRORS");
    assert_ok(collect_read(&c), &c.err);
    assert_int_equal(c.n_puts, all);
    collect_close(&c);
}

static void all_failing_is_a_failed_read(void **state)
{
    (void)state;
    collect_open(&c, "nvml", &env);
    setenv("FAKE_NVML_ERRORS", "*=999", 1);
    assert_fails(collect_read(&c), EIO, &c.err, "NVML: Unknown Error");
    assert_int_equal(c.n_puts, 0);
    unsetenv("FAKE_NVML_ERRORS");
    assert_ok(collect_read(&c), &c.err);
    collect_close(&c);
}

static void a_lost_gpu_is_absent_and_left_alone(void **state)
{
    (void)state;
    setenv("FAKE_NVML_GPUS", "2", 1);
    collect_open(&c, "nvml", &env);
    setenv("FAKE_NVML_ERRORS", "*@1=15", 1);
    for (int i = 0; i < 2; i++) {
        assert_ok(collect_read(&c), &c.err);
        assert_near(collect_value(&c, 0, QUANTITY_POWER_W), 100, 0);
        for (size_t k = 0; k < c.n_puts; k++)
            assert_int_equal(c.setup.channels[c.puts[k].channel].device, 0);
        /* It is not asked again: NVML may take seconds to say so each time. */
        setenv("FAKE_NVML_ERRORS", "", 1);
    }
    setenv("FAKE_NVML_ERRORS", "*@0=15", 1);
    assert_fails(collect_read(&c), EIO, &c.err, "NVML: GPU is lost");
    assert_fails(collect_read(&c), EIO, &c.err, "NVML: GPU is lost");
    collect_close(&c);
}

static void a_gpu_lost_before_opening_is_noted(void **state)
{
    (void)state;
    setenv("FAKE_NVML_GPUS", "3", 1);
    setenv("FAKE_NVML_ERRORS", "nvmlDeviceGetHandleByIndex_v2@0=15,*@2=15", 1);
    collect_open(&c, "nvml", &env);
    assert_int_equal(c.setup.n_devices, 1);
    assert_int_equal(c.setup.devices[0].number, 1);
    assert_true(collect_noted(&c, "GPU 0 cannot be read: GPU is lost"));
    assert_true(collect_noted(&c, "GPU 2 cannot be read: GPU is lost"));
    assert_ok(collect_read(&c), &c.err);
    collect_close(&c);

    /* the handle is had, but nothing behind it */
    setenv("FAKE_NVML_ERRORS",
           "nvmlDeviceGetFieldValues@2=15,nvmlDeviceGetTotalEnergyConsumption@"
           "2=15,nvmlDeviceGetPowerUsage@2=15",
           1);
    collect_open(&c, "nvml", &env);
    assert_int_equal(c.setup.n_devices, 2);
    assert_true(collect_noted(&c, "GPU 2 (NVIDIA Stand-in) is lost; reset it"));
    collect_close(&c);
}

static void what_nvml_says_at_the_start(void **state)
{
    static const struct {
        const char *errors;
        int code;
        const char *words;
    } cases[] = {
        {"nvmlInit_v2=9", ENXIO, "NVML: Driver Not Loaded; load it with: modprobe nvidia"},
        {"nvmlInit_v2=4", EACCES, "NVML: Insufficient Permissions; give this user access"},
        {"nvmlInit_v2=18", EPROTO, "NVML: Driver/library version mismatch; restart the machine"},
        {"nvmlInit_v2=999", EIO, "NVML: Unknown Error (999); see what nvidia-smi says"},
        {"nvmlInit_v2=28", ENODEV, "NVML: "},
        {"nvmlDeviceGetCount_v2=999", EIO, "NVML: Unknown Error (999); see"},
        {"nvmlDeviceGetHandleByIndex_v2=15", EIO, "NVML: no GPU can be read; see"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("FAKE_NVML_ERRORS", cases[i].errors, 1);
        assert_fails(collect_try(&c, "nvml", &env), cases[i].code, &c.err, cases[i].words);
    }
    assert_int_equal(*inits, 2);
}

static void not_the_library(void **state)
{
    char path[96];
    FILE *f;

    (void)state;
    make_temp_dir(dir);
    snprintf(path, sizeof(path), "%s/text.so", dir);
    assert_fails(collect_try(&c, "nvml", &(struct telemetry_env){.nvml_lib = path}), ENODEV, &c.err,
                 "text.so is not installed");
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("this is not a library, though it is long enough to be looked at by the loader: an ELF "
          "header has sixty-four bytes",
          f);
    fclose(f);
    assert_fails(collect_try(&c, "nvml", &(struct telemetry_env){.nvml_lib = path}), ENOEXEC,
                 &c.err, "cannot be loaded: ");
    assert_int_equal(truncate(path, 3), 0);
    assert_fails(collect_try(&c, "nvml", &(struct telemetry_env){.nvml_lib = path}), ENOEXEC,
                 &c.err, "cannot be loaded: ");
    unlink(path);
    /* a library that is here and needs one that is not */
    library_without(LIB, "libc.so.6", dir, path, sizeof(path));
    assert_fails(collect_try(&c, "nvml", &(struct telemetry_env){.nvml_lib = path}), ENOEXEC,
                 &c.err, "cannot be loaded: _ibc.so.6: ");
    unlink(path);
    rmdir(dir);
    assert_fails(
        collect_try(&c, "nvml", &(struct telemetry_env){.nvml_lib = FAKES "/fake_empty.so"}),
        ENOSYS, &c.err, "has no nvmlInit_v2; ");
    /* all that is required, and nothing to measure */
    assert_fails(
        collect_try(&c, "nvml", &(struct telemetry_env){.nvml_lib = FAKES "/fake_nvml_minimal.so"}),
        EIO, &c.err, "no GPU can be read");
}

static void write_vendor(const char *device, const char *vendor)
{
    char path[160];
    FILE *f;

    snprintf(path, sizeof(path), "%s/bus/pci/devices/%s", dir, device);
    assert_int_equal(fs_mkdirs(path, NULL), 0);
    snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/vendor", dir, device);
    f = fopen(path, "w");
    assert_non_null(f);
    fprintf(f, "%s\n", vendor);
    fclose(f);
}

/* The library is installed, its driver is not loaded: a fault where there is such a GPU, else none.
 */
static void a_library_without_hardware(void **state)
{
    struct telemetry_env e = {.nvml_lib = LIB, .sysfs_root = dir};

    (void)state;
    make_temp_dir(dir);
    setenv("FAKE_NVML_ERRORS", "nvmlInit_v2=9", 1);
    assert_fails(collect_try(&c, "nvml", &e), ENXIO, &c.err, "Driver Not Loaded; load it with");
    write_vendor("0000:00:1f.0", "0x8086");
    assert_fails(collect_try(&c, "nvml", &e), ENODEV, &c.err,
                 "no NVIDIA GPU here (NVML: Driver Not Loaded)");
    write_vendor("0000:01:00.0", "0x10de");
    assert_fails(collect_try(&c, "nvml", &e), ENXIO, &c.err, "Driver Not Loaded; load it with");
    /* a wrong library is a mistake with and without a GPU */
    e.nvml_lib = FAKES "/fake_empty.so";
    assert_fails(collect_try(&c, "nvml", &e), ENOSYS, &c.err, "has no nvmlInit_v2");
    assert_int_equal(fs_remove_tree(AT_FDCWD, dir, NULL), 0);
}

static void not_installed(void **state)
{
    void *real = dlopen("libnvidia-ml.so.1", RTLD_LAZY);

    (void)state;
    if (real) {
        dlclose(real);
        skip();
    }
    assert_fails(collect_try(&c, "nvml", &(struct telemetry_env){0}), ENODEV, &c.err,
                 "libnvidia-ml.so.1 is not installed");
}

/* The ring's samples come with the driver's stamps, none twice, none missing. */
static void the_ring(void **state)
{
    struct simpower p;
    size_t ring;
    mono_ns last = 0, opened;
    int n = 0;

    (void)state;
    setenv("FAKE_NVML_POWER", "ramp:100:300:1", 1);
    assert_int_equal(simpower_parse("ramp:100:300:1", &p, NULL), 0);
    opened = mono_now();
    collect_open(&c, "nvml", &env);
    ring = collect_named(&c, "GPU 0 samples", QUANTITY_POWER_W);
    assert_true(ring != COLLECT_NONE);
    assert_near((double)c.setup.channels[ring].refresh_ns, 20e6, 2000);
    assert_false(c.setup.channels[ring].summed); /* there is a counter */
    for (int i = 0; i < 4; i++) {
        mono_sleep_until(mono_now() + 70 * NS_PER_MS);
        assert_ok(collect_read(&c), &c.err);
        for (size_t k = 0; k < c.n_puts; k++) {
            const struct collect_put *put = &c.puts[k];
            mono_ns sample = (put->before + 10 * NS_PER_MS) / (20 * NS_PER_MS) * 20 * NS_PER_MS;

            if (put->channel != ring)
                continue;
            assert_int_equal(put->before, put->after);
            assert_near((double)(put->before - sample), 0, STAMP_TOLERANCE_NS);
            assert_near(put->value, simpower_watts(&p, sample), 0.001);
            assert_true(sample > opened - 20 * NS_PER_MS);
            if (last)
                assert_int_equal(sample - last, 20 * NS_PER_MS);
            last = sample;
            n++;
        }
    }
    assert_true(n >= 12);
    collect_close(&c);
}

static void a_ring_that_makes_no_sense_is_not_used(void **state)
{
    static const char *const settings[][2] = {
        {"FAKE_NVML_RING_MS", "0"},
        {"FAKE_NVML_RING_SIZE", "1"},
        {"FAKE_NVML_RING_MS", "4000"}, /* the newest may be too old, the spacing always is */
        {"FAKE_NVML_ERRORS", "nvmlDeviceGetSamples=6"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(settings); i++) {
        clear_environment("FAKE_");
        setenv(settings[i][0], settings[i][1], 1);
        collect_open(&c, "nvml", &env);
        assert_int_equal(collect_named(&c, "GPU 0 samples", QUANTITY_POWER_W), COLLECT_NONE);
        collect_close(&c);
    }
    /* an hour old, by a clock that stands still */
    clear_environment("FAKE_");
    pin(mono_now() - 6 * NS_PER_S);
    collect_open(&c, "nvml", &env);
    assert_int_equal(collect_named(&c, "GPU 0 samples", QUANTITY_POWER_W), COLLECT_NONE);
    collect_close(&c);
}

/* Stamps that are wrong for a while, as when the wall clock is set, cost the samples of that while
 * and no more. */
static void a_ring_with_wrong_stamps_recovers(void **state)
{
    static const char *const shifts[] = {"100", "-100", "100000"};

    (void)state;
    for (size_t i = 0; i < COUNT(shifts); i++) {
        size_t ring;

        collect_open(&c, "nvml", &env);
        ring = collect_named(&c, "GPU 0 samples", QUANTITY_POWER_W);
        setenv("FAKE_NVML_RING_SHIFT_S", shifts[i], 1);
        mono_sleep_until(mono_now() + 50 * NS_PER_MS);
        assert_ok(collect_read(&c), &c.err);
        assert_null(collect_last(&c, ring));
        unsetenv("FAKE_NVML_RING_SHIFT_S");
        assert_ok(collect_read(&c), &c.err);
        assert_non_null(collect_last(&c, ring));
        collect_close(&c);
    }
    /* wrong from the start: not used */
    setenv("FAKE_NVML_RING_SHIFT_S", "10", 1);
    collect_open(&c, "nvml", &env);
    assert_int_equal(collect_named(&c, "GPU 0 samples", QUANTITY_POWER_W), COLLECT_NONE);
    collect_close(&c);
}

static void a_dry_ring_is_replaced_by_polling(void **state)
{
    const struct collect_put *put;
    size_t ring;
    mono_ns stop;

    (void)state;
    collect_open(&c, "nvml", &env);
    ring = collect_named(&c, "GPU 0 samples", QUANTITY_POWER_W);
    assert_ok(collect_read(&c), &c.err);
    setenv("FAKE_NVML_ERRORS", "nvmlDeviceGetSamples=6", 1);
    stop = mono_now() + 1100 * NS_PER_MS;
    assert_ok(collect_read(&c), &c.err);
    if (mono_now() < stop - 200 * NS_PER_MS)
        assert_null(collect_last(&c, ring));
    mono_sleep_until(stop);
    for (int i = 0; i < 2; i++) { /* from now on at every read */
        assert_ok(collect_read(&c), &c.err);
        put = collect_last(&c, ring);
        assert_non_null(put);
        assert_near(put->value, 100, 0);
        assert_true(put->before >= stop);
    }
    /* and back */
    stop = put->after;
    unsetenv("FAKE_NVML_ERRORS");
    mono_sleep_until(mono_now() + 50 * NS_PER_MS);
    assert_ok(collect_read(&c), &c.err);
    put = collect_last(&c, ring);
    assert_non_null(put);
    assert_int_equal(put->before, put->after);
    for (size_t i = 0; i < c.n_puts; i++)
        assert_true(c.puts[i].channel != ring || c.puts[i].before > stop);
    collect_close(&c);
}

/* Polled far from the renewals, the counter's ticks still get the time of the renewal, because the
 * stamps tell it. */
static void stamps_of_renewal_sharpen_the_counter(void **state)
{
    struct collect_put previous = {0};
    size_t energy;
    int sharp = 0;

    (void)state;
    setenv("FAKE_NVML_REFRESH_MS", "40", 1);
    setenv("FAKE_NVML_RING_MS", "0", 1);
    collect_open(&c, "nvml", &env);
    energy = collect_channel(&c, 0, QUANTITY_ENERGY_J);
    for (int i = 0; i < 60 && sharp < 3; i++) {
        mono_sleep_until(mono_now() + 9 * NS_PER_MS);
        assert_ok(collect_read(&c), &c.err);
        for (size_t k = 0; k < c.n_puts; k++) {
            const struct collect_put *put = &c.puts[k];

            if (put->channel != energy)
                continue;
            if (previous.after && put->value != previous.value) {
                mono_ns renewal = put->after / (40 * NS_PER_MS) * 40 * NS_PER_MS;

                /* the tick (previous.before, put.after] holds the renewal */
                assert_true(previous.before < renewal);
                sharp += put->after - previous.before <= 4 * STAMP_TOLERANCE_NS;
            }
            assert_true(put->before >= previous.after);
            previous = *put;
        }
    }
    assert_int_equal(sharp, 3);
    collect_close(&c);
}

static void other_stamps_do_not(void **state)
{
    static const char *const kinds[] = {"read", "none", "future"};

    (void)state;
    setenv("FAKE_NVML_REFRESH_MS", "30", 1);
    setenv("FAKE_NVML_RING_MS", "0", 1);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        size_t energy;

        setenv("FAKE_NVML_STAMPS", kinds[i], 1);
        collect_open(&c, "nvml", &env);
        energy = collect_channel(&c, 0, QUANTITY_ENERGY_J);
        for (int k = 0; k < 25; k++) {
            mono_ns before = mono_now(), after;

            assert_ok(collect_read(&c), &c.err);
            after = mono_now();
            for (size_t p = 0; p < c.n_puts; p++)
                assert_true(c.puts[p].channel != energy ||
                            (c.puts[p].before >= before && c.puts[p].after <= after));
            mono_sleep_until(after + 7 * NS_PER_MS);
        }
        collect_close(&c);
    }
}

static void the_stand_in_resets_and_jitters(void **state)
{
    mono_ns t = mono_now() - 10 * NS_PER_S;
    double last = 0;

    (void)state;
    t -= t % (100 * NS_PER_MS);
    setenv("FAKE_NVML_RESET_AT", "1", 1);
    setenv("FAKE_NVML_QUANTUM_MJ", "500", 1);
    pin(t);
    collect_open(&c, "nvml", &env);
    pin(t + 950 * NS_PER_MS);
    assert_ok(collect_read(&c), &c.err);
    assert_near(collect_value(&c, 0, QUANTITY_ENERGY_J), 1090, 1e-9);
    pin(t + 1450 * NS_PER_MS);
    assert_ok(collect_read(&c), &c.err);
    assert_near(collect_value(&c, 0, QUANTITY_ENERGY_J), 40, 1e-9);
    collect_close(&c);

    /* renewed once in every period, never backwards, at times that are not the multiples */
    clear_environment("FAKE_");
    setenv("FAKE_NVML_JITTER", "0.9", 1);
    pin(t);
    collect_open(&c, "nvml", &env);
    for (int i = 1; i <= 20; i++) {
        double value;

        pin(t + i * 100 * NS_PER_MS + 99 * NS_PER_MS);
        assert_ok(collect_read(&c), &c.err);
        value = collect_value(&c, 0, QUANTITY_ENERGY_J);
        assert_true(value >= 1000 + i * 10 && value <= 1000 + (i + 0.9) * 10);
        assert_true(value > last);
        last = value;
    }
    collect_close(&c);
}

static void a_hanging_call_hangs(void **state)
{
    pid_t child;
    int status;

    (void)state;
    child = fork();
    if (child == 0) {
        collect_open(&c, "nvml", &env);
        setenv("FAKE_NVML_HANG", "nvmlDeviceGetTemperature", 1);
        collect_read(&c);
        _exit(0);
    }
    assert_true(child > 0);
    mono_sleep_until(mono_now() + 300 * NS_PER_MS);
    assert_int_equal(waitpid(child, &status, WNOHANG), 0);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
}

static void is_listed_with_its_state(void **state)
{
    struct plugin_status status;
    const struct collector_ops *ops = collector_find("nvml", NULL);

    (void)state;
    assert_string_equal(collectors.items[0]->id, "nvml");
    assert_string_equal(collectors.items[1]->id, "amdsmi");
    assert_false(ops->estimates);
    setenv("IPW_NVML_LIB", LIB, 1);
    setenv("IPW_SYSFS_ROOT", "/nonexistent", 1); /* this machine's own devices do not matter */
    status = plugin_status(&ops->plugin);
    assert_true(status.usable);
    setenv("FAKE_NVML_ERRORS", "nvmlInit_v2=9", 1);
    status = plugin_status(&ops->plugin);
    assert_false(status.usable);
    assert_string_equal(status.reason, "NVML: Driver Not Loaded");
    assert_string_equal(status.remedy,
                        "load it with: modprobe nvidia (in a container: start that with --gpus "
                        "all)");
    unsetenv("IPW_NVML_LIB");
    unsetenv("IPW_SYSFS_ROOT");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)
static const struct CMUnitTest tests[] = {
    TEST(one_gpu),
    TEST(reads_are_stamped_around),
    TEST(many_gpus_are_kept_apart),
    TEST(no_gpu),
    TEST(which_gpus_count),
    TEST(mig_beside_the_whole_gpu_is_not_shared),
    TEST(numbers_of_unlike_gpus_are_doubted),
    TEST(the_table_is_complete),
    TEST(each_missing_symbol_costs_one_metric),
    TEST(each_missing_required_symbol_is_named),
    TEST(each_failing_call_costs_one_metric),
    TEST(older_functions_stand_in),
    TEST(memory_without_both_versions),
    TEST(power_is_the_instant_field_else_the_average),
    TEST(power_only),
    TEST(what_counts_as_throttling),
    TEST(processes_are_counted_once_each),
    TEST(a_failing_channel_is_not_put_and_comes_back),
    TEST(all_failing_is_a_failed_read),
    TEST(a_lost_gpu_is_absent_and_left_alone),
    TEST(a_gpu_lost_before_opening_is_noted),
    TEST(what_nvml_says_at_the_start),
    TEST(not_the_library),
    TEST(a_library_without_hardware),
    TEST(not_installed),
    TEST(the_ring),
    TEST(a_ring_that_makes_no_sense_is_not_used),
    TEST(a_ring_with_wrong_stamps_recovers),
    TEST(a_dry_ring_is_replaced_by_polling),
    TEST(stamps_of_renewal_sharpen_the_counter),
    TEST(other_stamps_do_not),
    TEST(the_stand_in_resets_and_jitters),
    TEST(a_hanging_call_hangs),
    TEST(is_listed_with_its_state),
};
TEST_MAIN(tests)
