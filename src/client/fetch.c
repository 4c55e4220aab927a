/*
 * Questions that are waited for: which models there are, is it loaded. They run in the same loop as
 * the queries, so the connection they open serves the first query.
 */
#include "client/session.h"

#include "base/cleanup.h"
#include "base/utf8.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ANSWER_MAX ((size_t)8 << 20)
/* For the answer, once there is a connection. */
#define ANSWER_NS (20 * NS_PER_S)

struct pending {
    struct http_request http;
    struct session *session;
    struct fetch *fetch;
    enum failure failure;
    bool over;
    bool too_large;
    char words[HTTP_WORDS_MAX];
    struct buf said; /* about a refusal */
};

void fetch_release(struct fetch *f)
{
    buf_release(&f->answer);
}

static void on_headers(struct http_request *http, mono_ns at)
{
    struct pending *p = http->user;
    const char *server = http_header(http, "Server");

    (void)at;
    p->fetch->status = http->status;
    if (server && utf8_valid(server, strlen(server)))
        snprintf(p->session->server, sizeof(p->session->server), "%.60s", server);
}

static int on_data(struct http_request *http, const char *piece, size_t n, mono_ns at)
{
    struct pending *p = http->user;

    (void)at;
    p->too_large = buf_add(&p->fetch->answer, piece, n) < 0;
    return p->too_large;
}

static void on_done(struct http_request *http, enum failure failure, const char *words)
{
    struct pending *p = http->user;

    p->over = true;
    p->failure = failure;
    snprintf(p->words, sizeof(p->words), "%s", words);
    if (http->status != 200 && http->status != 0)
        session_refusal_words(p->session, http, &p->fetch->answer, &p->said);
}

static const struct http_handler handler = {
    .headers = on_headers,
    .data = on_data,
    .done = on_done,
};

static int code_of(const struct pending *p)
{
    if (p->failure == FAILURE_CANCELLED)
        return ECANCELED;
    if (p->failure == FAILURE_CONNECT)
        return ECONNREFUSED;
    if (p->failure == FAILURE_TIMEOUT || p->failure == FAILURE_STALL)
        return ETIMEDOUT;
    if (p->failure != FAILURE_NONE || p->fetch->status == 200)
        return EIO;
    return p->fetch->status == 503 ? EAGAIN : p->fetch->status == 404 ? ENOENT : EPROTO;
}

static int report(struct pending *p, struct err *err)
{
    AUTO(buf) struct buf words = BUF_INIT(WORDS_MAX);
    AUTO_FREE char *shown = url_for_people(&p->session->url, p->fetch->path);
    int code = code_of(p);
    char text[ERR_TEXT_MAX];

    if (p->said.len > 0)
        buf_add(&words, p->said.data, p->said.len);
    else if (p->too_large)
        buf_adds(&words, "the answer is too large");
    else
        buf_adds(&words, p->words);
    session_failure_words(p->session, shown, p->fetch->status, &words, text);
    return err_set(err, code, "%s", text);
}

/* Tells the person what is being waited for, and asks whether to go on. */
static int tell(const struct fetch *f, mono_ns since)
{
    char words[ERR_TEXT_MAX];

    if (!f->progress || !f->doing)
        return 0;
    snprintf(words, sizeof(words), "%.180s (%" PRId64 " s)", f->doing,
             (int64_t)((mono_now() - since) / NS_PER_S));
    return f->progress(f->arg, words);
}

static int run(struct pending *p, mono_ns since, struct err *err)
{
    mono_ns next = since + NS_PER_S;
    int r = 0;

    while (!p->over && r >= 0) {
        r = http_poll(p->session->http, next, -1, err);
        if (p->over || mono_now() < next)
            continue;
        next += NS_PER_S;
        if (tell(p->fetch, since) != 0)
            http_cancel(&p->http);
    }
    return r < 0 ? r : 0;
}

int session_fetch(struct session *s, struct fetch *f, struct err *err)
{
    AUTO_FREE char *url = url_full(&s->url, f->path);
    mono_ns since = mono_now(), limit = f->limit_ns ? f->limit_ns : s->connect_ns + ANSWER_NS;
    struct pending p = {.session = s,
                        .fetch = f,
                        .said = BUF_INIT(WORDS_MAX),
                        .http = {.url = url,
                                 .body = f->body,
                                 .body_len = f->body ? strlen(f->body) : 0,
                                 .deadline = since + limit,
                                 .handler = &handler,
                                 .user = &p}};
    int r;

    if (http_in_flight(s->http) > 0)
        return err_set(err, EBUSY, "queries are in flight");
    f->status = 0;
    buf_clear(&f->answer);
    f->answer.max = ANSWER_MAX;
    http_start(s->http, &p.http);
    r = run(&p, since, err);
    if (r == 0 && (p.failure != FAILURE_NONE || f->status != 200 || p.too_large))
        r = report(&p, err);
    buf_release(&p.said);
    return r;
}

int session_fetch_json(struct session *s, struct fetch *f, const struct json **ret, struct err *err)
{
    AUTO_FREE char *shown = url_for_people(&s->url, f->path);
    int r = session_fetch(s, f, err);

    if (r < 0)
        return r;
    r = json_doc_parse(&s->memory.doc, buf_str(&f->answer), f->answer.len, err);
    if (r < 0)
        return err_prefix(err, "%.120s", shown);
    *ret = s->memory.doc.root;
    return 0;
}

int session_wait_ready(struct session *s, struct fetch *f, const struct json **ret, struct err *err)
{
    mono_ns limit = mono_now() + s->ready_ns;
    struct err said = {0};
    int r;

    while ((r = session_fetch_json(s, f, ret, &said)) == -EAGAIN && mono_now() < limit) {
        char words[ERR_TEXT_MAX];

        snprintf(words, sizeof(words), "waiting for the server, %" PRId64 " s left: %.180s",
                 (limit - mono_now()) / NS_PER_S, said.text);
        if (f->progress && f->progress(f->arg, words) != 0)
            return err_set(err, ECANCELED, "cancelled");
        mono_sleep_until(mono_now() + NS_PER_S);
    }
    if (r < 0 && err)
        *err = said;
    return r;
}
