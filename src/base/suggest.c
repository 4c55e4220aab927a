/*
 * Edit distance with swaps of neighbours counted once, which is how fingers err. A candidate is
 * near enough when at most a third of its letters differ (one at least), or when what was typed is
 * its beginning.
 */
#include "base/suggest.h"

#include <stdint.h>
#include <string.h>

#define SUGGEST_LEN_MAX 64

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

static size_t edit_distance(const char *a, const char *b)
{
    size_t row[3][SUGGEST_LEN_MAX + 1];
    size_t la = strlen(a), lb = strlen(b);

    if (la > SUGGEST_LEN_MAX || lb > SUGGEST_LEN_MAX)
        return SIZE_MAX;
    for (size_t j = 0; j <= lb; j++)
        row[0][j] = j;
    for (size_t i = 1; i <= la; i++) {
        size_t *now = row[i % 3], *last = row[(i + 2) % 3], *before = row[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= lb; j++) {
            size_t cost = a[i - 1] != b[j - 1];

            now[j] = min3(last[j] + 1, now[j - 1] + 1, last[j - 1] + cost);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = min3(now[j], before[j - 2] + 1, SIZE_MAX);
        }
    }
    return row[la % 3][lb];
}

struct suggest suggest_for(const char *typed)
{
    return (struct suggest){.typed = typed, .distance = SIZE_MAX};
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    size_t typed_len = strlen(s->typed), len = strlen(candidate);
    size_t limit = len / 3 > 0 ? len / 3 : 1;
    size_t d = edit_distance(s->typed, candidate);

    if (typed_len > 1 && strncmp(candidate, s->typed, typed_len) == 0)
        d = d < limit ? d : limit;
    if (d <= limit && d < s->distance) {
        s->best = candidate;
        s->distance = d;
    }
}
