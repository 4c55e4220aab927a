/*
 * Ollama's own protocol. Its OpenAI path hides errors in the middle of a stream and gives no
 * durations; this one gives both.
 *
 * The model is loaded before anything is measured, by a request with an empty prompt and the same
 * options as the queries: with others (num_ctx) Ollama would load it once more.
 */
#include "client/session.h"

#include "base/alloc.h"
#include "base/cleanup.h"

#include <stdio.h>
#include <string.h>

/* A large model comes from a slow disk. */
#define READY_DEFAULT_NS (600 * NS_PER_S)

/* Parameters that are members of the request; all others are members of its "options". */
static bool is_top_level(const char *key)
{
    static const char *const keys[] = {"format",     "system", "template", "raw",
                                       "keep_alive", "think",  "suffix",   "images",
                                       "context",    "tools",  "truncate", "shift"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (strcmp(keys[i], key) == 0)
            return true;
    return false;
}

static bool is_chat(const struct session *s)
{
    return s->endpoint != s->kind->endpoints;
}

static void write_options(const struct session *s, struct json_writer *w)
{
    jw_begin_object(w, "options");
    JSON_FOREACH (param, s->generation.root) {
        if (is_top_level(param->key))
            continue;
        if (strcmp(param->key, "options") == 0 && param->type == JSON_OBJECT) {
            JSON_FOREACH (option, param)
                jw_value(w, option->key, option);
        } else {
            bool is_limit = strcmp(param->key, "max_tokens") == 0;

            jw_value(w, is_limit ? "num_predict" : param->key, param);
        }
    }
    jw_end_object(w);
}

/* What the queries and the loading have in common. A chat has its system prompt in a message. */
static void write_settings(const struct session *s, struct json_writer *w)
{
    jw_text(w, "model", s->model);
    JSON_FOREACH (param, s->generation.root)
        if (is_top_level(param->key) && !(is_chat(s) && strcmp(param->key, "system") == 0))
            jw_value(w, param->key, param);
    write_options(s, w);
}

static void write_message(struct json_writer *w, const char *role, const char *text, size_t n)
{
    jw_begin_object(w, NULL);
    jw_text(w, "role", role);
    jw_textn(w, "content", text, n);
    jw_end_object(w);
}

static void write_request(struct session *s, const struct client_query *q, bool plain,
                          struct json_writer *w)
{
    const struct json *system = json_get(s->generation.root, "system");

    (void)plain; /* nothing in it was ever refused */
    write_settings(s, w);
    if (is_chat(s)) {
        jw_begin_array(w, "messages");
        if (json_is(system, JSON_STRING))
            write_message(w, "system", system->text, system->len);
        write_message(w, "user", q->prompt, q->prompt_len);
        jw_end_array(w);
    } else {
        jw_textn(w, "prompt", q->prompt, q->prompt_len);
    }
    jw_bool(w, "stream", true);
}

static const char *const key_vars[] = {"IPW_API_KEY", NULL};
static const char *const fixed[] = {"model", "prompt", "messages", "stream", NULL};

static const struct session_kind kind = {
    .default_url = "http://127.0.0.1:11434",
    .key_vars = key_vars,
    .endpoints = {{"generate", "/api/generate"}, {"chat", "/api/chat"}},
    .fixed = fixed,
    .ready_timeout_ns = READY_DEFAULT_NS,
    .reader = &ollama_reader,
    .write_request = write_request,
};

static int ollama_open(const struct client_config *config, void **ret_ctx, struct err *err)
{
    return session_open(&kind, config, ret_ctx, err);
}

static void read_models(struct session *s, const struct json *root, struct model_list *ret)
{
    JSON_FOREACH (entry, json_get(root, "models")) {
        const char *name = json_text(json_get(entry, "name"), NULL);

        if (!name)
            name = json_text(json_get(entry, "model"), NULL);
        if (!name)
            continue;
        model_list_add(ret, name);
        if (s->model && model_name_matches(name, s->model))
            session_keep_entry(s, entry);
    }
}

static int ollama_models(void *ctx, struct model_list *ret, struct err *err)
{
    AUTO(fetch) struct fetch f = {.path = "/api/tags"};
    const struct json *root;
    int r = session_fetch_json(ctx, &f, &root, err);

    if (r == 0)
        read_models(ctx, root, ret);
    return r;
}

static int check_model(struct session *s, struct fetch *f, struct err *err)
{
    AUTO(model_list) struct model_list models = {0};
    AUTO_FREE char *shown = url_for_people(&s->url, "");
    const struct json *root;
    int r;

    f->path = "/api/tags";
    f->doing = "asking for the models";
    r = session_wait_ready(s, f, &root, err);
    if (r < 0)
        return r;
    read_models(s, root, &models);
    return model_list_check(&models, s->model, shown, err);
}

/* Its absence harms nobody. */
static void ask_version(struct session *s, struct fetch *f)
{
    const struct json *root;

    f->path = "/api/version";
    if (session_fetch_json(s, f, &root, NULL) == 0)
        snprintf(s->server, sizeof(s->server), "ollama %.40s",
                 json_text(json_get(root, "version"), ""));
}

static int load_model(struct session *s, struct fetch *f, struct err *err)
{
    AUTO(buf) struct buf body = BUF_INIT(BUF_MAX_OWN);
    AUTO_FREE char *doing = xasprintf("loading %s", s->model);
    struct json_writer w = json_writer(&body, JSON_LINE);

    jw_begin_object(&w, NULL);
    write_settings(s, &w);
    if (is_chat(s)) {
        jw_begin_array(&w, "messages");
        jw_end_array(&w);
    } else {
        jw_text(&w, "prompt", "");
    }
    jw_bool(&w, "stream", false);
    jw_end_object(&w);
    f->path = s->endpoint->path;
    f->body = body.data;
    f->doing = doing;
    f->limit_ns = s->ready_ns;
    return session_fetch(s, f, err);
}

static int ollama_prepare(void *ctx, int (*progress)(void *arg, const char *words), void *arg,
                          struct err *err)
{
    AUTO(fetch) struct fetch f = {.progress = progress, .arg = arg};
    int r = check_model(ctx, &f, err);

    if (r < 0)
        return r;
    ask_version(ctx, &f);
    return load_model(ctx, &f, err);
}

static void ollama_describe(void *ctx, struct json_writer *w)
{
    static const char *const details[][2] = {{"parameter_size", "model_parameters"},
                                             {"quantization_level", "quantization"},
                                             {"family", "model_family"},
                                             {"context_length", "context_length"}};
    const struct session *s = ctx;

    jw_text(w, "url", s->shown_query_url);
    jw_text(w, "server", *s->server ? s->server : "ollama");
    if (json_get(s->entry.root, "size"))
        jw_value(w, "model_bytes", json_get(s->entry.root, "size"));
    if (json_get(s->entry.root, "digest"))
        jw_value(w, "model_digest", json_get(s->entry.root, "digest"));
    for (size_t i = 0; i < sizeof(details) / sizeof(details[0]); i++) {
        const struct json *v = json_get(json_get(s->entry.root, "details"), details[i][0]);

        if (v)
            jw_value(w, details[i][1], v);
    }
}

extern const struct client_ops ollama_ops;
const struct client_ops ollama_ops = {
    .plugin = {.id = "ollama", .help = "an Ollama server, by its own protocol"},
    .default_url = "http://127.0.0.1:11434",
    .open = ollama_open,
    .models = ollama_models,
    .prepare = ollama_prepare,
    .start = session_start,
    .cancel = session_cancel,
    .poll = session_poll,
    .close = session_close,
    .describe = ollama_describe,
};
