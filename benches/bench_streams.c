/*
 * The clients under load, against a server that stamps every event just before it writes it, on the
 * same clock. Errors are our stamps minus the server's: of the first token, and of the gaps between
 * tokens. How late bytes reach any program on this machine is measured in turn, by a bare receiver
 * that does nothing but stamp them. Tokens of different streams come at different moments, or all
 * in step, as from an engine that batches: there the receiver waits while the server, perhaps on
 * its core, sends the whole step, and only the comparison with the bare receiver means something.
 *
 * Other programs can only add to the errors, so the rows about time are of the best of several
 * rounds, with the median beside it.
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
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#define ROUNDS        5
#define STEP_ROUNDS   2
#define LATE_ROUNDS   3
#define STREAMS       64
#define TOKENS        60
#define MANY          2000
#define MANY_TOKENS   20
#define ERROR_GOAL_NS 1e6
#define STEP_GOAL     1.5
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

/* The stamps of a bare receiver. */
struct bare {
    int fd;
    mono_ns times[TOKENS];
    size_t n;
};

static void ask_bare(struct bare *b, const struct testserver *s, const char *prompt)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    AUTO_FREE char *body =
        xasprintf("{\"messages\":[{\"content\":\"%s\"}],\"stream\":true}", prompt);
    AUTO_FREE char *request =
        xasprintf("POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                  "Content-Length: %zu\r\n\r\n%s",
                  strlen(body), body);

    in.sin_port = htons((uint16_t)strtoul(strrchr(s->url, ':') + 1, NULL, 10));
    b->n = 0;
    b->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (b->fd < 0 || connect(b->fd, (struct sockaddr *)&in, sizeof(in)) < 0 ||
        send(b->fd, request, strlen(request), MSG_NOSIGNAL) != (ssize_t)strlen(request)) {
        perror("bench_streams: the bare receiver");
        exit(1);
    }
}

/* An event is one write, so it is looked for in one read. */
static void stamp_bare(struct bare *b, char *piece, size_t n, mono_ns at)
{
    static const char sign[] = "\"content\":\"";
    char *end = piece + n;

    *end = '\0';
    while ((piece = memmem(piece, (size_t)(end - piece), sign, sizeof(sign) - 1))) {
        piece += sizeof(sign) - 1;
        if (*piece != '"' && b->n < TOKENS)
            b->times[b->n++] = at;
    }
}

static void receive_bare(struct bare *streams, int epoll)
{
    static char piece[65536];

    for (int open = STREAMS; open > 0;) {
        struct epoll_event events[STREAMS];
        int n = epoll_wait(epoll, events, STREAMS, 10000);

        check(n > 0 ? 0 : -1, &(struct err){.text = "the bare receiver hangs"});
        for (int i = 0; i < n; i++) {
            struct bare *b = &streams[events[i].data.u32];
            ssize_t got = recv(b->fd, piece, sizeof(piece) - 1, 0);

            if (got > 0) {
                stamp_bare(b, piece, (size_t)got, mono_now());
                continue;
            }
            close(b->fd);
            open--;
        }
    }
}

/* Errors of one round, in ns. */
struct errors {
    double first[STREAMS], gaps[STREAMS * TOKENS];
    size_t n_first, n_gaps;
};

static void add_errors(struct errors *e, const char *prompt, const mono_ns *times, size_t n,
                       const struct served_log *log)
{
    const struct served *v = served_find(log, answer_hash(prompt, strlen(prompt)));

    if (!v || v->n_sent != n || n != TOKENS) {
        fprintf(stderr, "bench_streams: the server's log does not fit %s\n", prompt);
        exit(1);
    }
    e->first[e->n_first++] = (double)llabs(times[0] - v->sent[0]);
    for (size_t i = 1; i < n; i++)
        e->gaps[e->n_gaps++] =
            (double)llabs((times[i] - times[i - 1]) - (v->sent[i] - v->sent[i - 1]));
}

static struct testserver start_for_errors(const char *jitter)
{
    struct testserver s;
    struct err err = {0};

    check(testserver_start(program,
                           (const char *[]){"--ttft", "300ms", "--itl", "20ms", "--jitter", jitter,
                                            "--tokens", "60",
                                            /* TOKENS */ NULL},
                           &s, &err),
          &err);
    return s;
}

static void read_log(struct testserver *s, struct served_log *ret)
{
    struct err err = {0};

    check(testserver_stop(s, &err), &err);
    check(testserver_log(s, ret, &err), &err);
}

static void bare_round(struct errors *e, const char *jitter)
{
    AUTO(testserver) struct testserver s = start_for_errors(jitter);
    AUTO(served_log) struct served_log log = {0};
    static struct bare streams[STREAMS];
    AUTO_FD int epoll = epoll_create1(EPOLL_CLOEXEC);
    char prompt[32];

    for (uint32_t i = 0; i < STREAMS; i++) {
        struct epoll_event event = {.events = EPOLLIN, .data.u32 = i};

        snprintf(prompt, sizeof(prompt), "question %u", i);
        ask_bare(&streams[i], &s, prompt);
        epoll_ctl(epoll, EPOLL_CTL_ADD, streams[i].fd, &event);
    }
    receive_bare(streams, epoll);
    read_log(&s, &log);
    for (uint32_t i = 0; i < STREAMS; i++) {
        snprintf(prompt, sizeof(prompt), "question %u", i);
        add_errors(e, prompt, streams[i].times, streams[i].n, &log);
    }
}

static void client_round(struct errors *e, const char *jitter)
{
    AUTO(testserver) struct testserver s = start_for_errors(jitter);
    AUTO(served_log) struct served_log log = {0};
    AUTO(clientload) struct clientload load;
    struct err err = {0};

    make_load(&load, &s, STREAMS);
    check(clientload_run(&load, (struct schedule_options){.concurrency = STREAMS}, &err), &err);
    read_log(&s, &log);
    if (count_failures(&load, TOKENS) > 0)
        exit(1);
    for (size_t i = 0; i < STREAMS; i++) {
        size_t n;
        AUTO_FREE mono_ns *times = response_times(&load.queries[i].response, &n);

        add_errors(e, load.queries[i].prompt, times, n, &log);
    }
}

/* 99th percentiles of a round. */
static void error_round(void (*round)(struct errors *e, const char *jitter), const char *jitter,
                        double *ret_first, double *ret_gap)
{
    static struct errors e;

    e.n_first = e.n_gaps = 0;
    round(&e, jitter);
    *ret_first = bench_quantile(e.first, e.n_first, 0.99);
    *ret_gap = bench_quantile(e.gaps, e.n_gaps, 0.99);
}

/* One row about time: the best of the rounds against the goal. Sorts them. limit_ns is what the
 * machine allows. */
static void time_row(const char *name, const char *limit, double limit_ns, double *rounds_ns,
                     size_t n, double goal_ns)
{
    AUTO_FREE char *against = xasprintf("%s; best of %zu, median %.2f ms", limit, n,
                                        bench_quantile(rounds_ns, n, 0.5) / 1e6);
    AUTO_FREE char *goal = xasprintf("<= %.0f ms", goal_ns / 1e6);

    bench_print(&(struct bench_row){.name = name,
                                    .limit = against,
                                    .limit_value = limit_ns / 1e6,
                                    .measured = rounds_ns[0] / 1e6,
                                    .unit = "ms",
                                    .value = rounds_ns[0] / 1e6,
                                    .value_unit = " ms",
                                    .goal = goal,
                                    .ok = rounds_ns[0] <= goal_ns});
}

static void error_rows(void)
{
    static const char limit[] = "a bare receiver";
    double first[ROUNDS], gap[ROUNDS], bare_first[ROUNDS], bare_gap[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        error_round(bare_round, "20ms", &bare_first[i], &bare_gap[i]);
        error_round(client_round, "20ms", &first[i], &gap[i]);
    }
    time_row("TTFT error, 64 streams, p99", limit, bench_quantile(bare_first, ROUNDS, 0), first,
             ROUNDS, ERROR_GOAL_NS);
    time_row("inter-token error, 64 streams, p99", limit, bench_quantile(bare_gap, ROUNDS, 0), gap,
             ROUNDS, ERROR_GOAL_NS);
}

static void step_row(void)
{
    double first, gap[STEP_ROUNDS], bare[STEP_ROUNDS], ours_ns, bare_ns;

    for (int i = 0; i < STEP_ROUNDS; i++) {
        error_round(bare_round, "0ms", &first, &bare[i]);
        error_round(client_round, "0ms", &first, &gap[i]);
    }
    ours_ns = bench_quantile(gap, STEP_ROUNDS, 0);
    bare_ns = bench_quantile(bare, STEP_ROUNDS, 0);
    bench_print(&(struct bench_row){.name = "inter-token error, 64 streams in step, p99",
                                    .limit = "a bare receiver",
                                    .limit_value = bare_ns / 1e6,
                                    .measured = ours_ns / 1e6,
                                    .unit = "ms",
                                    .value = ours_ns / bare_ns,
                                    .value_unit = "x",
                                    .goal = "<= 1.5x",
                                    .ok = ours_ns <= STEP_GOAL * bare_ns});
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
    time_row("open-loop lateness p99 at 500 requests/s", "the plan, to the request's hand-over", 0,
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
    step_row();
    lateness_row();
    return 0;
}
