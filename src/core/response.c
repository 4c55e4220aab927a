/*
 * Times are stored as the differences between successive deltas in a variable-length code of seven
 * bits a byte: three or four bytes for gaps of milliseconds, instead of eight.
 */
#include "core/response.h"

#include "base/alloc.h"

const char *failure_name(enum failure f)
{
    static const char *const names[FAILURE_COUNT] = {
        [FAILURE_NONE] = "none",
        [FAILURE_CONNECT] = "connect",
        [FAILURE_STATUS] = "status",
        [FAILURE_STREAM] = "stream",
        [FAILURE_CUT] = "cut",
        [FAILURE_NO_END] = "no_end",
        [FAILURE_STALL] = "stall",
        [FAILURE_TIMEOUT] = "timeout",
        [FAILURE_GARBAGE] = "garbage",
        [FAILURE_TOO_LARGE] = "too_large",
        [FAILURE_CANCELLED] = "cancelled",
    };

    return names[f];
}

void response_init(struct response *r, size_t max_bytes)
{
    *r = (struct response){
        .answer = BUF_INIT(max_bytes),
        .reasoning = BUF_INIT(max_bytes),
        .sent = MONO_ABSENT,
        .headers = MONO_ABSENT,
        .first_token = MONO_ABSENT,
        .first_answer = MONO_ABSENT,
        .last_token = MONO_ABSENT,
        .end = MONO_ABSENT,
        .times = BUF_INIT(BUF_MAX_OWN),
        .usage = USAGE_NONE,
        .timings = SERVER_TIMINGS_NONE,
        .retry_after_ns = -1,
    };
}

void response_release(struct response *r)
{
    buf_release(&r->answer);
    buf_release(&r->reasoning);
    buf_release(&r->times);
}

static void keep_time(struct response *r, mono_ns at)
{
    uint64_t gap = (uint64_t)(at - (r->deltas ? r->last_token : 0));

    while (gap >= 0x80) {
        buf_addc(&r->times, (char)(gap | 0x80));
        gap >>= 7;
    }
    buf_addc(&r->times, (char)gap);
}

int response_delta(struct response *r, enum delta_kind kind, const char *text, size_t n, mono_ns at)
{
    int result = 0;

    if (n == 0)
        return 0;
    if (kind == DELTA_ANSWER)
        result = buf_add(&r->answer, text, n);
    else if (kind == DELTA_REASONING)
        result = buf_add(&r->reasoning, text, n);
    if (result < 0)
        return result;
    keep_time(r, at);
    r->deltas++;
    r->last_token = at;
    if (r->first_token == MONO_ABSENT)
        r->first_token = at;
    if (kind == DELTA_ANSWER && r->first_answer == MONO_ABSENT)
        r->first_answer = at;
    return 0;
}

mono_ns *response_times(const struct response *r, size_t *ret_n)
{
    mono_ns *times = xcalloc((size_t)r->deltas, sizeof(*times));
    const unsigned char *p = (const unsigned char *)buf_str(&r->times);
    mono_ns t = 0;

    for (int64_t i = 0; i < r->deltas; i++) {
        uint64_t gap = 0;
        int shift = 0;

        do
            gap |= (uint64_t)(*p & 0x7F) << shift;
        while (shift += 7, *p++ & 0x80);
        t += (mono_ns)gap;
        times[i] = t;
    }
    *ret_n = (size_t)r->deltas;
    return times;
}
