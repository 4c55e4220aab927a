#include "client/reader.h"

#include "base/utf8.h"
#include "client/words.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void reader_memory_init(struct reader_memory *m)
{
    *m = (struct reader_memory){.text = BUF_INIT(READER_LINE_MAX)};
}

void reader_memory_release(struct reader_memory *m)
{
    json_doc_release(&m->doc);
    buf_release(&m->text);
}

void reader_init(struct reader *r, const struct reader_ops *ops, struct reader_memory *memory,
                 struct response *response, size_t max)
{
    *r = (struct reader){
        .ops = ops,
        .memory = memory,
        .response = response,
        .bytes_left = max,
        .at = MONO_ABSENT,
        .finish_at = MONO_ABSENT,
        .fallback = USAGE_NONE,
        .words = BUF_INIT(WORDS_MAX),
    };
    ops->init(r, max < READER_LINE_MAX ? max : READER_LINE_MAX);
}

void reader_release(struct reader *r)
{
    r->ops->release(r);
    buf_release(&r->words);
}

int reader_fail(struct reader *r, enum failure failure, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    r->failure = failure;
    buf_clear(&r->words);
    buf_adds(&r->words, text);
    return -1;
}

int reader_fail_said(struct reader *r, const struct json *error)
{
    r->failure = FAILURE_STREAM;
    buf_clear(&r->words);
    buf_adds(&r->words, "error in the stream: ");
    words_add_error(&r->words, error);
    return -1;
}

int reader_framing(struct reader *r, int result)
{
    if (result == -EMSGSIZE)
        return reader_fail(r, FAILURE_TOO_LARGE, "a line of the stream is too long");
    return result;
}

int reader_feed(struct reader *r, const char *piece, size_t n, mono_ns at)
{
    r->at = at;
    if (n > r->bytes_left)
        return reader_fail(r, FAILURE_TOO_LARGE, "the body is larger than allowed");
    r->bytes_left -= n;
    return r->ops->feed(r, piece, n);
}

static void fill_usage(struct usage *u, const struct usage *fallback)
{
    if (u->prompt_tokens < 0)
        u->prompt_tokens = fallback->prompt_tokens;
    if (u->completion_tokens < 0)
        u->completion_tokens = fallback->completion_tokens;
    if (u->cached_prompt_tokens < 0)
        u->cached_prompt_tokens = fallback->cached_prompt_tokens;
}

int reader_end(struct reader *r)
{
    struct response *p = r->response;

    if (r->ops->end(r) < 0)
        return -1;
    if (r->finish_at == MONO_ABSENT)
        return reader_fail(r, FAILURE_NO_END,
                           "the stream ended without a finish reason, after %" PRId64 " events",
                           r->events);
    fill_usage(&p->usage, &r->fallback);
    p->end = p->last_token != MONO_ABSENT ? p->last_token : r->finish_at;
    return 0;
}

int reader_parse(struct reader *r, const char *text, size_t n)
{
    struct err err = {0};

    if (!utf8_valid(text, n))
        return reader_fail(r, FAILURE_GARBAGE, "event %" PRId64 " is not UTF-8", r->events);
    if (json_doc_parse(&r->memory->doc, text, n, &err) < 0)
        return reader_fail(r, FAILURE_GARBAGE, "event %" PRId64 " is %s", r->events, err.text);
    if (!json_is(r->memory->doc.root, JSON_OBJECT))
        return reader_fail(r, FAILURE_GARBAGE, "event %" PRId64 " is not a JSON object", r->events);
    return 0;
}

int reader_delta(struct reader *r, enum delta_kind kind, const char *text, size_t n)
{
    if (response_delta(r->response, kind, text, n, r->at) < 0)
        return reader_fail(r, FAILURE_TOO_LARGE, "the answer is larger than allowed");
    return 0;
}

int reader_delta_skim(struct reader *r, enum delta_kind kind, struct skim_text text)
{
    struct skim_text plain;

    if (text.n == 0)
        return 0;
    buf_clear(&r->memory->text);
    if (!skim_unescape(text, &r->memory->text, &plain))
        return reader_fail(r, FAILURE_TOO_LARGE, "an event is larger than allowed");
    return reader_delta(r, kind, plain.p, plain.n);
}

int reader_delta_json(struct reader *r, enum delta_kind kind, const struct json *v)
{
    return json_is(v, JSON_STRING) ? reader_delta(r, kind, v->text, v->len) : 0;
}

void reader_finish(struct reader *r, const char *reason)
{
    struct response *p = r->response;
    size_t n = strlen(reason);

    if (n >= sizeof(p->finish_reason)) {
        n = sizeof(p->finish_reason) - 1;
        while (n > 0 && ((unsigned char)reason[n] & 0xC0) == 0x80)
            n--;
    }
    memcpy(p->finish_reason, reason, n);
    p->finish_reason[n] = '\0';
    if (r->finish_at == MONO_ABSENT)
        r->finish_at = r->at;
}

bool reader_is_error(const struct json *v)
{
    if (!v || v->type == JSON_NULL)
        return false;
    return !(v->type == JSON_STRING && v->len == 0) && !(v->type == JSON_BOOL && !v->boolean);
}

int64_t reader_count(const struct json *v)
{
    int64_t n = json_int(v, -1);

    return n >= 0 ? n : -1;
}

int64_t reader_ns(const struct json *v, double unit_ns)
{
    double ns = json_real(v, -1) * unit_ns;

    return ns >= 0 && ns < 0x1p62 ? llround(ns) : -1;
}
