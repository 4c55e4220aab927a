/*
 * The configuration of a server, checked once, and the words for what goes wrong with it: they are
 * put together here because here are the address that may be shown and the secrets that may not.
 */
#include "client/session.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/num.h"
#include "base/suggest.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_BYTES_DEFAULT ((size_t)64 << 20)
/* A long prompt on a slow machine, or a model being loaded, gives no byte for minutes. */
#define IDLE_DEFAULT_NS    (300 * NS_PER_S)
#define CONNECT_DEFAULT_NS (10 * NS_PER_S)

/* Lines for every request, owned. */
struct header_lines {
    char **lines;
    size_t n, cap;
};

static void header_lines_add(struct header_lines *l, char *line)
{
    GROW(l->lines, l->n, l->cap);
    l->lines[l->n++] = line;
}

static void header_lines_release(struct header_lines *l)
{
    for (size_t i = 0; i < l->n; i++)
        free(l->lines[i]);
    free(l->lines);
}

static bool has_control_characters(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7F)
            return true;
    return false;
}

/* "Name: value". Its value may be a key, so the words do not repeat it. */
static int add_header(struct session *s, struct header_lines *lines, const char *text,
                      struct err *err)
{
    static const char name_chars[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strspn(text, name_chars);
    const char *value = text + n, *last_word;

    if (n == 0 || *value++ != ':' || has_control_characters(text))
        return err_set(err, EINVAL, "client parameter header: expected 'Name: value'");
    value += strspn(value, " ");
    last_word = strrchr(value, ' ');
    secrets_add(&s->secrets, value);
    secrets_add(&s->secrets, last_word ? last_word + 1 : NULL); /* Bearer KEY */
    header_lines_add(lines, xstrdup(text));
    return 0;
}

static int unknown_param(const char *key, struct err *err)
{
    static const char *const known[] = {"api_key", "endpoint", "header", "ready_timeout"};
    struct suggest near = suggest_for(key);

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        suggest_offer(&near, known[i]);
    if (near.best)
        return err_set(err, EINVAL, "unknown client parameter '%.60s': did you mean '%s'?", key,
                       near.best);
    return err_set(err, EINVAL,
                   "unknown client parameter '%.60s' (there are: api_key, endpoint, header, "
                   "ready_timeout)",
                   key);
}

static int set_endpoint(struct session *s, const char *name, struct err *err)
{
    const struct session_endpoint *e;

    for (e = s->kind->endpoints; e->name; e++)
        if (strcmp(e->name, name) == 0) {
            s->endpoint = e;
            return 0;
        }
    e = s->kind->endpoints;
    return err_set(err, EINVAL, "client parameter endpoint: '%.60s' is neither '%s' nor '%s'", name,
                   e[0].name, e[1].name);
}

static int set_param(struct session *s, struct header_lines *lines, const struct kv *param,
                     struct err *err)
{
    if (strcmp(param->key, "header") == 0)
        return add_header(s, lines, param->value, err);
    if (strcmp(param->key, "endpoint") == 0)
        return set_endpoint(s, param->value, err);
    if (strcmp(param->key, "ready_timeout") == 0) {
        if (parse_duration(param->value, &s->ready_ns, err) < 0)
            return err_prefix(err, "client parameter ready_timeout");
        return 0;
    }
    return strcmp(param->key, "api_key") == 0 ? 0 : unknown_param(param->key, err);
}

/* The parameter, else the first variable that holds one. An empty parameter means none. */
static const char *find_key(const struct session *s, const struct kv_list *params)
{
    const char *key = params ? kv_get(params, "api_key") : NULL;

    for (const char *const *name = s->kind->key_vars; !key && *name; name++) {
        key = getenv(*name);
        if (key && !*key)
            key = NULL;
    }
    return key && *key ? key : NULL;
}

static int add_key(struct session *s, struct header_lines *lines, const struct kv_list *params,
                   struct err *err)
{
    const char *key = find_key(s, params);

    if (!key)
        return 0;
    if (has_control_characters(key))
        return err_set(err, EINVAL, "the API key contains control characters");
    secrets_add(&s->secrets, key);
    for (size_t i = 0; i < lines->n; i++)
        if (strncasecmp(lines->lines[i], "Authorization:", 14) == 0)
            return 0; /* the person has said what to send */
    header_lines_add(lines, xasprintf("Authorization: Bearer %s", key));
    return 0;
}

static bool is_fixed(const struct session_kind *kind, const char *key)
{
    for (const char *const *fixed = kind->fixed; *fixed; fixed++)
        if (strcmp(*fixed, key) == 0)
            return true;
    return false;
}

/* The parameters as one JSON object; of two equal keys the last counts. */
static int set_generation(struct session *s, const struct kv_list *params, struct err *err)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    AUTO(json_doc) struct json_doc value = {0};
    struct json_writer w = json_writer(&text, JSON_LINE);

    jw_begin_object(&w, NULL);
    for (size_t i = 0; params && i < params->n; i++) {
        const struct kv *p = &params->items[i];

        if (is_fixed(s->kind, p->key))
            return err_set(err, EINVAL, "generation parameter '%s' cannot be set", p->key);
        if (kv_get(params, p->key) != p->value)
            continue;
        if (json_doc_parse(&value, p->value, strlen(p->value), NULL) == 0)
            jw_value(&w, p->key, value.root);
        else
            jw_text(&w, p->key, p->value);
    }
    jw_end_object(&w);
    return json_doc_parse(&s->generation, text.data, text.len, err);
}

static int set_address(struct session *s, const char *base_url, struct err *err)
{
    int r = url_parse(base_url ? base_url : s->kind->default_url, &s->url, err);

    if (r < 0)
        return r;
    if (s->kind->versioned && !url_has_version(&s->url))
        url_add_path(&s->url, "/v1");
    secrets_add(&s->secrets, s->url.password);
    s->query_url = url_full(&s->url, s->endpoint->path);
    s->shown_query_url = url_for_people(&s->url, s->endpoint->path);
    return 0;
}

static int open_http(struct session *s, struct header_lines *lines, struct err *err)
{
    header_lines_add(lines, NULL);
    return http_open(&(struct http_options){.socket = s->url.socket,
                                            .headers = (const char *const *)lines->lines,
                                            .connect_timeout_ns = s->connect_ns},
                     &s->http, err);
}

static int configure(struct session *s, const struct client_config *config, struct err *err)
{
    AUTO(header_lines) struct header_lines lines = {0};
    int r = 0;

    for (size_t i = 0; r == 0 && config->params && i < config->params->n; i++)
        r = set_param(s, &lines, &config->params->items[i], err);
    if (r == 0)
        r = add_key(s, &lines, config->params, err);
    if (r == 0)
        r = set_generation(s, config->generation, err);
    if (r == 0)
        r = set_address(s, config->base_url, err);
    return r < 0 ? r : open_http(s, &lines, err);
}

int session_open(const struct session_kind *kind, const struct client_config *config,
                 void **ret_ctx, struct err *err)
{
    struct session *s = xcalloc(1, sizeof(*s));
    int r;

    *s = (struct session){
        .kind = kind,
        .endpoint = kind->endpoints,
        .model = config->model ? xstrdup(config->model) : NULL,
        .timeout_ns = config->timeout_ns,
        .idle_ns = config->idle_timeout_ns ? config->idle_timeout_ns : IDLE_DEFAULT_NS,
        .connect_ns = config->connect_timeout_ns ? config->connect_timeout_ns : CONNECT_DEFAULT_NS,
        .ready_ns = kind->ready_timeout_ns,
        .max_bytes = config->max_response_bytes ? config->max_response_bytes : MAX_BYTES_DEFAULT,
    };
    reader_memory_init(&s->memory);
    r = configure(s, config, err);
    if (r < 0)
        session_close(s);
    else
        *ret_ctx = s;
    return r;
}

void session_close(void *ctx)
{
    struct session *s = ctx;

    if (!s)
        return;
    http_close(s->http);
    url_release(&s->url);
    free(s->model);
    free(s->query_url);
    free(s->shown_query_url);
    secrets_release(&s->secrets);
    json_doc_release(&s->generation);
    json_doc_release(&s->entry);
    reader_memory_release(&s->memory);
    free(s);
}

void session_keep_entry(struct session *s, const struct json *entry)
{
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_LINE);

    jw_value(&w, NULL, entry);
    json_doc_parse(&s->entry, text.data, text.len, NULL);
}

void session_failure_words(struct session *s, const char *shown_url, int status, struct buf *words,
                           char text[ERR_TEXT_MAX])
{
    struct err cut;

    words_clean(words, &s->secrets);
    if (status)
        err_set(&cut, EIO, "%.120s: HTTP %d%s%s", shown_url, status, words->len ? ": " : "",
                buf_str(words));
    else
        err_set(&cut, EIO, "%.120s: %s", shown_url, buf_str(words));
    memcpy(text, cut.text, sizeof(cut.text));
    buf_clear(words);
}

void session_refusal_words(struct session *s, const struct http_request *r, const struct buf *body,
                           struct buf *out)
{
    const char *location = http_header(r, "Location");

    if (r->status >= 300 && r->status < 400 && location)
        buf_addf(out, "redirects to %s, which is not followed", location);
    else
        words_add_body(out, &s->memory.doc, buf_str(body), body->len);
}
