/*
 * What both protocols' requests have in common. A body is bounded in bytes by its connection; here
 * the number of its values is bounded too, because a million bytes of "[0,0,0,..." would become a
 * tree of fifty times that size.
 */
#include "base/cleanup.h"
#include "client/client.h"
#include "serve/protocol.h"
#include "serve/serve.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define VALUES_MAX 20000

int refuse(struct refusal *ret, int status, const char *fmt, ...)
{
    char text[ERR_TEXT_MAX];
    struct err cut;
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    err_set(&cut, EINVAL, "%s", text);
    *ret = (struct refusal){.status = status};
    memcpy(ret->message, cut.text, sizeof(ret->message));
    return -1;
}

void serve_request_release(struct serve_request *r)
{
    buf_release(&r->prompt);
}

/* Values of the document, about: each but the first of a container follows one of these. */
static bool has_too_many_values(const char *p, size_t n)
{
    const char *end = p + n;
    bool quoted = false;
    int values = 0;

    for (; p < end && values <= VALUES_MAX; p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (quoted && *p == '\\')
            p++;
        else if (!quoted && (*p == ',' || *p == '[' || *p == '{'))
            values++;
    }
    return values > VALUES_MAX;
}

int serve_read_option(const struct json *from, const char *shown, const char *name,
                      struct serve_request *ret, struct refusal *ret_refusal)
{
    struct err err = {0};

    if (pocket_options_set(&ret->options, name, json_get(from, shown), &err) == 0)
        return 0;
    refuse(ret_refusal, 400, "%s: %s", shown, err.text);
    ret_refusal->param = shown;
    return -1;
}

int serve_read_flag(const struct json *from, const char *name, bool *ret,
                    struct refusal *ret_refusal)
{
    const struct json *v = json_get(from, name);

    if (!v || json_is(v, JSON_NULL))
        return 0;
    if (!json_is(v, JSON_BOOL)) {
        refuse(ret_refusal, 400, "%s: true or false is expected", name);
        ret_refusal->param = name;
        return -1;
    }
    *ret = v->boolean;
    return 0;
}

static int refuse_messages(struct refusal *ret, const char *words)
{
    refuse(ret, 400, "messages: %s", words);
    ret->param = "messages";
    return -1;
}

/* A content is a text, or a list of parts of which all are text. */
static int read_content(const struct json *content, struct buf *out, struct refusal *ret_refusal)
{
    if (json_is(content, JSON_STRING)) {
        buf_add(out, content->text, content->len);
        return 0;
    }
    if (!json_is(content, JSON_ARRAY))
        return refuse_messages(ret_refusal, "a content that is text, or a list of parts, is "
                                            "expected");
    JSON_FOREACH (part, content) {
        const struct json *text = json_get(part, "text");

        if (strcmp(json_text(json_get(part, "type"), "text"), "text") != 0 ||
            !json_is(text, JSON_STRING))
            return refuse_messages(ret_refusal, "only parts of the type \"text\" can be read");
        buf_add(out, text->text, text->len);
    }
    return 0;
}

int serve_read_messages(const struct json *messages, struct serve_request *ret,
                        struct refusal *ret_refusal)
{
    const struct json *last = NULL;

    if (!json_is(messages, JSON_ARRAY))
        return refuse_messages(ret_refusal, "a list of messages is expected");
    JSON_FOREACH (m, messages) {
        if (!json_is(m, JSON_OBJECT))
            return refuse_messages(ret_refusal, "a message must be an object");
        if (strcmp(json_text(json_get(m, "role"), ""), "user") == 0)
            last = m;
    }
    if (!last)
        return refuse_messages(ret_refusal, "there is none of the role \"user\"");
    return read_content(json_get(last, "content"), &ret->prompt, ret_refusal);
}

static int read_model(const struct json *root, struct serve_request *ret,
                      struct refusal *ret_refusal)
{
    static const char *const spellings[] = {SERVE_MODEL, SERVE_MODEL ":latest"};
    const struct json *model = json_get(root, "model");

    if (!json_is(model, JSON_STRING) || model->len == 0) {
        refuse(ret_refusal, 400, "model is required");
        ret_refusal->param = "model";
        return -1;
    }
    for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++)
        if (model->len == strlen(spellings[i]) && strcmp(model->text, spellings[i]) == 0) {
            ret->model = spellings[i];
            return 0;
        }
    refuse(ret_refusal, 404, "model '%.100s' not found, there is '%s'", model->text, SERVE_MODEL);
    ret_refusal->param = "model";
    ret_refusal->code = "model_not_found";
    return -1;
}

int serve_request_read(const struct protocol *p, bool chat, const char *body, size_t n,
                       struct serve_request *ret, struct refusal *ret_refusal)
{
    AUTO(json_doc) struct json_doc doc = {0};
    struct err err = {0};

    *ret = (struct serve_request){
        .chat = chat, .options = POCKET_OPTIONS_DEFAULT, .prompt = BUF_INIT(SERVE_BODY_MAX)};
    if (n == 0)
        return refuse(ret_refusal, 400, "missing request body");
    if (has_too_many_values(body, n))
        return refuse(ret_refusal, 400, "the body has more than %d values", VALUES_MAX);
    if (json_doc_parse(&doc, body, n, &err) < 0)
        return refuse(ret_refusal, 400, "the body: %s", err.text);
    if (!json_is(doc.root, JSON_OBJECT))
        return refuse(ret_refusal, 400, "the body is not a JSON object");
    if (read_model(doc.root, ret, ret_refusal) < 0)
        return -1;
    return p->read(doc.root, ret, ret_refusal);
}
