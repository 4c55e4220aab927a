/*
 * /v1: server-sent events in the manners of five servers. Who sends null, "" or nothing, where
 * usage and timings sit, and what an error looks like, is what clients trip over, so each is
 * imitated.
 */
#include "answer.h"
#include "exchange.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

static enum dialect dialect_of(const struct exchange *x)
{
    return x->server->config.dialect;
}

/* id, object, created, model: llama.cpp puts them behind the choices, the others in front. */
static void add_names(const struct exchange *x, struct json_writer *w)
{
    static const char *const fingerprints[] = {"fp_fake", "b0-fake", NULL, NULL, "fp_ollama"};
    const char *fingerprint = fingerprints[dialect_of(x)];
    char text[64];

    snprintf(text, sizeof(text), "%s-%lld", x->api == API_CHAT ? "chatcmpl" : "cmpl",
             (long long)x->id);
    jw_text(w, "id", text);
    snprintf(text, sizeof(text), "chat.completion%s", x->stream ? ".chunk" : "");
    jw_text(w, "object", x->api == API_CHAT ? text : "text_completion");
    jw_int(w, "created", exchange_wall_s(x));
    jw_text(w, "model", x->model);
    if (fingerprint)
        jw_text(w, "system_fingerprint", fingerprint);
}

static void add_usage(const struct exchange *x, struct json_writer *w, int64_t tokens)
{
    enum dialect d = dialect_of(x);
    int64_t reasoning = tokens < x->n_reasoning ? tokens : x->n_reasoning;

    jw_begin_object(w, "usage");
    jw_int(w, "prompt_tokens", x->prompt_tokens);
    jw_int(w, "completion_tokens", tokens);
    jw_int(w, "total_tokens", x->prompt_tokens + tokens);
    if (d == DIALECT_OPENAI || d == DIALECT_LLAMACPP) {
        jw_begin_object(w, "prompt_tokens_details");
        jw_int(w, "cached_tokens", 0);
        jw_end_object(w);
    }
    if (d == DIALECT_OPENAI) {
        jw_begin_object(w, "completion_tokens_details");
        jw_int(w, "reasoning_tokens", reasoning);
        jw_end_object(w);
    }
    if (d == DIALECT_SGLANG) {
        jw_null(w, "prompt_tokens_details");
        jw_int(w, "reasoning_tokens", reasoning);
    }
    jw_end_object(w);
}

/* llama.cpp counts n - 1 intervals between n tokens. */
static void add_timings(const struct exchange *x, struct json_writer *w)
{
    double prompt_ms = exchange_prefill_ms(x), predicted_ms = exchange_decode_ms(x);
    double n = (double)x->n_tokens, p = (double)x->prompt_tokens;

    jw_begin_object(w, "timings");
    jw_int(w, "cache_n", 0);
    jw_int(w, "prompt_n", x->prompt_tokens);
    jw_real(w, "prompt_ms", prompt_ms);
    jw_real(w, "prompt_per_token_ms", prompt_ms / p);
    jw_real(w, "prompt_per_second", p / prompt_ms * 1e3);
    jw_int(w, "predicted_n", x->n_tokens);
    jw_real(w, "predicted_ms", predicted_ms);
    jw_real(w, "predicted_per_token_ms", predicted_ms / (n - 1));
    jw_real(w, "predicted_per_second", (n - 1) / predicted_ms * 1e3);
    jw_end_object(w);
}

static void add_metrics(const struct exchange *x, struct json_writer *w)
{
    double n = (double)x->n_tokens, decode_ms = exchange_decode_ms(x);

    jw_begin_object(w, "metrics");
    jw_real(w, "time_to_first_token_ms", exchange_prefill_ms(x));
    jw_real(w, "generation_time_ms", decode_ms);
    jw_real(w, "queue_time_ms", 0);
    jw_real(w, "mean_itl_ms", decode_ms / (n - 1));
    jw_real(w, "tokens_per_second", (n - 1) / decode_ms * 1e3);
    jw_null(w, "speculative_decoding");
    jw_end_object(w);
}

static struct json_writer begin_event(const struct exchange *x, struct buf *out)
{
    struct json_writer w;

    buf_adds(out, "data: ");
    w = json_writer(out, JSON_LINE);
    jw_begin_object(&w, NULL);
    if (dialect_of(x) != DIALECT_LLAMACPP)
        add_names(x, &w);
    jw_begin_array(&w, "choices");
    return w;
}

static void close_choices(const struct exchange *x, struct json_writer *w)
{
    jw_end_array(w);
    if (dialect_of(x) == DIALECT_LLAMACPP)
        add_names(x, w);
}

static void end_event(struct json_writer *w)
{
    jw_end_object(w);
    buf_adds(w->out, "\n\n");
}

/* What the dialects put on events other than the last about usage. tokens: sent so far. */
static void add_passing_usage(const struct exchange *x, struct json_writer *w, int64_t tokens)
{
    enum dialect d = dialect_of(x);
    bool continuous =
        x->continuous_usage && (d == DIALECT_SGLANG || (d == DIALECT_VLLM && x->include_usage));

    if (!exchange_tells_usage(x))
        return;
    if (continuous) {
        add_usage(x, w, tokens);
    } else if (d == DIALECT_OLLAMA && x->api == API_COMPLETION && x->include_usage) {
        jw_begin_object(w, "usage");
        jw_int(w, "prompt_tokens", 0);
        jw_int(w, "completion_tokens", 0);
        jw_int(w, "total_tokens", 0);
        jw_end_object(w);
    } else if (d == DIALECT_SGLANG || (d == DIALECT_OPENAI && x->include_usage)) {
        jw_null(w, "usage");
    }
}

static void add_finish(const struct exchange *x, struct json_writer *w, const char *finish)
{
    enum dialect d = dialect_of(x);

    if (d == DIALECT_OPENAI || d == DIALECT_VLLM || d == DIALECT_SGLANG)
        jw_null(w, "logprobs");
    jw_text(w, "finish_reason", finish);
    if (d == DIALECT_VLLM)
        jw_null(w, "stop_reason");
    if (d == DIALECT_SGLANG)
        jw_null(w, "matched_stop");
}

static const char *reasoning_key(const struct exchange *x)
{
    enum dialect d = dialect_of(x);

    return d == DIALECT_VLLM || d == DIALECT_OLLAMA ? "reasoning" : "reasoning_content";
}

/* The event that only names the role. */
static void add_role_event(const struct exchange *x, struct buf *out)
{
    enum dialect d = dialect_of(x);
    struct json_writer w = begin_event(x, out);

    jw_begin_object(&w, NULL);
    jw_int(&w, "index", 0);
    jw_begin_object(&w, "delta");
    if (d == DIALECT_SGLANG)
        jw_null(&w, "reasoning_content");
    jw_text(&w, "role", "assistant");
    jw_text(&w, "content", d == DIALECT_LLAMACPP ? NULL : "");
    jw_end_object(&w);
    add_finish(x, &w, NULL);
    jw_end_object(&w);
    close_choices(x, &w);
    add_passing_usage(x, &w, 0);
    end_event(&w);
}

static void add_delta_object(const struct exchange *x, struct json_writer *w, const struct piece *p)
{
    enum dialect d = dialect_of(x);

    jw_begin_object(w, "delta");
    if (d == DIALECT_OLLAMA && p->first)
        jw_text(w, "role", "assistant");
    if (p->reasoning) {
        if (d == DIALECT_OLLAMA)
            jw_text(w, "content", "");
        jw_textn(w, reasoning_key(x), p->text, p->len);
    } else {
        if (d == DIALECT_SGLANG)
            jw_null(w, "reasoning_content");
        jw_textn(w, "content", p->text, p->len);
    }
    jw_end_object(w);
}

static void add_delta(const struct exchange *x, const struct piece *p, struct buf *out)
{
    bool rides = dialect_of(x) == DIALECT_VLLM && p->last; /* the finish, with the last text */
    struct json_writer w;

    if (p->first && x->api == API_CHAT && dialect_of(x) != DIALECT_OLLAMA)
        add_role_event(x, out);
    w = begin_event(x, out);
    jw_begin_object(&w, NULL);
    jw_int(&w, "index", 0);
    if (x->api == API_CHAT)
        add_delta_object(x, &w, p);
    else
        jw_textn(&w, "text", p->text, p->len);
    add_finish(x, &w, rides ? x->finish : NULL);
    jw_end_object(&w);
    close_choices(x, &w);
    add_passing_usage(x, &w, p->tokens);
    end_event(&w);
}

static void add_finish_event(const struct exchange *x, struct buf *out)
{
    bool llamacpp = dialect_of(x) == DIALECT_LLAMACPP;
    bool here = llamacpp && x->api == API_COMPLETION; /* usage rides on the finish */
    struct json_writer w = begin_event(x, out);

    jw_begin_object(&w, NULL);
    jw_int(&w, "index", 0);
    if (x->api == API_CHAT) {
        jw_begin_object(&w, "delta");
        if (dialect_of(x) == DIALECT_SGLANG)
            jw_null(&w, "reasoning_content");
        jw_end_object(&w);
    } else {
        jw_text(&w, "text", "");
    }
    add_finish(x, &w, x->finish);
    jw_end_object(&w);
    close_choices(x, &w);
    if (here && exchange_tells_usage(x))
        add_usage(x, &w, x->n_tokens);
    if (llamacpp && (here || !x->include_usage) && exchange_tells_usage(x))
        add_timings(x, &w);
    add_passing_usage(x, &w, x->n_tokens);
    end_event(&w);
}

static void add_usage_event(const struct exchange *x, struct buf *out)
{
    struct json_writer w = begin_event(x, out);

    close_choices(x, &w);
    add_usage(x, &w, x->n_tokens);
    if (dialect_of(x) == DIALECT_LLAMACPP)
        add_timings(x, &w);
    if (dialect_of(x) == DIALECT_VLLM)
        add_metrics(x, &w);
    end_event(&w);
}

static void finish(const struct exchange *x, struct buf *out)
{
    enum dialect d = dialect_of(x);
    bool on_finish = d == DIALECT_LLAMACPP && x->api == API_COMPLETION;

    /* vLLM's finish went with the last text, if there was any */
    if (d != DIALECT_VLLM || x->n_tokens == 0) {
        if (d != DIALECT_OLLAMA && x->api == API_CHAT && x->n_tokens == 0)
            add_role_event(x, out);
        add_finish_event(x, out);
    }
    if (x->include_usage && !on_finish && exchange_tells_usage(x))
        add_usage_event(x, out);
    buf_adds(out, "data: [DONE]\n\n");
}

/* Ollama swallows the error: an empty chunk without a model, and the end. */
static void add_swallowed(const struct exchange *x, struct buf *out)
{
    static const char *const shapes[] = {"\"delta\":{\"role\":\"assistant\",\"content\":\"\"}",
                                         "\"text\":\"\""};

    buf_addf(out,
             "data: {\"id\":\"chatcmpl-%lld\",\"object\":\"%s\",\"created\":%lld,\"model\":\"\","
             "\"system_fingerprint\":\"fp_ollama\",\"choices\":[{\"index\":0,%s,"
             "\"finish_reason\":null}]}\n\n",
             (long long)x->id, x->api == API_CHAT ? "chat.completion.chunk" : "text_completion",
             (long long)exchange_wall_s(x), shapes[x->api != API_CHAT]);
}

static void add_error(const struct exchange *x, const char *message, struct buf *out)
{
    enum dialect d = dialect_of(x);
    struct json_writer w;

    if (d == DIALECT_OLLAMA) {
        add_swallowed(x, out);
        return;
    }
    buf_adds(out, "data: ");
    w = json_writer(out, JSON_LINE);
    jw_begin_object(&w, NULL);
    jw_begin_object(&w, "error");
    if (d == DIALECT_SGLANG)
        jw_text(&w, "object", "error");
    if (d == DIALECT_LLAMACPP)
        jw_int(&w, "code", 500);
    jw_text(&w, "message", message);
    jw_text(&w, "type", d == DIALECT_VLLM ? "InternalServerError" : "server_error");
    if (d != DIALECT_LLAMACPP)
        jw_null(&w, "param");
    if (d == DIALECT_OPENAI)
        jw_null(&w, "code");
    else if (d != DIALECT_LLAMACPP)
        jw_int(&w, "code", 500);
    jw_end_object(&w);
    end_event(&w);
    if (d == DIALECT_VLLM || d == DIALECT_SGLANG)
        buf_adds(out, "data: [DONE]\n\n");
}

static void add_whole(const struct exchange *x, struct buf *out)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN), reasoning = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(out, JSON_LINE);

    exchange_add_text(x, false, &text);
    exchange_add_text(x, true, &reasoning);
    jw_begin_object(&w, NULL);
    add_names(x, &w);
    jw_begin_array(&w, "choices");
    jw_begin_object(&w, NULL);
    jw_int(&w, "index", 0);
    if (x->api == API_CHAT) {
        jw_begin_object(&w, "message");
        jw_text(&w, "role", "assistant");
        jw_text(&w, "content", buf_str(&text));
        if (x->n_reasoning)
            jw_text(&w, reasoning_key(x), buf_str(&reasoning));
        jw_end_object(&w);
    } else {
        jw_text(&w, "text", buf_str(&text));
    }
    add_finish(x, &w, x->finish);
    jw_end_object(&w);
    jw_end_array(&w);
    if (exchange_tells_usage(x)) {
        add_usage(x, &w, x->n_tokens);
        if (dialect_of(x) == DIALECT_LLAMACPP)
            add_timings(x, &w);
    }
    jw_end_object(&w);
}

const struct protocol openai_protocol = {
    .stream_type = "text/event-stream",
    .whole_type = "application/json",
    .delta = add_delta,
    .finish = finish,
    .error = add_error,
    .whole = add_whole,
};

void openai_begin(struct exchange *x, const struct json *body)
{
    const struct json *prompt = json_get(body, x->api == API_CHAT ? "messages" : "prompt");
    const struct json *options = json_get(body, "stream_options");
    int64_t max_tokens = json_int(json_get(body, "max_tokens"), -1);
    const char *model = json_text(json_get(body, "model"), x->server->config.models[0]);
    char words[256];

    if (!exchange_knows_model(x, model)) {
        snprintf(words, sizeof(words), "The model `%.100s` does not exist.", model);
        exchange_error(x, 404, "invalid_request_error", words);
        return;
    }
    snprintf(x->model, sizeof(x->model), "%s",
             x->server->config.dialect == DIALECT_LLAMACPP ? x->server->config.models[0] : model);
    max_tokens = json_int(json_get(body, "max_completion_tokens"), max_tokens);
    max_tokens = json_int(json_get(body, "n_predict"), max_tokens);
    x->stream = json_bool(json_get(body, "stream"), false);
    x->stream_options = json_is(options, JSON_OBJECT);
    x->include_usage = json_bool(json_get(options, "include_usage"), false);
    x->continuous_usage = json_bool(json_get(options, "continuous_usage_stats"), false);
    x->protocol = &openai_protocol;
    exchange_generate(x, body, prompt, max_tokens, json_bool(json_get(body, "ignore_eos"), false));
}

static void add_model(const struct exchange *x, struct json_writer *w, const char *name)
{
    static const char *const owners[] = {"fake", "llamacpp", "vllm", "sglang", "library"};
    enum dialect d = dialect_of(x);

    jw_begin_object(w, NULL);
    jw_text(w, "id", name);
    jw_text(w, "object", "model");
    jw_int(w, "created", exchange_wall_s(x));
    jw_text(w, "owned_by", owners[d]);
    if (d == DIALECT_VLLM || d == DIALECT_SGLANG)
        jw_int(w, "max_model_len", 4096);
    if (d == DIALECT_LLAMACPP) {
        jw_begin_object(w, "meta");
        jw_int(w, "n_vocab", 512);
        jw_int(w, "n_ctx", 4096);
        jw_int(w, "n_ctx_train", 4096);
        jw_int(w, "n_embd", 64);
        jw_int(w, "n_params", 292800);
        jw_int(w, "size", 1171200);
        jw_text(w, "ftype", "all F32");
        jw_end_object(w);
    }
    jw_end_object(w);
}

void openai_models(struct exchange *x)
{
    const struct config *c = &x->server->config;
    struct json_writer w = json_writer(&x->body, JSON_LINE);
    char tagged[160];

    jw_begin_object(&w, NULL);
    if (c->dialect == DIALECT_LLAMACPP) {
        jw_begin_array(&w, "models");
        jw_begin_object(&w, NULL);
        jw_text(&w, "name", c->models[0]);
        jw_text(&w, "model", c->models[0]);
        jw_end_object(&w);
        jw_end_array(&w);
    }
    jw_text(&w, "object", "list");
    jw_begin_array(&w, "data");
    for (size_t i = 0; i < c->n_models; i++) {
        bool tag = c->dialect == DIALECT_OLLAMA && !strchr(c->models[i], ':');

        snprintf(tagged, sizeof(tagged), "%s%s", c->models[i], tag ? ":latest" : "");
        add_model(x, &w, tagged);
    }
    jw_end_array(&w);
    jw_end_object(&w);
    exchange_plain(x, 200, "application/json");
}
