/*
 * What a request gets: the route, the fault that strikes it, and the numbers of the answer. After
 * exchange_begin nothing is decided any more, only played.
 */
#include "answer.h"
#include "exchange.h"
#include "replay.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIALECT_BIT(d) (1u << DIALECT_##d)
#define EVERYONE       0x1Fu
#define WITH_OLLAMA    (DIALECT_BIT(OPENAI) | DIALECT_BIT(OLLAMA) | DIALECT_BIT(SGLANG))

enum { TOKENS_MAX = 10 * 1000 * 1000 };

void exchange_plain(struct exchange *x, int status, const char *content_type)
{
    x->stage = STAGE_PLAIN;
    x->status = status;
    x->content_type = content_type;
}

static bool is_ollama_path(const struct exchange *x)
{
    return strncmp(x->request.path, "/api/", 5) == 0;
}

static void add_error_members(struct json_writer *w, enum dialect d, int status, const char *type,
                              const char *message)
{
    if (d == DIALECT_SGLANG)
        jw_text(w, "object", "error");
    if (d == DIALECT_LLAMACPP)
        jw_int(w, "code", status);
    jw_text(w, "message", message);
    jw_text(w, "type", type);
    if (d == DIALECT_LLAMACPP)
        return;
    jw_null(w, "param");
    if (d == DIALECT_VLLM || d == DIALECT_SGLANG)
        jw_int(w, "code", status);
    else
        jw_null(w, "code");
}

void exchange_error(struct exchange *x, int status, const char *type, const char *message)
{
    enum dialect d = x->server->config.dialect;
    struct json_writer w = json_writer(&x->body, JSON_LINE);

    buf_clear(&x->body);
    jw_begin_object(&w, NULL);
    if (is_ollama_path(x)) {
        jw_text(&w, "error", message);
    } else if (d == DIALECT_SGLANG) {
        add_error_members(&w, d, status, type, message);
    } else {
        jw_begin_object(&w, "error");
        add_error_members(&w, d, status, type, message);
        jw_end_object(&w);
    }
    jw_end_object(&w);
    exchange_plain(x, status, "application/json; charset=utf-8");
}

static void text_answer(struct exchange *x, int status, const char *type, const char *text)
{
    buf_clear(&x->body);
    buf_adds(&x->body, text);
    exchange_plain(x, status, type);
}

bool exchange_knows_model(const struct exchange *x, const char *model)
{
    const struct config *c = &x->server->config;
    size_t n = strlen(model);
    bool tagged = n > 7 && strcmp(model + n - 7, ":latest") == 0;

    if (c->dialect == DIALECT_LLAMACPP)
        return true;
    for (size_t i = 0; i < c->n_models; i++) {
        if (strcmp(c->models[i], model) == 0)
            return true;
        if (tagged && strlen(c->models[i]) == n - 7 && memcmp(c->models[i], model, n - 7) == 0)
            return true;
    }
    return false;
}

/* A message's content is a text, or parts of which some are text. */
static void add_content(struct buf *out, const struct json *content)
{
    if (content && json_is(content, JSON_STRING))
        buf_add(out, content->text, content->len);
    JSON_FOREACH (part, json_is(content, JSON_ARRAY) ? content : NULL) {
        const struct json *text = json_get(part, "text");

        if (json_is(text, JSON_STRING))
            buf_add(out, text->text, text->len);
    }
}

/* False when there is none. */
static bool add_prompt(struct buf *out, const struct json *prompt)
{
    const struct json *last = NULL;

    if (json_is(prompt, JSON_STRING)) {
        add_content(out, prompt);
        return true;
    }
    if (!json_is(prompt, JSON_ARRAY))
        return false;
    JSON_FOREACH (message, prompt) {
        last = message;
    }
    if (!last)
        return false;
    add_content(out, json_is(last, JSON_STRING) ? last : json_get(last, "content"));
    return true;
}

/* [[fault:SPEC]] in the prompt. False: it is malformed, and the answer says so. */
static bool find_marker(struct exchange *x, const char *prompt)
{
    static const char mark[] = "[[fault:";
    const char *start = strstr(prompt, mark), *end = start ? strstr(start, "]]") : NULL;
    AUTO_FREE char *spec = NULL;
    struct err err = {0};

    if (!end)
        return true;
    start += strlen(mark);
    spec = xstrndup(start, (size_t)(end - start));
    if (fault_parse(spec, &x->fault, &err) == 0)
        return true;
    exchange_error(x, 400, "invalid_request_error", err.text);
    return false;
}

/* [[answer:TEXT]] in the prompt, else --answer. */
static void find_answer(struct exchange *x, const char *prompt)
{
    static const char mark[] = "[[answer:";
    const char *start = strstr(prompt, mark), *end = start ? strstr(start, "]]") : NULL;
    const char *answer = x->server->config.answer;

    if (end)
        x->given = xstrndup(start + strlen(mark), (size_t)(end - start) - strlen(mark));
    else if (answer)
        x->given = xstrdup(answer);
}

/* [[tokens:N]] in the prompt: as long is the answer. */
static int64_t natural_tokens(const struct config *c, const char *prompt)
{
    static const char mark[] = "[[tokens:";
    const char *start = strstr(prompt, mark);
    int64_t n = start ? strtoll(start + strlen(mark), NULL, 10) : c->tokens;

    return n < 0 ? 0 : n > TOKENS_MAX ? TOKENS_MAX : n;
}

void exchange_generate(struct exchange *x, const struct json *body, const struct json *prompt,
                       int64_t max_tokens, bool ignore_eos)
{
    const struct config *c = &x->server->config;
    AUTO(buf) struct buf text = BUF_INIT(REQUEST_BODY_MAX);
    uint64_t seed = c->seed;
    const struct json *asked = json_get(body, "seed");
    int64_t natural = c->reasoning_tokens;

    asked = asked ? asked : json_get(json_get(body, "options"), "seed");
    if (json_is(asked, JSON_INT))
        seed = (uint64_t)asked->integer;
    if (!add_prompt(&text, prompt)) {
        exchange_error(x, 400, "invalid_request_error", "the request has no prompt");
        return;
    }
    if (!find_marker(x, buf_str(&text)))
        return;
    find_answer(x, buf_str(&text));
    natural += x->given ? answer_words(x->given) : natural_tokens(c, buf_str(&text));
    x->prompt_bytes = text.len;
    x->prompt_hash = answer_hash(buf_str(&text), text.len);
    x->prompt_tokens = answer_prompt_tokens(text.len);
    x->key = answer_key(buf_str(&text), text.len, seed);
    max_tokens = max_tokens > TOKENS_MAX ? TOKENS_MAX : max_tokens;
    x->finish = max_tokens >= 0 && (ignore_eos || max_tokens <= natural) ? "length" : "stop";
    x->n_tokens = strcmp(x->finish, "length") == 0 ? max_tokens : natural;
    x->n_reasoning = c->reasoning_tokens < x->n_tokens ? c->reasoning_tokens : x->n_tokens;
    x->status = 200;
    x->stage = STAGE_HEAD;
}

static const struct fault *pick_fault(struct server *s, bool generates)
{
    const struct config *c = &s->config;
    uint64_t draw;

    if (c->n_faults == 0 || !(generates || c->fault_all))
        return NULL;
    draw = answer_mix(c->seed ^ UINT64_C(0xFA017), (uint64_t)s->candidates++);
    if ((double)(draw >> 11) * 0x1p-53 >= c->fault_rate)
        return NULL;
    return &c->faults[answer_mix(draw, 0) % c->n_faults];
}

static bool is_loading(const struct exchange *x)
{
    const struct config *c = &x->server->config;

    for (size_t i = 0; i < c->n_faults; i++)
        if (c->faults[i].kind == FAULT_LOADING &&
            x->received - x->server->started < c->faults[i].arg)
            return true;
    return false;
}

static void answer_status(struct exchange *x)
{
    const char *shape = x->fault.text;
    int status = (int)x->fault.arg;

    if (strcmp(shape, "html") == 0)
        text_answer(x, status, "text/html",
                    "<html>\r\n<head><title>An error</title></head>\r\n"
                    "<body><center><h1>An error</h1></center></body>\r\n</html>\r\n");
    else if (strcmp(shape, "text") == 0)
        text_answer(x, status, "text/plain; charset=utf-8", "an injected error\n");
    else if (strcmp(shape, "empty") == 0)
        text_answer(x, status, "text/plain; charset=utf-8", "");
    else
        exchange_error(x, status, "server_error", "an injected error");
}

static void answer_garbage(struct exchange *x)
{
    int64_t n = x->fault.arg < REQUEST_BODY_MAX ? x->fault.arg : REQUEST_BODY_MAX;

    buf_clear(&x->body);
    for (int64_t i = 0; i < n; i++)
        buf_addc(&x->body, (char)answer_mix(x->key, (uint64_t)i));
    exchange_plain(x, 200, x->protocol ? x->protocol->stream_type : "application/json");
}

static bool strikes_at_token(enum fault_kind kind)
{
    return kind == FAULT_RESET || kind == FAULT_CUT || kind == FAULT_STALL ||
           kind == FAULT_BAD_UTF8 || kind == FAULT_LONG_LINE || kind == FAULT_ERROR ||
           kind == FAULT_SILENT_END || kind == FAULT_HUGE_TOKEN;
}

/* The faults that show before the first token. The others wait for their time. */
static void apply_fault(struct exchange *x)
{
    switch (x->fault.kind) {
    case FAULT_REFUSE:
        x->ending = ENDING_REFUSE;
        x->stage = STAGE_PLAIN;
        break;
    case FAULT_DROP:
        x->ending = ENDING_CLOSE;
        exchange_plain(x, 0, "");
        break;
    case FAULT_STATUS:
        answer_status(x);
        break;
    case FAULT_RATE_LIMIT:
        exchange_error(x, 429, "rate_limit_error", "too many requests, try again later");
        snprintf(x->header, sizeof(x->header), "Retry-After: %lld\r\n", (long long)x->fault.arg);
        break;
    case FAULT_REDIRECT:
        text_answer(x, 307, "text/plain", "");
        snprintf(x->header, sizeof(x->header), "Location: %s\r\n", x->fault.text);
        break;
    case FAULT_GARBAGE:
        answer_garbage(x);
        break;
    case FAULT_CONTENT_TYPE:
        x->content_type = x->fault.text[0] ? x->fault.text : "text/html";
        break;
    case FAULT_ENDLESS:
        x->n_tokens = INT64_MAX / 4;
        break;
    case FAULT_EMPTY:
        x->n_tokens = x->n_reasoning = 0;
        break;
    case FAULT_NO_STREAM_OPTIONS:
        if (x->stream_options)
            exchange_error(x, 400, "invalid_request_error",
                           "Unrecognized request argument supplied: stream_options");
        break;
    case FAULT_ERROR:
        if (x->protocol && !x->stream)
            exchange_error(x, 500, "server_error", "an injected error");
        break;
    case FAULT_CLOSE:
        x->ending = ENDING_CLOSE;
        break;
    default:
        break;
    }
    if (!strikes_at_token(x->fault.kind))
        x->fault.at = 0;
    else if (x->fault.at < 0)
        x->fault.at = x->n_tokens / 2;
    else if (x->fault.at > x->n_tokens)
        x->fault.at = x->n_tokens;
}

static void get_root(struct exchange *x)
{
    text_answer(x, 200, "text/plain; charset=utf-8", "Ollama is running");
}

static void get_health(struct exchange *x)
{
    bool llamacpp = x->server->config.dialect == DIALECT_LLAMACPP;

    text_answer(x, 200, "application/json; charset=utf-8", llamacpp ? "{\"status\":\"ok\"}" : "");
}

static void get_version(struct exchange *x)
{
    text_answer(x, 200, "application/json; charset=utf-8", "{\"version\":\"0.0.0-fake\"}");
}

static void get_tags(struct exchange *x)
{
    ollama_tags(x, false);
}

static void get_ps(struct exchange *x)
{
    ollama_tags(x, true);
}

static const struct route {
    const char *path;
    unsigned dialects;
    void (*get)(struct exchange *x); /* NULL = POST */
    void (*post)(struct exchange *x, const struct json *body);
    enum api api;
} routes[] = {
    {"/", DIALECT_BIT(OPENAI) | DIALECT_BIT(OLLAMA), get_root, NULL, API_NONE},
    {"/health", EVERYONE & ~DIALECT_BIT(OLLAMA), get_health, NULL, API_NONE},
    {"/v1/models", EVERYONE, openai_models, NULL, API_NONE},
    {"/v1/chat/completions", EVERYONE, NULL, openai_begin, API_CHAT},
    {"/v1/completions", EVERYONE, NULL, openai_begin, API_COMPLETION},
    {"/api/version", WITH_OLLAMA, get_version, NULL, API_NONE},
    {"/api/tags", WITH_OLLAMA, get_tags, NULL, API_NONE},
    {"/api/ps", WITH_OLLAMA, get_ps, NULL, API_NONE},
    {"/api/generate", WITH_OLLAMA, NULL, ollama_begin, API_OLLAMA_GENERATE},
    {"/api/chat", WITH_OLLAMA, NULL, ollama_begin, API_OLLAMA_CHAT},
};

static const struct route *find_route(const struct exchange *x)
{
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
        if (strcmp(routes[i].path, x->request.path) == 0 &&
            routes[i].dialects & 1u << x->server->config.dialect)
            return &routes[i];
    return NULL;
}

static void refuse_route(struct exchange *x, int status, const char *words)
{
    enum dialect d = x->server->config.dialect;

    if (d == DIALECT_LLAMACPP)
        exchange_error(x, status, "not_found_error", "File Not Found");
    else if (d == DIALECT_OLLAMA)
        text_answer(x, status, "text/plain", words);
    else
        text_answer(x, status, "application/json", "{\"detail\":\"Not Found\"}");
}

/* The members without what can be long. */
static void keep_params(struct exchange *x, const struct json *body)
{
    static const char *const left_out[] = {"prompt", "messages", "context", "images", "system"};
    struct json_writer w = json_writer(&x->params, JSON_LINE);

    jw_begin_object(&w, NULL);
    JSON_FOREACH (member, json_is(body, JSON_OBJECT) ? body : NULL) {
        bool keep = true;

        for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
            keep = keep && strcmp(member->key, left_out[i]) != 0;
        if (keep)
            jw_value(&w, member->key, member);
    }
    jw_end_object(&w);
}

static void begin_post(struct exchange *x, const struct route *route, const char *body)
{
    AUTO(json_doc) struct json_doc doc = {0};
    bool llamacpp = x->server->config.dialect == DIALECT_LLAMACPP;
    struct err err = {0};

    if (json_doc_parse(&doc, body, (size_t)x->request.body_bytes, &err) < 0) {
        exchange_error(x, llamacpp ? 500 : 400, "invalid_request_error", err.text);
        return;
    }
    keep_params(x, doc.root);
    x->api = route->api;
    route->post(x, doc.root);
}

static void begin_replay(struct exchange *x, const char *body)
{
    x->sample = replay_find(x->server->replay, &x->request, body);
    x->ending = ENDING_CLOSE;
    if (!x->sample) {
        text_answer(x, 404, "text/plain", "no sample has this method and path\n");
        return;
    }
    x->stage = STAGE_REPLAY;
    x->status = 0; /* the recording's */
    x->due += (int64_t)replay_delay_ns(x->server, &x->sample->pieces[0]);
}

static void begin_route(struct exchange *x, const char *body)
{
    const struct route *route = find_route(x);
    bool post = strcmp(x->request.method, "POST") == 0;
    const struct fault *fault;

    if (!route)
        refuse_route(x, 404, "404 page not found");
    else if (post != (route->post != NULL))
        refuse_route(x, 405, "405 method not allowed");
    else if (post)
        begin_post(x, route, body);
    else
        route->get(x);
    if (x->status >= 400)
        return;
    fault = pick_fault(x->server, x->api != API_NONE);
    if (fault && x->fault.kind == FAULT_NONE)
        x->fault = *fault;
    apply_fault(x);
    if (x->fault.kind == FAULT_SLOW_HEADERS)
        x->due += x->fault.arg;
}

struct exchange *exchange_begin(struct server *s, const struct request *r, const char *body,
                                mono_ns received)
{
    struct exchange *x = xcalloc(1, sizeof(*x));

    *x = (struct exchange){.server = s,
                           .request = *r,
                           .id = ++s->requests,
                           .received = received,
                           .due = received,
                           .head_at = MONO_ABSENT,
                           .end_at = MONO_ABSENT,
                           .outcome = "ok",
                           .ending = r->close ? ENDING_CLOSE : ENDING_KEEP};
    buf_init(&x->params, BUF_MAX_OWN);
    buf_init(&x->body, BUF_MAX_OWN);
    buf_init(&x->text, BUF_MAX_OWN);
    if (s->replay)
        begin_replay(x, body);
    else if (is_loading(x))
        exchange_error(x, 503, "unavailable_error", "Loading model");
    else
        begin_route(x, body);
    return x;
}
