/* Blocking sockets with a receive timeout: nothing here can wait for ever. */
#include "probe.h"

#include "harness.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/num.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { OPTIONS_MAX = 40, TIMEOUT_S = 20 };

static void run_child(struct probe_server *s, const char *const *options, const int in[2],
                      const int out[2])
{
    const char *program = getenv("IPW_TESTSERVER");
    const char *argv[OPTIONS_MAX + 8] = {program, "--exit-on-stdin-close", "--log", s->log};

    for (int i = 0; i < OPTIONS_MAX && options[i]; i++)
        argv[4 + i] = options[i];
    if (!program)
        _exit(127);
    dup2(in[0], STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    /* exec takes pointers to char for history's sake; it does not write */
    execv(program, (char *const *)(uintptr_t)argv);
    _exit(127);
}

static void read_address(struct probe_server *s, int fd)
{
    AUTO_FILE FILE *f = fdopen(fd, "r");
    char line[200] = "";
    int64_t port;

    if (!fgets(line, sizeof(line), f) || strncmp(line, "listening ", 10) != 0)
        fail_msg("the server did not say where it listens: '%s'", line);
    line[strcspn(line, "\n")] = '\0';
    snprintf(s->address, sizeof(s->address), "%.150s", line + 10);
    if (strncmp(s->address, "unix:", 5) != 0) {
        assert_int_equal(parse_i64(strchr(s->address, ':') + 1, &port, NULL), 0);
        s->port = (uint16_t)port;
    }
}

struct probe_server probe_start(const char *const *options)
{
    struct probe_server s = {0};
    int in[2], out[2];

    assert_non_null(getenv("IPW_TESTSERVER"));
    make_temp_dir(s.dir);
    snprintf(s.log, sizeof(s.log), "%s/log", s.dir);
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    s.pid = fork();
    assert_true(s.pid >= 0);
    if (s.pid == 0)
        run_child(&s, options, in, out);
    close(in[0]);
    close(out[1]);
    s.stdin_fd = in[1];
    read_address(&s, out[0]);
    return s;
}

void probe_wait(struct probe_server *s)
{
    int status = 0;

    close(s->stdin_fd);
    assert_int_equal(waitpid(s->pid, &status, 0), s->pid);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the server ended with status %#x", (unsigned)status);
}

void probe_remove(struct probe_server *s)
{
    assert_int_equal(fs_remove_tree(AT_FDCWD, s->dir, NULL), 0);
}

void probe_stop(struct probe_server *s)
{
    probe_wait(s);
    probe_remove(s);
}

static const char *find_line(const struct buf *text, int n, size_t *ret_len)
{
    const char *line = buf_str(text), *end;

    while ((end = strchr(line, '\n'))) {
        if (n-- == 0) {
            *ret_len = (size_t)(end - line);
            return line;
        }
        line = end + 1;
    }
    return NULL;
}

void probe_log_line(const struct probe_server *s, int n, struct json_doc *ret)
{
    mono_ns limit = mono_now() + TIMEOUT_S * NS_PER_S;

    for (;;) {
        AUTO(buf) struct buf text = BUF_INIT(256u << 20);
        size_t len = 0;
        const char *line;
        struct err err = {0};

        assert_ok(fs_read_all(AT_FDCWD, s->log, &text, &err), &err);
        line = find_line(&text, n, &len);
        if (line) {
            assert_ok(json_doc_parse(ret, line, len, &err), &err);
            return;
        }
        if (mono_now() > limit)
            fail_msg("the log has no line %d", n);
        usleep(1000);
    }
}

int probe_connect(const struct probe_server *s)
{
    struct sockaddr_in in = {
        .sin_family = AF_INET, .sin_port = htons(s->port), .sin_addr = {htonl(INADDR_LOOPBACK)}};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    struct timeval limit = {.tv_sec = TIMEOUT_S};
    int fd = socket(s->port ? AF_INET : AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

    assert_true(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (s->port) {
        r = connect(fd, (struct sockaddr *)&in, sizeof(in));
    } else {
        snprintf(un.sun_path, sizeof(un.sun_path), "%.100s", s->address + 5);
        r = connect(fd, (struct sockaddr *)&un, sizeof(un));
    }
    if (r == 0)
        return fd;
    close(fd);
    return -1;
}

void probe_send(int fd, const void *data, size_t n)
{
    const char *p = data;

    while (n > 0) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return; /* refused in the middle: the reply tells */
        p += sent;
        n -= (size_t)sent;
    }
}

void probe_request(int fd, const char *method, const char *path, const char *more, const char *body)
{
    AUTO(buf) struct buf b = BUF_INIT(BUF_MAX_OWN);

    buf_addf(&b, "%s %s HTTP/1.1\r\nHost: test\r\n%s", method, path, more);
    if (body)
        buf_addf(&b, "Content-Type: application/json\r\nContent-Length: %zu\r\n", strlen(body));
    buf_adds(&b, "\r\n");
    buf_adds(&b, body ? body : "");
    probe_send(fd, b.data, b.len);
}

/* True when the last chunk was there. */
static bool take_chunks(const char *p, const char *end, struct buf *out)
{
    for (;;) {
        char *after;
        unsigned long n = strtoul(p, &after, 16);

        if (after == p || end - after < 2 || memcmp(after, "\r\n", 2) != 0)
            return false;
        p = after + 2;
        if (n == 0)
            return end - p == 2 && memcmp(p, "\r\n", 2) == 0;
        if ((unsigned long)(end - p) < n) {
            buf_add(out, p, (size_t)(end - p));
            return false;
        }
        buf_add(out, p, n);
        p += n;
        if (end - p < 2)
            return false;
        assert_memory_equal(p, "\r\n", 2);
        p += 2;
    }
}

void probe_parse(struct probe_reply *r)
{
    const char *raw = buf_str(&r->raw), *end = raw + r->raw.len, *body, *length;
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

    if (strncmp(raw, go_on, strlen(go_on)) == 0)
        raw += strlen(go_on);
    body = strstr(raw, "\r\n\r\n");
    if (!body)
        return;
    body += 4;
    assert_memory_equal(raw, "HTTP/1.1 ", 9);
    r->status = (int)strtol(raw + 9, NULL, 10);
    buf_add(&r->head, raw, (size_t)(body - raw));
    length = strcasestr(r->head.data, "\r\nContent-Length: ");
    if (strcasestr(r->head.data, "\r\nTransfer-Encoding: chunked\r\n")) {
        r->complete = take_chunks(body, end, &r->body);
        return;
    }
    buf_add(&r->body, body, (size_t)(end - body));
    r->complete = length && strtoul(length + 18, NULL, 10) == r->body.len;
}

struct probe_reply probe_read(int fd, size_t max)
{
    struct probe_reply r = {.first_at = MONO_ABSENT};
    static char piece[256 << 10];

    buf_init(&r.raw, BUF_MAX_OWN);
    buf_init(&r.head, BUF_MAX_OWN);
    buf_init(&r.body, BUF_MAX_OWN);
    while (r.raw.len < max) {
        ssize_t n = recv(fd, piece, sizeof(piece), 0);

        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            fail_msg("the server fell silent after %zu bytes", r.raw.len);
        r.reset = n < 0;
        if (n <= 0)
            break;
        if (r.first_at == MONO_ABSENT)
            r.first_at = mono_now();
        r.pieces++;
        r.inside += (piece[0] & 0xC0) == 0x80;
        buf_add(&r.raw, piece, (size_t)n);
    }
    r.end_at = mono_now();
    close(fd);
    probe_parse(&r);
    return r;
}

struct probe_reply probe_post(const struct probe_server *s, const char *path, const char *body)
{
    int fd = probe_connect(s);

    assert_true(fd >= 0);
    probe_request(fd, "POST", path, "Connection: close\r\n", body);
    return probe_read(fd, SIZE_MAX);
}

struct probe_reply probe_get(const struct probe_server *s, const char *path)
{
    int fd = probe_connect(s);

    assert_true(fd >= 0);
    probe_request(fd, "GET", path, "Connection: close\r\n", NULL);
    return probe_read(fd, SIZE_MAX);
}

void probe_reply_release(struct probe_reply *r)
{
    buf_release(&r->raw);
    buf_release(&r->head);
    buf_release(&r->body);
}

/* Adds a text member of v, if it is one; true when it was not empty. */
static bool add_member(struct buf *out, const struct json *v, const char *key)
{
    const struct json *text = json_get(v, key);

    if (!json_is(text, JSON_STRING) || text->len == 0)
        return false;
    buf_add(out, text->text, text->len);
    return true;
}

static void take_usage(struct probe_answer *a, const struct json *v)
{
    const struct json *usage = json_get(v, "usage");

    if (json_is(usage, JSON_OBJECT)) {
        a->prompt_tokens = json_int(json_get(usage, "prompt_tokens"), -1);
        a->completion_tokens = json_int(json_get(usage, "completion_tokens"), -1);
    }
    a->prompt_tokens = json_int(json_get(v, "prompt_eval_count"), a->prompt_tokens);
    a->completion_tokens = json_int(json_get(v, "eval_count"), a->completion_tokens);
    a->timings = a->timings || json_get(v, "timings") || json_get(v, "metrics") ||
                 json_get(v, "total_duration");
}

static void take_document(struct probe_answer *a, const struct json *v)
{
    const struct json *choice = json_first(json_get(v, "choices")), *error = json_get(v, "error");
    const struct json *places[] = {v, json_get(v, "message"), choice, json_get(choice, "delta"),
                                   json_get(choice, "message")};
    const char *finish =
        json_text(json_get(choice, "finish_reason"), json_text(json_get(v, "done_reason"), NULL));
    bool text = false;

    a->events++;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        text |= add_member(&a->text, places[i], "content");
        text |= add_member(&a->text, places[i], "text");
        text |= add_member(&a->text, places[i], "response");
        text |= add_member(&a->reasoning, places[i], "reasoning");
        text |= add_member(&a->reasoning, places[i], "reasoning_content");
        text |= add_member(&a->reasoning, places[i], "thinking");
    }
    a->with_text += text;
    if (finish)
        snprintf(a->finish, sizeof(a->finish), "%s", finish);
    if (error)
        snprintf(a->error, sizeof(a->error), "%s",
                 json_text(error, json_text(json_get(error, "message"), "?")));
    a->done = a->done || json_bool(json_get(v, "done"), false);
    take_usage(a, v);
}

struct probe_answer probe_answer(const struct probe_reply *r)
{
    struct probe_answer a = {.prompt_tokens = -1, .completion_tokens = -1};
    AUTO(json_doc) struct json_doc doc = {0};
    const char *line = buf_str(&r->body), *end = line + r->body.len;

    buf_init(&a.text, BUF_MAX_OWN);
    buf_init(&a.reasoning, BUF_MAX_OWN);
    while (line < end) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t n = (size_t)((stop ? stop : end) - line);

        if (n > 6 && memcmp(line, "data: ", 6) == 0) {
            line += 6;
            n -= 6;
        }
        if (n == 6 && memcmp(line, "[DONE]", 6) == 0)
            a.done = true;
        else if (n > 0 && json_doc_parse(&doc, line, n, NULL) == 0)
            take_document(&a, doc.root);
        else if (n > 0)
            a.bad_json = true;
        line += n + 1;
    }
    return a;
}

void probe_answer_release(struct probe_answer *a)
{
    buf_release(&a->text);
    buf_release(&a->reasoning);
}
