/*
 * Input: bytes. As the reply of a judge they give a verdict or a reason, and TRUE only if the word
 * stands in them; as an answer to be judged, cut in three for the question and the reference, they
 * stay within their fences.
 */
#include "base/alloc.h"
#include "base/cleanup.h"
#include "score/judgement.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reply(const char *text, size_t n, bool cut)
{
    struct score s;

    judgement_read(text, n, cut, &s);
    if (!memchr(s.extracted, 0, sizeof(s.extracted)) || !memchr(s.reason, 0, sizeof(s.reason)))
        abort();
    if ((s.verdict == VERDICT_UNSCORABLE) != (s.reason[0] != '\0'))
        abort();
    if (s.verdict == VERDICT_CORRECT && !strcasestr(text, "true"))
        abort();
    if (s.verdict == VERDICT_WRONG && !strcasestr(text, "false"))
        abort();
}

/* Exactly one line begins and one ends the answer, and between them is the answer. */
static void check_prompt(const char *text, size_t n)
{
    AUTO_FREE char *problem = xstrndup(text, n / 3), *reference = xstrndup(text + n / 3, n / 3);
    const char *answer = text + 2 * (n / 3);
    struct item item = {.problem = problem, .answer = reference};
    AUTO(buf) struct buf prompt = BUF_INIT(BUF_MAX_OWN);
    const char *opens, *closes;
    char fence[64], code[17];

    judgement_prompt((enum judgement_kind)(n % JUDGEMENT_KINDS), &item, span_of(answer), n,
                     &prompt);
    snprintf(code, sizeof(code), "%s", strstr(buf_str(&prompt), "the code ") + strlen("the code "));
    snprintf(fence, sizeof(fence), "\n<<<ANSWER %s>>>\n", code);
    opens = strstr(buf_str(&prompt), fence);
    if (!opens || strstr(opens + 1, fence))
        abort();
    opens += strlen(fence);
    snprintf(fence, sizeof(fence), "\n<<<END OF ANSWER %s>>>\n", code);
    closes = strstr(buf_str(&prompt), fence);
    if (!closes || strstr(closes + 1, fence) || (size_t)(closes - opens) != strlen(answer) ||
        memcmp(opens, answer, strlen(answer)) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = xmalloc(size + 1);

    if (size > 65536)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check_reply(text, size, false);
    check_reply(text, size, true);
    check_prompt(text, strlen(text));
    return 0;
}
