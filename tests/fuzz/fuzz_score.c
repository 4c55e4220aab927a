/*
 * Input: a byte that chooses the scorer, then its arguments, the reference and the answer, each
 * ended by a byte FF. Whatever they are, there is a verdict or an error with words; and an answer
 * that is the reference is not wrong for exact and contains.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "score/scorer.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *take_text(const uint8_t **data, size_t *size)
{
    const uint8_t *end = *size ? memchr(*data, 0xFF, *size) : NULL;
    size_t n = end ? (size_t)(end - *data) : *size;
    char *text = xstrndup((const char *)*data, n);

    *data += n + (end != NULL);
    *size -= n + (end != NULL);
    return text;
}

static void check(const char *spec, const struct item *item, const char *answer, bool same)
{
    struct score s = {0};
    struct err err = {0};
    int r = score_answer(spec, item, answer, &s, &err);

    if (r < 0) {
        if (!err.text[0])
            abort();
        return;
    }
    if (!memchr(s.extracted, 0, sizeof(s.extracted)) || !memchr(s.reason, 0, sizeof(s.reason)))
        abort();
    if (s.verdict == VERDICT_UNSCORABLE && !s.reason[0])
        abort();
    if (same && s.verdict == VERDICT_WRONG)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const ids[] = {"exact", "contains", "numeric", "choice",
                                      "math",  "list",     "regex"};
    const char *id;
    struct item item = {.problem = "Which?\nA. x\nB. y\nC. z"};

    if (size < 1 || size > 65536)
        return 0;
    id = ids[data[0] % (sizeof(ids) / sizeof(*ids))];
    data++;
    size--;
    {
        AUTO_FREE char *args = take_text(&data, &size);
        AUTO_FREE char *reference = take_text(&data, &size);
        AUTO_FREE char *answer = take_text(&data, &size);
        AUTO_FREE char *spec = xasprintf("%s%s%s", id, *args ? ":" : "", args);

        item.answer = reference;
        check(spec, &item, answer, false);
        if (!strchr(reference, '<')) /* which may begin a block of thoughts */
            check("exact", &item, reference, reference[strspn(reference, " \t\n\r\v\f")] != '\0');
    }
    return 0;
}
