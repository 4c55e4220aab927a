/*
 * The steps of an answer: head, pieces, end, each with the moment it is due. Moments are computed
 * from the time the request came in, never from the last write, so delays do not add up.
 */
#include "answer.h"
#include "exchange.h"
#include "replay.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SENT_MAX = 1 << 20, FILL_PIECE = 64 << 10 };

void exchange_free(struct exchange *x)
{
    if (!x)
        return;
    free(x->given);
    power_stop(x->server->power, &x->work, mono_now());
    buf_release(&x->params);
    buf_release(&x->body);
    buf_release(&x->text);
    free(x->sent);
    free(x);
}

static mono_ns later(mono_ns t, double ns)
{
    return ns < (double)(MONO_NEVER - t) * 0.5 ? t + (int64_t)ns : MONO_NEVER;
}

static bool strikes(const struct exchange *x, enum fault_kind kind, int64_t token)
{
    return x->fault.kind == kind && token >= x->fault.at;
}

mono_ns exchange_token_due(const struct exchange *x, int64_t i)
{
    const struct config *c = &x->server->config;
    double ns = (double)c->ttft_ns + (double)i * (double)c->itl_ns;

    if (x->fault.kind == FAULT_SLOW_HEADERS || strikes(x, FAULT_STALL, i))
        ns += (double)x->fault.arg;
    if (c->prefill_per_s > 0)
        ns += (double)x->prompt_tokens / c->prefill_per_s * 1e9;
    if (c->jitter_ns > 0)
        ns += (double)(answer_mix(x->key ^ (uint64_t)x->id, (uint64_t)i) >> 11) * 0x1p-53 *
              (double)c->jitter_ns;
    return later(x->received, ns);
}

double exchange_prefill_ms(const struct exchange *x)
{
    return (double)(exchange_token_due(x, 0) - x->received) / 1e6;
}

double exchange_decode_ms(const struct exchange *x)
{
    mono_ns first = exchange_token_due(x, 0);
    mono_ns last = x->n_tokens > 1 ? exchange_token_due(x, x->n_tokens - 1) : first;

    return last > first ? (double)(last - first) / 1e6 : 0;
}

int64_t exchange_wall_s(const struct exchange *x)
{
    const struct clock_anchor *a = &x->server->anchor;

    return (a->wall_ns + (x->received - a->mono)) / NS_PER_S;
}

bool exchange_tells_usage(const struct exchange *x)
{
    return x->fault.kind != FAULT_NO_USAGE;
}

/* The tokens [from, to), none of them on the other side of the reasoning's end. */
static void add_tokens(const struct exchange *x, int64_t from, int64_t to, struct buf *out)
{
    int64_t shift = from < x->n_reasoning ? ANSWER_REASONING : -x->n_reasoning;

    if (x->given && from >= x->n_reasoning)
        answer_add_words(out, x->given, from + shift, to + shift);
    else
        answer_add(out, x->key, from + shift, to + shift);
}

void exchange_add_text(const struct exchange *x, bool reasoning, struct buf *out)
{
    if (reasoning)
        add_tokens(x, 0, x->n_reasoning, out);
    else
        add_tokens(x, x->n_reasoning, x->n_tokens, out);
}

static const char *status_words(int status)
{
    static const struct {
        int status;
        const char *words;
    } table[] = {{200, "OK"},
                 {307, "Temporary Redirect"},
                 {400, "Bad Request"},
                 {401, "Unauthorized"},
                 {403, "Forbidden"},
                 {404, "Not Found"},
                 {405, "Method Not Allowed"},
                 {429, "Too Many Requests"},
                 {500, "Internal Server Error"},
                 {502, "Bad Gateway"},
                 {503, "Service Unavailable"},
                 {504, "Gateway Timeout"}};

    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (table[i].status == status)
            return table[i].words;
    return "Status";
}

/* length < 0: not known before the end. HTTP/1.0 then has only the close to tell it. */
static void add_head(struct exchange *x, struct buf *out, int64_t length)
{
    static const char *const servers[] = {"",
                                          "Server: llama.cpp\r\nAccess-Control-Allow-Origin: \r\n",
                                          "server: uvicorn\r\n", "server: uvicorn\r\n", ""};

    buf_addf(out, "HTTP/1.1 %d %s\r\n%sContent-Type: %s\r\n%s", x->status, status_words(x->status),
             servers[x->server->config.dialect], x->content_type, x->header);
    if (length >= 0)
        buf_addf(out, "Content-Length: %" PRId64 "\r\n", length);
    else if (!x->request.http10)
        buf_adds(out, "Transfer-Encoding: chunked\r\n");
    if (x->ending == ENDING_CLOSE)
        buf_adds(out, "Connection: close\r\n");
    buf_adds(out, "\r\n");
    x->head_sent = true;
}

static unsigned add_head_once(struct exchange *x, struct buf *out)
{
    if (x->head_sent)
        return 0;
    add_head(x, out, -1);
    return SENDS_HEAD;
}

/* One HTTP chunk. */
static void add_chunk(const struct exchange *x, struct buf *out, const char *data, size_t n)
{
    if (x->request.http10) {
        buf_add(out, data, n);
        return;
    }
    buf_addf(out, "%zx\r\n", n);
    buf_add(out, data, n);
    buf_adds(out, "\r\n");
}

/* The current event as one chunk, or as many as there are characters to split. */
static void add_event(const struct exchange *x, struct buf *out)
{
    size_t from = 0;

    for (size_t i = 1; x->fault.kind == FAULT_SPLIT_UTF8 && i < x->body.len; i++) {
        bool inside = ((unsigned char)x->body.data[i] & 0xC0) == 0x80 &&
                      ((unsigned char)x->body.data[i - 1] & 0xC0) == 0xC0;

        if (inside) {
            add_chunk(x, out, x->body.data + from, i - from);
            from = i;
        }
    }
    add_chunk(x, out, x->body.data + from, x->body.len - from);
}

static unsigned finish_stream(struct exchange *x, struct buf *out)
{
    unsigned sends = add_head_once(x, out);

    if (x->body.len)
        add_event(x, out);
    if (!x->request.http10)
        buf_adds(out, "0\r\n\r\n");
    x->stage = STAGE_DONE;
    return sends;
}

/* Where the piece that begins with token `from` ends: pieces do not mix reasoning with the answer,
 * and a fault finds its token at the beginning of one. */
static int64_t piece_end(const struct exchange *x, int64_t from)
{
    int64_t end = from < x->n_reasoning ? x->n_reasoning : x->n_tokens;
    int64_t chunk = x->server->config.chunk_tokens;

    if (x->fault.kind != FAULT_NONE && from < x->fault.at && x->fault.at < end)
        end = x->fault.at;
    return end - from > chunk ? from + chunk : end;
}

/* The next tokens are being made until x->due. */
static void plan_work(struct exchange *x, int64_t tokens)
{
    struct power *p = x->server->power;

    if (!p)
        return;
    if (x->next == 0)
        power_work(p, &x->work, x->received, x->due, power_cost(p, x->prompt_tokens, tokens));
    else
        power_work(p, &x->work, mono_now(), x->due, power_cost(p, 0, tokens));
}

static void plan_piece(struct exchange *x)
{
    mono_ns due;

    if (x->next >= x->n_tokens && x->n_tokens > 0) {
        x->stage = STAGE_END;
        return;
    }
    due = exchange_token_due(x, x->n_tokens ? piece_end(x, x->next) - 1 : 0);
    if (due > x->due)
        x->due = due;
    plan_work(x, piece_end(x, x->next) - x->next);
}

/* Until the JSON is written, a private character stands for the bytes that will be no UTF-8, and a
 * word for the line that will not end. */
#define BAD_PLACE  "\xEE\x80\x80"
#define FILL_PLACE "@@fill@@"

static void add_piece_text(struct exchange *x, int64_t to)
{
    bool here = x->next == x->fault.at;

    buf_clear(&x->text);
    add_tokens(x, x->next, to, &x->text);
    if (here && x->fault.kind == FAULT_BAD_UTF8)
        buf_adds(&x->text, BAD_PLACE);
    if (here && x->fault.kind == FAULT_LONG_LINE)
        buf_adds(&x->text, FILL_PLACE);
    if (here && x->fault.kind == FAULT_HUGE_TOKEN &&
        buf_reserve(&x->text, (size_t)x->fault.arg) == 0) {
        memset(x->text.data + x->text.len, 'x', (size_t)x->fault.arg);
        x->text.len += (size_t)x->fault.arg;
        x->text.data[x->text.len] = '\0';
    }
}

static unsigned send_piece(struct exchange *x, struct buf *out)
{
    int64_t to = piece_end(x, x->next);
    unsigned sends = add_head_once(x, out);
    struct piece p = {.tokens = to,
                      .reasoning = x->next < x->n_reasoning,
                      .first = x->next == 0,
                      .last = to == x->n_tokens};
    char *place;

    add_piece_text(x, to);
    p.text = buf_str(&x->text);
    p.len = x->text.len;
    buf_clear(&x->body);
    x->protocol->delta(x, &p, &x->body);
    place = memmem(x->body.data, x->body.len, BAD_PLACE, 3);
    if (place)
        memcpy(place, "\xFF\xC0\x80", 3);
    place = memmem(x->body.data, x->body.len, FILL_PLACE, strlen(FILL_PLACE));
    if (place) {
        x->body.len = (size_t)(place - x->body.data);
        x->stage = STAGE_FILL;
        x->fill_left = x->fault.arg;
    }
    add_event(x, out);
    x->next = to;
    if (x->stage == STAGE_TOKENS)
        plan_piece(x);
    return sends | SENDS_CONTENT;
}

/* A stream that does not come to its end: true when it broke off here. */
static bool break_off(struct exchange *x, struct buf *out, unsigned *ret_sends)
{
    buf_clear(&x->body);
    if (strikes(x, FAULT_RESET, x->next)) {
        x->ending = ENDING_RESET;
    } else if (strikes(x, FAULT_CUT, x->next)) {
        x->ending = ENDING_CLOSE;
    } else if (strikes(x, FAULT_ERROR, x->next)) {
        x->protocol->error(x, "an error was encountered while running the model: unexpected EOF",
                           &x->body);
        *ret_sends = finish_stream(x, out);
    } else if (strikes(x, FAULT_SILENT_END, x->next)) {
        *ret_sends = finish_stream(x, out);
    } else {
        return false;
    }
    x->outcome = fault_name(x->fault.kind);
    x->stage = STAGE_DONE;
    return true;
}

/* An answer that is not streamed comes when its last token would. Of the faults inside a stream,
 * reset and cut strike in the middle of its body; an error was answered before. */
static unsigned step_whole(struct exchange *x, struct buf *out)
{
    enum fault_kind fault = x->fault.kind;
    size_t n;

    x->stage = STAGE_DONE;
    x->next = x->n_tokens;
    buf_clear(&x->body);
    x->content_type = x->content_type ? x->content_type : x->protocol->whole_type;
    x->protocol->whole(x, &x->body);
    n = x->body.len;
    add_head(x, out, (int64_t)n);
    if (fault == FAULT_RESET || fault == FAULT_CUT) {
        n /= 2;
        x->ending = fault == FAULT_RESET ? ENDING_RESET : ENDING_CLOSE;
        x->outcome = fault_name(fault);
    }
    buf_add(out, x->body.data, n);
    return SENDS_HEAD | SENDS_CONTENT;
}

static unsigned step_tokens(struct exchange *x, struct buf *out)
{
    unsigned sends = 0;

    if (break_off(x, out, &sends))
        return sends;
    if (x->next >= x->n_tokens) {
        x->stage = STAGE_END;
        return 0;
    }
    return send_piece(x, out);
}

static unsigned step_end(struct exchange *x, struct buf *out)
{
    unsigned sends = 0;

    /* a fault whose token lies behind the last strikes here */
    if (break_off(x, out, &sends))
        return sends;
    buf_clear(&x->body);
    x->protocol->finish(x, &x->body);
    return finish_stream(x, out);
}

static unsigned step_fill(struct exchange *x, struct buf *out)
{
    size_t n = x->fill_left < FILL_PIECE ? (size_t)x->fill_left : FILL_PIECE;

    if (n == 0) {
        x->ending = ENDING_CLOSE;
        x->outcome = fault_name(x->fault.kind);
        x->stage = STAGE_DONE;
        return 0;
    }
    buf_clear(&x->body);
    buf_reserve(&x->body, n);
    memset(x->body.data, 'a', n);
    add_chunk(x, out, x->body.data, n);
    x->fill_left -= (int64_t)n;
    return 0;
}

static unsigned step_plain(struct exchange *x, struct buf *out)
{
    x->stage = STAGE_DONE;
    if (x->ending == ENDING_REFUSE || x->status == 0)
        return 0;
    add_head(x, out, (int64_t)x->body.len);
    if (strcmp(x->request.method, "HEAD") != 0)
        buf_add(out, buf_str(&x->body), x->body.len);
    return SENDS_HEAD;
}

static unsigned step_head(struct exchange *x, struct buf *out)
{
    enum dialect d = x->server->config.dialect;
    bool early = x->protocol == &openai_protocol && d != DIALECT_SGLANG && d != DIALECT_OLLAMA;

    x->stage = STAGE_TOKENS;
    if (!x->stream) {
        x->due = exchange_token_due(x, x->n_tokens ? x->n_tokens - 1 : 0);
        plan_work(x, x->n_tokens);
        return 0;
    }
    if (!x->content_type)
        x->content_type = x->protocol->stream_type;
    plan_piece(x);
    return early ? add_head_once(x, out) : 0;
}

static unsigned step_replay(struct exchange *x, struct buf *out)
{
    const struct replay_sample *s = x->sample;
    const struct replay_piece *p = &s->pieces[x->piece++];

    buf_add(out, s->raw.data + p->offset, p->len);
    if (x->piece < s->n_pieces)
        x->due = later(x->received, replay_delay_ns(x->server, &s->pieces[x->piece]));
    else
        x->stage = STAGE_DONE;
    return (x->piece == 1 ? SENDS_HEAD : 0) | SENDS_CONTENT;
}

unsigned exchange_step(struct exchange *x, struct buf *out)
{
    switch (x->stage) {
    case STAGE_PLAIN:
        return step_plain(x, out);
    case STAGE_HEAD:
        return step_head(x, out);
    case STAGE_TOKENS:
        return x->stream ? step_tokens(x, out) : step_whole(x, out);
    case STAGE_END:
        return step_end(x, out);
    case STAGE_FILL:
        return step_fill(x, out);
    case STAGE_REPLAY:
        return step_replay(x, out);
    case STAGE_DONE:
        break;
    }
    return 0;
}

void exchange_sent(struct exchange *x, unsigned sends, mono_ns t)
{
    if (sends & SENDS_HEAD)
        x->head_at = t;
    if (sends & SENDS_CONTENT && x->n_sent < SENT_MAX) {
        GROW(x->sent, x->n_sent, x->cap_sent);
        x->sent[x->n_sent++] = t;
    }
    x->end_at = t;
}
