/*
 * words: what a server said went wrong, made fit to be shown.
 *
 * Servers put their error text in many places; people want the text. What they say is not to be
 * trusted: it may hold control characters, bytes that are no text, megabytes, or our own key.
 */
#ifndef IPW_CLIENT_WORDS_H
#define IPW_CLIENT_WORDS_H

#include "base/buf.h"
#include "base/json.h"

#include <stddef.h>

/* As much of a server's words as is ever kept. */
#define WORDS_MAX ((size_t)64 << 10)

/* Strings that must never be shown. */
struct secrets {
    char **items;
    size_t n, cap;
};

/* Copies it. NULL and texts too short to be secret (under 4 bytes) are not kept. */
void secrets_add(struct secrets *s, const char *text);
void secrets_release(struct secrets *s);

/* Appends the text of an error value: a string, {"message": ...}, {"error": <one of these>},
 * {"detail": "..." or [{"loc": [...], "msg": "..."}]}, or JSON inside a string. An object with none
 * of these is appended as JSON. Nothing for NULL and null. What is beyond out's limit is cut. */
void words_add_error(struct buf *out, const struct json *error);
/* Appends what an error body says: as above when it is JSON, else its text. `doc` is used to parse
 * it. */
void words_add_body(struct buf *out, struct json_doc *doc, const char *body, size_t n);

/* Makes it fit to be shown: valid UTF-8 in one line, secrets replaced by "***". */
void words_clean(struct buf *words, const struct secrets *secrets);

#endif
