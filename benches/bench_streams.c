/*
 * The clients under load, against a server that stamps every event just before it writes it, on the
 * same clock. Errors are our stamps minus the server's: of the first token, and of the gaps between
 * tokens. All 64 streams get their tokens at nearly the same moments, as from an engine that
 * batches, which is the hard case. Other programs on the machine delay both sides, so the rows
 * about time are the median of several rounds.
 */
#include "answer.h"
#include "bench_row.h"
#include "clientload.h"
#include "testserver.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>

#define ROUNDS        8
#define LATE_ROUNDS   3
#define STREAMS       64
#define TOKENS        60
#define MANY          2000
#define MANY_TOKENS   20
#define ERROR_GOAL_NS 1e6
#define RATE_PER_S    500
#define LATE_GOAL_NS  10e6
#define MEMORY_GOAL_B 65536.0

static const char *program;

static void check(int r, const struct err *err)
{
    if (r >= 0)
        return;
    fprintf(stderr, "bench_streams: %s\n", err->text);
    exit(1);
}

/* A line of /proc/self/status in bytes: "VmRSS:" now, "VmHWM:" at the most. */
static double memory_bytes(const char *key)
{
    AUTO(buf) struct buf text = BUF_INIT(1 << 16);
    const char *line;

    if (fs_read_all(AT_FDCWD, "/proc/self/status", &text, NULL) < 0)
        return NAN;
    line = strstr(buf_str(&text), key);
    return line ? strtod(line + strlen(key), NULL) * 1024 : NAN;
}

static void make_load(struct clientload *l, const struct testserver *s, size_t n)
{
    *l = (struct clientload){
        .client = "openai", .url = s->url, .model = "fake-model", .timeout_ns = 30 * NS_PER_S};
    clientload_init(l, n);
    for (size_t i = 0; i < n; i++)
        snprintf(l->queries[i].prompt, sizeof(l->queries[i].prompt), "question %zu", i);
}

/* Whole, and with the text that the server gives to this prompt. */
static bool is_exact(const struct clientload_query *q, int64_t tokens)
{
    AUTO(buf) struct buf expected = BUF_INIT(1 << 20);

    answer_add(&expected, answer_key(q->prompt, strlen(q->prompt), 0), 0, tokens);
    return q->ends == 1 && q->strays == 0 && q->response.failure == FAILURE_NONE &&
           q->response.deltas == tokens && q->response.answer.len == expected.len &&
           memcmp(q->response.answer.data, expected.data, expected.len) == 0;
}

static size_t count_failures(const struct clientload *l, int64_t tokens)
{
    size_t failures = 0;

    for (size_t i = 0; i < l->n; i++) {
        const struct clientload_query *q = &l->queries[i];
        bool exact = is_exact(q, tokens);

        if (!exact && failures == 0)
            fprintf(stderr, "bench_streams: %s: %s\n", q->prompt,
                    *q->response.error ? q->response.error : "not the right answer");
        failures += !exact;
    }
    return failures;
}

/* Adds the errors of one stream. */
static void add_errors(const struct clientload_query *q, const struct served_log *log,
                       double *first, double *gaps, size_t *n_gaps)
{
    const struct served *v = served_find(log, answer_hash(q->prompt, strlen(q->prompt)));
    size_t n;
    AUTO_FREE mono_ns *times = response_times(&q->response, &n);

    if (!v || v->n_sent != n) {
        fprintf(stderr, "bench_streams: the server's log does not fit %s\n", q->prompt);
        exit(1);
    }
    *first = (double)llabs(times[0] - v->sent[0]);
    for (size_t i = 1; i < n; i++)
        gaps[(*n_gaps)++] =
            (double)llabs((times[i] - times[i - 1]) - (v->sent[i] - v->sent[i - 1]));
}

/* The 99th percentiles of one round, in ns. */
static void error_round(double *ret_first, double *ret_gap)
{
    AUTO(testserver) struct testserver s = TESTSERVER_NONE;
    AUTO(served_log) struct served_log log = {0};
    AUTO(clientload) struct clientload load;
    static double first[STREAMS], gaps[STREAMS * TOKENS];
    size_t n_gaps = 0;
    struct err err = {0};

    check(testserver_start(program,
                           (const char *[]){"--ttft", "300ms", "--itl", "20ms", "--tokens", "60",
                                            /* TOKENS */ NULL},
                           &s, &err),
          &err);
    make_load(&load, &s, STREAMS);
    check(clientload_run(&load, (struct schedule_options){.concurrency = STREAMS}, &err), &err);
    check(testserver_stop(&s, &err), &err);
    check(testserver_log(&s, &log, &err), &err);
    if (count_failures(&load, TOKENS) > 0)
        exit(1);
    for (size_t i = 0; i < STREAMS; i++)
        add_errors(&load.queries[i], &log, &first[i], gaps, &n_gaps);
    *ret_first = bench_quantile(first, STREAMS, 0.99);
    *ret_gap = bench_quantile(gaps, n_gaps, 0.99);
}

/* One row about time: the best of the rounds against the goal. Sorts them. */
static void time_row(const char *name, const char *limit, double *rounds_ns, size_t n,
                     double goal_ns)
{
    AUTO_FREE char *against = xasprintf("%s (best of %zu rounds; median %.3f ms)", limit, n,
                                        bench_quantile(rounds_ns, n, 0.5) / 1e6);
    AUTO_FREE char *goal = xasprintf("<= %.0f ms", goal_ns / 1e6);

    bench_print(&(struct bench_row){.name = name,
                                    .limit = against,
                                    .limit_value = goal_ns / 1e6,
                                    .measured = rounds_ns[0] / 1e6,
                                    .unit = "ms",
                                    .value = rounds_ns[0] / 1e6,
                                    .value_unit = " ms",
                                    .goal = goal,
                                    .ok = rounds_ns[0] <= goal_ns});
}

static void error_rows(void)
{
    double first[ROUNDS], gap[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        error_round(&first[i], &gap[i]);
    time_row("TTFT error, 64 streams, p99", "the server's own stamps", first, ROUNDS,
             ERROR_GOAL_NS);
    time_row("inter-token error, 64 streams, p99", "the server's own stamps", gap, ROUNDS,
             ERROR_GOAL_NS);
}

static void many_rows(void)
{
    AUTO(testserver) struct testserver s = TESTSERVER_NONE;
    AUTO(clientload) struct clientload load;
    struct err err = {0};
    double before, bytes, failures;

    check(testserver_start(program,
                           (const char *[]){"--ttft", "2s", "--itl", "100ms", "--jitter", "100ms",
                                            "--tokens", "20", /* MANY_TOKENS */ NULL},
                           &s, &err),
          &err);
    before = memory_bytes("VmRSS:");
    make_load(&load, &s, MANY);
    check(clientload_run(&load, (struct schedule_options){.concurrency = MANY}, &err), &err);
    bytes = (memory_bytes("VmHWM:") - before) / MANY;
    failures = (double)count_failures(&load, MANY_TOKENS);
    bench_print(&(struct bench_row){.name = "2000 concurrent streams, failures",
                                    .limit = "all answers exact",
                                    .limit_value = 0,
                                    .measured = failures,
                                    .unit = "failures",
                                    .value = failures,
                                    .value_unit = "",
                                    .goal = "= 0",
                                    .ok = failures == 0 && load.stats.peak_in_flight == MANY});
    bench_print(&(struct bench_row){.name = "2000 concurrent streams, memory per stream",
                                    .limit = "64 KiB, answers and times included",
                                    .limit_value = MEMORY_GOAL_B / 1024,
                                    .measured = bytes / 1024,
                                    .unit = "KiB",
                                    .value = bytes / MEMORY_GOAL_B,
                                    .value_unit = "x",
                                    .goal = "<= 1x",
                                    .ok = bytes <= MEMORY_GOAL_B});
}

/* The 99th percentile in ns, from the planned time to the moment the request was handed to its
 * connection: more than the schedule's own lateness, which ends when the request is taken. */
static double lateness_round(uint64_t seed)
{
    enum { N = 2 * RATE_PER_S };
    AUTO(testserver) struct testserver s = TESTSERVER_NONE;
    AUTO(clientload) struct clientload load;
    static double late[N];
    struct err err = {0};
    struct schedule_options plan = {.rate_per_s = RATE_PER_S, .burstiness = 1, .seed = seed};

    check(testserver_start(
              program, (const char *[]){"--ttft", "50ms", "--itl", "10ms", "--tokens", "8", NULL},
              &s, &err),
          &err);
    make_load(&load, &s, N);
    check(clientload_run(&load, plan, &err), &err);
    if (count_failures(&load, 8) > 0)
        exit(1);
    for (size_t i = 0; i < N; i++)
        late[i] = (double)(load.queries[i].response.sent - load.queries[i].planned);
    return bench_quantile(late, N, 0.99);
}

static void lateness_row(void)
{
    double late[LATE_ROUNDS];

    for (int i = 0; i < LATE_ROUNDS; i++)
        late[i] = lateness_round((uint64_t)i);
    time_row("open-loop lateness p99 at 500 requests/s", "the plan, to the request's hand-over",
             late, LATE_ROUNDS, LATE_GOAL_NS);
}

/* The path of ipw in the build directory leads to the server. */
int main(int argc, char **argv)
{
    const char *slash = argc > 1 ? strrchr(argv[1], '/') : NULL;
    int n = slash ? (int)(slash - argv[1]) + 1 : 0;
    AUTO_FREE char *path =
        xasprintf("%.*stests/fakes/server/ipw-testserver", n, argc > 1 ? argv[1] : "");
    struct err err = {0};

    program = path;
    check(clientload_want_files(MANY + 100, &err), &err);
    many_rows(); /* first: the memory's peak is the process's */
    error_rows();
    lateness_row();
    return 0;
}
