/*
 * What a streamed token costs us, against what it must cost at least.
 *
 * One event per segment, as servers send them: against libcurl receiving the same bytes and
 * dropping them. In bulk: against CPython's readline + json.loads over the same bytes. Only our own
 * CPU time counts, user and system; the sender is another process.
 *
 * Prints one line per row: name, limit, its value, ours, ratio, goal, verdict; tab-separated.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "client/client.h"

#include <curl/curl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define STREAMS_MAX 2000
#define ROUNDS      5
#define BULK_EVENTS 200000
/* CPython on the machine that the goals were set on */
#define PYTHON_US_ASSUMED 4.8

static const char head[] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
                           "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
static const char last[] =
    "data: {\"choices\":[{\"finish_reason\":\"stop\",\"index\":0,\"delta\":{}}]}\n\n";

/* 256 bytes, as llama.cpp sends them. */
static const char event[] =
    "data: {\"choices\":[{\"finish_reason\":null,\"index\":0,\"delta\":{\"content\":\" token\"}}],"
    "\"created\":1794784010,\"id\":\"chatcmpl-ZBcWfRRucfNaOi8Ml3iDqZjQi2H0PBnD\","
    "\"model\":\"models/stories260K.gguf\",\"system_fingerprint\":\"b0-b21e4de7\",\"object\":"
    "\"chat.completion.chunk\"}\n\n";

struct load {
    int streams;
    int events;          /* per stream */
    int64_t interval_ns; /* between the events of a stream; 0: all at once */
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

static void add_chunk(struct buf *b, const char *bytes, size_t n)
{
    buf_addf(b, "%zx\r\n", n);
    buf_add(b, bytes, n);
    buf_adds(b, "\r\n");
}

static void send_all(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);

        if (sent <= 0)
            _exit(1);
        p += sent;
        n -= (size_t)sent;
    }
}

/* One event to every stream, then a pause, again and again. */
static void send_paced(const int *fds, const struct load *l)
{
    struct buf chunk = BUF_INIT(4096);
    mono_ns next = mono_now();

    add_chunk(&chunk, event, sizeof(event) - 1);
    for (int i = 0; i < l->events; i++) {
        next += l->interval_ns;
        mono_sleep_until(next);
        for (int s = 0; s < l->streams; s++)
            send_all(fds[s], chunk.data, chunk.len);
    }
}

static void send_bulk(int fd, const struct load *l)
{
    struct buf chunks = BUF_INIT(1 << 20);
    int per_send = 200;

    for (int i = 0; i < per_send; i++)
        add_chunk(&chunks, event, sizeof(event) - 1);
    for (int i = 0; i < l->events / per_send; i++)
        send_all(fd, chunks.data, chunks.len);
}

/* The sender's process: takes the streams, plays the load, ends. */
static void serve(int listen_fd, const struct load *l)
{
    struct buf end = BUF_INIT(4096);
    int fds[STREAMS_MAX];
    char request[4096];
    int one = 1;

    for (int i = 0; i < l->streams; i++) {
        fds[i] = accept(listen_fd, NULL, NULL);
        if (fds[i] < 0 || recv(fds[i], request, sizeof(request), 0) <= 0)
            _exit(1);
        setsockopt(fds[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    }
    for (int i = 0; i < l->streams; i++)
        send_all(fds[i], head, sizeof(head) - 1);
    if (l->interval_ns)
        send_paced(fds, l);
    else
        send_bulk(fds[0], l);
    add_chunk(&end, last, sizeof(last) - 1);
    buf_adds(&end, "0\r\n\r\n");
    for (int i = 0; i < l->streams; i++)
        send_all(fds[i], end.data, end.len);
    _exit(0);
}

static pid_t start_sender(const struct load *l, char url[64])
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(a);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    pid_t pid;

    if (fd < 0 || bind(fd, (struct sockaddr *)&a, n) < 0 || listen(fd, 4096) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &n) < 0)
        die("listen");
    snprintf(url, 64, "http://127.0.0.1:%d/v1", ntohs(a.sin_port));
    pid = fork();
    if (pid < 0)
        die("fork");
    if (pid == 0)
        serve(fd, l);
    close(fd);
    return pid;
}

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* libcurl alone: the same loop, the bytes dropped. */

struct bare {
    CURLM *multi;
    int epoll_fd;
    mono_ns timer;
    size_t bytes;
};

static size_t drop(char *p, size_t size, size_t count, void *arg)
{
    struct bare *b = arg;

    (void)p;
    b->bytes += size * count;
    return size * count;
}

static int bare_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct epoll_event e = {.data.fd = fd};
    struct bare *b = arg;

    (void)easy;
    e.events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    epoll_ctl(b->epoll_fd,
              what == CURL_POLL_REMOVE ? EPOLL_CTL_DEL
              : known                  ? EPOLL_CTL_MOD
                                       : EPOLL_CTL_ADD,
              fd, &e);
    curl_multi_assign(b->multi, fd, b);
    return 0;
}

static int bare_timer(CURLM *multi, long ms, void *arg)
{
    struct bare *b = arg;

    (void)multi;
    b->timer = ms < 0 ? MONO_NEVER : mono_now() + ms * NS_PER_MS;
    return 0;
}

static void bare_loop(struct bare *b)
{
    struct epoll_event events[256];
    int running = 1;

    while (running > 0) {
        int64_t ms = b->timer == MONO_NEVER ? -1 : (b->timer - mono_now()) / NS_PER_MS;
        int n =
            epoll_wait(b->epoll_fd, events, 256, b->timer != MONO_NEVER && ms < 0 ? 0 : (int)ms);

        for (int i = 0; i < n; i++)
            curl_multi_socket_action(b->multi, events[i].data.fd,
                                     (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                                         (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0),
                                     &running);
        if (b->timer <= mono_now()) {
            b->timer = MONO_NEVER;
            curl_multi_socket_action(b->multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
    }
}

static double run_bare(const struct load *l)
{
    struct bare b = {.timer = MONO_NEVER};
    CURL *easy[STREAMS_MAX];
    char base[64], url[128];
    pid_t sender = start_sender(l, base);
    double cpu;

    snprintf(url, sizeof(url), "%s/chat/completions", base);
    b.multi = curl_multi_init();
    b.epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    curl_multi_setopt(b.multi, CURLMOPT_SOCKETFUNCTION, bare_socket);
    curl_multi_setopt(b.multi, CURLMOPT_SOCKETDATA, &b);
    curl_multi_setopt(b.multi, CURLMOPT_TIMERFUNCTION, bare_timer);
    curl_multi_setopt(b.multi, CURLMOPT_TIMERDATA, &b);
    cpu = cpu_s();
    for (int i = 0; i < l->streams; i++) {
        easy[i] = curl_easy_init();
        curl_easy_setopt(easy[i], CURLOPT_URL, url);
        curl_easy_setopt(easy[i], CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy[i], CURLOPT_POSTFIELDS, "{}");
        curl_easy_setopt(easy[i], CURLOPT_WRITEFUNCTION, drop);
        curl_easy_setopt(easy[i], CURLOPT_WRITEDATA, &b);
        curl_multi_add_handle(b.multi, easy[i]);
    }
    bare_loop(&b);
    cpu = cpu_s() - cpu;
    for (int i = 0; i < l->streams; i++) {
        curl_multi_remove_handle(b.multi, easy[i]);
        curl_easy_cleanup(easy[i]);
    }
    curl_multi_cleanup(b.multi);
    close(b.epoll_fd);
    waitpid(sender, NULL, 0);
    if (b.bytes < (size_t)l->streams * (size_t)l->events * (sizeof(event) - 1))
        die("libcurl did not get all bytes");
    return cpu;
}

/* Ours. */

static void on_event(struct client_query *q, enum client_event e)
{
    if (e == CLIENT_END)
        --*(int *)q->user;
}

static void check(const struct load *l, const struct response *r)
{
    if (r->failure != FAILURE_NONE || r->deltas != l->events ||
        r->answer.len != (size_t)l->events * strlen(" token")) {
        fprintf(stderr, "wrong answer: %s\n", r->error);
        exit(1);
    }
}

/* Memory of this process in bytes. */
static double resident_bytes(void)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        die("/proc/self/statm");
    fclose(f);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* CPU time; *ret_memory, if wanted, is what the streams took at the most. */
static double run_ours(const struct load *l, double *ret_memory)
{
    static struct response responses[STREAMS_MAX];
    static struct client_query queries[STREAMS_MAX];
    const struct client_ops *ops = client_find("openai", NULL);
    char url[64];
    pid_t sender = start_sender(l, url);
    struct client_config config = {.base_url = url, .model = "m", .timeout_ns = 600 * NS_PER_S};
    double cpu, before = resident_bytes(), most = 0;
    struct err err = {0};
    int left = l->streams;
    void *ctx;

    if (ops->open(&config, &ctx, &err) < 0)
        die(err.text);
    cpu = cpu_s();
    for (int i = 0; i < l->streams; i++) {
        response_init(&responses[i], 64 << 20);
        queries[i] = (struct client_query){.prompt = "hello",
                                           .prompt_len = 5,
                                           .response = &responses[i],
                                           .on_event = on_event,
                                           .user = &left};
        ops->start(ctx, &queries[i]);
    }
    while (left > 0) {
        if (ops->poll(ctx, MONO_NEVER, -1, &err) < 0)
            die(err.text);
        if (ret_memory)
            most = fmax(most, resident_bytes());
    }
    cpu = cpu_s() - cpu;
    for (int i = 0; i < l->streams; i++) {
        check(l, &responses[i]);
        response_release(&responses[i]);
    }
    ops->close(ctx);
    waitpid(sender, NULL, 0);
    if (ret_memory)
        *ret_memory = most - before;
    return cpu;
}

/* The least of some runs, taken in turns: noise only ever adds. */
static void paced_row(const char *name, struct load l)
{
    double bare = INFINITY, ours = INFINITY, per = 1e6 / (double)(l.streams * l.events);

    for (int i = 0; i < ROUNDS; i++) {
        bare = fmin(bare, run_bare(&l));
        ours = fmin(ours, run_ours(&l, NULL));
    }
    printf("%s\tlibcurl receiving the same bytes and dropping them\t%.2f us\t%.2f us\t%.2f\t"
           "<= 1.5\t%s\n",
           name, bare * per, ours * per, ours / bare, ours <= 1.5 * bare ? "ok" : "MISS");
    fflush(stdout);
}

/* CPU time per event of the Python loop in us; NAN when there is no python3. */
static double python_us(void)
{
    static const char script[] = "import sys,time,json\n"
                                 "f=open(sys.argv[1],'rb'); n=0; t=time.process_time()\n"
                                 "while True:\n"
                                 "    l=f.readline()\n"
                                 "    if not l: break\n"
                                 "    if l.startswith(b'data: '):\n"
                                 "        json.loads(l[6:]); n+=1\n"
                                 "print((time.process_time()-t)/n*1e6)\n";
    char path[] = "/tmp/ipw-bench-XXXXXX", command[1024], line[64] = "";
    int fd = mkstemp(path);
    FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

    if (!f)
        return NAN;
    for (int i = 0; i < BULK_EVENTS; i++)
        fputs(event, f);
    fclose(f);
    snprintf(command, sizeof(command), "python3 -c \"%s\" %s 2>/dev/null", script, path);
    f = popen(command, "r");
    if (!f || !fgets(line, sizeof(line), f))
        line[0] = '\0';
    if (f)
        pclose(f);
    unlink(path);
    return *line ? strtod(line, NULL) : NAN;
}

static void bulk_row(void)
{
    struct load l = {.streams = 1, .events = BULK_EVENTS};
    double python = INFINITY, ours = INFINITY;
    bool measured;

    for (int i = 0; i < 3; i++) {
        python = fmin(python, python_us()); /* fmin ignores NAN */
        ours = fmin(ours, run_ours(&l, NULL) * 1e6 / BULK_EVENTS);
    }
    measured = isfinite(python);
    if (!measured)
        python = PYTHON_US_ASSUMED;
    printf("CPU time per event in bulk\t%s\t%.2f us\t%.2f us\t%.2f\t<= 0.25\t%s\n",
           measured ? "CPython readline + json.loads over the same bytes"
                    : "CPython readline + json.loads (constant: no python3 here)",
           python, ours, ours / python, ours <= 0.25 * python ? "ok" : "MISS");
}

/* Two thousand streams are possible, and small. */
static void memory_row(void)
{
    struct load l = {.streams = 2000, .events = 20, .interval_ns = 100 * NS_PER_MS};
    double bytes;

    run_ours(&l, &bytes);
    bytes /= l.streams;
    printf("memory per stream, 2000 streams\t64 KiB\t64.0 KiB\t%.1f KiB\t%.2f\t<= 1\t%s\n",
           bytes / 1024, bytes / 65536, bytes <= 65536 ? "ok" : "MISS");
}

int main(void)
{
    curl_global_init(CURL_GLOBAL_DEFAULT);
    paced_row("CPU time per streamed token, 1 stream",
              (struct load){.streams = 1, .events = 4000, .interval_ns = 250 * NS_PER_US});
    paced_row("CPU time per streamed token, 64 streams",
              (struct load){.streams = 64, .events = 250, .interval_ns = 4 * NS_PER_MS});
    bulk_row();
    memory_row();
    return 0;
}
