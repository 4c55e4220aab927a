/*
 * Start-up: `ipw list all` and `ipw --help` against `curl --version`, which loads the same
 * libraries. The commands take turns, so that noise hits all alike; the median of each counts.
 */
#include "bench_row.h"

#include "base/clock.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 151

extern char **environ;

static double run_once(char *const argv[])
{
    posix_spawn_file_actions_t actions;
    mono_ns start = mono_now();
    int status = -1;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ) != 0 ||
        waitpid(pid, &status, 0) < 0 || status != 0) {
        fprintf(stderr, "bench_startup: cannot run %s\n", argv[0]);
        exit(1);
    }
    posix_spawn_file_actions_destroy(&actions);
    return (double)(mono_now() - start) / 1e6;
}

int main(int argc, char **argv)
{
    char *ipw = argc == 2 ? argv[1] : NULL;
    char *const list_all[] = {ipw, (char[]){"list"}, (char[]){"all"}, NULL};
    char *const help[] = {ipw, (char[]){"--help"}, NULL};
    char *const curl[] = {(char[]){"curl"}, (char[]){"--version"}, NULL};
    char *const *const commands[] = {curl, list_all, help};
    static const char *const names[] = {"", "start-up, ipw list all", "start-up, ipw --help"};
    static double ms[3][ROUNDS];
    double limit;

    if (!ipw)
        return 1;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 3; i++)
            ms[i][round] = run_once(commands[i]);
    limit = bench_quantile(ms[0], ROUNDS, 0.5);
    for (int i = 1; i < 3; i++) {
        double median = bench_quantile(ms[i], ROUNDS, 0.5);

        bench_print(&(struct bench_row){names[i], "curl --version", limit, median, "ms",
                                        median / limit, "x", "<= 1.3x", median <= 1.3 * limit});
    }
    return 0;
}
