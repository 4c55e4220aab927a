/*
 * /api: one JSON object per line, as Ollama writes it. SGLang has these routes too, but its last
 * line tells no counters and always says "stop".
 */
#include "exchange.h"

#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CONTEXT_MAX = 100000, LOAD_NS = 1000000 };

/* As Go prints it: nanoseconds, without zeros at the end. */
static void add_created_at(const struct exchange *x, struct json_writer *w)
{
    int64_t wall_ns = x->server->anchor.wall_ns + (mono_now() - x->server->anchor.mono);
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    char text[64];
    struct tm tm;
    size_t n;

    gmtime_r(&seconds, &tm);
    n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    n += (size_t)snprintf(text + n, sizeof(text) - n, ".%09lld", (long long)(wall_ns % NS_PER_S));
    while (text[n - 1] == '0')
        n--;
    n -= text[n - 1] == '.';
    snprintf(text + n, sizeof(text) - n, "Z");
    jw_text(w, "created_at", text);
}

static struct json_writer begin_line(const struct exchange *x, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    jw_begin_object(&w, NULL);
    jw_text(&w, "model", x->model);
    add_created_at(x, &w);
    return w;
}

static void end_line(struct json_writer *w)
{
    jw_end_object(w);
    buf_addc(w->out, '\n');
}

static void add_text(const struct exchange *x, struct json_writer *w, const struct piece *answer,
                     const struct piece *thinking)
{
    bool chat = x->api == API_OLLAMA_CHAT;

    if (chat) {
        jw_begin_object(w, "message");
        jw_text(w, "role", "assistant");
    }
    jw_textn(w, chat ? "content" : "response", answer->text, answer->len);
    if (thinking->len)
        jw_textn(w, "thinking", thinking->text, thinking->len);
    if (chat)
        jw_end_object(w);
}

static void add_delta(const struct exchange *x, const struct piece *p, struct buf *out)
{
    static const struct piece none = {.text = ""};
    struct json_writer w = begin_line(x, out);

    add_text(x, &w, p->reasoning ? &none : p, p->reasoning ? p : &none);
    jw_bool(&w, "done", false);
    end_line(&w);
}

/* The tokens of prompt and answer; the numbers mean nothing, their count does. */
static void add_context(const struct exchange *x, struct json_writer *w)
{
    int64_t n = x->prompt_tokens + x->n_tokens;

    jw_begin_array(w, "context");
    for (int64_t i = 0; i < n && i < CONTEXT_MAX; i++)
        jw_int(w, NULL, 259 + i % 97);
    jw_end_array(w);
}

static void add_done(const struct exchange *x, struct json_writer *w)
{
    int64_t prefill_ns = (int64_t)(exchange_prefill_ms(x) * 1e6);
    int64_t decode_ns = (int64_t)(exchange_decode_ms(x) * 1e6);
    bool sglang = x->server->config.dialect == DIALECT_SGLANG;

    jw_bool(w, "done", true);
    jw_text(w, "done_reason", sglang ? "stop" : x->finish);
    if (sglang)
        return;
    if (x->api == API_OLLAMA_GENERATE)
        add_context(x, w);
    if (!exchange_tells_usage(x))
        return;
    jw_int(w, "total_duration", LOAD_NS + prefill_ns + decode_ns);
    jw_int(w, "load_duration", LOAD_NS);
    jw_int(w, "prompt_eval_count", x->prompt_tokens);
    jw_int(w, "prompt_eval_duration", prefill_ns);
    /* zero is left out, as Go's omitempty does */
    if (x->n_tokens)
        jw_int(w, "eval_count", x->n_tokens);
    if (decode_ns)
        jw_int(w, "eval_duration", decode_ns);
}

static void add_finish(const struct exchange *x, struct buf *out)
{
    static const struct piece none = {.text = ""};
    struct json_writer w = begin_line(x, out);

    add_text(x, &w, &none, &none);
    add_done(x, &w);
    end_line(&w);
}

static void add_error(const struct exchange *x, const char *message, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    (void)x;
    jw_begin_object(&w, NULL);
    jw_text(&w, "error", message);
    end_line(&w);
}

static void add_whole(const struct exchange *x, struct buf *out)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN), reasoning = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = begin_line(x, out);
    struct piece answer, thinking;

    exchange_add_text(x, false, &text);
    exchange_add_text(x, true, &reasoning);
    answer = (struct piece){.text = buf_str(&text), .len = text.len};
    thinking = (struct piece){.text = buf_str(&reasoning), .len = reasoning.len};
    add_text(x, &w, &answer, &thinking);
    add_done(x, &w);
    jw_end_object(&w);
}

const struct protocol ollama_protocol = {
    .stream_type = "application/x-ndjson",
    .whole_type = "application/json; charset=utf-8",
    .delta = add_delta,
    .finish = add_finish,
    .error = add_error,
    .whole = add_whole,
};

/* No prompt: the model is only to be loaded, or unloaded. */
static void answer_load(struct exchange *x, const struct json *body)
{
    bool unload = json_int(json_get(body, "keep_alive"), 1) == 0;
    static const struct piece none = {.text = ""};
    struct json_writer w = begin_line(x, &x->body);

    add_text(x, &w, &none, &none);
    jw_bool(&w, "done", true);
    jw_text(&w, "done_reason", unload ? "unload" : "load");
    jw_end_object(&w);
    exchange_plain(x, 200, ollama_protocol.whole_type);
}

static bool is_empty(const struct json *prompt)
{
    return !prompt ||
           (prompt->len == 0 && (json_is(prompt, JSON_STRING) || json_is(prompt, JSON_ARRAY)));
}

void ollama_begin(struct exchange *x, const struct json *body)
{
    const struct json *prompt = json_get(body, x->api == API_OLLAMA_CHAT ? "messages" : "prompt");
    const char *model = json_text(json_get(body, "model"), NULL);
    char words[256];

    if (!model) {
        exchange_error(x, 400, "", "model is required");
        return;
    }
    if (!exchange_knows_model(x, model)) {
        snprintf(words, sizeof(words), "model '%.100s' not found", model);
        exchange_error(x, 404, "", words);
        return;
    }
    snprintf(x->model, sizeof(x->model), "%s", model);
    if (json_bool(json_get(body, "think"), false) && !x->server->config.reasoning_tokens) {
        snprintf(words, sizeof(words), "\"%.100s\" does not support thinking", model);
        exchange_error(x, 400, "", words);
        return;
    }
    if (is_empty(prompt)) {
        answer_load(x, body);
        return;
    }
    x->stream = json_bool(json_get(body, "stream"), true);
    x->protocol = &ollama_protocol;
    exchange_generate(x, body, prompt,
                      json_int(json_get(json_get(body, "options"), "num_predict"), -1), false);
}

static void add_details(struct json_writer *w)
{
    jw_begin_object(w, "details");
    jw_text(w, "parent_model", "");
    jw_text(w, "format", "gguf");
    jw_text(w, "family", "llama");
    jw_begin_array(w, "families");
    jw_text(w, NULL, "llama");
    jw_end_array(w);
    jw_text(w, "parameter_size", "293K");
    jw_text(w, "quantization_level", "F16");
    jw_int(w, "context_length", 4096);
    jw_int(w, "embedding_length", 64);
    jw_end_object(w);
}

void ollama_tags(struct exchange *x, bool running)
{
    const struct config *c = &x->server->config;
    struct json_writer w = json_writer(&x->body, JSON_LINE);
    char name[160];

    jw_begin_object(&w, NULL);
    jw_begin_array(&w, "models");
    for (size_t i = 0; i < c->n_models; i++) {
        snprintf(name, sizeof(name), "%s%s", c->models[i],
                 strchr(c->models[i], ':') ? "" : ":latest");
        jw_begin_object(&w, NULL);
        jw_text(&w, "name", name);
        jw_text(&w, "model", name);
        if (!running)
            jw_text(&w, "modified_at", "2026-01-01T00:00:00.5Z");
        jw_int(&w, "size", 1186009);
        jw_text(&w, "digest", "106e2357f723b74368192eaaff181b1dab82bf245a686423acca68f75ab367e8");
        add_details(&w);
        if (running) {
            jw_text(&w, "expires_at", "2318-01-01T00:00:00Z");
            jw_int(&w, "size_vram", 0);
            jw_int(&w, "context_length", 4096);
        }
        jw_end_object(&w);
    }
    jw_end_array(&w);
    jw_end_object(&w);
    exchange_plain(x, 200, "application/json; charset=utf-8");
}
