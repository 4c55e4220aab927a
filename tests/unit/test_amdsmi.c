/* The AMD collector against stand-ins for both libraries: exact values, the counter's step, which
 * GPUs count, and what each missing or failing function costs. */
#include "harness.h"

#include "base/fs.h"
#include "support/collect.h"
#include "support/simpower.h"
#include "telemetry/amd_backend.h"
#include "telemetry/amdsmi_api.h"
#include "telemetry/rocmsmi_api.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>

#define AMDSMI       FAKES "/fake_amdsmi.so"
#define ROCMSMI      FAKES "/fake_rocmsmi.so"
#define GIB          ((double)(1ull << 30))
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct collect c;
static char dir[64];

/* The test's own handles on the stand-ins keep their counters and clocks between openings. */
static struct stand_in {
    const char *path;
    const char *backend;
    void *lib;
    void (*pin)(mono_ns t);
    int *inits, *shutdowns;
} both[] = {{AMDSMI, "AMDSMI"}, {ROCMSMI, "ROCm SMI"}};

static int start(void **state)
{
    (void)state;
    clear_environment("FAKE_");
    unsetenv("ROCR_VISIBLE_DEVICES");
    unsetenv("HIP_VISIBLE_DEVICES");
    for (size_t i = 0; i < COUNT(both); i++) {
        struct stand_in *s = &both[i];

        s->lib = dlopen(s->path, RTLD_NOW | RTLD_LOCAL);
        assert_non_null(s->lib);
        *(void **)&s->pin = dlsym(s->lib, "fake_pin");
        s->inits = dlsym(s->lib, "fake_inits");
        s->shutdowns = dlsym(s->lib, "fake_shutdowns");
        *s->inits = *s->shutdowns = 0;
        s->pin(MONO_ABSENT);
    }
    return 0;
}

static int finish(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(both); i++) {
        assert_int_equal(*both[i].inits, *both[i].shutdowns);
        dlclose(both[i].lib);
    }
    return 0;
}

static struct telemetry_env env_of(const char *path)
{
    return (struct telemetry_env){.amdsmi_lib = path};
}

static void open_lib(const char *path)
{
    struct telemetry_env env = env_of(path);

    collect_open(&c, "amdsmi", &env);
}

static int try_lib(const char *path)
{
    struct telemetry_env env = env_of(path);

    return collect_try(&c, "amdsmi", &env);
}

static double parsed_joules(const char *text, mono_ns a, mono_ns b)
{
    struct simpower p;

    assert_int_equal(simpower_parse(text, &p, NULL), 0);
    return simpower_joules(&p, a, b);
}

/* What the counter shows: whole steps at the renewal, which is every millisecond. */
static double shown(const char *power, double step_j, mono_ns origin, mono_ns t)
{
    double joules = 1000 + parsed_joules(power, origin, t - t % NS_PER_MS);

    return floor(joules / step_j + 1e-9) * step_j;
}

static void one_gpu(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(both); i++) {
        mono_ns t = mono_now() - 10 * NS_PER_S, later = t + 1234567890;
        const struct channel *energy, *power;
        const struct device *d;

        both[i].pin(t);
        open_lib(both[i].path);
        assert_int_equal(c.setup.n_devices, 1);
        d = &c.setup.devices[0];
        assert_int_equal(d->kind, DEVICE_GPU);
        assert_int_equal(d->number, 0);
        assert_string_equal(d->name, "AMD Stand-in 0");
        assert_string_equal(d->vendor, "AMD");
        assert_string_equal(d->uuid, "0000:c1:00.0");
        assert_string_equal(d->backend, both[i].backend);
        assert_int_equal(c.setup.n_notes, 0);

        energy = &c.setup.channels[collect_channel(&c, 0, QUANTITY_ENERGY_J)];
        assert_int_equal(energy->rail, RAIL_GPU);
        assert_string_equal(energy->name, "GPU 0");
        assert_true(energy->summed);
        assert_true(isnan(energy->range));
        assert_near(energy->quantum, 0x1p-16, 0);
        power = &c.setup.channels[collect_channel(&c, 0, QUANTITY_POWER_W)];
        assert_int_equal(power->rail, RAIL_GPU);
        assert_false(power->summed);

        both[i].pin(later);
        assert_ok(collect_read(&c), &c.err);
        assert_near(collect_value(&c, 0, QUANTITY_ENERGY_J),
                    shown("constant:100", 0x1p-16, t, later), 1e-9);
        assert_near(collect_value(&c, 0, QUANTITY_POWER_W), 100, 0);
        assert_near(collect_value(&c, 0, QUANTITY_TEMPERATURE_C), 55, 0);
        assert_near(collect_value(&c, 0, QUANTITY_MEMORY_USED_BYTES), 2 * GIB, 0);
        assert_near(collect_value(&c, 0, QUANTITY_MEMORY_TOTAL_BYTES), 192 * GIB, 0);
        assert_near(collect_value(&c, 0, QUANTITY_UTILIZATION_PCT), 60, 0);
        assert_near(collect_value(&c, 0, QUANTITY_MEMORY_UTILIZATION_PCT), 20, 0);
        /* the total does not change: once a second */
        assert_ok(collect_read(&c), &c.err);
        assert_true(isnan(collect_value(&c, 0, QUANTITY_MEMORY_TOTAL_BYTES)));
        assert_near(collect_value(&c, 0, QUANTITY_MEMORY_USED_BYTES), 2 * GIB, 0);
        collect_close(&c);
        assert_int_equal(*both[i].inits, 1);
    }
}

static void the_step_of_the_counter(void **state)
{
    struct amd_energy e = {.joules = -1};

    (void)state;
    /* what the libraries round is put right */
    assert_true(amd_energy_of(65536, 15.3f, 77, &e));
    assert_near(e.joules, 1, 0);
    assert_near(e.quantum_j, 0x1p-16, 0);
    assert_int_equal(e.stamp_ns, 77);
    /* what they do not is taken as it is */
    assert_true(amd_energy_of(1000000, 10, 0, &e));
    assert_near(e.joules, 10, 1e-12);
    assert_true(amd_energy_of(1000000, 15.25f, 0, &e));
    assert_near(e.joules, 15.25, 1e-12);
    /* and what cannot be is refused */
    e.joules = -1;
    assert_false(amd_energy_of(1, 0, 0, &e));
    assert_false(amd_energy_of(1, -15.3f, 0, &e));
    assert_false(amd_energy_of(1, NAN, 0, &e));
    assert_false(amd_energy_of(1, INFINITY, 0, &e));
    assert_false(amd_energy_of(UINT64_MAX, 15.3f, 0, &e));
    assert_near(e.joules, -1, 0);
}

static void another_resolution(void **state)
{
    (void)state;
    setenv("FAKE_AMD_RESOLUTION_UJ", "1000", 1);
    setenv("FAKE_AMD_POWER", "square:100:300:0.5", 1);
    for (size_t i = 0; i < COUNT(both); i++) {
        mono_ns t = mono_now() - 10 * NS_PER_S, later = t + 777 * NS_PER_MS;

        both[i].pin(t);
        open_lib(both[i].path);
        assert_near(c.setup.channels[collect_channel(&c, 0, QUANTITY_ENERGY_J)].quantum, 1e-3,
                    1e-9);
        both[i].pin(later);
        assert_ok(collect_read(&c), &c.err);
        assert_near(collect_value(&c, 0, QUANTITY_ENERGY_J),
                    shown("square:100:300:0.5", 1e-3, t, later), 1e-6);
        collect_close(&c);
    }
}

static void many_gpus_are_kept_apart(void **state)
{
    static const int counts[] = {2, 8};

    (void)state;
    setenv("FAKE_AMD_POWER", "constant:100;constant:250;constant:30", 1);
    for (size_t i = 0; i < COUNT(both); i++) {
        for (size_t k = 0; k < COUNT(counts); k++) {
            char text[8];

            snprintf(text, sizeof(text), "%d", counts[k]);
            setenv("FAKE_AMD_GPUS", text, 1);
            open_lib(both[i].path);
            assert_int_equal(c.setup.n_devices, counts[k]);
            assert_ok(collect_read(&c), &c.err);
            for (int n = 0; n < counts[k]; n++) {
                /* AMD SMI lists by socket: the stand-in has the even ones on the first */
                int gpu = i == 0 ? (n < counts[k] / 2 ? 2 * n : 2 * (n - counts[k] / 2) + 1) : n;

                assert_int_equal(c.setup.devices[n].number, n);
                assert_near(collect_value(&c, n, QUANTITY_POWER_W),
                            gpu == 0   ? 100
                            : gpu == 1 ? 250
                                       : 30,
                            0);
                assert_near(collect_value(&c, n, QUANTITY_TEMPERATURE_C), 55 + gpu, 0);
            }
            collect_close(&c);
        }
    }
}

static void no_gpu(void **state)
{
    (void)state;
    setenv("FAKE_AMD_GPUS", "0", 1);
    assert_fails(try_lib(AMDSMI), ENODEV, &c.err, "AMD SMI sees no GPU");
    assert_fails(try_lib(ROCMSMI), ENODEV, &c.err, "ROCm SMI sees no GPU");
}

/* Where power stands in the structure depends on the version; an average stands in for it. */
static void layouts_of_all_versions(void **state)
{
    static const char *const versions[] = {"24", "25", "26"};

    (void)state;
    setenv("FAKE_AMD_POWER", "constant:321", 1);
    for (size_t i = 0; i < COUNT(versions); i++) {
        for (int average = 0; average < 2; average++) {
            setenv("FAKE_AMD_VERSION", versions[i], 1);
            setenv("FAKE_AMD_NO_CURRENT", average ? "1" : "0", 1);
            open_lib(AMDSMI);
            assert_ok(collect_read(&c), &c.err);
            assert_near(collect_value(&c, 0, QUANTITY_POWER_W), 321, 0);
            collect_close(&c);
        }
    }
    setenv("FAKE_AMD_VERSION", "23", 1);
    assert_fails(try_lib(AMDSMI), ENOSYS, &c.err, "version 23");
}

static void junction_else_edge(void **state)
{
    (void)state;
    setenv("FAKE_AMD_NO_JUNCTION", "1", 1);
    for (size_t i = 0; i < COUNT(both); i++) {
        open_lib(both[i].path);
        assert_ok(collect_read(&c), &c.err);
        assert_near(collect_value(&c, 0, QUANTITY_TEMPERATURE_C), 45, 0);
        collect_close(&c);
    }
}

static void which_gpus_count(void **state)
{
    static const struct {
        const char *rocr, *hip;
        const char *counted; /* NULL: -ENODEV */
        const char *note;
    } cases[] = {
        {NULL, NULL, "0 1 2 3", NULL},
        {NULL, "all", "0 1 2 3", NULL},
        {NULL, "2", "2", "GPU 0 is not counted because of HIP_VISIBLE_DEVICES"},
        {"1,3", NULL, "1 3", "GPU 2 is not counted because of ROCR_VISIBLE_DEVICES"},
        {"1,3", "1", "3", "GPU 1 is not counted because of HIP_VISIBLE_DEVICES"},
        {"3,1", "0", "3", NULL},
        {"1,3", "2", NULL, NULL}, /* HIP numbers what ROCR leaves */
        {NULL, "0,0", "0", NULL},
        {NULL, "", NULL, NULL},
        {NULL, "-1", NULL, NULL},
        {"none", NULL, NULL, NULL},
        {NULL, "1,9,0", "1", "HIP_VISIBLE_DEVICES: there is no GPU \"9\""},
        {"GPU-0123456789abcdef", NULL, "0 1 2 3", "ROCR_VISIBLE_DEVICES lists UUIDs"},
    };

    (void)state;
    setenv("FAKE_AMD_GPUS", "4", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        char counted[64] = "";
        size_t len = 0;

        unsetenv("ROCR_VISIBLE_DEVICES");
        unsetenv("HIP_VISIBLE_DEVICES");
        if (cases[i].rocr)
            setenv("ROCR_VISIBLE_DEVICES", cases[i].rocr, 1);
        if (cases[i].hip)
            setenv("HIP_VISIBLE_DEVICES", cases[i].hip, 1);
        if (!cases[i].counted) {
            assert_fails(try_lib(ROCMSMI), ENODEV, &c.err, "leave no GPU; unset them");
            continue;
        }
        open_lib(ROCMSMI);
        for (size_t k = 0; k < c.setup.n_devices; k++)
            len += (size_t)snprintf(counted + len, sizeof(counted) - len, "%s%d", k ? " " : "",
                                    c.setup.devices[k].number);
        assert_string_equal(counted, cases[i].counted);
        if (cases[i].note && !collect_noted(&c, cases[i].note))
            fail_msg("case %zu: no note \"%s\"", i, cases[i].note);
        assert_ok(collect_read(&c), &c.err);
        assert_near(collect_value(&c, c.setup.devices[0].number, QUANTITY_TEMPERATURE_C),
                    55 + c.setup.devices[0].number, 0);
        collect_close(&c);
    }
}

/* What is missing when one function is: all else must still be there. */
struct metric {
    const char *symbol;
    int n;
    enum quantity q[2];
};

static const struct metric amdsmi_metrics[] = {
    {"amdsmi_get_lib_version", 1, {QUANTITY_POWER_W}}, /* its place is not known */
    {"amdsmi_status_code_to_string", 0, {0}},
    {"amdsmi_get_gpu_asic_info", 0, {0}},
    {"amdsmi_get_gpu_device_bdf", 0, {0}},
    {"amdsmi_get_energy_count", 1, {QUANTITY_ENERGY_J}},
    {"amdsmi_get_power_info", 1, {QUANTITY_POWER_W}},
    {"amdsmi_get_temp_metric", 1, {QUANTITY_TEMPERATURE_C}},
    {"amdsmi_get_gpu_memory_usage", 1, {QUANTITY_MEMORY_USED_BYTES}},
    {"amdsmi_get_gpu_memory_total", 1, {QUANTITY_MEMORY_TOTAL_BYTES}},
    {"amdsmi_get_gpu_activity", 2, {QUANTITY_UTILIZATION_PCT, QUANTITY_MEMORY_UTILIZATION_PCT}},
};

static const struct metric rocmsmi_metrics[] = {
    {"rsmi_status_string", 0, {0}},
    {"rsmi_dev_name_get", 0, {0}},
    {"rsmi_dev_pci_id_get", 0, {0}},
    {"rsmi_dev_energy_count_get", 1, {QUANTITY_ENERGY_J}},
    {"rsmi_dev_power_get", 0, {0}}, /* the average stands in */
    {"rsmi_dev_power_ave_get", 0, {0}},
    {"rsmi_dev_temp_metric_get", 1, {QUANTITY_TEMPERATURE_C}},
    {"rsmi_dev_memory_usage_get", 1, {QUANTITY_MEMORY_USED_BYTES}},
    {"rsmi_dev_memory_total_get", 1, {QUANTITY_MEMORY_TOTAL_BYTES}},
    {"rsmi_dev_busy_percent_get", 1, {QUANTITY_UTILIZATION_PCT}},
    {"rsmi_dev_memory_busy_percent_get", 1, {QUANTITY_MEMORY_UTILIZATION_PCT}},
};

static void assert_absent(const char *path, const enum quantity *q, int n)
{
    static const enum quantity all[] = {
        QUANTITY_ENERGY_J,
        QUANTITY_POWER_W,
        QUANTITY_TEMPERATURE_C,
        QUANTITY_UTILIZATION_PCT,
        QUANTITY_MEMORY_USED_BYTES,
        QUANTITY_MEMORY_TOTAL_BYTES,
        QUANTITY_MEMORY_UTILIZATION_PCT,
    };
    int summed = 0;

    open_lib(path);
    assert_ok(collect_read(&c), &c.err);
    for (size_t i = 0; i < COUNT(all); i++) {
        bool absent = false;

        for (int k = 0; k < n; k++)
            absent = absent || q[k] == all[i];
        if (isnan(collect_value(&c, 0, all[i])) != absent ||
            (collect_channel(&c, 0, all[i]) == COLLECT_NONE) != absent)
            fail_msg("%s: %s is %s", path, quantity_name(all[i]), absent ? "there" : "absent");
    }
    for (size_t i = 0; i < c.setup.n_channels; i++)
        summed += c.setup.channels[i].summed;
    assert_int_equal(summed, 1);
    collect_close(&c);
}

static void each_missing_symbol_costs_one_metric(void **state)
{
    char path[192];

    (void)state;
    make_temp_dir(dir);
    for (size_t i = 0; i < COUNT(amdsmi_metrics); i++) {
        library_without(AMDSMI, amdsmi_metrics[i].symbol, dir, path, sizeof(path));
        assert_absent(path, amdsmi_metrics[i].q, amdsmi_metrics[i].n);
        unlink(path);
    }
    for (size_t i = 0; i < COUNT(rocmsmi_metrics); i++) {
        library_without(ROCMSMI, rocmsmi_metrics[i].symbol, dir, path, sizeof(path));
        assert_absent(path, rocmsmi_metrics[i].q, rocmsmi_metrics[i].n);
        unlink(path);
    }
    rmdir(dir);
}

static void each_failing_call_costs_one_metric(void **state)
{
    char text[96];

    (void)state;
    for (size_t i = 0; i < COUNT(amdsmi_metrics); i++) {
        snprintf(text, sizeof(text), "%s=%d", amdsmi_metrics[i].symbol,
                 AMDSMI_STATUS_NOT_SUPPORTED);
        setenv("FAKE_AMD_ERRORS", text, 1);
        assert_absent(AMDSMI, amdsmi_metrics[i].q, amdsmi_metrics[i].n);
    }
    for (size_t i = 0; i < COUNT(rocmsmi_metrics); i++) {
        snprintf(text, sizeof(text), "%s=%d", rocmsmi_metrics[i].symbol, RSMI_STATUS_NOT_SUPPORTED);
        setenv("FAKE_AMD_ERRORS", text, 1);
        assert_absent(ROCMSMI, rocmsmi_metrics[i].q, rocmsmi_metrics[i].n);
    }
}

#define NAME_REQUIRED(symbol)                        NULL
#define NAME_OPTIONAL(symbol)                        #symbol
#define NAME(kind, type, member, symbol, parameters) NAME_##kind(symbol),

static void assert_complete(const char *const *optional, size_t n_optional, const struct metric *m,
                            size_t n)
{
    size_t k = 0;

    for (size_t i = 0; i < n_optional; i++) {
        if (!optional[i])
            continue;
        assert_true(k < n);
        assert_string_equal(m[k++].symbol, optional[i]);
    }
    assert_int_equal(k, n);
}

static void the_tables_are_complete(void **state)
{
    static const char *const amdsmi[] = {AMDSMI_API(NAME)};
    static const char *const rocmsmi[] = {ROCMSMI_API(NAME)};

    (void)state;
    assert_complete(amdsmi, COUNT(amdsmi), amdsmi_metrics, COUNT(amdsmi_metrics));
    assert_complete(rocmsmi, COUNT(rocmsmi), rocmsmi_metrics, COUNT(rocmsmi_metrics));
}

static void each_missing_required_symbol_is_named(void **state)
{
    static const char *const required[][2] = {
        {AMDSMI, "amdsmi_init"},
        {AMDSMI, "amdsmi_shut_down"},
        {AMDSMI, "amdsmi_get_socket_handles"},
        {AMDSMI, "amdsmi_get_processor_handles"},
        {AMDSMI, "amdsmi_get_processor_type"},
    };
    char path[192], words[64];

    (void)state;
    make_temp_dir(dir);
    for (size_t i = 0; i < COUNT(required); i++) {
        library_without(required[i][0], required[i][1], dir, path, sizeof(path));
        snprintf(words, sizeof(words), "has no %s; ", required[i][1]);
        assert_fails(try_lib(path), ENOSYS, &c.err, words);
        unlink(path);
    }
    /* A ROCm SMI that lacks something is looked at as both; the first is told. */
    library_without(ROCMSMI, "rsmi_num_monitor_devices", dir, path, sizeof(path));
    assert_fails(try_lib(path), ENOSYS, &c.err, "has no amdsmi_init; ");
    unlink(path);
    rmdir(dir);
}

static void a_counter_that_stands_at_zero_is_none(void **state)
{
    (void)state;
    setenv("FAKE_AMD_START_J", "0", 1);
    setenv("FAKE_AMD_POWER", "constant:0", 1);
    for (size_t i = 0; i < COUNT(both); i++) {
        size_t power;

        open_lib(both[i].path);
        assert_int_equal(collect_channel(&c, 0, QUANTITY_ENERGY_J), COLLECT_NONE);
        power = collect_channel(&c, 0, QUANTITY_POWER_W);
        assert_true(c.setup.channels[power].summed);
        collect_close(&c);
    }
}

static void what_fails_is_absent_and_comes_back(void **state)
{
    (void)state;
    setenv("FAKE_AMD_GPUS", "2", 1);
    open_lib(ROCMSMI);
    setenv("FAKE_AMD_ERRORS", "rsmi_dev_energy_count_get@1=6,rsmi_dev_busy_percent_get=6", 1);
    assert_ok(collect_read(&c), &c.err);
    assert_true(isnan(collect_value(&c, 1, QUANTITY_ENERGY_J)));
    assert_false(isnan(collect_value(&c, 0, QUANTITY_ENERGY_J)));
    assert_true(isnan(collect_value(&c, 0, QUANTITY_UTILIZATION_PCT)));
    assert_near(collect_value(&c, 0, QUANTITY_MEMORY_UTILIZATION_PCT), 20, 0);
    setenv("FAKE_AMD_ERRORS", "*=6", 1);
    assert_fails(collect_read(&c), EIO, &c.err, "ROCm SMI: no GPU answers");
    assert_int_equal(c.n_puts, 0);
    unsetenv("FAKE_AMD_ERRORS");
    assert_ok(collect_read(&c), &c.err);
    assert_false(isnan(collect_value(&c, 1, QUANTITY_ENERGY_J)));
    collect_close(&c);
}

static void what_the_library_says_at_the_start(void **state)
{
    static const struct {
        const char *path, *errors;
        int code;
        const char *words;
    } cases[] = {
        {AMDSMI, "amdsmi_init=34", ENXIO, "AMD SMI: Driver not loaded (34); load the driver with"},
        {AMDSMI, "amdsmi_init=10", EACCES, "AMD SMI: Permission Denied; add this user to the"},
        {AMDSMI, "amdsmi_init=18", EIO, "AMD SMI: An unknown error occurred (18); load"},
        {AMDSMI, "amdsmi_get_socket_handles=18", EIO, "AMD SMI: An unknown error occurred (18)"},
        {AMDSMI, "amdsmi_get_processor_handles=18", ENODEV, "AMD SMI sees no GPU"},
        {AMDSMI, "amdsmi_get_processor_type=18", ENODEV, "AMD SMI sees no GPU"},
        {ROCMSMI, "rsmi_init=8", EIO, "ROCm SMI: An unknown error occurred (8); load the driver"},
        {ROCMSMI, "rsmi_init=4", EACCES, "ROCm SMI: Permission denied; add this user to the"},
        {ROCMSMI, "rsmi_num_monitor_devices=8", EIO, "ROCm SMI: An unknown error occurred (8)"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        setenv("FAKE_AMD_ERRORS", cases[i].errors, 1);
        assert_fails(try_lib(cases[i].path), cases[i].code, &c.err, cases[i].words);
    }
    setenv("FAKE_AMD_GPUS", "1", 1);
    unsetenv("FAKE_AMD_ERRORS");
    assert_fails(try_lib(FAKES "/fake_amdsmi_minimal.so"), EIO, &c.err,
                 "AMDSMI: no GPU can be read");
    assert_fails(try_lib(FAKES "/fake_rocmsmi_minimal.so"), EIO, &c.err,
                 "ROCm SMI: no GPU can be read");
}

static void a_library_without_hardware(void **state)
{
    struct telemetry_env env = {.sysfs_root = dir, .amdsmi_lib = ROCMSMI};
    char path[128];

    (void)state;
    make_temp_dir(dir);
    setenv("FAKE_AMD_ERRORS", "rsmi_init=8", 1);
    assert_fails(collect_try(&c, "amdsmi", &env), EIO, &c.err, "; load the driver with");
    snprintf(path, sizeof(path), "%s/bus/pci/devices", dir);
    assert_int_equal(fs_mkdirs(path, NULL), 0);
    assert_fails(collect_try(&c, "amdsmi", &env), ENODEV, &c.err,
                 "no AMD GPU here (ROCm SMI: An unknown error occurred (8))");
    assert_int_equal(fs_remove_tree(AT_FDCWD, dir, NULL), 0);
}

static void not_the_library(void **state)
{
    char path[96];
    FILE *f;

    (void)state;
    make_temp_dir(dir);
    snprintf(path, sizeof(path), "%s/text.so", dir);
    assert_fails(try_lib(path), ENODEV, &c.err, "text.so is not installed");
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("this is not a library, though it is long enough to be looked at by the loader", f);
    fclose(f);
    assert_fails(try_lib(path), ENOEXEC, &c.err, "cannot be loaded: ");
    unlink(path);
    rmdir(dir);
    assert_fails(try_lib(FAKES "/fake_empty.so"), ENOSYS, &c.err, "has no amdsmi_init; ");
}

/* By their usual names the libraries are found only where the loader looks, which it decides when a
 * program starts: this program runs again, with LD_LIBRARY_PATH, and tells what it found. */
static int tell_what_is_found(void)
{
    struct telemetry_env env = {0};

    if (collect_try(&c, "amdsmi", &env) < 0) {
        printf("%s", c.err.text);
        return 0;
    }
    printf("%s", c.setup.devices[0].backend);
    collect_close(&c);
    return 0;
}

static void found_in(const char *path, char *text, size_t size)
{
    char self[256], command[600];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    FILE *child;

    assert_true(n > 0);
    self[n] = '\0';
    snprintf(command, sizeof(command), "IPW_TEST_TELL=1 LD_LIBRARY_PATH='%s' '%s'", path, self);
    child = popen(command, "r");
    assert_non_null(child);
    text[fread(text, 1, size - 1, child)] = '\0';
    assert_int_equal(pclose(child), 0);
}

static void amd_smi_before_rocm_smi(void **state)
{
    static const struct {
        bool amdsmi, rocmsmi;
        const char *errors;
        const char *found;
    } cases[] = {
        {true, true, "", "AMDSMI"},
        {true, false, "", "AMDSMI"},
        {false, true, "", "ROCm SMI"},
        {true, true, "amdsmi_init=34", "ROCm SMI"},
        {true, true, "amdsmi_init=34,rsmi_init=8", "AMD SMI: Driver not loaded (34); load"},
        {true, false, "amdsmi_init=34", "AMD SMI: Driver not loaded (34); load"},
        {false, true, "rsmi_init=8", "ROCm SMI: An unknown error occurred (8); load"},
        {false, false, "", "libamd_smi.so is not installed"},
    };
    static const char *const usual[] = {"libamd_smi.so", "librocm_smi64.so.1", "librocm_smi64.so"};
    char amdsmi[96], rocmsmi[96], text[400];

    (void)state;
    for (size_t i = 0; i < COUNT(usual); i++) {
        void *real = dlopen(usual[i], RTLD_LAZY);

        if (real) {
            dlclose(real);
            skip(); /* the real ones are here */
        }
    }
    make_temp_dir(dir);
    snprintf(amdsmi, sizeof(amdsmi), "%s/libamd_smi.so", dir);
    snprintf(rocmsmi, sizeof(rocmsmi), "%s/librocm_smi64.so.1", dir);
    for (size_t i = 0; i < COUNT(cases); i++) {
        if (cases[i].amdsmi)
            assert_int_equal(symlink(AMDSMI, amdsmi), 0);
        if (cases[i].rocmsmi)
            assert_int_equal(symlink(ROCMSMI, rocmsmi), 0);
        setenv("FAKE_AMD_ERRORS", cases[i].errors, 1);
        found_in(dir, text, sizeof(text));
        if (strncmp(text, cases[i].found, strlen(cases[i].found)) != 0)
            fail_msg("case %zu: found \"%s\"", i, text);
        unlink(amdsmi);
        unlink(rocmsmi);
    }
    rmdir(dir);
}

/* The stamp is the driver's, on the clock that runs on in suspend. */
static void stamps(void **state)
{
    static const struct {
        const char *kind;
        bool used;
    } cases[] = {{"boot", true}, {"none", false}, {"future", false}, {"wall", false}};

    (void)state;
    setenv("FAKE_AMD_REFRESH_MS", "10", 1);
    for (size_t i = 0; i < COUNT(cases); i++) {
        mono_ns last = 0;
        size_t energy;

        setenv("FAKE_AMD_STAMPS", cases[i].kind, 1);
        open_lib(AMDSMI);
        energy = collect_channel(&c, 0, QUANTITY_ENERGY_J);
        for (int k = 0; k < 5; k++) {
            mono_ns before = mono_now(), after;
            const struct collect_put *put;

            assert_ok(collect_read(&c), &c.err);
            after = mono_now();
            put = collect_last(&c, energy);
            assert_non_null(put);
            assert_true(put->before >= last);
            if (cases[i].used) {
                mono_ns renewal = put->after / (10 * NS_PER_MS) * 10 * NS_PER_MS;

                assert_int_equal(put->before, put->after);
                /* exact but for the reading of two clocks */
                assert_true(put->after - renewal < NS_PER_MS ||
                            renewal + 10 * NS_PER_MS - put->after < NS_PER_MS);
                assert_true(put->after <= after);
            } else {
                assert_true(put->before >= before && put->after <= after);
            }
            last = put->after;
            mono_sleep_until(after + 12 * NS_PER_MS);
        }
        collect_close(&c);
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, start, finish)
static const struct CMUnitTest tests[] = {
    TEST(one_gpu),
    TEST(the_step_of_the_counter),
    TEST(another_resolution),
    TEST(many_gpus_are_kept_apart),
    TEST(no_gpu),
    TEST(layouts_of_all_versions),
    TEST(junction_else_edge),
    TEST(which_gpus_count),
    TEST(each_missing_symbol_costs_one_metric),
    TEST(each_failing_call_costs_one_metric),
    TEST(the_tables_are_complete),
    TEST(each_missing_required_symbol_is_named),
    TEST(a_counter_that_stands_at_zero_is_none),
    TEST(what_fails_is_absent_and_comes_back),
    TEST(what_the_library_says_at_the_start),
    TEST(a_library_without_hardware),
    TEST(not_the_library),
    TEST(amd_smi_before_rocm_smi),
    TEST(stamps),
};

int main(void)
{
    if (getenv("IPW_TEST_TELL"))
        return tell_what_is_found();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
