/*
 * stops: an answer is given out as it is made, but never a part of a stop string.
 *
 * A stop string may be spread over tokens, so text that could be its beginning is held back until
 * it is known not to be. Each piece keeps the time at which it was made.
 *
 *     struct stops s;
 *     stops_init(&s, list, n, give, arg);
 *     found = stops_feed(&s, text, n, at);        again and again; true: the answer is over
 *     stops_end(&s);                              no stop string came: what is held is given out
 *     stops_release(&s);
 */
#ifndef IPW_CLIENT_POCKET_STOPS_H
#define IPW_CLIENT_POCKET_STOPS_H

#include "base/clock.h"

#include <stdbool.h>
#include <stddef.h>

#define STOPS_MAX      8
#define STOP_BYTES_MAX 64

struct stop_string {
    char text[STOP_BYTES_MAX];
    size_t n; /* > 0 */
};

/* A piece of the answer, made at this time. Not empty. */
typedef void (*pocket_text_fn)(void *arg, const char *text, size_t n, mono_ns at);

struct held_piece {
    size_t n;
    mono_ns at;
};

struct stops {
    const struct stop_string *list; /* lent */
    size_t n;
    pocket_text_fn give;
    void *arg;
    /* What is held back: bytes, and the pieces they came in. */
    char *text;
    size_t len, cap;
    struct held_piece *pieces;
    size_t n_pieces, cap_pieces;
};

void stops_init(struct stops *s, const struct stop_string *list, size_t n, pocket_text_fn give,
                void *arg);
void stops_release(struct stops *s);
/* True when a stop string has come: what was in front of it has been given out, the rest never is.
 * Of several that are complete with this piece, the one that begins first counts. */
bool stops_feed(struct stops *s, const char *text, size_t n, mono_ns at);
void stops_end(struct stops *s);

#endif
