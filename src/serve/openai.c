/*
 * OpenAI's protocol as llama.cpp speaks it: usage in a chunk of its own when it was asked for, and
 * the server's own times with the last chunk, as llama.cpp ("timings") and vLLM ("metrics", which
 * knows the time in the queue) tell them.
 */
#include "base/buf.h"
#include "client/client.h"
#include "serve/protocol.h"
#include "version.h"

#include <stdio.h>
#include <string.h>

static int read_prompt(const struct json *root, struct serve_request *ret,
                       struct refusal *ret_refusal)
{
    const struct json *prompt = json_get(root, "prompt");

    if (json_is(prompt, JSON_ARRAY) && prompt->len == 1)
        prompt = json_first(prompt);
    if (json_is(prompt, JSON_STRING)) {
        buf_add(&ret->prompt, prompt->text, prompt->len);
        return 0;
    }
    refuse(ret_refusal, 400, "prompt: one text is expected");
    ret_refusal->param = "prompt";
    return -1;
}

static int read_request(const struct json *root, struct serve_request *ret,
                        struct refusal *ret_refusal)
{
    static const char *const options[][2] = {
        {"temperature", "temperature"},
        {"top_k", "top_k"},
        {"top_p", "top_p"},
        {"seed", "seed"},
        {"stop", "stop"},
        {"max_tokens", "max_tokens"},
        {"max_completion_tokens", "max_tokens"},
    };

    for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
        if (serve_read_option(root, options[i][0], options[i][1], ret, ret_refusal) < 0)
            return -1;
    if (json_int(json_get(root, "n"), 1) != 1) {
        refuse(ret_refusal, 400, "n: one answer is all there is");
        ret_refusal->param = "n";
        return -1;
    }
    if (serve_read_flag(root, "stream", &ret->stream, ret_refusal) < 0 ||
        serve_read_flag(json_get(root, "stream_options"), "include_usage", &ret->include_usage,
                        ret_refusal) < 0)
        return -1;
    return ret->chat ? serve_read_messages(json_get(root, "messages"), ret, ret_refusal)
                     : read_prompt(root, ret, ret_refusal);
}

static const char *error_type(int status)
{
    return status == 404   ? "not_found_error"
           : status >= 500 ? "server_error"
                           : "invalid_request_error";
}

static void write_error(const struct refusal *r, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    jw_begin_object(&w, NULL);
    jw_begin_object(&w, "error");
    jw_text(&w, "message", r->message);
    jw_text(&w, "type", error_type(r->status));
    jw_text(&w, "param", r->param);
    jw_text(&w, "code", r->code);
    jw_end_object(&w);
    jw_end_object(&w);
}

/* The members that every chunk and every whole answer begin with. */
static void begin_document(const struct answer *a, const char *suffix, struct json_writer *w)
{
    bool chat = a->request->chat;
    char text[40];

    jw_begin_object(w, NULL);
    snprintf(text, sizeof(text), "%s-%llu", chat ? "chatcmpl" : "cmpl", (unsigned long long)a->id);
    jw_text(w, "id", text);
    snprintf(text, sizeof(text), "%s%s", chat ? "chat.completion" : "text_completion", suffix);
    jw_text(w, "object", text);
    jw_int(w, "created", (a->anchor.wall_ns + (a->received - a->anchor.mono)) / NS_PER_S);
    jw_text(w, "model", a->request->model);
    jw_text(w, "system_fingerprint", "ipw-" IPW_VERSION);
    jw_begin_array(w, "choices");
}

/* One choice; role and text NULL = not there. */
static void write_choice(const struct answer *a, const char *message, const char *role,
                         const char *text, size_t n, const char *finish, struct json_writer *w)
{
    jw_begin_object(w, NULL);
    jw_int(w, "index", 0);
    if (a->request->chat) {
        jw_begin_object(w, message);
        if (role)
            jw_text(w, "role", role);
        if (text)
            jw_textn(w, "content", text, n);
        jw_end_object(w);
    } else {
        jw_textn(w, "text", text ? text : "", n);
    }
    jw_text(w, "finish_reason", finish);
    jw_end_object(w);
}

static const char *finish_of(const struct answer *a)
{
    return pocket_finish_name(a->job->outcome.finish);
}

static void write_usage(const struct answer *a, struct json_writer *w)
{
    const struct pocket_outcome *o = &a->job->outcome;

    jw_begin_object(w, "usage");
    jw_int(w, "prompt_tokens", o->prompt_tokens);
    jw_int(w, "completion_tokens", o->completion_tokens);
    jw_int(w, "total_tokens", (int64_t)o->prompt_tokens + o->completion_tokens);
    jw_end_object(w);
}

static double ms(mono_ns from, mono_ns to)
{
    return (double)(to - from) / (double)NS_PER_MS;
}

static void write_times(const struct answer *a, struct json_writer *w)
{
    const struct pocket_outcome *o = &a->job->outcome;

    jw_begin_object(w, "timings");
    jw_int(w, "cache_n", 0);
    jw_int(w, "prompt_n", o->prompt_tokens);
    jw_real(w, "prompt_ms", ms(a->job->taken, o->first));
    jw_int(w, "predicted_n", o->completion_tokens);
    jw_real(w, "predicted_ms", ms(o->first, o->end));
    jw_end_object(w);
    jw_begin_object(w, "metrics");
    jw_real(w, "queue_time_ms", ms(a->received, a->job->taken));
    jw_real(w, "time_to_first_token_ms", ms(a->job->taken, o->first));
    jw_real(w, "generation_time_ms", ms(o->first, o->end));
    jw_end_object(w);
}

static void write_chunk(const struct answer *a, const char *role, const char *text, size_t n,
                        const char *finish, bool times, struct buf *out)
{
    struct json_writer w;

    buf_adds(out, "data: ");
    w = json_writer(out, JSON_LINE);
    begin_document(a, a->request->chat ? ".chunk" : "", &w);
    write_choice(a, "delta", role, text, n, finish, &w);
    jw_end_array(&w);
    if (times)
        write_times(a, &w);
    jw_end_object(&w);
    buf_adds(out, "\n\n");
}

static void write_begin(const struct answer *a, struct buf *out)
{
    if (a->request->chat)
        write_chunk(a, "assistant", "", 0, NULL, false, out);
}

static void write_piece(const struct answer *a, const char *text, size_t n, mono_ns at,
                        struct buf *out)
{
    (void)at;
    write_chunk(a, NULL, text, n, NULL, false, out);
}

static void write_end(const struct answer *a, struct buf *out)
{
    bool apart = a->request->include_usage;

    write_chunk(a, NULL, NULL, 0, finish_of(a), !apart, out);
    if (apart) {
        struct json_writer w;

        buf_adds(out, "data: ");
        w = json_writer(out, JSON_LINE);
        begin_document(a, a->request->chat ? ".chunk" : "", &w);
        jw_end_array(&w);
        write_usage(a, &w);
        write_times(a, &w);
        jw_end_object(&w);
        buf_adds(out, "\n\n");
    }
    buf_adds(out, "data: [DONE]\n\n");
}

static void write_whole(const struct answer *a, const char *text, size_t n, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    begin_document(a, "", &w);
    write_choice(a, "message", "assistant", text, n, finish_of(a), &w);
    jw_end_array(&w);
    write_usage(a, &w);
    write_times(a, &w);
    jw_end_object(&w);
}

void openai_write_models(const struct pocket_model *m, int64_t wall_ns, struct buf *out)
{
    struct json_writer w = json_writer(out, JSON_LINE);

    jw_begin_object(&w, NULL);
    jw_text(&w, "object", "list");
    jw_begin_array(&w, "data");
    jw_begin_object(&w, NULL);
    jw_text(&w, "id", SERVE_MODEL);
    jw_text(&w, "object", "model");
    jw_int(&w, "created", wall_ns / NS_PER_S);
    jw_text(&w, "owned_by", "ipw");
    jw_begin_object(&w, "meta");
    jw_int(&w, "n_vocab", pocket_vocabulary(m));
    jw_int(&w, "n_ctx", pocket_context(m));
    jw_int(&w, "n_params", pocket_parameters(m));
    jw_int(&w, "size", (int64_t)pocket_weights_size);
    jw_end_object(&w);
    jw_end_object(&w);
    jw_end_array(&w);
    jw_end_object(&w);
}

const struct protocol openai_protocol = {
    .stream_type = "text/event-stream",
    .read = read_request,
    .error = write_error,
    .begin = write_begin,
    .piece = write_piece,
    .end = write_end,
    .whole = write_whole,
};
