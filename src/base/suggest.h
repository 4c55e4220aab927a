/*
 * suggest: the nearest valid name to a mistyped one.
 */
#ifndef IPW_BASE_SUGGEST_H
#define IPW_BASE_SUGGEST_H

#include <stddef.h>

/* Collects candidates one by one:
 *     struct suggest s = suggest_for(typed);
 *     suggest_offer(&s, name);   for each valid name; the strings must outlive s
 *     s.best                     the nearest, NULL when none is near enough to be meant */
struct suggest {
    const char *typed;
    const char *best;
    size_t distance;
};

struct suggest suggest_for(const char *typed);
void suggest_offer(struct suggest *s, const char *candidate);

#endif
