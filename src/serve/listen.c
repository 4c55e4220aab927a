#include "serve/listen.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/num.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 128

/* Splits HOST:PORT; the host is the caller's. */
static int split(const char *address, char **ret_host, const char **ret_port, struct err *err)
{
    const char *colon = strrchr(address, ':'), *host = address;
    size_t n = colon ? (size_t)(colon - address) : 0;
    uint64_t port;

    if (n > 2 && address[0] == '[' && address[n - 1] == ']') {
        host++;
        n -= 2;
    } else if (strcspn(address, ":[]") < n) {
        n = 0; /* an IPv6 address without brackets: where would the port begin? */
    }
    if (n == 0 || parse_u64(colon + 1, &port, NULL) < 0 || port > UINT16_MAX)
        return err_set(err, EINVAL, "'%.60s' is not HOST:PORT, such as 127.0.0.1:8000 or [::1]:0",
                       address);
    *ret_host = xstrndup(host, n);
    *ret_port = colon + 1;
    return 0;
}

static bool is_loopback(const struct sockaddr_storage *a)
{
    const struct sockaddr_in *v4 = (const void *)a;
    const struct sockaddr_in6 *v6 = (const void *)a;

    if (a->ss_family == AF_INET)
        return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
    return a->ss_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* A socket that listens there, or a negative errno. */
static int listen_at(const struct addrinfo *at)
{
    AUTO_FD int fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int on = 1;

    if (fd < 0)
        return -errno;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, at->ai_addr, at->ai_addrlen) < 0 || listen(fd, BACKLOG) < 0)
        return -errno;
    return steal_fd(&fd);
}

static void describe(struct listener *l)
{
    struct sockaddr_storage a = {0};
    socklen_t n = sizeof(a);
    char host[48] = "?", port[8] = "?";

    getsockname(l->fd, (struct sockaddr *)&a, &n);
    getnameinfo((struct sockaddr *)&a, n, host, sizeof(host), port, sizeof(port),
                NI_NUMERICHOST | NI_NUMERICSERV);
    l->ipv6 = a.ss_family == AF_INET6;
    l->local = is_loopback(&a);
    snprintf(l->url, sizeof(l->url), l->ipv6 ? "http://[%s]:%s" : "http://%s:%s", host, port);
}

int listen_open(const char *address, struct listener *ret, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    AUTO_FREE char *host = NULL;
    const char *port = NULL;
    int r = split(address, &host, &port, err);

    if (r < 0)
        return r;
    r = getaddrinfo(host, port, &hints, &found);
    if (r != 0)
        return err_set(err, EINVAL, "cannot listen on %.60s: %s", address, gai_strerror(r));
    r = -EADDRNOTAVAIL;
    for (const struct addrinfo *at = found; at && r < 0; at = at->ai_next)
        r = listen_at(at);
    freeaddrinfo(found);
    if (r < 0)
        return err_sys(err, -r, "cannot listen on %.60s", address);
    *ret = (struct listener){.fd = r};
    describe(ret);
    return 0;
}
