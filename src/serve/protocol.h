/*
 * protocol: what a request asks for, and how an answer is written, in one of the two protocols.
 *
 * A protocol reads the JSON of a request into a serve_request, or says why it refuses; and it
 * writes the answer, whole or as a stream, into a buf. It knows nothing of HTTP connections, so it
 * can be tested and fuzzed without any.
 *
 *     r = serve_request_read(&openai_protocol, true, body, n, &request, &refusal);
 *     ...
 *     openai_protocol.whole(&answer, text, n, &out);
 */
#ifndef IPW_SERVE_PROTOCOL_H
#define IPW_SERVE_PROTOCOL_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "client/pocket/pool.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVE_MODEL "pocket"

/* Why a request is refused, in words for its sender. */
struct refusal {
    int status;        /* of HTTP */
    const char *code;  /* a word for programs; NULL = none */
    const char *param; /* which member is to blame; NULL = none */
    char message[ERR_TEXT_MAX];
};

/* Fills it; `code` and `param` become NULL. Returns -1, for `return refuse(...)`. */
int refuse(struct refusal *ret, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct serve_request {
    bool chat;
    bool stream;
    bool include_usage; /* OpenAI only */
    bool load_only;     /* Ollama: no prompt, nothing to answer */
    bool unload;
    const char *model; /* as the sender spells it; static */
    struct pocket_options options;
    struct buf prompt;
};

void serve_request_release(struct serve_request *r);

/* What the writers need to know. */
struct answer {
    const struct serve_request *request;
    const struct pocket_job *job; /* its outcome counts at the end only */
    uint64_t id;
    mono_ns received;
    struct clock_anchor anchor;
};

struct protocol {
    const char *stream_type; /* Content-Type of a stream */
    /* Reads what is not common to both; `root` is an object with the right model. */
    int (*read)(const struct json *root, struct serve_request *ret, struct refusal *ret_refusal);
    void (*error)(const struct refusal *r, struct buf *out);
    /* A stream: before the first piece, each piece, and after the last. */
    void (*begin)(const struct answer *a, struct buf *out);
    void (*piece)(const struct answer *a, const char *text, size_t n, mono_ns at, struct buf *out);
    void (*end)(const struct answer *a, struct buf *out);
    /* An answer in one document. Also for load_only, without a job. */
    void (*whole)(const struct answer *a, const char *text, size_t n, struct buf *out);
};

extern const struct protocol openai_protocol, ollama_protocol;

/* Reads a body. 0, or -1 with the refusal. Whatever came, *ret is to be released. */
int serve_request_read(const struct protocol *p, bool chat, const char *body, size_t n,
                       struct serve_request *ret, struct refusal *ret_refusal);

/* For the protocols' readers: sets an option from a member `shown` of `from`; absent is fine. */
int serve_read_option(const struct json *from, const char *shown, const char *name,
                      struct serve_request *ret, struct refusal *ret_refusal);
/* A boolean member: absent and null leave *ret as it is. */
int serve_read_flag(const struct json *from, const char *name, bool *ret,
                    struct refusal *ret_refusal);
/* The prompt from the last message of the user. */
int serve_read_messages(const struct json *messages, struct serve_request *ret,
                        struct refusal *ret_refusal);

/* What is told of the model, for the lists. */
void openai_write_models(const struct pocket_model *m, int64_t wall_ns, struct buf *out);
void ollama_write_tags(const struct pocket_model *m, int64_t wall_ns, struct buf *out);
void ollama_write_version(struct buf *out);

#endif
