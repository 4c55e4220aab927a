/*
 * A question is a task in one of four places: ready (never asked), waiting (to be asked again at
 * its time), flying (in a slot, with the client) or landed (the client is done with it). A
 * client's handler may do next to nothing, so it only moves the task from its slot to landed; what
 * follows is decided when the client's poll has returned. So on_result may add questions.
 *
 * `lost` is the reason why nothing is asked any more. Once it is set, all that is ready or waiting
 * ends at the next poll.
 */
#include "analysis/judge.h"
#include "analysis/judge_params.h"

#include "base/alloc.h"
#include "client/client.h"
#include "score/judgement.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_DEFAULT_NS (600 * NS_PER_S)
#define BACKOFF_DEFAULT_NS NS_PER_S
#define BACKOFF_MAX_NS     (60 * NS_PER_S)
/* A verdict is a word, but a judge may think aloud before it. */
#define REPLY_MAX ((size_t)4 << 20)

struct task {
    struct task *next;
    struct judge *judge;
    struct client_query query;
    struct response response; /* while flying or landed */
    struct buf prompt;
    void *user;
    mono_ns due; /* when waiting */
    struct judge_result result;
};

struct tasks {
    struct task *first, *last;
};

struct judge {
    const struct client_ops *ops;
    void *ctx; /* NULL once it is broken */
    char *model;
    size_t slots_n;
    int64_t retries;
    mono_ns backoff_ns;
    uint64_t seed;
    judge_fn on_result;
    void *arg;

    struct tasks ready, waiting, landed;
    struct task **slots;      /* flying; NULL = free */
    size_t flying, waiting_n; /* together at most slots_n */
    size_t pending;
    mono_ns not_before;      /* the server has asked for quiet until then */
    int64_t failed_in_a_row; /* for good */
    char lost[ERR_TEXT_MAX]; /* "" = not */

    struct judge_totals totals;
    int64_t replies, counted; /* replies, and those of them that told their tokens */
    mono_ns busy_since, busy_ns;
    int given; /* results, since the poll began */
};

static void push(struct tasks *l, struct task *t)
{
    t->next = NULL;
    if (l->last)
        l->last->next = t;
    else
        l->first = t;
    l->last = t;
}

static struct task *pop(struct tasks *l)
{
    struct task *t = l->first;

    if (t) {
        l->first = t->next;
        if (!l->first)
            l->last = NULL;
    }
    return t;
}

static void task_free(struct task *t)
{
    response_release(&t->response);
    buf_release(&t->prompt);
    free(t);
}

/* The end of a task. */
static void give(struct judge *j, struct task *t)
{
    struct judge_totals *sum = &j->totals;

    if (!t->result.scored)
        sum->unscored++;
    else if (t->result.score.verdict == VERDICT_CORRECT)
        sum->correct++;
    else if (t->result.score.verdict == VERDICT_WRONG)
        sum->wrong++;
    else
        sum->unscorable++;
    j->pending--;
    j->given++;
    j->on_result(j->arg, t->user, &t->result);
    task_free(t);
}

static void give_up(struct judge *j, const char *why)
{
    if (!*j->lost)
        snprintf(j->lost, sizeof(j->lost), "%s", why);
}

/* Opening. */

static int open_client(struct judge *j, const struct judge_config *config, struct err *err)
{
    AUTO(kv_list) struct kv_list params = {0}, generation = {0};
    struct client_config client = {
        .base_url = config->base_url,
        .model = config->model,
        .params = &params,
        .generation = &generation,
        .timeout_ns = config->timeout_ns ? config->timeout_ns : TIMEOUT_DEFAULT_NS,
        .max_response_bytes = REPLY_MAX,
    };
    int r = judge_params_split(config->params, &params, &generation, err);

    return r < 0 ? r : j->ops->open(&client, &j->ctx, err);
}

int judge_open(const struct judge_config *config, struct judge **ret, struct err *err)
{
    AUTO_PTR(judge) struct judge *j = NULL;
    int r;

    if (!config->model || !*config->model)
        return err_set(err, EINVAL, "a judge needs the name of its model; give --judge-model");
    if (config->concurrency < 1 || config->concurrency > JUDGE_CONCURRENCY_MAX)
        return err_set(err, EINVAL, "a judge is asked 1 to %d questions at once",
                       JUDGE_CONCURRENCY_MAX);
    j = xcalloc(1, sizeof(*j));
    j->ops = client_find("openai", err);
    j->model = xstrdup(config->model);
    j->slots_n = (size_t)config->concurrency;
    j->slots = xcalloc(j->slots_n, sizeof(struct task *));
    j->retries = config->retries;
    j->backoff_ns = config->backoff_ns ? config->backoff_ns : BACKOFF_DEFAULT_NS;
    j->seed = config->seed;
    j->on_result = config->on_result;
    j->arg = config->arg;
    r = open_client(j, config, err);
    if (r < 0)
        return err_prefix(err, "judge");
    *ret = STEAL(j);
    return 0;
}

/* Its queries land. */
static void close_client(struct judge *j)
{
    if (j->ctx)
        j->ops->close(j->ctx);
    j->ctx = NULL;
}

void judge_close(struct judge *j)
{
    struct task *t;

    if (!j)
        return;
    close_client(j);
    while ((t = pop(&j->ready)) || (t = pop(&j->waiting)) || (t = pop(&j->landed)))
        task_free(t);
    free(j->slots);
    free(j->model);
    free(j);
}

int judge_prepare(struct judge *j, int (*progress)(void *arg, const char *words), void *arg,
                  struct err *err)
{
    int r = j->ctx && !*j->lost ? j->ops->prepare(j->ctx, progress, arg, err) : 0;

    return r < 0 ? err_prefix(err, "judge") : 0;
}

/* Asking. */

int judge_add(struct judge *j, const char *spec, const struct item *item, const char *answer,
              void *user, struct err *err)
{
    const char *args;
    const struct scorer_ops *ops = scorer_find(spec, &args, err);
    enum judgement_kind kind;
    struct span text;
    struct task *t;
    int r;

    if (!ops || !ops->needs_judge)
        return ops ? err_set(err, EINVAL, "scorer %s needs no judge", ops->plugin.id) : -EINVAL;
    r = judgement_kind_parse(args, &kind, err);
    if (r < 0)
        return r;
    t = xcalloc(1, sizeof(*t));
    t->judge = j;
    t->user = user;
    j->pending++;
    buf_init(&t->prompt, BUF_MAX_OWN);
    t->result.scored = score_trivial(item, answer, &text, &t->result.score);
    if (!t->result.scored)
        judgement_prompt(kind, item, text, j->seed, &t->prompt);
    push(t->result.scored ? &j->landed : &j->ready, t);
    return 0;
}

size_t judge_pending(const struct judge *j)
{
    return j->pending;
}

static void on_event(struct client_query *q, enum client_event e)
{
    struct task *t = q->user;
    struct judge *j = t->judge;

    if (e != CLIENT_END)
        return;
    for (size_t i = 0; i < j->slots_n; i++)
        if (j->slots[i] == t)
            j->slots[i] = NULL;
    push(&j->landed, t);
    if (--j->flying == 0)
        j->busy_ns += mono_now() - j->busy_since;
}

static void start(struct judge *j, struct task *t)
{
    size_t slot = 0;

    while (j->slots[slot])
        slot++;
    j->slots[slot] = t;
    if (j->flying++ == 0)
        j->busy_since = mono_now();
    j->totals.requests++;
    t->result.attempts++;
    response_init(&t->response, REPLY_MAX);
    t->query = (struct client_query){.prompt = buf_str(&t->prompt),
                                     .prompt_len = t->prompt.len,
                                     .response = &t->response,
                                     .on_event = on_event,
                                     .user = t};
    j->ops->start(j->ctx, &t->query);
}

/* Takes one that waits out of its list when its time has come. */
static struct task *take_due(struct judge *j, mono_ns now)
{
    struct task **link = &j->waiting.first, *before = NULL, *t;

    for (; (t = *link) && t->due > now; link = &t->next)
        before = t;
    if (!t)
        return NULL;
    *link = t->next;
    if (j->waiting.last == t)
        j->waiting.last = before;
    j->waiting_n--;
    return t;
}

/* A task that waits keeps its place: a server in trouble is not asked everything else meanwhile. */
static bool has_place(const struct judge *j)
{
    return j->flying + j->waiting_n < j->slots_n;
}

static void start_due(struct judge *j)
{
    mono_ns now = mono_now();
    struct task *t;

    while (now >= j->not_before &&
           ((t = take_due(j, now)) || (has_place(j) && (t = pop(&j->ready)))))
        start(j, t);
}

/* When start_due would start something, if nothing lands before. */
static mono_ns next_start(const struct judge *j)
{
    mono_ns due = has_place(j) && j->ready.first ? 0 : MONO_NEVER;

    for (const struct task *t = j->waiting.first; t; t = t->next)
        due = t->due < due ? t->due : due;
    return due > j->not_before ? due : j->not_before;
}

/* What came back. */

static bool is_worth_a_retry(const struct response *p)
{
    switch (p->failure) {
    case FAILURE_CONNECT:
    case FAILURE_STREAM:
    case FAILURE_CUT:
    case FAILURE_NO_END:
    case FAILURE_STALL:
        return true;
    case FAILURE_STATUS:
        return p->http_status == 408 || p->http_status == 429 || p->http_status >= 500;
    default:
        return false;
    }
}

/* The next question would fare no better: nobody there, or no key or model that is accepted. */
static bool is_hopeless(const struct response *p)
{
    if (p->failure == FAILURE_CONNECT)
        return true;
    return p->failure == FAILURE_STATUS &&
           (p->http_status == 401 || p->http_status == 403 || p->http_status == 404);
}

static mono_ns wait_before_retry(const struct judge *j, const struct task *t)
{
    mono_ns wait = j->backoff_ns;

    if (t->response.retry_after_ns >= 0)
        return t->response.retry_after_ns;
    for (int64_t i = 1; i < t->result.attempts && wait < BACKOFF_MAX_NS; i++)
        wait *= 2;
    return wait < BACKOFF_MAX_NS ? wait : BACKOFF_MAX_NS;
}

/* Puts it back for another attempt; false when there is none to be made. */
static bool retry(struct judge *j, struct task *t)
{
    mono_ns wait = wait_before_retry(j, t);

    if (*j->lost || t->result.attempts > j->retries || !is_worth_a_retry(&t->response) ||
        wait > JUDGE_WAIT_MAX_NS)
        return false;
    t->due = mono_now() + wait;
    if (t->response.retry_after_ns >= 0 && t->due > j->not_before)
        j->not_before = t->due;
    response_release(&t->response);
    t->response = (struct response){0};
    push(&j->waiting, t);
    j->waiting_n++;
    return true;
}

static void fail(struct judge *j, struct task *t)
{
    const struct response *p = &t->response;

    memcpy(t->result.error, p->error, sizeof(t->result.error));
    t->result.refused = p->failure != FAILURE_CANCELLED && p->http_status != 429 && !is_hopeless(p);
    j->failed_in_a_row += p->failure != FAILURE_CANCELLED;
    if (j->failed_in_a_row >= JUDGE_GIVE_UP || is_hopeless(p))
        give_up(j, p->error);
    give(j, t);
}

static void read_reply(struct judge *j, struct task *t)
{
    const struct response *p = &t->response;

    j->failed_in_a_row = 0;
    t->result.scored = true;
    judgement_read(buf_str(&p->answer), p->answer.len, strcmp(p->finish_reason, "length") == 0,
                   &t->result.score);
    if (!p->answer.len && p->reasoning.len && t->result.score.verdict == VERDICT_UNSCORABLE)
        snprintf(t->result.score.reason, sizeof(t->result.score.reason),
                 "the judge thought, but gave no verdict");
    give(j, t);
}

static void count_tokens(struct judge *j, const struct response *p)
{
    j->replies++;
    if (p->usage.prompt_tokens < 0 || p->usage.completion_tokens < 0)
        return;
    j->counted++;
    j->totals.input_tokens += p->usage.prompt_tokens;
    j->totals.output_tokens += p->usage.completion_tokens;
}

static void settle(struct judge *j)
{
    struct task *t;

    while ((t = pop(&j->landed))) {
        if (t->result.scored) {
            give(j, t);
        } else if (t->response.failure == FAILURE_NONE) {
            count_tokens(j, &t->response);
            read_reply(j, t);
        } else if (!retry(j, t)) {
            fail(j, t);
        }
    }
}

/* Ends what is not with the client, when nothing is asked any more. */
static void drop_queued(struct judge *j)
{
    struct task *t;

    if (!*j->lost)
        return;
    j->waiting_n = 0;
    while ((t = pop(&j->waiting)) || (t = pop(&j->ready))) {
        snprintf(t->result.error, sizeof(t->result.error), "not asked: %.230s", j->lost);
        give(j, t);
    }
}

int judge_poll(struct judge *j, mono_ns deadline, int wake_fd, struct err *err)
{
    mono_ns until;
    int r;

    j->given = 0;
    for (;;) {
        settle(j);
        drop_queued(j);
        start_due(j);
        if (j->given || !j->pending || mono_now() >= deadline)
            return j->given;
        until = next_start(j);
        until = until < deadline ? until : deadline;
        r = j->ops->poll(j->ctx, until, wake_fd, err);
        if (r < 0) {
            give_up(j, err ? err->text : "the client is broken");
            close_client(j);
            settle(j);
            drop_queued(j);
            return r;
        }
        if (r == 0 && mono_now() < until) { /* woken */
            settle(j);
            return j->given;
        }
    }
}

int judge_run(struct judge *j, size_t left, int wake_fd, struct err *err)
{
    while (j->pending > left) {
        int r = judge_poll(j, MONO_NEVER, wake_fd, err);

        if (r < 0)
            return r;
        if (r == 0 && j->pending > left)
            return err_set(err, EINTR, "interrupted while waiting for the judge");
    }
    return 0;
}

void judge_cancel(struct judge *j)
{
    give_up(j, "cancelled");
    for (size_t i = 0; i < j->slots_n; i++)
        if (j->slots[i])
            j->ops->cancel(j->ctx, &j->slots[i]->query);
}

/* What it cost. */

struct judge_totals judge_totals(const struct judge *j)
{
    struct judge_totals sum = j->totals;

    if (j->counted < j->replies || j->replies == 0)
        sum.input_tokens = sum.output_tokens = -1;
    sum.seconds = ns_to_s(j->busy_ns + (j->flying ? mono_now() - j->busy_since : 0));
    return sum;
}

static void write_count(struct json_writer *w, const char *key, int64_t n)
{
    if (n < 0)
        jw_null(w, key);
    else
        jw_int(w, key, n);
}

void judge_write(const struct judge *j, struct json_writer *w)
{
    struct judge_totals sum = judge_totals(j);

    jw_text(w, "model", j->model);
    jw_int(w, "correct", sum.correct);
    jw_int(w, "wrong", sum.wrong);
    jw_int(w, "unscorable", sum.unscorable);
    jw_int(w, "unscored", sum.unscored);
    jw_int(w, "requests", sum.requests);
    write_count(w, "input_tokens", sum.input_tokens);
    write_count(w, "output_tokens", sum.output_tokens);
    jw_real(w, "seconds", sum.seconds);
    if (*j->lost)
        jw_text(w, "gave_up", j->lost);
    if (j->ctx) {
        jw_begin_object(w, "client_info");
        j->ops->describe(j->ctx, w);
        jw_end_object(w);
    }
}
