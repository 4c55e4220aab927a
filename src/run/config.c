#include "run/config.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"

#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#define HIDDEN "***"

/* Parameters whose values nobody else may see. */
static bool is_secret(const char *key)
{
    static const char *const words[] = {"key", "token", "secret", "password", "header", "auth"};
    size_t n = strlen(key);

    /* max_tokens counts tokens; it is not one */
    if (n >= 6 && strcasecmp(key + n - 6, "tokens") == 0)
        return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        if (strcasestr(key, words[i]))
            return true;
    return false;
}

/* An address without user and password. */
static void add_address(struct buf *out, const char *url)
{
    const char *rest = strstr(url, "://");
    const char *host = rest ? rest + 3 : url;
    size_t authority = strcspn(host, "/?#");
    const char *at = memrchr(host, '@', authority);

    /* without a scheme it may be anything: a model's name can have an @ too */
    if (at && !rest && !memchr(host, ':', (size_t)(at - host)))
        at = NULL;
    buf_add(out, url, (size_t)(host - url));
    if (at)
        buf_adds(out, HIDDEN);
    buf_adds(out, at ? at : host);
}

static void write_address(struct json_writer *w, const char *key, const char *url)
{
    AUTO(buf) struct buf shown = BUF_INIT(BUF_MAX_OWN);

    if (url)
        add_address(&shown, url);
    jw_text(w, key, url ? buf_str(&shown) : NULL);
}

static void write_params(struct json_writer *w, const char *key, const struct kv_list *l)
{
    jw_begin_object(w, key);
    for (size_t i = 0; i < l->n; i++)
        jw_text(w, l->items[i].key, is_secret(l->items[i].key) ? HIDDEN : l->items[i].value);
    jw_end_object(w);
}

static void write_count(struct json_writer *w, const char *key, int64_t n)
{
    if (n < 0)
        jw_null(w, key);
    else
        jw_int(w, key, n);
}

static void write_known(struct json_writer *w, const struct profile_options *o, const char *model,
                        bool with_output_dir)
{
    jw_text(w, "dataset_id", o->dataset);
    jw_text(w, "client_id", o->client);
    write_address(w, "client_base_url", o->base_url);
    write_params(w, "dataset_params", &o->dataset_params);
    write_params(w, "client_params", &o->client_params);
    jw_text(w, "model", model);
    if (with_output_dir)
        jw_text(w, "output_dir", o->output_dir);
    write_count(w, "max_concurrency",
                o->concurrency > 0     ? o->concurrency
                : isnan(o->rate_per_s) ? 1
                                       : -1);
    write_count(w, "max_queries", o->max_queries);
    write_params(w, "additional_parameters", &o->generation);
    jw_int(w, "warmup_queries", o->warmup);
}

char *config_json(const struct profile_options *o, const char *model, const char *scorer,
                  bool with_output_dir)
{
    struct buf text = BUF_INIT(BUF_MAX_OWN);
    struct json_writer w = json_writer(&text, JSON_PRETTY);

    jw_begin_object(&w, NULL);
    write_known(&w, o, model, with_output_dir);
    jw_real(&w, "request_rate", o->rate_per_s);
    jw_real(&w, "burstiness", o->burstiness);
    jw_real(&w, "duration_s", o->duration_ns < 0 ? NAN : ns_to_s(o->duration_ns));
    jw_real(&w, "timeout_s", ns_to_s(o->timeout_ns));
    jw_int(&w, "retries", o->retries);
    jw_int(&w, "stop_after", o->failures_max);
    jw_text(&w, "telemetry", o->telemetry);
    jw_real(&w, "sample_interval_s", ns_to_s(o->sample_interval_ns));
    write_params(&w, "collector_params", &o->collector_params);
    jw_real(&w, "idle_s", ns_to_s(o->idle_ns));
    jw_bool(&w, "score", !o->no_score);
    jw_text(&w, "scorer", scorer);
    jw_int(&w, "seed", o->seed);
    jw_real(&w, "price_kwh", o->price_per_kwh_usd);
    jw_real(&w, "carbon_intensity", o->carbon_g_per_kwh);
    jw_int(&w, "repetition", o->repetition);
    jw_end_object(&w);
    buf_addc(&text, '\n');
    return buf_take(&text);
}

static bool is_plain(const char *word)
{
    return *word && word[strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789_-+=:,./@%")] == '\0';
}

/* As a shell takes it. */
static void add_word(struct buf *out, const char *word)
{
    if (is_plain(word)) {
        buf_adds(out, word);
        return;
    }
    buf_addc(out, '\'');
    for (const char *p = word; *p; p++) {
        if (*p == '\'')
            buf_adds(out, "'\\''");
        else
            buf_addc(out, *p);
    }
    buf_addc(out, '\'');
}

/* A word with its secrets taken out: key=value of a parameter, or an address. */
static void add_shown(struct buf *out, const char *word)
{
    AUTO(buf) struct buf shown = BUF_INIT(BUF_MAX_OWN);
    const char *value = strchr(word, '=');

    if (value && strncmp(word, "--", 2) == 0 && strchr(value + 1, '='))
        value = strchr(value + 1, '='); /* --client-param=api_key=... */
    if (value) {
        buf_add(&shown, word, (size_t)(value - word));
        if (is_secret(buf_str(&shown))) {
            buf_adds(&shown, "=" HIDDEN);
            add_word(out, buf_str(&shown));
            return;
        }
        buf_clear(&shown);
    }
    add_address(&shown, word);
    add_word(out, buf_str(&shown));
}

char *config_command_line(const char *command, int argc, const char *const *argv)
{
    struct buf line = BUF_INIT(BUF_MAX_OWN);

    buf_addf(&line, "ipw %s", command);
    for (int i = 0; i < argc; i++) {
        buf_addc(&line, ' ');
        add_shown(&line, argv[i]);
    }
    return buf_take(&line);
}
