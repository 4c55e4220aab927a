/*
 * ipw-testserver: an inference server without a model, for tests. It speaks the OpenAI and Ollama
 * protocols at a chosen speed, logs its own send times, and can be wrong in many ways. Options are
 * a table; nothing is read from the environment.
 */
#include "answer.h"
#include "fault.h"
#include "loop.h"
#include "replay.h"

#include "base/cleanup.h"
#include "base/num.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct server server;
    struct loop_options loop;
    const char *log;
    const char *replay;
    const char *powercap;
    const char *print_answer;
    bool print_reasoning;
    bool help;
};

enum kind { KIND_TEXT, KIND_FLAG, KIND_TIME, KIND_COUNT, KIND_REAL, KIND_SEED, KIND_CALL };

struct option {
    const char *name;
    enum kind kind;
    size_t offset; /* in struct options */
    int (*call)(struct options *o, const char *value, struct err *err);
    const char *value, *help;
};

#define CONFIG(member) offsetof(struct options, server.config.member)

static int set_dialect(struct options *o, const char *value, struct err *err)
{
    static const char *const names[] = {"openai", "llamacpp", "vllm", "sglang", "ollama-v1"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(value, names[i]) == 0) {
            o->server.config.dialect = (enum dialect)i;
            return 0;
        }
    return err_set(err, EINVAL, "dialects are openai, llamacpp, vllm, sglang and ollama-v1");
}

static int add_model(struct options *o, const char *value, struct err *err)
{
    struct config *c = &o->server.config;

    if (c->n_models == sizeof(c->models) / sizeof(c->models[0]))
        return err_set(err, EINVAL, "too many models");
    if (!*value || strlen(value) >= 100)
        return err_set(err, EINVAL, "a model's name has 1 to 99 bytes");
    c->models[c->n_models++] = value;
    return 0;
}

static int add_fault(struct options *o, const char *value, struct err *err)
{
    struct config *c = &o->server.config;
    int r;

    if (c->n_faults == sizeof(c->faults) / sizeof(c->faults[0]))
        return err_set(err, EINVAL, "too many faults");
    r = fault_parse(value, &c->faults[c->n_faults], err);
    c->n_faults += r == 0;
    return r;
}

static int set_fault_scope(struct options *o, const char *value, struct err *err)
{
    if (strcmp(value, "all") != 0 && strcmp(value, "generate") != 0)
        return err_set(err, EINVAL, "the scope is generate or all");
    o->server.config.fault_all = strcmp(value, "all") == 0;
    return 0;
}

static const struct option table[] = {
    {"listen", KIND_TEXT, offsetof(struct options, loop.listen), NULL, "127.0.0.1:PORT|unix:PATH",
     "where (127.0.0.1:0 = any free port); printed as 'listening ADDRESS'"},
    {"exit-on-stdin-close", KIND_FLAG, offsetof(struct options, loop.exit_on_stdin_close), NULL, "",
     "stop when stdin, a pipe, is closed; SIGTERM always stops"},
    {"dialect", KIND_CALL, 0, set_dialect, "openai|llamacpp|vllm|sglang|ollama-v1",
     "whose manners /v1 has (openai). /api is there with openai, sglang and ollama-v1"},
    {"model", KIND_CALL, 0, add_model, "NAME", "a model on offer (fake-model); again for more"},
    {"ttft", KIND_TIME, CONFIG(ttft_ns), NULL, "TIME", "request to first token (50ms)"},
    {"prefill-rate", KIND_REAL, CONFIG(prefill_per_s), NULL, "TOKENS_PER_S",
     "adds to it prompt tokens (bytes / 4) / rate (0 = nothing)"},
    {"itl", KIND_TIME, CONFIG(itl_ns), NULL, "TIME", "token to token (10ms)"},
    {"jitter", KIND_TIME, CONFIG(jitter_ns), NULL, "TIME",
     "each token comes later by up to this, without adding up (0)"},
    {"tokens", KIND_COUNT, CONFIG(tokens), NULL, "N",
     "of an answer that max_tokens leaves whole (32); [[tokens:N]] in a prompt is stronger"},
    {"answer", KIND_TEXT, CONFIG(answer), NULL, "TEXT",
     "the text of every answer, a token per word; [[answer:TEXT]] in a prompt does the same"},
    {"reasoning-tokens", KIND_COUNT, CONFIG(reasoning_tokens), NULL, "N", "before the answer (0)"},
    {"chunk-tokens", KIND_COUNT, CONFIG(chunk_tokens), NULL, "N", "tokens per event (1)"},
    {"seed", KIND_SEED, CONFIG(seed), NULL, "N",
     "of texts, unless a request has its own, and of faults (0)"},
    {"log", KIND_TEXT, offsetof(struct options, log), NULL, "FILE",
     "appends one line of JSON per request when it ends, see below"},
    {"powercap", KIND_TEXT, offsetof(struct options, powercap), NULL,
     "ROOT:REFRESH_MS:BASE_W:J_PER_PROMPT_TOKEN:J_PER_TOKEN",
     "makes a sysfs in ROOT whose RAPL counter shows what the work of this server costs: the\n"
     "      base all the time, a token in the time before it is sent. The log has the joules"},
    {"fault", KIND_CALL, 0, add_fault, "NAME[:ARG[:ARG]]",
     "what goes wrong, see below; again for more: each strike draws one"},
    {"fault-rate", KIND_REAL, CONFIG(fault_rate), NULL, "SHARE",
     "of the requests that are struck (1); which ones follows from seed and request number"},
    {"fault-scope", KIND_CALL, 0, set_fault_scope, "generate|all",
     "whether GET requests can be struck too (generate)"},
    {"replay", KIND_TEXT, offsetof(struct options, replay), NULL, "DIR",
     "play recorded exchanges (NAME.req, .raw, .times) instead; a sample is chosen by\n"
     "      method and path, then /sample/NAME before the path or ?sample=NAME, then the body"},
    {"speed", KIND_REAL, CONFIG(speed), NULL, "X",
     "divides the recorded times (1); 0 = do not wait"},
    {"print-answer", KIND_TEXT, offsetof(struct options, print_answer), NULL, "PROMPT",
     "print the answer of --tokens tokens with --seed, and leave"},
    {"print-reasoning", KIND_FLAG, offsetof(struct options, print_reasoning), NULL, "",
     "with --print-answer: the --reasoning-tokens instead"},
    {"help", KIND_FLAG, offsetof(struct options, help), NULL, "", "this text"},
};

enum { N_OPTIONS = sizeof(table) / sizeof(table[0]) };

static void print_help(void)
{
    puts("usage: ipw-testserver [OPTION]...\n"
         "An inference server without a model, for tests. TIME has a unit: 10ms, 1.5s.\n");
    for (size_t i = 0; i < N_OPTIONS; i++)
        printf("  --%s %s\n      %s\n", table[i].name, table[i].value, table[i].help);
    puts("\nFaults (in the prompt: [[fault:NAME:ARG]], which always strikes):");
    fault_print_help();
    puts("\nA log line has id, method, path, authorization, content_type; for generations also\n"
         "prompt_hash (FNV-1a 64), prompt_bytes, prompt_tokens, tokens (sent), reasoning_tokens,\n"
         "chunk_tokens, joules (with --powercap: of its own tokens); then status, fault, outcome "
         "(ok, the fault's name, client_closed,\n"
         "server_stopped), and times of CLOCK_MONOTONIC in ns: received_ns (the request was\n"
         "complete), headers_ns, sent_ns (of every event with content, in order, just before the\n"
         "write; of every piece in a replay), end_ns; and params, the request without its prompt.");
}

static const struct option *find_option(const char *name)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static int set_option(struct options *o, const struct option *option, const char *value,
                      struct err *err)
{
    void *target = (char *)o + option->offset;
    double real;
    int r;

    switch (option->kind) {
    case KIND_TEXT:
        *(const char **)target = value;
        return 0;
    case KIND_FLAG:
        *(bool *)target = true;
        return 0;
    case KIND_TIME:
        return parse_duration(value, target, err);
    case KIND_COUNT:
        r = parse_i64(value, target, err);
        if (r == 0 && (*(int64_t *)target < 0 || *(int64_t *)target > 10000000))
            return err_set(err, ERANGE, "'%s' is not between 0 and 10000000", value);
        return r;
    case KIND_REAL:
        r = parse_f64(value, &real, err);
        if (r == 0 && real < 0)
            return err_set(err, ERANGE, "'%s' is negative", value);
        if (r == 0)
            *(double *)target = real;
        return r;
    case KIND_SEED:
        return parse_u64(value, target, err);
    case KIND_CALL:
        return option->call(o, value, err);
    }
    return 0;
}

static int parse_options(struct options *o, char **argv, struct err *err)
{
    for (argv++; *argv; argv++) {
        const struct option *option = strncmp(*argv, "--", 2) == 0 ? find_option(*argv + 2) : NULL;
        const char *value = "";

        if (!option)
            return err_set(err, EINVAL, "'%.80s' is no option; --help lists them", *argv);
        if (option->kind != KIND_FLAG) {
            value = *++argv;
            if (!value)
                return err_set(err, EINVAL, "--%s needs %s", option->name, option->value);
        }
        if (set_option(o, option, value, err) < 0)
            return err_prefix(err, "--%s", option->name);
    }
    if (o->server.config.chunk_tokens == 0)
        return err_set(err, EINVAL, "--chunk-tokens: an event has at least one token");
    if (o->server.config.n_models == 0)
        return add_model(o, "fake-model", err);
    return 0;
}

static int print_answer(const struct options *o)
{
    const struct config *c = &o->server.config;
    AUTO(buf) struct buf text = BUF_INIT(BUF_MAX_OWN);
    uint64_t key = answer_key(o->print_answer, strlen(o->print_answer), c->seed);

    if (o->print_reasoning)
        answer_add(&text, key, ANSWER_REASONING, ANSWER_REASONING + c->reasoning_tokens);
    else
        answer_add(&text, key, 0, c->tokens);
    fwrite(buf_str(&text), 1, text.len, stdout);
    return 0;
}

static int serve(struct options *o, struct err *err)
{
    int r = 0;

    o->server.anchor = clock_anchor_now();
    if (o->log) {
        o->loop.log_fd = open(o->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (o->loop.log_fd < 0)
            return err_sys(err, errno, "%s", o->log);
    }
    if (o->replay)
        r = replay_open(o->replay, &o->server.replay, err);
    if (r == 0 && o->powercap)
        r = power_open(o->powercap, &o->server.power, err);
    if (r == 0)
        r = loop_run(&o->server, &o->loop, err);
    power_close(o->server.power);
    replay_free(o->server.replay);
    cleanup_fd(&o->loop.log_fd);
    return r;
}

int main(int argc, char **argv)
{
    struct options o = {.server.config = {.ttft_ns = 50 * NS_PER_MS,
                                          .itl_ns = 10 * NS_PER_MS,
                                          .tokens = 32,
                                          .chunk_tokens = 1,
                                          .fault_rate = 1,
                                          .speed = 1},
                        .loop = {.listen = "127.0.0.1:0", .log_fd = -1}};
    struct err err = {0};
    int r = parse_options(&o, argv, &err);

    (void)argc;
    if (r == 0 && o.help) {
        print_help();
        return 0;
    }
    if (r == 0)
        r = o.print_answer ? print_answer(&o) : serve(&o, &err);
    if (r < 0)
        fprintf(stderr, "ipw-testserver: %s\n", err.text);
    return r < 0 ? 1 : 0;
}
