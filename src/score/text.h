/*
 * text: finding the answer in what a model said. Shared by the scorers.
 *
 * Nothing here copies: a span lends from the text it was found in. All of it is linear in the
 * length of the text.
 */
#ifndef IPW_SCORE_TEXT_H
#define IPW_SCORE_TEXT_H

#include "base/buf.h"
#include "core/item.h"
#include "score/scorer.h"

#include <stdbool.h>
#include <stddef.h>

struct span {
    const char *p;
    size_t n;
};

struct span span_of(const char *text);
/* From byte `from` (at most its length) to its end. */
struct span span_from(struct span s, size_t from);
/* Without the blanks around it. */
struct span span_trim(struct span s);
/* Without blanks, markdown marks (* _ `), quotes and final punctuation (. , ; : ! ?) around it.
 */
struct span span_bare(struct span s);
bool span_is(struct span s, const char *text);
/* ASCII letters compare without case. */
bool span_starts_nocase(struct span s, const char *word);
bool span_equal_nocase(struct span a, struct span b);
/* Where `word` begins, at or behind `from`, without case and as a whole word; (size_t)-1 if
 * nowhere. */
size_t span_find_word(struct span s, size_t from, const char *word);
/* Does a letter or digit end right before byte i, or begin at it? Characters of scripts that put no
 * blanks between words (Chinese, Japanese, Korean) count as neither. */
bool word_before(struct span s, size_t i);
bool word_at(struct span s, size_t i);
/* Is this word (of ASCII letters, any case) at byte i, with its end there too? */
bool span_has_word(struct span s, size_t i, const char *word);

/* What was said in the end: without <think>, <thinking> and <reasoning> blocks. A block that was
 * never closed takes the rest with it; one that was never opened takes what came before. Of a text
 * beyond ANSWER_MAX bytes only the end counts. Trimmed. */
#define ANSWER_MAX ((size_t)256 << 10)
struct span answer_text(const char *answer);

/* The content of the last complete \boxed{...}. */
bool find_boxed(struct span text, struct span *ret);
/* What the text calls its answer: the rest of the line behind "answer:", "answer is", "answer
 * should be", "answer to the question is", "####" and the like, or the next line when that rest is
 * empty. `words` (NULL-ended) are those that may stand for "answer". Looks from byte *at, which it
 * moves on. */
#define CUE_MAX 4096 /* bytes of such a line that count */
bool next_cue(struct span text, const char *const *words, size_t *at, struct span *ret);
/* The last one, for "answer" and "result". */
bool find_cue(struct span text, struct span *ret);
extern const char *const answer_words[];
/* The next part between ** and **. Looks from byte *at, which it moves on. */
bool next_bold(struct span text, size_t *at, struct span *ret);
/* The last line that is not blank. */
struct span last_line(struct span text);
/* Up to the first ". ", "! ", "? ", line break, or the end. */
struct span first_sentence(struct span text);

/* What exact and list compare by: ASCII letters in lower case, runs of blanks as one, and none of
 * the marks of span_bare at the ends. */
void fold_text(struct span s, struct buf *ret);

/* Fills the score. `extracted` is cut to fit on a character boundary. */
void score_set(struct score *ret, enum verdict verdict, struct span extracted, const char *reason);
/* UNSCORABLE without a reference, WRONG without an answer (*ret_text empty); then returns true. */
bool score_trivial(const struct item *item, const char *answer, struct span *ret_text,
                   struct score *ret);

#endif
