/* One line of JSON per request, with the server's own times: see --help. */
#include "exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void add_time(struct json_writer *w, const char *key, mono_ns t)
{
    if (t == MONO_ABSENT)
        jw_null(w, key);
    else
        jw_int(w, key, t);
}

static void add_request(const struct exchange *x, struct json_writer *w)
{
    const struct request *r = &x->request;
    char hash[20];

    jw_int(w, "id", x->id);
    jw_text(w, "method", r->method);
    jw_text(w, "path", r->path);
    jw_text(w, "authorization", r->authorization[0] ? r->authorization : NULL);
    jw_text(w, "content_type", r->content_type[0] ? r->content_type : NULL);
    if (x->api == API_NONE)
        return;
    snprintf(hash, sizeof(hash), "%016" PRIx64, x->prompt_hash);
    jw_text(w, "prompt_hash", hash);
    jw_int(w, "prompt_bytes", (int64_t)x->prompt_bytes);
    jw_int(w, "prompt_tokens", x->prompt_tokens);
    jw_int(w, "tokens", x->next);
    jw_int(w, "reasoning_tokens", x->next < x->n_reasoning ? x->next : x->n_reasoning);
    jw_int(w, "chunk_tokens", x->server->config.chunk_tokens);
    if (x->server->power)
        jw_real(w, "joules", x->work.spent_j);
}

void exchange_log(const struct exchange *x, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    jw_begin_object(&w, NULL);
    add_request(x, &w);
    jw_int(&w, "status", x->status);
    jw_text(&w, "fault", fault_name(x->fault.kind));
    jw_text(&w, "outcome", x->outcome);
    add_time(&w, "received_ns", x->received);
    add_time(&w, "headers_ns", x->head_at);
    jw_begin_array(&w, "sent_ns");
    for (size_t i = 0; i < x->n_sent; i++)
        jw_int(&w, NULL, x->sent[i]);
    jw_end_array(&w);
    add_time(&w, "end_ns", x->end_at);
    /* the writer made it: no need to parse it again to nest it */
    buf_adds(out, ",\"params\":");
    buf_adds(out, x->params.len ? buf_str(&x->params) : "null");
    jw_end_object(&w);
    buf_addc(out, '\n');
}
