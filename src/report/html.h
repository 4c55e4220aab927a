/*
 * html: what goes into a page, and cannot get out of its place there.
 *
 * Prompts, answers, model names, paths and command lines are data. Three places take them: the text
 * of an element, a quoted attribute, and a <script type="application/json"> block that the page's
 * script reads. Nothing else in the page is ever made of data.
 *
 *     html_text(&page, record->problem);                     &lt;/script&gt;
 *     html_json(&page, json.data, json.len);                 "\u003c/script\u003e"
 *     html_quantity(&page, 12.34, "J");                      12.34 J
 *
 * Results of additions are not returned: the page's buf remembers in `failed` that its limit was
 * met. Pure: any thread.
 */
#ifndef IPW_REPORT_HTML_H
#define IPW_REPORT_HTML_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

/* What stands for a missing value. */
#define HTML_ABSENT "\xE2\x80\x94" /* em dash */

/* Longer text is cut here and says so: a page is no place for megabytes of one name. */
#define HTML_TEXT_MAX 65536

/* For an element's text or a quoted attribute: & < > " ' as entities; bytes that are not UTF-8 as
 * U+FFFD; control characters, and those that turn the direction of the text, are made visible
 * ("[U+202E]"), so that text cannot read otherwise than it is. NULL is HTML_ABSENT. */
void html_text(struct buf *out, const char *text);

/* JSON text for a script block: < > & and U+2028, U+2029 as \uXXXX, which changes nothing for a
 * JSON parser, as they only occur inside of its strings. */
void html_json(struct buf *out, const char *json, size_t n);

/* At most so many bytes does html_json make of one byte. */
#define HTML_JSON_GROWTH 6

/* Four digits that count, groups of three apart, the unit behind; J, W and s take prefixes where
 * the number would be long ("2.078 mJ"). NAN is HTML_ABSENT. No digits are invented for whole
 * numbers. The unit is escaped; NULL or "" = none. */
void html_quantity(struct buf *out, double value, const char *unit);
/* "12.34 J (12.10 to 12.61)"; without bounds (NAN) only the value. */
void html_bounded(struct buf *out, double value, double low, double high, const char *unit);
/* Negative is HTML_ABSENT. */
void html_count(struct buf *out, int64_t value);
/* 0.953 is "95.3 %". */
void html_percent(struct buf *out, double part);

#endif
