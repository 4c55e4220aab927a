/*
 * scriptserver: a server that plays prepared bytes, for unit tests. Include it once per program.
 *
 *     struct script s = SCRIPT(bytes, n, .split = 7);
 *     struct scriptserver *server = scriptserver_start("127.0.0.1", &s, 1);
 *     ... connect to server->port ...
 *     server->requests[0]                       what the first request was, headers and body
 *     scriptserver_stop(server);
 *
 * The n-th request (over all connections) gets the n-th script; the last one is played again and
 * again. Each connection has its thread. Addresses: "127.0.0.1", "::1", or a path for a Unix
 * socket.
 */
#ifndef IPW_TESTS_SCRIPTSERVER_H
#define IPW_TESTS_SCRIPTSERVER_H

#include "base/alloc.h"
#include "base/buf.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum script_end {
    SCRIPT_CLOSE, /* orderly, after the bytes */
    SCRIPT_KEEP,  /* waits for the next request */
    SCRIPT_RESET, /* RST */
    SCRIPT_HANG   /* says nothing more until the server stops */
};

struct script {
    const char *bytes;
    size_t n;
    unsigned split; /* not 0: a seed; the bytes go out in pieces cut at random places */
    enum script_end end;
    int delay_ms;     /* before the first byte */
    size_t hold_at;   /* not 0: after so many bytes waits for scriptserver_go */
    unsigned repeats; /* plays the bytes so many times more ... */
    size_t repeat_at; /* ... from this one on */
};

/* SCRIPT(bytes, n) or SCRIPT(bytes, n, .end = SCRIPT_KEEP, ...) */
#define SCRIPT(bytes_, ...)                 \
    {                                       \
        .bytes = (bytes_), .n = __VA_ARGS__ \
    }

#define SCRIPT_REQUESTS_MAX 256

struct scriptserver {
    const struct script *scripts;
    size_t n_scripts;
    int port;
    int listen_fd, stop_fd, go_fd;
    pthread_t acceptor;
    pthread_t players[SCRIPT_REQUESTS_MAX]; /* the acceptor's until it is joined */
    pthread_mutex_t lock;                   /* n_connections, n_requests, requests */
    size_t n_connections;
    size_t n_requests;
    char *requests[SCRIPT_REQUESTS_MAX];
};

struct script_player {
    struct scriptserver *server;
    int fd;
};

/* Waits; true when the server is to stop. */
static bool script_wait(struct scriptserver *s, int ms)
{
    struct pollfd p = {.fd = s->stop_fd, .events = POLLIN};

    return poll(&p, 1, ms) > 0;
}

/* Reads one request, headers and body; false at the end of the connection. */
static bool script_read_request(struct scriptserver *s, int fd, struct buf *ret)
{
    for (;;) {
        struct pollfd p[2] = {{.fd = fd, .events = POLLIN}, {.fd = s->stop_fd, .events = POLLIN}};
        const char *head_end = strstr(buf_str(ret), "\r\n\r\n"), *length;
        char piece[4096];
        ssize_t n;

        if (head_end) {
            length = strcasestr(buf_str(ret), "\r\nContent-Length:");
            size_t head = (size_t)(head_end + 4 - ret->data);

            if (ret->len >= head + (length ? strtoul(length + 17, NULL, 10) : 0))
                return true;
        }
        poll(p, 2, -1);
        if (p[1].revents)
            return false;
        n = recv(fd, piece, sizeof(piece), 0);
        if (n <= 0)
            return false;
        buf_add(ret, piece, (size_t)n);
    }
}

static bool script_send(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);

        if (sent <= 0)
            return false;
        p += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* Sends the bytes from..to, in pieces if they are to be split. */
static bool script_send_split(int fd, const struct script *s, size_t from, size_t to)
{
    unsigned seed = s->split;

    while (from < to) {
        size_t n = to - from;

        if (s->split) {
            size_t piece = 1 + (size_t)rand_r(&seed) % 97;

            n = piece < n ? piece : n;
            /* now and then long enough for the pieces to be read one by one */
            if (rand_r(&seed) % 8 == 0)
                nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
        if (!script_send(fd, s->bytes + from, n))
            return false;
        from += n;
    }
    return true;
}

static bool script_play(struct scriptserver *server, int fd, const struct script *s)
{
    size_t hold = s->hold_at ? s->hold_at : s->n;
    uint64_t go;

    if (s->delay_ms && script_wait(server, s->delay_ms))
        return false;
    if (!script_send_split(fd, s, 0, hold))
        return false;
    if (s->hold_at && read(server->go_fd, &go, sizeof(go)) != sizeof(go))
        return false;
    if (!script_send_split(fd, s, hold, s->n))
        return false;
    for (unsigned i = 0; i < s->repeats; i++)
        if (!script_send(fd, s->bytes + s->repeat_at, s->n - s->repeat_at))
            return false;
    return true;
}

static const struct script *script_next(struct scriptserver *s, struct buf *request)
{
    size_t i;

    pthread_mutex_lock(&s->lock);
    i = s->n_requests++;
    if (i < SCRIPT_REQUESTS_MAX)
        s->requests[i] = buf_take(request);
    pthread_mutex_unlock(&s->lock);
    buf_clear(request);
    return &s->scripts[i < s->n_scripts ? i : s->n_scripts - 1];
}

static void *script_serve(void *arg)
{
    struct script_player p = *(struct script_player *)arg;
    struct buf request = BUF_INIT(64 << 20);
    bool on = true;

    free(arg);
    while (on && script_read_request(p.server, p.fd, &request)) {
        const struct script *s = script_next(p.server, &request);

        on = script_play(p.server, p.fd, s) && s->end == SCRIPT_KEEP;
        if (s->end == SCRIPT_HANG)
            script_wait(p.server, -1);
        if (s->end == SCRIPT_RESET)
            setsockopt(p.fd, SOL_SOCKET, SO_LINGER, &(struct linger){.l_onoff = 1},
                       sizeof(struct linger));
    }
    close(p.fd);
    buf_release(&request);
    return NULL;
}

static void *script_accept(void *arg)
{
    struct scriptserver *s = arg;

    for (size_t i = 0; i < SCRIPT_REQUESTS_MAX; i++) {
        int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC), one = 1;
        struct script_player *p;

        if (fd < 0)
            break;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        p = xcalloc(1, sizeof(*p));
        *p = (struct script_player){.server = s, .fd = fd};
        pthread_mutex_lock(&s->lock);
        pthread_create(&s->players[s->n_connections++], NULL, script_serve, p);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static inline struct scriptserver *scriptserver_start(const char *address,
                                                      const struct script *scripts, size_t n)
{
    struct scriptserver *s = xcalloc(1, sizeof(*s));
    struct sockaddr_storage a = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&a;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&a;
    struct sockaddr_un *un = (struct sockaddr_un *)&a;
    socklen_t len = sizeof(*un);

    if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
        a.ss_family = AF_INET;
        len = sizeof(*v4);
    } else if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
        a.ss_family = AF_INET6;
        len = sizeof(*v6);
    } else {
        a.ss_family = AF_UNIX;
        snprintf(un->sun_path, sizeof(un->sun_path), "%s", address);
    }
    s->scripts = scripts;
    s->n_scripts = n;
    pthread_mutex_init(&s->lock, NULL);
    s->stop_fd = eventfd(0, EFD_CLOEXEC);
    s->go_fd = eventfd(0, EFD_CLOEXEC);
    s->listen_fd = socket(a.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (s->listen_fd < 0 || bind(s->listen_fd, (struct sockaddr *)&a, len) < 0 ||
        listen(s->listen_fd, 128) < 0)
        abort();
    len = sizeof(a);
    getsockname(s->listen_fd, (struct sockaddr *)&a, &len);
    s->port = a.ss_family == AF_INET    ? ntohs(v4->sin_port)
              : a.ss_family == AF_INET6 ? ntohs(v6->sin6_port)
                                        : 0;
    pthread_create(&s->acceptor, NULL, script_accept, s);
    return s;
}

/* How many requests were read so far. */
static inline size_t scriptserver_requests(struct scriptserver *s)
{
    size_t n;

    pthread_mutex_lock(&s->lock);
    n = s->n_requests;
    pthread_mutex_unlock(&s->lock);
    return n;
}

/* How many connections were taken so far. */
static inline size_t scriptserver_connections(struct scriptserver *s)
{
    size_t n;

    pthread_mutex_lock(&s->lock);
    n = s->n_connections;
    pthread_mutex_unlock(&s->lock);
    return n;
}

/* The body of the i-th request, which has been read. */
static inline const char *scriptserver_body(struct scriptserver *s, size_t i)
{
    const char *text;

    pthread_mutex_lock(&s->lock);
    text = i < s->n_requests ? s->requests[i] : NULL;
    pthread_mutex_unlock(&s->lock);
    text = text ? strstr(text, "\r\n\r\n") : NULL;
    return text ? text + 4 : "";
}

/* Lets a script that is held go on. */
static inline void scriptserver_go(struct scriptserver *s)
{
    uint64_t one = 1;

    if (write(s->go_fd, &one, sizeof(one)) != sizeof(one))
        abort();
}

static inline void scriptserver_stop(struct scriptserver *s)
{
    uint64_t one = 1;

    if (write(s->stop_fd, &one, sizeof(one)) != sizeof(one))
        abort();
    scriptserver_go(s);
    shutdown(s->listen_fd, SHUT_RDWR);
    pthread_join(s->acceptor, NULL);
    for (size_t i = 0; i < s->n_connections; i++)
        pthread_join(s->players[i], NULL);
    for (size_t i = 0; i < s->n_requests && i < SCRIPT_REQUESTS_MAX; i++)
        free(s->requests[i]);
    close(s->listen_fd);
    close(s->stop_fd);
    close(s->go_fd);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

#endif
