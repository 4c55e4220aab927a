/*
 * answer: the text the test server gives to a prompt, as a function that tests can call.
 *
 * Token i of an answer depends only on the prompt's bytes, the seed and i:
 *
 *     key   = mix(FNV-1a-64(prompt) ^ mix(seed))             mix: splitmix64's finaliser
 *     x     = mix(key + (i + 1) * 0x9E3779B97F4A7C15)
 *     token = by x % 32:  0 "\n"   1 " \"yes\""   2 " naïve"   3 " 語"   4 " 🙂"   5 "."
 *             else a blank and two syllables: for s = 8, 16
 *             "bcdfghjklmnprstv"[(x >> s) % 16] and "aeio"[(x >> (s + 4)) % 4]
 *
 * Reasoning tokens are numbered from ANSWER_REASONING on. The prompt of a chat is the content of
 * its last message (text parts are joined). A prompt counts one token per four bytes begun.
 */
#ifndef IPW_FAKES_ANSWER_H
#define IPW_FAKES_ANSWER_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

#define ANSWER_REASONING (INT64_C(1) << 40)

uint64_t answer_hash(const char *prompt, size_t n);
uint64_t answer_key(const char *prompt, size_t n, uint64_t seed);
/* Appends the tokens [from, to). */
void answer_add(struct buf *out, uint64_t key, int64_t from, int64_t to);
int64_t answer_prompt_tokens(size_t prompt_bytes);
/* A given text (--answer) as tokens: each but the first begins with a blank. How many, and the
 * tokens [from, to) of them, as far as there are any. */
int64_t answer_words(const char *text);
void answer_add_words(struct buf *out, const char *text, int64_t from, int64_t to);
/* Bits that look random and depend on both numbers. */
uint64_t answer_mix(uint64_t key, uint64_t i);

#endif
