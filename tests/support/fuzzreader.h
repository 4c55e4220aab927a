/*
 * fuzzreader: a stream through a reader in two ways that must agree: whole pieces the quick way,
 * and cut at random places the thorough way. Include it once per program.
 */
#ifndef IPW_TESTS_FUZZREADER_H
#define IPW_TESTS_FUZZREADER_H

#include "base/utf8.h"
#include "client/reader.h"
#include "support/fuzzsplit.h"

#include <stdlib.h>
#include <string.h>

struct reading {
    struct response response;
    struct reader reader;
};

static void fuzz_read(const struct reader_ops *ops, struct reader_memory *memory,
                      const uint8_t *head, const char *p, size_t n, bool whole, struct reading *ret)
{
    struct fuzz_split split = fuzz_split(head);
    int r = 0;

    response_init(&ret->response, head[3] < 100 ? head[3] : 1 << 20);
    reader_init(&ret->reader, ops, memory, &ret->response, 1 << 24);
    ret->reader.thorough = !whole;
    while (n > 0 && r == 0) {
        size_t piece = whole ? n : fuzz_split_next(&split, n);

        r = reader_feed(&ret->reader, p, piece, 1000);
        p += piece;
        n -= piece;
    }
    if (r == 0)
        reader_end(&ret->reader);
}

static bool same_buf(const struct buf *a, const struct buf *b)
{
    return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

static bool same_reading(const struct reading *x, const struct reading *y)
{
    const struct response *a = &x->response, *b = &y->response;

    return x->reader.failure == y->reader.failure && x->reader.events == y->reader.events &&
           same_buf(&x->reader.words, &y->reader.words) && same_buf(&a->answer, &b->answer) &&
           same_buf(&a->reasoning, &b->reasoning) && same_buf(&a->times, &b->times) &&
           a->deltas == b->deltas && a->end == b->end && a->first_answer == b->first_answer &&
           strcmp(a->finish_reason, b->finish_reason) == 0 &&
           memcmp(&a->usage, &b->usage, sizeof(a->usage)) == 0 &&
           memcmp(&a->timings, &b->timings, sizeof(a->timings)) == 0;
}

/* What is kept is text, and success has a finish reason and an end. */
static bool sound(const struct reading *x)
{
    const struct response *p = &x->response;

    return utf8_valid(buf_str(&p->answer), p->answer.len) &&
           utf8_valid(buf_str(&p->reasoning), p->reasoning.len) &&
           utf8_valid(p->finish_reason, strlen(p->finish_reason)) &&
           (x->reader.failure != FAILURE_NONE || (*p->finish_reason && p->end == 1000));
}

static int fuzz_reader(const struct reader_ops *ops, const uint8_t *data, size_t size)
{
    const char *text = (const char *)data + FUZZ_HEAD;
    struct reader_memory memory;
    struct reading one, many;

    if (size < FUZZ_HEAD)
        return 0;
    reader_memory_init(&memory);
    fuzz_read(ops, &memory, data, text, size - FUZZ_HEAD, true, &one);
    fuzz_read(ops, &memory, data, text, size - FUZZ_HEAD, false, &many);
    if (!same_reading(&one, &many) || !sound(&one))
        abort();
    reader_release(&one.reader);
    reader_release(&many.reader);
    response_release(&one.response);
    response_release(&many.response);
    reader_memory_release(&memory);
    return 0;
}

#endif
