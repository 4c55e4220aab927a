/*
 * exchange: one request and the answer to it, as a plan in time.
 *
 * Nothing here touches a socket. exchange_begin decides what the answer will be; from then on the
 * loop calls exchange_step whenever x->due has passed and all earlier bytes are written. A step
 * appends what goes out in one write and moves x->due to the next. Times are absolute, so a late
 * step delays nothing after it.
 */
#ifndef IPW_FAKES_EXCHANGE_H
#define IPW_FAKES_EXCHANGE_H

#include "fault.h"
#include "power.h"
#include "request.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dialect { DIALECT_OPENAI, DIALECT_LLAMACPP, DIALECT_VLLM, DIALECT_SGLANG, DIALECT_OLLAMA };

struct replay;
struct replay_sample;

struct config {
    enum dialect dialect;
    const char *models[16];
    size_t n_models;
    int64_t ttft_ns;
    int64_t itl_ns;
    int64_t jitter_ns;    /* each token comes later by up to this */
    double prefill_per_s; /* prompt tokens; 0 = in no time */
    int64_t tokens;       /* of an answer that is not cut by the request */
    const char *answer;   /* the text of every answer; NULL = made from the prompt */
    int64_t reasoning_tokens;
    int64_t chunk_tokens;
    uint64_t seed;
    struct fault faults[16];
    size_t n_faults;
    double fault_rate;
    bool fault_all; /* also requests that generate nothing */
    double speed;   /* of a replay; 0 = without waiting */
};

/* What outlives a request. */
struct server {
    struct config config;
    struct replay *replay; /* NULL = none */
    struct power *power;   /* NULL = no meter */
    mono_ns started;
    struct clock_anchor anchor;
    int64_t requests;   /* seen so far */
    int64_t candidates; /* of these, the ones a fault may strike */
};

enum api { API_NONE, API_CHAT, API_COMPLETION, API_OLLAMA_GENERATE, API_OLLAMA_CHAT };
enum stage {
    STAGE_PLAIN,
    STAGE_HEAD,
    STAGE_TOKENS,
    STAGE_END,
    STAGE_FILL,
    STAGE_REPLAY,
    STAGE_DONE
};
/* What becomes of the connection afterwards. */
enum ending { ENDING_KEEP, ENDING_CLOSE, ENDING_RESET, ENDING_REFUSE };
/* What a step's bytes contain. */
enum { SENDS_HEAD = 1, SENDS_CONTENT = 2 };

struct exchange {
    struct server *server;
    const struct protocol *protocol;
    struct request request;
    int64_t id;
    struct fault fault;
    enum api api;
    enum stage stage;
    enum ending ending;
    mono_ns received; /* the request was complete */
    mono_ns due;      /* of the next step */

    /* what is asked for */
    char model[128];
    bool stream, include_usage, continuous_usage, stream_options;
    uint64_t key, prompt_hash;
    size_t prompt_bytes;
    int64_t prompt_tokens, n_reasoning, n_tokens; /* n_tokens includes the reasoning */
    const char *finish;
    char *given;       /* the answer's text; NULL = made from the key */
    struct buf params; /* the request's members without the prompt, as JSON */

    /* the answer */
    int status;
    const char *content_type;
    char header[256]; /* one more header line, "" = none */
    struct buf body;  /* of a plain answer; else the current event */
    struct buf text;  /* the current piece of the answer */
    bool head_sent;
    int64_t next; /* token */
    int64_t fill_left;
    const struct replay_sample *sample;
    size_t piece;
    struct work work;

    /* for the log */
    mono_ns head_at, end_at;
    mono_ns *sent;
    size_t n_sent, cap_sent;
    const char *outcome;
    bool logged;
};

struct exchange *exchange_begin(struct server *s, const struct request *r, const char *body,
                                mono_ns received);
void exchange_free(struct exchange *x);
/* Returns SENDS_ bits. x->stage is STAGE_DONE after the last. */
unsigned exchange_step(struct exchange *x, struct buf *out);
/* The step's bytes are with the kernel; the last of them left at t. */
void exchange_sent(struct exchange *x, unsigned sends, mono_ns t);
/* Appends one line of JSON. */
void exchange_log(const struct exchange *x, struct buf *out);

/* When token i is due. */
mono_ns exchange_token_due(const struct exchange *x, int64_t i);
/* Milliseconds from the request to the first token, and from there to the last. */
double exchange_prefill_ms(const struct exchange *x);
double exchange_decode_ms(const struct exchange *x);
int64_t exchange_wall_s(const struct exchange *x);
bool exchange_tells_usage(const struct exchange *x);
/* With or without Ollama's ":latest"; llama.cpp serves its one model under any name. */
bool exchange_knows_model(const struct exchange *x, const char *model);
/* Makes it a plain answer, at once. `body` of x is what the caller filled. */
void exchange_plain(struct exchange *x, int status, const char *content_type);
/* Makes it an error in the dialect's words. */
void exchange_error(struct exchange *x, int status, const char *type, const char *message);

/* A piece of an answer. */
struct piece {
    const char *text;
    size_t len;
    int64_t tokens; /* sent with and before this piece */
    bool reasoning, first, last;
};

/* How a protocol spells it. All append to out, without HTTP framing. */
struct protocol {
    const char *stream_type, *whole_type;
    void (*delta)(const struct exchange *x, const struct piece *p, struct buf *out);
    void (*finish)(const struct exchange *x, struct buf *out);
    void (*error)(const struct exchange *x, const char *message, struct buf *out);
    void (*whole)(const struct exchange *x, struct buf *out);
};

extern const struct protocol openai_protocol, ollama_protocol;
/* Reads a generation request; on a refusal the answer is set already. */
void openai_begin(struct exchange *x, const struct json *body);
void ollama_begin(struct exchange *x, const struct json *body);
/* What both begin with: prompt, seed, numbers of tokens. max_tokens < 0 = none. */
void exchange_generate(struct exchange *x, const struct json *body, const struct json *prompt,
                       int64_t max_tokens, bool ignore_eos);
/* The documents that only say what there is. */
void openai_models(struct exchange *x);
void ollama_tags(struct exchange *x, bool running);
/* The whole reasoning or answer. */
void exchange_add_text(const struct exchange *x, bool reasoning, struct buf *out);

#endif
