/*
 * powermetrics: CPU, GPU and neural engine of a Mac, from the program of that name.
 *
 * It is started in open() and prints a property list every period: what each part took since the
 * one before, in millijoules, or as a mean power in milliwatts with the time it is the mean of.
 * Both are the energy of exactly that time, so both are added up to a counter, and no integral has
 * to be guessed. read() takes what the pipe holds and never waits. A list that is broken, or that
 * lacks a part it had before, restarts the counter at 0: the sampler sees a reset, which is a gap,
 * where a sum with a hole in it would be a wrong number.
 *
 * The program wants root, hence sudo without a prompt. Our signals may not reach a child that runs
 * as root; closing the pipe does, with its next list.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "telemetry/collector.h"
#include "telemetry/plist.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM   "/usr/bin/powermetrics"
#define PERIOD_MS 200
#define COMMAND                                                                                \
    "sudo -n " PROGRAM " --samplers cpu_power,gpu_power,ane_power --sample-rate 200 --format " \
    "plist --hide-cpu-duty-cycle"

#define START_WAIT_MS     250               /* to see it refuse to start */
#define STOP_WAIT_NS      (2 * NS_PER_S)    /* for it to end, twice */
#define STEP_NS           (2 * NS_PER_MS)   /* between two looks at it */
#define READ_BYTES_MAX    (1u << 20)        /* a call */
#define ELAPSED_MAX_NS    (3600 * NS_PER_S) /* more is nonsense */
#define QUIET_NS          (2 * NS_PER_S)    /* and three periods: then it has stopped */
#define LIST_ENERGY_MAX_J 1e7

enum part { PART_CPU, PART_GPU, PART_ANE, N_PARTS };

/* What one property list says, and where. Some versions say the GPU's in a section of its own. */
enum field {
    CPU_ENERGY_MJ, /* the parts in the order of enum part */
    GPU_ENERGY_MJ,
    ANE_ENERGY_MJ,
    CPU_POWER_MW,
    GPU_POWER_MW,
    ANE_POWER_MW,
    SECTION_ENERGY_MJ,
    SECTION_POWER_MW,
    GPU_IDLE, /* of 1 */
    GPU_DOWN,
    ELAPSED_NS,
    N_FIELDS
};

static const char *const paths[N_FIELDS] = {
    [CPU_ENERGY_MJ] = "processor/cpu_energy",
    [GPU_ENERGY_MJ] = "processor/gpu_energy",
    [ANE_ENERGY_MJ] = "processor/ane_energy",
    [CPU_POWER_MW] = "processor/cpu_power",
    [GPU_POWER_MW] = "processor/gpu_power",
    [ANE_POWER_MW] = "processor/ane_power",
    [SECTION_ENERGY_MJ] = "gpu/gpu_energy",
    [SECTION_POWER_MW] = "gpu/gpu_power",
    [GPU_IDLE] = "gpu/idle_ratio",
    [GPU_DOWN] = "gpu/down_ratio",
    [ELAPSED_NS] = "elapsed_ns",
};

struct powermetrics {
    pid_t child; /* -1 = reaped */
    int status;  /* of waitpid, once reaped */
    int fd;
    bool ended; /* the pipe is at its end */
    struct plist parser;
    double list[N_FIELDS];   /* of the list that is being read; NAN = not said */
    double total_j[N_PARTS]; /* NAN = never seen */
    size_t channels[N_PARTS], busy_channel;
    mono_ns quiet_until; /* so long no new list is no news */
    /* while reading */
    struct sample_sink *out;
    mono_ns before, after;
    size_t n_lists;
};

static void clear_list(struct powermetrics *p)
{
    for (int i = 0; i < N_FIELDS; i++)
        p->list[i] = NAN;
}

static void on_number(void *ctx, const char *path, double value)
{
    struct powermetrics *p = ctx;

    for (int i = 0; i < N_FIELDS; i++)
        if (strcmp(path, paths[i]) == 0)
            p->list[i] = value;
}

static double first_of(double a, double b)
{
    return isnan(a) ? b : a;
}

static double elapsed_ns(const struct powermetrics *p)
{
    double ns = p->list[ELAPSED_NS];

    return ns > 0 && ns <= ELAPSED_MAX_NS ? ns : NAN;
}

/* Joules of a part in the time of the list, NAN = not said or nonsense. */
static double energy_of(const struct powermetrics *p, enum part part)
{
    double mj = p->list[CPU_ENERGY_MJ + part], mw = p->list[CPU_POWER_MW + part], j;

    if (part == PART_GPU) {
        mj = first_of(mj, p->list[SECTION_ENERGY_MJ]);
        mw = first_of(mw, p->list[SECTION_POWER_MW]);
    }
    j = first_of(mj / 1e3, mw / 1e3 * elapsed_ns(p) / 1e9);
    return j >= 0 && j <= LIST_ENERGY_MAX_J ? j : NAN;
}

static void put_total(struct powermetrics *p, enum part part)
{
    if (!isnan(p->total_j[part]))
        sample_put(p->out, p->channels[part], p->before, p->after, p->total_j[part]);
}

static void on_end(void *ctx, bool whole)
{
    struct powermetrics *p = ctx;
    double busy = 1 - p->list[GPU_IDLE] - first_of(p->list[GPU_DOWN], 0);

    for (int part = 0; part < N_PARTS; part++) {
        double j = whole ? energy_of(p, (enum part)part) : NAN;

        if (!isnan(j))
            p->total_j[part] = first_of(p->total_j[part], 0) + j;
        else if (!isnan(p->total_j[part]))
            p->total_j[part] = 0;
        put_total(p, (enum part)part);
    }
    if (whole && busy >= 0 && busy <= 1)
        sample_put(p->out, p->busy_channel, p->before, p->after, 100 * busy);
    p->quiet_until = p->after + QUIET_NS + 3 * (mono_ns)first_of(elapsed_ns(p), 0);
    clear_list(p);
    p->n_lists++;
}

static int make_pipe(int ends[2], struct err *err)
{
    if (pipe(ends) < 0)
        return err_sys(err, errno, "powermetrics: cannot make a pipe");
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    /* Only our end: the child's writes may wait. */
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return 0;
}

/* Its own process group, so that Ctrl-C is ours alone and all of it can be ended; SIGPIPE as a
 * program expects it, whatever we do with it. */
static int spawn(const char *command, int out, pid_t *ret)
{
    char *argv[] = {xstrdup("sh"), xstrdup("-c"), xstrdup(command), NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, usual;
    int r;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGHUP);
    sigaddset(&usual, SIGINT);
    sigaddset(&usual, SIGPIPE);
    sigaddset(&usual, SIGTERM);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(&attr, 0);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &usual);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    r = posix_spawn(ret, "/bin/sh", &files, &attr, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attr);
    for (size_t i = 0; argv[i]; i++)
        free(argv[i]);
    return -r;
}

/* Reaps the child if it ends before t. */
static bool reap_until(struct powermetrics *p, mono_ns t)
{
    while (p->child > 0) {
        pid_t r = waitpid(p->child, &p->status, WNOHANG);

        if (r == p->child || (r < 0 && errno != EINTR)) {
            p->child = -1;
        } else if (mono_now() >= t) {
            return false;
        } else {
            mono_sleep_until(mono_now() + STEP_NS);
        }
    }
    return true;
}

static int explain_end(struct powermetrics *p, int code, const char *remedy, struct err *err)
{
    if (!reap_until(p, mono_now() + 50 * STEP_NS))
        return err_set(err, code, "powermetrics: the command closed its output");
    if (WIFSIGNALED(p->status))
        return err_set(err, code, "powermetrics: the command was ended by signal %d",
                       WTERMSIG(p->status));
    return err_set(err, code, "powermetrics: the command ended with status %d%s",
                   WEXITSTATUS(p->status), remedy);
}

static void powermetrics_close(void *ctx)
{
    struct powermetrics *p = ctx;

    cleanup_fd(&p->fd);
    if (p->child > 0) {
        kill(-p->child, SIGTERM);
        if (!reap_until(p, mono_now() + STOP_WAIT_NS)) {
            kill(-p->child, SIGKILL);
            reap_until(p, mono_now() + STOP_WAIT_NS);
        }
    }
    free(p);
}

static void declare(struct collector_setup *setup, struct powermetrics *p, mono_ns refresh_ns)
{
    static const struct {
        enum rail rail;
        const char *name;
    } parts[N_PARTS] = {{RAIL_CPU, "CPU"}, {RAIL_GPU, "GPU"}, {RAIL_ANE, "ANE"}};
    struct device soc = {
        .kind = DEVICE_SOC, .name = "Apple SoC", .vendor = "Apple", .backend = "powermetrics"};
    struct device gpu = {
        .kind = DEVICE_GPU, .name = "Apple GPU", .vendor = "Apple", .backend = "powermetrics"};
    size_t soc_index = collector_add_device(setup, soc);
    size_t gpu_index = collector_add_device(setup, gpu);
    struct channel busy = {.quantity = QUANTITY_UTILIZATION_PCT,
                           .rail = RAIL_GPU,
                           .device = gpu_index,
                           .name = "GPU",
                           .range = NAN,
                           .quantum = NAN,
                           .refresh_ns = refresh_ns};

    for (int i = 0; i < N_PARTS; i++) {
        struct channel c = {.quantity = QUANTITY_ENERGY_J,
                            .rail = parts[i].rail,
                            .device = i == PART_GPU ? gpu_index : soc_index,
                            .summed = true,
                            .range = NAN,
                            .quantum = 1e-3,
                            .refresh_ns = refresh_ns};

        snprintf(c.name, sizeof(c.name), "%s", parts[i].name);
        p->channels[i] = collector_add_channel(setup, c);
        p->total_j[i] = NAN;
    }
    p->busy_channel = collector_add_channel(setup, busy);
}

/* Starts the command; a moment is given to it to say that it will not. */
static int start(struct powermetrics *p, const char *command, const char *remedy, struct err *err)
{
    struct pollfd wait = {.events = POLLIN};
    AUTO_FD int out = -1;
    int ends[2], r = make_pipe(ends, err);

    if (r < 0)
        return r;
    p->fd = ends[0];
    out = ends[1];
    r = spawn(command, out, &p->child);
    if (r < 0) {
        p->child = -1;
        return err_sys(err, -r, "powermetrics: cannot start /bin/sh");
    }
    close(steal_fd(&out)); /* or its end would never show */
    wait.fd = p->fd;
    poll(&wait, 1, START_WAIT_MS);
    if ((wait.revents & POLLHUP) && !(wait.revents & POLLIN))
        return explain_end(p, *remedy ? EACCES : EIO, remedy, err);
    return 0;
}

static int powermetrics_open(struct collector_setup *setup, void **ret_ctx, struct err *err)
{
    const struct kv_list *params = setup->env->params;
    const char *command = params ? kv_get(params, "command") : NULL;
    struct powermetrics *p;
    int r;

    if (!command && access(PROGRAM, X_OK) < 0)
        return err_set(err, ENODEV, "no %s", PROGRAM);
    p = xcalloc(1, sizeof(*p));
    p->fd = p->child = -1;
    plist_init(&p->parser, on_number, on_end, p);
    clear_list(p);
    r = start(p, command ? command : COMMAND,
              command ? "" : "; run 'sudo -v' first, or allow " PROGRAM " in sudoers", err);
    if (r < 0) {
        powermetrics_close(p);
        return r;
    }
    declare(setup, p, command ? 0 : PERIOD_MS * NS_PER_MS);
    *ret_ctx = p;
    return 0;
}

/* What the pipe holds goes to the parser. */
static void drain(struct powermetrics *p)
{
    char data[16384];

    for (size_t taken = 0; taken < READ_BYTES_MAX && !p->ended;) {
        ssize_t got = read(p->fd, data, sizeof(data));

        p->after = mono_now();
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return;
        if (got <= 0) {
            p->ended = true;
            return;
        }
        taken += (size_t)got;
        plist_push(&p->parser, data, (size_t)got);
    }
}

static int powermetrics_read(void *ctx, struct sample_sink *out, struct err *err)
{
    struct powermetrics *p = ctx;

    p->out = out;
    p->n_lists = 0;
    p->before = mono_now();
    drain(p);
    if (p->n_lists > 0)
        return 0;
    if (p->ended)
        return explain_end(p, EPIPE, "", err);
    /* That nothing has changed yet dates the next change; but a program that fell silent must not
     * pass for one that measures nothing. */
    for (int part = 0; part < N_PARTS && p->after < p->quiet_until; part++)
        put_total(p, (enum part)part);
    return 0;
}

extern const struct collector_ops powermetrics_ops;

static void powermetrics_check(struct plugin_status *ret)
{
    collector_check(&powermetrics_ops, ret);
}

const struct collector_ops powermetrics_ops = {
    .plugin = {.id = "powermetrics",
               .help = "CPU, GPU and neural engine energy of a Mac",
               .check = powermetrics_check},
    .open = powermetrics_open,
    .read = powermetrics_read,
    .close = powermetrics_close,
};
