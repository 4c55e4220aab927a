/*
 * The held text is at most one stop string and one token long, so looking at all of it for every
 * token is cheap.
 */
#include "client/pocket/stops.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void stops_init(struct stops *s, const struct stop_string *list, size_t n, pocket_text_fn give,
                void *arg)
{
    *s = (struct stops){.list = list, .n = n, .give = give, .arg = arg};
}

void stops_release(struct stops *s)
{
    free(s->text);
    free(s->pieces);
    *s = (struct stops){0};
}

static void hold(struct stops *s, const char *text, size_t n, mono_ns at)
{
    if (s->cap - s->len < n) {
        s->cap = s->cap * 2 + n;
        s->text = xreallocarray(s->text, s->cap, 1);
    }
    memcpy(s->text + s->len, text, n);
    s->len += n;
    GROW(s->pieces, s->n_pieces, s->cap_pieces);
    s->pieces[s->n_pieces++] = (struct held_piece){n, at};
}

/* Gives out the first n held bytes, in the pieces they came in. */
static void give_out(struct stops *s, size_t n)
{
    size_t at = 0, done = 0;

    if (n == 0)
        return;
    while (at < n) {
        struct held_piece *p = &s->pieces[done];
        size_t take = p->n < n - at ? p->n : n - at;

        s->give(s->arg, s->text + at, take, p->at);
        at += take;
        p->n -= take;
        if (p->n == 0)
            done++;
    }
    s->len -= n;
    memmove(s->text, s->text + n, s->len);
    s->n_pieces -= done;
    memmove(s->pieces, s->pieces + done, s->n_pieces * sizeof(*s->pieces));
}

/* Where the first stop string begins; len when there is none. */
static size_t find_stop(const struct stops *s)
{
    size_t first = s->len;

    for (size_t i = 0; i < s->n; i++) {
        const char *found = memmem(s->text, s->len, s->list[i].text, s->list[i].n);

        if (found && (size_t)(found - s->text) < first)
            first = (size_t)(found - s->text);
    }
    return first;
}

/* How many of the last bytes could be the beginning of a stop string. */
static size_t maybe_begun(const struct stops *s)
{
    size_t most = 0;

    for (size_t i = 0; i < s->n; i++) {
        size_t n = s->list[i].n - 1 < s->len ? s->list[i].n - 1 : s->len;

        while (n > most && memcmp(s->text + s->len - n, s->list[i].text, n) != 0)
            n--;
        if (n > most)
            most = n;
    }
    return most;
}

bool stops_feed(struct stops *s, const char *text, size_t n, mono_ns at)
{
    size_t stop;

    if (n == 0)
        return false;
    if (s->n == 0) {
        s->give(s->arg, text, n, at);
        return false;
    }
    hold(s, text, n, at);
    stop = find_stop(s);
    if (stop < s->len) {
        give_out(s, stop);
        s->len = s->n_pieces = 0;
        return true;
    }
    give_out(s, s->len - maybe_begun(s));
    return false;
}

void stops_end(struct stops *s)
{
    give_out(s, s->len);
}
