/*
 * Every question has a ticket, from add until its result was told. Verdicts that are known already
 * are told at the next run, as the contract wants it, not from within add.
 */
#include "analysis/judging.h"

#include "analysis/judgements.h"
#include "base/alloc.h"
#include "base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define STATUS_EVERY_NS (5 * NS_PER_S)

struct ticket {
    struct judging *judging;
    struct ticket *prev, *next; /* of all */
    struct ticket *next_known;
    void *user;
    uint64_t key;
    int64_t row;
    char *spec;
    struct score known;
};

struct judging {
    struct judging_options options;
    char *model;
    struct judge *judge;
    struct judgements *kept;
    struct answer_judge face;
    struct ticket *tickets;
    struct ticket *known; /* those of them that need not be asked */
    bool prepared;
    int64_t reused;
    mono_ns next_status;
    struct err unkept; /* why verdicts could not be kept; code 0 = they were */
};

static struct ticket *ticket_new(struct judging *g, const char *spec, const struct item *item,
                                 const char *answer, void *user)
{
    struct ticket *t = xcalloc(1, sizeof(*t));

    *t = (struct ticket){.judging = g,
                         .next = g->tickets,
                         .user = user,
                         .key = judgements_key(spec, g->model, item, answer),
                         .row = item->index,
                         .spec = xstrdup(spec)};
    if (t->next)
        t->next->prev = t;
    g->tickets = t;
    return t;
}

static void ticket_free(struct ticket *t)
{
    if (t->next)
        t->next->prev = t->prev;
    if (t->prev)
        t->prev->next = t->next;
    else
        t->judging->tickets = t->next;
    free(t->spec);
    free(t);
}

/* A judge_fn. A verdict that cannot be kept is still one. */
static void on_result(void *arg, void *user, const struct judge_result *result)
{
    struct judging *g = arg;
    struct ticket *t = user;
    struct err err = {0};

    if (result->scored &&
        judgements_add(g->kept, t->key, t->row, t->spec, g->model, &result->score, &err) < 0)
        g->unkept = err;
    scoring_judged(t->user, result->scored ? &result->score : NULL, result->refused, result->error);
    ticket_free(t);
}

static int add(void *ctx, const char *spec, const struct item *item, const char *answer, void *user,
               struct err *err)
{
    struct judging *g = ctx;
    struct ticket *t = ticket_new(g, spec, item, answer, user);
    const struct score *known = g->options.again ? NULL : judgements_find(g->kept, t->key);
    int r = 0;

    if (known) {
        t->known = *known;
        t->next_known = g->known;
        g->known = t;
        return 0;
    }
    r = judge_add(g->judge, spec, item, answer, t, err);
    if (r < 0)
        ticket_free(t);
    return r;
}

static void tell_known(struct judging *g)
{
    struct ticket *t;

    while ((t = g->known)) {
        g->known = t->next_known;
        g->reused++;
        scoring_judged(t->user, &t->known, false, "");
        ticket_free(t);
    }
}

static int show_words(void *arg, const char *words)
{
    struct judging *g = arg;

    if (g->options.status)
        g->options.status(g->options.arg, words);
    return 0;
}

static void show_status(struct judging *g)
{
    struct judge_totals t = judge_totals(g->judge);
    char words[128];

    if (mono_now() < g->next_status)
        return;
    snprintf(words, sizeof(words),
             "judging: %" PRId64 " right, %" PRId64 " wrong, %" PRId64 " unclear, %" PRId64
             " failed",
             t.correct, t.wrong, t.unscorable, t.unscored);
    show_words(g, words);
    g->next_status = mono_now() + STATUS_EVERY_NS;
}

static int run(void *ctx, size_t left, struct err *err)
{
    struct judging *g = ctx;
    int r = 0;

    tell_known(g);
    if (judge_pending(g->judge) > left && !g->prepared) {
        r = judge_prepare(g->judge, show_words, g, err);
        g->prepared = r == 0;
        g->next_status = mono_now() + STATUS_EVERY_NS;
    }
    for (size_t n; r == 0 && (n = judge_pending(g->judge)) > left;) {
        r = judge_run(g->judge, n - 1, g->options.wake_fd, err);
        show_status(g);
    }
    return r;
}

static void write_cost(void *ctx, struct json_writer *w)
{
    const struct judging *g = ctx;

    judge_write(g->judge, w);
    jw_int(w, "reused", g->reused);
    if (g->unkept.code)
        jw_text(w, "not_kept", g->unkept.text);
}

int judging_open(const struct judging_options *o, struct judging **ret, struct err *err)
{
    AUTO_PTR(judging) struct judging *g = xcalloc(1, sizeof(*g));
    struct judge_config config = o->judge;
    int r;

    g->options = *o;
    g->face = (struct answer_judge){.ctx = g, .add = add, .run = run, .write = write_cost};
    config.on_result = on_result;
    config.arg = g;
    r = judge_open(&config, &g->judge, err);
    if (r < 0)
        return r;
    g->model = xstrdup(config.model);
    r = judgements_open(o->dir, &g->kept, err);
    if (r < 0)
        return r;
    *ret = STEAL(g);
    return 0;
}

void judging_close(struct judging *g)
{
    struct ticket *next;

    if (!g)
        return;
    judge_close(g->judge);
    judgements_close(g->kept);
    for (struct ticket *t = g->tickets; t; t = next) {
        next = t->next;
        free(t->spec);
        free(t);
    }
    free(g->model);
    free(g);
}

const struct answer_judge *judging_judge(struct judging *g)
{
    return &g->face;
}
