/* A refused connection needs a port without a listener, so the socket is closed and bound again. */
#include "listener.h"

#include "base/cleanup.h"
#include "base/num.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int parse_address(const char *where, struct listener *l, struct err *err)
{
    static const char host[] = "127.0.0.1:";
    int64_t port;
    int r;

    if (strncmp(where, "unix:", 5) == 0) {
        const char *path = where + 5;

        l->family = AF_UNIX;
        l->un = (struct sockaddr_un){.sun_family = AF_UNIX};
        if (!*path || strlen(path) >= sizeof(l->un.sun_path))
            return err_set(err, EINVAL, "the socket's path is empty or too long");
        memcpy(l->un.sun_path, path, strlen(path) + 1);
        return 0;
    }
    if (strncmp(where, host, strlen(host)) != 0)
        return err_set(err, EINVAL, "listens at 127.0.0.1:PORT or unix:PATH only, not '%.80s'",
                       where);
    r = parse_i64(where + strlen(host), &port, err);
    if (r < 0)
        return r;
    if (port < 0 || port > 65535)
        return err_set(err, ERANGE, "a port is between 0 and 65535");
    l->family = AF_INET;
    l->in = (struct sockaddr_in){.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)port),
                                 .sin_addr = {htonl(INADDR_LOOPBACK)}};
    return 0;
}

int listener_reopen(struct listener *l, struct err *err)
{
    bool tcp = l->family == AF_INET;
    socklen_t size = tcp ? sizeof(l->in) : sizeof(l->un);
    struct sockaddr *address = tcp ? (struct sockaddr *)&l->in : (struct sockaddr *)&l->un;
    AUTO_FD int fd = socket(l->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    int one = 1;

    if (fd < 0)
        return err_sys(err, errno, "socket");
    if (tcp)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    else
        unlink(l->un.sun_path);
    if (bind(fd, address, size) < 0 || listen(fd, 4096) < 0)
        return err_sys(err, errno, "cannot listen");
    /* any port has become this one */
    if (getsockname(fd, address, &size) < 0)
        return err_sys(err, errno, "getsockname");
    l->fd = steal_fd(&fd);
    return 0;
}

int listener_open(const char *where, struct listener *ret, struct err *err)
{
    struct listener l = {.fd = -1};
    int r = parse_address(where, &l, err);

    if (r == 0)
        r = listener_reopen(&l, err);
    if (r == 0)
        *ret = l;
    return r;
}

void listener_close(struct listener *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

void listener_release(struct listener *l)
{
    listener_close(l);
    if (l->family == AF_UNIX)
        unlink(l->un.sun_path);
}

void listener_name(const struct listener *l, char *text, size_t size)
{
    if (l->family == AF_UNIX)
        snprintf(text, size, "unix:%s", l->un.sun_path);
    else
        snprintf(text, size, "127.0.0.1:%u", (unsigned)ntohs(l->in.sin_port));
}
