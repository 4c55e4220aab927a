/*
 * OpenAI's streams, chat and completions, as llama.cpp, vLLM, SGLang, TGI, LM Studio, Ollama and
 * the cloud services send them. Every field may be absent, null or empty; choices may be empty;
 * [DONE] proves nothing.
 *
 * Nearly every event is one short text and nothing else of interest: those are skimmed where they
 * lie. Anything else (an error, usage, a finish reason, a tool call, several choices) is parsed.
 */
#include "client/reader.h"

#include <string.h>

#define NS_PER_MS_F 1e6

/* What an ordinary event says. */
struct chunk {
    struct skim_text answer;
    struct skim_text reasoning;
};

/* The three spellings of the reasoning text. A server in transition sends the same text under two
 * names: the first that is not empty counts. */
static const char *const reasoning_keys[] = {"reasoning_content", "reasoning", "thinking"};
#define N_REASONING_KEYS (sizeof(reasoning_keys) / sizeof(reasoning_keys[0]))

/* A string, or null, which is no text. Each may come once. */
static bool quick_text(struct skim *s, struct skim_text *ret, bool *seen)
{
    if (*seen)
        return false;
    *seen = true;
    return skim_literal(s, "null") || skim_string(s, ret);
}

static bool quick_delta(struct skim *s, struct chunk *c)
{
    struct skim_text key, reasoning[N_REASONING_KEYS] = {{0}};
    bool seen_answer = false, seen[N_REASONING_KEYS] = {false};

    skim_open(s, '{');
    while (skim_member(s, &key)) {
        bool ok = false, known = false;

        if (skim_is(key, "content")) {
            ok = quick_text(s, &c->answer, &seen_answer);
        } else if (skim_is(key, "tool_calls") || skim_is(key, "function_call")) {
            ok = skim_literal(s, "null");
        } else {
            for (size_t i = 0; i < N_REASONING_KEYS && !known; i++)
                if ((known = skim_is(key, reasoning_keys[i])))
                    ok = quick_text(s, &reasoning[i], &seen[i]);
            if (!known)
                ok = skim_skip(s);
        }
        if (!ok)
            return false;
    }
    for (size_t i = N_REASONING_KEYS; i-- > 0;)
        if (reasoning[i].n > 0)
            c->reasoning = reasoning[i];
    return s->p != NULL;
}

static bool quick_choice(struct skim *s, struct chunk *c)
{
    bool seen_delta = false, seen_text = false;
    struct skim_text key;

    skim_open(s, '{');
    while (skim_member(s, &key)) {
        bool ok;

        if (skim_is(key, "delta")) {
            ok = !seen_delta && !seen_text && quick_delta(s, c);
            seen_delta = true;
        } else if (skim_is(key, "text")) {
            ok = !seen_delta && quick_text(s, &c->answer, &seen_text);
        } else if (skim_is(key, "index")) {
            ok = skim_literal(s, "0");
        } else if (skim_is(key, "finish_reason") || skim_is(key, "error")) {
            ok = skim_literal(s, "null");
        } else {
            ok = !skim_is(key, "message") && skim_skip(s);
        }
        if (!ok)
            return false;
    }
    return s->p != NULL;
}

/* One choice with text, and nothing else that matters. */
static bool quick_chunk(const char *text, size_t n, struct chunk *ret)
{
    struct skim s = {.p = text, .end = text + n};
    struct skim_text key, object;
    struct chunk c = {0};
    bool seen_choices = false;

    skim_open(&s, '{');
    while (skim_member(&s, &key)) {
        bool ok;

        if (skim_is(key, "choices")) {
            ok = !seen_choices && skim_open(&s, '[') && skim_element(&s) && quick_choice(&s, &c) &&
                 !skim_element(&s) && s.p;
            seen_choices = true;
        } else if (skim_is(key, "usage") || skim_is(key, "error") || skim_is(key, "timings") ||
                   skim_is(key, "metrics")) {
            ok = skim_literal(&s, "null");
        } else if (skim_is(key, "object")) {
            ok = skim_string(&s, &object) && !object.escaped && !skim_is(object, "error");
        } else {
            ok = skim_skip(&s);
        }
        if (!ok)
            return false;
    }
    *ret = c;
    return seen_choices && skim_done(&s);
}

/* The last one that is told counts: some servers send zeros with every event before. */
static void read_usage(struct usage *u, const struct json *v)
{
    if (!json_is(v, JSON_OBJECT))
        return;
    u->prompt_tokens = reader_count(json_get(v, "prompt_tokens"));
    u->completion_tokens = reader_count(json_get(v, "completion_tokens"));
    u->cached_prompt_tokens =
        reader_count(json_get(json_get(v, "prompt_tokens_details"), "cached_tokens"));
    u->reasoning_tokens =
        reader_count(json_get(json_get(v, "completion_tokens_details"), "reasoning_tokens"));
    if (u->reasoning_tokens < 0) /* SGLang */
        u->reasoning_tokens = reader_count(json_get(v, "reasoning_tokens"));
}

/* llama.cpp. The prompt's tokens are those evaluated and those found in the cache. */
static void read_timings(struct reader *r, const struct json *v)
{
    int64_t evaluated = reader_count(json_get(v, "prompt_n"));
    int64_t cached = reader_count(json_get(v, "cache_n"));
    struct server_timings *t = &r->response->timings;

    if (!json_is(v, JSON_OBJECT))
        return;
    t->prefill_ns = reader_ns(json_get(v, "prompt_ms"), NS_PER_MS_F);
    t->decode_ns = reader_ns(json_get(v, "predicted_ms"), NS_PER_MS_F);
    r->fallback.completion_tokens = reader_count(json_get(v, "predicted_n"));
    if (evaluated >= 0 && cached >= 0 && evaluated < INT64_MAX - cached) {
        r->fallback.prompt_tokens = evaluated + cached;
        r->fallback.cached_prompt_tokens = cached;
    }
}

/* vLLM. Its time to first token counts from the scheduling, so it is the prefill alone. */
static void read_metrics(struct server_timings *t, const struct json *v)
{
    if (!json_is(v, JSON_OBJECT))
        return;
    t->queue_ns = reader_ns(json_get(v, "queue_time_ms"), NS_PER_MS_F);
    t->prefill_ns = reader_ns(json_get(v, "time_to_first_token_ms"), NS_PER_MS_F);
    t->decode_ns = reader_ns(json_get(v, "generation_time_ms"), NS_PER_MS_F);
}

static int read_call(struct reader *r, const struct json *function)
{
    int result = reader_delta_json(r, DELTA_TOOL_CALL, json_get(function, "name"));

    return result < 0 ? result
                      : reader_delta_json(r, DELTA_TOOL_CALL, json_get(function, "arguments"));
}

static int read_delta(struct reader *r, const struct json *delta)
{
    int result = 0;

    for (size_t i = 0; i < N_REASONING_KEYS; i++) {
        const struct json *text = json_get(delta, reasoning_keys[i]);

        if (json_is(text, JSON_STRING) && text->len > 0) {
            result = reader_delta_json(r, DELTA_REASONING, text);
            break;
        }
    }
    if (result == 0)
        result = reader_delta_json(r, DELTA_ANSWER, json_get(delta, "content"));
    JSON_FOREACH (call, json_get(delta, "tool_calls"))
        if (result == 0)
            result = read_call(r, json_get(call, "function"));
    return result < 0 ? result : read_call(r, json_get(delta, "function_call"));
}

/* Only the first of several choices is read: the others would mix their texts into it. */
static int read_choice(struct reader *r, const struct json *choice)
{
    const struct json *delta = json_get(choice, "delta"), *error = json_get(choice, "error");
    const char *finish = json_text(json_get(choice, "finish_reason"), "");
    int result;

    if (json_int(json_get(choice, "index"), 0) != 0)
        return 0;
    if (reader_is_error(error))
        return reader_fail_said(r, error);
    if (!json_is(delta, JSON_OBJECT))
        delta = json_get(choice, "message"); /* a whole answer in one event */
    result = json_is(delta, JSON_OBJECT)
                 ? read_delta(r, delta)
                 : reader_delta_json(r, DELTA_ANSWER, json_get(choice, "text"));
    if (result < 0)
        return result;
    if (strcmp(finish, "error") == 0)
        return reader_fail(r, FAILURE_STREAM, "the stream ended with finish_reason \"error\"");
    if (*finish)
        reader_finish(r, finish);
    return 0;
}

static int read_event(struct reader *r, const char *type, const char *data, size_t n)
{
    const struct json *root, *error;

    if (reader_parse(r, data, n) < 0)
        return -1;
    root = r->memory->doc.root;
    error = json_get(root, "error");
    if (reader_is_error(error))
        return reader_fail_said(r, error);
    if (strcmp(type, "error") == 0 || strcmp(json_text(json_get(root, "object"), ""), "error") == 0)
        return reader_fail_said(r, root);
    read_usage(&r->response->usage, json_get(root, "usage"));
    read_timings(r, json_get(root, "timings"));
    read_metrics(&r->response->timings, json_get(root, "metrics"));
    JSON_FOREACH (choice, json_get(root, "choices"))
        if (read_choice(r, choice) < 0)
            return -1;
    return 0;
}

static int on_event(void *arg, const char *type, const char *data, size_t n)
{
    struct reader *r = arg;
    struct chunk c;

    while (n > 0 && strchr(" \t\n", data[n - 1]))
        n--;
    if (n == 0 || (n == 6 && memcmp(data, "[DONE]", 6) == 0))
        return 0;
    r->events++;
    if (r->thorough || *type || !quick_chunk(data, n, &c))
        return read_event(r, type, data, n);
    if (reader_delta_skim(r, DELTA_REASONING, c.reasoning) < 0)
        return -1;
    return reader_delta_skim(r, DELTA_ANSWER, c.answer);
}

static void init(struct reader *r, size_t line_max)
{
    sse_init(&r->sse, line_max, on_event, r);
}

static int feed(struct reader *r, const char *piece, size_t n)
{
    return reader_framing(r, sse_feed(&r->sse, piece, n));
}

static int end(struct reader *r)
{
    int result = reader_framing(r, sse_end(&r->sse));

    if (result == 0 && r->finish_at == MONO_ABSENT && r->sse.junk_lines > 0)
        return reader_fail(r, FAILURE_GARBAGE, "the body is not a stream of events");
    return result;
}

static void release(struct reader *r)
{
    sse_release(&r->sse);
}

static const char *const types[] = {"text/event-stream", NULL};

const struct reader_ops openai_reader = {
    .types = types,
    .init = init,
    .feed = feed,
    .end = end,
    .release = release,
};
