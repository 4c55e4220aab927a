/*
 * skim: the few values of a small JSON text that matter, read where they lie.
 *
 * A stream brings one JSON object of 100 to 300 bytes for every token, of which a client wants one
 * string. Building the tree of json.h for each costs four times what reading it in one pass does.
 * A skim is a cursor that walks the text and understands ordinary JSON only. Whatever it accepts,
 * json_doc_parse accepts with the same meaning; whatever it does not (strings with surrogate
 * escapes, numbers with exponents, deep nesting, anything malformed) is not an error but "not
 * ordinary": the caller then takes the slow way, which decides.
 *
 *     struct skim s = {.p = text, .end = text + n};
 *     if (!skim_open(&s, '{')) return false;
 *     while (skim_member(&s, &key))
 *         if (skim_is(key, "response")) ok = skim_string(&s, &response);
 *         else ok = skim_skip(&s);
 *     return ok && skim_done(&s);
 *
 * A function that returns false has left the cursor at the place that it did not understand, where
 * no other will succeed either: `p` is NULL then, so that one check at the end is enough.
 */
#ifndef IPW_CLIENT_SKIM_H
#define IPW_CLIENT_SKIM_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* NULL `p`: met something that is not ordinary. */
struct skim {
    const char *p;
    const char *end;
    bool fresh; /* just behind an opening bracket: no comma is due */
};

/* A slice of the text. For a string: what is between its quotes, valid UTF-8. */
struct skim_text {
    const char *p;
    size_t n;
    bool escaped; /* contains backslashes: see skim_unescape */
};

/* Steps over the bracket that opens an object or array. */
bool skim_open(struct skim *s, char bracket);
/* Is there another member? Then *ret_key is its key and the cursor before its value. False at the
 * closing brace, which is stepped over. Keys with escapes are not ordinary. */
bool skim_member(struct skim *s, struct skim_text *ret_key);
/* Is there another element? False at the closing bracket, which is stepped over. */
bool skim_element(struct skim *s);
bool skim_string(struct skim *s, struct skim_text *ret);
/* Steps over the literal (null, true, false, 0), if it is that. Else false, and the cursor stays
 * where it is, usable. */
bool skim_literal(struct skim *s, const char *literal);
/* Steps over any value. */
bool skim_skip(struct skim *s);
/* Nothing but blanks is left, and all that came before was ordinary. */
bool skim_done(struct skim *s);

/* The string's text: appended to out when it has escapes. *ret is the text in either case, valid
 * until out grows. False when out is full. */
bool skim_unescape(struct skim_text text, struct buf *out, struct skim_text *ret);

static inline bool skim_is(struct skim_text key, const char *name)
{
    size_t n = strlen(name);

    return key.n == n && memcmp(key.p, name, n) == 0;
}

#endif
