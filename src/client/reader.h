/*
 * reader: the body of a streamed answer, as it arrives, into a response.
 *
 * A reader knows one protocol (OpenAI's events, Ollama's lines) and nothing of the network: it can
 * be fed from a socket, a file or a fuzzer, in any pieces.
 *
 *     struct reader_memory memory = {0};
 *     struct reader r;
 *     reader_init(&r, &openai_reader, &memory, &response, 64 << 20);
 *     while (piece)
 *         if (reader_feed(&r, piece, n, at) < 0) break;
 *     if (r.failure == FAILURE_NONE)
 *         reader_end(&r);
 *     r.failure, r.words                                  the verdict
 *     reader_release(&r);
 *
 * The response gets its deltas with their times, usage, timings, finish reason and, if all went
 * well, its end; the verdict stays in the reader, because whoever runs the transfer has more to
 * say about a failure (address, status) and secrets to hide.
 */
#ifndef IPW_CLIENT_READER_H
#define IPW_CLIENT_READER_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "client/ndjson.h"
#include "client/skim.h"
#include "client/sse.h"
#include "core/response.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A line of the stream may be this long, or as long as the whole body if that is less. */
#define READER_LINE_MAX ((size_t)16 << 20)

/* Working memory for one message at a time, lent to all readers of a thread. */
struct reader_memory {
    struct json_doc doc;
    struct buf text;
};

void reader_memory_init(struct reader_memory *m);
void reader_memory_release(struct reader_memory *m);

struct reader;

/* One protocol. The functions return 0, or -1 after reader_fail. */
struct reader_ops {
    /* Media types that such a body may have, NULL-ended. */
    const char *const *types;
    void (*init)(struct reader *r, size_t line_max);
    int (*feed)(struct reader *r, const char *piece, size_t n);
    int (*end)(struct reader *r);
    void (*release)(struct reader *r);
};

extern const struct reader_ops openai_reader, ollama_reader;

struct reader {
    const struct reader_ops *ops;
    struct reader_memory *memory;
    struct response *response;
    size_t bytes_left; /* of the limit */
    mono_ns at;        /* when the present piece was read */
    mono_ns finish_at; /* when the finish reason came; MONO_ABSENT = not yet */
    int64_t events;
    struct usage fallback; /* token counts told elsewhere than in `usage` */
    enum failure failure;
    struct buf words; /* why, as the server said it: not yet fit to be shown */
    bool thorough;    /* no quick way for ordinary messages: tests compare the two */
    union {
        struct sse sse;
        struct ndjson ndjson;
    };
};

/* Ops, memory and response are lent until the release. `max` bounds the body. */
void reader_init(struct reader *r, const struct reader_ops *ops, struct reader_memory *memory,
                 struct response *response, size_t max);
void reader_release(struct reader *r);

/* A piece read at time `at`. 0, or -1 when the answer has failed: nothing may be fed then. */
int reader_feed(struct reader *r, const char *piece, size_t n, mono_ns at);
/* The body is complete. 0 on success, -1 when the answer has failed. */
int reader_end(struct reader *r);

/* For the protocols. Always -1, so that they can `return reader_fail(...)`. */
int reader_fail(struct reader *r, enum failure failure, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* An error value in the stream. */
int reader_fail_said(struct reader *r, const struct json *error);
/* What the framing returned: passes -1 on, turns -EMSGSIZE into a failure. */
int reader_framing(struct reader *r, int result);
/* Parses a message into memory->doc. It must be an object. */
int reader_parse(struct reader *r, const char *text, size_t n);
/* Appends to the response. */
int reader_delta(struct reader *r, enum delta_kind kind, const char *text, size_t n);
/* The same for a skimmed string and for a parsed value (anything but a string adds nothing). */
int reader_delta_skim(struct reader *r, enum delta_kind kind, struct skim_text text);
int reader_delta_json(struct reader *r, enum delta_kind kind, const struct json *v);
void reader_finish(struct reader *r, const char *reason);

/* Does this value of an `error` member tell of one? Not when absent, null, false or "". */
bool reader_is_error(const struct json *v);
/* A number of tokens; -1 when absent or negative. */
int64_t reader_count(const struct json *v);
/* A time in a JSON value as ns (`unit_ns` each); -1 when absent, negative or absurd. */
int64_t reader_ns(const struct json *v, double unit_ns);

#endif
