/*
 * A query becomes an exchange: an HTTP request and a reader for its body. The response is filled
 * while the bytes come in; when the transfer is over the exchange decides what it was and ends the
 * query with one event.
 */
#include "client/session.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct exchange {
    struct http_request http;
    struct session *session;
    struct client_query *query;
    struct reader reader;
    struct buf request;
    struct buf other; /* the body, when it is not the answer that was asked for */
    bool is_answer;
    bool plain; /* asked without what servers may refuse */
    bool again; /* because they did */
};

static void deliver(struct exchange *x, enum client_event e)
{
    x->session->events++;
    x->query->on_event(x->query, e);
}

static void on_sent(struct http_request *http, mono_ns at)
{
    struct exchange *x = http->user;

    x->query->response->sent = at;
    deliver(x, CLIENT_SENT);
}

/* The media type is one of the reader's. One that is not told is believed. */
static bool has_right_type(const struct exchange *x)
{
    const char *value = http_header(&x->http, "Content-Type");
    size_t n = value ? strcspn(value, "; \t") : 0;

    for (const char *const *type = x->reader.ops->types; n && *type; type++)
        if (strlen(*type) == n && strncasecmp(*type, value, n) == 0)
            return true;
    return n == 0;
}

static void on_headers(struct http_request *http, mono_ns at)
{
    struct exchange *x = http->user;
    struct response *p = x->query->response;

    p->headers = at;
    p->http_status = http->status;
    p->retry_after_ns = http_retry_after_ns(http);
    x->is_answer = http->status == 200 && has_right_type(x);
    if (!x->is_answer)
        return;
    if (x->again)
        x->session->plain = true; /* now it is known to help */
    deliver(x, CLIENT_HEADERS);
}

/* Keeps the beginning for its words; more than a body may have ends the transfer. */
static int keep_other(struct exchange *x, const char *piece, size_t n)
{
    size_t room = x->other.max - x->other.len;

    buf_add(&x->other, piece, n < room ? n : room);
    if (n > x->reader.bytes_left)
        return -1;
    x->reader.bytes_left -= n;
    return 0;
}

static int on_data(struct http_request *http, const char *piece, size_t n, mono_ns at)
{
    struct exchange *x = http->user;
    int64_t deltas = x->query->response->deltas;
    int r;

    if (!x->is_answer)
        return keep_other(x, piece, n);
    r = reader_feed(&x->reader, piece, n, at);
    if (x->query->response->deltas > deltas)
        deliver(x, CLIENT_DELTA);
    return r;
}

/* A complete body that is not the answer. */
static enum failure judge_other(struct exchange *x, struct buf *words)
{
    struct session *s = x->session;
    const char *type = http_header(&x->http, "Content-Type");

    buf_clear(words);
    if (x->http.status != 200) {
        session_refusal_words(s, &x->http, &x->other, words);
        return FAILURE_STATUS;
    }
    /* some servers tell of an error with status 200 */
    if (json_doc_parse(&s->memory.doc, buf_str(&x->other), x->other.len, NULL) == 0 &&
        reader_is_error(json_get(s->memory.doc.root, "error"))) {
        words_add_error(words, s->memory.doc.root);
        return FAILURE_STREAM;
    }
    buf_addf(words, "%.100s instead of %s: ", type ? type : "?", x->reader.ops->types[0]);
    words_add_body(words, &s->memory.doc, buf_str(&x->other), x->other.len);
    return FAILURE_GARBAGE;
}

/* What became of it; `failure` is the transport's view. */
static enum failure judge(struct exchange *x, enum failure failure, struct buf *words)
{
    bool body_over = failure == FAILURE_NONE || failure == FAILURE_CUT;

    if (body_over && x->http.status && !x->is_answer)
        return judge_other(x, words);
    if (failure != FAILURE_NONE)
        return failure;
    if (x->reader.failure == FAILURE_NONE)
        reader_end(&x->reader);
    if (x->reader.failure != FAILURE_NONE) {
        buf_clear(words);
        buf_add(words, buf_str(&x->reader.words), x->reader.words.len);
    }
    return x->reader.failure;
}

static void exchange_free(struct exchange *x)
{
    reader_release(&x->reader);
    buf_release(&x->request);
    buf_release(&x->other);
    free(x);
}

static void conclude(struct exchange *x, enum failure failure, const char *said)
{
    AUTO(buf) struct buf words = BUF_INIT(WORDS_MAX);
    struct client_query *q = x->query;
    struct response *p = q->response;

    buf_adds(&words, said);
    p->failure = judge(x, failure, &words);
    if (p->failure != FAILURE_NONE) {
        p->end = mono_now();
        session_failure_words(x->session, x->session->shown_query_url, p->http_status, &words,
                              p->error);
    }
    q->private = NULL;
    x->session->events++;
    exchange_free(x);
    q->on_event(q, CLIENT_END);
}

static void write_request(struct exchange *x)
{
    struct json_writer w = json_writer(&x->request, JSON_LINE);

    buf_clear(&x->request);
    jw_begin_object(&w, NULL);
    x->session->kind->write_request(x->session, x->query, x->plain, &w);
    jw_end_object(&w);
    x->http.body = x->request.data;
    x->http.body_len = x->request.len;
}

static void ask_again(struct exchange *x)
{
    struct response *p = x->query->response;

    p->sent = p->headers = MONO_ABSENT;
    p->http_status = 0;
    p->retry_after_ns = -1;
    buf_clear(&x->other);
    x->plain = x->again = true;
    write_request(x);
    http_start(x->session->http, &x->http);
}

static void on_done(struct http_request *http, enum failure failure, const char *words)
{
    struct exchange *x = http->user;
    struct session *s = x->session;

    if (failure == FAILURE_NONE && http->status != 200 && !x->plain && s->kind->is_curable &&
        s->kind->is_curable(s, http->status, buf_str(&x->other), x->other.len))
        ask_again(x);
    else
        conclude(x, failure, words);
}

static const struct http_handler handler = {
    .sent = on_sent,
    .headers = on_headers,
    .data = on_data,
    .done = on_done,
};

void session_start(void *ctx, struct client_query *q)
{
    struct session *s = ctx;
    struct exchange *x = xcalloc(1, sizeof(*x));

    x->session = s;
    x->query = q;
    x->plain = s->plain;
    buf_init(&x->request, BUF_MAX_OWN);
    buf_init(&x->other, WORDS_MAX);
    reader_init(&x->reader, s->kind->reader, &s->memory, q->response, s->max_bytes);
    x->http.url = s->query_url;
    x->http.deadline = s->timeout_ns ? mono_now() + s->timeout_ns : MONO_NEVER;
    x->http.idle_ns = s->idle_ns;
    x->http.handler = &handler;
    x->http.user = x;
    q->private = x;
    write_request(x);
    http_start(s->http, &x->http);
}

void session_cancel(void *ctx, struct client_query *q)
{
    struct exchange *x = q->private;

    (void)ctx;
    if (x)
        http_cancel(&x->http);
}

int session_poll(void *ctx, mono_ns deadline, int wake_fd, struct err *err)
{
    struct session *s = ctx;
    int r = 1;

    s->events = 0;
    while (r > 0 && s->events == 0)
        r = http_poll(s->http, deadline, wake_fd, err);
    return r < 0 ? r : s->events;
}
