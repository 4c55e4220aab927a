/*
 * What the sampler costs beside the system calls that it cannot do without. The counters are
 * attributes of the real sysfs, so that a read costs what a read of sysfs costs; each is made to
 * show a new value every time, the dearest case. Both sides are measured in turn, many times over,
 * as CPU time of their thread, and the medians compared.
 */
#include "bench_row.h"

#include "base/cleanup.h"
#include "telemetry/sampler.h"
#include "telemetry/source.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define COUNTERS 4
#define TURNS    21

static const char *const paths[COUNTERS] = {
    "/sys/class/net/lo/statistics/rx_bytes",
    "/sys/class/net/lo/statistics/tx_bytes",
    "/sys/class/net/lo/statistics/rx_packets",
    "/sys/class/net/lo/statistics/tx_packets",
};
static int fds[COUNTERS];

static mono_ns thread_cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

static void bare_reads(void)
{
    char text[32];

    for (size_t i = 0; i < COUNTERS; i++)
        if (pread(fds[i], text, sizeof(text), 0) <= 0)
            abort();
}

/* A collector as lean as one can be: one read and one time stamp per counter. */
static int files_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    (void)ret_ctx;
    (void)err;
    for (size_t i = 0; i < COUNTERS; i++)
        collector_add_channel(setup, (struct channel){.quantity = QUANTITY_ENERGY_J, .range = NAN});
    return 0;
}

static int files_read(void *ctx, struct sample_sink *out, struct err *err)
{
    static double grown_j;
    mono_ns before = mono_now();

    (void)ctx;
    grown_j += 1e-3;
    for (size_t i = 0; i < COUNTERS; i++) {
        char text[32];
        ssize_t n = pread(fds[i], text, sizeof(text), 0);
        mono_ns after = mono_now();
        double value = 0;

        if (n <= 0)
            return err_sys(err, errno, "%s", paths[i]);
        for (ssize_t k = 0; k < n && text[k] >= '0' && text[k] <= '9'; k++)
            value = value * 10 + (text[k] - '0');
        sample_put(out, i, before, after, value * 1e-6 + grown_j);
        before = after;
    }
    return 0;
}

static void files_close(void *ctx)
{
    (void)ctx;
}

static const struct collector_ops files_ops = {
    .plugin = {.id = "files"}, .open = files_open, .read = files_read, .close = files_close};

static void bench_one_sample(void)
{
    enum { SAMPLES = 4000 };
    struct collector_setup setup = {0};
    struct source *source = NULL;
    struct err err = {0};
    double bare_us[TURNS], ours_us[TURNS];
    struct bench_row row = {
        .name = "one sample of 4 sysfs counters",
        .limit = "the bare pread calls of the same files",
        .unit = "us",
        .value_unit = "x",
        .goal = "<= 1.3x",
    };

    if (source_open(&files_ops, &setup, NS_PER_MS, false, &source, &err) < 0)
        abort();
    for (int turn = 0; turn < TURNS; turn++) {
        mono_ns begin = thread_cpu_ns(), middle;

        for (int i = 0; i < SAMPLES; i++)
            bare_reads();
        middle = thread_cpu_ns();
        for (int i = 0; i < SAMPLES; i++)
            source_round(source);
        ours_us[turn] = (double)(thread_cpu_ns() - middle) / SAMPLES / 1e3;
        bare_us[turn] = (double)(middle - begin) / SAMPLES / 1e3;
        for (size_t i = 0; i < COUNTERS; i++)
            history_forget(&source->histories[i], MONO_NEVER);
    }
    row.limit_value = bench_quantile(bare_us, TURNS, 0.5);
    row.measured = bench_quantile(ours_us, TURNS, 0.5);
    row.value = row.measured / row.limit_value;
    row.ok = row.value <= 1.3;
    bench_print(&row);
    source_close(source);
    collector_setup_release(&setup);
}

/* The bare loop, on a thread of its own like the sampler's. */
struct bare {
    int wakes;
    double us_per_wake;
};

static void *bare_loop(void *arg)
{
    struct bare *b = arg;
    mono_ns begin = thread_cpu_ns(), deadline = mono_now();

    for (int i = 0; i < b->wakes; i++) {
        deadline += NS_PER_MS;
        mono_sleep_until(deadline);
        bare_reads();
    }
    b->us_per_wake = (double)(thread_cpu_ns() - begin) / b->wakes / 1e3;
    return NULL;
}

static double sampler_us_per_wake(int wakes)
{
    struct sampler *s = sampler_new(&(struct sampler_options){.period_ns = NS_PER_MS});
    struct telemetry_env env = {0};
    struct sampler_channel_stats stats;
    struct err err = {0};
    double us;

    if (sampler_add(s, &files_ops, &env, &err) < 0 || sampler_start(s, &err) < 0)
        abort();
    mono_sleep_until(mono_now() + wakes * NS_PER_MS);
    sampler_stop(s);
    sampler_stats(s, 0, &stats);
    us = (double)sampler_cpu_ns(s) / (double)stats.reads / 1e3;
    sampler_free(s);
    return us;
}

static void bench_1khz(void)
{
    double bare_us[TURNS], ours_us[TURNS];
    struct bench_row row = {
        .name = "sampler at 1 kHz, 4 counters, CPU time",
        .limit = "the bare loop clock_nanosleep + 4 preads",
        .unit = "us per wake",
        .value_unit = "x",
        .goal = "<= 1.3x",
    };

    for (int turn = 0; turn < TURNS; turn++) {
        struct bare b = {.wakes = 300};
        pthread_t thread;

        if (pthread_create(&thread, NULL, bare_loop, &b) != 0)
            abort();
        pthread_join(thread, NULL);
        bare_us[turn] = b.us_per_wake;
        ours_us[turn] = sampler_us_per_wake(b.wakes);
    }
    row.limit_value = bench_quantile(bare_us, TURNS, 0.5);
    row.measured = bench_quantile(ours_us, TURNS, 0.5);
    row.value = row.measured / row.limit_value;
    row.ok = row.value <= 1.3;
    bench_print(&row);
}

int main(void)
{
    for (size_t i = 0; i < COUNTERS; i++) {
        fds[i] = open(paths[i], O_RDONLY | O_CLOEXEC);
        if (fds[i] < 0) {
            fprintf(stderr, "%s: %s\n", paths[i], strerror(errno));
            return 1;
        }
    }
    bench_one_sample();
    bench_1khz();
    for (size_t i = 0; i < COUNTERS; i++)
        close(fds[i]);
    return 0;
}
