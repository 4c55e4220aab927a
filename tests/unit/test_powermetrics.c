/*
 * powermetrics: its parser on whole, cut and broken property lists; the collector on a stand-in
 * that prints recorded-like lists; and the child's life and death.
 */
#include "collector_harness.h"

#include "base/buf.h"
#include "telemetry/plist.h"

#include <signal.h>
#include <sys/wait.h>

#define STREAMS FIXTURES "/powermetrics/"

/* What the parser gave, as text. */
static struct buf seen = BUF_INIT(1 << 20);

static void on_number(void *ctx, const char *path, double value)
{
    (void)ctx;
    buf_addf(&seen, "%s=%g ", path, value);
}

static void on_end(void *ctx, bool whole)
{
    (void)ctx;
    buf_adds(&seen, whole ? "end " : "broken ");
}

static void parse_pieces(const char *text, size_t n, size_t piece)
{
    struct plist p;

    buf_clear(&seen);
    plist_init(&p, on_number, on_end, NULL);
    for (size_t i = 0; i < n; i += piece)
        plist_push(&p, text + i, n - i < piece ? n - i : piece);
}

static void expect_bytes(const char *text, size_t n, const char *words)
{
    for (size_t piece = 1; piece <= n; piece = piece < 8 ? piece + 1 : piece * 2) {
        parse_pieces(text, n, piece);
        assert_string_equal(buf_str(&seen), words);
    }
}

static void expect(const char *text, const char *words)
{
    expect_bytes(text, strlen(text), words);
}

static void numbers_by_their_path(void **state)
{
    (void)state;
    expect("<?xml version=\"1.0\"?>\n<!DOCTYPE plist PUBLIC \"-//A//\" \"http://x/y.dtd\">\n"
           "<plist version=\"1.0\"><dict><key>a</key><integer>1</integer>"
           "<key>b</key><dict><key>c</key><real>2.5</real><key>d</key><array>"
           "<integer>-3</integer><dict><key>e</key><real>1e3</real></dict></array></dict>"
           "<key>f</key><string>text &lt; 7</string><key>g</key><true/><key>h</key><date>x</date>"
           "<key>i</key><integer>9</integer></dict></plist>\n",
           "a=1 b/c=2.5 b/d/*=-3 b/d/*/e=1000 i=9 end ");
    expect("<plist><array/></plist>", "end ");
    expect("<plist><integer>5</integer></plist>", "end ");
    expect("<plist ><dict ><key >a</key ><integer >1</integer ></dict ></plist >", "a=1 end ");
    expect("<plist><dict><key>a</key><string/><key>b</key><dict/><key>c</key><integer>4</integer>"
           "</dict></plist>",
           "c=4 end ");
}

static void documents_follow_each_other(void **state)
{
    static const char with_nuls[] = "<plist><true/></plist>\0\n<plist><false/></plist>\0\0"
                                    "<plist><true/></plist>";

    (void)state;
    expect_bytes(with_nuls, sizeof(with_nuls) - 1, "end end end ");
    expect("noise < noise > <plist><true/></plist> more <x> noise<plist><true/></plist>",
           "end end ");
}

static void what_is_no_number_is_absent(void **state)
{
    (void)state;
    expect("<plist><dict><key>a</key><real>nan</real><key>b</key><real>inf</real>"
           "<key>c</key><integer>0x10</integer><key>d</key><integer></integer>"
           "<key>e</key><integer/><key>f</key><real>1e999</real><key>g</key><integer>1 2</integer>"
           "<key>h</key><integer>8</integer></dict></plist>",
           "h=8 end ");
}

static void broken_documents_end_and_the_next_is_read(void **state)
{
    static const char *const broken[] = {
        "<plist></plist>",
        "<plist/>x",
        "<plist><dict><integer>1</integer></dict></plist>",
        "<plist><dict><key>a</key></dict></plist>",
        "<plist><dict><key>a</key><key>b</key><true/></dict></plist>",
        "<plist><array><key>a</key></array></plist>",
        "<plist><dict></array></plist>",
        "<plist><dict></plist>",
        "<plist></dict></plist>",
        "<plist><true/><true/></plist>",
        "<plist><true></plist>",
        "<plist><array>text</array></plist>",
        "<plist><array><integer>1<real>2</real></integer></array></plist>",
        "<plist><array><integer>1</real></array></plist>",
        "<plist><unknown/></plist>",
        "<plist><averyveryverylongname/></plist>",
        "<plist><></plist>",
        "<plist><array",
        "<plist><array x='",
        "<plist><array><integer>5",
        "<plist><array>",
        "<plist><key>a</key></plist>",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        char text[512];
        const char *words = strcmp(broken[i], "<plist/>x") == 0 ? "z=1 end " : "broken z=1 end ";

        snprintf(text, sizeof(text),
                 "%s<?xml?><plist><dict><key>z</key><integer>1</integer></dict></plist>",
                 broken[i]);
        expect(text, words);
        snprintf(text, sizeof(text),
                 "%s%c<plist><dict><key>z</key><integer>1</integer></dict></plist>", broken[i], 1);
        *strchr(text, 1) = '\0';
        expect_bytes(text, strlen(text) + 1 + strlen(text + strlen(text) + 1), words);
    }
}

static void depth_and_lengths_are_bounded(void **state)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 20);

    (void)state;
    for (int depth = PLIST_DEPTH_MAX; depth <= PLIST_DEPTH_MAX + 1; depth++) {
        buf_clear(&text);
        buf_adds(&text, "<plist>");
        for (int i = 0; i < depth; i++)
            buf_adds(&text, "<array>");
        for (int i = 0; i < depth; i++)
            buf_adds(&text, "</array>");
        buf_adds(&text, "</plist>");
        expect(text.data, depth == PLIST_DEPTH_MAX ? "end " : "broken ");
    }
    /* a key too long, a key with the separator in it, an empty one: nothing under them is told */
    buf_clear(&text);
    buf_adds(&text, "<plist><dict><key>");
    for (int i = 0; i < PLIST_TEXT_MAX + 1; i++)
        buf_addc(&text, 'k');
    buf_adds(&text, "</key><dict><key>a</key><integer>1</integer></dict><key>b/c</key>"
                    "<integer>2</integer><key></key><array><integer>3</integer></array>"
                    "<key>d</key><integer>4</integer></dict></plist>");
    expect(text.data, "d=4 end ");
    /* a path too long */
    buf_clear(&text);
    buf_adds(&text, "<plist>");
    for (int i = 0; i < 3; i++)
        buf_addf(&text, "<dict><key>%0100d</key>", i);
    buf_adds(&text, "<integer>1</integer></dict><key>s</key><integer>2</integer></dict>"
                    "<key>t</key><integer>3</integer></dict></plist>");
    parse_pieces(text.data, text.len, text.len);
    assert_null(strstr(buf_str(&seen), "=1 "));
    assert_non_null(strstr(buf_str(&seen), "/s=2 t=3 end "));
}

static void comments_are_passed_over(void **state)
{
    (void)state;
    expect("<!-- <plist> --><plist><!----><dict><!-- > -- - --><key>a</key>"
           "<integer>1<!-- x -->2</integer></dict></plist>",
           "a=12 end ");
}

/* The collector. */

static struct fake f;

static int open_command(const char *command)
{
    static struct kv_list params;
    int r;

    kv_add(&params, "command", command);
    r = fake_open(&f, "powermetrics", "/nowhere", "/nowhere", &params);
    kv_list_release(&params);
    return r;
}

/* Reads until the counter shows so many joules: lists arrive when they arrive. */
static void read_until(const char *name, double joules)
{
    mono_ns deadline = mono_now() + 20 * NS_PER_S;

    do {
        assert_ok(fake_read(&f), &f.err);
        if (mono_now() > deadline)
            fail_msg("%s never showed %g", name, joules);
    } while (!(fabs(fake_value(&f, name, QUANTITY_ENERGY_J) - joules) < 1e-9));
}

/* Reads until it fails. */
static int read_to_end(void)
{
    mono_ns deadline = mono_now() + 20 * NS_PER_S;
    int r;

    while ((r = fake_read(&f)) == 0)
        assert_true(mono_now() < deadline);
    return r;
}

static double joules(const char *name)
{
    return fake_value(&f, name, QUANTITY_ENERGY_J);
}

static void energies_are_added_up(void **state)
{
    const struct channel *c;

    (void)state;
    assert_ok(open_command("cat " STREAMS "energy.plist; sleep 1000"), &f.err);
    assert_int_equal(f.setup.n_channels, 4);
    c = fake_channel(&f, "ANE", QUANTITY_ENERGY_J);
    assert_int_equal(c->rail, RAIL_ANE);
    assert_true(c->summed);
    assert_true(isnan(c->range));
    assert_near(c->quantum, 1e-3, 0);
    assert_int_equal(fake_channel(&f, "CPU", QUANTITY_ENERGY_J)->rail, RAIL_CPU);
    assert_int_equal(fake_channel(&f, "GPU", QUANTITY_ENERGY_J)->rail, RAIL_GPU);
    assert_int_equal(fake_device(&f, "GPU", QUANTITY_ENERGY_J)->kind, DEVICE_GPU);
    assert_int_equal(fake_device(&f, "CPU", QUANTITY_ENERGY_J)->kind, DEVICE_SOC);
    assert_string_equal(fake_device(&f, "GPU", QUANTITY_ENERGY_J)->backend, "powermetrics");
    read_until("CPU", 1.55);
    assert_near(joules("GPU"), 2.65, 1e-12);
    assert_near(joules("ANE"), 0.04, 1e-12);
    assert_near(fake_value(&f, "GPU", QUANTITY_UTILIZATION_PCT), 25, 1e-9);
    /* no new list: the counters stand, the gauge is absent */
    assert_ok(fake_read(&f), &f.err);
    assert_near(joules("CPU"), 1.55, 1e-12);
    assert_true(isnan(fake_value(&f, "GPU", QUANTITY_UTILIZATION_PCT)));
    fake_close(&f);
}

static void power_is_taken_times_its_time(void **state)
{
    (void)state;
    assert_ok(open_command("cat " STREAMS "power.plist; sleep 1000"), &f.err);
    read_until("CPU", 2.0 * 0.5 + 4.0);
    assert_near(joules("GPU"), 1.0005 * 0.5 + 3.0, 1e-12);
    assert_near(joules("ANE"), 0.02, 1e-12);
    fake_close(&f);
}

static void the_gpu_section_serves_too(void **state)
{
    (void)state;
    assert_ok(open_command("cat " STREAMS "gpu-section.plist; sleep 1000"), &f.err);
    read_until("CPU", 1.5);
    assert_near(joules("GPU"), 0.7, 0);
    assert_true(isnan(joules("ANE")));
    assert_near(fake_value(&f, "GPU", QUANTITY_UTILIZATION_PCT), 0, 0);
    fake_close(&f);
}

static void list(const char *root, const char *name, const char *inside)
{
    char text[512];

    snprintf(text, sizeof(text),
             "<plist><dict><key>elapsed_ns</key><integer>1000000000</integer><key>processor</key>"
             "<dict>%s</dict></dict></plist>",
             inside);
    tree_write(root, name, text);
}

static void what_is_lost_restarts_the_counter(void **state)
{
    static const char *const bad[] = {"",
                                      "<key>cpu_energy</key><integer>-5</integer>",
                                      "<key>cpu_energy</key><real>1e300</real>",
                                      "<key>cpu_power</key><real>-1</real>",
                                      "<key>cpu_energy</key><string>7</string>",
                                      "<key>cpu_energy</key>" /* broken */};

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        char root[64], command[256];

        tree_new(root);
        list(root, "1", "<key>cpu_energy</key><integer>9000</integer>");
        list(root, "2", bad[i]);
        list(root, "3", "<key>cpu_energy</key><integer>4000</integer>");
        snprintf(command, sizeof(command), "cd %s; cat 1 2; cat 3; sleep 1000", root);
        assert_ok(open_command(command), &f.err);
        read_until("CPU", 4.0); /* less than 9: the sampler sees a reset */
        fake_close(&f);
        tree_remove(root);
    }
}

static void a_power_without_its_time_is_absent(void **state)
{
    char root[64], command[256];

    (void)state;
    tree_new(root);
    tree_write(root, "1",
               "<plist><dict><key>processor</key><dict><key>cpu_power</key><real>5</real>"
               "<key>gpu_energy</key><integer>1</integer></dict></dict></plist>");
    snprintf(command, sizeof(command), "cat %s/1; sleep 1000", root);
    assert_ok(open_command(command), &f.err);
    read_until("GPU", 0.001);
    assert_true(isnan(joules("CPU")));
    fake_close(&f);
    tree_remove(root);
}

static void a_child_that_dies_is_an_error_with_its_status(void **state)
{
    (void)state;
    assert_ok(open_command("cat " STREAMS "gpu-section.plist; exit 3"), &f.err);
    read_until("CPU", 1.5);
    assert_int_equal(read_to_end(), -EPIPE);
    assert_string_equal(f.err.text, "powermetrics: the command ended with status 3");
    /* and it stays so */
    assert_fails(fake_read(&f), EPIPE, &f.err, "ended with status 3");
    fake_close(&f);

    assert_ok(open_command("cat " STREAMS "gpu-section.plist; kill -9 $$"), &f.err);
    assert_int_equal(read_to_end(), -EPIPE);
    assert_string_equal(f.err.text, "powermetrics: the command was ended by signal 9");
    fake_close(&f);

    /* what it printed before it died is not lost */
    assert_ok(open_command("cat " STREAMS "energy.plist"), &f.err);
    read_until("CPU", 1.55);
    assert_int_equal(read_to_end(), -EPIPE);
    fake_close(&f);
}

static void a_command_that_does_not_start(void **state)
{
    /* On a slow machine it may die after open() has stopped waiting. */
    int r = open_command("exit 42");

    (void)state;
    if (r == 0) {
        r = read_to_end();
        assert_int_equal(r, -EPIPE);
        fake_close(&f);
    } else {
        assert_int_equal(r, -EIO);
    }
    assert_non_null(strstr(f.err.text, "the command ended with status 42"));
}

/* The process ids that the command wrote into a file. */
static pid_t read_pid(const char *root, const char *name)
{
    mono_ns deadline = mono_now() + 20 * NS_PER_S;
    AUTO_FD int dirfd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t pid = -1;

    while (fs_read_i64(dirfd, name, &pid, NULL) < 0)
        assert_true(mono_now() < deadline);
    return (pid_t)pid;
}

static void wait_gone(pid_t pid)
{
    mono_ns deadline = mono_now() + 20 * NS_PER_S;
    char path[64], text[64];

    /* one that is not ours to reap may stay as a zombie */
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    while (kill(pid, 0) == 0) {
        char line[512] = "";
        AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line) - 1);

        (void)n;
        snprintf(text, sizeof(text), "%s", strrchr(line, ')') ? strrchr(line, ')') : "");
        if (strncmp(text, ") Z", 3) == 0)
            return;
        assert_true(mono_now() < deadline);
    }
}

static void close_ends_the_whole_group(void **state)
{
    char root[64], command[256];
    pid_t shell, grandchild;
    int status;

    (void)state;
    tree_new(root);
    snprintf(command, sizeof(command),
             "cd %s; sleep 1000 & echo $! > b; echo $$ > a; cat " STREAMS "gpu-section.plist; wait",
             root);
    assert_ok(open_command(command), &f.err);
    shell = read_pid(root, "a");
    grandchild = read_pid(root, "b");
    assert_int_equal(getpgid(shell), shell);
    fake_close(&f);
    assert_int_equal(waitpid(shell, &status, WNOHANG), -1); /* reaped */
    assert_int_equal(errno, ECHILD);
    wait_gone(grandchild);
    tree_remove(root);
}

static void a_child_that_ignores_us_is_killed(void **state)
{
    char root[64], command[256];
    pid_t shell;
    int status;

    (void)state;
    tree_new(root);
    snprintf(command, sizeof(command),
             "cd %s; trap '' TERM PIPE; echo $$ > a; cat " STREAMS
             "gpu-section.plist; while :; do sleep 0.1; done",
             root);
    assert_ok(open_command(command), &f.err);
    shell = read_pid(root, "a");
    fake_close(&f);
    assert_int_equal(waitpid(shell, &status, WNOHANG), -1);
    tree_remove(root);
}

static void a_program_that_falls_silent_is_absent(void **state)
{
    mono_ns deadline = mono_now() + 60 * NS_PER_S;
    char root[64], command[256];

    (void)state;
    tree_new(root);
    tree_write(root, "1",
               "<plist><dict><key>processor</key><dict><key>cpu_energy</key><integer>5</integer>"
               "</dict></dict></plist>");
    snprintf(command, sizeof(command), "cat %s/1; sleep 1000", root);
    assert_ok(open_command(command), &f.err);
    read_until("CPU", 0.005);
    do {
        assert_true(mono_now() < deadline);
        mono_sleep_until(mono_now() + 10 * NS_PER_MS);
        assert_ok(fake_read(&f), &f.err);
    } while (!isnan(joules("CPU")));
    fake_close(&f);
    tree_remove(root);
}

static void garbage_without_end_is_bounded(void **state)
{
    (void)state;
    assert_ok(open_command("exec tr '\\0' 'x' < /dev/zero"), &f.err);
    for (int i = 0; i < 20; i++)
        assert_ok(fake_read(&f), &f.err);
    fake_close(&f);
    assert_ok(open_command("while :; do printf '<plist><dict><key>'; done"), &f.err);
    for (int i = 0; i < 5; i++)
        assert_ok(fake_read(&f), &f.err);
    fake_close(&f);
}

static void without_the_program_there_is_none(void **state)
{
    struct plugin_status status;

    (void)state;
    if (access("/usr/bin/powermetrics", X_OK) == 0)
        skip();
    assert_fails(fake_open(&f, "powermetrics", "/nowhere", "/nowhere", NULL), ENODEV, &f.err,
                 "no /usr/bin/powermetrics");
    status = plugin_status(&collector_find("powermetrics", NULL)->plugin);
    assert_false(status.usable);
    assert_string_equal(status.reason, "no /usr/bin/powermetrics");
}

static int release_seen(void **state)
{
    (void)state;
    buf_release(&seen);
    return 0;
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(numbers_by_their_path),
    cmocka_unit_test(documents_follow_each_other),
    cmocka_unit_test(what_is_no_number_is_absent),
    cmocka_unit_test(broken_documents_end_and_the_next_is_read),
    cmocka_unit_test(depth_and_lengths_are_bounded),
    cmocka_unit_test_teardown(comments_are_passed_over, release_seen),
    cmocka_unit_test(energies_are_added_up),
    cmocka_unit_test(power_is_taken_times_its_time),
    cmocka_unit_test(the_gpu_section_serves_too),
    cmocka_unit_test(what_is_lost_restarts_the_counter),
    cmocka_unit_test(a_power_without_its_time_is_absent),
    cmocka_unit_test(a_child_that_dies_is_an_error_with_its_status),
    cmocka_unit_test(a_command_that_does_not_start),
    cmocka_unit_test(close_ends_the_whole_group),
    cmocka_unit_test(a_child_that_ignores_us_is_killed),
    cmocka_unit_test(a_program_that_falls_silent_is_absent),
    cmocka_unit_test(garbage_without_end_is_bounded),
    cmocka_unit_test(without_the_program_there_is_none),
};
TEST_MAIN(tests)
