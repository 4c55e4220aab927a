/*
 * client_check URL MODEL: the openai client against a real server. Its list of models, its
 * readiness, one stream, then eight at once, 24 tokens each; prints one line, or what is wrong, and
 * exits 1.
 *
 * The text is the model's own, so only its presence is checked; counts, ends and times are exact.
 */
#include "clientload.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS 24

static void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
static void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fputs("client_check: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static void check_models(const char *url, const char *model)
{
    struct err err = {0};
    const struct client_ops *ops = client_find("openai", &err);
    struct kv_list none = {0};
    struct client_config config = {
        .base_url = url, .model = model, .params = &none, .generation = &none};
    AUTO(model_list) struct model_list list = {0};
    void *ctx;

    if (!ops || ops->open(&config, &ctx, &err) < 0 || ops->models(ctx, &list, &err) < 0 ||
        model_list_check(&list, model, url, &err) < 0 || ops->prepare(ctx, NULL, NULL, &err) < 0)
        die("%s", err.text);
    ops->close(ctx);
}

static void check_times(const struct response *p)
{
    size_t n;
    AUTO_FREE mono_ns *times = response_times(p, &n);

    if (n == 0 || p->sent > p->headers || p->headers > times[0] || times[0] != p->first_token ||
        times[n - 1] != p->last_token || p->end != p->last_token)
        die("the times are out of order");
    for (size_t i = 1; i < n; i++)
        if (times[i] < times[i - 1])
            die("delta %zu came before the one before it", i);
}

static void check_query(const struct clientload_query *q)
{
    const struct response *p = &q->response;

    if (p->failure != FAILURE_NONE)
        die("%s: %s", failure_name(p->failure), p->error);
    if (q->ends != 1 || q->strays != 0)
        die("%d ends, %d events behind the end", q->ends, q->strays);
    if (strcmp(p->finish_reason, "length") != 0)
        die("the finish reason is \"%s\", not \"length\"", p->finish_reason);
    if (p->usage.completion_tokens != TOKENS || p->usage.prompt_tokens <= 0)
        die("usage: %" PRId64 " tokens for %" PRId64, p->usage.completion_tokens,
            p->usage.prompt_tokens);
    if (p->timings.prefill_ns < 0 || p->timings.decode_ns <= 0)
        die("the server told no timings");
    if (p->answer.len == 0 || p->deltas > TOKENS)
        die("%zu bytes in %" PRId64 " deltas", p->answer.len, p->deltas);
    check_times(p);
}

static void check_streams(const char *url, const char *model, size_t n)
{
    AUTO(clientload)
    struct clientload load = {
        .client = "openai", .url = url, .model = model, .timeout_ns = 120 * NS_PER_S};
    struct err err = {0};

    kv_add(&load.generation, "max_tokens", "24"); /* TOKENS */
    kv_add(&load.generation, "cache_prompt", "false");
    clientload_init(&load, n);
    for (size_t i = 0; i < n; i++)
        snprintf(load.queries[i].prompt, sizeof(load.queries[i].prompt), "%zu: tell me a story", i);
    if (clientload_run(&load, (struct schedule_options){.concurrency = (int64_t)n}, &err) < 0)
        die("%s", err.text);
    if (load.stats.peak_in_flight != (int64_t)n)
        die("only %" PRId64 " streams were open at once", load.stats.peak_in_flight);
    for (size_t i = 0; i < n; i++)
        check_query(&load.queries[i]);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        die("usage: client_check URL MODEL");
    check_models(argv[1], argv[2]);
    check_streams(argv[1], argv[2], 1);
    check_streams(argv[1], argv[2], 8);
    printf("the openai client read 1 stream, then 8 at once, %d tokens each\n", TOKENS);
    return 0;
}
