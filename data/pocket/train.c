/*
 * Trains the embedded model from random weights.
 *
 *     pocket-train IPW.jsonl WEIGHTS LOG [STEPS [SEED]]
 *
 * The first file names what must not be learned: the contents of the bundled questions. Everything
 * else is drawn from the seed, so the same program on the same machine writes the same bytes. The
 * weights are written now and then, and at the end.
 */
#include "answer.h"
#include "net.h"
#include "optimizer.h"
#include "tasks.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/num.h"
#include "dataset/dataset.h"

#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS      12000
#define SEED       1
#define BATCH_ROWS 3072
#define WARM_UP    100
#define LOG_EVERY  100
#define SAVE_EVERY 1000
#define CONTEXT    512

static double env(const char *n, double d)
{
    const char *v = getenv(n);
    return v ? atof(v) : d;
}
static const struct pocket_shape shape0 = {.vocabulary = POCKET_TRAINED_VOCABULARY,
                                           .context = CONTEXT,
                                           .width = 128,
                                           .layers = 4,
                                           .heads = 4,
                                           .hidden = 512};
static struct pocket_shape shape;

static FILE *log_file;
static mono_ns started;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    FILE *const outs[] = {log_file, stdout};

    for (int i = 0; i < 2; i++) {
        va_list ap;

        va_start(ap, format);
        vfprintf(outs[i], format, ap);
        va_end(ap);
        fflush(outs[i]);
    }
}

/* Printable ASCII and newline lie in order in the vocabulary. */
static int token_of(char c)
{
    return c == '\n' ? POCKET_FIRST_TEXT + 1 : POCKET_FIRST_TEXT + 2 + (c - ' ');
}

static bool add_task(struct net *net, const struct task *t)
{
    int tokens[NET_SEQUENCE_MAX];
    size_t n = 0, first;

    tokens[n++] = POCKET_BEGIN;
    for (const char *p = t->problem; *p && n < NET_SEQUENCE_MAX - 2; p++)
        tokens[n++] = token_of(*p);
    tokens[n++] = POCKET_ANSWER;
    first = n;
    for (const char *p = t->text; *p && n < NET_SEQUENCE_MAX - 1; p++)
        tokens[n++] = token_of(*p);
    tokens[n++] = POCKET_END;
    return net_batch_add(net, tokens, n, first);
}

static size_t fill_batch(struct net *net, struct rng *rng)
{
    struct task t;

    net_batch_clear(net);
    do
        task_draw(rng, task_draw_kind(rng), TASK_TRAINING, &t);
    while (add_task(net, &t));
    return net->n_sequences;
}

static double rate_at(long step, long steps)
{
    double up = (double)(step + 1) / WARM_UP, down = (double)(steps - step) / (double)steps;

    return up < 1 ? up * down : down;
}

static void save(const struct net *net, const char *path)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 24);
    struct err err = {0};

    pocket_weights_write(&net->shape, pocket_trained_tokens, net->parameters, &out);
    if (fs_replace(AT_FDCWD, path, out.data, out.len, &err) < 0) {
        fprintf(stderr, "pocket-train: %s\n", err.text);
        exit(1);
    }
}

static void evaluate(const struct net *net, int n, bool show)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 24);
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    struct err err = {0};

    pocket_weights_write(&net->shape, pocket_trained_tokens, net->parameters, &out);
    if (pocket_model_open(out.data, out.len, &m, &err) < 0) {
        fprintf(stderr, "pocket-train: %s\n", err.text);
        exit(1);
    }
    say("held out:");
    for (int k = 0; k < TASK_KINDS; k++)
        say(" %s %.0f %%%s", task_names[k],
            100.0 * answer_count_right(m, (enum task_kind)k, n, 7, show) / n,
            k + 1 < TASK_KINDS ? "," : "\n");
}

int main(int argc, char **argv)
{
    long steps = argc > 4 ? atol(argv[4]) : STEPS;
    uint64_t seed = argc > 5 ? (uint64_t)atol(argv[5]) : SEED;
    struct rng rng = rng_seed(seed, 1);
    struct optimizer *o;
    struct net *net;
    double loss = 0;
    size_t samples = 0, tokens = 0;

    if (argc < 4) {
        fprintf(stderr, "usage: pocket-train IPW.jsonl WEIGHTS LOG [STEPS [SEED]]\n");
        return 2;
    }
    log_file = fopen(argv[3], "w");
    if (!log_file)
        return 1;
    shape = shape0;
    shape.width = (uint32_t)env("W", 128);
    shape.layers = (uint32_t)env("L", 4);
    shape.heads = (uint32_t)env("H", 4);
    shape.hidden = (uint32_t)env("F", 512);
    started = mono_now();
    struct err err = {0};
    if (task_hold_out_bundled(&err) < 0) {
        puts(err.text);
        return 1;
    }
    net = net_new(&shape, (size_t)env("ROWS", BATCH_ROWS));
    net_init(net, seed);
    o = optimizer_new(net);
    say("%zu parameters, seed %llu, %ld steps\n", net->count, (unsigned long long)seed, steps);
    for (long step = 0; step < steps; step++) {
        samples += fill_batch(net, &rng);
        tokens += net->rows;
        loss += net_step(net);
        optimizer_step(o, net, rate_at(step, steps));
        if ((step + 1) % LOG_EVERY == 0) {
            say("step %ld, %zu questions, %zu tokens, loss %.4f, %.0f s\n", step + 1, samples,
                tokens, loss / LOG_EVERY, (double)(mono_now() - started) / 1e9);
            loss = 0;
        }
        if ((step + 1) % SAVE_EVERY == 0 && step + 1 < steps) {
            save(net, argv[2]);
            evaluate(net, 40, false);
        }
    }
    save(net, argv[2]);
    evaluate(net, 100, getenv("SHOW") != NULL);
    optimizer_free(o);
    net_free(net);
    fclose(log_file);
    return 0;
}
