/*
 * Trains the embedded model from random weights.
 *
 *     pocket-train WEIGHTS LOG [STEPS [SEED]]
 *
 * Everything is drawn from the seed and nothing depends on the clock, so the same program on the
 * same machine writes the same bytes. The weights are written now and then, and at the end; the log
 * has the loss, the time, and what the weights could do on held-out questions.
 */
#include "answer.h"
#include "net.h"
#include "optimizer.h"
#include "tasks.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/num.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define STEPS      7000
#define SEED       1
#define BATCH_ROWS 2048 /* characters read in a step, about forty questions */
#define WARM_UP    100  /* steps */
#define LOG_EVERY  100
#define SAVE_EVERY 1000
#define EVALUATED  40 /* questions of each kind then */
#define FINALLY    200

static const struct pocket_shape shape = {.vocabulary = POCKET_TRAINED_VOCABULARY,
                                          .context = 512,
                                          .width = 128,
                                          .layers = 4,
                                          .heads = 4,
                                          .hidden = 512};

struct training {
    struct net *net;
    struct optimizer *optimizer;
    struct rng rng;
    FILE *log;
    mono_ns started;
    size_t questions;
    size_t tokens;
    double loss; /* since the last line of the log */
};

/* To the log, and to whoever watches. */
static void say(const struct training *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(const struct training *t, const char *format, ...)
{
    FILE *const outs[] = {t->log, stdout};

    for (int i = 0; i < 2; i++) {
        va_list ap;

        va_start(ap, format);
        vfprintf(outs[i], format, ap);
        va_end(ap);
        fflush(outs[i]);
    }
}

/* As pocket_trained_tokens has them: newline, then printable ASCII in order. */
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

static void fill_batch(struct training *t)
{
    struct task task;

    net_batch_clear(t->net);
    do
        task_draw(&t->rng, task_draw_kind(&t->rng), TASK_TRAINING, &task);
    while (add_task(t->net, &task));
    t->questions += t->net->n_sequences;
    t->tokens += t->net->rows;
}

/* Up within a few steps, then evenly down to nothing. */
static double rate_at(int64_t step, int64_t steps)
{
    double up = (double)(step + 1) / WARM_UP, down = (double)(steps - step) / (double)steps;

    return up < 1 ? up * down : down;
}

static int save(const struct training *t, const char *path, int evaluated, struct err *err)
{
    AUTO(buf) struct buf out = BUF_INIT(1 << 24);
    AUTO_PTR(pocket_model) struct pocket_model *m = NULL;
    int r, all = 0;

    pocket_weights_write(&shape, pocket_trained_tokens, t->net->parameters, &out);
    r = fs_replace(AT_FDCWD, path, out.data, out.len, err);
    if (r == 0)
        r = pocket_model_open(out.data, out.len, &m, err);
    if (r < 0)
        return r;
    say(t, "held out, %d each:", evaluated);
    for (int k = 0; k < TASK_KINDS; k++) {
        int right = answer_count_right(m, (enum task_kind)k, evaluated, 7, false);

        say(t, " %s %.0f %%,", task_names[k], 100.0 * right / evaluated);
        all += right;
    }
    say(t, " all %.1f %%\n", 100.0 * all / evaluated / TASK_KINDS);
    return 0;
}

static void step(struct training *t, int64_t i, int64_t steps)
{
    fill_batch(t);
    t->loss += net_step(t->net) / LOG_EVERY;
    optimizer_step(t->optimizer, t->net, rate_at(i, steps));
    if ((i + 1) % LOG_EVERY == 0) {
        say(t, "step %lld, %zu questions, %zu tokens, loss %.4f, %.0f s (%.0f s of processor)\n",
            (long long)i + 1, t->questions, t->tokens, t->loss, ns_to_s(mono_now() - t->started),
            (double)clock() / CLOCKS_PER_SEC);
        t->loss = 0;
    }
}

static int train(struct training *t, const char *path, int64_t steps, int64_t seed, struct err *err)
{
    int r = task_hold_out_bundled(err);

    if (r < 0)
        return r;
    net_init(t->net, (uint64_t)seed);
    say(t, "%zu parameters, seed %lld, %lld steps; %d contents of bundled questions held out\n",
        t->net->count, (long long)seed, (long long)steps, r);
    r = 0;
    for (int64_t i = 0; i < steps && r == 0; i++) {
        step(t, i, steps);
        if ((i + 1) % SAVE_EVERY == 0 && i + 1 < steps)
            r = save(t, path, EVALUATED, err);
    }
    return r < 0 ? r : save(t, path, FINALLY, err);
}

int main(int argc, char **argv)
{
    struct training t = {.started = mono_now()};
    int64_t steps = STEPS, seed = SEED;
    struct err err = {0};

    if (argc < 3 || argc > 5 || (argc > 3 && parse_i64(argv[3], &steps, &err) < 0) ||
        (argc > 4 && parse_i64(argv[4], &seed, &err) < 0)) {
        fprintf(stderr, "usage: pocket-train WEIGHTS LOG [STEPS [SEED]] %s\n", err.text);
        return 2;
    }
    AUTO_FILE FILE *log = fopen(argv[2], "w");
    if (!log) {
        perror(argv[2]);
        return 1;
    }
    t.log = log;
    t.rng = rng_seed((uint64_t)seed, 1);
    t.net = net_new(&shape, BATCH_ROWS);
    t.optimizer = optimizer_new(t.net);
    if (train(&t, argv[1], steps, seed, &err) < 0)
        fprintf(stderr, "pocket-train: %s\n", err.text);
    optimizer_free(t.optimizer);
    net_free(t.net);
    return err.code ? 1 : 0;
}
