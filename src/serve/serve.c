/*
 * libmicrohttpd brings one thread that watches all connections; the model's workers bring theirs.
 */
#include "serve/serve.h"

#include "base/alloc.h"
#include "client/pocket/pool.h"
#include "serve/exchange.h"
#include "serve/listen.h"

#include <errno.h>
#include <microhttpd.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* A connection on which nothing moves. Waiting for the model does not count. */
#define IDLE_SECONDS 60u
/* Headers, and what is being sent. */
#define CONNECTION_MEMORY ((size_t)16 << 10)

struct serve {
    struct listener listener;
    struct exchange_host host;
    struct MHD_Daemon *daemon;
};

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *data,
                                  size_t *n, void **ret_exchange)
{
    struct serve *s = arg;
    struct exchange *x = *ret_exchange;

    (void)version;
    if (!x) {
        *ret_exchange = exchange_new(&s->host, c, url, method);
        return MHD_YES;
    }
    if (*n > 0) {
        enum MHD_Result r = exchange_body(x, data, *n);

        *n = 0;
        return r;
    }
    return exchange_go_on(x);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **exchange,
                         enum MHD_RequestTerminationCode how)
{
    (void)arg;
    (void)c;
    (void)how;
    exchange_gone(*exchange);
    *exchange = NULL;
}

static int start_daemon(struct serve *s, struct err *err)
{
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME |
                     (s->listener.ipv6 ? (unsigned)MHD_USE_IPv6 : 0);
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    s->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, s, MHD_OPTION_LISTEN_SOCKET, s->listener.fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT,
        IDLE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, s, MHD_OPTION_END);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!s->daemon)
        return err_set(err, EIO, "libmicrohttpd cannot start");
    s->listener.fd = -1; /* libmicrohttpd's now */
    return 0;
}

int serve_open(const struct serve_options *o, struct serve **ret, struct err *err)
{
    AUTO_PTR(serve) struct serve *s = xcalloc(1, sizeof(*s));
    int r;

    s->listener.fd = -1;
    s->host.anchor = clock_anchor_now();
    r = pocket_model_open(pocket_weights, pocket_weights_size, &s->host.model, err);
    if (r < 0)
        return err_prefix(err, "the embedded model");
    r = listen_open(o->listen, &s->listener, err);
    if (r == 0)
        r = pocket_pool_open(s->host.model, o->threads, SERVE_WAITING_MAX, &s->host.pool, err);
    if (r == 0)
        r = start_daemon(s, err);
    if (r == 0)
        *ret = STEAL(s);
    return r;
}

/* The pool stays there, closed, until nobody can ask it any more. A connection must not be
 * suspended when its daemon stops: ending every job resumes them all. */
void serve_close(struct serve *s)
{
    if (!s)
        return;
    if (s->host.pool)
        pocket_pool_stop(s->host.pool);
    if (s->daemon)
        MHD_stop_daemon(s->daemon);
    pocket_pool_close(s->host.pool);
    pocket_model_close(s->host.model);
    if (s->listener.fd >= 0)
        close(s->listener.fd);
    free(s);
}

const char *serve_url(const struct serve *s)
{
    return s->listener.url;
}

bool serve_is_local(const struct serve *s)
{
    return s->listener.local;
}
