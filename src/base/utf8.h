/*
 * utf8: text from outside is checked once, where it enters.
 */
#ifndef IPW_BASE_UTF8_H
#define IPW_BASE_UTF8_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the valid character at p (1 to 4, within n bytes), 0 when it is not one: surrogates,
 * overlong forms and code points beyond U+10FFFF are refused. *ret_code may be NULL. */
size_t utf8_char(const char *p, size_t n, uint32_t *ret_code);
bool utf8_valid(const char *p, size_t n);
/* Appends the text with each invalid byte replaced by U+FFFD. */
int utf8_sanitize(struct buf *out, const char *p, size_t n);

#endif
