/*
 * ipw measure: the joules of any command, in the manner of perf stat. The command keeps its own
 * standard streams and its exit status; the report goes to stderr, or to a file.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "base/log.h"
#include "cli/commands.h"
#include "run/meter.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct measure_args {
    const char *telemetry;
    int64_t interval_ns;
    struct kv_list params;
    const char *output;
    bool json;
    bool live;
};

static const struct option options[] = {
    {"telemetry", OPT_TEXT, offsetof(struct measure_args, telemetry),
     "collectors: auto, or names separated by commas", "LIST", "auto"},
    {"interval", OPT_DURATION, offsetof(struct measure_args, interval_ns), "time between reads",
     "T", "20ms", .alias = "sample-interval"},
    {"collector-param", OPT_KV, offsetof(struct measure_args, params),
     "parameter of a collector, such as estimate.tdp_watts=65; repeatable", "k=v"},
    {"output", OPT_TEXT, offsetof(struct measure_args, output),
     "write the report here instead of to stderr", "FILE", .letter = 'o'},
    {"json", OPT_FLAG, offsetof(struct measure_args, json), "the report as one JSON document"},
    {"live", OPT_FLAG, offsetof(struct measure_args, live),
     "no command: show the rails once a second until Ctrl-C"},
    {0},
};

struct outcome {
    mono_ns start, end;
    double cpu_s;
    int status; /* of waitpid */
};

static void print_rail(FILE *out, enum rail r, const struct rail_energy *e, double seconds)
{
    if (isnan(e->energy.joules)) {
        fprintf(out, "  %14s J    %-6s  not known: no reading covers it\n", "-", rail_name(r));
        return;
    }
    fprintf(out, "  %14.4f J    %-6s  ", e->energy.joules, rail_name(r));
    /* an estimate's own error is not known: the integral's bounds would pretend it is small */
    if (!e->estimated && !isnan(e->energy.low_j) && !isnan(e->energy.high_j))
        fprintf(out, "[%.4f, %.4f] ", e->energy.low_j, e->energy.high_j);
    fprintf(out, " %.2f W average", e->energy.joules / seconds);
    if (!isnan(e->power_w.max))
        fprintf(out, ", %.2f W peak", e->power_w.max);
    if (e->energy.coverage < 0.95)
        fprintf(out, ", only %.0f %% covered", 100 * e->energy.coverage);
    fprintf(out, "%s\n", e->estimated ? "  ESTIMATED" : "");
}

static void print_text(FILE *out, const struct rail_energy *rails, const struct outcome *o,
                       const char *command)
{
    double seconds = ns_to_s(o->end - o->start);
    const char *source = meter_source(rails);

    fprintf(out, "\n Energy of '%s'", command);
    if (strcmp(source, "estimated") == 0)
        fprintf(out, ": ESTIMATED from CPU utilisation, not measured");
    else if (strcmp(source, "none") == 0)
        fprintf(out, ": nothing here measures energy (ipw doctor says why)");
    fprintf(out, "\n\n");
    for (int r = 0; r < RAIL_COUNT; r++)
        if (rails[r].present)
            print_rail(out, (enum rail)r, &rails[r], seconds);
    fprintf(out, "\n  %14.6f s    elapsed\n  %14.6f s    CPU time\n\n", seconds, o->cpu_s);
}

static void print_json(FILE *out, const struct rail_energy *rails, const struct outcome *o,
                       const char *command)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_PRETTY);
    double seconds = ns_to_s(o->end - o->start);

    jw_begin_object(&w, NULL);
    jw_text(&w, "command", command);
    jw_real(&w, "seconds", seconds);
    jw_real(&w, "cpu_seconds", o->cpu_s);
    jw_text(&w, "energy_source", meter_source(rails));
    jw_begin_array(&w, "rails");
    for (int r = 0; r < RAIL_COUNT; r++) {
        if (!rails[r].present)
            continue;
        jw_begin_object(&w, NULL);
        jw_text(&w, "rail", rail_name((enum rail)r));
        jw_real(&w, "joules", rails[r].energy.joules);
        jw_real(&w, "low_joules", rails[r].estimated ? NAN : rails[r].energy.low_j);
        jw_real(&w, "high_joules", rails[r].estimated ? NAN : rails[r].energy.high_j);
        jw_real(&w, "average_watts", rails[r].energy.joules / seconds);
        jw_real(&w, "peak_watts", rails[r].power_w.max);
        jw_int(&w, "ticks", rails[r].energy.ticks);
        jw_real(&w, "coverage", rails[r].energy.coverage);
        jw_int(&w, "gaps", rails[r].energy.gaps);
        jw_bool(&w, "estimated", rails[r].estimated);
        jw_end_object(&w);
    }
    jw_end_array(&w);
    jw_end_object(&w);
    fprintf(out, "%s\n", text.data);
}

static double cpu_seconds(const struct rusage *u)
{
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

/* The child gets the signals that we had before; we leave Ctrl-C to it. */
static int spawn(char **argv, const sigset_t *mask, pid_t *ret, struct err *err)
{
    posix_spawnattr_t attr;
    int r;

    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, mask);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    r = posix_spawnp(ret, argv[0], NULL, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    return r ? err_sys(err, r, "cannot run %s", argv[0]) : 0;
}

/* Runs the command to its end. Signals from the terminal reach it by themselves (it is in our
 * process group); those sent to us alone are passed on. */
static int run_command(char **argv, struct outcome *ret, struct err *err)
{
    sigset_t ours, before;
    AUTO_FD int signals = -1;
    struct rusage usage;
    pid_t child;
    int r;

    sigemptyset(&ours);
    sigaddset(&ours, SIGINT);
    sigaddset(&ours, SIGQUIT);
    sigaddset(&ours, SIGTERM);
    sigaddset(&ours, SIGHUP);
    sigaddset(&ours, SIGCHLD);
    sigprocmask(SIG_BLOCK, &ours, &before);
    signals = signalfd(-1, &ours, SFD_CLOEXEC);
    ret->start = mono_now();
    r = spawn(argv, &before, &child, err);
    while (r == 0 && wait4(child, &ret->status, WNOHANG, &usage) == 0) {
        struct signalfd_siginfo info;

        if (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info) &&
            (info.ssi_signo == SIGTERM || info.ssi_signo == SIGHUP))
            kill(child, (int)info.ssi_signo);
    }
    ret->end = mono_now();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (r == 0)
        ret->cpu_s = cpu_seconds(&usage);
    return r;
}

/* As the command ended, so do we. */
static int pass_on(int status)
{
    if (WIFSIGNALED(status)) {
        fflush(NULL); /* nothing after this is certain to run */
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
        return 128 + WTERMSIG(status);
    }
    return WEXITSTATUS(status);
}

static void print_messages(struct meter *m)
{
    char text[ERR_TEXT_MAX];

    while (sampler_message(meter_sampler(m), text, sizeof(text)))
        log_warning("%s", text);
}

static int measure_command(const struct measure_args *a, struct meter *m,
                           const struct operands *operands)
{
    AUTO_FREE char **argv = xcalloc(operands->n + 1, sizeof(*argv));
    AUTO_FILE FILE *file = NULL;
    struct rail_energy rails[RAIL_COUNT];
    struct outcome outcome = {0};
    struct err err = {0};

    for (size_t i = 0; i < operands->n; i++)
        argv[i] = (char *)(uintptr_t)operands->items[i]; /* spawn does not write to them */
    if (a->output && !(file = fopen(a->output, "we"))) {
        log_error("cannot create %s: %s", a->output, strerror(errno));
        return EXIT_ERROR;
    }
    meter_settle(m);
    if (run_command(argv, &outcome, &err) < 0) {
        log_error("%s", err.text);
        return 127;
    }
    meter_wait(m, outcome.end);
    meter_rails(m, outcome.start, outcome.end, rails);
    print_messages(m);
    (a->json ? print_json : print_text)(file ? file : stderr, rails, &outcome, argv[0]);
    return pass_on(outcome.status);
}

static void print_live(struct meter *m, mono_ns from, mono_ns to)
{
    struct rail_energy rails[RAIL_COUNT];

    meter_rails(m, from, to, rails);
    for (int r = 0; r < RAIL_COUNT; r++)
        if (rails[r].present)
            printf("%s %8.2f W%s   ", rail_name((enum rail)r), rails[r].power_w.avg,
                   rails[r].estimated ? " (estimated)" : "");
    if (strcmp(meter_source(rails), "none") == 0)
        printf("nothing here measures power");
    putchar('\n');
    fflush(stdout);
}

static int measure_live(struct meter *m)
{
    AUTO_FD int signals = -1;
    struct pollfd wake;
    sigset_t stop;
    mono_ns from;

    sigemptyset(&stop);
    sigaddset(&stop, SIGINT);
    sigaddset(&stop, SIGTERM);
    sigprocmask(SIG_BLOCK, &stop, NULL);
    signals = signalfd(-1, &stop, SFD_CLOEXEC);
    wake = (struct pollfd){.fd = signals, .events = POLLIN};
    meter_settle(m);
    from = mono_now();
    for (mono_ns to = from + NS_PER_S;; from = to, to += NS_PER_S) {
        mono_ns left = to - mono_now();

        if (poll(&wake, 1, left > 0 ? (int)(left / NS_PER_MS) + 1 : 0) != 0 || ferror(stdout))
            return EXIT_DONE;
        meter_wait(m, to);
        print_live(m, from, to);
        print_messages(m);
        sampler_forget(meter_sampler(m), from);
    }
}

static int measure_run(const void *args, const struct operands *operands)
{
    const struct measure_args *a = args;
    struct meter_options wanted = {
        .collectors = a->telemetry, .period_ns = a->interval_ns, .params = &a->params};
    struct meter *m = NULL;
    struct err err = {0};
    int status;

    if ((operands->n == 0) != a->live) {
        log_error(a->live ? "--live takes no command"
                          : "ipw measure needs a command: ipw measure -- CMD... (or --live)");
        return EXIT_USAGE;
    }
    if (meter_open(&wanted, &m, &err) < 0) {
        log_error("%s", err.text);
        return EXIT_ERROR;
    }
    status = a->live ? measure_live(m) : measure_command(a, m, operands);
    meter_close(m);
    return status;
}

const struct command cmd_measure = {
    .name = "measure",
    .help = "-- CMD...: joules of any command, in the manner of perf stat",
    .operands = "-- CMD...",
    .operands_max = SIZE_MAX,
    .options = options,
    .args_size = sizeof(struct measure_args),
    .details =
        "Brackets hold the bounds within which the true energy lies. The exit status is the\n"
        "command's.",
    .run = measure_run,
};
