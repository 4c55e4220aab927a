#include "truthrun.h"

#include "answer.h"
#include "simcurve.h"
#include "testserver.h"

#include "analysis/run.h"
#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "core/stats.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ARGS_MAX 40

struct bench {
    const struct truthrun_options *options;
    char dir[64];
    struct testserver server;
    struct served_log log;
};

static int pick(uint64_t i, uint64_t what, int low, int high)
{
    return low + (int)(sim_uniform(2026 + what, i) * (high - low + 1));
}

/* Prompts of a chosen length that say how long the answer is to be. */
static int write_questions(const struct truthrun_options *o, const char *path, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);

    for (size_t i = 0; i < o->queries; i++) {
        AUTO_FREE char *start =
            xasprintf("[[tokens:%d]] question %zu ", pick(i, 1, o->tokens_min, o->tokens_max), i);
        int bytes = 4 * pick(i, 2, o->prompt_min, o->prompt_max);

        buf_addf(&text, "{\"question\": \"%s", start);
        for (int k = (int)strlen(start); k < bytes; k++)
            buf_addc(&text, 'x');
        buf_adds(&text, "\", \"answer\": \"\"}\n");
    }
    return fs_replace(AT_FDCWD, path, text.data, text.len, err);
}

static int start_server(struct bench *b, struct err *err)
{
    const struct truthrun_options *o = b->options;
    AUTO_FREE char *powercap =
        xasprintf("%s/sys:%g:%g:%g:%g", b->dir, o->refresh_ms, o->base_w, o->prompt_j, o->token_j);
    const char *options[] = {"--powercap", powercap,         "--ttft", "30ms", "--itl",
                             o->itl,       "--prefill-rate", "1000",   NULL};

    return testserver_start(o->testserver, options, &b->server, err);
}

static void exec_profile(const struct bench *b)
{
    AUTO_FREE char *questions = xasprintf("%s/q.jsonl", b->dir);
    AUTO_FREE char *runs = xasprintf("%s/runs", b->dir);
    AUTO_FREE char *sys = xasprintf("%s/sys", b->dir);
    const char *args[ARGS_MAX] = {b->options->ipw,
                                  "profile",
                                  "--client",
                                  "openai",
                                  "--client-base-url",
                                  b->server.url,
                                  "--dataset",
                                  questions,
                                  "--output-dir",
                                  runs,
                                  "--telemetry",
                                  "rapl",
                                  "--idle",
                                  "2s",
                                  "--warmup-queries",
                                  "0",
                                  "--no-score",
                                  "--quiet"};
    size_t n = 18;

    for (size_t i = 0; b->options->load[i]; i++)
        args[n++] = b->options->load[i];
    setenv("IPW_SYSFS_ROOT", sys, 1);
    dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
    execv(b->options->ipw, (char **)(uintptr_t)args);
    _exit(127);
}

static int profile(const struct bench *b, struct err *err)
{
    pid_t pid = fork();
    int status;

    if (pid < 0)
        return err_sys(err, errno, "fork");
    if (pid == 0)
        exec_profile(b);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return err_set(err, EIO, "ipw profile ended with status %#x", (unsigned)status);
    return 0;
}

/* The one run below runs/. */
static int open_run(const struct bench *b, struct run **ret, struct err *err)
{
    AUTO_FREE char *runs = xasprintf("%s/runs", b->dir);
    AUTO_FREE char *path = NULL;
    DIR *dir = opendir(runs);
    struct dirent *e;

    while (dir && (e = readdir(dir)))
        if (strncmp(e->d_name, "profile_", 8) == 0 && !path)
            path = xasprintf("%s/%s", runs, e->d_name);
    if (dir)
        closedir(dir);
    if (!path)
        return err_set(err, ENOENT, "no run in %s", runs);
    return run_open(path, ret, err);
}

static mono_ns ended(const struct served *v)
{
    return v->n_sent ? v->sent[v->n_sent - 1] : v->received;
}

/* Seconds of the base that are this query's: 1/n of each stretch of time with n in flight. */
static double held_s(const struct served_log *l, const struct served *v)
{
    AUTO_FREE double *cuts = xcalloc(2 * l->n, sizeof(*cuts));
    size_t n = 0;
    double held = 0;

    for (size_t i = 0; i < l->n; i++) {
        mono_ns edges[2] = {l->items[i].received, ended(&l->items[i])};

        for (size_t k = 0; k < 2; k++)
            if (edges[k] >= v->received && edges[k] <= ended(v))
                cuts[n++] = ns_to_s(edges[k] - v->received);
    }
    stats_sort(cuts, n);
    for (size_t i = 0; i + 1 < n; i++) {
        mono_ns middle = v->received + s_to_ns((cuts[i] + cuts[i + 1]) / 2);
        int in_flight = 0;

        for (size_t k = 0; k < l->n; k++)
            in_flight += l->items[k].received <= middle && middle < ended(&l->items[k]);
        if (in_flight > 0)
            held += (cuts[i + 1] - cuts[i]) / in_flight;
    }
    return held;
}

static int judge(struct bench *b, const struct record *r, struct truthrun_result *ret,
                 struct err *err)
{
    const struct served *v = served_find(&b->log, answer_hash(r->problem, strlen(r->problem)));
    double joules = record_joules(r), seconds = r->request.end_s - r->request.sent_s, truth;

    if (!v || !record_ok(r))
        return err_set(err, EIO, "query %d failed, or the server does not know it",
                       (int)r->request.index);
    if (isnan(joules)) {
        ret->unknown++;
        return 0;
    }
    truth = v->joules + b->options->base_w * (b->options->alone ? seconds : held_s(&b->log, v));
    ret->error_pct[ret->n] = 100 * fabs(joules / truth - 1);
    ret->equal_pct[ret->n++] = 100 * fabs(r->measurement.equal_j / truth - 1);
    ret->inside += r->measurement.low_j <= truth + 1e-6 && truth <= r->measurement.high_j + 1e-6;
    ret->shortest_s = ret->n == 1 ? seconds : fmin(ret->shortest_s, seconds);
    ret->longest_s = fmax(ret->longest_s, seconds);
    return 0;
}

static void check_totals(const struct bench *b, const struct json *summary, double sum_j,
                         struct truthrun_result *ret)
{
    const struct json *totals = json_get(summary, "totals");
    double meter_j = json_real(json_path(totals, "joules", "cpu"), NAN);
    double idle_j = json_real(json_get(totals, "idle_joules"), NAN), truth_j = 0;

    for (size_t i = 0; i < b->log.n; i++)
        truth_j += b->log.items[i].joules;
    truth_j += b->options->base_w * json_real(json_get(totals, "seconds"), NAN);
    ret->conservation =
        json_real(json_path(summary, "attribution", "conservation_error"), NAN);
    ret->sum_error = fabs((sum_j + idle_j) / meter_j - 1);
    ret->total_error_pct = 100 * fabs(meter_j / truth_j - 1);
    ret->peak_in_flight = json_real(json_path(summary, "load", "peak_in_flight"), NAN);
}

static int compare(struct bench *b, struct truthrun_result *ret, struct err *err)
{
    AUTO_PTR(run) struct run *run = NULL;
    const struct record *record;
    double sum_j = 0;
    int more = open_run(b, &run, err);

    if (more == 0 && run_rows(run) != (int64_t)b->options->queries)
        return err_set(err, EIO, "%d records", (int)run_rows(run));
    ret->error_pct = xcalloc(b->options->queries, sizeof(double));
    ret->equal_pct = xcalloc(b->options->queries, sizeof(double));
    while (more >= 0 && (more = run_next(run, &record, err)) > 0) {
        sum_j += isnan(record_joules(record)) ? 0 : record_joules(record);
        more = judge(b, record, ret, err);
    }
    if (more < 0)
        return more;
    check_totals(b, run_summary(run), sum_j, ret);
    stats_sort(ret->error_pct, ret->n);
    ret->n_equal = stats_sort(ret->equal_pct, ret->n);
    return 0;
}

static int run_all(struct bench *b, struct truthrun_result *ret, struct err *err)
{
    AUTO_FREE char *questions = xasprintf("%s/q.jsonl", b->dir);
    int r = write_questions(b->options, questions, err);

    if (r == 0)
        r = start_server(b, err);
    if (r == 0)
        r = profile(b, err);
    if (r == 0)
        r = testserver_stop(&b->server, err);
    if (r == 0)
        r = testserver_log(&b->server, &b->log, err);
    if (r == 0)
        r = compare(b, ret, err);
    return r;
}

int truthrun(const struct truthrun_options *o, struct truthrun_result *ret, struct err *err)
{
    struct bench b = {.options = o, .dir = "/tmp/ipw-truth-XXXXXX", .server = TESTSERVER_NONE};
    struct truthrun_result result = {0};
    int r;

    if (!mkdtemp(b.dir))
        return err_sys(err, errno, "%s", b.dir);
    r = run_all(&b, &result, err);
    testserver_release(&b.server);
    served_log_release(&b.log);
    fs_remove_tree(AT_FDCWD, b.dir, NULL);
    if (r < 0) {
        truthrun_release(&result);
        return r;
    }
    *ret = result;
    return 0;
}

void truthrun_release(struct truthrun_result *r)
{
    free(r->error_pct);
    free(r->equal_pct);
    *r = (struct truthrun_result){0};
}
