/*
 * Ollama's protocol: one JSON object a line, streamed unless the request says otherwise, each with
 * the wall-clock time at which its text was made. A request without a prompt only loads the model,
 * which is always there.
 */
#include "base/buf.h"
#include "serve/protocol.h"
#include "version.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* -1 and -2 are Ollama's words for "until it ends" and "until the context is full". */
static int read_limit(const struct json *options, struct serve_request *ret,
                      struct refusal *ret_refusal)
{
    if (json_int(json_get(options, "num_predict"), 0) != -2)
        return serve_read_option(options, "num_predict", "max_tokens", ret, ret_refusal);
    ret->options.max_tokens = -1;
    return 0;
}

static int read_options(const struct json *options, struct serve_request *ret,
                        struct refusal *ret_refusal)
{
    static const char *const names[] = {"temperature", "top_k", "top_p", "seed", "stop"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (serve_read_option(options, names[i], names[i], ret, ret_refusal) < 0)
            return -1;
    return read_limit(options, ret, ret_refusal);
}

static int read_prompt(const struct json *root, struct serve_request *ret,
                       struct refusal *ret_refusal)
{
    const struct json *prompt = json_get(root, "prompt");

    if (!prompt || prompt->type == JSON_NULL) {
        ret->load_only = true;
        return 0;
    }
    if (prompt->type != JSON_STRING)
        return refuse(ret_refusal, 400, "prompt: a text is expected");
    ret->load_only = prompt->len == 0;
    buf_add(&ret->prompt, prompt->text, prompt->len);
    return 0;
}

static int read_chat(const struct json *root, struct serve_request *ret,
                     struct refusal *ret_refusal)
{
    const struct json *messages = json_get(root, "messages");

    ret->load_only = !messages || json_is(messages, JSON_NULL) ||
                     (json_is(messages, JSON_ARRAY) && !messages->len);
    return ret->load_only ? 0 : serve_read_messages(messages, ret, ret_refusal);
}

static int read_request(const struct json *root, struct serve_request *ret,
                        struct refusal *ret_refusal)
{
    const struct json *keep_alive = json_get(root, "keep_alive");
    int r;

    ret->stream = true;
    if (json_bool(json_get(root, "think"), false))
        return refuse(ret_refusal, 400, "\"%s\" does not support thinking", ret->model);
    if (serve_read_flag(root, "stream", &ret->stream, ret_refusal) < 0 ||
        read_options(json_get(root, "options"), ret, ret_refusal) < 0)
        return -1;
    r = ret->chat ? read_chat(root, ret, ret_refusal) : read_prompt(root, ret, ret_refusal);
    ret->unload = ret->load_only && json_real(keep_alive, 1) == 0;
    return r;
}

static void write_error(const struct refusal *r, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    jw_begin_object(&w, NULL);
    jw_text(&w, "error", r->message);
    jw_end_object(&w);
}

/* "2026-11-15T23:13:17.096304089Z" */
static void write_date(struct json_writer *w, const char *key, int64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / NS_PER_S);
    char day[24], text[40];
    struct tm tm;

    gmtime_r(&seconds, &tm);
    strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(text, sizeof(text), "%s.%09dZ", day, (int)(wall_ns % NS_PER_S));
    jw_text(w, key, text);
}

static void begin_line(const struct answer *a, const char *text, size_t n, mono_ns at,
                       struct json_writer *w)
{
    jw_begin_object(w, NULL);
    jw_text(w, "model", a->request->model);
    write_date(w, "created_at", a->anchor.wall_ns + (at - a->anchor.mono));
    if (a->request->chat) {
        jw_begin_object(w, "message");
        jw_text(w, "role", "assistant");
        jw_textn(w, "content", text, n);
        jw_end_object(w);
    } else {
        jw_textn(w, "response", text, n);
    }
}

/* The members of the last line. Until it was handed to the pool counts as loading: what is left of
 * the total is then the time in the queue. */
static void write_done(const struct answer *a, struct json_writer *w)
{
    const struct pocket_outcome *o = &a->job->outcome;

    jw_bool(w, "done", true);
    jw_text(w, "done_reason", pocket_finish_name(o->finish));
    jw_int(w, "total_duration", o->end - a->received);
    jw_int(w, "load_duration", a->job->submitted - a->received);
    jw_int(w, "prompt_eval_count", o->prompt_tokens);
    jw_int(w, "prompt_eval_duration", o->first - a->job->taken);
    jw_int(w, "eval_count", o->completion_tokens);
    jw_int(w, "eval_duration", o->end - o->first);
    jw_end_object(w);
}

static void write_begin(const struct answer *a, struct buf *out)
{
    (void)a; /* nothing comes before the first text */
    (void)out;
}

static void write_piece(const struct answer *a, const char *text, size_t n, mono_ns at,
                        struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    begin_line(a, text, n, at, &w);
    jw_bool(&w, "done", false);
    jw_end_object(&w);
    buf_addc(out, '\n');
}

static void write_end(const struct answer *a, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    begin_line(a, "", 0, a->job->outcome.end, &w);
    write_done(a, &w);
    buf_addc(out, '\n');
}

static void write_whole(const struct answer *a, const char *text, size_t n, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    if (!a->request->load_only) {
        begin_line(a, text, n, a->job->outcome.end, &w);
        write_done(a, &w);
        return;
    }
    begin_line(a, "", 0, a->received, &w);
    jw_bool(&w, "done", true);
    jw_text(&w, "done_reason", a->request->unload ? "unload" : "load");
    jw_end_object(&w);
}

static void write_details(const struct pocket_model *m, struct json_writer *w)
{
    char size[32];
    double parameters = (double)pocket_parameters(m);

    if (parameters < 1e6)
        snprintf(size, sizeof(size), "%.2fK", parameters / 1e3);
    else
        snprintf(size, sizeof(size), "%.2fM", parameters / 1e6);
    jw_begin_object(w, "details");
    jw_text(w, "parent_model", "");
    jw_text(w, "format", "ipw");
    jw_text(w, "family", SERVE_MODEL);
    jw_begin_array(w, "families");
    jw_text(w, NULL, SERVE_MODEL);
    jw_end_array(w);
    jw_text(w, "parameter_size", size);
    jw_text(w, "quantization_level", "F16");
    jw_int(w, "context_length", pocket_context(m));
    jw_end_object(w);
}

void ollama_write_tags(const struct pocket_model *m, int64_t wall_ns, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    jw_begin_object(&w, NULL);
    jw_begin_array(&w, "models");
    jw_begin_object(&w, NULL);
    jw_text(&w, "name", SERVE_MODEL ":latest");
    jw_text(&w, "model", SERVE_MODEL ":latest");
    write_date(&w, "modified_at", wall_ns);
    jw_int(&w, "size", (int64_t)pocket_weights_size);
    write_details(m, &w);
    jw_begin_array(&w, "capabilities");
    jw_text(&w, NULL, "completion");
    jw_end_array(&w);
    jw_end_object(&w);
    jw_end_array(&w);
    jw_end_object(&w);
}

void ollama_write_version(struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    jw_begin_object(&w, NULL);
    jw_text(&w, "version", IPW_VERSION);
    jw_end_object(&w);
}

const struct protocol ollama_protocol = {
    .stream_type = "application/x-ndjson",
    .read = read_request,
    .error = write_error,
    .begin = write_begin,
    .piece = write_piece,
    .end = write_end,
    .whole = write_whole,
};
