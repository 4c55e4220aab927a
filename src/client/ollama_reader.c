/*
 * Ollama's streams: one JSON object per line, the last with done:true. Ordinary lines are skimmed
 * where they lie, others are parsed. All counters of the last line are left out by the server when
 * they are zero, so absence means nothing.
 */
#include "client/reader.h"

#include <string.h>

struct chunk {
    struct skim_text answer;
    struct skim_text thinking;
};

static bool quick_texts(struct skim *s, struct chunk *c, bool nested);

/* `answer` is the key of the text at this level; each key that matters may come once. */
static bool quick_member(struct skim *s, struct skim_text key, struct chunk *c, bool nested,
                         unsigned *seen)
{
    unsigned bit;
    bool ok;

    if (skim_is(key, nested ? "content" : "response")) {
        bit = 1;
        ok = skim_string(s, &c->answer);
    } else if (skim_is(key, "thinking")) {
        bit = 2;
        ok = skim_string(s, &c->thinking);
    } else if (!nested && skim_is(key, "message")) {
        bit = 1 | 2;
        ok = quick_texts(s, c, true);
    } else if (!nested && skim_is(key, "done")) {
        bit = 4;
        ok = skim_literal(s, "false");
    } else {
        return !skim_is(key, "error") && !skim_is(key, "tool_calls") && skim_skip(s);
    }
    ok = ok && !(*seen & bit);
    *seen |= bit;
    return ok;
}

static bool quick_texts(struct skim *s, struct chunk *c, bool nested)
{
    struct skim_text key;
    unsigned seen = 0;

    skim_open(s, '{');
    while (skim_member(s, &key))
        if (!quick_member(s, key, c, nested, &seen))
            return false;
    return s->p != NULL;
}

static bool quick_line(const char *line, size_t n, struct chunk *ret)
{
    struct skim s = {.p = line, .end = line + n};
    struct chunk c = {0};

    if (!quick_texts(&s, &c, false) || !skim_done(&s))
        return false;
    *ret = c;
    return true;
}

/* Queueing is in the total only. */
static void read_durations(struct server_timings *t, const struct json *root)
{
    int64_t total = reader_ns(json_get(root, "total_duration"), 1);

    t->load_ns = reader_ns(json_get(root, "load_duration"), 1);
    t->prefill_ns = reader_ns(json_get(root, "prompt_eval_duration"), 1);
    t->decode_ns = reader_ns(json_get(root, "eval_duration"), 1);
    if (total >= 0 && t->load_ns >= 0 && t->prefill_ns >= 0 && t->decode_ns >= 0) {
        int64_t queue = total - t->load_ns - t->prefill_ns - t->decode_ns;

        t->queue_ns = queue > 0 ? queue : 0;
    }
}

static void read_done(struct reader *r, const struct json *root)
{
    const char *reason = json_text(json_get(root, "done_reason"), "");
    struct usage *u = &r->response->usage;

    u->prompt_tokens = reader_count(json_get(root, "prompt_eval_count"));
    u->completion_tokens = reader_count(json_get(root, "eval_count"));
    read_durations(&r->response->timings, root);
    reader_finish(r, *reason ? reason : "stop"); /* old servers give no reason */
}

static int read_line(struct reader *r, const char *line, size_t n)
{
    const struct json *root, *message, *error;
    int result;

    if (reader_parse(r, line, n) < 0)
        return -1;
    root = r->memory->doc.root;
    error = json_get(root, "error");
    if (reader_is_error(error))
        return reader_fail_said(r, error);
    message = json_get(root, "message");
    if (!json_is(message, JSON_OBJECT))
        message = root;
    result = reader_delta_json(r, DELTA_REASONING, json_get(message, "thinking"));
    if (result == 0)
        result = reader_delta_json(r, DELTA_ANSWER,
                                   json_get(message, message == root ? "response" : "content"));
    JSON_FOREACH (call, json_get(message, "tool_calls"))
        if (result == 0)
            result =
                reader_delta_json(r, DELTA_TOOL_CALL, json_get(json_get(call, "function"), "name"));
    if (result == 0 && json_bool(json_get(root, "done"), false))
        read_done(r, root);
    return result;
}

static int on_line(void *arg, const char *line, size_t n)
{
    struct reader *r = arg;
    struct chunk c;

    r->events++;
    if (r->thorough || !quick_line(line, n, &c))
        return read_line(r, line, n);
    if (reader_delta_skim(r, DELTA_REASONING, c.thinking) < 0)
        return -1;
    return reader_delta_skim(r, DELTA_ANSWER, c.answer);
}

static void init(struct reader *r, size_t line_max)
{
    ndjson_init(&r->ndjson, line_max, on_line, r);
}

static int feed(struct reader *r, const char *piece, size_t n)
{
    return reader_framing(r, ndjson_feed(&r->ndjson, piece, n));
}

static int end(struct reader *r)
{
    return reader_framing(r, ndjson_end(&r->ndjson));
}

static void release(struct reader *r)
{
    ndjson_release(&r->ndjson);
}

/* A server that streams anyway may call it plain JSON. */
static const char *const types[] = {"application/x-ndjson", "application/ndjson",
                                    "application/jsonl", "application/json", NULL};

const struct reader_ops ollama_reader = {
    .types = types,
    .init = init,
    .feed = feed,
    .end = end,
    .release = release,
};
