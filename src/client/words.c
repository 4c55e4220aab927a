#include "client/words.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/utf8.h"

#include <stdlib.h>
#include <string.h>

#define SECRET_MIN 4
#define NEST_MAX   6

void secrets_add(struct secrets *s, const char *text)
{
    if (!text || strlen(text) < SECRET_MIN)
        return;
    GROW(s->items, s->n, s->cap);
    s->items[s->n++] = xstrdup(text);
}

void secrets_release(struct secrets *s)
{
    for (size_t i = 0; i < s->n; i++) {
        explicit_bzero(s->items[i], strlen(s->items[i]));
        free(s->items[i]);
    }
    free(s->items);
    *s = (struct secrets){0};
}

static void add_cut(struct buf *out, const char *text, size_t n)
{
    buf_add(out, text, n < out->max - out->len ? n : out->max - out->len);
}

static void add_error(struct buf *out, const struct json *v, int depth);

/* Ollama hands on its runner's error as JSON inside a string. */
static void add_text(struct buf *out, const struct json *v, int depth)
{
    AUTO(json_doc) struct json_doc inner = {0};

    if (depth < NEST_MAX && v->len > 1 && v->text[0] == '{' &&
        json_doc_parse(&inner, v->text, v->len, NULL) == 0)
        add_error(out, inner.root, depth + 1);
    else
        add_cut(out, v->text, v->len);
}

/* FastAPI's list of what is wrong where. */
static void add_details(struct buf *out, const struct json *list)
{
    size_t start = out->len;

    JSON_FOREACH (item, list) {
        const char *separator = "";

        if (out->len > start)
            buf_adds(out, "; ");
        JSON_FOREACH (place, json_get(item, "loc")) {
            buf_adds(out, separator);
            if (json_is(place, JSON_STRING))
                buf_adds(out, place->text);
            else
                buf_addf(out, "%lld", (long long)json_int(place, 0));
            separator = ".";
        }
        buf_adds(out, *separator ? ": " : "");
        buf_adds(out, json_text(json_get(item, "msg"), "?"));
    }
}

static void add_error(struct buf *out, const struct json *v, int depth)
{
    static const char *const keys[] = {"error", "message", "detail"};
    size_t start = out->len;
    struct json_writer w;

    if (json_is(v, JSON_STRING))
        add_text(out, v, depth);
    else if (json_is(v, JSON_ARRAY))
        add_details(out, v);
    for (size_t i = 0; json_is(v, JSON_OBJECT) && i < 3 && depth < NEST_MAX; i++) {
        add_error(out, json_get(v, keys[i]), depth + 1);
        if (out->len > start)
            return;
    }
    if (out->len > start || !v || v->type == JSON_NULL)
        return;
    w = json_writer(out, JSON_LINE);
    jw_value(&w, NULL, v);
}

void words_add_error(struct buf *out, const struct json *error)
{
    add_error(out, error, 0);
}

void words_add_body(struct buf *out, struct json_doc *doc, const char *body, size_t n)
{
    if (n > 0 && json_doc_parse(doc, body, n, NULL) == 0)
        add_error(out, doc->root, 0);
    else
        add_cut(out, body, n);
}

static void hide(struct buf *words, const char *secret)
{
    AUTO(buf) struct buf out = BUF_INIT(BUF_MAX_OWN);
    size_t len = strlen(secret);
    const char *p = buf_str(words), *end = p + words->len, *found;

    while ((found = memmem(p, (size_t)(end - p), secret, len))) {
        buf_add(&out, p, (size_t)(found - p));
        buf_adds(&out, "***");
        p = found + len;
    }
    if (out.len == 0)
        return;
    buf_add(&out, p, (size_t)(end - p));
    buf_clear(words);
    buf_add(words, out.data, out.len);
}

/* Control characters and runs of blanks become one blank. */
static void one_line(struct buf *words)
{
    size_t n = 0;

    for (size_t i = 0; i < words->len; i++) {
        unsigned char c = (unsigned char)words->data[i];

        if (c > ' ' && c != 0x7F)
            words->data[n++] = (char)c;
        else if (n > 0 && words->data[n - 1] != ' ')
            words->data[n++] = ' ';
    }
    while (n > 0 && words->data[n - 1] == ' ')
        n--;
    words->len = n;
    if (words->data)
        words->data[n] = '\0';
}

void words_clean(struct buf *words, const struct secrets *secrets)
{
    AUTO(buf) struct buf valid = BUF_INIT(BUF_MAX_OWN);
    size_t n;

    for (size_t i = 0; i < secrets->n; i++)
        hide(words, secrets->items[i]);
    utf8_sanitize(&valid, buf_str(words), words->len);
    n = valid.len < words->max ? valid.len : words->max;
    while (n < valid.len && n > 0 && ((unsigned char)valid.data[n] & 0xC0) == 0x80)
        n--;
    buf_clear(words);
    buf_add(words, buf_str(&valid), n);
    one_line(words);
}
