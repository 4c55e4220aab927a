#include "run/load.h"

#include "base/alloc.h"

#include <errno.h>
#include <stdlib.h>

#define BACKOFF_NS     (500 * NS_PER_MS)
#define BACKOFF_MAX_NS (30 * NS_PER_S)
/* A server that asks for more patience than this does not want to be asked again in this run. */
#define RETRY_AFTER_MAX_NS (600 * NS_PER_S)

struct load {
    struct load_options options;
    struct schedule *schedule;
    struct query *active; /* with the client, or waiting to be sent again */
    struct query *ended;  /* of these: to be looked at after the poll */
    size_t n_waiting;     /* of these: to be sent again */
    size_t n_unsent;      /* of these: the client has not said yet when it was sent */
    struct query *ready;  /* ended, without energy */
    struct query **ready_end;
    bool stopped;
    bool dry;       /* the deck has no more */
    mono_ns polled; /* when the client was last asked: what it tells later happened after that */
    struct load_state state;
};

static size_t max_bytes(const struct load *l)
{
    return l->options.max_response_bytes ? l->options.max_response_bytes : (size_t)64 << 20;
}

void query_free(struct query *q)
{
    if (!q)
        return;
    question_free(q->question);
    response_release(&q->response);
    free(q);
}

int load_open(const struct load_options *options, struct load **ret, struct err *err)
{
    struct load *l = xcalloc(1, sizeof(*l));
    int r;

    l->options = *options;
    l->ready_end = &l->ready;
    l->polled = mono_now();
    r = schedule_new(&options->schedule, &l->schedule, err);
    if (r < 0) {
        free(l);
        return r;
    }
    *ret = l;
    return 0;
}

static void unlink_query(struct load *l, struct query *q)
{
    if (q->prev)
        q->prev->next = q->next;
    else
        l->active = q->next;
    if (q->next)
        q->next->prev = q->prev;
    q->prev = q->next = NULL;
}

static void link_query(struct load *l, struct query *q)
{
    q->next = l->active;
    if (q->next)
        q->next->prev = q;
    l->active = q;
}

static void end_query(struct load *l, struct query *q)
{
    q->has_ended = true;
    q->next_ended = l->ended;
    l->ended = q;
}

static void on_event(struct client_query *wire, enum client_event e)
{
    struct query *q = wire->user;
    struct load *l = q->load;

    if (e == CLIENT_SENT && !q->is_sent) {
        q->is_sent = true;
        l->n_unsent--;
        if (l->options.account)
            q->stay = account_begin(l->options.account, q->response.sent);
    } else if (e == CLIENT_DELTA) {
        l->state.deltas++;
    } else if (e == CLIENT_END) {
        l->n_unsent -= !q->is_sent;
        end_query(l, q);
    }
}

static void send_query(struct load *l, struct query *q)
{
    q->attempts++;
    q->is_sent = q->has_ended = false;
    q->retry_at = MONO_ABSENT;
    l->n_unsent++;
    q->started = mono_now();
    q->slept_ns = clock_suspended_ns();
    l->options.client->start(l->options.ctx, &q->wire);
}

static void start_query(struct load *l, struct question *question, mono_ns planned)
{
    struct query *q = xcalloc(1, sizeof(*q));

    q->load = l;
    q->question = question;
    q->planned = planned;
    response_init(&q->response, max_bytes(l));
    q->wire = (struct client_query){.prompt = question->item.problem,
                                    .prompt_len = __builtin_strlen(question->item.problem),
                                    .response = &q->response,
                                    .on_event = on_event,
                                    .user = q};
    link_query(l, q);
    l->state.in_flight++;
    send_query(l, q);
}

static int send_due(struct load *l, struct err *err)
{
    mono_ns now = mono_now(), planned;

    for (struct query *q = l->n_waiting ? l->active : NULL; q; q = q->next) {
        if (q->retry_at != MONO_ABSENT && q->retry_at <= now) {
            l->n_waiting--;
            send_query(l, q);
        }
    }
    while (!l->stopped && !l->dry && schedule_take(l->schedule, now, &planned)) {
        struct question *question = NULL;
        int r = deck_next(l->options.deck, &question, err);

        if (r <= 0) {
            schedule_done(l->schedule, now);
            l->dry = true;
            return r;
        }
        start_query(l, question, planned);
        now = mono_now();
    }
    return 0;
}

static bool may_pass(const struct response *r)
{
    switch (r->failure) {
    case FAILURE_CONNECT:
    case FAILURE_CUT:
    case FAILURE_NO_END:
    case FAILURE_STALL:
        return true;
    case FAILURE_STATUS:
        return r->http_status == 429 || r->http_status >= 500;
    default:
        return false;
    }
}

/* Prepares another attempt, if there is to be one. */
static bool try_again(struct load *l, struct query *q)
{
    mono_ns wait = q->response.retry_after_ns;

    if (l->stopped || q->attempts > l->options.retries || !may_pass(&q->response) ||
        wait > RETRY_AFTER_MAX_NS)
        return false;
    if (wait < 0) {
        wait = q->attempts < 7 ? BACKOFF_NS << (q->attempts - 1) : BACKOFF_MAX_NS;
        wait = wait < BACKOFF_MAX_NS ? wait : BACKOFF_MAX_NS;
    }
    if (q->stay)
        account_end(l->options.account, q->stay, &q->response, NULL);
    q->stay = NULL;
    response_release(&q->response);
    response_init(&q->response, max_bytes(l));
    q->retry_at = mono_now() + wait;
    l->n_waiting++;
    l->state.retried++;
    return true;
}

static void count_outcome(struct load *l, const struct query *q)
{
    if (q->response.failure == FAILURE_NONE)
        l->state.failures_in_a_row = 0;
    else if (q->response.failure != FAILURE_CANCELLED)
        l->state.failures_in_a_row++;
    if (l->options.failures_max > 0 && !l->stopped &&
        l->state.failures_in_a_row >= l->options.failures_max) {
        l->state.gave_up = true;
        load_stop(l);
    }
}

static void hand_over(struct load *l, struct query *q)
{
    unlink_query(l, q);
    l->state.in_flight--;
    q->slept = clock_suspended_ns() > q->slept_ns + 50 * NS_PER_MS;
    schedule_done(l->schedule, mono_now());
    count_outcome(l, q);
    if (q->stay) {
        account_end(l->options.account, q->stay, &q->response, q);
        q->stay = NULL;
    } else {
        *l->ready_end = q;
        l->ready_end = &q->next;
    }
}

static void collect_ended(struct load *l)
{
    struct query *q;

    while ((q = l->ended)) {
        l->ended = q->next_ended;
        if (!try_again(l, q))
            hand_over(l, q);
    }
}

static mono_ns next_due(const struct load *l, mono_ns deadline)
{
    mono_ns due = l->stopped || l->dry ? MONO_NEVER : schedule_next_due(l->schedule);

    for (const struct query *q = l->n_waiting ? l->active : NULL; q; q = q->next)
        if (q->retry_at != MONO_ABSENT && q->retry_at < due)
            due = q->retry_at;
    return due < deadline ? due : deadline;
}

int load_step(struct load *l, mono_ns deadline, int wake_fd, struct err *err)
{
    int r = send_due(l, err), polled;
    mono_ns now = mono_now();

    polled =
        l->options.client->poll(l->options.ctx, next_due(l, deadline), wake_fd, r < 0 ? NULL : err);
    l->polled = now;
    collect_ended(l);
    if (r == 0 && polled < 0)
        r = polled;
    if (r < 0)
        load_stop(l);
    return r;
}

struct query *load_take(struct load *l)
{
    struct query *q = l->ready;

    if (!q)
        return NULL;
    l->ready = q->next;
    if (!l->ready)
        l->ready_end = &l->ready;
    q->next = NULL;
    return q;
}

/* One that waits to be sent again ends here: it may be asked when the run is resumed. */
void load_stop(struct load *l)
{
    if (l->stopped)
        return;
    l->stopped = true;
    for (struct query *q = l->active; q; q = q->next) {
        if (q->has_ended && q->retry_at == MONO_ABSENT)
            continue;
        if (q->retry_at == MONO_ABSENT) {
            l->options.client->cancel(l->options.ctx, &q->wire);
        } else {
            q->retry_at = MONO_ABSENT;
            q->response.failure = FAILURE_CANCELLED;
            l->n_waiting--;
            end_query(l, q);
        }
    }
}

bool load_finished(const struct load *l)
{
    return !l->active && (l->stopped || l->dry || schedule_finished(l->schedule, mono_now()));
}

mono_ns load_safe(const struct load *l)
{
    mono_ns safe = l->polled;

    for (const struct query *q = l->n_unsent ? l->active : NULL; q; q = q->next)
        if (q->retry_at == MONO_ABSENT && !q->is_sent && q->started < safe)
            safe = q->started;
    return safe;
}

struct load_state load_state(const struct load *l)
{
    return l->state;
}

struct schedule_stats load_stats(const struct load *l)
{
    return schedule_stats(l->schedule, mono_now());
}

void load_close(struct load *l)
{
    struct query *q;

    if (!l)
        return;
    while ((q = l->active)) {
        l->active = q->next;
        if (q->stay)
            account_end(l->options.account, q->stay, &q->response, NULL);
        query_free(q);
    }
    while ((q = load_take(l)))
        query_free(q);
    schedule_free(l->schedule);
    free(l);
}
