/* A request's body in either protocol: what is read can be answered, what is refused is refused in
 * words, and what is written is JSON. The first byte chooses protocol and path. */
#include "base/cleanup.h"
#include "base/utf8.h"
#include "serve/protocol.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_json(const struct buf *text)
{
    AUTO(json_doc) struct json_doc doc = {0};

    if (json_doc_parse(&doc, buf_str(text), text->len, NULL) < 0 || !json_is(doc.root, JSON_OBJECT))
        abort();
}

static void check_options(const struct pocket_options *o)
{
    if (!(o->temperature >= 0) || o->top_k < 0 || !(o->top_p > 0 && o->top_p <= 1) ||
        o->max_tokens == 0 || o->max_tokens < -1 || o->n_stops > STOPS_MAX)
        abort();
    for (size_t i = 0; i < o->n_stops; i++)
        if (o->stops[i].n == 0 || o->stops[i].n > STOP_BYTES_MAX)
            abort();
}

static void write_all(const struct protocol *p, const struct serve_request *r)
{
    AUTO(buf) struct buf whole = BUF_INIT(BUF_MAX_OWN), stream = BUF_INIT(BUF_MAX_OWN);
    struct pocket_job job = {.submitted = 1, .taken = 2, .outcome = {.first = 3, .end = 4}};
    struct answer a = {.request = r, .job = &job, .id = 1, .anchor = {.wall_ns = NS_PER_S}};

    p->whole(&a, buf_str(&r->prompt), r->prompt.len, &whole);
    must_be_json(&whole);
    p->begin(&a, &stream);
    p->piece(&a, buf_str(&r->prompt), r->prompt.len, 3, &stream);
    p->end(&a, &stream);
    if (!utf8_valid(stream.data, stream.len) || stream.data[stream.len - 1] != '\n')
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct protocol *p;
    struct serve_request request;
    struct refusal refusal = {0};

    if (size < 1)
        return 0;
    p = data[0] & 1 ? &openai_protocol : &ollama_protocol;
    if (serve_request_read(p, data[0] & 2, (const char *)data + 1, size - 1, &request, &refusal) ==
        0) {
        check_options(&request.options);
        write_all(p, &request);
    } else {
        AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);

        if (refusal.status < 400 || refusal.status > 499 || !*refusal.message)
            abort();
        p->error(&refusal, &out);
        must_be_json(&out);
    }
    serve_request_release(&request);
    return 0;
}
