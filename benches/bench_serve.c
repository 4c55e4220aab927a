/*
 * The memory of `ipw serve-pocket` at its most, while our client has many streams open on it and
 * every answer goes on until the context is full.
 */
#include "bench_row.h"
#include "clientload.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUERIES   200
#define AT_ONCE   48
#define GOAL_MIB  32.0
#define LISTENING "listening on "

extern char **environ;

static void fail(const char *words)
{
    fprintf(stderr, "bench_serve: %s\n", words);
    exit(1);
}

/* Starts it; its address goes to url. */
static pid_t start_server(char *ipw, char url[128])
{
    char *const argv[] = {ipw, (char[]){"serve-pocket"}, (char[]){"--listen"},
                          (char[]){"127.0.0.1:0"}, NULL};
    posix_spawn_file_actions_t actions;
    char line[256] = "", *found;
    AUTO_FILE FILE *out = NULL;
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        fail("no pipe");
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
    if (posix_spawn(&pid, ipw, &actions, NULL, argv, environ) != 0)
        fail("cannot run ipw");
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    out = fdopen(ends[0], "r");
    found = out && fgets(line, sizeof(line), out) ? strstr(line, LISTENING) : NULL;
    if (!found)
        fail("the server does not listen");
    snprintf(url, 128, "%.*s", (int)strcspn(found + strlen(LISTENING), "\n"),
             found + strlen(LISTENING));
    return pid;
}

static double peak_mib(pid_t pid)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    char path[64];
    const char *line;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    if (fs_read_all(AT_FDCWD, path, &text, NULL) < 0)
        return NAN;
    line = strstr(buf_str(&text), "VmHWM:");
    return line ? strtod(line + strlen("VmHWM:"), NULL) / 1024 : NAN;
}

static void run_load(const char *url)
{
    struct clientload l = {
        .client = "openai", .url = url, .model = "pocket", .timeout_ns = 300 * NS_PER_S};
    struct err err = {0};

    clientload_init(&l, QUERIES);
    kv_add(&l.generation, "max_tokens", "-1");
    kv_add(&l.generation, "temperature", "100");
    for (int i = 0; i < QUERIES; i++)
        snprintf(l.queries[i].prompt, sizeof(l.queries[i].prompt), "question %d", i);
    if (clientload_run(&l, (struct schedule_options){.concurrency = AT_ONCE}, &err) < 0)
        fail(err.text);
    for (int i = 0; i < QUERIES; i++)
        if (l.queries[i].response.failure != FAILURE_NONE)
            fail(l.queries[i].response.error);
    clientload_release(&l);
}

int main(int argc, char **argv)
{
    char url[128];
    int status = -1;
    double peak;
    pid_t pid;

    if (argc != 2)
        return 1;
    pid = start_server(argv[1], url);
    run_load(url);
    peak = peak_mib(pid);
    kill(pid, SIGTERM);
    if (waitpid(pid, &status, 0) != pid || status != 0)
        fail("the server did not end well");
    bench_print(&(struct bench_row){"serve-pocket, peak memory, 48 streams", "32 MiB", GOAL_MIB,
                                    peak, "MiB", peak, " MiB", "< 32 MiB", peak < GOAL_MIB});
    return 0;
}
