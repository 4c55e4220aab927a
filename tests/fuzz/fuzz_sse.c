/* However the bytes are cut, the events are the same, and so is the way it ends. */
#include "base/buf.h"
#include "client/sse.h"
#include "support/fuzzsplit.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int write_down(void *arg, const char *type, const char *data, size_t n)
{
    struct buf *out = arg;

    buf_addf(out, "%s|%zu|", type, n);
    buf_add(out, data, n);
    return n == 3 && memcmp(data, "end", 3) == 0;
}

static int parse(const uint8_t *head, const char *p, size_t n, int whole, struct buf *out)
{
    struct fuzz_split split = fuzz_split(head);
    struct sse s;
    int r = 0;

    /* small limits are reached */
    sse_init(&s, head[3] < 200 ? (size_t)head[3] + 1 : 1 << 16, write_down, out);
    while (n > 0 && r == 0) {
        size_t piece = whole ? n : fuzz_split_next(&split, n);

        r = sse_feed(&s, p, piece);
        p += piece;
        n -= piece;
    }
    if (r == 0)
        r = sse_end(&s);
    sse_release(&s);
    return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf one = BUF_INIT(1 << 24), many = BUF_INIT(1 << 24);
    const char *text = (const char *)data + FUZZ_HEAD;

    if (size < FUZZ_HEAD)
        return 0;
    if (parse(data, text, size - FUZZ_HEAD, 1, &one) !=
            parse(data, text, size - FUZZ_HEAD, 0, &many) ||
        one.len != many.len || (one.len && memcmp(one.data, many.data, one.len) != 0))
        abort();
    buf_release(&one);
    buf_release(&many);
    return 0;
}
