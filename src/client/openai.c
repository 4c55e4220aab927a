/*
 * Any server that speaks OpenAI's protocol: llama.cpp, vLLM, SGLang, TGI, LM Studio, Ollama's /v1,
 * cloud services.
 *
 * Usage is asked for with stream_options.include_usage. A server that refuses the option is asked
 * again without it, and never with it again.
 */
#include "client/session.h"

#include "base/cleanup.h"

#include <errno.h>
#include <string.h>

#define READY_DEFAULT_NS (120 * NS_PER_S)

static void write_messages(struct json_writer *w, const struct client_query *q)
{
    jw_begin_array(w, "messages");
    jw_begin_object(w, NULL);
    jw_text(w, "role", "user");
    jw_textn(w, "content", q->prompt, q->prompt_len);
    jw_end_object(w);
    jw_end_array(w);
}

static void write_request(struct session *s, const struct client_query *q, bool plain,
                          struct json_writer *w)
{
    const struct json *generation = s->generation.root;

    jw_text(w, "model", s->model);
    if (s->endpoint != s->kind->endpoints)
        jw_textn(w, "prompt", q->prompt, q->prompt_len);
    else if (!json_get(generation, "messages"))
        write_messages(w, q);
    jw_bool(w, "stream", true);
    if (!plain && !json_get(generation, "stream_options")) {
        jw_begin_object(w, "stream_options");
        jw_bool(w, "include_usage", true);
        jw_end_object(w);
    }
    JSON_FOREACH (param, generation)
        jw_value(w, param->key, param);
}

/* Does the refusal concern the option that we put in, or fields that the server does not know? */
static bool is_curable(struct session *s, int status, const char *body, size_t n)
{
    static const char *const signs[] = {
        "stream_options",   "include_usage",        "unknown field", "unknown_field",
        "unrecognized",     "extra fields",         "extra inputs",  "extra_forbidden",
        "unexpected field", "additional properties"};

    (void)n; /* NUL behind it; one inside it ends the search */
    if ((status != 400 && status != 422) || json_get(s->generation.root, "stream_options"))
        return false;
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
        if (strcasestr(body, signs[i]))
            return true;
    return false;
}

static const char *const key_vars[] = {"IPW_API_KEY", "OPENAI_API_KEY", NULL};
static const char *const fixed[] = {"model", "prompt", "stream", NULL};

static const struct session_kind kind = {
    .default_url = "http://127.0.0.1:8000/v1",
    .versioned = true,
    .key_vars = key_vars,
    .endpoints = {{"chat", "/chat/completions"}, {"completions", "/completions"}},
    .fixed = fixed,
    .ready_timeout_ns = READY_DEFAULT_NS,
    .reader = &openai_reader,
    .write_request = write_request,
    .is_curable = is_curable,
};

static int openai_open(const struct client_config *config, void **ret_ctx, struct err *err)
{
    return session_open(&kind, config, ret_ctx, err);
}

/* Is this the entry of our model, by its id or an alias? */
static bool is_ours(const struct session *s, const struct json *entry)
{
    if (!s->model)
        return false;
    if (model_name_matches(json_text(json_get(entry, "id"), ""), s->model))
        return true;
    JSON_FOREACH (alias, json_get(entry, "aliases"))
        if (model_name_matches(json_text(alias, ""), s->model))
            return true;
    return false;
}

static void read_models(struct session *s, const struct json *root, struct model_list *ret)
{
    JSON_FOREACH (entry, json_get(root, "data")) {
        const char *id = json_text(json_get(entry, "id"), NULL);

        if (id)
            model_list_add(ret, id);
        if (is_ours(s, entry))
            session_keep_entry(s, entry);
    }
}

static int openai_models(void *ctx, struct model_list *ret, struct err *err)
{
    AUTO(fetch) struct fetch f = {.path = "/models"};
    const struct json *root;
    int r = session_fetch_json(ctx, &f, &root, err);

    if (r == 0)
        read_models(ctx, root, ret);
    return r;
}

/* A list that is empty, or a server that has none, cannot say that the model is missing. */
static int openai_prepare(void *ctx, int (*progress)(void *arg, const char *words), void *arg,
                          struct err *err)
{
    struct session *s = ctx;
    AUTO(fetch)
    struct fetch f = {
        .path = "/models", .doing = "asking for the models", .progress = progress, .arg = arg};
    AUTO(model_list) struct model_list models = {0};
    AUTO_FREE char *shown = url_for_people(&s->url, "");
    const struct json *root;
    int r = session_wait_ready(s, &f, &root, err);

    if (r < 0)
        return r == -ENOENT ? 0 : r;
    read_models(s, root, &models);
    if (models.n == 0 || s->entry.root)
        return 0;
    return model_list_check(&models, s->model, shown, err);
}

/* llama.cpp tells the model's size in its list. */
static void openai_describe(void *ctx, struct json_writer *w)
{
    const struct session *s = ctx;
    const struct json *meta = json_get(s->entry.root, "meta");
    int64_t context = json_int(json_get(s->entry.root, "max_model_len"), -1);

    jw_text(w, "url", s->shown_query_url);
    if (*s->server)
        jw_text(w, "server", s->server);
    if (json_get(meta, "n_params"))
        jw_value(w, "model_parameters", json_get(meta, "n_params"));
    if (json_get(meta, "size"))
        jw_value(w, "model_bytes", json_get(meta, "size"));
    if (json_get(meta, "ftype"))
        jw_value(w, "quantization", json_get(meta, "ftype"));
    if (context < 0)
        context = json_int(json_get(meta, "n_ctx"), -1);
    if (context >= 0)
        jw_int(w, "context_length", context);
    jw_bool(w, "usage_refused", s->plain);
}

static const char *const aliases[] = {"vllm", "llamacpp", "sglang", "openai-server", NULL};

extern const struct client_ops openai_ops;
const struct client_ops openai_ops = {
    .plugin = {.id = "openai",
               .help = "any OpenAI-compatible server (llama.cpp, vLLM, SGLang, TGI, LM Studio, "
                       "cloud)",
               .aliases = aliases},
    .default_url = "http://127.0.0.1:8000/v1",
    .open = openai_open,
    .models = openai_models,
    .prepare = openai_prepare,
    .start = session_start,
    .cancel = session_cancel,
    .poll = session_poll,
    .close = session_close,
    .describe = openai_describe,
};
