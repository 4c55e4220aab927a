/*
 * The loop. libcurl says which sockets it waits for (they go into one epoll set, so that a round
 * costs what happens in it, not what is in flight) and when it wants to be called; the idle and
 * total limits are ours, because libcurl's idle limit counts in seconds.
 *
 * libcurl must not be given transfers from inside its own callbacks. So http_start only queues and
 * http_cancel only marks; the next round does it.
 */
#include "client/http_loop.h"

#include "base/alloc.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define CONNECT_DEFAULT_NS (10 * NS_PER_S)
#define EVENTS_PER_ROUND   256
/* Connections kept for later: more than are ever in flight. */
#define KEPT_MAX 8192L

void timer_clear(struct http_timers *l, struct http_timer *t)
{
    if (!t->set)
        return;
    *(t->prev ? &t->prev->next : &l->first) = t->next;
    *(t->next ? &t->next->prev : &l->last) = t->prev;
    t->set = false;
}

void timer_set(struct http_timers *l, struct http_timer *t, mono_ns at)
{
    struct http_timer *before;

    timer_clear(l, t);
    before = l->last;
    while (before && before->at > at)
        before = before->prev;
    t->at = at;
    t->prev = before;
    t->next = before ? before->next : l->first;
    *(t->prev ? &t->prev->next : &l->first) = t;
    *(t->next ? &t->next->prev : &l->last) = t;
    t->set = true;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *known)
{
    struct epoll_event e = {.data.fd = fd};
    struct http *h = arg;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(h->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    if (what & CURL_POLL_IN)
        e.events |= EPOLLIN;
    if (what & CURL_POLL_OUT)
        e.events |= EPOLLOUT;
    epoll_ctl(h->epoll_fd, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
    curl_multi_assign(h->multi, fd, h); /* known from now on */
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *arg)
{
    struct http *h = arg;

    (void)multi;
    h->curl_timer = timeout_ms < 0 ? MONO_NEVER : mono_now() + timeout_ms * NS_PER_MS;
    return 0;
}

static CURLcode global_result;

static void init_curl(void)
{
    global_result = curl_global_init(CURL_GLOBAL_DEFAULT);
}

static void raise_file_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* Adds the line unless one of that name is there. */
static void add_header(struct curl_slist **list, const char *line)
{
    size_t name = strcspn(line, ":") + 1;

    for (const struct curl_slist *l = *list; l; l = l->next)
        if (strncasecmp(l->data, line, name) == 0)
            return;
    *list = curl_slist_append(*list, line);
}

/* An empty value takes back what libcurl would send: waiting for a 100 costs a round trip, and
 * compression is not asked for. */
static void set_headers(struct http *h, const char *const *headers)
{
    for (const char *const *line = headers; line && *line; line++) {
        h->get_headers = curl_slist_append(h->get_headers, *line);
        h->post_headers = curl_slist_append(h->post_headers, *line);
    }
    add_header(&h->get_headers, "Accept-Encoding:");
    add_header(&h->post_headers, "Accept-Encoding:");
    add_header(&h->post_headers, "Expect:");
    add_header(&h->post_headers, "Content-Type: application/json");
}

int http_open(const struct http_options *options, struct http **ret, struct err *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    struct http *h;

    pthread_once(&once, init_curl);
    if (global_result != CURLE_OK)
        return err_set(err, EIO, "libcurl cannot start: %s", curl_easy_strerror(global_result));
    raise_file_limit();
    h = xcalloc(1, sizeof(*h));
    h->wake_fd = -1;
    h->curl_timer = MONO_NEVER;
    h->starting_end = &h->starting;
    h->connect_timeout_ns =
        options->connect_timeout_ns ? options->connect_timeout_ns : CONNECT_DEFAULT_NS;
    h->socket = options->socket ? xstrdup(options->socket) : NULL;
    h->multi = curl_multi_init();
    h->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (!h->multi || h->epoll_fd < 0) {
        http_close(h);
        return err_sys(err, errno, "cannot start the network loop");
    }
    set_headers(h, options->headers);
    curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
    curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, KEPT_MAX);
    *ret = h;
    return 0;
}

void http_start(struct http *h, struct http_request *r)
{
    r->http = h;
    r->easy = NULL;
    r->status = 0;
    r->ending = FAILURE_NONE;
    r->headers_over = r->aborted = false;
    r->words[0] = '\0';
    r->total = (struct http_timer){.request = r};
    r->idle = (struct http_timer){.request = r};
    if (r->deadline != MONO_NEVER)
        timer_set(&h->totals, &r->total, r->deadline);
    r->next = NULL;
    *h->starting_end = r;
    h->starting_end = &r->next;
    h->in_flight++;
}

void http_cancel(struct http_request *r)
{
    r->ending = FAILURE_CANCELLED;
    timer_set(&r->http->totals, &r->total, 0);
}

size_t http_in_flight(const struct http *h)
{
    return h->in_flight;
}

static void unlink_active(struct http *h, struct http_request *r)
{
    *(r->prev ? &r->prev->next : &h->active) = r->next;
    if (r->next)
        r->next->prev = r->prev;
}

/* The handler may free the request or start it again: nothing of it is touched after that. */
static void finish(struct http *h, struct http_request *r, enum failure failure)
{
    CURL *easy = r->easy;

    if (easy) {
        curl_multi_remove_handle(h->multi, easy);
        curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, NULL);
        unlink_active(h, r);
    }
    timer_clear(&h->totals, &r->total);
    timer_clear(&h->idles, &r->idle);
    h->in_flight--;
    if (failure == FAILURE_NONE) /* libcurl has words for our own stopping, too */
        r->words[0] = '\0';
    r->handler->done(r, failure, r->words);
    curl_easy_cleanup(easy);
}

static struct http_request *take_starting(struct http *h)
{
    struct http_request *r = h->starting;

    if (r) {
        h->starting = r->next;
        if (!h->starting)
            h->starting_end = &h->starting;
    }
    return r;
}

/* Gives libcurl what was started since. False when one of them has ended with that. */
static bool launch(struct http *h)
{
    struct http_request *r;
    bool all = true;

    while ((r = take_starting(h))) {
        r->easy = transfer_new(h, r);
        if (!r->easy) {
            finish(h, r, FAILURE_CONNECT);
            all = false;
            continue;
        }
        r->prev = NULL;
        r->next = h->active;
        if (h->active)
            h->active->prev = r;
        h->active = r;
        curl_multi_add_handle(h->multi, r->easy);
    }
    return all;
}

/* Ends what libcurl has finished. */
static void reap(struct http *h)
{
    struct http_request *r;
    CURLMsg *m;
    int left;

    while ((m = curl_multi_info_read(h->multi, &left))) {
        CURLcode code = m->data.result;

        if (m->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &r);
        finish(h, r, transfer_verdict(r, code));
    }
}

/* Ends what has taken too long or was cancelled. */
static void expire(struct http *h, mono_ns now)
{
    struct http_timer *t;

    while ((t = h->totals.first) && t->at <= now) {
        bool cancelled = t->request->ending == FAILURE_CANCELLED;

        snprintf(t->request->words, HTTP_WORDS_MAX, "%s",
                 cancelled ? "cancelled" : "no complete answer within the time limit");
        finish(h, t->request, cancelled ? FAILURE_CANCELLED : FAILURE_TIMEOUT);
    }
    while ((t = h->idles.first) && t->at <= now) {
        snprintf(t->request->words, HTTP_WORDS_MAX, "no byte for %.3g s",
                 ns_to_s(t->request->idle_ns));
        finish(h, t->request, FAILURE_STALL);
    }
}

static void end_all(struct http *h, const char *words)
{
    struct http_request *r;

    while ((r = h->active ? h->active : take_starting(h))) {
        snprintf(r->words, HTTP_WORDS_MAX, "%s", words);
        finish(h, r, FAILURE_CANCELLED);
    }
}

void http_close(struct http *h)
{
    if (!h)
        return;
    end_all(h, "cancelled");
    curl_multi_cleanup(h->multi);
    curl_slist_free_all(h->get_headers);
    curl_slist_free_all(h->post_headers);
    if (h->epoll_fd >= 0)
        close(h->epoll_fd);
    free(h->socket);
    free(h);
}

static int watch(struct http *h, int wake_fd, struct err *err)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = wake_fd};

    if (wake_fd == h->wake_fd)
        return 0;
    if (h->wake_fd >= 0)
        epoll_ctl(h->epoll_fd, EPOLL_CTL_DEL, h->wake_fd, NULL);
    h->wake_fd = -1;
    if (wake_fd >= 0 && epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, wake_fd, &e) < 0)
        return err_sys(err, errno, "cannot watch the wake-up descriptor");
    h->wake_fd = wake_fd;
    return 0;
}

static mono_ns earliest(const struct http *h, mono_ns deadline)
{
    mono_ns t = h->curl_timer < deadline ? h->curl_timer : deadline;

    if (h->totals.first && h->totals.first->at < t)
        t = h->totals.first->at;
    if (h->idles.first && h->idles.first->at < t)
        t = h->idles.first->at;
    return t;
}

static int wait_for(struct http *h, struct epoll_event *events, mono_ns until)
{
    mono_ns now = until == MONO_NEVER ? 0 : mono_now();
    mono_ns left = until > now ? until - now : 0;
    struct timespec timeout = mono_timespec(left);
    int n = epoll_pwait2(h->epoll_fd, events, EVENTS_PER_ROUND,
                         until == MONO_NEVER ? NULL : &timeout, NULL);

    if (n < 0 && errno == ENOSYS) { /* Linux before 5.11: milliseconds, rounded up */
        int64_t ms = (left + NS_PER_MS - 1) / NS_PER_MS;

        n = epoll_wait(h->epoll_fd, events, EVENTS_PER_ROUND,
                       until == MONO_NEVER ? -1 : (int)(ms < 1 << 30 ? ms : 1 << 30));
    }
    return n < 0 ? -errno : n;
}

/* Lets libcurl work on what is ready. True when the wake-up descriptor was. */
static bool dispatch(struct http *h, const struct epoll_event *events, int n)
{
    bool woken = false;
    int running;

    for (int i = 0; i < n; i++) {
        uint32_t got = events[i].events;
        /* after an error, reading or writing tells which */
        int flags = (got & ~(uint32_t)EPOLLOUT ? CURL_CSELECT_IN : 0) |
                    (got & ~(uint32_t)EPOLLIN ? CURL_CSELECT_OUT : 0);

        if (events[i].data.fd == h->wake_fd) {
            woken = true;
            continue;
        }
        curl_multi_socket_action(h->multi, events[i].data.fd, flags, &running);
    }
    return woken;
}

int http_poll(struct http *h, mono_ns deadline, int wake_fd, struct err *err)
{
    struct epoll_event events[EVENTS_PER_ROUND];
    mono_ns until, now;
    bool woken;
    int n, running;

    n = watch(h, wake_fd, err);
    if (n < 0)
        return n;
    until = launch(h) ? earliest(h, deadline) : 0;
    if (until == MONO_NEVER && h->in_flight == 0 && wake_fd < 0)
        return err_set(err, EDEADLK, "nothing is in flight, and nothing else ends the wait");
    n = wait_for(h, events, until);
    if (n < 0 && n != -EINTR) {
        end_all(h, "the network loop is broken");
        return err_sys(err, -n, "cannot wait for the network");
    }
    now = mono_now();
    woken = dispatch(h, events, n) || n == -EINTR;
    if (h->curl_timer <= now) {
        h->curl_timer = MONO_NEVER;
        curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    reap(h);
    expire(h, now);
    return woken || now >= deadline ? 0 : 1;
}
