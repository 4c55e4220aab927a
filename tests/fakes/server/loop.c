/*
 * epoll for sockets, one timerfd for the earliest deadline (its precision is the kernel's, without
 * the slack that timeouts have). While an answer plays, only the client's hang-up is watched; while
 * it blocks, also room to write.
 */
#include "loop.h"

#include "conn.h"
#include "listener.h"
#include "timers.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { EVENTS_MAX = 256, RETRY_NS = 10000000 };

struct loop {
    struct server *server;
    const struct loop_options *options;
    int epoll, timer_fd, signal_fd;
    struct listener listener;
    struct timer listener_timer; /* when it opens again */
    bool accepting;              /* epoll watches the listener */
    struct timers timers;
    mono_ns armed;      /* what the timerfd is set to; MONO_NEVER = nothing */
    struct conn *conns; /* open */
    struct conn *dead;  /* to be freed after the events at hand */
    bool stop;
};

static void watch(struct loop *l, int operation, int fd, uint32_t events, void *what)
{
    struct epoll_event e = {.events = events, .data.ptr = what};

    /* removing an fd that was never there is fine, the rest cannot fail for sockets of ours */
    epoll_ctl(l->epoll, operation, fd, &e);
}

static void accept_more(struct loop *l, bool on)
{
    if (on == l->accepting || l->listener.fd < 0)
        return;
    watch(l, on ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, l->listener.fd, EPOLLIN, &l->listener);
    l->accepting = on;
}

static void log_exchange(void *arg, struct exchange *x)
{
    struct loop *l = arg;
    AUTO(buf) struct buf line = BUF_INIT(BUF_MAX_OWN);

    x->logged = true;
    power_stop(x->server->power, &x->work, mono_now());
    if (l->options->log_fd < 0)
        return;
    exchange_log(x, &line);
    fs_write_full(l->options->log_fd, line.data, line.len, NULL);
}

static void refuse_for(struct loop *l, int64_t ns)
{
    accept_more(l, false);
    listener_close(&l->listener);
    timer_set(&l->timers, &l->listener_timer, mono_now() + ns);
}

/* The connection's memory stays until the events at hand are done: they may name it. */
static void close_conn(struct loop *l, struct conn *c)
{
    enum ending ending = c->x ? c->x->ending : ENDING_CLOSE;

    timer_clear(&l->timers, &c->timer);
    watch(l, EPOLL_CTL_DEL, c->fd, 0, NULL);
    if (ending == ENDING_RESET || ending == ENDING_REFUSE) {
        struct linger now = {.l_onoff = 1, .l_linger = 0};

        setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
    }
    if (ending == ENDING_REFUSE)
        refuse_for(l, c->x->fault.arg);
    close(c->fd);
    c->fd = -1;
    if (c->previous)
        c->previous->next = c->next;
    else
        l->conns = c->next;
    if (c->next)
        c->next->previous = c->previous;
    c->next = l->dead;
    l->dead = c;
    accept_more(l, true);
}

/* The other side, or our own end, came in the middle. */
static void abandon(struct loop *l, struct conn *c, const char *outcome)
{
    if (c->x && !c->x->logged) {
        c->x->outcome = outcome;
        c->x->end_at = mono_now();
        c->x->ending = ENDING_CLOSE;
        log_exchange(l, c->x);
    }
    close_conn(l, c);
}

static void run_conn(struct loop *l, struct conn *c)
{
    mono_ns at = MONO_NEVER;
    enum conn_wait wait = conn_run(c, l->server, &at, log_exchange, l);
    uint32_t events = EPOLLRDHUP;

    if (wait == CONN_OVER) {
        abandon(l, c, "client_closed");
        return;
    }
    if (wait == CONN_READ)
        events |= EPOLLIN;
    if (wait == CONN_WRITE)
        events |= EPOLLOUT;
    if (events != c->events)
        watch(l, c->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, c->fd, events, c);
    c->events = events;
    if (wait == CONN_TIME)
        timer_set(&l->timers, &c->timer, at);
    else
        timer_clear(&l->timers, &c->timer);
}

static void accept_conns(struct loop *l)
{
    for (int i = 0; i < EVENTS_MAX; i++) {
        int fd = accept4(l->listener.fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), one = 1;
        struct conn *c;

        if (fd < 0) {
            /* out of descriptors: until one is closed again */
            if (errno == EMFILE || errno == ENFILE)
                accept_more(l, false);
            return;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
        c = conn_new(fd);
        c->next = l->conns;
        if (l->conns)
            l->conns->previous = c;
        l->conns = c;
        run_conn(l, c);
    }
}

static void handle_conn(struct loop *l, struct conn *c, uint32_t events)
{
    if (c->fd < 0)
        return;
    if (events & (EPOLLERR | EPOLLHUP)) {
        abandon(l, c, "client_closed");
        return;
    }
    if (events & EPOLLIN) {
        /* a request may come together with the hang-up: it is not answered */
        if (!conn_read(c))
            abandon(l, c, "client_closed");
        else
            run_conn(l, c);
    } else if (events & EPOLLRDHUP) {
        abandon(l, c, "client_closed");
    } else {
        run_conn(l, c);
    }
}

static void handle_stdin(struct loop *l)
{
    char bytes[256];
    ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));

    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        l->stop = true;
}

static void run_timers(struct loop *l)
{
    mono_ns now = mono_now(); /* what is set again meanwhile waits for the sockets' turn */
    struct timer *t;

    while ((t = timers_first(&l->timers)) && t->at <= now) {
        timer_clear(&l->timers, t);
        if (t != &l->listener_timer)
            run_conn(l, (struct conn *)t);
        else if (listener_reopen(&l->listener, NULL) < 0)
            timer_set(&l->timers, t, mono_now() + RETRY_NS);
        else
            accept_more(l, true);
    }
}

static void arm_timer(struct loop *l)
{
    struct timer *first = timers_first(&l->timers);
    mono_ns at = first ? first->at : MONO_NEVER;
    struct itimerspec spec = {0};

    if (at == l->armed)
        return;
    if (at != MONO_NEVER)
        spec.it_value = mono_timespec(at > 0 ? at : 1);
    timerfd_settime(l->timer_fd, TFD_TIMER_ABSTIME, &spec, NULL);
    l->armed = at;
}

static void handle_events(struct loop *l)
{
    struct epoll_event events[EVENTS_MAX];
    int n;

    arm_timer(l);
    n = epoll_wait(l->epoll, events, EVENTS_MAX, -1);
    for (int i = 0; i < n; i++) {
        void *what = events[i].data.ptr;

        if (what == &l->listener)
            accept_conns(l);
        else if (what == &l->timer_fd)
            l->armed = 0; /* fired: it is set again whatever comes next */
        else if (what == &l->signal_fd)
            l->stop = true;
        else if (what == &l->stop)
            handle_stdin(l);
        else
            handle_conn(l, what, events[i].events);
    }
    run_timers(l);
    while (l->dead) {
        struct conn *c = l->dead;

        l->dead = c->next;
        conn_free(c);
    }
}

static int open_fds(struct loop *l, struct err *err)
{
    struct rlimit files;
    sigset_t signals;
    int r = listener_open(l->options->listen, &l->listener, err);

    if (r < 0)
        return r;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    l->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    l->signal_fd = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (l->epoll < 0 || l->timer_fd < 0 || l->signal_fd < 0)
        return err_sys(err, errno, "cannot set up the event loop");
    watch(l, EPOLL_CTL_ADD, l->timer_fd, EPOLLIN, &l->timer_fd);
    watch(l, EPOLL_CTL_ADD, l->signal_fd, EPOLLIN, &l->signal_fd);
    accept_more(l, true);
    if (l->options->exit_on_stdin_close) {
        struct epoll_event e = {.events = EPOLLIN, .data.ptr = &l->stop};

        if (epoll_ctl(l->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &e) < 0)
            return err_sys(err, errno, "stdin is not a pipe");
    }
    return 0;
}

static void release(struct loop *l)
{
    while (l->conns)
        abandon(l, l->conns, "server_stopped");
    while (l->dead) {
        struct conn *c = l->dead;

        l->dead = c->next;
        conn_free(c);
    }
    timers_release(&l->timers);
    cleanup_fd(&l->epoll);
    cleanup_fd(&l->timer_fd);
    cleanup_fd(&l->signal_fd);
    listener_release(&l->listener);
}

int loop_run(struct server *s, const struct loop_options *o, struct err *err)
{
    struct loop l = {.server = s,
                     .options = o,
                     .epoll = -1,
                     .timer_fd = -1,
                     .signal_fd = -1,
                     .listener = {.fd = -1},
                     .armed = MONO_NEVER};
    char name[160];
    int r = open_fds(&l, err);

    if (r == 0) {
        s->started = mono_now();
        listener_name(&l.listener, name, sizeof(name));
        printf("listening %s\n", name);
        fflush(stdout);
        while (!l.stop)
            handle_events(&l);
    }
    release(&l);
    return r;
}
