/*
 * A request that generates becomes a job of the pool. While there is nothing to send, its
 * connection is suspended; the worker writes each piece of the answer, already in the words of the
 * protocol, into `out` and resumes the connection. A whole answer is resumed once, at its end.
 *
 * The exchange is held by its connection and by its job, and goes with the last of them: a client
 * may vanish while a worker is in the middle of a step, and a job may end while libmicrohttpd still
 * sends. A suspended connection is not looked at by libmicrohttpd, so its exchange cannot go: that
 * is why the worker may resume it without the lock. It is also why we must look ourselves whether
 * the client is still there: when a worker takes its request up, at every token of an answer that
 * is sent whole, and, for those that wait, when there is no more place to wait.
 */
#include "serve/exchange.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "serve/protocol.h"
#include "serve/serve.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#define JSON_TYPE "application/json; charset=utf-8"
/* So much is read and dropped, for the sake of a sender who reads our answer only afterwards. */
#define DROPPED_MAX ((size_t)16 << 20)
/* The bodies of all requests together. */
#define BODIES_MAX ((size_t)8 << 20)
/* What libmicrohttpd takes of a stream at once. */
#define STREAM_BLOCK 4096

struct route {
    const char *path;
    const struct protocol *protocol;
    /* GET: writes the answer. NULL: POST, generates. */
    void (*get)(const struct exchange_host *h, struct buf *out);
    bool chat;
};

struct exchange {
    struct exchange_host *host;
    struct MHD_Connection *connection;
    const struct route *route;       /* NULL: there is no such path */
    const struct protocol *protocol; /* for errors, too */
    char method[8];
    mono_ns received;
    struct buf body;
    size_t dropped;
    struct refusal refusal; /* status 0 = none */
    bool begun;
    struct serve_request request;
    struct answer answer;
    struct pocket_job job;
    struct exchange *prev, *next; /* of the host's */
    /* Guards the rest. */
    pthread_mutex_t lock;
    struct buf out; /* a stream: what is to be sent; else the text so far */
    size_t sent;    /* of out */
    bool suspended;
    bool ended;
    bool submitted; /* the job holds the exchange */
    int holders;
};

static void get_models(const struct exchange_host *h, struct buf *out)
{
    openai_write_models(h->model, h->anchor.wall_ns, out);
}

static void get_tags(const struct exchange_host *h, struct buf *out)
{
    ollama_write_tags(h->model, h->anchor.wall_ns, out);
}

static void get_version(const struct exchange_host *h, struct buf *out)
{
    (void)h;
    ollama_write_version(out);
}

static const struct route routes[] = {
    {"/v1/models", &openai_protocol, get_models, false},
    {"/v1/chat/completions", &openai_protocol, NULL, true},
    {"/v1/completions", &openai_protocol, NULL, false},
    {"/api/tags", &ollama_protocol, get_tags, false},
    {"/api/version", &ollama_protocol, get_version, false},
    {"/api/generate", &ollama_protocol, NULL, false},
    {"/api/chat", &ollama_protocol, NULL, true},
};

static const struct route *find_route(const char *path)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
        if (strcmp(routes[i].path, path) == 0)
            return &routes[i];
    return NULL;
}

static void let_go(struct exchange *x, int holders)
{
    bool last;

    pthread_mutex_lock(&x->lock);
    x->holders -= holders;
    last = x->holders == 0;
    pthread_mutex_unlock(&x->lock);
    if (!last)
        return;
    serve_request_release(&x->request);
    pocket_prompt_release(&x->job.prompt);
    buf_release(&x->body);
    buf_release(&x->out);
    pthread_mutex_destroy(&x->lock);
    free(x);
}

static void release_body(struct exchange *x)
{
    x->host->body_bytes -= x->body.len;
    buf_release(&x->body);
}

void exchange_gone(struct exchange *x)
{
    bool submitted, waited;

    if (!x)
        return;
    *(x->prev ? &x->prev->next : &x->host->first) = x->next;
    if (x->next)
        x->next->prev = x->prev;
    release_body(x);
    pthread_mutex_lock(&x->lock);
    submitted = x->submitted && !x->ended;
    pthread_mutex_unlock(&x->lock);
    /* if it ends this very moment, it was not waiting, and cancelling does nothing */
    waited = submitted && pocket_pool_cancel(x->host->pool, &x->job);
    let_go(x, waited ? 2 : 1); /* for the job, too, when no worker will see it */
}

/* Sends a document; its text is moved out of `body`. */
static enum MHD_Result respond(struct exchange *x, int status, const char *type, struct buf *body)
{
    size_t n = body->len;
    struct MHD_Response *r =
        MHD_create_response_from_buffer(n, buf_take(body), MHD_RESPMEM_MUST_FREE);
    enum MHD_Result ok;

    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, x->route->get ? "GET, HEAD" : "POST");
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "1");
    ok = MHD_queue_response(x->connection, (unsigned)status, r);
    MHD_destroy_response(r);
    return ok;
}

static enum MHD_Result respond_refusal(struct exchange *x)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);

    x->begun = true;
    x->protocol->error(&x->refusal, &out);
    return respond(x, x->refusal.status, JSON_TYPE, &out);
}

/* Anything but what is certainly no JSON: curl calls it a form. */
static bool is_type_fine(const char *type)
{
    static const char *const fine[] = {"application/json", "text/json", "text/plain",
                                       "application/x-www-form-urlencoded"};
    size_t n = type ? strcspn(type, "; \t") : 0;

    for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++)
        if (n == strlen(fine[i]) && strncasecmp(type, fine[i], n) == 0)
            return true;
    return n == 0;
}

static int refuse_size(struct exchange *x)
{
    return refuse(&x->refusal, MHD_HTTP_CONTENT_TOO_LARGE, "the request is larger than %zu bytes",
                  SERVE_BODY_MAX);
}

/* What can be said before the body has come. */
static int look_at_headers(struct exchange *x, const char *path)
{
    const char *type =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_TYPE);
    bool get = strcmp(x->method, "GET") == 0 || strcmp(x->method, "HEAD") == 0;

    if (!x->route)
        return refuse(&x->refusal, MHD_HTTP_NOT_FOUND,
                      "there is no %.80s here: try /v1/models, /v1/chat/completions, "
                      "/v1/completions, /api/tags, /api/version, /api/generate, /api/chat",
                      path);
    if (x->route->get ? !get : strcmp(x->method, "POST") != 0)
        return refuse(&x->refusal, MHD_HTTP_METHOD_NOT_ALLOWED, "%s is not for %s", x->route->path,
                      x->method);
    if (!x->route->get && !is_type_fine(type))
        return refuse(&x->refusal, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
                      "the request is '%.60s', not application/json", type);
    return 0;
}

/* A body that is announced and will never be wanted is refused before it is sent, if its sender
 * waits for that or it is enormous. */
static bool is_hopeless(struct exchange *x)
{
    const char *length =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    const char *expect =
        MHD_lookup_connection_value(x->connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_EXPECT);
    uint64_t n;

    if (!length || parse_u64(length, &n, NULL) < 0)
        return false;
    return n > DROPPED_MAX || (n > SERVE_BODY_MAX && expect);
}

struct exchange *exchange_new(struct exchange_host *h, struct MHD_Connection *c, const char *url,
                              const char *method)
{
    struct exchange *x = xcalloc(1, sizeof(*x));

    x->host = h;
    x->next = h->first;
    if (h->first)
        h->first->prev = x;
    h->first = x;
    x->connection = c;
    x->received = mono_now();
    x->route = find_route(url);
    x->protocol = x->route                        ? x->route->protocol
                  : strncmp(url, "/api/", 5) == 0 ? &ollama_protocol
                                                  : &openai_protocol;
    snprintf(x->method, sizeof(x->method), "%s", method);
    x->holders = 1;
    pthread_mutex_init(&x->lock, NULL);
    buf_init(&x->body, SERVE_BODY_MAX);
    buf_init(&x->out, BUF_MAX_OWN); /* the model's context bounds it */
    if (look_at_headers(x, url) == 0 && is_hopeless(x)) {
        refuse_size(x);
        respond_refusal(x);
    }
    return x;
}

enum MHD_Result exchange_body(struct exchange *x, const char *data, size_t n)
{
    if (x->refusal.status == 0 && x->body.len + n > SERVE_BODY_MAX)
        refuse_size(x);
    else if (x->refusal.status == 0 && x->host->body_bytes + n > BODIES_MAX)
        refuse(&x->refusal, MHD_HTTP_SERVICE_UNAVAILABLE, "too many requests at once");
    if (x->refusal.status) {
        release_body(x);
        x->dropped += n;
        return x->dropped > DROPPED_MAX ? MHD_NO : MHD_YES;
    }
    buf_add(&x->body, data, n);
    x->host->body_bytes += n;
    return MHD_YES;
}

/* Wakes the connection, if it sleeps, after `out` or `ended` have changed under the lock. */
static void wake(struct exchange *x)
{
    bool suspended = x->suspended;

    x->suspended = false;
    pthread_mutex_unlock(&x->lock);
    if (suspended)
        MHD_resume_connection(x->connection);
}

/* With the lock held. A client that has closed its side is taken to be gone, as Go's server, hence
 * Ollama, has it. Only while the connection is suspended is the socket certainly still its own. */
static bool has_lost_client(const struct exchange *x)
{
    const union MHD_ConnectionInfo *info;
    ssize_t n;
    char c;

    if (!x->suspended)
        return false;
    info = MHD_get_connection_info(x->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    n = recv(info->connect_fd, &c, 1, MSG_PEEK | MSG_DONTWAIT);
    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}

static void on_taken(struct pocket_job *j)
{
    struct exchange *x = j->user;

    pthread_mutex_lock(&x->lock);
    if (has_lost_client(x))
        atomic_store(&j->cancelled, true);
    pthread_mutex_unlock(&x->lock);
}

static void on_text(struct pocket_job *j, const char *text, size_t n, mono_ns at)
{
    struct exchange *x = j->user;

    pthread_mutex_lock(&x->lock);
    if (!x->request.stream) {
        buf_add(&x->out, text, n);
        if (has_lost_client(x))
            atomic_store(&j->cancelled, true);
        pthread_mutex_unlock(&x->lock);
        return;
    }
    x->protocol->piece(&x->answer, text, n, at, &x->out);
    wake(x);
}

static void on_ended(struct pocket_job *j)
{
    struct exchange *x = j->user;

    pthread_mutex_lock(&x->lock);
    x->ended = true;
    if (x->request.stream && j->result == 0)
        x->protocol->end(&x->answer, &x->out);
    wake(x);
    let_go(x, 1);
}

static const struct pocket_handler handler = {on_taken, on_text, on_ended};

/* libmicrohttpd asks for more of a stream. */
static ssize_t read_stream(void *arg, uint64_t at, char *to, size_t max)
{
    struct exchange *x = arg;
    size_t n;
    ssize_t r;

    (void)at; /* always where the last one ended */
    pthread_mutex_lock(&x->lock);
    n = x->out.len - x->sent < max ? x->out.len - x->sent : max;
    if (n > 0) {
        memcpy(to, x->out.data + x->sent, n);
        x->sent += n;
        r = (ssize_t)n;
        if (x->sent == x->out.len) {
            buf_clear(&x->out);
            x->sent = 0;
        }
    } else if (x->ended) {
        r = x->job.result == 0 ? MHD_CONTENT_READER_END_OF_STREAM
                               : MHD_CONTENT_READER_END_WITH_ERROR;
    } else {
        r = 0;
        x->suspended = true;
        MHD_suspend_connection(x->connection);
    }
    pthread_mutex_unlock(&x->lock);
    return r;
}

static enum MHD_Result respond_stream(struct exchange *x)
{
    struct MHD_Response *r =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK, read_stream, x, NULL);
    enum MHD_Result ok;

    if (!r)
        return MHD_NO;
    MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, x->protocol->stream_type);
    MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
    ok = MHD_queue_response(x->connection, MHD_HTTP_OK, r);
    MHD_destroy_response(r);
    return ok;
}

static enum MHD_Result respond_whole(struct exchange *x)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);

    x->protocol->whole(&x->answer, buf_str(&x->out), x->out.len, &out);
    return respond(x, MHD_HTTP_OK, JSON_TYPE, &out);
}

/* Gives up the waiting requests whose clients have gone; how many these were. */
static int sweep(struct exchange_host *h)
{
    int swept = 0;

    for (struct exchange *x = h->first; x; x = x->next) {
        bool lost;

        pthread_mutex_lock(&x->lock);
        lost = x->submitted && !x->ended && has_lost_client(x);
        pthread_mutex_unlock(&x->lock);
        if (!lost || !pocket_pool_cancel(h->pool, &x->job))
            continue;
        swept++;
        pthread_mutex_lock(&x->lock);
        x->job.result = -ECANCELED;
        x->ended = true;
        x->holders--;
        wake(x);
    }
    return swept;
}

/* Hands the job to the pool. No worker gets in before we have said what happens next. */
static int submit(struct exchange *x)
{
    int r;

    pthread_mutex_lock(&x->lock);
    r = pocket_pool_submit(x->host->pool, &x->job);
    if (r == 0) {
        x->submitted = true;
        x->holders++;
        if (x->request.stream) {
            x->protocol->begin(&x->answer, &x->out);
        } else {
            x->suspended = true;
            MHD_suspend_connection(x->connection);
        }
    }
    pthread_mutex_unlock(&x->lock);
    return r;
}

static enum MHD_Result generate(struct exchange *x)
{
    int r;

    x->job = (struct pocket_job){
        .prompt = x->job.prompt, .options = &x->request.options, .handler = &handler, .user = x};
    r = submit(x);
    if (r == -EBUSY && sweep(x->host) > 0)
        r = submit(x);
    if (r == 0)
        return x->request.stream ? respond_stream(x) : MHD_YES;
    if (r == -EBUSY)
        refuse(&x->refusal, MHD_HTTP_SERVICE_UNAVAILABLE,
               "server busy, please try again: %d requests are waiting", SERVE_WAITING_MAX);
    else
        refuse(&x->refusal, MHD_HTTP_SERVICE_UNAVAILABLE, "the server is shutting down");
    return respond_refusal(x);
}

static int read_request(struct exchange *x)
{
    struct err err = {0};

    if (serve_request_read(x->protocol, x->route->chat, buf_str(&x->body), x->body.len, &x->request,
                           &x->refusal) < 0)
        return -1;
    release_body(x);
    if (!x->request.load_only &&
        pocket_prompt_encode(x->host->model, buf_str(&x->request.prompt), x->request.prompt.len,
                             &x->job.prompt, &err) < 0) {
        refuse(&x->refusal, MHD_HTTP_BAD_REQUEST, "%s", err.text);
        x->refusal.code = "context_length_exceeded";
        return -1;
    }
    return 0;
}

static enum MHD_Result begin(struct exchange *x)
{
    x->begun = true;
    if (x->refusal.status)
        return respond_refusal(x);
    x->answer = (struct answer){.request = &x->request,
                                .job = &x->job,
                                .id = ++x->host->requests,
                                .received = x->received,
                                .anchor = x->host->anchor};
    if (x->route->get) {
        AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);

        x->route->get(x->host, &out);
        return respond(x, MHD_HTTP_OK, JSON_TYPE, &out);
    }
    if (read_request(x) < 0)
        return respond_refusal(x);
    return x->request.load_only ? respond_whole(x) : generate(x);
}

enum MHD_Result exchange_go_on(struct exchange *x)
{
    if (!x->begun)
        return begin(x);
    /* a job fails only when its client has gone, or the server goes: close */
    return x->job.result < 0 ? MHD_NO : respond_whole(x);
}
